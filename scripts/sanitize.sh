#!/usr/bin/env bash
# The C and C++ programs, the unit tests and the conformance cases under AddressSanitizer with LeakSanitizer, UBSan (of
# the C and C++ side) and valgrind memcheck; tests/threads.rs and tests/engine/threads.rs under ThreadSanitizer.
#
#     scripts/sanitize.sh [asan] [memcheck] [tsan]        default: all
#
# Needs a Rust toolchain, gcc, g++ and Python 3, and installs the rest on Debian; ThreadSanitizer needs Debian 12. Under
# AddressSanitizer zcodec, its crates and the C libraries in it are instrumented; Rust's standard library is not.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
source scripts/programs.sh
target=x86_64-unknown-linux-gnu
work=$PWD/target/sanitize
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
mkdir -p "$work"

# programs KIND LIBRARY_FOLDER FLAGS...: builds the C and C++ programs against the library in that folder, except
# tests/posix/memory.c, which takes away the address space that AddressSanitizer and valgrind need, and
# float_environment.c, which needs traps that valgrind does not emulate.
programs() {
  local kind=$1 library=$2
  shift 2
  build_programs "$work/$kind" gcc g++ tests/c/*.c tests/cpp/*.cpp tests/abi/old_caller.c \
    tests/posix/{fork,small_stack}.c -- -g "$@" -L"$library" -lzcodec -Wl,-rpath,"$library" -pthread
}

# each KIND COMMAND...: runs every program of that kind.
each() {
  local kind=$1 program
  shift
  for program in "$work/$kind"/*; do
    "$@" "$program"
  done
}

# detect_odr_violation: libdeflate compiles one header several times, and its tables look like one defined twice.
asan() {
  echo "== AddressSanitizer, LeakSanitizer, UBSan"
  local asan_target=$work/asan-target
  local environment=(
    CARGO_TARGET_DIR="$asan_target"
    RUSTC_BOOTSTRAP=1 # sanitizers are not yet stable
    RUSTFLAGS="-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer"
    # gcc 12 makes a constant array within a function of libzstd static, and still forbids its use after the function.
    CFLAGS_x86_64_unknown_linux_gnu="-fsanitize=address -fno-omit-frame-pointer -fno-sanitize-address-use-after-scope"
    ASAN_OPTIONS="detect_leaks=1:detect_odr_violation=0:allocator_may_return_null=1"
  )
  # A shared library without LTO, which takes the sanitizer from the program.
  env "${environment[@]}" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    cargo rustc --locked --target $target --lib --release --crate-type cdylib
  local library=$asan_target/$target/release
  ln -sf libzcodec.so "$library/libzcodec.so.${version%%.*}"
  programs asan "$library" -fsanitize=address,undefined -fno-sanitize-recover=all
  each asan env ASAN_OPTIONS=detect_leaks=1:detect_odr_violation=0:allocator_may_return_null=1
  # Python itself leaks when it ends. Leaks of the library show above.
  ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1:quarantine_size_mb=16 LD_PRELOAD=$(gcc -print-file-name=libasan.so) \
    python3 tests/conformance/run.py "$library/libzcodec.so" --no-skips
  env "${environment[@]}" cargo test --locked --target $target --lib --test conformance
  needs cmake libclang-dev
  env "${environment[@]}" cargo test --locked --target $target --features zfp-sys --lib zfp
}

plain_library() {
  CARGO_TARGET_DIR=$work/plain-target CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    cargo rustc --locked --lib --release --crate-type cdylib
  ln -sf libzcodec.so "$work/plain-target/release/libzcodec.so.${version%%.*}"
  programs plain "$work/plain-target/release"
}

memcheck() {
  echo "== valgrind memcheck"
  needs valgrind libc6-dbg
  # Rust's standard library holds thread handles by a pointer into their middle: a "possible" leak.
  local valgrind="valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect"
  valgrind+=" --show-leak-kinds=definite,indirect"
  plain_library
  rm "$work/plain/small_stack-c" # looks at the stack of a thread that has ended, which memcheck takes for a mistake
  each plain $valgrind
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$valgrind CARGO_TARGET_DIR=$work/plain-target \
    cargo test --locked --target $target --test conformance
}

# Not helgrind: a chain passes its buffers between threads with atomic operations, which it does not understand.
# ThreadSanitizer does not see the atomic operations of a standard library that is not instrumented. So this compiles
# one, from the source that comes with Debian's compiler. Runtime and linker are those of the Rust toolchain. Programs
# are linked with the runtime; shared libraries and build scripts are not.
tsan() {
  echo "== ThreadSanitizer"
  needs rustc-web cargo-web rust-web-src
  local toolchain runtime
  toolchain=$(rustc --print sysroot)/lib/rustlib/$target
  runtime=$(echo "$toolchain"/lib/librustc-*_rt.tsan.a)
  cat >"$work/tsan-gcc" <<EOF
#!/bin/sh
case " \$* " in *" -shared "* | *build_script*) exec cc "\$@" ;; esac
exec cc -B"$toolchain/bin/gcc-ld" -fuse-ld=lld "\$@" -Wl,--whole-archive "$runtime" \\
  -Wl,--no-whole-archive -lstdc++ -lm -ldl -lrt -lpthread -lc
EOF
  chmod +x "$work/tsan-gcc"
  # Optimised as other tests are, the instrumented kernels take half an hour to compile.
  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$work/tsan-target CARGO_PROFILE_TEST_OPT_LEVEL=1 \
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=$work/tsan-gcc RUSTFLAGS="-Zsanitizer=thread -Zexternal-clangrt" \
    /usr/bin/cargo test --locked --target $target -Zbuild-std=std,panic_unwind,test --test threads --test engine threads
}

[ $# -gt 0 ] || set -- asan memcheck tsan
for part in "$@"; do
  "$part"
done
echo "sanitize: all clean"
