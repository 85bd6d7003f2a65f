#!/usr/bin/env python3
"""Reads with numcodecs what zcodec encodes: every case of numcodecs_*.jsonl whose bytes the format leaves open.

    check_numcodecs.py LIBRARY
"""
import base64
import ctypes
import json
import sys
import warnings
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path

import numcodecs
import numpy as np

warnings.simplefilter("ignore")
CASES = Path(__file__).parent.parent / "conformance" / "cases"
# numcodecs refuses to read what it writes with these.
UNREADABLE = '"format": 1, "filters": ['


def encode(library, codecs, given, decoded):
    chain, size = c_void_p(), c_size_t()
    codecs, given = json.dumps(codecs).encode(), json.dumps(given).encode() if given else None
    status = library.zcodec_chain_new(codecs, len(codecs), given, len(given or b""), byref(chain), None)
    assert status == 0, status
    encoded = ctypes.create_string_buffer(4 * len(decoded) + 65536)
    status = library.zcodec_encode(chain, decoded, len(decoded), encoded, len(encoded), byref(size), None)
    assert status == 0, status
    library.zcodec_chain_free(chain)
    return encoded.raw[:size.value]


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.zcodec_chain_new.argtypes = [c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_void_p), POINTER(c_void_p)]
    library.zcodec_encode.argtypes = [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_size_t), c_void_p]
    library.zcodec_encode.restype = c_int
    library.zcodec_chain_free.argtypes = [c_void_p]
    count = 0
    for path in sorted(CASES.glob("numcodecs_*.jsonl")):
        for case in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if "round_trip" not in case.get("checks", []) or UNREADABLE in case["name"] or not case["decoded"]:
                continue
            [codec] = case["codecs"]
            configuration = codec.get("configuration", {})
            numcodec = numcodecs.get_codec({"id": codec["name"].removeprefix("numcodecs."), **configuration})
            encoded = encode(library, case["codecs"], case["input"], base64.b64decode(case["decoded"]))
            decoded = numcodec.decode(encoded)
            decoded = np.ascontiguousarray(decoded).tobytes() if isinstance(decoded, np.ndarray) else bytes(decoded)
            assert decoded == base64.b64decode(case.get("redecoded", case["decoded"])), (path.name, case["name"])
            count += 1
    assert count > 500, count
    print(f"numcodecs {numcodecs.__version__} reads {count} chunks that zcodec has encoded")


if __name__ == "__main__":
    main()
