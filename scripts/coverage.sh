#!/usr/bin/env bash
# How much of src/ the tests reach: lines per file, by the unit tests, the other Rust tests, among them all conformance
# cases that do not need the C interface, and the corpus of the fuzzer.
#
#     scripts/coverage.sh [corpus]      writes target/coverage/report.txt; with "corpus" that of the fuzzer alone
#
# Needs a Rust toolchain of rustup's, for llvm-tools. Integer checks and assertions stay on, and code is little
# optimised, so that it takes a while.
set -euo pipefail
cd "$(dirname "$0")/.."
rustup component add llvm-tools 2>/dev/null
tools=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/host: //p')/bin
export CARGO_TARGET_DIR=$PWD/target/coverage LLVM_PROFILE_FILE=$PWD/target/coverage/raw/%p-%m.profraw
rm -rf "$CARGO_TARGET_DIR/raw"
mkdir -p "$CARGO_TARGET_DIR/raw"

if [ "${1:-}" = corpus ]; then
  export RUSTC_BOOTSTRAP=1
  command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
  python3 fuzz/seed.py
  # Without libFuzzer's own coverage: each target only runs its files.
  RUSTFLAGS="-Cinstrument-coverage --cfg fuzzing" cargo build --manifest-path fuzz/Cargo.toml --release
  programs=()
  for path in fuzz/fuzz_targets/*.rs; do
    program=$CARGO_TARGET_DIR/release/$(basename "$path" .rs)
    folder=fuzz/corpus/$(basename "$program")
    [ ! -d "$folder" ] || { "$program" -runs=0 "$folder" 2>/dev/null; programs+=("$program"); }
  done
else
  RUSTFLAGS=-Cinstrument-coverage CARGO_PROFILE_TEST_OPT_LEVEL=1 cargo test --locked --lib --tests --no-run \
    --message-format=json >"$CARGO_TARGET_DIR/programs.json"
  RUSTFLAGS=-Cinstrument-coverage CARGO_PROFILE_TEST_OPT_LEVEL=1 cargo test --locked --lib --tests
  mapfile -t programs < <(python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        print(message["executable"])' <"$CARGO_TARGET_DIR/programs.json")
fi

"$tools/llvm-profdata" merge -sparse "$CARGO_TARGET_DIR"/raw/*.profraw -o "$CARGO_TARGET_DIR/all.profdata"
"$tools/llvm-cov" report -instr-profile="$CARGO_TARGET_DIR/all.profdata" "${programs[0]}" "${programs[@]/#/-object=}" \
  --sources src --show-region-summary=false --show-branch-summary=false >"$CARGO_TARGET_DIR/report.txt"
cat "$CARGO_TARGET_DIR/report.txt"
