#!/usr/bin/env python3
"""Makes cases/numcodecs_*.jsonl: chunks that numcodecs itself has encoded.

Needs numcodecs[pcodec,zfpy,google-crc32c] 0.17. What it makes depends on nothing but the versions of these packages.
"""
import base64
import json
import math
import random
import warnings
from importlib.metadata import version
from pathlib import Path

import numcodecs
import numcodecs.checksum32
import numcodecs.fletcher32
import numpy as np

warnings.simplefilter("ignore")
CASES = Path(__file__).parent / "cases"
BY = f"numcodecs {version('numcodecs')}, numpy {version('numpy')}"
NAMES = {"b": "bool", "i": "int", "u": "uint", "f": "float"}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
RANDOM = random.Random(18)


def text(data):
    return base64.b64encode(bytes(data)).decode()


def name_of(dtype):
    dtype = np.dtype(dtype)
    return "bool" if dtype.kind == "b" else f"{NAMES[dtype.kind]}{8 * dtype.itemsize}"


def write(name, cases):
    lines = [json.dumps({**case, "by": case.get("by", BY)}, separators=(",", ":")) for case in cases]
    (CASES / f"numcodecs_{name}.jsonl").write_text("".join(line + "\n" for line in lines))
    print(f"numcodecs_{name}.jsonl: {len(lines)} cases")


def array_case(title, name, configuration, array, is_exact=True, fill=0):
    """A case of an array->array codec alone."""
    codec = numcodecs.get_codec({"id": name, **with_types(name, configuration, array.dtype)})
    encoded = np.ascontiguousarray(codec.encode(array))
    decoded = np.ascontiguousarray(codec.decode(encoded.copy())).view(array.dtype)
    assert decoded.size == array.size
    case = {
        "name": title,
        "codecs": [{"name": f"numcodecs.{name}", "configuration": configuration}],
        "input": {"data_type": name_of(array.dtype), "shape": list(array.shape),
                  "fill_value": bool(fill) if array.dtype.kind == "b" else fill},
        "decoded": text(array.tobytes()),
        "encoded": text(encoded.tobytes()),
        "redecoded": text(decoded.tobytes()),
        "checks": ["encode", "decode"],
    }
    nans = {}
    for side, value in (("decoded", decoded), ("encoded", encoded)):
        if value.dtype.kind == "f" and np.isnan(value).any():
            nans[side] = {"data_type": name_of(value.dtype), "endian": "little"}
    if nans:
        case["any_nan"] = nans
    return case


def with_types(name, configuration, dtype):
    """What zarr-python fills in from the array."""
    member = {"astype": "decode_dtype", "fixedscaleoffset": "dtype", "quantize": "dtype"}.get(name)
    if member and configuration.get(member) is None:
        return {**configuration, member: str(dtype)}
    return configuration


def bytes_case(title, name, configuration, data, checks=("encode", "decode"), encoded=None):
    """A case of a bytes->bytes codec alone."""
    if encoded is None:
        codec = numcodecs.get_codec({"id": name, **configuration})
        encoded = codec.encode(np.frombuffer(data, dtype="u1"))
        encoded = encoded.tobytes() if isinstance(encoded, np.ndarray) else bytes(encoded)
    return {
        "name": title,
        "codecs": [{"name": f"numcodecs.{name}", "configuration": configuration}],
        "input": None,
        "decoded": text(data),
        "encoded": text(encoded),
        "checks": list(checks),
    }


def walk(dtype, count, step=3):
    """Values as instruments have them: each near the one before."""
    dtype = np.dtype(dtype)
    values, value = [], 40.0 if dtype.itemsize == 1 else 1000.0
    for _ in range(count):
        value += RANDOM.uniform(-step, step)
        values.append(value)
    values = np.array(values)
    return values.astype(dtype) if dtype.kind == "f" else np.rint(np.abs(values)).astype("i8").astype(dtype)


def noise(dtype, count):
    """Any bit pattern."""
    dtype = np.dtype(dtype)
    return np.frombuffer(RANDOM.randbytes(dtype.itemsize * count), dtype=dtype).copy()


def finite(array):
    return np.where(np.isfinite(array), array, array.dtype.type(0))


INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
ALL = INTEGERS + FLOATS


