"""`Chain`: encode, decode, boxes, strides, and what it refuses."""

import asyncio
import copy
import datetime
import json
import mmap
import os
import pickle
import subprocess
import sys
import threading
import traceback

import ml_dtypes
import numpy as np
import pytest

import zcodec
from zcodec import Chain, Error, Index, Status
from zcodec.plan import read_object
from zcodec.tasks import _Tasks
from zcodec.writer import whole_object

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
CRC = {"name": "crc32c"}


def sharded(inner=(8, 8), codecs=(LITTLE, ZSTD), location="end"):
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": list(inner),
            "codecs": list(codecs),
            "index_codecs": [LITTLE, CRC],
            "index_location": location,
        },
    }


@pytest.fixture
def array():
    return np.arange(64 * 48, dtype=np.uint16).reshape(64, 48)


CHAINS = {
    "bytes": [LITTLE],
    "zstd": [LITTLE, ZSTD],
    "crc32c": [LITTLE, CRC],
    "transpose": [{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE],
    "sharding": [sharded()],
}


@pytest.fixture(params=CHAINS)
def chain(request):
    return Chain(CHAINS[request.param], np.uint16, (64, 48), 0)


def test_encodes_to_bytes_and_back(chain, array):
    encoded = chain.encode(array)
    assert type(encoded) is bytes
    decoded = chain.decode(encoded)
    assert decoded.dtype == array.dtype
    np.testing.assert_array_equal(decoded, array)


def test_bytes_are_those_of_the_specification(array):
    chain = Chain([{"name": "bytes", "configuration": {"endian": "big"}}], "uint16", array.shape)
    assert chain.encode(array) == array.astype(">u2").tobytes()


@pytest.mark.parametrize("cut", [np.s_[::-1, :], np.s_[:, ::-1], np.s_[::-1, ::-1]])
def test_encodes_any_strides(chain, array, cut):
    assert chain.encode(array[cut]) == chain.encode(array[cut].copy())
    wide = np.zeros((128, 96), np.uint16)
    wide[::2, 1::2] = array
    assert chain.encode(wide[::2, 1::2]) == chain.encode(array)
    fortran = np.asfortranarray(array)
    assert chain.encode(fortran) == chain.encode(array)
    assert chain.encode(np.broadcast_to(np.uint16(7), array.shape)) == chain.encode(np.full_like(array, 7))


BOXES = [
    np.s_[:, :], np.s_[3:9], np.s_[3:9, 40:], np.s_[-5:, -3:-1], np.s_[..., 7], np.s_[5], np.s_[5, -1], np.s_[::2, 1::3],
    np.s_[::-1, 30:2:-4], np.s_[9:3], np.s_[60:1000, ...], np.s_[...],
]  # fmt: skip


@pytest.mark.parametrize("box", BOXES, ids=repr)
def test_boxes_are_numpy_selections(chain, array, box):
    np.testing.assert_array_equal(chain.decode(chain.encode(array), box=box), array[box])


@pytest.mark.parametrize("box", BOXES, ids=repr)
def test_decodes_to_any_strides(chain, array, box):
    expected = array[box]
    for order in "CF":
        memory = np.full([3 * size + 1 for size in expected.shape], 0xABCD, np.uint16, order=order)
        out = memory[(*(slice(1, None, 3) if i % 2 else slice(-1, 0, -3) for i in range(expected.ndim)), ...)]
        assert out.shape == expected.shape
        assert chain.decode(chain.encode(array), out=out, box=box) is out
        np.testing.assert_array_equal(out, expected)
        written = expected.size - np.count_nonzero(expected == 0xABCD)
        assert np.count_nonzero(memory != 0xABCD) == written


def test_out_in_the_other_byte_order(chain, array):
    out = np.zeros(array.shape, ">u2")
    chain.decode(chain.encode(array), out=out)
    np.testing.assert_array_equal(out, array)
    assert chain.encode(array.astype(">u2")) == chain.encode(array)


def test_out_may_be_other_memory(chain, array):
    for out in (bytearray(array.nbytes), memoryview(bytearray(array.nbytes))):
        result = chain.decode(chain.encode(array), out=out)
        assert bytes(out) == array.tobytes()
        np.testing.assert_array_equal(result, array)


def test_encoded_chunks_may_be_any_buffer(chain, array):
    encoded = chain.encode(array)
    for buffer in (bytearray(encoded), memoryview(encoded), np.frombuffer(encoded, np.uint8)):
        np.testing.assert_array_equal(chain.decode(buffer), array)
    with pytest.raises(TypeError, match="back to back"):
        chain.decode(memoryview(encoded)[::2])
    for dtype in ("u2", "S2", "U1", "V2", "M8[s]", [("a", "u2")]):
        with pytest.raises(TypeError, match="expected bytes that lie back to back, not ndarray"):
            chain.decode(np.zeros(16, dtype)[::2])
    with pytest.raises(TypeError, match="str"):
        chain.decode("text")


def test_encode_into_memory_of_the_caller(chain, array):
    room = bytearray(chain.encoded_bound())
    size = chain.encode_into(array, room)
    assert bytes(room[:size]) == chain.encode(array)
    with pytest.raises(Error) as caught:
        chain.encode_into(array, bytearray(3))
    assert caught.value.status is Status.BUFFER_TOO_SMALL
    needed = caught.value.needed_size
    assert pickle.loads(pickle.dumps(caught.value)).needed_size == needed
    assert chain.encode_into(array, bytearray(needed)) == size
    with pytest.raises(Error) as caught:
        chain.decode(room[: size - 1])
    assert caught.value.needed_size is None
    with pytest.raises(ValueError, match="read-only"):
        chain.encode_into(array, bytes(100_000))


def test_a_part_of_a_chunk_is_encoded_with_the_fill_value(array):
    chain = Chain([LITTLE], "uint16", array.shape, 9)
    whole = np.full_like(array, 9)
    whole[:10, 4:] = array[:10, 4:]
    assert chain.encode(array[:10, 4:], box=np.s_[:10, 4:]) == whole.tobytes()


@pytest.mark.parametrize(
    ("wrong", "kind", "says"),
    [
        (np.zeros((64, 48), np.float32), TypeError, "float32.*uint16"),
        (np.zeros((64, 48), np.int16), TypeError, "int16.*uint16"),
        (np.zeros((48, 64), np.uint16), ValueError, r"\(48, 64\).*\(64, 48\)"),
        (np.zeros(64 * 48, np.uint16), ValueError, "3072"),
        (object(), TypeError, "object"),
    ],
)
def test_wrong_arrays_are_refused(chain, wrong, kind, says):
    with pytest.raises(kind, match=says):
        chain.encode(wrong)
    if isinstance(wrong, np.ndarray):
        with pytest.raises(kind, match=says):
            chain.decode(chain.encode(np.zeros((64, 48), np.uint16)), out=wrong)


def test_read_only_out_is_refused(chain, array):
    encoded = chain.encode(array)
    out = np.zeros_like(array)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        chain.decode(encoded, out=out)
    with pytest.raises(ValueError, match="read-only"):
        chain.decode(encoded, out=bytes(array.nbytes))


@pytest.mark.parametrize("box", [np.s_[70], np.s_[:, :, 1], "x", 1.5, (None, 1), True])
def test_wrong_boxes_are_refused(chain, array, box):
    with pytest.raises((IndexError, TypeError)):
        chain.decode(chain.encode(array), box=box)


def test_damaged_chunks(array):
    chain = Chain([LITTLE, ZSTD, CRC], "uint16", array.shape, 0)
    encoded = bytearray(chain.encode(array))
    encoded[5] ^= 1
    with pytest.raises(Error, match="crc32c") as caught:
        chain.decode(encoded)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.status, error.codec_index, error.element_index) == (Status.CORRUPT_DATA, 2, None)
    assert (error.path, error.code) == ("/2", "checksum")
    assert error.status == 7
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.status, again.path) == (str(error), error.status, error.path)


