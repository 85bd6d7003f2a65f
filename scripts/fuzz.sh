#!/usr/bin/env bash
# Runs every fuzz target, or the named ones, for SECONDS each.
#
#     scripts/fuzz.sh SECONDS [TARGET...]
#
# Needs a Rust toolchain, g++ and Python 3; installs cargo-fuzz if it is missing. A crash ends the script, and its input
# is in fuzz/artifacts/. The runs are added to fuzz/runs.jsonl.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?seconds per target}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=($(basename -s .rs fuzz/fuzz_targets/*.rs))

# libdeflate compiles one header several times; AddressSanitizer takes its tables for one table defined twice.
export ASAN_OPTIONS=detect_odr_violation=0

# As in scripts/sanitize.sh: otherwise the levels of zstd from 18 look like a use after scope.
export CFLAGS=-fno-sanitize-address-use-after-scope

# Coverage and sanitizers are not yet stable.
export RUSTC_BOOTSTRAP=1

command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
python3 fuzz/seed.py
# blosc-src: the C library that the target `blosc` compares with.
cargo fuzz build --features blosc-src
python3 fuzz/run.py "$seconds" "${targets[@]}"
