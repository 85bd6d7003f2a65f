#!/usr/bin/env bash
# Runs the plugin in a real ImageJ on a virtual screen: menus, macros, windows, messages.
#
#     scripts/imagej.sh [PICTURE]        default: the picture of the screen stays in java/zcodec_imagej/target/imagej
#
# Needs what scripts/java.sh has built, and Xvfb (Debian: apt-get install xvfb).
set -euo pipefail
cd "$(dirname "$0")/.."
module=$PWD/java/zcodec_imagej
work=$module/target/imagej
rm -rf "$work"
mkdir -p "$work/plugins/jars"
cp "$module"/target/jars/ij-*.jar "$work/ij.jar"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
cp "$module/target/zcodec_imagej-$version"*.jar "$work/plugins/" # not one of an earlier version: two have the same menu
cp "$module"/target/jars/jna-*.jar "$work/plugins/jars/"

# An array with a chunk that is cut short.
python3 - "$work/damaged.zarr" tests/data/nuclei_uint16_8x256x256.npy <<'PY'
import json, pathlib, sys
folder, plane = pathlib.Path(sys.argv[1]), 2 * 256 * 256
pixels = pathlib.Path(sys.argv[2]).read_bytes()[128:]
for z in range(8):
    chunk = folder / "c" / str(z) / "0" / "0"
    chunk.parent.mkdir(parents=True)
    chunk.write_bytes(pixels[z * plane:(z + 1) * plane] if z != 2 else pixels[:1000])
(folder / "zarr.json").write_text(json.dumps({
    "zarr_format": 3, "node_type": "array", "shape": [8, 256, 256], "data_type": "uint16", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 256, 256]}},
    "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}))
PY

home=$work/home
mkdir -p "$home"
timeout 300 xvfb-run --auto-servernum --server-args="-screen 0 700x540x24" \
  java -Duser.home="$home" -Dplugins.dir="$work" -cp "$work/ij.jar" ij.ImageJ \
  -macro "$module/src/test/imagej/demo.ijm" "$PWD/tests/data;$work"
[ -f "$work/passed" ] || { echo "the macro did not come to its end" >&2; exit 1; }
cat "$work/passed"
timeout 300 xvfb-run --auto-servernum java -Duser.home="$home" -Dplugins.dir="$work" \
  -cp "$work/ij.jar:$module/target/test-classes" zcodec.imagej.RecordedMacro "$work/nuclei.zarr"
[ $# -eq 0 ] || cp "$work/screen.png" "$1"
