#!/bin/sh
# Makes, from the static library that cargo builds, one whose only global symbols are those of zcodec.h:
#
#     scripts/static-library.sh target/release/libzcodec.a build/libzcodec.a
#
# Cargo's archive holds libzstd, libdeflate and Rust's own library with all their names. Linked together with another
# libdeflate it fails, or one of the two silently serves both. For ELF, this script first links everything into one
# object, and makes all names except zcodec_* local to it. For COFF, where FORMAT is pe-x86-64, it gives all of them the
# prefix zcodec_private_: what GNU ld links into one object for Windows loses its tables for unwinding.
# The GNU tools; LD, OBJCOPY, AR, NM and RANLIB may name others.
set -eu
built=$1
made=$2
symbols=$(dirname "$0")/../abi/symbols.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# LLVM's own code in Rust's standard library is for link-time optimisation, which has been done; tools with an LLVM
# plugin older than Rust's would fail on it. Objects of gcc that have such code beside the usual one would become one
# that linkers read with gcc's plugin, which does not see the rest.
elf() {
  discard='*(.llvmbc) *(.llvmcmd) *(.gnu.lto_*) *(.gnu.debuglto_*)'
  echo "SECTIONS { /DISCARD/ : { $discard } } INSERT AFTER .text;" >"$work/discard.ld"
  # Keeps only what the interface reaches. Groups are dissolved: the linker of a program would throw away those that
  # another Rust library has, too, although their names are local by then.
  set --
  while read -r symbol; do
    set -- "$@" -u "$symbol"
  done <"$symbols"
  # Older linkers of LLVM, which CMake names if the compiler is clang, cannot do that.
  "${LD:-ld}" --help | grep -q -e --force-group-allocation || LD=ld
  "${LD:-ld}" -r --gc-sections --force-group-allocation -T "$work/discard.ld" "$@" -o "$work/all.o" "$built"
  "${OBJCOPY:-objcopy}" --keep-global-symbols="$symbols" "$work/all.o" "$work/zcodec.o"
  "${AR:-ar}" rcsD "$work/libzcodec.a" "$work/zcodec.o"
}

# The format is named to each tool, so that none asks a plugin. Rust puts members with nothing but debug information
# (.dwo) into the archive, which objcopy refuses. Names in .drectve, hints to the linker, would be the old ones.
coff() {
  cp "$built" "$work/libzcodec.a"
  "$AR" --target="$FORMAT" t "$work/libzcodec.a" | { grep '\.dwo$' || true; } |
    xargs -r "$AR" --target="$FORMAT" dD "$work/libzcodec.a"
  "$NM" --target="$FORMAT" --extern-only --defined-only --format=posix "$work/libzcodec.a" >"$work/listed"
  awk 'NF >= 3 && !seen[$1]++ { print $1 }' "$work/listed" | grep -vxF -f "$symbols" |
    awk '{ print $1, "zcodec_private_" $1 }' >"$work/names"
  "$OBJCOPY" -I "$FORMAT" -O "$FORMAT" --enable-deterministic-archives --redefine-syms="$work/names" \
    --remove-section=.drectve --remove-section=.llvmbc --remove-section=.llvmcmd "$work/libzcodec.a"
  "$RANLIB" -D "$work/libzcodec.a"
}

if [ "${FORMAT:-elf}" = elf ]; then elf; else coff; fi
mkdir -p "$(dirname "$made")"
cmp -s "$work/libzcodec.a" "$made" || mv "$work/libzcodec.a" "$made" # programs are linked again if it is new