def test_every_cut_and_flip_is_an_error_or_an_array(array):
    chain = Chain([sharded(codecs=[LITTLE, ZSTD, CRC])], "uint16", array.shape, 0)
    encoded = chain.encode(array)
    for i in range(0, len(encoded), 7):
        flipped = bytearray(encoded)
        flipped[i] ^= 0xFF
        for damaged in (encoded[:i], bytes(flipped)):
            with pytest.raises(Error):
                chain.decode(damaged)


def test_errors_name_the_element():
    codec = {"name": "cast_value", "configuration": {"data_type": "uint8"}}
    chain = Chain([codec, "bytes"], "float32", (20,), 0)
    array = np.zeros(20, np.float32)
    array[17] = 300
    with pytest.raises(Error, match="300") as caught:
        chain.encode(array)
    assert (caught.value.element_index, caught.value.codec_index) == (17, 0)
    assert caught.value.status is Status.OUT_OF_RANGE


def test_wrong_metadata():
    with pytest.raises(Error) as caught:
        Chain([LITTLE, "nothing_like_it"], "uint16", (4,))
    assert (caught.value.status, caught.value.code, caught.value.codec_index) == (Status.UNSUPPORTED, "unknown_codec", 1)
    for codecs in ("[", b"\xff", "{}", []):
        with pytest.raises(Error):
            Chain(codecs, "uint16", (4,))
    with pytest.raises(TypeError, match="both data_type and shape"):
        Chain([LITTLE], "uint16")
    with pytest.raises(TypeError, match="no fill_value"):
        Chain(["gzip"], fill_value=3)
    with pytest.raises(ValueError, match="-1"):
        Chain([LITTLE], "uint16", (-1,))
    with pytest.raises(TypeError, match="dtype..O"):
        Chain([LITTLE], np.dtype(object), (4,))
    if hasattr(np.dtypes, "StringDType"):
        with pytest.raises(TypeError, match="no Zarr data type is known for the numpy dtype StringDType"):
            Chain([LITTLE], np.dtypes.StringDType(), (4,))
    if hasattr(ml_dtypes, "int1"):  # of kind "V", as raw bytes
        with pytest.raises(TypeError, match=r"no Zarr data type is known for the numpy dtype dtype\(int1\)"):
            Chain(["bytes"], np.dtype(ml_dtypes.int1), (4,))
    with pytest.raises(Error) as caught:
        Chain([LITTLE], "uint16", (100,), 0, max_decoded_size=100)
    assert caught.value.status is Status.UNSUPPORTED


