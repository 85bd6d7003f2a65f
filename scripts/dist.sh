#!/usr/bin/env bash
# Makes the archives of a release in dist/: headers, libraries, CMake and pkg-config files, licences, a list of parts
# (SBOM); debug symbols in archives of their own; checksums. Unpacks each archive and uses it from C and C++ programs.
#
#     scripts/dist.sh [x86_64-unknown-linux-gnu] [aarch64-unknown-linux-gnu] [x86_64-pc-windows-gnu]      default: all
#
# Needs a Rust toolchain of rustup's, python3, and Debian 12 or something like it, as root: it installs compilers,
# emulators and Rust's standard library for the target. zig, cargo-zigbuild and cmake come from PyPI into .venv-dist.
#
# The Linux binaries run with glibc 2.17 and newer, those for Windows with Windows 10 and newer. They contain no local
# paths and no times except that of the commit (SOURCE_DATE_EPOCH): the same source and the same compilers give the same
# bytes, which scripts/dist/again.sh shows.
set -euo pipefail
cd "$(dirname "$0")/.."
changed=$(git status --short --untracked-files=no)
if [ -n "$changed" ]; then
  printf 'dist: these files differ from the commit that the archives would name:\n%s\n' "$changed" >&2
  exit 1
fi

# zig writes the folder in which it links into the debug symbols of its libunwind, and no option changes that. So the
# source is at the same path wherever it is: mounted there, for this script alone.
place=/usr/src/zcodec
if [ "$PWD" != $place ]; then
  mkdir -p $place
  # shellcheck disable=SC2016 # the inner shell expands
  exec unshare --mount bash -c 'mount --bind "$PWD" "$0" && cd "$0" && exec scripts/dist.sh "$@"' $place "$@"
fi
source scripts/packages.sh
source scripts/runtimes.sh
source scripts/dist/platforms.sh
export GLIBC=2.17
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0 LC_ALL=C.UTF-8 TZ=UTC
dist=$PWD/dist

# The compilers of a release are pinned here; Rust's is the toolchain that is active, and named in LICENCES.txt.
tools() {
  local venv=$PWD/.venv-dist
  if ! cmp -s scripts/dist/requirements.txt "$venv/requirements.txt"; then
    [ "$(id -u)" != 0 ] || needs python3-venv
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
      -r scripts/dist/requirements.txt
    cp scripts/dist/requirements.txt "$venv/"
  fi
  export PATH=$venv/bin:$PATH CARGO_ZIGBUILD=$venv/bin/cargo-zigbuild
  # Without this file of rustup's toolchains, LICENCES.txt lacks the licences of the crates in the standard library.
  ls "$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html" >/dev/null
}

# build TARGET FOLDER: the libraries, installed to the folder.
build() {
  local target=$1 work=$PWD/target/dist/$1 prefix=$2 cargo_home=${CARGO_HOME:-$HOME/.cargo}
  export DIST_TARGET=$target
  # No path of this machine in the binaries.
  local rust="--remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$PWD=/zcodec"
  local c="-ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$PWD=/zcodec -g0"
  RUSTFLAGS="$rust" CFLAGS="$c" cmake -S . -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DZCODEC_BUILD_TESTS=OFF \
    -DZCODEC_BUILD_EXAMPLES=OFF -DZCODEC_INSTALL=ON -DCMAKE_INSTALL_LIBDIR=lib -DZCODEC_CARGO_TARGET="$target" \
    -DZCODEC_CARGO_TARGET_DIR="$work/cargo" "-DZCODEC_CARGO=$PWD/scripts/dist/cargo" "${cmake_platform[@]}" >/dev/null
  RUSTFLAGS="$rust" CFLAGS="$c" cmake --build "$work/build"
  rm -rf "$prefix" "$prefix.debug"
  cmake --install "$work/build" --prefix "$prefix" >/dev/null
}

