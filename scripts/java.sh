#!/usr/bin/env bash
# Builds the Java packages in java/ around the native libraries, and tests them.
#
#     scripts/java.sh [argument of mvn ...]        default: verify
#
# Needs a JDK (9 or later; what it builds runs on Java 8), Maven, and build/lib/libzcodec.so (`make build`). The jar also
# holds the libraries for other machines: of the archives of this version in dist/ (`make dist`), or of `make cross`.
# -P unidata takes zarr-java's array classes from Unidata (java/README.md).
set -euo pipefail
cd "$(dirname "$0")/.."
natives=$PWD/java/natives

# take FOLDER NAME LIBRARY...: the first of these files that exists, without its debug information. ARCHIVE!MEMBER is a
# file in an archive.
take() {
  local folder=$natives/$1 name=$2 library archive
  shift 2
  for library in "$@"; do
    archive=${library%%!*}
    [ -f "$archive" ] || continue
    mkdir -p "$folder"
    case $archive in
      *.tar.gz) tar -xzf "$archive" --to-stdout "${library#*!}" >"$folder/$name" ;;
      *.zip)
        python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
          "$archive" "${library#*!}" >"$folder/$name"
        ;;
      *) objcopy --strip-unneeded "$library" "$folder/$name" 2>/dev/null || cp "$library" "$folder/$name" ;;
    esac
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
  take "linux-$(tr _ - <<<"$machine")" libzcodec.so "${libraries[@]}"
done
archive=zcodec-$version-x86_64-pc-windows-gnu
take win32-x86-64 zcodec.dll "dist/$archive.zip!$archive/bin/zcodec.dll" \
  target/cross/x86_64-pc-windows-gnu/release/zcodec.dll

# In each folder of a library, those of all that is linked into it.
for folder in "$natives"/*/; do
  case $(basename "$folder") in
    linux-aarch64) target=aarch64-unknown-linux-gnu ;;
    win32-*) target=x86_64-pc-windows-gnu ;;
    *) target=x86_64-unknown-linux-gnu ;;
  esac
  scripts/licences.py "$target" >"$folder/LICENCES.txt"
done

[ $# -gt 0 ] || set -- verify
mvn --batch-mode --quiet --file java/pom.xml "$@"
python3 - java/*/target/surefire-reports/*.xml <<'PY'
import os, sys, xml.etree.ElementTree
for report in filter(os.path.exists, sys.argv[1:]):
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        for skipped in case.iter("skipped"):
            why = (skipped.text or "").splitlines()[0].split("Assumption failed: ")[-1]
            print("NOT RUN:", case.get("classname") + "." + case.get("name") + ":", why, file=sys.stderr)
PY

if command -v xvfb-run >/dev/null; then
  scripts/imagej.sh
else
  echo "NOT RUN: the plugin in a real ImageJ needs Xvfb (apt-get install xvfb)" >&2
fi
