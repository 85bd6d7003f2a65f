#!/usr/bin/env bash
# Builds the Java packages in java/ around the native libraries, and tests them.
#
#     scripts/java.sh [argument of mvn ...]        default: verify
#
# Needs a JDK (9 or later; what it builds runs on Java 8), Maven, and build/lib/libzcodec.so (`make build`). The jar also
# holds the libraries for other machines: of the archives of this version in dist/ (`make dist`), or of `make cross`.
# -P unidata takes zarr-java's array classes from Unidata (java/README.md).
#
# The jars hold no times except that of the commit: the same source, native libraries and JDK give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/runtimes.sh
natives=$PWD/java/natives

# print_member ARCHIVE MEMBER: prints a file of an archive.
print_member() {
  case $1 in
    *.zip)
      python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' "$@"
      ;;
    *) tar -xzf "$1" --to-stdout "$2" ;;
  esac
}

# take FOLDER NAME TARGET LIBRARY...: the first of these files that exists, without its debug information, and the
# licences of all that is linked into it. ARCHIVE!MEMBER is a file in an archive, which has them, too.
take() {
  local folder=$natives/$1 name=$2 target=$3 library archive member runtimes=()
  shift 3
  [[ $target != *-windows-* ]] || runtimes=("${mingw_runtimes[@]}")
  for library in "$@"; do
    archive=${library%%!*}
    [ -f "$archive" ] || continue
    mkdir -p "$folder"
    if [ "$archive" = "$library" ]; then
      objcopy --strip-unneeded "$library" "$folder/$name" 2>/dev/null || cp "$library" "$folder/$name"
      scripts/licences.py "$target" "${runtimes[@]}" >"$folder/LICENCES.txt"
    else
      member=${library#*!}
      print_member "$archive" "$member" >"$folder/$name"
      print_member "$archive" "${member%%/*}/LICENCES.txt" >"$folder/LICENCES.txt"
    fi
    echo "java/natives/${folder##*/}/$name is $library"
    return
  done
}

rm -rf "$natives"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
for machine in x86_64 aarch64; do
  target=$machine-unknown-linux-gnu
  archive=zcodec-$version-$target
  libraries=("dist/$archive.tar.gz!$archive/lib/libzcodec.so.$version" "target/cross/$target/release/libzcodec.so")
  # For this machine, the archive if it was made last: it runs with an older glibc.
  if [ "$machine" = "$(uname -m)" ] && [ ! "dist/$archive.tar.gz" -nt build/lib/libzcodec.so ]; then
    libraries=(build/lib/libzcodec.so)
  fi
  take "linux-$(tr _ - <<<"$machine")" libzcodec.so "$target" "${libraries[@]}"
done
target=x86_64-pc-windows-gnu
archive=zcodec-$version-$target
take win32-x86-64 zcodec.dll "$target" "dist/$archive.zip!$archive/bin/zcodec.dll" \
  "target/cross/$target/release/zcodec.dll"

[ $# -gt 0 ] || set -- verify
mvn --batch-mode --quiet --file java/pom.xml "-Dproject.build.outputTimestamp=$(git log -1 --format=%ct)" "$@"
python3 - java/*/target/surefire-reports/*.xml <<'PY'
import os, sys, xml.etree.ElementTree
for report in filter(os.path.exists, sys.argv[1:]):
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        for skipped in case.iter("skipped"):
            why = (skipped.text or skipped.get("message") or "?").splitlines()[0].split("Assumption failed: ")[-1]
            print("NOT RUN:", case.get("classname") + "." + case.get("name") + ":", why, file=sys.stderr)
PY

if command -v xvfb-run >/dev/null; then
  scripts/imagej.sh
else
  echo "NOT RUN: the plugin in a real ImageJ needs Xvfb (apt-get install xvfb)" >&2
fi
