#!/usr/bin/env bash
# Makes the archives of a release in dist/: headers, libraries, CMake and pkg-config files, licences; debug symbols in
# archives of their own; checksums. Unpacks each archive and uses it from a C and a C++ program.
#
#     scripts/dist.sh [x86_64-unknown-linux-gnu] [aarch64-unknown-linux-gnu]      default: all that can be built here
#
# Needs what `make test` needs, and binutils. zig and cargo-zigbuild come from PyPI into .venv-dist. The binaries run
# with glibc 2.17 and newer. They contain no local paths and no times except that of the commit (SOURCE_DATE_EPOCH), so
# that the same source can give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
export GLIBC=2.17
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0
dist=$PWD/dist
mkdir -p "$dist"

if [ ! -x .venv-dist/bin/cargo-zigbuild ]; then
  python3 -m venv .venv-dist
  .venv-dist/bin/pip install --quiet --disable-pip-version-check ziglang==0.17.1 cargo-zigbuild==0.24.0
fi
export PATH=$PWD/.venv-dist/bin:$PATH CARGO_ZIGBUILD=$PWD/.venv-dist/bin/cargo-zigbuild

# build TARGET: the libraries, installed to target/dist/TARGET/NAME.
build() {
  local target=$1 work=$PWD/target/dist/$1 prefix=$2
  local cargo_home=${CARGO_HOME:-$HOME/.cargo}
  export DIST_TARGET=$target
  # No path of this machine in the binaries.
  RUSTFLAGS="--remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$PWD=/zcodec" \
    CFLAGS="-ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$PWD=/zcodec -g0" \
    cmake -S . -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DZCODEC_BUILD_TESTS=OFF -DZCODEC_BUILD_EXAMPLES=OFF \
    -DZCODEC_INSTALL=ON -DCMAKE_INSTALL_LIBDIR=lib -DZCODEC_CARGO="$PWD/scripts/dist/cargo" \
    -DZCODEC_CARGO_TARGET="$target" -DZCODEC_CARGO_TARGET_DIR="$work/cargo" >/dev/null
  RUSTFLAGS="--remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$PWD=/zcodec" \
    CFLAGS="-ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$PWD=/zcodec -g0" \
    cmake --build "$work/build"
  rm -rf "$prefix"
  cmake --install "$work/build" --prefix "$prefix" >/dev/null
}

# apart PREFIX: moves the debug information of the libraries out of them.
apart() {
  local shared=$1/lib/libzcodec.so.$version
  mkdir -p "$1.debug/lib"
  objcopy --only-keep-debug "$shared" "$1.debug/lib/libzcodec.so.$version.debug"
  objcopy --strip-unneeded --add-gnu-debuglink="$1.debug/lib/libzcodec.so.$version.debug" "$shared"
  objcopy --strip-debug --enable-deterministic-archives "$1/lib/libzcodec.a"
}

# check_glibc LIBRARY: fails if the library needs a symbol of a newer glibc.
check_glibc() {
  local newest
  newest=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
  echo "$(basename "$1") needs $newest"
  [ "$(printf '%s\n' "GLIBC_$GLIBC" "$newest" | sort -V | tail -n 1)" = "GLIBC_$GLIBC" ]
}

# pack NAME FOLDER: the folder as an archive whose bytes depend only on the files.
pack() {
  tar --create --directory "$2" --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
    --numeric-owner --mode=u+rw,go=rX "$1" | gzip -9 --no-name >"$dist/$1.tar.gz"
  (cd "$dist" && sha256sum "$1.tar.gz" >"$1.tar.gz.sha256" && cat "$1.tar.gz.sha256")
}

# try ARCHIVE: builds C and C++ programs against the unpacked archive, as a user would, with CMake and pkg-config.
try() {
  local work name=$1
  work=$(mktemp -d)
  tar -xzf "$dist/$name.tar.gz" -C "$work"
  (cd "$dist" && sha256sum --check --quiet "$name.tar.gz.sha256")
  cmake -S tests/outside -B "$work/build" -DCMAKE_PREFIX_PATH="$work/$name" -DZCODEC_VERSION="$version" >/dev/null
  cmake --build "$work/build" >/dev/null
  ctest --test-dir "$work/build" --output-on-failure
  PKG_CONFIG_PATH=$work/$name/lib/pkgconfig
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046 # flags are words
  cc tests/outside/main.c -o "$work/main" $(pkg-config --cflags --libs zcodec) -Wl,-rpath,"$work/$name/lib"
  "$work/main"
  rm -rf "$work"
}

linux() {
  local target=$1 name=zcodec-$version-$1 work=$PWD/target/dist/$1
  build "$target" "$work/$name"
  rm -rf "$work/$name.debug"
  apart "$work/$name"
  check_glibc "$work/$name/lib/libzcodec.so.$version"
  cp README.md CHANGELOG.md SECURITY.md LICENSE-MIT LICENSE-APACHE "$work/$name/"
  scripts/licences.py "$target" >"$work/$name/LICENCES.txt"
  pack "$name" "$work"
  pack "$name.debug" "$work"
  if [ "$(uname -m)" = "${target%%-*}" ]; then
    try "$name"
  else
    echo "NOT TRIED: $name does not run on $(uname -m)" >&2
  fi
}

[ $# -gt 0 ] || set -- x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
for target in "$@"; do
  if [ -d "$(rustc --print target-libdir --target "$target")" ]; then
    linux "$target"
  else
    echo "NOT BUILT: rustup target add $target" >&2
  fi
done