def test_closed_chains(array):
    with Chain([LITTLE], "uint16", array.shape, 0) as chain:
        encoded = chain.encode(array)
    assert chain.closed
    for call in (
        lambda: chain.encode(array), lambda: chain.decode(encoded), lambda: chain.codecs, lambda: chain.plan(),
        lambda: chain.with_shape((4, 4)), lambda: chain.decode_many([encoded]), lambda: chain.granularity,
        lambda: chain.set_padding(0), lambda: pickle.dumps(chain), lambda: chain.decode(encoded, box=0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="closed"):
            call()
    assert "closed" in repr(chain)
    chain.close()


def test_from_zarr_json(array):
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [640, 480], "data_type": "uint16", "fill_value": 3,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [64, 48]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [LITTLE, ZSTD],
    }  # fmt: skip
    for given in (document, json.dumps(document), json.dumps(document).encode()):
        chain = Chain.from_zarr_json(given)
        assert chain.shape == (64, 48)
        assert chain.input == {"data_type": "uint16", "shape": [64, 48], "fill_value": 3}
        np.testing.assert_array_equal(chain.decode(chain.encode(array)), array)
    version_2 = {
        "zarr_format": 2, "shape": [640, 480], "chunks": [64, 48], "dtype": ">u2", "order": "F", "fill_value": 0,
        "filters": None, "compressor": {"id": "zlib", "level": 1},
    }  # fmt: skip
    chain = Chain.from_zarr_json(version_2)
    assert [codec["name"] for codec in chain.codecs] == ["transpose", "bytes", "numcodecs.zlib"]
    import zlib

    assert zlib.decompress(chain.encode(array)) == array.astype(">u2").tobytes("F")


def test_what_a_chain_says_of_itself(array):
    chain = Chain(CHAINS["sharding"], "uint16", (64, 48), 7)
    assert chain.kind is zcodec.Kind.ARRAY_TO_BYTES
    assert (chain.shape, chain.dtype, chain.data_type, len(chain)) == ((64, 48), np.dtype("u2"), "uint16", 1)
    assert chain.granularity == (8, 8)
    assert chain.decoded_size == array.nbytes
    assert chain.encoded_size is None
    assert Chain([LITTLE], "uint16", (64, 48)).encoded_size == array.nbytes
    assert chain.encoded_bound() >= len(chain.encode(array))
    assert chain.inner().shape == (8, 8)
    assert chain.warnings == []
    lossy = {"name": "cast_value", "configuration": {"data_type": "float64"}}
    warnings = Chain([lossy, LITTLE], "int64", (4,), 0).warnings
    assert [warning["code"] for warning in warnings] == ["lossy_int_to_float"]
    assert repr(chain) == "<zcodec.Chain sharding_indexed of uint16 (64, 48)>"
    assert any(codec["name"] == "packbits" for codec in zcodec.supported()["codecs"])


def test_what_a_chain_says_is_the_callers():
    chain = Chain([LITTLE, {"name": "crc32c"}], "uint8", (10,), 0)
    assert chain.encoded_size == 14
    chain.output["size"] = 20
    assert chain.output == {"size": 14}
    assert chain.encoded_size == len(chain.encode(np.zeros(10, np.uint8))) == 14
    fields = {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "uint8"}]}}
    chain = Chain([LITTLE], fields, (3,))
    chain.data_type["name"] = "other"
    assert chain.data_type == fields


def test_with_shape(chain, array):
    border = chain.with_shape((16, 8))
    np.testing.assert_array_equal(border.decode(border.encode(array[:16, :8])), array[:16, :8])
    assert chain.shape == (64, 48)
    assert Chain([LITTLE], "uint8", 5).with_shape(7).shape == (7,)


def test_array_to_array_and_bytes_to_bytes():
    transpose = Chain([{"name": "transpose", "configuration": {"order": [1, 0]}}], "float32", (3, 4))
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(transpose.encode(array), array.T)
    np.testing.assert_array_equal(transpose.decode(array.T), array)
    cast = Chain([{"name": "cast_value", "configuration": {"data_type": "int8"}}], "float64", (2,), 0)
    assert cast.encode(np.array([1.0, -2.0])).dtype == np.int8
    bytes_only = Chain([ZSTD])
    encoded = bytes_only.encode(b"abc" * 100)
    assert bytes_only.decode(encoded) == b"abc" * 100
    room = bytearray(400)
    assert bytes_only.decode(encoded, out=room) == b"abc" * 100
    with pytest.raises(ValueError, match="shape"):
        bytes_only.shape  # noqa: B018
    with pytest.raises(ValueError, match="boxes"):
        bytes_only.decode(encoded, box=0)
    assert pickle.loads(pickle.dumps(bytes_only)).decode(encoded) == b"abc" * 100


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (1, 1, 1)])
def test_odd_shapes(shape):
    chain = Chain([LITTLE], "int32", shape, 5)
    array = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    assert chain.encode(array) == array.tobytes()
    np.testing.assert_array_equal(chain.decode(array.tobytes()), array)
    np.testing.assert_array_equal(chain.decode(array.tobytes(), box=...), array)
    out = np.empty(shape, np.int32)
    chain.fill(out)
    np.testing.assert_array_equal(out, np.full(shape, 5))


def test_fill_takes_arrays():
    chain = Chain([LITTLE], "uint16", (4,), 3)
    out = np.zeros(4, ">u2")
    chain.fill(out)
    np.testing.assert_array_equal(out, 3)
    assert chain.is_fill(out) and chain.is_fill([np.uint16(3)])
    for wrong in ([1], bytearray(8), np.zeros(4, np.int16), np.zeros(4, object)):
        with pytest.raises(TypeError):
            chain.fill(wrong)
        with pytest.raises(TypeError):
            chain.is_fill(wrong)
    with pytest.raises(ValueError, match="2 dimensions"):
        chain.fill(np.zeros((4, 4), np.uint16))


