#!/usr/bin/env bash
# Shows that a release can be made again: clones the commit to another folder, makes the archives there, and compares
# them with those in dist/, byte for byte. Where they differ, it names the files in them that do, and keeps the clone.
#
#     scripts/dist/again.sh [TARGET...]      as scripts/dist.sh, which must have run for the same commit
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
git clone --quiet . "$work/another-place"
# The tools are the same ones, not built again.
cp -r .venv-dist "$work/another-place/"
"$work/another-place/scripts/dist.sh" "$@"

# unpacked ARCHIVE FOLDER
unpacked() {
  mkdir -p "$2"
  case $1 in
    *.zip) python3 -m zipfile -e "$1" "$2" ;;
    *) tar -xzf "$1" -C "$2" ;;
  esac
}

differ=0
for checksum in "$work"/another-place/dist/*.sha256; do
  name=$(basename "$checksum" .sha256)
  if cmp -s "$checksum" "dist/$name.sha256"; then
    echo "the same again: $(cat "$checksum")"
  else
    differ=1
    echo "not the same: $name"
    unpacked "dist/$name" "$work/$name/first"
    unpacked "$work/another-place/dist/$name" "$work/$name/again"
    diff -rq "$work/$name/first" "$work/$name/again" || true
  fi
done
[ $differ = 0 ] || { echo "kept: $work"; exit 1; }
rm -rf "$work"
