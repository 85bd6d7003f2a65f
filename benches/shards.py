#!/usr/bin/env python3
"""Reads and writes of one shard, compared with zarr-python and tensorstore from PyPI, in one run: the volume of nuclei,
tiled to 256 x 256 x 256 uint16, and a smooth field with noise of 128 x 256 x 256 float32, both in inner chunks of
32 x 32 x 32, on a file system in memory.

    shards.py LIBRARY [--threads N] [--runs N] [--array nuclei field] [--inner zstd blosc none]

LIBRARY is libzcodec.so, for which shards.c is the host, as tensorstore has one in C++; it is compiled first. All three read
and write files; the medians of rounds in which each has its turn are compared.
With more than one thread, 1,000 chunks of 64 KiB are also decoded and encoded by tasks, and by the same calls one by one.
Needs a C compiler, numpy, zarr 3.1 and tensorstore 0.1.78 (benches/requirements.txt).
"""
import argparse
import ctypes
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

import numpy as np
import tensorstore
import zarr

INNER = 32
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
BLOSC = {"cname": "zstd", "clevel": 3, "shuffle": "shuffle", "blocksize": 0}
COMPRESSORS = {
    "zstd": lambda element_size: [ZSTD],
    "blosc": lambda element_size: [{"name": "blosc", "configuration": {**BLOSC, "typesize": element_size}}],
    "none": lambda element_size: [],
}
BOXES = {
    "whole shard": np.s_[:, :, :],
    "one inner chunk": np.s_[64:96, 96:128, 128:160],
    "64 x 64 x 64": np.s_[16:80, 16:80, 16:80],
    "one plane": np.s_[100:101, :, :],
}
UPDATED = np.s_[64:96, 96:128, 128:160]
APPEND, PACKED = 1, 0
UPDATES = {"APPEND": (APPEND, False), "PACKED, in place": (PACKED, False), "PACKED, new file": (PACKED, True)}


class CallOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("call_data", c_void_p), ("max_threads", c_uint32),
                ("reserved", c_uint32), ("executor", c_void_p), ("flags", c_uint64)]


class Box(Structure):
    _fields_ = [("struct_size", c_size_t), ("ndim", c_size_t), ("start", POINTER(c_uint64)), ("shape", POINTER(c_uint64))]


class View(Structure):
    _fields_ = [("struct_size", c_size_t), ("memory", c_void_p), ("memory_size", c_size_t), ("offset", c_size_t),
                ("ndim", c_size_t), ("strides", POINTER(c_int64))]


class Task(Structure):
    _fields_ = [("struct_size", c_size_t), ("chain", c_void_p), ("call_data", c_void_p), ("encoded", c_void_p),
                ("encoded_size", c_size_t), ("encoded_to", c_void_p), ("encoded_capacity", c_size_t),
                ("box", POINTER(Box)), ("view", POINTER(View)), ("flags", c_uint32), ("status", c_int32),
                ("error", c_void_p)]


class Zcodec:
    """The file of a shard, read by plans and written by writers, in shards.c."""

    name = "zcodec"

    def __init__(self, host, root, array, threads):
        self.host, self.shape, self.dtype = host, array.shape, array.dtype
        metadata = (root / "zarr.json").read_bytes()
        path = os.fsencode(root / "c/0/0/0")
        self.shard = c_void_p(host.host_new(metadata, len(metadata), array.itemsize, path, threads))

    def read(self, key):
        sizes = [len(range(*part.indices(size))) for part, size in zip(key, self.shape)]
        array = np.empty(sizes, self.dtype)
        self.host.host_read(self.shard, start_of(key), (c_uint64 * 3)(*array.shape), c_void_p(array.ctypes.data))
        return array

    def write(self, array):
        self.host.host_write(self.shard, (c_uint64 * 3)(*array.shape), c_void_p(array.ctypes.data))

    def update(self, array, layout, to_new_file):
        shape = (c_uint64 * 3)(*array.shape)
        self.host.host_update(
            self.shard, start_of(UPDATED), shape, c_void_p(array.ctypes.data), layout, int(to_new_file))


