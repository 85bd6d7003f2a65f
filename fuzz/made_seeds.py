"""Seeds that the conformance cases lack: documents, types and configurations of every kind, right and wrong; chunks that
are large enough for threads; codecs of the host; elements of every size in every order. Each is `codecs, input, encoded`,
or `document, None, encoded`; their elements, where `encoded` does not decode, are a pattern of the target.
"""
import itertools
import json
import pathlib
import struct
import zlib

DOCUMENTS = pathlib.Path(__file__).resolve().parent / "../tests/data/zarr_python_documents.jsonl"
INTEGERS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split()
FLOATS = "bfloat16 float16 float32 float64".split()
ROUNDINGS = "nearest-even towards-zero towards-positive towards-negative nearest-away".split()


def codec(codec_name, **configuration):
    return {"name": codec_name, "configuration": configuration}


LITTLE, BIG = codec("bytes", endian="little"), codec("bytes", endian="big")
ZSTD = codec("zstd", level=1, checksum=True)


def numcodecs(codec_name, **configuration):
    return codec("numcodecs." + codec_name, **configuration)


def is_cast(one):
    return isinstance(one, dict) and one.get("name") == "cast_value"


def array(data_type, *shape, fill_value=0):
    return {"data_type": data_type, "shape": shape, "fill_value": fill_value}


def shard(chunk_shape, *codecs, **more):
    configuration = {"chunk_shape": chunk_shape, "codecs": codecs, "index_codecs": [LITTLE, "crc32c"], **more}
    return codec("sharding_indexed", **configuration)


def transpose(*order):
    return codec("transpose", order=order)


def large():
    """Chunks of 512 to 672 KiB, for several threads, and of 1 MiB, whose copies are divided as well."""
    turned = transpose(1, 0)
    pad, cast = codec("pad", location="end", nbytes=5), codec("cast_value", data_type="int32")
    rows, wide = array("uint16", 256, 1024, fill_value=7), array("uint16", 512, 1024)
    sharded = shard([256, 1024], LITTLE, "crc32c")
    for codecs in [BIG], [LITTLE], [turned, BIG], [turned, LITTLE], [cast, BIG], ["packbits"], [sharded]:
        yield codecs, wide
    for codecs in (
        [BIG], [LITTLE, ZSTD], [turned, BIG], [turned, LITTLE, "crc32c"], [LITTLE, "crc32c"], [LITTLE, ZSTD,
        "crc32c"], [cast, BIG], [turned, cast, BIG],
        [codec("scale_offset", offset=3, scale=2), BIG], ["packbits"], [LITTLE, codec("gzip", level=1)],
        [codec("packbits", first_bit=2, last_bit=12)], [LITTLE, codec("conditional", codecs=[ZSTD])],
        [LITTLE, codec("blosc", cname="lz4", clevel=1, shuffle="shuffle", typesize=2, blocksize=0)],
        [LITTLE, codec("blosc", cname="lz4", clevel=9, shuffle="noshuffle", typesize=2, blocksize=1 << 18)],
        [shard([32, 256], LITTLE)], [shard([32, 256], LITTLE, ZSTD)], [turned, shard([256, 32], BIG, "crc32c")],
        [cast, shard([32, 256], BIG)], [turned, cast, shard([256, 32], BIG, ZSTD)], [shard([32, 256], LITTLE, pad)],
        [shard([64, 512], shard([32, 256], LITTLE, ZSTD))], [codec("reshape", shape=[256 * 1024]),
        shard([8192], LITTLE)],
        [codec("reshape", shape=[256, 32, 32]), shard([64, 8, 32], LITTLE, ZSTD)], [shard([32, 256], "host.bytes")],
        [shard([32, 256], LITTLE, "host.sum")], [shard([256, 512], LITTLE)], [shard([256, 512], cast, BIG)],
        [LITTLE, numcodecs("lz4", acceleration=1)], [LITTLE, numcodecs("lzma", format=1, preset=0)],
    ):
        yield codecs, rows
    floats = array("float32", 16, 96, 112)
    for codecs in (
        [codec("zfp", mode="fixed_rate", rate=8)], [codec("zfp", mode="fixed_accuracy", tolerance=0.1)],
        [codec("zfp", mode="reversible")], [shard([4, 32, 56], codec("zfp", mode="fixed_precision", precision=12))],
        [numcodecs("zfpy", mode=4, tolerance=0.1)], [codec("bitround", keepbits=4), LITTLE, ZSTD],
        [transpose(2, 0, 1), LITTLE], [transpose(2, 1, 0), BIG, "crc32c"],
    ):
        yield codecs, floats