def casts():
    """Every pair of types; floats to integers only where NumPy's result is the same on every machine."""
    for source in ["b1"] + ALL:
        for target in ["b1"] + ALL:
            if source == "b1":
                array = np.array([RANDOM.random() < 0.5 for _ in range(100)])
            elif source[0] == "f" and target[0] in "iu":
                most = min(60000.0, 2.0 ** (8 * int(target[1]) - (target[0] == "i")) - 1)
                least = 0.0 if target[0] == "u" else -most
                array = np.array([RANDOM.uniform(least, most) for _ in range(97)] + [0.0, -0.0, 0.5]).astype(source)
            elif source[0] == "f":
                array = np.concatenate([finite(noise(source, 80)), np.array([0, 1, 65519, 65520, 1e-8, 3, 2049, 2051],
                                                                             source)])
                if target == "b1":
                    array[::3] = 0
            else:
                array = np.concatenate([noise(source, 80), walk(source, 20)])
            encoded = array.astype(target)
            # The way back is to be defined too.
            if target[0] == "f" and source[0] in "iu":
                info = np.iinfo(source)
                wide = encoded.astype("f8")
                keep = np.isfinite(wide) & (wide >= float(info.min)) & (wide <= float(np.nextafter(float(info.max) + 1, 0)))
                array = array[keep]
            yield array_case(f"astype {name_of(source)} to {name_of(target)}", "astype",
                             {"encode_dtype": np.dtype(target).str, "decode_dtype": np.dtype(source).str}, array)
    yield array_case("astype without decode_dtype", "astype", {"encode_dtype": "f4"}, walk("f8", 20))
    yield array_case("astype of nothing", "astype", {"encode_dtype": "f4"}, np.zeros(0, "f8"))


def scales():
    """Offsets and scales as Python integers and floats, every type to every type."""
    for source in ALL:
        for target in [None, *ALL]:
            for offset, scale in ((10, 3), (0.5, 10), (-7, 0.25), (100.25, 7.5)):
                integers = source[0] in "iu"
                if integers and isinstance(offset, int) and (offset < 0) and source[0] == "u":
                    continue
                if target in ("i1", "u1") and scale == 7.5:
                    continue
                array = walk(source, 30, 2)
                small = target in ("i1", "u1") or source in ("i1", "u1")
                array = (array % 30 + 105 if small else array + 105).astype(source)
                if target and target[0] == "u":
                    array = np.maximum(array, np.array(102, source))
                configuration = {"offset": offset, "scale": scale, "dtype": np.dtype(source).str}
                configuration["astype"] = np.dtype(target).str if target else None
                yield array_case(f"fixedscaleoffset {offset} {scale} of {name_of(source)} as "
                                 f"{name_of(target) if target else 'null'}", "fixedscaleoffset", configuration, array)
    for offset, scale in ((273.15, 100), (1000, 10), (0.1, 0.1), (-99.99, 1e3)):
        array = np.array([RANDOM.uniform(200, 320) for _ in range(600)], "f4")
        yield array_case(f"fixedscaleoffset {offset} {scale} of temperatures", "fixedscaleoffset",
                         {"offset": offset, "scale": scale, "dtype": "<f4", "astype": "<i4"}, array)
    every = np.arange(1 << 16, dtype="u2").view("f2")
    every = finite(every)[::23]
    yield array_case("fixedscaleoffset of float16 of every size", "fixedscaleoffset",
                     {"offset": 1.5, "scale": 3, "dtype": "<f2"}, every)
    yield array_case("fixedscaleoffset with neither type", "fixedscaleoffset", {"offset": 1, "scale": 4}, walk("f8", 9))
    yield array_case("fixedscaleoffset of nothing", "fixedscaleoffset", {"offset": 1, "scale": 4}, np.zeros(0, "f8"))
    for dtype in INTEGERS:
        yield array_case(f"fixedscaleoffset wraps {name_of(dtype)}", "fixedscaleoffset",
                         {"offset": 11, "scale": 7, "dtype": dtype}, noise(dtype, 100) % np.array(100, dtype)
                         if dtype in ("u8", "i8") else noise(dtype, 100))


def quanta():
    for source in FLOATS:
        for target in [None, *FLOATS]:
            for digits in (-2, 0, 1, 2, 3, 5, 12):
                configuration = {"digits": digits, "dtype": np.dtype(source).str}
                if target:
                    configuration["astype"] = np.dtype(target).str
                array = np.concatenate([walk(source, 40, 0.7) - 1000, np.array([0.0, -0.0, np.inf, -np.inf, np.nan])])
                yield array_case(f"quantize {name_of(source)} to {digits} digits as {target}", "quantize",
                                 configuration, array.astype(source))
    yield array_case("quantize without types", "quantize", {"digits": 2}, walk("f4", 30))


