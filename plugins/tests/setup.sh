#!/usr/bin/env bash
# Makes .venv-plugins with the hosts of the plugins, and says which packages of Debian are missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

missing=
[ -n "$(find /usr/include /usr/local/include -name H5PLextern.h -print -quit 2>/dev/null)" ] || missing=libhdf5-dev
command -v gdalmdimtranslate >/dev/null || missing="$missing gdal-bin"
python3 -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"
if [ -n "$missing" ]; then
  echo "The plugins need packages of Debian: apt-get install $missing" >&2
  exit 1
fi

cmp -s plugins/tests/requirements.txt .venv-plugins/requirements.txt && exit 0
python3 -m venv --clear .venv-plugins
.venv-plugins/bin/python -m pip install --quiet --disable-pip-version-check -r plugins/tests/requirements.txt
cp plugins/tests/requirements.txt .venv-plugins/requirements.txt
