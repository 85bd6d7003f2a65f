#!/usr/bin/env bash
# Checks what zcodec is made of: the licences of what is linked, and with cargo-deny (deny.toml) licences, sources and
# versions of everything in Cargo.lock.
#
#     scripts/supply-chain.sh [advisories]      the latter also asks the RustSec database, which needs the network
#
# Installs cargo-deny if it is missing. The list of parts (SBOM) is made by scripts/sbom.py, in scripts/dist.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu; do
  scripts/licences.py "$target" >/dev/null
  echo "the licences of what is linked for $target are allowed, and their texts are there"
done
command -v cargo-deny >/dev/null || cargo install --locked cargo-deny --version 0.20.2
cargo deny --locked check licenses bans sources "$@"
