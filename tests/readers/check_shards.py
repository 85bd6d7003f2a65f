#!/usr/bin/env python3
"""zarr-python and tensorstore read the sharded array that the example shard_store wrote and changed in place.

    check_shards.py ARRAY VOLUME.npy
"""
import sys
from pathlib import Path

import numpy
import tensorstore
import zarr


def read_by_tensorstore(path):
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(Path(path).absolute())}}
    return tensorstore.open(spec, read=True).result().read().result()


def main(path, volume):
    expected = numpy.load(volume)
    box = numpy.s_[2:6, 100:160, 90:150]
    expected[box] = 65535 - expected[box]
    array = zarr.open_array(path, mode="r")
    assert array.shards == (8, 128, 128) and array.chunks == (4, 32, 32), (array.shards, array.chunks)
    assert numpy.array_equal(array[:], expected), "zarr-python reads other elements"
    assert numpy.array_equal(read_by_tensorstore(path), expected), "tensorstore reads other elements"
    print("read by zarr-python %s and tensorstore" % zarr.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
