#!/usr/bin/env bash
# Runs the tests of zcodec-java on aarch64: in Debian's Java for it, under qemu.
#
#     scripts/java-aarch64.sh
#
# Needs scripts/java.sh to have run with the library for aarch64 (`make dist` or `make cross`), Maven, and Debian 12 or
# something like it: apt-get downloads Java and its libraries, which are unpacked in target/java-aarch64 and not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
work=$PWD/target/java-aarch64
module=$PWD/java/zcodec-java
[ -f "$module/target/classes/zcodec/native/linux-aarch64/libzcodec.so" ] || {
  echo "the classes have no library for aarch64: make dist, then make java" >&2
  exit 1
}
needs qemu-user

java=$work/root/usr/lib/jvm/java-17-openjdk-arm64/bin/java
if [ ! -x "$java" ]; then
  rm -rf "$work"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/state" "$work/root" "$work/packages"
  touch "$work/state/status"
  cat >"$work/apt.conf" <<EOF
APT::Architecture "arm64";
APT::Architectures {"arm64";};
Dir::State "$work/state";
Dir::State::status "$work/state/status";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
EOF
  export APT_CONFIG=$work/apt.conf
  apt-get update --quiet --quiet
  (cd "$work/packages" && apt-get download --quiet --quiet openjdk-17-jre-headless libc6 zlib1g libgcc-s1 libstdc++6)
  unset APT_CONFIG
  for package in "$work"/packages/*.deb; do
    dpkg-deb --extract "$package" "$work/root"
  done
fi

mvn --batch-mode --quiet --file java/pom.xml --projects zcodec-java dependency:build-classpath \
  -Dmdep.outputFile="$work/classpath" -DincludeScope=test
mvn --batch-mode --quiet --file java/pom.xml --projects zcodec-java dependency:copy \
  -Dartifact=org.junit.platform:junit-platform-console-standalone:1.11.4 -DoutputDirectory="$work"
classes=()
for class in Chain Conformance Engine Lifetime Writer; do
  classes+=(--select-class "zcodec.${class}Test")
done
qemu-aarch64 -L "$work/root" "$java" -Xmx1g -Dzcodec.repository="$PWD" \
  -cp "$work/junit-platform-console-standalone-1.11.4.jar:$module/target/classes:$module/target/test-classes:$(cat "$work/classpath")" \
  org.junit.platform.console.ConsoleLauncher execute --disable-banner --details=summary "${classes[@]}"
