#!/usr/bin/env bash
# Builds the Java packages in java/ around the native libraries, and tests them.
#
#     scripts/java.sh [argument of mvn ...]        default: verify
#
# Needs a JDK (9 or later; what it builds runs on Java 8), Maven, and build/lib/libzcodec.so (`make build`). Libraries that
# were built for other machines (`make cross`, `make dist`) go into the jar, too.
set -euo pipefail
cd "$(dirname "$0")/.."
natives=$PWD/java/natives

# take FOLDER NAME LIBRARY...: the first of these files that exists, without its debug information.
take() {
  local folder=$natives/$1 name=$2 library
  shift 2
  for library in "$@"; do
    if [ -f "$library" ]; then
      mkdir -p "$folder"
      objcopy --strip-unneeded "$library" "$folder/$name" 2>/dev/null || cp "$library" "$folder/$name"
      echo "java/natives/${folder##*/}/$name is $library"
      return
    fi
  done
}

rm -rf "$natives"
take "linux-$(uname -m | tr _ -)" libzcodec.so build/lib/libzcodec.so
[ -d "$natives/linux-aarch64" ] || take linux-aarch64 libzcodec.so \
  target/dist/aarch64-unknown-linux-gnu/cargo/aarch64-unknown-linux-gnu/release/libzcodec.so \
  target/cross/aarch64-unknown-linux-gnu/release/libzcodec.so
take win32-x86-64 zcodec.dll \
  target/dist/x86_64-pc-windows-gnu/cargo/x86_64-pc-windows-gnu/release/zcodec.dll \
  target/cross/x86_64-pc-windows-gnu/release/zcodec.dll

[ $# -gt 0 ] || set -- verify
mvn --batch-mode --quiet --file java/pom.xml "$@"

if command -v xvfb-run >/dev/null; then
  scripts/imagej.sh
else
  echo "NOT RUN: the plugin in a real ImageJ needs Xvfb (apt-get install xvfb)" >&2
fi