def test_pointers_are_no_bytes():
    """Encoded from, or decoded over, they would be leaked, or the end of the interpreter."""
    arrays, checked = Chain([LITTLE], "uint64", (4,), 0), Chain(["crc32c"])
    encoded, chunk = checked.encode(bytes(28)), np.zeros(4, np.uint64)
    for pointers in (np.array(list("abcd"), object), np.zeros(4, [("pointer", object)])):
        for given in (pointers, memoryview(pointers)):
            for call in (
                lambda: arrays.decode(given), lambda: arrays.decode(given, box=0), lambda: arrays.decode_many([given]),
                lambda: arrays.decode(bytes(32), out=given), lambda: arrays.encode_into(chunk, given),
                lambda: checked.encode(given), lambda: checked.decode(given), lambda: checked.decode(encoded, out=given),
                lambda: arrays.plan().supply(0, given),
            ):  # fmt: skip
                with pytest.raises(TypeError):
                    call()
        assert pointers.tolist() in (list("abcd"), [(0,)] * 4)


def test_fill_values():
    chain = Chain([LITTLE], np.float32, (4, 4), np.nan)
    out = np.zeros((3, 4), np.float32)[::-1, ::2]
    chain.fill(out)
    assert np.isnan(out).all()
    assert chain.is_fill(out)
    out[1, 1] = 0
    assert not chain.is_fill(out)
    payload = np.array(0x7FC01234, np.uint32).view(np.float32)[()]
    chain = Chain([LITTLE], np.float32, (2,), payload)
    out = np.zeros(2, np.float32)
    chain.fill(out)
    assert (out.view(np.uint32) == 0x7FC01234).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(chain)).input, chain.input)