def hosted():
    """Codecs of the host, whose modes fuzz/src/host.rs has."""
    given = array("uint16", 6, 4)
    for mode in range(11):
        of_mode = {"mode": mode, "size": 49}
        yield [codec("host.array", **of_mode), BIG], given
        yield [codec("host.bytes", **of_mode)], given
        yield [BIG, codec("host.sum", **of_mode), "crc32c"], given
        yield [codec("host.sum", **of_mode)], ""
        yield [shard([3, 2], LITTLE, codec("host.sum", **of_mode))], given


def strided():
    """Elements of every size, in an order that is not that of memory."""
    for data_type in ["bool", "uint8", "int16", "r24", "float32", "r40", "r48", "complex64", "r96", "complex128",
        "r256"]:
        zeros = [0] * (int(data_type[1:]) // 8) if data_type[0] == "r" else [0, 0] if data_type[0] == "c" else 0
        zeros = False if data_type == "bool" else zeros
        for shape, order in (
            [(40, 37), (1, 0)], [(3, 40, 37), (1, 2, 0)], [(40, 37, 4), (2, 0, 1)], [(9, 6, 5, 4), (3, 1, 2, 0)],
            [(64, 64), (1, 0)], [(2, 130, 3), (2, 1, 0)],
        ):
            yield [transpose(*order), LITTLE], array(data_type, *shape, fill_value=zeros)
            given = array(data_type, *shape, fill_value=zeros)
            yield [shard([shape[0], 1, *shape[2:]], transpose(*order), BIG)], given


def casts():
    """Every pair of types with every rounding; the rules take turns. Scaled casts have loops of their own."""
    rules = itertools.cycle([{}, {"out_of_range": "clamp"}, {"out_of_range": "wrap"}])
    scaled = itertools.cycle([[], [codec("scale_offset", offset=1, scale=2)], []])
    for source, target in itertools.permutations(INTEGERS + FLOATS, 2):
        for rounding in ROUNDINGS:
            rule = next(rules)
            if rule.get("out_of_range") == "wrap" and target in FLOATS:
                rule = {}
            cast = codec("cast_value", data_type=target, rounding=rounding, **rule)
            yield [*next(scaled), cast, LITTLE], array(source, 43)
    for mapped in ({"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}, {"encode": [[1, 2], [5, 7]]}):
        for source, target in itertools.product(FLOATS, INTEGERS):
            cast = codec("cast_value", data_type=target, out_of_range="clamp", scalar_map=mapped)
            yield [cast, LITTLE], array(source, 43)


def extended_types():
    """Types with a configuration, and fill values: right, and wrong in every way."""
    def of(name, **configuration):
        return {"name": name, "configuration": configuration}

    pair = [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": of("raw_bytes", length_bytes=3)}]
    of_pair, legacy = of("struct", fields=pair), of("structured", fields=[["a", "int16"], ["b", "bool"],
        ["c", "float64"]])
    values = {
        json.dumps(of("numpy.datetime64", unit="ns", scale_factor=1)): [0, "NaT", -5, "later", 1 << 70],
        json.dumps(of("numpy.timedelta64", unit="generic", scale_factor=10)): ["NaT", 9],
        json.dumps(of("fixed_length_utf32", length_bytes=12)): ["", "abc", "a\u00e9\U0001f600", "four", 5],
        json.dumps(of("null_terminated_bytes", length_bytes=4)): ["", "Y===", "YWI=YWI=", "YWJ=", "YWI=",
            "YWJjZA==", "YWJjZGU=", "YW", "YW!=", 0],
        json.dumps(of("raw_bytes", length_bytes=3)): ["AAAA", "AQID", "AQI=", 7],
        json.dumps(of_pair): [{"a": 3, "b": "AQID"}, {"a": 3}, {"a": 3, "b": "AQID", "c": 1}, "AwABAgM=", "AwAB", 5],
        json.dumps(legacy): [{"a": 1, "b": True, "c": "NaN"}, {"a": 1, "b": 7, "c": 0}],
    }
    chains = [LITTLE], [BIG, ZSTD], ["bytes"], ["packbits"]
    for (data_type, fill_values), codecs in itertools.product(values.items(), chains):
        for fill_value in fill_values:
            yield codecs, array(json.loads(data_type), 2, 5, fill_value=fill_value)
    wrong = [
        of("numpy.datetime64", unit="ns"), of("numpy.datetime64", unit="eon", scale_factor=1),
        of("numpy.datetime64", unit="s", scale_factor=0), of("fixed_length_utf32", length_bytes=7),
        of("fixed_length_utf32", length_bytes=0), of("raw_bytes", length_bytes=1 << 30), of("raw_bytes",
            length_bytes=-1),
        of("raw_bytes", length_bytes=1, more=2), {"name": "raw_bytes"}, {"name": "raw_bytes", "configuration": 5},
        of("struct", fields=[]), of("struct", fields=5), of("struct", fields=[5]), of("struct",
            fields=[pair[0], pair[0]]),
        of("struct", fields=[["", "int8"]]), of("struct", fields=[["a", "string"]]), of("string"), of("int8", a=1),
        {"name": "int8", "configuration": {}}, {"name": "int9", "configuration": 5}, {"name": 5}, {}, 5, [], "int9",
        "string",
        {"name": "int8", "other": 1}, {"name": "int8", "must_understand": 5}, {"name": "int8",
        "must_understand": False},
        "complex_int8", "complex_float8_e4m3", "complex_bfloat16", "r7", "r0", "r8x",
    ]
    for data_type in wrong:
        yield [LITTLE], array(data_type, 3)
    texts = ["NaN", "Infinity", "-Infinity", "+Infinity", "0x7f", "0x7fc00001", "0x7fc0", "0xzz", 1e300, 1e-300,
        1e400, -0.0,
             0.1, 16777217, 3.4e38, 65519.99, True, None, [1, 2], [0.5, "NaN"], [1], {}]
    for data_type, fill_value in itertools.product(
        ["float8_e4m3", "float4_e2m1fn", "float16", "bfloat16", "float32", "float64", "complex64", "int8", "bool",
        "r16"], texts
    ):
        yield [LITTLE], array(data_type, 3, fill_value=fill_value)


def wrong_configurations():
    """What is refused, or spelled otherwise."""
    rows, floats = array("uint16", 6, 4), array("float32", 6, 4)
    deep = shard([1, 1], LITTLE)
    for _ in range(9):
        deep = shard([1, 1], deep)
    for codecs in (
        [deep], [shard([4, 4], LITTLE)], [shard([3], LITTLE)], [shard([3, 2])], [shard([3, 2], transpose(1, 0))],
        [shard([3, 2], LITTLE, index_codecs=[transpose(2, 1, 0)])],
        [shard([3, 2], LITTLE, index_codecs=[LITTLE, ZSTD])],
        [shard([3, 2], LITTLE, index_codecs=[codec("cast_value", data_type="uint8", out_of_range="clamp"), LITTLE])],
        [shard([3, 2], LITTLE, index_location="middle")], [codec("reshape", shape=5), LITTLE],
        [codec("reshape", shape=[0, 24]), LITTLE], [codec("reshape", shape=[-1, -1]), LITTLE],
        [codec("reshape", shape=[[1], [0]]), LITTLE], [codec("reshape", shape=[[0], [9]]), LITTLE],
        [codec("reshape", shape=[-1, [1]]), LITTLE], [codec("reshape", shape=[7]), LITTLE],
        [codec("reshape", shape=[[0, 1]]), LITTLE],
        [codec("packbits", first_bit=1, start_bit=1)], [codec("packbits", start_bit=1, end_bit=None)],
        [codec("packbits", last_bit=1, end_bit=1)], [codec("packbits", first_bit=9, last_bit=3)], ["packbit"], [],
        [5], "bytes",
        [{"name": "bytes", "configuration": {"endian": "little"}, "must_understand": 5}],
        [{"name": "what", "must_understand": False}, LITTLE],
        [LITTLE, LITTLE], [ZSTD, LITTLE], [codec("n5_default", codecs=[LITTLE])],
        [codec("n5_default", codecs=[transpose(1, 0), LITTLE])],
        [codec("n5_default", codecs=[transpose(1, 0), BIG, codec("gzip", level=1), ZSTD])],
        [LITTLE, codec("conditional", codecs=["crc32c", codec("gzip", level=1)], header_bits=16)],
        [LITTLE, codec("conditional", codecs=["crc32c"], header_bits=7)], [LITTLE,
        codec("conditional", codecs=[{"name": "what", "must_understand": False}])],
        [LITTLE, numcodecs("jenkins_lookup3", initval=5, prefix="a")], [numcodecs("packbits"), LITTLE],
        [numcodecs("quantize", digits=2, dtype="<f4"), LITTLE], [numcodecs("delta", dtype="<u2", astype="<f4"),
        LITTLE],
        [numcodecs("delta", dtype="b1"), LITTLE], [numcodecs("delta", dtype=">u2"), LITTLE],
        [numcodecs("delta", dtype="what"), LITTLE],
        [numcodecs("delta", dtype="<u2", astype="<i8"), LITTLE], [numcodecs("delta", dtype="<u2", astype=">u4"),
        LITTLE],
        [numcodecs("fixedscaleoffset", offset=0, scale=0, dtype="<u2"), LITTLE],
        [numcodecs("fixedscaleoffset", offset=0, scale=1, dtype="<u2", astype="b1"), LITTLE],
        [numcodecs("pcodec", delta_spec="no_op", delta_encoding_order=2)],
        [numcodecs("pcodec", delta_spec="try_lookback")],
        [numcodecs("pcodec", delta_spec="try_consecutive", delta_encoding_order=2)],
        [numcodecs("pcodec", delta_spec="none")],
        [numcodecs("pcodec", max_page_size=5)], [LITTLE, numcodecs("shuffle", elementsize=0)], [LITTLE,
        codec("blosc", cname="what")],
    ):
        yield codecs, rows
    for codecs, given in (
        [[numcodecs("quantize", digits=2, dtype="<f4"), LITTLE], floats], [[numcodecs("packbits"), LITTLE],
        array("bool", 3, 5, fill_value=True)],
        [[numcodecs("delta", dtype="<f4", astype="<f8"), LITTLE], floats],
        [[numcodecs("delta", dtype="<i8", astype="<i4"), LITTLE], array("int64", 40)],
        [[numcodecs("fixedscaleoffset", offset=0.5, scale=10, dtype="<f4", astype="u1"), LITTLE], floats],
        [[codec("zfp", mode="expert", minbits=1, maxbits=5, maxprec=64, minexp=-1074)], floats],
        [[codec("zfp", mode="expert", minbits=1, maxbits=8, maxprec=64, minexp=-1075)], floats],
        [[codec("zfp", mode="fixed_rate", rate=16)], array("int16", 12, 10)],
        [[codec("zfp", mode="fixed_rate", rate=9)], array("uint8", 12, 10, 3)],
        [[codec("zfp", mode="reversible")], array("int16", 7, 6, 5)], [[numcodecs("zfpy", mode=2, rate=8.0)],
        array("int64", 9, 5)],
        [[numcodecs("zfpy", mode=3, precision=20)], array("int32", 9, 5)],
        [[numcodecs("zfpy", mode=4, tolerance=0.5)], array("float64", 9, 5, 4, 3)],
        [[numcodecs("pcodec", level=8)], array("float64", 40)], [["bytes"], {"data_type": "int8", "shape": [0, 5]}],
        [["bytes"], 5],
    ):
        yield codecs, given


def lzma_filters():
    lzma1, lzma2 = {"id": 0x4000000000000001, "preset": 0}, {"id": 0x21, "dict_size": 1 << 16, "lc": 3, "lp": 0,
        "pb": 2}
    for name, first in itertools.product((1, 3), [*range(3, 11), 5.5]):
        more = {"dist": 2} if first == 3 else {"start_offset": 16} if first == 5 else {}
        yield [LITTLE, numcodecs("lzma", format=name, filters=[{"id": first, **more}, lzma2])], array("uint16", 64)
    for filters in ([lzma1], [lzma2, lzma2], [{"id": 3}, {"id": 4}, lzma2], [{"id": 3}], [5], 5, [],
        [{**lzma2, "mode": 1, "mf": 3, "nice_len": 20}]):
        yield [LITTLE, numcodecs("lzma", format=3, filters=filters)], array("uint16", 64)
    for form, check, preset in itertools.product((0, 1, 2, 5), (-1, 0, 1, 4, 10), (0, 9, 0x80000006, 12)):
        yield [LITTLE, numcodecs("lzma", format=form, check=check, preset=preset)], array("uint16", 12)


def grids():
    """Documents of v3: chunk grids, and members that are wrong or missing."""
    def document(grid, **more):
        return {"zarr_format": 3, "node_type": "array", "shape": [12, 8], "data_type": "uint16", "chunk_grid": grid,
                "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [LITTLE], **more}

    def rectilinear(*shapes, **more):
        return codec("rectilinear", kind="inline", chunk_shapes=shapes, **more)

    regular = codec("regular", chunk_shape=[4, 8])
    for grid in (
        regular, rectilinear(4, 8), rectilinear([4, 8], 8), rectilinear([[3, 4]], [[8, 1]]),
            rectilinear([[3, 4, 5]], 8),
        rectilinear([], 8), rectilinear([[0, 4]], 8), rectilinear([0], 8), rectilinear("a", 8), rectilinear(4, 8,
            more=1),
        codec("rectilinear", kind="inline", chunk_shapes=5), codec("rectilinear", kind="file", chunk_shapes=[4, 8]),
        codec("other"), 5, {}, {**regular, "more": 1}, {**regular, "must_understand": 1}, {"name": "regular",
            "configuration": 5},
        {"name": "regular"}, codec("regular", chunk_shape=[4]), codec("regular", chunk_shape=[4, 0]),
    ):
        yield document(grid)
    for more in (
        {"fill_value": None}, {"storage_transformers": [5]},
        {"storage_transformers": [{"name": "a", "must_understand": False}]},
        {"zarr_format": 4}, {"node_type": "group"}, {"codecs": 5}, {"dimension_names": ["a", None]},
        {"extra": {"must_understand": False}},
        {"extra": 5}, {"shape": [12]},
        {"data_type": {"name": "struct", "configuration": {"fields": [["a", "int8"], ["b", ">i2"]]}}},
    ):
        yield document(regular, **more)


def documents_of_v2():
    def document(dtype="<u2", fill_value=0, **more):
        return {"zarr_format": 2, "shape": [12, 8], "chunks": [4, 8], "dtype": dtype, "fill_value": fill_value,
            "order": "C",
                "filters": None, "compressor": None, **more}

    pair = [["a", "<i2"], ["", "|S3"], ["c", [["d", "<f8"], ["e", "|b1"]]]]
    for dtype, fill_values in (
        ("<M8[ns]", [0, "NaT", None]), ("<M8[25s]", [0]), (">m8", [5]), ("<m8[what]", [0]), ("<M8[ns", [0]), ("<M9",
        [0]), ("<M8x", [0]),
        ("<U3", ["abc", "", 0, 5]), (">U2", ["ab"]), ("|S4", ["YWI=", 0, "x"]), ("|V3", ["AQID", 0, "AQI="]),
        ("|V0", [0]),
        ("|O", [0]), ("|u8", [0]), ("<q8", [0]), ("u2", [0]), ("<i4", [1.0, "5", "1.5", 2.5, True]), ("|b1",
        [0, 1, 2, True]),
        ("<f4", ["NaN", "1.5", 3, "0x7fc00000"]), (">c8", [[1, 2], 0]), ("bfloat16", [1]), ("int4", [-1]),
        ("float8_e4m3fn", ["NaN"]),
        (pair, [0, None, "AQACAwQAAAAAAADwPwE=", "AQ==", "!", {"a": 1}]), ([["a", "<i2"], ["b", ">i2"]], [0]),
        ([["a"]], [0]), ([["a", "<i2", [2]]], [0]),
        ([5], [0]), ([], [0]), (5, [0]), ("", [0]), ("\u00e9", [0]),
    ):
        for fill_value in fill_values:
            yield document(dtype, fill_value)
            yield document(dtype, fill_value, order="F", compressor={"id": "zlib", "level": 1})
    for more in (
        {"filters": 5}, {"filters": [5]}, {"filters": [{}]}, {"filters": []},
        {"filters": [{"id": "delta", "dtype": "<u2"}]},
        {"filters": [{"id": "delta", "dtype": ">u2"}]}, {"dtype": ">u2",
        "filters": [{"id": "delta", "dtype": ">u2", "astype": ">i4"}]},
        {"filters": [{"id": "zlib", "level": 1}, {"id": "delta", "dtype": "<u2"}]},
        {"filters": [{"id": "shuffle", "elementsize": 0}]},
        {"filters": [{"id": "shuffle", "elementsize": "2"}]}, {"dtype": "|b1", "fill_value": False,
        "filters": [{"id": "packbits"}]},
        {"filters": [{"id": "astype", "encode_dtype": "uint8", "decode_dtype": "uint16"}]},
        {"filters": [{"id": "fixedscaleoffset", "offset": 0, "scale": 2, "dtype": "u2", "astype": "=u4"}]},
        {"filters": [{"id": "pcodec"}]}, {"dtype": "<f4", "filters": [{"id": "zfpy", "mode": 4, "tolerance": 0.1}]},
        {"compressor": 5}, {"compressor": {"id": "lzma", "preset": 0, "delta": 1}}, {"order": "A"}, {"chunks": [4]},
        {"chunks": [0, 8]},
        {"compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}},
        {"compressor": {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": "BIT", "blocksize": 0}},
        {"compressor": {"id": "blosc", "shuffle": "NONE"}},
        {"compressor": {"id": "blosc", "shuffle": "BYTE", "typesize": None}},
        {"compressor": {"id": "zstd", "level": "3", "checksum": "YES"}},
        {"compressor": {"id": "zstd", "level": 3, "checksum": "NO"}},
        {"compressor": {"id": "what"}}, {"dimension_separator": "/"}, {"what": 5}, {"zarr_format": "2"},
    ):
        yield document(**more)
    for missing in ("chunks", "dtype", "order", "filters", "compressor", "fill_value"):
        whole = document()
        del whole[missing]
        yield whole


def documents_of_zarr_python():
    for line in DOCUMENTS.read_text(encoding="utf-8").splitlines():
        array_of = json.loads(line)
        yield array_of["document"], bytes.fromhex(array_of["encoded"])


def damaged():
    """Encoded bytes that are wrong in a way of their own."""
    bools, rows = array("bool", 11, fill_value=False), array("uint16", 2, 3)
    yield [numcodecs("packbits"), "bytes"], bools, b"\3\xff\xff"
    yield [numcodecs("packbits"), "bytes"], bools, b"\5\xff\xe0"
    for encoded in (b"", b"\0\0", b"\0\1\0\2\0\0\0\2\0\0\0\3", b"\0\0\0\3", b"\0\0\0\2\0\0\0\2",
        b"\0\0\0\2\0\0\0\3\0\0\0\2" + bytes(12),
                    b"\0\0\0\2\0\0\0\2\0\0\0\1" + bytes(4), b"\0\0\0\2\0\0\0\0\0\0\0\1",
                    b"\0\0\0\2\0\0\0\x09\0\0\0\1", b"\0\0\0\2\0\0\0\2\0\0\0\2" + bytes(8)):
        for fill in ({}, {"fill_value": 1}):
            yield [codec("n5_default", codecs=[transpose(1, 0), BIG])], {"data_type": "uint16", "shape": [2, 3],
                **fill}, encoded
    for header in range(8):
        yield [LITTLE, codec("conditional", codecs=["crc32c",
            codec("gzip", level=1)])], rows, bytes([header]) + bytes(16)
        yield [LITTLE, codec("conditional", codecs=["crc32c"])], rows, bytes([header])
    for encoded in (b"\x50\x2a\x4d\x18\2\0\0\0ab", b"\x28\xb5\x2f\xfd\x20\6\x31\0\0abcdef",
        b"\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f\1\0\0", b"\x28\xb5\x2f\xfd\x00\x58\x61\0\0abcdefabcdef",
                    b"\x28\xb5\x2f\xfd\x24\6\x31\0\0abcdef\0\0\0\0", b"\x28\xb5\x2f\xfd\x60\0\0\1\0\0",
                    b"\x28\xb5\x2f\xfd\xe0" + bytes(11), b"\x28\xb5\x2f\xfd\x20\6\x37\0\0a",
                    b"\x28\xb5\x2f\xfd\0\x58\x32\0\0a" * 2,
                    b"\x50\x2a\x4d\x18\2\0\0\0ab\x28\xb5\x2f\xfd\x20\6\x31\0\0abcdef", b"what is it"):
        for codecs, given in ([ZSTD], ""), ([LITTLE, ZSTD], rows), ([numcodecs("zstd", level=1)], ""):
            yield codecs, given, encoded
    # Members of gzip: with every optional part of a header, two of them, and damaged.
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    stream = stream.compress(b"some text " * 9) + stream.flush()
    end = struct.pack("<II", zlib.crc32(b"some text " * 9), 90)
    plain = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stream + end
    full = b"\x1f\x8b\x08\x1e\0\0\0\0\0\xff\2\0abname\0comment\0\1\2" + stream + end
    for encoded in (plain, full, plain + full, plain + b"tail", full[:14], full[:20],
        b"\x1f\x8b\x08\xe0" + plain[4:], plain[:-1] + b"\1",
                    plain[:-8] + bytes(8), plain[:30], b"\x1f\x8b\x08\x04" + plain[4:10],
                        b"\x1f\x8b\x08\x08" + plain[4:10]):
        yield [codec("gzip", level=1)], "", encoded
        yield [numcodecs("gzip", level=1)], "", encoded
    for encoded in (zlib.compress(b"some text " * 9, 9), zlib.compress(b"some text " * 9, 9) + b"tail", b"x",
        zlib.compress(b"some text")[:-1]):
        yield [numcodecs("zlib", level=1)], "", encoded
    # A value that does not fit what it decodes to, inside shards and after a transposition.
    faulty = struct.pack("<24f", *range(23), 300.0)
    cast, rest = codec("cast_value", data_type="float32"), b"\xff" * 48
    for codecs, encoded in (
        [[cast, shard([6, 4], LITTLE, index_codecs=[LITTLE])], faulty + struct.pack("<QQ", 0, 96)],
        [[transpose(1, 0), cast, shard([4, 6], LITTLE, index_codecs=[LITTLE])], faulty + struct.pack("<QQ", 0, 96)],
        [[shard([6, 4], cast, LITTLE, index_codecs=[LITTLE])], faulty + struct.pack("<QQ", 0, 96)],
        [[shard([6, 4], shard([3, 4], transpose(1, 0), cast, LITTLE, index_codecs=[LITTLE]),
        index_codecs=[LITTLE])], faulty + struct.pack("<QQQQQQ", 0, 48, 48, 48, 0, 128)],
        [[cast, transpose(1, 0), LITTLE], faulty],
        [[cast, codec("reshape", shape=[24]), shard([12], LITTLE, index_codecs=[LITTLE])],
        faulty + struct.pack("<QQQQ", 0, 48, 48, 48)],
        [[shard([6, 2], cast, LITTLE, index_codecs=[LITTLE])], faulty[48:] + struct.pack("<QQ", 0, 48) + rest[:16]],
    ):
        for end in range(4):  # other boxes
            yield codecs, array("uint8", 6, 4), encoded + bytes(end % 2)
            yield codecs, array("uint8", 6, 4, fill_value=end), encoded
    for encoded in (b"", b"\1\0\0", b"\xff\xff\0\0\x10a", b"\1\0\0\0\x10a"):
        yield [numcodecs("lz4", acceleration=1)], "", encoded
    # Frames of blosc: of compressor 7, of another version, that claim too much, that split by odd sizes.
    frame = bytes([2, 1, 0, 2, 6, 0, 0, 0, 6, 0, 0, 0, 22, 0, 0, 0])
    for change in ((2, 0xE0), (1, 2), (4, 255), (0, 3), (8, 5), (2, 2), (3, 0)):
        changed = bytearray(frame + bytes(6))
        changed[change[0]] = change[1]
        yield [codec("blosc", cname="lz4", clevel=5, shuffle="noshuffle", typesize=2,
            blocksize=0)], "", bytes(changed)
    for index in (b"", b"\xff" * 96, bytes(96), bytes([40, 0, 0, 0, 0, 0, 0, 0] * 12), b"\xff" * 16 + bytes(80)):
        yield [shard([3, 2], LITTLE, index_codecs=[LITTLE])], {"data_type": "uint16", "shape": [6,
            4]}, bytes(12) + index
        yield [shard([3, 2], LITTLE, index_codecs=[LITTLE], index_location="start")], array("uint16", 6,
            4), index + bytes(12)


def parts():
    """All of them: `(codecs, input, encoded)`, of which a document has no input."""
    for chain in itertools.chain(hosted(), strided(), casts(), extended_types(), wrong_configurations(),
        lzma_filters()):
        yield (*chain, b"")
    yield from damaged()
    for document in itertools.chain(grids(), documents_of_v2()):
        yield document, None, b""
    for document, encoded in documents_of_zarr_python():
        yield document, None, encoded