def start_of(key):
    return (c_uint64 * 3)(*(part.start or 0 for part in key))


def compiled_host():
    """shards.c, which finds the functions of zcodec in the library that is loaded."""
    root = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "shards.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", root.parent / "include", root / "shards.c", "-o", made],
                       check=True)
        host = ctypes.CDLL(made)
    host.host_new.restype = c_void_p
    host.host_new.argtypes = [c_char_p, c_size_t, c_size_t, c_char_p, c_uint32]
    return host


class ZarrPython:
    name = "zarr-python"

    def __init__(self, root):
        self.array = zarr.open_array(root, mode="r+")

    def read(self, key):
        return self.array[key]

    def write(self, array):
        self.array[...] = array

    def update(self, array, *_how):
        self.array[UPDATED] = array


class TensorStore:
    name = "tensorstore"

    def __init__(self, root, threads):
        context = {"data_copy_concurrency": {"limit": threads}, "file_io_concurrency": {"limit": threads},
                   "cache_pool": {"total_bytes_limit": 0}}
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(root)}}
        self.array = tensorstore.open(spec, context=tensorstore.Context(context), open=True).result()

    def read(self, key):
        return self.array[key].read().result()

    def write(self, array):
        self.array[...].write(array).result()

    def update(self, array, *_how):
        self.array[UPDATED].write(array).result()


def metadata(array, compressor):
    codecs = {"chunk_shape": [INNER] * 3, "codecs": [BYTES] + compressor(array.itemsize), "index_codecs": [BYTES, {"name": "crc32c"}],
              "index_location": "end"}
    return {"zarr_format": 3, "node_type": "array", "shape": array.shape, "data_type": array.dtype.name,
            "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": array.shape}},
            "chunk_key_encoding": {"name": "default"}, "attributes": {},
            "codecs": [{"name": "sharding_indexed", "configuration": codecs}]}


def volume():
    nuclei = np.load(pathlib.Path(__file__).parent / "../tests/data/nuclei_uint16_8x256x256.npy")
    return np.ascontiguousarray(np.tile(nuclei, (32, 1, 1)))


def field():
    shape = (128, 256, 256)
    waves = sum(np.sin(0.05 * position) for position in np.ogrid[tuple(map(slice, shape))])
    return (250 + 10 * waves + 0.01 * np.random.default_rng(1).random(shape)).astype("f4")


ARRAYS = {"nuclei": volume, "field": field}


def compare(what, works, runs):
    """`works` by contestant. Prints a line: milliseconds of the first, and how many times as long each other takes."""
    times = {name: [] for name in works}
    for _ in range(runs + 1):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values[1:]) for name, values in times.items()}
    first, *others = medians.values()
    print("| %s | %.3f | %s |" % (what, first * 1e3, " | ".join("%.2f" % (other / first) for other in others)), flush=True)


