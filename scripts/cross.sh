#!/usr/bin/env bash
# Builds for other platforms and runs the tests there, on a plain Debian 12. Run it as root: it installs what it needs.
#
#     scripts/cross.sh [s390x] [aarch64] [riscv64] [i686] [musl] [windows] [avx512]   default: all
#
# aarch64, RISC-V and s390x (big-endian) Linux: the unit tests, the conformance cases and the C and C++ programs under
# qemu-user.
# i686 Linux (32-bit addresses): the same, natively.
# x86-64 Linux with musl, the C library of Alpine: the unit tests, the conformance cases and the C programs, natively.
# Windows x86-64: the same under wine, the C and C++ programs with zcodec.dll and its import library.
# x86-64 with AVX-512: the kernels of packbits that need it, in an emulated machine.
#
# Debian's rustc-web comes with the source of its standard library, so that it can be built for targets that no
# toolchain of the machine has. For musl that would lack an unwinder, so rustup's toolchain is used.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
source scripts/programs.sh
export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$PWD/target/cross
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
build_std=(-Zbuild-std=std,panic_unwind)
# Not tests/posix/memory.c: qemu-user does not limit address space.
programs=(tests/c/*.c tests/cpp/*.cpp tests/abi/old_caller.c)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

needs rustc-web cargo-web rust-web-src gcc g++ gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine64 qemu-user \
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu gcc-s390x-linux-gnu g++-s390x-linux-gnu \
  gcc-riscv64-linux-gnu g++-riscv64-linux-gnu libc6-dev-riscv64-cross musl-tools \
  gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-arm64-cross libc6-dev-s390x-cross libc6-dev-i386-cross ca-certificates

# cargo_for TRIPLE COMPILER RUNNER ARGUMENTS...
cargo_for() {
  local triple=$1 compiler=$2 runner=$3
  shift 3
  local name=${triple//-/_}
  env "CC_$name=$compiler" "CARGO_TARGET_${name^^}_LINKER=$compiler" "CARGO_TARGET_${name^^}_RUNNER=$runner" \
    /usr/bin/cargo "$1" --locked --target "$triple" "${build_std[@]}" "${@:2}"
}

# linux TRIPLE PREFIX RUNNER [--test NAME]...: the runner finds the libraries of the platform.
linux() {
  local triple=$1 prefix=$2 runner=$3 program
  echo "== $triple"
  # All but two: one compares millions of elements and takes long under emulation, one starts its program, which would
  # need the runner again.
  cargo_for "$triple" "$prefix-gcc" "$runner" test --lib --test conformance "${@:4}" -- \
    --skip every_source_of_up_to_16_bits_is_cast_as_defined \
    --skip a_panic_of_the_library_prints_nothing_and_those_of_the_program_do
  cargo_for "$triple" "$prefix-gcc" "$runner" rustc --lib --release --crate-type cdylib
  local folder=$CARGO_TARGET_DIR/$triple/release
  ln -sf libzcodec.so "$folder/libzcodec.so.${version%%.*}"
  build_programs "$folder/programs" "$prefix-gcc" "$prefix-g++" "${programs[@]}" \
    tests/posix/{fork,float_environment}.c -- -L"$folder" -lzcodec -lm -pthread
  for program in "$folder"/programs/*; do
    LD_LIBRARY_PATH=$folder $runner "$program"
  done
}

s390x() { linux s390x-unknown-linux-gnu s390x-linux-gnu "qemu-s390x -L /usr/s390x-linux-gnu"; }
aarch64() { linux aarch64-unknown-linux-gnu aarch64-linux-gnu "qemu-aarch64 -L /usr/aarch64-linux-gnu"; }
riscv64() { linux riscv64gc-unknown-linux-gnu riscv64-linux-gnu "qemu-riscv64 -L /usr/riscv64-linux-gnu"; }
i686() {
  local lib=/usr/i686-linux-gnu/lib
  linux i686-unknown-linux-gnu i686-linux-gnu \
    "$lib/ld-linux.so.2 --library-path $lib:$CARGO_TARGET_DIR/i686-unknown-linux-gnu/release" \
    --test elements --test hostile
}

musl() {
  local triple=x86_64-unknown-linux-musl program unwinder
  local folder=$CARGO_TARGET_DIR/$triple/release cargo=(env -u RUSTC CC_x86_64_unknown_linux_musl=musl-gcc cargo)
  echo "== $triple"
  rustup target add $triple
  # All of it is static, as Rust makes it for musl, with its unwinder: that of gcc needs glibc. Debian has no C++
  # library for musl.
  "${cargo[@]}" test --locked --target $triple --lib --test conformance --test threads --test engine
  "${cargo[@]}" rustc --locked --target $triple --lib --release --crate-type staticlib
  unwinder=$(env -u RUSTC rustc --print sysroot)/lib/rustlib/$triple/lib/self-contained
  build_programs "$folder/programs" musl-gcc false tests/c/*.c tests/abi/old_caller.c tests/posix/fork.c -- \
    -static -L"$folder" -L"$unwinder" -lzcodec -lunwind -lm -pthread
  for program in "$folder"/programs/*; do
    "$program"
  done
}

windows() {
  local triple=x86_64-pc-windows-gnu prefix=x86_64-w64-mingw32 program
  local folder=$CARGO_TARGET_DIR/$triple/release
  echo "== $triple"
  export WINEPREFIX=$CARGO_TARGET_DIR/wine WINEDEBUG=-all WINEPATH=$folder
  mkdir -p "$folder" "$CARGO_TARGET_DIR/$triple/debug/deps"
  # wine 8 lacks this library of Windows; the standard library takes random numbers for its hash maps from it.
  $prefix-gcc -shared -o "$folder/bcryptprimitives.dll" tests/cross/process_prng.c
  cp "$folder/bcryptprimitives.dll" "$CARGO_TARGET_DIR/$triple/debug/deps/"
  cargo_for $triple $prefix-gcc /usr/lib/wine/wine64 test --lib --test conformance
  cargo_for $triple $prefix-gcc /usr/lib/wine/wine64 rustc --lib --release --crate-type cdylib
  # The compilers with POSIX threads: those with Windows' own have no pthread.h.
  build_programs "$folder/programs" $prefix-gcc-posix $prefix-g++-posix "${programs[@]}" -- \
    -L"$folder" -l:libzcodec.dll.a -static -pthread
  for program in "$folder"/programs/*; do
    /usr/lib/wine/wine64 "$program"
  done
}

avx512() {
  local triple=x86_64-unknown-linux-gnu
  echo "== $triple with AVX-512"
  # Alone in its machine, a program finds no shared libraries.
  RUSTFLAGS=-Ctarget-feature=+crt-static cargo_for $triple gcc "$PWD/tests/cross/bochs.sh" test --release --lib -- \
    --test-threads=1 packbits
}

[ $# -gt 0 ] || set -- s390x aarch64 riscv64 i686 musl windows avx512
for platform in "$@"; do
  "$platform"
done
echo "cross: all passed"
