#!/usr/bin/env bash
# The table of goals, compared with other libraries, and the picture of it: make bench. Needs a Rust toolchain and gcc;
# what else it needs (cmake, libclang, numpy, zarr, tensorstore, matplotlib) it installs from PyPI into .venv-bench.
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

cd benches
cargo bench --locked --features blosc-src,zfp-sys --bench goals -- "$@"
python picture.py target/goals.json target/speed.svg
library=$(cargo rustc --manifest-path ../Cargo.toml --lib --release --locked --crate-type cdylib --message-format json |
  python -c 'import json, sys; print(*(f for m in map(json.loads, sys.stdin) if m["reason"] == "compiler-artifact"
                                       and m["target"]["name"] == "zcodec" for f in m["filenames"] if f.endswith(".so")))')
for threads in 1 2; do
  echo
  python shards.py "$library" --threads "$threads"
done
echo
python numcodecs_codecs.py "$library" shuffle delta fletcher32 zlib
