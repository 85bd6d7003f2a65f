"""Arrays of zarr-python for PluginTest: `write FOLDER` makes them, `check FOLDER` reads what the plugin wrote.

The pixels are (t, c, z, y, x) -> 1000 t + 500 c + 100 z + y + x, in uint16.
"""

import json
import pathlib
import sys

import numpy as np
import zarr


def pixels(*shape):
    weights = {5: (1000, 500, 100, 1, 1), 3: (100, 1, 1), 2: (1, 1)}[len(shape)]
    return sum(np.arange(n).reshape([-1 if i == k else 1 for k in range(len(shape))]) * w
               for i, (n, w) in enumerate(zip(shape, weights)))


def write(folder):
    blosc = zarr.codecs.BloscCodec(cname="zstd", shuffle="bitshuffle")
    image = zarr.create_group(folder / "image.ome.zarr")
    array = image.create_array("0", shape=(2, 3, 4, 50, 70), chunks=(1, 1, 2, 16, 16), shards=(1, 3, 4, 64, 64), dtype="uint16",
                               compressors=[blosc])
    array[...] = pixels(2, 3, 4, 50, 70)
    axes = [{"name": "t", "type": "time", "unit": "second"}, {"name": "c", "type": "channel"}]
    axes += [{"name": n, "type": "space", "unit": "micrometer"} for n in "zyx"]
    scale = {"type": "scale", "scale": [2.5, 1, 0.5, 0.25, 0.125]}
    datasets = [{"path": "0", "coordinateTransformations": [scale]}]
    image.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}
    old = zarr.create_array(folder / "old.zarr", shape=(4, 50, 70), chunks=(2, 32, 32), dtype=">u2", zarr_format=2, order="F")
    old[...] = pixels(4, 50, 70)
    for name in ("bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
        typed = zarr.create_array(folder / (name + ".zarr"), shape=(5, 7), chunks=(2, 4), dtype=name)
        typed[...] = (pixels(5, 7) - 3).astype(name)


def check(folder):
    lossless = zarr.open_group(folder / "lossless.zarr", mode="r")
    assert (lossless["0"][...] == pixels(2, 3, 4, 50, 70)).all()
    multiscale = lossless.attrs["ome"]["multiscales"][0]
    assert multiscale["datasets"][0]["coordinateTransformations"][0]["scale"] == [2.5, 1, 0.5, 0.25, 0.125]
    assert [axis.get("unit") for axis in multiscale["axes"]] == ["second", None] + 3 * ["micrometer"], multiscale
    with open(folder / "lossless.zarr/0/zarr.json") as document:
        assert json.load(document)["dimension_names"] == list("tczyx")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
