#!/usr/bin/env python3
"""Uncompressed chunks of uint16 to and from views of other arrays, compared with numpy's copy of the same and with a copy
between contiguous arrays, in one process and on one thread.

    views.py LIBRARY [--runs N]

LIBRARY is libzcodec.so. The medians of rounds in which each has its turn are compared. Needs what shards.py does.
"""
import argparse
import ctypes
import json
from ctypes import POINTER, byref, c_char_p, c_size_t, c_void_p

import numpy as np
from shards import BYTES, Box, View, compare

SHAPES = {"1 MiB": (64, 64, 128), "64 MiB": (256, 256, 512)}


def views(shape):
    """Views of this shape, by what they are."""
    larger = np.zeros([2 * size for size in shape], "u2")
    return {
        "part of a larger array": larger[tuple(slice(size // 2, size // 2 + size) for size in shape)],
        "backwards": np.zeros(shape, "u2")[::-1, ::-1, ::-1],
        "Fortran order": np.zeros(shape, "u2", order="F"),
    }


def view_of(array):
    """An array of which no part may be outside `memory`, where `array` may begin at its end."""
    memory = array if array.base is None else array.base
    return View(ctypes.sizeof(View), memory.ctypes.data, memory.nbytes, array.ctypes.data - memory.ctypes.data, array.ndim,
                (ctypes.c_int64 * array.ndim)(*array.strides))


def measure(library, size, shape, runs):
    array = {"data_type": "uint16", "shape": shape, "fill_value": 0}
    texts = [json.dumps(text).encode() for text in ([BYTES], array)]
    chain = c_void_p()
    assert not library.zcodec_chain_new(texts[0], len(texts[0]), texts[1], len(texts[1]), byref(chain), None)
    chunk = np.random.default_rng(1).integers(0, 1 << 16, shape, "u2")
    box = Box(ctypes.sizeof(Box), len(shape), (ctypes.c_uint64 * len(shape))(), (ctypes.c_uint64 * len(shape))(*shape))
    copied, encoded, written = np.zeros_like(chunk), np.zeros_like(chunk), c_size_t()
    for name, target in views(shape).items():
        view = view_of(target)

        def decode():
            address, count = chunk.ctypes.data, chunk.nbytes
            assert not library.zcodec_decode_view(chain, None, address, count, byref(box), byref(view), None)

        def encode():
            address, capacity = encoded.ctypes.data, encoded.nbytes
            assert not library.zcodec_encode_view(chain, None, byref(box), byref(view), address, capacity, byref(written), None)

        def copy():
            np.copyto(copied, chunk)

        decode()
        assert np.array_equal(target, chunk), name
        encode()
        assert np.array_equal(encoded, chunk), name
        by_numpy = {"decode": lambda: np.copyto(target, chunk), "encode": lambda: np.copyto(copied, target)}
        for what, work, place in (("decode", decode, "to"), ("encode", encode, "from")):
            works = {"zcodec": work, "numpy": by_numpy[what], "copy": copy}
            compare(f"{what} {size} {place}: {name}", works, runs)
    library.zcodec_chain_free(chain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--runs", type=int, default=25)
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library)
    library.zcodec_chain_new.argtypes = [c_char_p, c_size_t, c_char_p, c_size_t, c_void_p, c_void_p]
    library.zcodec_decode_view.argtypes = [c_void_p, c_void_p, c_void_p, c_size_t, POINTER(Box), POINTER(View), c_void_p]
    library.zcodec_encode_view.argtypes = [c_void_p, c_void_p, POINTER(Box), POINTER(View), c_void_p, c_size_t, c_void_p,
                                           c_void_p]
    library.zcodec_chain_free.argtypes = [c_void_p]
    print("| views, 1 thread | zcodec, ms | times as fast as numpy's copy | as a contiguous copy |")
    print("| --- | ---: | ---: | ---: |")
    for size, shape in SHAPES.items():
        measure(library, size, shape, arguments.runs)


if __name__ == "__main__":
    main()
