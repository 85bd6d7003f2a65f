#!/usr/bin/env bash
# The table of goals, its picture, and comparisons with other libraries: make bench. Needs a Rust toolchain and gcc; what
# else it needs (cmake, libclang, numpy, zarr, tensorstore, matplotlib) it installs from PyPI into .venv-bench.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cmp -s benches/requirements.txt .venv-bench/requirements.txt; then
  python3 -m venv --clear .venv-bench
  .venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r benches/requirements.txt
  cp benches/requirements.txt .venv-bench/requirements.txt
fi
export PATH=$PWD/.venv-bench/bin:$PATH
# The wheel of libclang has no headers of its own; those of gcc serve.
LIBCLANG_PATH=$(python -c 'import clang, pathlib; print(pathlib.Path(clang.__file__).parent / "native")')
export LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS="-I$(gcc -print-file-name=include)"

# Both builds end with link-time optimization, on one processor each.
mkdir -p benches/target
cargo rustc --lib --release --locked --crate-type cdylib --message-format json >benches/target/library.json &
library_build=$!
cd benches
bench=(cargo bench --locked --features blosc-src,peers,zfp-sys)
"${bench[@]}" --bench goals --bench shards --no-run
wait "$library_build"
library=$(python -c 'import json, sys; print(*(f for m in map(json.loads, sys.stdin) if m["reason"] == "compiler-artifact"
  and m["target"]["name"] == "zcodec" for f in m["filenames"] if f.endswith(".so")))' <target/library.json)

"${bench[@]}" --bench goals -- "$@"
python picture.py target/goals.json target/speed.svg
echo
"${bench[@]}" --bench shards
for threads in 1 2; do
  echo
  python shards.py "$library" --threads "$threads"
done
echo
python views.py "$library"
echo
python numcodecs_codecs.py "$library" shuffle delta fletcher32 zlib
