#!/bin/sh
# Makes, from the static library that cargo builds, one whose only global symbols are those of zcodec.h:
#
#     scripts/static-library.sh target/release/libzcodec.a build/libzcodec.a
#
# Cargo's archive holds libzstd, libdeflate and Rust's own library with all their names. Linked together with another
# libdeflate it fails, or one of the two silently serves both. This script first links everything into one object, and
# makes all names except zcodec_* local to it. For ELF, with the GNU tools; LD, OBJCOPY and AR may name others.
set -eu
built=$1
made=$2
symbols=$(dirname "$0")/../abi/symbols.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# LLVM's own code in Rust's standard library is for link-time optimisation, which has been done; tools with an LLVM
# plugin older than Rust's would fail on it.
echo 'SECTIONS { /DISCARD/ : { *(.llvmbc) *(.llvmcmd) } } INSERT AFTER .text;' >"$work/discard.ld"

# Keeps only what the interface reaches. Groups are dissolved: the linker of a program would throw away those that
# another Rust library has, too, although their names are local by then.
set --
while read -r symbol; do
  set -- "$@" -u "$symbol"
done <"$symbols"
"${LD:-ld}" -r --gc-sections --force-group-allocation -T "$work/discard.ld" "$@" -o "$work/all.o" "$built"
"${OBJCOPY:-objcopy}" --keep-global-symbols="$symbols" "$work/all.o" "$work/zcodec.o"

rm -f "$work/libzcodec.a"
"${AR:-ar}" rcsD "$work/libzcodec.a" "$work/zcodec.o"
mkdir -p "$(dirname "$made")"
mv "$work/libzcodec.a" "$made"