def test_fill_values_are_of_the_data_type():
    for data_type, fill_value, expected in [
        ("datetime64[s]", np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00:00:00")),
        ("timedelta64[10s]", np.timedelta64(1, "m"), np.timedelta64(60, "s")),
        ([("a", "<i4")], np.array((1,), [("a", ">i4")])[()], np.array((1,), [("a", "=i4")])[()]),
        ("float32", np.float64("nan"), np.float32("nan")),
        ("float64", np.float32("nan"), np.float64("nan")),
    ]:
        chain = Chain([LITTLE], data_type, (2,), fill_value)
        out = np.zeros(2, chain.dtype)
        chain.fill(out)
        np.testing.assert_array_equal(out, np.full(2, expected, chain.dtype))
    with pytest.raises(ValueError, match="cannot represent"):
        Chain([LITTLE], "datetime64[D]", (2,), np.datetime64("2020-01-01T05:00"))


STRUCT = [("a", "i4"), ("b", "f4")]
NESTED = [("n", [("x", "c8"), ("y", "M8[s]")]), ("s", "S3"), ("u", "U2"), ("f", "?")]
NESTED_VALUE = ((1j, np.datetime64("2020", "s")), b"abc", "xy", True)


@pytest.mark.parametrize(
    ("data_type", "fill_value", "expected"),
    [
        ("complex64", 0, 0j), ("complex64", 1.5, 1.5), ("complex64", np.int8(-1), -1), ("complex128", np.clongdouble(1j), 1j),
        ("complex64", float("nan"), complex(np.nan, 0)), ("complex64", np.complex128(complex(1, np.nan)), complex(1, np.nan)),
        ("complex64", [1, "NaN"], complex(1, np.nan)),
        ("bool", 0, False), ("bool", 1, True), ("bool", np.uint8(1), True), ("bool", 0.0, False),
        ("int32", True, 1), ("int32", np.True_, 1), ("int32", 3.0, 3), ("int32", np.float32(-3), -3), ("float32", True, 1.0),
        ("float32", np.longdouble(0.5), 0.5), ("float64", np.longdouble("nan"), np.nan), ("float32", np.array(2), 2.0),
        ("datetime64[s]", datetime.date(2020, 1, 2), "2020-01-02"), ("datetime64[s]", "2020-01-02T03", "2020-01-02T03:00:00"),
        ("datetime64[s]", datetime.datetime(2020, 1, 2, 3), "2020-01-02T03:00:00"), ("datetime64[s]", "NaT", "NaT"),
        ("timedelta64[s]", datetime.timedelta(minutes=1), 60), ("timedelta64[s]", np.timedelta64("NaT", "ms"), "NaT"),
        ("timedelta64[s]", "NaT", "NaT"), ("datetime64[s]", "nat", "NaT"),
        (STRUCT, {"a": 1, "b": np.nan}, (1, np.nan)), (STRUCT, (1, np.nan), (1, np.nan)), (STRUCT, (np.int8(1), True), (1, 1)),
        (STRUCT, {"b": np.float64(0.5), "a": np.int64(7)}, (7, 0.5)),
        (STRUCT, np.array((1, 2), [("a", "i8"), ("b", "f8")])[()], (1, 2)),
        (STRUCT, np.array((2, 1), [("b", "f4"), ("a", "i4")])[()], (1, 2)),
        (STRUCT, np.array((1, 2), np.dtype(STRUCT, align=True)), (1, 2)),
        (NESTED, NESTED_VALUE, NESTED_VALUE), (NESTED, np.array(NESTED_VALUE, NESTED), NESTED_VALUE),
        ("V3", bytearray(b"abc"), b"abc"),
    ],
)  # fmt: skip
def test_fill_values_of_numpy_users(data_type, fill_value, expected):
    chain = Chain([LITTLE], np.dtype(data_type), (2,), fill_value)
    out = np.ones(2, chain.dtype)
    chain.fill(out)
    assert repr(out.tolist()) == repr(np.full(2, np.array(expected, chain.dtype)).tolist())  # NaN in a struct is not equal


def test_fill_values_of_complex_numbers_keep_their_bits():
    payload = np.array([0x7FC01234, 0xFFC00001], np.uint32).view(np.complex64)[0]
    out = np.zeros(1, np.complex64)
    Chain([LITTLE], "complex64", (1,), payload).fill(out)
    assert out.view(np.uint32).tolist() == [0x7FC01234, 0xFFC00001]


@pytest.mark.parametrize(
    ("data_type", "fill_value", "says"),
    [
        ("bool", 2, "2"), ("int32", 3.5, "3.5"), ("int8", 300.0, "300"), ("int8", float("nan"), "NaN"),
        (STRUCT, (1,), "1 members, the struct has 2"), (STRUCT, {"a": 1}, '"b"'), (STRUCT, {"a": 1, "b": 2, "c": 3}, '"c"'),
        (STRUCT, np.array((2**40, 1), [("a", "i8"), ("b", "f8")])[()], "1099511627776"),
        ("datetime64[s]", np.timedelta64(1, "s"), "cannot represent"), ("datetime64[s]", "yesterday", "datetime"),
        ("datetime64[D]", datetime.datetime(2020, 1, 1, 5), "cannot represent"),
    ],
)  # fmt: skip
def test_wrong_fill_values(data_type, fill_value, says):
    with pytest.raises(ValueError, match=says):
        Chain([LITTLE], np.dtype(data_type), (2,), fill_value)


def test_encoded_arrays_have_any_byte_order():
    chain = Chain([{"name": "transpose", "configuration": {"order": [1, 0]}}], "int32", (2, 3), 0)
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    encoded = chain.encode(array)
    for same in (encoded, encoded.astype(">i4"), np.asfortranarray(encoded)):
        np.testing.assert_array_equal(chain.decode(same), array)
        np.testing.assert_array_equal(chain.decode_many([same])[0], array)
    with pytest.raises(TypeError):
        chain.decode_many([encoded.astype("f4")])


def test_pickle_and_copy(chain, array):
    for again in (pickle.loads(pickle.dumps(chain)), copy.copy(chain), copy.deepcopy(chain)):
        assert again.handle != chain.handle
        assert again.encode(array) == chain.encode(array)
        assert again.input == chain.input


def test_many(chain, array):
    arrays = [array, array[::-1], np.asfortranarray(array)]
    encoded = chain.encode_many(arrays)
    assert encoded == [chain.encode(each) for each in arrays]
    for threads in (1, 2, None):
        for found, expected in zip(chain.decode_many(encoded, max_threads=threads), arrays, strict=True):
            np.testing.assert_array_equal(found, expected)
    found = chain.decode_many([encoded[0], None], box=[np.s_[::-2], np.s_[1]])
    np.testing.assert_array_equal(found[0], array[::-2])
    np.testing.assert_array_equal(found[1], np.zeros(48, np.uint16))
    out = np.zeros((2, 48, 64), np.uint16)
    chain.decode_many(encoded[:2], out=[out[0].T, out[1].T])
    np.testing.assert_array_equal(out[0].T, array)
    assert chain.decode_many([]) == []
    with pytest.raises(Error) as caught:
        chain.decode_many([encoded[0], b"damaged", b"also"])
    assert "chunk 1 of 3" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="2 items for 1"):
        chain.decode_many(encoded[:1], out=[None, None])


def test_no_number_of_threads_is_all_processors(chain, array):
    encoded = chain.encode(array, max_threads=None)
    assert encoded == chain.encode(array)
    assert chain.encode_into(array, bytearray(chain.encoded_bound()), max_threads=None) == len(encoded)
    np.testing.assert_array_equal(chain.decode(encoded, max_threads=None), array)
    np.testing.assert_array_equal(read_object(chain.plan(np.s_[::3], max_threads=None), encoded), array[::3])
    if chain.has_index:
        writer = chain.writer(max_threads=None)
        writer.put(array)
        assert bytes(whole_object(*writer.finish())) == encoded


def test_a_refused_call_of_tasks_says_its_status():
    with pytest.raises(Error, match=r"the call for 0 tasks was refused \(ZCODEC_STATUS_INVALID_ARGUMENT\)"):
        _Tasks(0).run(lambda tasks, count, options: Status.INVALID_ARGUMENT, 1)


def test_threads_share_a_chain(chain, array):
    encoded = chain.encode(array)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(chain.decode(encoded), array) or chain.encode(array) != encoded:
                wrong.append(1)
            with pytest.raises(Error):
                chain.decode(b"damaged")

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_the_gil_is_released(array):
    """Another thread runs while a long call is under way."""
    chain = Chain([LITTLE, {"name": "zstd", "configuration": {"level": 19, "checksum": False}}], "uint16", (1000, 1000))
    random = np.random.default_rng(1).integers(0, 999, (1000, 1000)).astype(np.uint16)
    turns, running = 0, True
    before = []

    def work():
        nonlocal running
        chain.encode(random)
        running = False

    thread = threading.Thread(target=work)
    thread.start()
    while running:
        turns += 1
        if turns == 100:
            before.append(running)
    thread.join()
    assert before == [True]


