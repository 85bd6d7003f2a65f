#!/usr/bin/env python3
"""Opens the dataset that the example n5_write wrote with z5py and compares the elements.

    check_n5.py CONTAINER VOLUME.npy
"""
import sys
from importlib.metadata import version

import numpy
import z5py


def main(container, volume):
    expected = numpy.load(volume)
    dataset = z5py.File(container, mode="r", use_zarr_format=False)["volume"]
    assert dataset.shape == expected.shape and dataset.dtype == expected.dtype, (dataset.shape, dataset.dtype)
    assert numpy.array_equal(dataset[:], expected)
    print("z5py %s reads the N5 dataset of shape %s: elements equal" % (version("z5py"), dataset.shape))


if __name__ == "__main__":
    main(*sys.argv[1:])
