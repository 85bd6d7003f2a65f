#!/usr/bin/env bash
# How much of src/ the tests reach: lines per file.
#
#     scripts/coverage.sh            by the Rust tests, and by the C and C++ programs and the conformance cases, which use
#                                    the C interface
#     scripts/coverage.sh corpus     by the corpus of the fuzzer alone
#
# Writes target/coverage/report.txt, where a generic function has the lines of its best instance; counts.txt, where it has
# those of all together; and missed.txt, with the lines of each file that nothing reaches.
# Needs a Rust toolchain of rustup's, for llvm-tools, gcc, g++ and Python 3. Only the kernels that the processor chooses
# are counted as reached by the C interface; the unit tests run every one that it can. For the tests, integer checks and
# assertions stay on, and the code is barely optimised, so they take a while.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/programs.sh
rustup component add llvm-tools 2>/dev/null
tools=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/host: //p')/bin
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$PWD/target/coverage
export CARGO_TARGET_DIR=$work CARGO_INCREMENTAL=0 LLVM_PROFILE_FILE=$work/raw/%p-%m.profraw
rm -rf "$work/raw"
mkdir -p "$work/raw"
objects=()

rust_tests() {
  local cargo_test=(cargo test --locked --lib --tests)
  export RUSTFLAGS=-Cinstrument-coverage CARGO_PROFILE_TEST_OPT_LEVEL=1
  "${cargo_test[@]}" --no-run --message-format=json >"$work/programs.json"
  "${cargo_test[@]}"
  mapfile -t objects < <(python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        print(message["executable"])' <"$work/programs.json")
}

c_interface() {
  local library=$work/debug program
  RUSTFLAGS=-Cinstrument-coverage cargo rustc --locked --lib --crate-type cdylib
  ln -sf libzcodec.so "$library/libzcodec.so.${version%%.*}"
  build_programs "$work/programs" gcc g++ tests/c/*.c tests/cpp/*.cpp tests/abi/old_caller.c \
    tests/posix/{float_environment,fork}.c -- -L"$library" -lzcodec -lm -pthread -Wl,-rpath,"$library"
  for program in "$work"/programs/*; do
    "$program"
  done
  python3 tests/conformance/run.py "$library/libzcodec.so" --no-skips
  objects+=("$library/libzcodec.so")
}

corpus() {
  local path program folder
  export RUSTC_BOOTSTRAP=1
  python3 fuzz/seed.py
  # Without libFuzzer's own coverage: each target only runs its files.
  RUSTFLAGS="-Cinstrument-coverage --cfg fuzzing" cargo build --locked --manifest-path fuzz/Cargo.toml --release
  for path in fuzz/fuzz_targets/*.rs; do
    program=$work/release/$(basename "$path" .rs)
    folder=fuzz/corpus/$(basename "$program")
    [ ! -d "$folder" ] || { "$program" -runs=0 "$folder" 2>/dev/null; objects+=("$program"); }
  done
}

if [ "${1:-}" = corpus ]; then
  corpus
else
  rust_tests
  c_interface
fi

"$tools/llvm-profdata" merge -sparse "$work"/raw/*.profraw -o "$work/all.profdata"
report=("${objects[0]}" "${objects[@]/#/-object=}" -instr-profile="$work/all.profdata" --sources src)
"$tools/llvm-cov" report "${report[@]}" --show-region-summary=false --show-branch-summary=false >"$work/report.txt"
# A line counts as reached if any object reaches it: the same function is in several, and often unused in some.
"$tools/llvm-cov" show "${report[@]}" --show-instantiations=false >"$work/lines.txt"
scripts/missed_lines.py <"$work/lines.txt" >"$work/missed.txt"
scripts/missed_lines.py --count <"$work/lines.txt" >"$work/counts.txt"
cat "$work/report.txt"
