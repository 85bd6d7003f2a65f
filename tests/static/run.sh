#!/usr/bin/env bash
# Links the static library with Debian's libzstd.a, libdeflate.a, libz.a and libblosc.a, each before and after each
# other, and runs the program; checks that the library imports and exports no name but its own.
#
#     tests/static/run.sh build/lib/libzcodec.a NATIVE_LIBRARY...
#
# Ends with 77, "skipped", where those libraries are not there and this is no Debian's root.
set -euo pipefail
cd "$(dirname "$0")/../.."
library=$1
shift
native=("${@/#/-l}")

found() { [[ $(${CC:-cc} -print-file-name="lib$1.a") == /* ]]; }
for other in zstd deflate z blosc lz4 snappy; do
  if ! found $other && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update --quiet && DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends \
      libzstd-dev libdeflate-dev zlib1g-dev libblosc-dev liblz4-dev libsnappy-dev; } >/dev/null || true
  fi
  if ! found $other; then
    echo "SKIPPED: there is no lib$other.a: install libzstd-dev, libdeflate-dev, zlib1g-dev, libblosc-dev" >&2
    exit 77
  fi
done

nm -g --defined-only "$library" | awk 'NF == 3 { print $3 }' | sort | diff abi/symbols.txt - ||
  { echo "the static library gives other names than abi/symbols.txt" >&2; exit 1; }
# The hooks for tracing are weak symbols that nothing defines.
if nm -u "$library" | grep -E 'ZSTD_|HUF_|FSE_|XXH|libdeflate_' | grep -v ' w ZSTD_trace_'; then
  echo "the static library takes its compressors from elsewhere" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O1 -Wall -Wextra -Werror -Itests/c -Iinclude -c tests/static/main.c -o "$work/main.o"
order=("$library" -lzstd -ldeflate -lz -lblosc)
for direction in forward backward; do
  for _ in "${order[@]}"; do
    ${CC:-cc} "$work/main.o" -o "$work/main" -Wl,-Bstatic -Wl,--start-group "${order[@]}" -llz4 -lsnappy -Wl,--end-group \
      -Wl,-Bdynamic -lstdc++ "${native[@]}" -lm
    echo "${order[*]##*/}"
    "$work/main"
    order=("${order[@]:1}" "${order[0]}")
  done
  mapfile -t order < <(printf '%s\n' "${order[@]}" | tac)
done
sed -n 's/^version = ".*+\(zstd\.[0-9.]*\)"/zcodec itself runs \1/p' Cargo.lock
grep -A1 'name = "libdeflate-sys"' Cargo.lock | sed -n 's/^version = "\(.*\)"/and that of libdeflate-sys \1/p'