def deltas():
    for source in ALL:
        for target in [None, *ALL]:
            if target and (target[0] == "f") != (source[0] == "f"):
                continue
            if target and target[0] != "f" and not np.can_cast(target, source, "same_kind"):
                continue
            if target == "u8" and source[0] == "i":
                # NumPy adds these two in float64, with an undefined result.
                continue
            array = walk(source, 290)
            if target and target[1] == "1":
                # numcodecs refuses a first element that does not fit.
                array[0] = 7
            configuration = {"dtype": np.dtype(source).str}
            if target:
                configuration["astype"] = np.dtype(target).str
            yield array_case(f"delta of {name_of(source)} as {target}", "delta", configuration, array)
        array = noise(source, 300)
        if source[0] == "f":
            array = finite(array) / array.dtype.type(16)
        yield array_case(f"delta of any {name_of(source)}", "delta", {"dtype": source}, array)
        yield array_case(f"delta of one {name_of(source)}", "delta", {"dtype": source}, walk(source, 1))
    yield array_case("delta of -0.0", "delta", {"dtype": "<f4"}, np.array([-0.0, -0.0, 0.0, 1.0], "f4"))
    yield array_case("delta of a matrix", "delta", {"dtype": "<i2"}, walk("i2", 60).reshape(6, 10))


def bits():
    for count in [*range(1, 34), 1000]:
        array = np.array([RANDOM.random() < 0.4 for _ in range(count)])
        yield array_case(f"packbits of {count}", "packbits", {}, array)
    yield array_case("packbits of a matrix", "packbits", {}, np.array([[True, False, True], [False, True, True]]))