def test_handles_outlive_the_modules(tmp_path):
    """When the interpreter ends, handles may be freed after the library object of cffi."""
    script = tmp_path / "keeps.py"
    script.write_text(
        "import sys, zcodec, zcodec._ffi\n"
        "chain = zcodec.Chain(['bytes'], 'uint8', (4,), 0)\n"
        "class Keeper:\n"
        "    def __init__(self):\n"
        "        self.kept, self.itself = (chain, chain.plan()), self\n"
        "keeper = Keeper()\n"
        "sys.modules['zcodec._ffi'].lib = sys.modules['zcodec.coding'].lib = None\n"
        "for module in list(sys.modules.values()):\n"
        "    if getattr(module, '__name__', '').startswith('zcodec'):\n"
        "        vars(module).clear()\n"
        "import gc; gc.collect()\n"
        "del chain, keeper; gc.collect()\n"
    )
    for _ in range(3):
        run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_fork_while_threads_decode(chain, array):
    """A child of a process that is decoding on several threads decodes, on several threads."""
    encoded, stop = chain.encode(array), threading.Event()

    def work():
        while not stop.is_set():
            chain.decode(encoded, max_threads=2)

    threads = [threading.Thread(target=work) for _ in range(3)]
    [thread.start() for thread in threads]
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    found = chain.decode_many([encoded] * 4, max_threads=2)
                    status = 0 if all((each == array).all() for each in found) else 1
                finally:
                    os._exit(status)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        [thread.join() for thread in threads]


@pytest.mark.parametrize("dtype", [f"{order}{kind}8[{unit}]" for order in "<>" for kind in "Mm" for unit in ("3s", "generic", "2generic")])
@pytest.mark.filterwarnings("ignore:The 'generic' unit")
def test_times(dtype):
    """With and without a unit, in both byte orders."""
    counts = np.array([0, 1, -2, 100], dtype[0] + "i8")
    chain = Chain([{"name": "bytes", "configuration": {"endian": "big"}}], np.dtype(dtype), (4,))
    encoded = chain.encode(counts.view(dtype))
    assert encoded == counts.astype(">i8").tobytes()
    assert chain.dtype == np.dtype(dtype).newbyteorder("=")
    out = np.zeros(4, counts.dtype).view(dtype)  # numpy.zeros loses what it knows of times without a unit
    chain.decode(encoded, out=out)
    np.testing.assert_array_equal(out.view(counts.dtype), counts)
    np.testing.assert_array_equal(chain.decode(encoded, box=np.s_[::-2]).view("i8"), counts[::-2])
    same = Chain([{"name": "transpose", "configuration": {"order": [0]}}], np.dtype(dtype), (4,))
    for made in (same.encode(counts.view(dtype)), same.decode(counts.view(dtype))):
        np.testing.assert_array_equal(made.view("i8"), counts)


def test_handlers_of_signals_may_use_the_library(array):
    """One may run between any two instructions, also after a call has returned and before its results are read. Here a
    trace function does."""
    package = os.path.dirname(zcodec.__file__)
    checksum, other = Chain([CRC]), Chain([LITTLE, ZSTD], np.uint8, (700,), 0)

    def interrupt(frame, event, _):
        if not frame.f_code.co_filename.startswith(package):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            checksum.decode(checksum.encode(b"abc"))
            other.with_shape(3).encode(np.ones(3, np.uint8))
            with pytest.raises(Error):
                other.decode(b"x")
        return interrupt

    def calls():
        chain = Chain([sharded()], np.uint16, (64, 48), 0)
        encoded = chain.encode(array)
        yield chain.shape, chain.codecs, chain.with_shape((8, 8)).shape, chain.inner().shape, chain.encoded_bound()
        yield encoded
        yield chain.decode(encoded, box=np.s_[1, ::7]).tolist()
        yield [len(ranges) for ranges in _supplied(chain.plan(), encoded)]
        yield Chain([CRC]).encode(b"abcde"), bytes(checksum.decode(checksum.encode(b"abcde"), bytearray(100)))
        for wrong in (encoded[:-1], b""):
            with pytest.raises(Error) as failed:
                chain.decode(wrong)
            yield str(failed.value), failed.value.status

    expected, before = list(calls()), sys.gettrace()
    sys.settrace(interrupt)
    try:
        found = list(calls())
    finally:
        sys.settrace(before)
    assert found == expected


def _supplied(plan, encoded):
    for ranges in plan:
        yield ranges
        for i, (offset, size) in enumerate(ranges):
            plan.supply(i, encoded[-size:] if offset is None else encoded[offset : offset + size])


