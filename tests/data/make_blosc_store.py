#!/usr/bin/env python3
"""Writes air_temperature.zarr: the first 12 years of air_temperature_float32_48x37x49.npy in two shards, of which each
inner chunk is a Blosc frame.

    make_blosc_store.py

Needs zarr-python 3 and numpy. Made with zarr 3.4.2 and numcodecs 0.17.1.
"""
import pathlib
import shutil

import numpy
import zarr
from zarr.codecs import BloscCodec

HERE = pathlib.Path(__file__).resolve().parent


def main():
    data = numpy.load(HERE / "air_temperature_float32_48x37x49.npy")[:12]
    store = HERE / "air_temperature.zarr"
    shutil.rmtree(store, ignore_errors=True)
    array = zarr.create_array(
        store,
        shape=data.shape,
        dtype=data.dtype,
        shards=(6, 40, 50),
        chunks=(3, 20, 25),
        compressors=BloscCodec(cname="zstd", clevel=5, shuffle="shuffle"),
        fill_value=numpy.nan,
    )
    array[:] = data


if __name__ == "__main__":
    main()
