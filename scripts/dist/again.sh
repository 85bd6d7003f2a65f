#!/usr/bin/env bash
# Shows that a release can be made again: clones the commit to another folder, makes the archives there, and compares
# them with those in dist/, byte for byte.
#
#     scripts/dist/again.sh [TARGET...]      as scripts/dist.sh, which must have run for the same commit
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet . "$work/another-place"
# The tools are the same ones, not built again.
cp -r .venv-dist "$work/another-place/"
"$work/another-place/scripts/dist.sh" "$@"
for archive in "$work"/another-place/dist/*.sha256; do
  cmp "$archive" "dist/$(basename "$archive")"
  echo "the same again: $(cat "$archive")"
done