# apart PREFIX LIBRARY: moves the debug information of PREFIX/LIBRARY to PREFIX.debug, and that of the static library
# away.
apart() {
  local library=$1/$2 debug=$1.debug/$2.debug
  mkdir -p "$(dirname "$debug")"
  "${tool}objcopy" --only-keep-debug "$library" "$debug"
  "${tool}objcopy" --strip-unneeded --add-gnu-debuglink="$debug" "$library"
  "${tool}objcopy" --strip-debug --enable-deterministic-archives "$1/lib/libzcodec.a"
}

# papers TARGET PREFIX: what a user, a packager and an auditor read.
papers() {
  local runtimes zig
  cp README.md CHANGELOG.md SECURITY.md LICENSE-MIT LICENSE-APACHE "$2/"
  cp -r docs "$2/"
  # What the compilers add to the libraries.
  case $1 in
    *-windows-*) runtimes=("${mingw_runtimes[@]}") ;;
    *)
      zig=$(python -c 'import ziglang; print(*ziglang.__path__)')
      runtimes=("libunwind of LLVM, with zig=$zig/lib/libunwind/LICENSE.TXT" "compiler_rt of zig=$zig/LICENSE")
      ;;
  esac
  scripts/licences.py "$1" "${runtimes[@]}" >"$2/LICENCES.txt"
  python scripts/sbom.py "$1" >"$2/zcodec.cdx.json"
}

# pack NAME FOLDER: the folder as an archive whose bytes depend only on the files.
pack() {
  if [ "$suffix" = zip ]; then
    python3 scripts/dist/zip.py "$2/$1" "$dist/$1.zip"
  else
    tar --create --directory "$2" --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
      --numeric-owner --mode=u+rw,go=rX "$1" | gzip -9 --no-name >"$dist/$1.$suffix"
  fi
  (cd "$dist" && sha256sum "$1.$suffix" >"$1.$suffix.sha256" && cat "$1.$suffix.sha256" && du -k "$1.$suffix")
}

# try NAME: builds C and C++ programs against the unpacked archive, as a user would, with CMake and pkg-config.
try() {
  local name=$1 work=$PWD/target/dist/try-$1
  rm -rf "$work"
  mkdir -p "$work"
  (cd "$dist" && sha256sum --check --quiet "$name.$suffix.sha256")
  if [ "$suffix" = zip ]; then
    python3 -m zipfile -e "$dist/$name.zip" "$work"
  else
    tar -xzf "$dist/$name.$suffix" -C "$work"
  fi
  before_running "$work/$name"
  cmake -S tests/outside -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/$name" \
    -DZCODEC_VERSION="$version" "${cmake_platform[@]}" "${cmake_programs[@]}" >/dev/null
  cmake --build "$work/build" >/dev/null
  ctest --test-dir "$work/build" --output-on-failure --no-tests=error
  # shellcheck disable=SC2046 # flags are words
  "${tool}gcc" tests/outside/main.c -o "$work/main.exe" \
    $(PKG_CONFIG_PATH=$work/$name/lib/pkgconfig pkg-config --cflags --libs zcodec) -Wl,-rpath,"$work/$name/lib"
  "${runner[@]}" "$work/main.exe"
}

# release TARGET: everything for one platform.
release() {
  local target=$1 name=zcodec-$version-$1 work=$PWD/target/dist/$1
  echo "== $name"
  platform "$target"
  rustup target add "$target" 2>/dev/null || [ -d "$(rustc --print target-libdir --target "$target")" ]
  build "$target" "$work/$name"
  finish "$work/$name"
  apart "$work/$name" "$shared"
  check "$work/$name"
  papers "$target" "$work/$name"
  pack "$name" "$work"
  pack "$name.debug" "$work"
  try "$name"
}

mkdir -p "$dist"
needs pkg-config binutils gcc g++
tools
[ $# -gt 0 ] || set -- x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu
for target in "$@"; do
  release "$target"
done
