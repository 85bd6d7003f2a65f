#!/usr/bin/env bash
# Makes a Debian source package of HEAD, with the crates inside, and builds it. On Debian 12 or later, as root: it
# installs what it needs (rustc-web and cargo-web from the security updates of Debian 12).
#
#     packaging/debian/build.sh [FOLDER] [ARGUMENTS OF dpkg-buildpackage]      default: target/debian, -us -uc
#
# FOLDER must be new or empty; the default one is made anew.
# Fetching the crates needs the network; the build itself does not.
set -euo pipefail
given=${1:+$(realpath -m "$1")}
shift || true
cd "$(dirname "$0")/../.."
source scripts/packages.sh
[ -n "$given" ] || rm -rf target/debian
work=${given:-$PWD/target/debian}
[ -z "$(ls -A "$work" 2>/dev/null)" ] || { echo "$work is not empty" >&2; exit 1; }
[ $# -gt 0 ] || set -- -us -uc
needs dpkg-dev debhelper cmake pkg-config python3 gcc g++ rustc-web cargo-web
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
source=$work/zcodec-$version

mkdir -p "$source"
git archive HEAD | tar -x -C "$source"
cd "$source"
mkdir -p .cargo
/usr/bin/cargo vendor --quiet --locked vendor
cat >.cargo/config.toml <<SOURCES
[source.crates-io]
replace-with = "vendor"

[source.vendor]
directory = "vendor"
SOURCES
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git -C "$OLDPWD" log -1 --format=%ct)" \
  --directory "$work" "zcodec-$version" | xz -T0 -1 >"$work/zcodec_$version.orig.tar.xz"
# The licences of zcodec and the crates, and of the standard library of Debian's rustc. Debian wants the Apache licence
# named, not repeated.
PATH=/usr/bin:$PATH scripts/licences.py x86_64-unknown-linux-gnu \
  "The sources of Debian's rustc, with the standard library=/usr/share/doc/libstd-rust-web-dev/copyright" |
  sed '/^ *Apache License$/,/^ *END OF TERMS AND CONDITIONS$/c The text is in /usr/share/common-licenses/Apache-2.0.' \
    >"$work/copyright"
cp -r packaging/debian debian
rm debian/build.sh
mv "$work/copyright" debian/
cat >debian/changelog <<CHANGES
zcodec ($version-1) unstable; urgency=medium

  * See CHANGELOG.md.

 -- The zcodec developers <zcodec@example.invalid>  $(git -C "$OLDPWD" log -1 --format=%cD)
CHANGES
dpkg-buildpackage "$@"
