#!/usr/bin/env python3
"""Exchanges chunks with zarr-python: each side reads what the other one wrote.

    check_zarr.py ZCODEC_CHUNK DIRECTORY DATA

ZCODEC_CHUNK is the example program, DIRECTORY a place to work in, DATA the folder of real data.
"""
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

NUCLEI = "nuclei_uint16_8x256x256.npy"
AIR = "air_temperature_float32_48x37x49.npy"
LABELS = "nuclei_labels_uint8_8x256x256.npy"
# The arrays that are written: data, chunk shape, filters, serializer, compressors.
ARRAYS = {
    "little": (NUCLEI, (4, 100, 100), (), BytesCodec(endian="little"), ()),
    "big_gzip": (NUCLEI, (8, 64, 256), (), BytesCodec(endian="big"), (GzipCodec(level=6),)),
    "zstd": (AIR, (48, 37, 49), (), BytesCodec(endian="little"), (ZstdCodec(level=3, checksum=False),)),
    "zstd_checksum": (AIR, (20, 20, 20), (), BytesCodec(endian="big"), (ZstdCodec(level=9, checksum=True),)),
    "transpose": (NUCLEI, (3, 50, 70), (TransposeCodec(order=(2, 0, 1)),), BytesCodec(endian="little"), ()),
    "everything": (AIR, (13, 37, 10), (TransposeCodec(order=(1, 2, 0)),), BytesCodec(endian="big"),
                   (Crc32cCodec(), GzipCodec(level=1), ZstdCodec(level=1, checksum=True), Crc32cCodec())),
    "one_byte": (LABELS, (8, 256, 256), (), BytesCodec(endian=None), (GzipCodec(level=9),)),
}


def write(path, values, chunks, filters, serializer, compressors):
    array = zarr.create_array(path, shape=values.shape, chunks=chunks, dtype=values.dtype, fill_value=0,
                              filters=filters, serializer=serializer, compressors=compressors,
                              config={"write_empty_chunks": True})
    array[:] = values


def chunks_of(shape, chunk_shape):
    """(index, the slices of the array) of every chunk."""
    for index in numpy.ndindex(*(-(-n // c) for n, c in zip(shape, chunk_shape))):
        yield index, tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunk_shape))


def whole_chunk(values, where, chunk_shape):
    """The chunk as a writer pads it at the border, where its shape goes beyond the array."""
    inside = values[where]
    chunk = numpy.zeros(chunk_shape, values.dtype)
    chunk[tuple(slice(n) for n in inside.shape)] = inside
    return chunk


def check_array(program, directory, name, values, chunk_shape, *codecs):
    theirs, ours = directory / "theirs" / name, directory / "ours" / name
    write(theirs, values, chunk_shape, *codecs)
    metadata = theirs / "zarr.json"
    decoded = directory / "decoded"
    count = 0
    for index, where in chunks_of(values.shape, chunk_shape):
        key = Path("c", *map(str, index))
        chunk = whole_chunk(values, where, chunk_shape)
        run = [program, "decode", metadata, theirs / key, decoded]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        assert decoded.read_bytes() == chunk.tobytes(), "zcodec reads %s otherwise" % (theirs / key)
        decoded.write_bytes(chunk.tobytes())
        (ours / key).parent.mkdir(parents=True, exist_ok=True)
        run = [program, "encode", metadata, decoded, ours / key]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        count += 1
    shutil.copy(metadata, ours)
    assert numpy.array_equal(zarr.open_array(ours, mode="r")[:], values), "zarr reads %s otherwise" % ours
    print("%s: %d chunks exchanged with zarr-python %s" % (name, count, zarr.__version__))


def main(program, directory, data):
    directory = Path(directory)
    shutil.rmtree(directory, ignore_errors=True)
    for name, (file, *parts) in ARRAYS.items():
        check_array(program, directory, name, numpy.load(Path(data, file)), *parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