@pytest.mark.parametrize(
    ("box", "count"),
    [
        (np.s_[::32], 2 * 6), (np.s_[::-32, ::-24], 2 * 2), (np.s_[3, ::17], 3), (np.s_[::9, 5], 8),
        (np.s_[::12, 40:], 6), (np.s_[60::-20, -1], 4), (np.s_[::8, ::8], 8 * 6), (np.s_[0:0:20], 0),
    ],
)  # fmt: skip
def test_steps_leave_out_inner_chunks(array, box, count):
    chain = Chain([sharded((8, 8), [LITTLE, CRC])], np.uint16, (64, 48), 0)
    encoded = bytearray(chain.encode(array))
    plan = chain.plan(box)
    stages = list(_supplied(plan, encoded))
    assert sum(size for ranges in stages[1:] for _, size in ranges) == count * (8 * 8 * 2 + 4)
    np.testing.assert_array_equal(plan.result, array[box])
    expected = array[box]
    encoded[1 * 132 + 4] ^= 1  # of the inner chunk (0, 1)
    if count < 8:
        np.testing.assert_array_equal(chain.decode(encoded, box=box), expected)
        out = np.zeros_like(expected)
        chain.decode(encoded, out=out, box=box)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "out",
    [
        lambda x: x[7::-1], lambda x: x[8:0:-1], lambda x: x[7::2][:8], lambda x: x[6:14], lambda x: x[-2::-3],
        lambda x: x[:8],
    ],
)  # fmt: skip
def test_memory_that_is_read_is_not_written(out):
    chain, memory = Chain([LITTLE], np.uint16, (8,), 0), np.arange(24, dtype=np.uint16)
    before = memory.copy()
    for call in (
        lambda: chain.decode(memory[:8], out=out(memory)), lambda: chain.decode_many([memory[:8]], [out(memory)]),
        lambda: chain.encode_into(out(memory), memory[:8]), lambda: chain.encode_into(out(memory), memory[:12]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="share memory|overlap"):
            call()
    np.testing.assert_array_equal(memory, before)


def test_memory_of_others_may_lie_in_between():
    chain, memory = Chain([LITTLE], np.uint8, (2, 8), 0), np.arange(64, dtype=np.uint8).reshape(4, 16)
    expected = memory[1].reshape(2, 8).copy()
    chain.decode(memory[1], out=memory[::2, :8])
    np.testing.assert_array_equal(memory[::2, :8], expected)
    assert chain.encode_into(memory[::2, :8], memory[3]) == 16
    np.testing.assert_array_equal(memory[3].reshape(2, 8), expected)


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        ((4, 4), (2, 8), False), ((4, 4), (-8, 2), False), ((2, 2), (4, 6), False), ((2, 2), (6, 4), False),
        ((4, 4), (0, 2), True), ((4, 4), (2, 2), True), ((4, 4), (4, 6), True), ((4,), (1,), True), ((9,), (-1,), True),
        ((1, 4), (0, 2), False), ((0, 4), (0, 0), False), ((4, 4), (6, -2), True),
    ],
)  # fmt: skip
def test_elements_of_out_have_memory_of_their_own(shape, strides, overlaps):
    chain = Chain([LITTLE], np.uint16, shape, 0)
    values = np.arange(np.prod(shape), dtype=np.uint16).reshape(shape)
    encoded, memory = chain.encode(values), np.zeros(99, np.uint16)
    out = np.lib.stride_tricks.as_strided(memory[40:], shape, strides)
    if overlaps:
        for write in (lambda: chain.decode(encoded, out=out), lambda: chain.fill(out)):
            with pytest.raises(ValueError, match="elements of out share memory"):
                write()
        assert not memory.any()
    else:
        chain.decode(encoded, out=out)
        np.testing.assert_array_equal(out, values)


@pytest.mark.parametrize(
    ("data_type", "codes"), [("bfloat16", "u2"), ("float8_e4m3", "u1"), ("float8_e5m2", "u1"), ("r16", "u2")]
)
def test_integers_get_the_bits_of_types_that_numpy_lacks(data_type, codes):
    """Also in the other byte order, and with steps."""
    bits = np.array([0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C], codes)
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    chain = Chain([little], data_type, (6,), [0, 0] if data_type == "r16" else 0)
    encoded = chain.encode(bits)
    assert bytes(chain.encode(bits.astype(bits.dtype.newbyteorder(">")))) == bytes(encoded)
    for order in "<>":
        for box in (None, np.s_[::2], np.s_[::-1], np.s_[3]):
            expected = bits if box is None else bits[box]
            out = np.empty(expected.shape, bits.dtype.newbyteorder(order))
            chain.decode(encoded, out=out, box=box)
            np.testing.assert_array_equal(out, expected)
        out = np.empty(6, bits.dtype.newbyteorder(order))
        chain.decode_many([encoded], out=[out])
        np.testing.assert_array_equal(out, bits)


def test_fill_values_of_raw_bits_are_bytes_of_numpy():
    chain = Chain([{"name": "bytes"}], "r16", (2,), [1, 2])
    fill = np.zeros(1, chain.dtype)[0]
    assert Chain([{"name": "bytes"}], "r16", (2,), fill).input["fill_value"] == [0, 0]
    assert Chain([{"name": "bytes"}], "r16", (2,), b"ab").input["fill_value"] == [97, 98]


def test_structs_have_their_members_in_order():
    for offsets in ([4, 0], [0, 0]):
        dtype = np.dtype({"names": ["a", "b"], "formats": ["u4", "u4"], "offsets": offsets, "itemsize": 8})
        with pytest.raises(TypeError, match="back to back and in order"):
            Chain([{"name": "bytes"}], dtype, (2,))


def test_paths_have_no_nul():
    pad = {"name": "pad", "configuration": {"location": "start", "nbytes": 1}}
    with pytest.raises(ValueError, match="NUL"):
        Chain([{"name": "bytes"}, pad], "uint8", (2,)).set_padding("/1\0x", lambda chunk, padding: None)


