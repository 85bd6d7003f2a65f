#!/usr/bin/env bash
# Checks that the static library for Windows gives a program no name but its own, links it with MinGW's libz.a, another
# Rust library, and second copies of libzstd and libdeflate, each before and after each other, and runs the program.
#
#     tests/static/windows.sh libzcodec.a FOLDER NATIVE_LIBRARY...
#
# FOLDER is where cargo put what build scripts made: libzstd.a and libdeflate.a with all their names. TOOL is the prefix
# of the GNU tools, RUNNER runs a program. nm is told the format, so that it does not ask a plugin.
set -euo pipefail
cd "$(dirname "$0")/../.."
library=$1 built=$2
shift 2

"${TOOL}nm" --target=pe-x86-64 --extern-only --defined-only --format=posix "$library" | awk 'NF >= 3 { print $1 }' |
  grep -v '^zcodec_private_' | sort | diff abi/symbols.txt - ||
  { echo "the static library gives other names than abi/symbols.txt" >&2; exit 1; }
# What one member has and another one needs has its new name in both. The hooks for tracing are weak.
if "${TOOL}nm" --target=pe-x86-64 --undefined-only --format=posix "$library" |
  grep -E '^(ZSTD_|HUF_|FSE_|XXH|libdeflate_|rust_|__rust|_R)' | grep -v '^ZSTD_trace_'; then
  echo "the static library takes its compressors or Rust's library from elsewhere" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zstd=$(ls -d "$built"/zstd-sys-*/out) deflate=$(ls -d "$built"/libdeflate-sys-*/out)
rustc --edition 2024 -O --crate-type staticlib --target x86_64-pc-windows-gnu tests/static/other.rs -o "$work/libother.a"
"${TOOL}gcc" -O1 -Wall -Wextra -Werror -Itests/c -Iinclude -I"$zstd/include" -I"$deflate/include" \
  -c tests/static/main.c -o "$work/main.o"
order=("$library" "$zstd/libzstd.a" "$deflate/lib/libdeflate.a" "$work/libother.a" -lz)
for direction in forward backward; do
  for _ in "${order[@]}"; do
    "${TOOL}gcc" "$work/main.o" -o "$work/main.exe" "${order[@]}" "$@" -static
    echo "${order[*]##*/}"
    # shellcheck disable=SC2086 # words
    $RUNNER "$work/main.exe"
    order=("${order[@]:1}" "${order[0]}")
  done
  mapfile -t order < <(printf '%s\n' "${order[@]}" | tac)
done