def roundings():
    for dtype, most in (("f2", 10), ("f4", 23), ("f8", 52)):
        for keepbits in sorted({0, 1, 2, 5, most // 2, most - 1, most}):
            array = finite(noise(dtype, 200))
            case = array_case(f"bitround {keepbits} of {name_of(dtype)}", "bitround", {"keepbits": keepbits}, array)
            yield case
            if keepbits:
                yield {**case, "name": case["name"] + " by its new name",
                       "codecs": [{"name": "bitround", "configuration": {"keepbits": keepbits}}]}


def checksums():
    sizes = [1, 2, 3, 4, 5, 11, 12, 13, 24, 25, 255, 1000, 2001]
    for name in ("fletcher32", "jenkins_lookup3", "adler32"):
        # Longer than fletcher32 sums at once.
        yield bytes_case(f"{name} of many bytes", name, {}, RANDOM.randbytes(24_001))
    for size in sizes:
        data = RANDOM.randbytes(size)
        for name in ("crc32", "adler32", "crc32c"):
            for configuration in ({}, {"location": "start"}, {"location": "end"}):
                yield bytes_case(f"{name} of {size} bytes", name, configuration, data)
        yield bytes_case(f"fletcher32 of {size} bytes", "fletcher32", {}, data)
        for configuration in ({}, {"initval": 0}, {"initval": 2**32 - 1}, {"initval": 12345, "prefix": None}):
            yield bytes_case(f"jenkins_lookup3 of {size} bytes", "jenkins_lookup3", configuration, data)
    for byte, size in ((0, 5000), (255, 5000), (255, 2), (0, 3)):
        for name in ("fletcher32", "crc32", "adler32", "crc32c"):
            yield bytes_case(f"{name} of {size} bytes {byte}", name, {}, bytes([byte]) * size)
    for name, configuration in (("crc32", {}), ("crc32", {"location": "end"}), ("crc32c", {}), ("adler32", {}),
                                ("fletcher32", {}), ("jenkins_lookup3", {})):
        good = bytes_case("", name, configuration, b"a few bytes to sum")
        encoded = bytearray(base64.b64decode(good["encoded"]))
        encoded[len(encoded) // 2] ^= 4
        for title, bad in (("a flipped bit", encoded), ("three bytes", encoded[:3]), ("no bytes", b"")):
            yield {"name": f"{name}: {title}", "codecs": good["codecs"], "input": None, "encoded": text(bad),
                   "error": {"stage": "decode", "status": ["CORRUPT_DATA"], "codec_index": 0}}


def shuffles():
    for size in (0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17):
        for count in (1, 2, 15, 16, 17, 100):
            data = RANDOM.randbytes(max(size, 1) * count)
            yield bytes_case(f"shuffle by {size} of {count}", "shuffle", {"elementsize": size}, data)
    yield bytes_case("shuffle without elementsize", "shuffle", {}, bytes(range(64)))


def contents():
    """What compressors meet: nothing, one byte, zeros, noise, text, numbers."""
    yield "nothing", b""
    yield "one byte", b"z"
    yield "zeros", bytes(3000)
    yield "noise", RANDOM.randbytes(700)
    yield "float32", walk("f4", 400).tobytes()
    yield "int64", walk("i8", 200).tobytes()
    yield "words", b" ".join(RANDOM.choice([b"zarr", b"chunk", b"codec", b"shard"]) for _ in range(300))


ROUND = ("decode", "round_trip")


def damaged(good, title, encoded, statuses=("CORRUPT_DATA",)):
    return {"name": title, "codecs": good["codecs"], "input": None, "encoded": text(encoded),
            "error": {"stage": "decode", "status": list(statuses), "codec_index": 0}}


def compressors():
    configurations = {
        "zlib": [{}, *({"level": level} for level in (-1, 0, 1, 6, 9))],
        "gzip": [{}, *({"level": level} for level in (0, 1, 9))],
        "zstd": [{}, {"level": -5}, {"level": 0}, {"level": 22}, {"level": 30}, {"level": 3, "checksum": True}],
        "lz4": [{}, {"acceleration": 1}, {"acceleration": 50}, {"acceleration": -1}],
        "bz2": [{}, {"level": 1}, {"level": 9}],
    }
    for name, all_configurations in configurations.items():
        for title, data in contents():
            for configuration in all_configurations:
                yield bytes_case(f"{name} {json.dumps(configuration)} of {title}", name, configuration, data, ROUND)
        good = bytes_case("", name, {}, walk("i4", 100).tobytes())
        encoded = base64.b64decode(good["encoded"])
        for size in (0, 1, 3, 4, len(encoded) // 2, len(encoded) - 1):
            yield damaged(good, f"{name} cut to {size} bytes", encoded[:size])
        yield damaged(good, f"{name} with a byte more", encoded + b"\x01")
    for name in ("gzip", "bz2"):
        codec = numcodecs.get_codec({"id": name})
        halves = bytes(codec.encode(np.zeros(500, "u1"))) + bytes(codec.encode(np.arange(200, dtype="u1")))
        yield bytes_case(f"{name} of two streams", name, {}, bytes(500) + bytes(range(200)), ROUND, halves)
    good = {"codecs": [{"name": "numcodecs.lz4"}]}
    yield damaged(good, "lz4 that claims 4 GiB", b"\xff\xff\xff\xff" + bytes(20))
    good = {"codecs": [{"name": "numcodecs.zlib"}]}
    yield damaged(good, "zlib with a preset dictionary", bytes.fromhex("78bb00000001030000000001"))


LZMA1, LZMA2 = 0x4000000000000001, 0x21


def lzmas():
    raw = [
        [{"id": LZMA2, "preset": 6}],
        [{"id": LZMA2, "dict_size": 4096, "lc": 0, "lp": 2, "pb": 0, "mode": 1, "mf": 3, "nice_len": 32, "depth": 4}],
        [{"id": 3, "dist": 4}, {"id": LZMA2, "preset": 1}],
        [{"id": 3}, {"id": LZMA2}],
        [{"id": LZMA1, "preset": 3}],
        [{"id": 3, "dist": 8}, {"id": LZMA1, "lc": 1, "lp": 3, "pb": 4, "mf": 0x12}],
        [{"id": 4}, {"id": LZMA2}],
        [{"id": 4, "start_offset": 16}, {"id": LZMA1}],
        *([{"id": number}, {"id": LZMA2, "preset": 0}] for number in (5, 6, 7, 8, 9)),
    ]
    configurations = [
        {}, {"preset": 0}, {"preset": 9}, {"preset": 3 | 1 << 31}, {"format": 1, "check": -1, "preset": None, "filters": None},
        {"check": 0}, {"check": 1}, {"check": 4}, {"check": 10}, {"format": 2}, {"format": 2, "preset": 1},
        *({"format": 3, "filters": filters} for filters in raw),
    ]
    code = bytes.fromhex("e8000000000f1f4000e8fbffffffe9" "eb000003ea00000b48000101" "4bfffffd40000001f000f800") * 30
    for title, data in [*contents(), ("code", code)]:
        for configuration in configurations:
            yield bytes_case(f"lzma {json.dumps(configuration)} of {title}", "lzma", configuration, data, ROUND)
    for filters in ([{"id": LZMA2, "preset": 1}], [{"id": 3, "dist": 4}, {"id": LZMA2}]):
        # numcodecs writes these, and refuses to read them.
        configuration = {"format": 1, "filters": filters}
        yield bytes_case(f"lzma {json.dumps(configuration)}", "lzma", configuration, walk("f4", 300).tobytes(), ROUND)
    codec = numcodecs.LZMA()
    streams = bytes(codec.encode(np.zeros(500, "u1"))) + bytes(4) + bytes(codec.encode(np.arange(200, dtype="u1")))
    yield bytes_case("lzma of two streams", "lzma", {}, bytes(500) + bytes(range(200)), ROUND, streams)
    for configuration in ({}, {"format": 2}, *({"format": 3, "filters": filters} for filters in (raw[0], raw[4]))):
        good = bytes_case("", "lzma", configuration, walk("i4", 100).tobytes())
        encoded = base64.b64decode(good["encoded"])
        for size in (0, 1, len(encoded) // 2, len(encoded) - 1):
            yield damaged(good, f"lzma {json.dumps(configuration)} cut to {size} bytes", encoded[:size])
        yield damaged(good, f"lzma {json.dumps(configuration)} with a byte more", encoded + b"\x01")
    wrong = [
        {"format": 4}, {"format": 3}, {"check": 2}, {"format": 2, "check": 4}, {"preset": 10}, {"preset": -1},
        {"format": 2, "filters": [{"id": LZMA2}]}, {"filters": [{"id": LZMA1}]}, {"filters": []},
        {"filters": [{"id": 3}]}, {"filters": [{"id": LZMA2}, {"id": 3}]}, {"filters": [{"id": LZMA2, "lc": 4, "lp": 1}]},
        {"filters": [{"id": 3, "dist": 257}, {"id": LZMA2}]}, {"filters": [{"id": LZMA2, "x": 1}]},
        {"preset": 1, "filters": [{"id": LZMA2}]},
    ]
    for configuration in wrong:
        yield {"name": f"lzma {json.dumps(configuration)}", "input": None,
               "codecs": [{"name": "numcodecs.lzma", "configuration": configuration}],
               "error": {"stage": "new", "status": ["INVALID_METADATA"], "codec_index": 0}}
    filters = [{"id": 3, "dist": 2}, {"id": 4}, {"id": LZMA2}]
    yield {"name": "lzma with two filters before the last", "input": None,
           "codecs": [{"name": "numcodecs.lzma", "configuration": {"format": 3, "filters": filters}}],
           "error": {"stage": "new", "status": ["UNSUPPORTED"], "codec_index": 0}}


def field_case(title, name, configuration, array, codec=None):
    """A case of an array->bytes codec."""
    codec = codec or numcodecs.get_codec({"id": name, **configuration})
    encoded = bytes(codec.encode(array))
    decoded = codec.decode(encoded)
    decoded = np.zeros(0, array.dtype) if decoded is None else decoded
    return {
        "name": title,
        "codecs": [{"name": f"numcodecs.{name}", "configuration": configuration}],
        "input": {"data_type": name_of(array.dtype), "shape": list(array.shape), "fill_value": 0},
        "decoded": text(array.tobytes()),
        "encoded": text(encoded),
        "redecoded": text(np.ascontiguousarray(decoded).tobytes()),
        "checks": list(ROUND),
    }


def damaged_fields(case, title, *others):
    """The chunk of a case cut and changed; and as that of other chains."""
    encoded = base64.b64decode(case["encoded"])
    error = {"stage": "decode", "status": ["CORRUPT_DATA"], "codec_index": 0}
    base = {"codecs": case["codecs"], "input": case["input"], "error": error}
    for size in (0, 1, 3, 4, 11):
        yield {**base, "name": f"{title} cut to {size} bytes", "encoded": text(encoded[:size])}
    for what, change in others:
        yield {**base, "name": f"{title} with another {what}", "encoded": case["encoded"], **change}


def fields():
    shapes = [(1,), (4,), (50,), (5, 7), (8, 8), (3, 4, 5), (8, 9, 6), (2, 3, 4, 5)]
    for dtype in ("i4", "i8", "f4", "f8"):
        for shape in shapes:
            array = (walk(dtype, math.prod(shape), 20).astype("f8") - 1000).astype(dtype).reshape(shape)
            modes = [{}, {"mode": 4}, {"mode": 2, "rate": 9}, {"mode": 2, "rate": 16.5}, {"mode": 3, "precision": 20},
                     {"mode": 3, "precision": 64}, {"mode": 2, "rate": -1}, {"mode": 3, "precision": -1}]
            if dtype[0] == "f":
                modes += [{"mode": 4, "tolerance": tolerance} for tolerance in (0, 1e-6, 0.3, 100.0)]
            for mode in modes:
                yield field_case(f"zfpy {json.dumps(mode)} of {name_of(dtype)} {list(shape)}", "zfpy", mode, array)
    mode = {"mode": 4, "compression_kwargs": {"tolerance": 0.01}, "tolerance": 0.01, "rate": -1, "precision": -1}
    case = field_case("zfpy as numcodecs writes its configuration", "zfpy", mode, walk("f4", 64).reshape(8, 8))
    yield case
    yield from damaged_fields(
        case, "zfpy", ("type", {"input": {**case["input"], "data_type": "int32"}}),
        ("shape", {"input": {**case["input"], "shape": [4, 16]}}),
        ("dimensionality", {"input": {**case["input"], "shape": [64]}}),
        ("tolerance", {"codecs": [{"name": "numcodecs.zfpy", "configuration": {"mode": 4, "tolerance": 0.5}}]}),
        ("mode", {"codecs": [{"name": "numcodecs.zfpy", "configuration": {"mode": 2, "rate": 8}}]}),
    )


def pcos():
    types = [dtype for dtype in ALL if dtype not in ("i1", "u1")]
    configurations = [{}, {"level": 0}, {"level": 12}, {"mode_spec": "classic", "delta_spec": "no_op"},
                      {"delta_spec": "none"}, {"delta_spec": "try_consecutive", "delta_encoding_order": 2},
                      {"delta_encoding_order": 7}, {"delta_spec": "try_lookback"},
                      {"equal_pages_up_to": 100, "paging_spec": "equal_pages_up_to"}, numcodecs.PCodec().get_config()]
    for dtype in types:
        arrays = {"a walk": walk(dtype, 400), "one": walk(dtype, 1), "noise": noise(dtype, 300),
                  "a cycle": np.tile(noise(dtype, 40), 9), "a matrix": walk(dtype, 60).reshape(4, 15)}
        for title, array in arrays.items():
            for configuration in configurations if title in ("a walk", "a cycle") else configurations[:1]:
                configuration = {key: value for key, value in configuration.items() if key != "id"}
                yield field_case(f"pcodec {json.dumps(configuration)} of {name_of(dtype)}: {title}", "pcodec",
                                 configuration, array)
        if dtype[0] == "f":
            array = np.round(walk(dtype, 500, 50)) * np.array(0.1, dtype)
            yield field_case(f"pcodec of {name_of(dtype)}: tenths", "pcodec", {}, array)
    case = field_case("pcodec of multiples", "pcodec", {}, walk("i4", 500, 50) * 77)
    yield case
    yield from damaged_fields(
        case, "pcodec", ("type", {"input": {**case["input"], "data_type": "float32"}}),
        ("larger shape", {"input": {**case["input"], "shape": [501]}}),
        ("smaller shape", {"input": {**case["input"], "shape": [499]}}),
    )
    codec = numcodecs.PCodec()
    empty = bytes(codec.encode(np.zeros(0, "f4")))
    yield {"name": "pcodec of nothing", "codecs": [{"name": "numcodecs.pcodec"}],
           "input": {"data_type": "float32", "shape": [0], "fill_value": 0}, "decoded": "", "encoded": text(empty),
           "checks": list(ROUND)}


if __name__ == "__main__":
    write("astype", casts())
    write("fixedscaleoffset", scales())
    write("quantize", quanta())
    write("delta", deltas())
    write("packbits", bits())
    write("bitround", roundings())
    write("checksums", checksums())
    write("shuffle", shuffles())
    write("compressors", compressors())
    write("lzma", lzmas())
    write("zfpy", fields())
    write("pcodec", pcos())
