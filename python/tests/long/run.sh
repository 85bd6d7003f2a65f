#!/usr/bin/env bash
# The long tests of the Python package: zarr-python's own test suite with zcodec's pipeline, from its source
# distribution; random chains against its pipeline; arrays of tensorstore and zarrs; chunks of more than 2^32 bytes;
# README.md and the notebook.
#   run.sh VENV        where the package is installed; other test packages are added to it
set -euo pipefail
venv=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
python=$venv/bin/python
work=$venv/long
mkdir -p "$work"

"$python" -m pip --quiet --disable-pip-version-check install tensorstore zarrs ipykernel matplotlib nbclient xarray dask
(cd "$here/.." && ZCODEC_EXAMPLES=300 "$python" -m pytest -q test_properties.py long)
"$python" "$here/zarr_suite.py" "$work"
