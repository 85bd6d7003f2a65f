#!/usr/bin/env bash
# Makes .venv-plugins with the hosts of the plugins. On Debian, it also installs the packages that they need.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/packages.sh

missing=()
[ -n "$(find /usr/include /usr/local/include -name H5PLextern.h -print -quit 2>/dev/null)" ] || missing+=(libhdf5-dev)
command -v gdalmdimtranslate >/dev/null || missing+=(gdal-bin)
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} != 0 ]; then
  command -v apt-get >/dev/null || { echo "The plugins need what Debian has as ${missing[*]}" >&2; exit 1; }
  needs "${missing[@]}"
fi

cmp -s plugins/tests/requirements.txt .venv-plugins/requirements.txt && exit 0
python3 -m venv --clear .venv-plugins
.venv-plugins/bin/python -m pip install --quiet --disable-pip-version-check -r plugins/tests/requirements.txt
cp plugins/tests/requirements.txt .venv-plugins/requirements.txt