def measure(host, name, inner, root, arguments):
    root.mkdir(parents=True)
    array = ARRAYS[name]()
    (root / "zarr.json").write_text(json.dumps(metadata(array, COMPRESSORS[inner])))
    peers = [ZarrPython(root), TensorStore(root, arguments.threads)]
    peers[0].write(array)
    all_ = [Zcodec(host, root, array, arguments.threads), *peers]
    inner = "%s, %s" % (name, inner)
    for key in BOXES.values():
        for one in all_:
            assert np.array_equal(one.read(key), array[key]), one.name
    for what, key in BOXES.items():
        compare("%s, read %s" % (inner, what), {one.name: lambda one=one: one.read(key) for one in all_}, arguments.runs)
    compare("%s, write whole shard" % inner, {one.name: lambda one=one: one.write(array) for one in all_}, arguments.runs)
    # In turn, so that the size of what is encoded differs from that of what was there.
    changed = itertools.cycle([array[UPDATED] + 1, array[UPDATED] // 2])
    for word, how in UPDATES.items():
        last = {}

        def update(one):
            last[one] = next(changed)
            one.update(last[one], *how)

        compare("%s, update one inner chunk, %s" % (inner, word),
                {one.name: lambda one=one: update(one) for one in all_}, arguments.runs)
        array[UPDATED] = last[all_[-1]]
        for one in all_:
            assert np.array_equal(one.read(BOXES["whole shard"]), array), one.name


def compare_tasks(library, threads, runs):
    """Chunks of zstd, level 3: calls one by one, and one call for all of them."""
    count, size = 1000, 1 << 16
    codecs, array = [BYTES, ZSTD], {"data_type": "uint16", "shape": [size // 2], "fill_value": 0}
    texts = [json.dumps(text).encode() for text in (codecs, array)]
    chain, error = c_void_p(), c_void_p()
    assert not library.zcodec_chain_new(texts[0], len(texts[0]), texts[1], len(texts[1]), byref(chain), byref(error))
    chunks = np.resize(volume(), (count, size // 2))
    decoded, encoded = np.zeros_like(chunks), np.zeros((count, 2 * size), "u1")
    sizes, options = np.zeros(count, np.uintp), CallOptions(ctypes.sizeof(CallOptions), None, threads, 0, None, 0)
    views = [View(ctypes.sizeof(View), chunk.ctypes.data, chunk.nbytes, 0, 1, None) for chunk in [*decoded, *chunks]]
    addresses = [chunk.ctypes.data for chunk in encoded]
    size_at = [sizes.ctypes.data + i * sizes.itemsize for i in range(count)]

    def encode_each():
        for i in range(count):
            view = views[count + i]
            assert not library.zcodec_encode(chain, view.memory, size, addresses[i], 2 * size, size_at[i], None)

    def decode_each():
        for i in range(count):
            assert not library.zcodec_decode(chain, addresses[i], int(sizes[i]), views[i].memory, size, size_at[i], None)
        sizes[:] = encoded_sizes

    def run(function, tasks):
        assert not function(tasks, count, byref(options))

    encode_each()
    encoded_sizes = sizes.copy()
    task = (ctypes.sizeof(Task), chain, None)
    decode, encode = (Task * count)(), (Task * count)()
    for i in range(count):
        decode[i] = Task(*task, addresses[i], int(sizes[i]), None, 0, None, ctypes.pointer(views[i]))
        encode[i] = Task(*task, None, 0, addresses[i], 2 * size, None, ctypes.pointer(views[count + i]))
    run(library.zcodec_decode_tasks, decode)
    assert np.array_equal(decoded, chunks)
    print("\n| work, %d threads | by tasks, ms | one by one, times as long |\n| --- | ---: | ---: |" % threads)
    compare("decode 1,000 chunks", {"tasks": lambda: run(library.zcodec_decode_tasks, decode), "each": decode_each}, runs)
    compare("encode 1,000 chunks", {"tasks": lambda: run(library.zcodec_encode_tasks, encode), "each": encode_each}, runs)
    library.zcodec_chain_free(chain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--array", nargs="+", default=list(ARRAYS), choices=list(ARRAYS))
    parser.add_argument("--inner", nargs="+", default=list(COMPRESSORS), choices=list(COMPRESSORS))
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library, mode=ctypes.RTLD_GLOBAL)
    host = compiled_host()
    library.zcodec_chain_new.argtypes = [c_char_p, c_size_t, c_char_p, c_size_t, c_void_p, c_void_p]
    for name in ["zcodec_encode", "zcodec_decode"]:
        getattr(library, name).argtypes = [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_void_p]
    library.zcodec_chain_free.argtypes = [c_void_p]
    zarr.config.set({"threading.max_workers": arguments.threads, "async.concurrency": arguments.threads})
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    print("| work, %d thread(s) | zcodec, ms | zarr-python, times as long | tensorstore, times as long |" % arguments.threads)
    print("| --- | ---: | ---: | ---: |")
    directory = pathlib.Path(tempfile.mkdtemp(dir=in_memory))
    try:
        for name, inner in itertools.product(arguments.array, arguments.inner):
            measure(host, name, inner, directory / name / inner, arguments)
        if arguments.threads > 1:
            compare_tasks(library, arguments.threads, arguments.runs)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
