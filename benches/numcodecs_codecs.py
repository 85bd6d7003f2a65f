#!/usr/bin/env python3
"""Codecs of numcodecs, compared with numcodecs itself from PyPI, in one process and on one thread.

    numcodecs_codecs.py LIBRARY [NAMES...] [--size BYTES] [--runs N]

LIBRARY is libzcodec.so. Both sides encode and decode the same bytes into memory that is there, where numcodecs can; the
medians of alternating runs are compared, and a memory copy is shown next to them. Needs numcodecs 0.17.
"""
import argparse
import ctypes
import json
import statistics
import time
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p

import numcodecs
import numpy as np

CASES = [
    ("shuffle", {"elementsize": 2}), ("shuffle", {"elementsize": 4}), ("shuffle", {"elementsize": 8}),
    ("fletcher32", {}), ("jenkins_lookup3", {}), ("crc32", {}), ("adler32", {}), ("crc32c", {}),
    ("delta", {"dtype": "<u2"}), ("delta", {"dtype": "<i4"}), ("delta", {"dtype": "<i8"}), ("delta", {"dtype": "<f4"}),
    ("fixedscaleoffset", {"offset": 273.15, "scale": 100, "dtype": "<f4", "astype": "<i2"}),
    ("quantize", {"digits": 2, "dtype": "<f4"}), ("bitround", {"keepbits": 10}),
    ("zlib", {"level": 1}), ("gzip", {"level": 1}), ("zstd", {"level": 1}), ("lz4", {}), ("bz2", {"level": 1}),
    ("lzma", {"preset": 1}), ("pcodec", {}), ("zfpy", {"mode": 2, "rate": 8}),
]
DTYPES = {"bitround": "<f4", "pcodec": "<f4", "zfpy": "<f4"}
ARRAY = {"delta", "fixedscaleoffset", "quantize", "bitround", "pcodec", "zfpy"}


def load(path):
    library = ctypes.CDLL(path)
    library.zcodec_chain_new.argtypes = [c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_void_p), POINTER(c_void_p)]
    for function in (library.zcodec_encode, library.zcodec_decode):
        function.argtypes = [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, POINTER(c_size_t), POINTER(c_void_p)]
        function.restype = c_int
    return library


def chain_of(library, codecs, array):
    made = c_void_p()
    codecs = json.dumps(codecs).encode()
    shape = {"data_type": array.dtype.name, "shape": list(array.shape), "fill_value": 0}
    given = json.dumps(shape).encode() if array.ndim and codecs.split(b'"')[3].split(b".")[1].decode() in ARRAY else None
    status = library.zcodec_chain_new(codecs, len(codecs), given, len(given or b""), byref(made), None)
    assert status == 0, (status, codecs)
    return made


def median(work, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def compare(library, name, configuration, size, runs):
    dtype = np.dtype(configuration.get("dtype", DTYPES.get(name, "<f4")))
    wave = 280 + 10 * np.sin(np.arange(size // dtype.itemsize) / 300) + np.random.default_rng(1).normal(0, 0.1, size // dtype.itemsize)
    array = (wave if dtype.kind == "f" else wave * 100).astype(dtype)
    codec = numcodecs.get_codec({"id": name, **configuration})
    chain = chain_of(library, [{"name": f"numcodecs.{name}", "configuration": configuration}], array)
    reference = codec.encode(array)
    theirs = np.frombuffer(memoryview(np.ascontiguousarray(reference)).cast("B") if isinstance(reference, np.ndarray)
                           else reference, "u1")
    room = np.empty(2 * array.nbytes + 4096, "u1")
    back = np.empty_like(array)
    written = c_size_t()

    def run(function, source, target, source_size):
        status = function(chain, source.ctypes.data, source_size, target.ctypes.data, target.nbytes, byref(written), None)
        assert status == 0, (name, status)

    run(library.zcodec_encode, array, room, array.nbytes)
    ours_size = written.value
    run(library.zcodec_decode, theirs, back, theirs.nbytes)
    expected = codec.decode(reference)
    assert bytes(np.ascontiguousarray(expected)) == back.tobytes(), name
    copy = median(lambda: np.copyto(back, array), runs)
    encode = median(lambda: run(library.zcodec_encode, array, room, array.nbytes), runs)
    decode = median(lambda: run(library.zcodec_decode, theirs, back, theirs.nbytes), runs)
    their_encode = median(lambda: codec.encode(array), runs)
    their_decode = median(lambda: codec.decode(reference), runs)
    rate = array.nbytes / 1e9
    print(f"| {name} {json.dumps(configuration)} | {rate / copy:.1f} | {rate / encode:.2f} | {their_encode / encode:.1f} "
          f"| {rate / decode:.2f} | {their_decode / decode:.1f} | {ours_size / max(theirs.nbytes, 1):.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--size", type=int, default=1 << 20)
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    library = load(arguments.library)
    print("| codec | copy, GB/s | encode, GB/s | times numcodecs | decode, GB/s | times numcodecs | size, ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, configuration in CASES:
        if not arguments.names or name in arguments.names:
            compare(library, name, configuration, arguments.size, arguments.runs)


if __name__ == "__main__":
    main()
