#!/usr/bin/env bash
# Makes the virtual environment DIRECTORY with the package of python/, built from this checkout, and its EXTRAS.
#   python-venv.sh DIRECTORY EXTRAS
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 extras=$2
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
# The library comes from target/, where the other tests build it, too, with the compiler that CMake takes by itself.
CC=${CC:-cc} "$venv/bin/python" -m pip --quiet --disable-pip-version-check install \
  --config-settings "cmake.define.ZCODEC_CARGO_TARGET_DIR=$PWD/target" "./python[$extras]"