def test_a_mapped_file_can_be_closed_after_an_error(tmp_path):
    """The traceback of an error keeps what the frames have."""
    arrays, checksum = Chain([LITTLE, CRC], "uint8", (4,), 0), Chain([CRC])
    shards = Chain([sharded()], np.uint16, (64, 48), 0)
    (tmp_path / "chunk").write_bytes(b"x" * 8)

    def planned(chunk):
        plan = arrays.plan()
        plan.supply_all([chunk for _ in plan.ranges])

    for call in (
        arrays.decode,
        lambda chunk: arrays.decode(chunk, box=np.s_[1:3]),
        lambda chunk: arrays.decode(chunk, out=np.zeros(4, "uint8")),
        lambda chunk: arrays.decode_many([chunk]),
        checksum.decode,
        lambda chunk: checksum.decode(chunk, bytearray(1)),
        lambda chunk: arrays.plan().supply(0, chunk),
        planned,
        lambda chunk: Index(shards, chunk),
        lambda chunk: checksum.encode_into(bytes(5), chunk),
        lambda chunk: arrays.decode_many([chunk, "no bytes"]),
        lambda chunk: checksum.encode_many([chunk]),
        lambda chunk: shards.decode(chunk, box=np.s_[::16]),
    ):
        with open(tmp_path / "chunk", "r+b") as file, pytest.raises((Error, TypeError, ValueError)) as caught:
            with mmap.mmap(file.fileno(), 0) as chunk:
                call(chunk)
        assert "cannot close" not in str(caught.value)
        # Nothing in the frames may look at memory that is gone.
        traceback.TracebackException.from_exception(caught.value, capture_locals=True)


def test_a_plan_goes_on_after_a_fetch_that_failed(array):
    chain = Chain([sharded()], np.uint16, (64, 48), 0)
    encoded = chain.encode(array)
    fetched = []

    async def fetch(part):
        fetched.append(part)
        if len(fetched) == 20:
            raise OSError("the network is down")
        return encoded[-part.size :] if part.offset is None else encoded[part.offset : part.offset + part.size]

    async def read():
        plan = chain.plan()
        with pytest.raises(OSError, match="the network"):
            await plan.read(fetch)
        return await plan.read(fetch)

    np.testing.assert_array_equal(asyncio.run(read()), array)
    assert len(set(fetched)) <= 1 + 48 < len(fetched)


def test_a_plan_is_not_complete_while_ranges_are_decoded():
    """Another thread that asks must not get the next stage, nor the result."""
    decoding, asked = threading.Event(), threading.Event()

    def check(chunk, padding):
        decoding.set()
        assert asked.wait(60)

    chain = Chain([LITTLE, {"name": "pad", "configuration": {"location": "end", "nbytes": 1}}], "uint8", (4,), 0)
    encoded = chain.encode(np.arange(4, dtype="uint8"))
    chain.set_padding(1, check=check)
    plan = chain.plan()
    assert len(plan.ranges) == 1
    supplying = threading.Thread(target=plan.supply, args=(0, encoded))
    supplying.start()
    try:
        assert decoding.wait(60)
        assert not plan.is_complete
        with pytest.raises(ValueError, match="missing"):
            plan.result  # noqa: B018
    finally:
        asked.set()
        supplying.join()
    assert plan.result.tolist() == [0, 1, 2, 3]


def test_numbers_of_ranges_that_do_not_exist():
    chain = Chain([LITTLE], "uint8", (4,), 0)
    plan = chain.plan()
    assert len(plan.ranges) == 1
    for number in (-1, 1, 2**63, 2**70, 1.5):
        with pytest.raises((IndexError, Error, TypeError)):
            plan.supply(number, bytes(4))
    plan.supply(np.int64(0), bytes(4))
    assert plan.result.tolist() == [0, 0, 0, 0]


def test_a_plan_that_has_ended_has_no_ranges(array):
    chain = Chain([LITTLE, CRC], np.uint16, (64, 48), 0)
    plan = chain.plan()
    assert len(plan.ranges) == 1
    with pytest.raises(Error, match="bytes"):
        plan.supply(0, b"")
    for ask in (lambda: plan.ranges, lambda: plan.result):
        with pytest.raises(Error, match="ended"):
            ask()


class Own(Chain):
    pass


def test_a_derived_class_stays_one():
    chain = Own(["bytes"], "uint8", (4,), 0)
    for copied in (pickle.loads(pickle.dumps(chain)), copy.deepcopy(chain), chain.with_shape((8,))):
        assert type(copied) is Own


def test_errors_keep_their_notes():
    chain = Chain(["bytes"], "uint8", (4,), 0)
    with pytest.raises(Error) as caught:
        chain.decode_many([bytes(4), b""])
    assert caught.value.__notes__ == ["chunk 1 of 2"]
    for copied in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert copied.__notes__ == ["chunk 1 of 2"] and copied.status is Status.CORRUPT_DATA


def test_configurations_may_have_numbers_of_numpy():
    zstd = {"name": "zstd", "configuration": {"level": np.int64(1), "checksum": np.bool_(True)}}
    assert Chain([LITTLE, zstd], "uint8", (4,), 0).codecs[1]["configuration"] == {"level": 1, "checksum": True}
    scaled = {"name": "scale_offset", "configuration": {"scale": np.longdouble(2), "offset": np.float32(0.5)}}
    assert Chain([scaled, LITTLE], "float64", (4,), 0).codecs[0]["configuration"] == {"scale": 2.0, "offset": 0.5}
    with pytest.raises(TypeError, match="JSON"):
        Chain([LITTLE, {"name": "zstd", "configuration": {"level": np.zeros(3)}}], "uint8", (4,), 0)
