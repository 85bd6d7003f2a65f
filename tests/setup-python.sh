#!/usr/bin/env bash
# Makes .venv with the Python packages that the tests need (tests/requirements.txt), unless it has them already.
set -euo pipefail
cd "$(dirname "$0")/.."

if cmp -s tests/requirements.txt .venv/requirements.txt; then
  exit 0
fi
if ! python3 -m venv --clear .venv; then
  # Debian has this module in a separate package.
  [ "$(id -u)" = 0 ] || { echo "python3 has no module venv: install the package python3-venv" >&2; exit 1; }
  apt-get update -qq
  apt-get install -y -qq python3-venv
  python3 -m venv --clear .venv
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
cp tests/requirements.txt .venv/requirements.txt
