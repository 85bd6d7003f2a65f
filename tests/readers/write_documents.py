"""Writes tests/data/zarr_python_documents.jsonl: arrays of zarr-python in formats 2 and 3, each one chunk.

    python write_documents.py > ../data/zarr_python_documents.jsonl

A line has the metadata document, the bytes of the chunk, and its elements in C order and little-endian. Needs
zarr 3.4 and numcodecs.
"""

import json
import sys
import warnings

import numcodecs
import numpy as np
import zarr

warnings.simplefilter("ignore")
RECORD = [("a", "<i2"), ("b", "<f8"), ("c", "S3"), ("d", "<M8[us]"), ("e", "<U2"), ("f", "?"), ("g", [("h", "i1"), ("i", "<c8")])]
TYPES = ["<M8[ns]", "<m8[10s]", "<U5", "|S4", "|V7", RECORD, "<i4", "<c16", "|b1"]


def elements(dtype, shape):
    """Elements of every kind, none of them special to the machine."""
    count = int(np.prod(shape))
    if dtype.names:
        array = np.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = elements(dtype[name], shape)
        return array
    if dtype.kind == "U":
        return np.array(["a\u20ac\U0001f600xyz"[: i % (dtype.itemsize // 4 + 1)] for i in range(count)], dtype).reshape(shape)
    if dtype.kind == "S":
        return np.array([b"abcd"[: i % (dtype.itemsize + 1)] for i in range(count)], dtype).reshape(shape)
    if dtype.kind == "V":
        return np.frombuffer(bytes(i % 251 for i in range(count * dtype.itemsize)), dtype).reshape(shape)
    if dtype.kind in "mM":
        return (np.arange(count) * 1_000_003 - 5).astype("i8").view(dtype.newbyteorder("<")).astype(dtype).reshape(shape)
    return (np.arange(count) * 7 % 5).astype(dtype).reshape(shape)


def big(dtype):
    return np.dtype(dtype).newbyteorder(">")


def write(name, dtype, version, **options):
    shape = (3, 4)
    data = elements(np.dtype(dtype), shape)
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(store, shape=shape, chunks=shape, dtype=dtype, zarr_format=version, **options)
    array[...] = data
    files = {key: value.to_bytes() for key, value in store._store_dict.items()}
    document = ".zarray" if version == 2 else "zarr.json"
    chunk = next(value for key, value in files.items() if key in ("0.0", "c/0/0"))
    little = np.ascontiguousarray(data.astype(np.dtype(dtype).newbyteorder("<"))).tobytes()
    line = {"name": name, "document": json.loads(files[document]), "encoded": chunk.hex(), "decoded": little.hex()}
    sys.stdout.write(json.dumps(line) + "\n")


for dtype in TYPES:
    kind = "struct" if isinstance(dtype, list) else dtype
    blosc = numcodecs.Blosc(cname="zstd", clevel=3, shuffle=1)
    compressors = (None,) if kind == "struct" else (None, blosc)  # numcodecs: no buffer of such a struct
    for order in "CF":
        for compressor in compressors:
            write(f"v2 {kind} {order} {compressor}", dtype, 2, order=order, compressors=compressor, filters=None)
    write(f"v2 big-endian {kind}", big(dtype), 2, compressors=None, filters=None)
    for endian in ("little", "big"):
        serializer = zarr.codecs.BytesCodec(endian=endian)
        write(f"v3 {kind} {endian}", dtype, 3, serializer=serializer, compressors=[zarr.codecs.ZstdCodec(level=1)])
