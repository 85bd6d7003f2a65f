"""zarr-python's arrays through zcodec's pipeline."""

import asyncio
import errno
import gc
import multiprocessing
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import time
import tomllib
import warnings
from io import FileIO
from pathlib import Path

import numcodecs
import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

import zcodec
from zarr.abc.codec import ArrayArrayCodec
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import NDBuffer, cpu
from zarr.storage import LocalStore, LoggingStore, MemoryStore, StorePath, WrapperStore
from zcodec.zarr import (
    BitRound, CastValue, CodecPipeline, Conditional, FallbackWarning, N5Default, Offset, PackBits, Pad, Reshape,
    ScaleOffset, Squeeze, Zfp, stats,
)  # fmt: skip

OWN = "zarr.core.codec_pipeline.BatchedCodecPipeline"
OURS = "zcodec.zarr.CodecPipeline"
pytestmark = [
    pytest.mark.filterwarnings("error::zcodec.zarr.FallbackWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification"),
    pytest.mark.filterwarnings("ignore:.*sharding_indexed"),
]


@pytest.fixture(autouse=True)
def pipeline():
    stats.reset()
    with zarr.config.set({"codec_pipeline.path": OURS}):
        yield


class Waiting(WrapperStore):
    """A store that can only be waited for, and counts what is asked of it."""

    _supports_sync_io = False

    def __init__(self, store):
        super().__init__(store)
        self.sizes = []

    async def get(self, key, prototype, byte_range=None):
        await asyncio.sleep(0)
        found = await self._store.get(key, prototype, byte_range)
        if found is not None and not key.endswith("zarr.json"):
            self.sizes.append(len(found))
        return found


@pytest.fixture(params=["memory", "local", "one thread", "waiting"])
def store(request, tmp_path):
    made = {"memory": MemoryStore, "waiting": lambda: Waiting(MemoryStore())}.get(request.param, lambda: LocalStore(tmp_path))
    with zarr.config.set({"codec_pipeline.max_workers": 1} if request.param == "one thread" else {}):
        yield made()


LAYOUTS = {
    "plain": {"chunks": (20, 30)},
    "sharded": {"chunks": (10, 10), "shards": (40, 50)},
    "sharded_crc32c": {"chunks": (10, 10), "shards": (40, 50), "filters": [zarr.codecs.TransposeCodec(order=(1, 0))]},
    "uncompressed": {"chunks": (20, 30), "compressors": None},
    "version_2": {"chunks": (20, 30), "zarr_format": 2},
    "fortran": {"chunks": (20, 30), "zarr_format": 2, "order": "F"},
}
DTYPES = ["float32", ">i4", "M8[s]", "U5", "S3", "bool", "complex64"]


def some(dtype, shape=(107, 93)):
    numbers = np.random.default_rng(0).integers(0, 1000, shape)
    return numbers.view("M8[s]") if dtype == "M8[s]" else numbers.astype(dtype)


def read_by_zarr(array):
    with zarr.config.set({"codec_pipeline.path": OWN}):
        return zarr.open_array(array.store, path=array.path)[...]


SELECTIONS = [
    np.s_[:], np.s_[3:50, 7:90:3], np.s_[5], np.s_[5, 6], np.s_[:, 30], np.s_[40:80, 50:93], np.s_[100:, 90:], np.s_[9:9],
    np.s_[..., -1], np.s_[-1],
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reads_and_writes(store, layout):
    read_and_write(store, layout, "uint16")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_data_types(layout, dtype):
    read_and_write(MemoryStore(), layout, dtype)


def read_and_write(store, layout, dtype):
    expected = some(dtype)
    array = zarr.create_array(store, shape=expected.shape, dtype=expected.dtype, **LAYOUTS[layout])
    array[...] = expected
    for selection in SELECTIONS:
        np.testing.assert_array_equal(array[selection], expected[selection])
    rows, columns = [1, 50, 99], [2, 3, 80]
    np.testing.assert_array_equal(array.oindex[rows, 3:60], expected[rows, 3:60])
    np.testing.assert_array_equal(array.oindex[rows, columns], expected[np.ix_(rows, columns)])
    np.testing.assert_array_equal(array.oindex[5, columns], expected[5, columns])
    np.testing.assert_array_equal(array.vindex[rows, columns], expected[rows, columns])
    mask = expected == expected[3, 3]
    np.testing.assert_array_equal(array.get_mask_selection(mask), expected[mask])
    np.testing.assert_array_equal(read_by_zarr(array), expected)
    for selection, value in (
        (np.s_[10:33, 5], expected[0, 0]),
        (np.s_[50:60, 7:33], expected[:10, :26].copy()),
        (np.s_[0:90:7, 1], expected[0:90:7, 2].copy()),
        (np.s_[-1], expected[0].copy()),
        (np.s_[:40, :50], expected[40:80, 40:90].copy()),
    ):
        array[selection] = value
        expected[selection] = value
    array.oindex[[1, 50], [3, 9]] = expected[:2, :2].copy()
    expected[np.ix_([1, 50], [3, 9])] = expected[:2, :2].copy()
    array.vindex[[1, 50], [3, 9]] = expected[9, 8]
    expected[[1, 50], [3, 9]] = expected[9, 8]
    np.testing.assert_array_equal(array[...], expected)
    np.testing.assert_array_equal(read_by_zarr(array), expected)
    assert stats.coded and not stats.fallback


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reads_what_zarr_wrote(store, layout):
    expected = some("float32")
    with zarr.config.set({"codec_pipeline.path": OWN}):
        array = zarr.create_array(store, shape=expected.shape, dtype=expected.dtype, **LAYOUTS[layout])
        array[...] = expected
        array[3:60, :70] = expected[3:60, 20:90]
    expected[3:60, :70] = some("float32")[3:60, 20:90]
    np.testing.assert_array_equal(zarr.open_array(store)[...], expected)
    assert stats.decoded and not stats.fallback


@pytest.mark.parametrize(("zarr_format", "shards"), [(2, None), (3, None), (3, (8, 8))])
def test_a_fill_value_that_cannot_be_encoded_is_not_needed_beyond_the_edge(zarr_format, shards):
    scaled = {"offset": 273.15, "scale": 100, "dtype": "<f4", "astype": "<i2"}
    if zarr_format == 2:
        filters = [numcodecs.FixedScaleOffset(**scaled)]
    else:
        filters = [pytest.importorskip("zarr.codecs.numcodecs").FixedScaleOffset(**scaled)]
    array = zarr.create_array(
        MemoryStore(), shape=(10, 9), chunks=(4, 4), shards=shards, dtype="float32",
        zarr_format=zarr_format, filters=filters, compressors=None, fill_value=np.nan,
    )  # fmt: skip
    expected = np.arange(90, dtype=np.float32).reshape(10, 9) + 280
    array[...] = expected
    np.testing.assert_array_equal(array[...], expected)
    array[9:, 8:] = 7  # the last chunk, which is stored now
    expected[9, 8] = 7
    with zarr.config.set({"codec_pipeline.path": OWN}):
        np.testing.assert_array_equal(zarr.open_array(array.store)[...], expected)
    assert not stats.fallback
    with pytest.raises(zcodec.Error, match="is NaN") as caught:
        array[0, 0] = np.nan
    assert caught.value.status is zcodec.Status.OUT_OF_RANGE
    empty = zarr.create_array(
        MemoryStore(), shape=(8,), chunks=(8,), dtype="float32", zarr_format=zarr_format, filters=filters,
        compressors=None, fill_value=np.nan,
    )  # fmt: skip
    with pytest.raises(zcodec.Error, match="is NaN"):
        empty[:6] = 280  # nobody has given the others


def test_missing_chunks_and_fill_values(store):
    array = zarr.create_array(store, shape=(100,), chunks=(10,), dtype="int32", fill_value=7)
    np.testing.assert_array_equal(array[...], np.full(100, 7))
    array[25:35] = 1
    assert array.nchunks_initialized == 2
    array[20:40] = 7
    assert array.nchunks_initialized == 0
    kept = zarr.create_array(
        MemoryStore(), shape=(100,), chunks=(10,), dtype="int32", fill_value=7, config={"write_empty_chunks": True}
    )
    kept[...] = 7
    assert kept.nchunks_initialized == 10


@pytest.mark.parametrize("dtype", ["int32", "float32", "U3", "datetime64[s]"])
def test_without_a_fill_value_no_chunk_is_left_out(dtype):
    """zarr-python takes 0 and the like for the fill value where there is none."""
    values = np.full(4, "NaT", dtype) if dtype == "datetime64[s]" else np.zeros(4, dtype)
    found = {}
    for pipeline in (OWN, OURS):
        with zarr.config.set({"codec_pipeline.path": pipeline}):
            array = zarr.create_array(
                MemoryStore(), shape=(4,), chunks=(2,), dtype=dtype, zarr_format=2, fill_value=None,
                config={"write_empty_chunks": False},
            )  # fmt: skip
            array[...] = values
            np.testing.assert_array_equal(array[...], values)
            found[pipeline] = array.nchunks_initialized
    assert found == {OWN: 0, OURS: 2}


@pytest.mark.parametrize(
    ("codec", "dtype", "shape", "order"),
    [
        (numcodecs.BitRound(8), "float16", (4, 6), "F"), (numcodecs.BitRound(10), "float32", (4, 6), "F"),
        (numcodecs.BitRound(10), "float64", (4, 6, 5), "F"), (numcodecs.Quantize(2, ">f4"), ">f4", (), "C"),
        (numcodecs.Quantize(2, ">f8"), ">f8", (), "C"),
    ],
)  # fmt: skip
def test_filters_of_which_zarr_stores_other_values(codec, dtype, shape, order):
    values = (np.arange(np.prod(shape, dtype=int)) % 50 + 1).reshape(shape).astype(dtype)
    for pipeline in (OWN, OURS):
        with zarr.config.set({"codec_pipeline.path": pipeline}):
            array = zarr.create_array(
                MemoryStore(), shape=shape, chunks=shape, dtype=dtype, zarr_format=2, order=order, filters=[codec],
                compressors=None,
            )  # fmt: skip
            array[...] = values
        for reader in (OWN, OURS):
            with zarr.config.set({"codec_pipeline.path": reader}):
                assert np.array_equal(zarr.open_array(array.store, mode="r")[...], values) == (pipeline == OURS)


@pytest.mark.parametrize("chunks", [(1, 2), (2, 1), (2, 3)])
def test_shards_keep_elements_beyond_the_array(store, chunks):
    array = zarr.create_array(store, shape=(4, 6), chunks=chunks, shards=(4, 6), dtype="int16")
    array[...] = expected = some("int16", (4, 6))
    array.resize((3, 5))
    array[...] = 9
    array.resize((4, 6))
    expected[:3, :5] = 9
    np.testing.assert_array_equal(array[...], expected)


def test_a_part_of_a_shard_reads_less(tmp_path):
    store = Waiting(MemoryStore())
    expected = np.random.default_rng(1).integers(0, 60000, (256, 256)).astype(np.uint16)
    array = zarr.create_array(store, shape=expected.shape, dtype="uint16", chunks=(16, 16), shards=(256, 256))
    array[...] = expected
    whole = expected.nbytes
    store.sizes.clear()
    np.testing.assert_array_equal(array[20:30, 100:110], expected[20:30, 100:110])
    assert sum(store.sizes) < whole / 10
    store.sizes.clear()
    np.testing.assert_array_equal(array.vindex[[3, 200], [5, 222]], expected[[3, 200], [5, 222]])
    assert sum(store.sizes) < whole / 10


@pytest.fixture
def no_ranges(monkeypatch):
    """Later versions of zarr-python have stores that join ranges, with larger gaps."""
    for store in ("zarr.abc.store.Store", "zarr.storage.WrapperStore"):
        monkeypatch.delattr(f"{store}.get_ranges", raising=False)


@pytest.mark.parametrize(
    ("box", "count"), [(np.s_[::8], 4), (np.s_[5::9, :10], 3), (np.s_[::31, 3], 2), (np.s_[::2, ::7], 16)]
)
def test_steps_over_inner_chunks_read_less(no_ranges, box, count):
    store = Waiting(MemoryStore())
    expected = np.random.default_rng(1).integers(0, 256, (32, 1 << 17)).astype(np.uint8)
    array = zarr.create_array(
        store, shape=expected.shape, dtype="uint8", chunks=(1, 1 << 17), shards=expected.shape,
        compressors=[zarr.codecs.Crc32cCodec()],
    )  # fmt: skip
    array[...] = expected
    store.sizes.clear()
    np.testing.assert_array_equal(array[box], expected[box])
    assert store.sizes == [16 * 32 + 4] + [(1 << 17) + 4] * count


FILL = {"scale_offset": 5, "int4": 500}  # what comes back
CODECS = {
    "packbits": ({"serializer": PackBits()}, "bool"),
    "packbits_bits": ({"serializer": PackBits(first_bit=0, last_bit=9)}, "uint16"),
    "zfp": ({"serializer": Zfp(mode="reversible")}, "float32"),
    "pad": ({"compressors": [Pad("start", 4, b"abcd")]}, "uint16"),
    "offset": ({"compressors": [Offset(6, b"abcdef")]}, "uint16"),
    "reshape": ({"filters": [Reshape([[0, 1]])]}, "uint16"),
    "scale_offset": ({"filters": [ScaleOffset(offset=5, scale=2)]}, "int32"),
    "cast_value": ({"filters": [CastValue("int32")]}, "int16"),
    "int4": ({"filters": [ScaleOffset(offset=500), CastValue("int4", out_of_range="wrap")], "serializer": PackBits()}, "int64"),
    "bitround": ({"filters": [BitRound(10)]}, "float32"),
    "sharded": ({"shards": (40, 60), "serializer": PackBits()}, "bool"),
    "conditional": ({"compressors": [Conditional([zarr.codecs.ZstdCodec(), "crc32c"], header_bits=16)]}, "uint16"),
    "conditional_sharded": ({"shards": (40, 60), "compressors": [Conditional(["zstd"])]}, "uint16"),
}  # fmt: skip


@pytest.mark.parametrize("name", CODECS)
def test_arrays_can_be_created_with_our_codecs(store, name):
    arguments, dtype = CODECS[name]
    array = zarr.create_array(store, shape=(100, 90), chunks=(20, 30), dtype=dtype, fill_value=FILL.get(name, 0), **arguments)
    values = np.arange(9000).reshape(100, 90) % 1000
    expected = (500 + values % 8 if name == "int4" else values).astype(dtype)
    array[...] = expected
    again = zarr.open_array(store)
    assert again.metadata.to_dict()["codecs"] == array.metadata.to_dict()["codecs"]
    if name == "bitround":
        np.testing.assert_allclose(again[...], expected, rtol=2**-10)
    else:
        np.testing.assert_array_equal(again[...], expected)
        np.testing.assert_array_equal(again[3:50, 7], expected[3:50, 7])
    np.testing.assert_array_equal(read_by_zarr(array), again[...])
    assert stats.coded and not stats.fallback
    for codec in (array.filters + array.compressors + (array.serializer,)):
        assert pickle.loads(pickle.dumps(codec)) == codec


NAN = float("nan")


@pytest.mark.parametrize(
    ("codec", "configuration"),
    [
        (Zfp(mode="fixed_rate", rate=np.float32(8)), {"mode": "fixed_rate", "rate": 8}),
        (PackBits(first_bit=np.int64(0), last_bit=np.uint8(3)), {"first_bit": 0, "last_bit": 3}),
        (CastValue(np.dtype(">i2")), {"data_type": "int16"}), (CastValue(np.float32), {"data_type": "float32"}),
        (CastValue("uint8", scalar_map={"encode": [(NAN, np.int8(0))], "decode": np.array([[0.0, np.nan]])}),
         {"data_type": "uint8", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0.0, "NaN"]]}}),
        (ScaleOffset(offset=np.float32(0.5), scale=np.int8(2)), {"offset": 0.5, "scale": 2}),
        (BitRound(np.array([4])[0]), {"keepbits": 4}), (Reshape(np.array([2, -1])), {"shape": [2, -1]}),
        (Reshape(((0, 1), 3)), {"shape": [[0, 1], 3]}),
        (Pad("end", np.int64(3), np.frombuffer(b"abc", np.uint8)), {"location": "end", "nbytes": 3, "padding": "YWJj"}),
        (Offset(np.int64(3), bytearray(b"abc")), {"offset": 3, "prefix": "YWJj"}),
        (Conditional((zarr.codecs.Crc32cCodec(), "gzip"), np.uint8(16)),
         {"codecs": [{"name": "crc32c"}, "gzip"], "header_bits": 16}),
    ],
    ids=repr,
)  # fmt: skip
def test_options_may_be_of_numpy(codec, configuration):
    assert codec.configuration == configuration
    assert type(codec).from_dict(codec.to_dict()) == codec
    assert pickle.loads(pickle.dumps(codec)) == codec


@pytest.mark.parametrize("pipeline", [OURS, OWN])
@pytest.mark.parametrize("shards", [None, (8, 8)])
@pytest.mark.parametrize(
    ("codecs", "says"),
    [
        ({"serializer": Zfp(mode="fixed_accuracy", tolerance=NAN)}, 'codec "zfp": tolerance is "NaN"'),
        ({"serializer": Zfp(mode="fixed_rat", rate=8)}, 'codec "zfp": mode is "fixed_rat"'),
        ({"serializer": Zfp(mode="reversible", rate=8)}, 'codec "zfp": .*"rate"'),
        ({"serializer": PackBits(padding_encoding="first")}, 'codec "packbits": padding_encoding is "first"'),
        ({"serializer": PackBits(first_bit=-1)}, 'codec "packbits": first_bit is -1'),
        ({"filters": [CastValue("int77")]}, 'codec "cast_value": data_type "int77"'),
        ({"filters": [CastValue("int8", rounding="up")]}, 'codec "cast_value": rounding is "up"'),
        ({"filters": [ScaleOffset(offset="x")]}, 'codec "scale_offset": offset is "x"'),
        ({"filters": [ScaleOffset(scale=NAN)]}, 'codec "scale_offset": scale is "NaN"'),
        ({"filters": [BitRound(-1)]}, 'codec "bitround": keepbits is -1'),
        ({"compressors": [Pad("middle", 3)]}, 'codec "pad": location is "middle"'),
        ({"compressors": [Offset(3, "?")]}, 'codec "offset": prefix is not base64'),
        ({"compressors": [Conditional(["crc32c"], header_bits=7)]}, 'codec "conditional": header_bits is 7'),
        ({"compressors": [Conditional(["bytes"])]}, 'codec "conditional": codecs'),
    ],
)
def test_wrong_options_make_no_array(pipeline, shards, codecs, says):
    """Whatever the data type of the array is: another codec may change it before this one."""
    for dtype in ("float32", "uint8", str):
        store = MemoryStore()
        with zarr.config.set({"codec_pipeline.path": pipeline}), pytest.raises(zcodec.Error, match=says):
            zarr.create_array(store, shape=(8, 8), chunks=(4, 4), shards=shards, dtype=dtype, **codecs)
        assert not store._store_dict


def test_options_that_are_no_json():
    for says, make in (
        ("codec 'scale_offset': offset is <object", lambda: ScaleOffset(offset=object())),
        ("codec 'cast_value': scalar_map is .*encode", lambda: CastValue("int8", scalar_map={"encode": {1}})),
        ("codec 'bitround': keepbits is .*datetime", lambda: BitRound(np.datetime64("2020", "D"))),
    ):
        with pytest.raises(TypeError, match=f"{says}.*: expected a number"):
            make()


def test_equal_codecs_have_equal_hashes():
    for one, same in (
        (Zfp(mode="fixed_rate", rate=8), Zfp(rate=8.0, mode="fixed_rate")), (ScaleOffset(offset=1), ScaleOffset(offset=True)),
        (ScaleOffset(offset=NAN), ScaleOffset(offset=np.nan)),
    ):  # fmt: skip
        assert one == same and hash(one) == hash(same)
    assert len({Pad("end", 3), Pad("end", 4), Offset(3)}) == 3


def test_squeeze_and_n5():
    array = zarr.create_array(MemoryStore(), shape=(10, 1, 9), chunks=(5, 1, 9), dtype="int16", filters=[Squeeze()])
    array[...] = np.arange(90).reshape(10, 1, 9)
    np.testing.assert_array_equal(array[3:7, 0], np.arange(90).reshape(10, 9)[3:7])
    assert Squeeze().to_dict() == {"name": "zarrs.squeeze"}
    assert Squeeze.from_dict({"name": "squeeze"}) == Squeeze()  # as zcodec 0.1 wrote it
    n5 = N5Default([zarr.codecs.TransposeCodec(order=(1, 0)), zarr.codecs.BytesCodec(endian="big"), zarr.codecs.GzipCodec()])
    array = zarr.create_array(MemoryStore(), shape=(10, 9), chunks=(5, 9), dtype="int16", serializer=n5, compressors=None)
    array[...] = np.arange(90).reshape(10, 9)
    np.testing.assert_array_equal(array[...], np.arange(90).reshape(10, 9))
    assert not stats.fallback


@pytest.mark.parametrize("pipeline_of_writer", [OURS, OWN])
@pytest.mark.parametrize("shards", [None, (200,)])
def test_conditional_compresses_the_chunks_that_become_smaller(pipeline_of_writer, shards):
    codec, store = Conditional([zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()]), MemoryStore()
    expected = np.concatenate([np.arange(100) // 50, np.random.default_rng(1).integers(0, 256, 100)]).astype("uint8")
    with zarr.config.set({"codec_pipeline.path": pipeline_of_writer}):
        array = zarr.create_array(
            store, shape=(200,), chunks=(100,), shards=shards, dtype="uint8", compressors=[codec], fill_value=9
        )
        array[...] = expected
    for pipeline in (OURS, OWN):
        with zarr.config.set({"codec_pipeline.path": pipeline}):
            np.testing.assert_array_equal(zarr.open_array(store)[...], expected)
    if shards is None:
        small, noise = (store._store_dict[f"c/{i}"].to_bytes() for i in range(2))
        assert small[0] == 0b11 and len(small) < 50
        assert noise == b"\0" + expected[100:].tobytes()


def test_what_is_not_supported_falls_back_with_one_warning():
    array = zarr.create_array(MemoryStore(), shape=(6,), chunks=(3,), dtype=str)
    with pytest.warns(FallbackWarning, match="variable size"):
        array[...] = np.array(list("abcdef"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(array[...]) == list("abcdef")
    assert stats.coded == 0
    assert stats.fallback.total() == 4


def test_what_falls_back_keeps_no_memory_of_calls():
    array = zarr.create_array(MemoryStore(), shape=(6,), chunks=(3,), dtype=str)
    with pytest.warns(FallbackWarning):
        array[...] = np.array(list("abcdef"))

    def buffers():
        gc.collect()
        return sum(isinstance(item, NDBuffer) for item in gc.get_objects())

    array[...]
    before = buffers()
    for _ in range(10):
        array[...]
        array[2:5] = "z"
    assert buffers() <= before


@pytest.mark.parametrize("codecs", [{}, {"filters": [ScaleOffset(scale=2)]}, {"serializer": Zfp("reversible")}])
def test_what_lies_under_a_mask_is_stored(codecs):
    """As by zarr-python 3.1."""
    values = np.ma.masked_less(np.arange(8, dtype=np.int32), 5)
    array = zarr.create_array(MemoryStore(), shape=(8,), chunks=(4,), dtype="int32", **codecs)
    array[...] = values
    array[1:3] = values[:2]
    np.testing.assert_array_equal(array[...], [0, 0, 1, 3, 4, 5, 6, 7])


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(
    "value",
    [np.ma.masked, np.ma.masked_all(5, "f4").mean(), np.ma.array(np.float32(83), mask=True), np.ma.array([7], mask=[1])],
)
def test_a_masked_element_is_stored_as_by_zarr(dtype, value):
    def written(pipeline, selection):
        zarr.config.set({"codec_pipeline.path": pipeline})
        array = zarr.create_array(MemoryStore(), shape=(4,), chunks=(2,), dtype=dtype, fill_value=-1)
        try:
            array[selection] = value
        except (np.ma.MaskError, ValueError) as error:
            return repr(error)
        return array[...].tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for selection in (1, slice(1, 2), slice(1, 3), slice(None)):
            np.testing.assert_equal(written(OURS, selection), written(OWN, selection))


@pytest.mark.parametrize("selection", [0, slice(None)])
def test_a_masked_struct_is_stored_as_by_zarr(selection):
    def written(pipeline):
        zarr.config.set({"codec_pipeline.path": pipeline})
        dtype = [("a", "i2"), ("b", [("c", "f4"), ("d", "u1")])]
        array = zarr.create_array(MemoryStore(), shape=(3,), chunks=(2,), dtype=dtype)
        array[...] = np.ones(3, dtype)
        array[selection] = np.ma.masked
        return array[...].tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert written(OURS) == written(OWN)


@pytest.mark.parametrize("dtype", ["<U3", [("a", "i2"), ("b", "f4")]])
def test_types_without_a_specification_cause_no_warning_after_the_array_is_created(dtype):
    store = MemoryStore()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.create_array(store, shape=(4,), chunks=(2,), dtype=dtype)
        zarr.config.set({"codec_pipeline.path": OURS})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array = zarr.open_array(store)
        array[:] = np.ones(4, dtype)
        assert array[:].tolist() == np.ones(4, dtype).tolist()


def test_elements_that_are_read_are_not_masked():
    array = zarr.create_array(MemoryStore(), shape=(6,), chunks=(4,), dtype="int32")
    array[:4] = [1, 2, 3, 4]
    out = np.ma.masked_all(6, "int32")
    with pytest.warns(FallbackWarning, match="would stay masked"):
        found = array.get_basic_selection(..., out=cpu.NDBuffer.from_ndarray_like(out))
    assert not np.ma.is_masked(found)
    np.testing.assert_array_equal(found, [1, 2, 3, 4, 0, 0])


def test_members_of_a_struct_may_have_any_byte_order():
    """zarr-python 3.1 stores those that are not native with their bytes swapped."""
    values = np.array([(1, 2.5), (3, 4.5)], [("a", ">i2"), ("b", "<f4")])
    array = zarr.create_array(MemoryStore(), shape=(2,), chunks=(2,), dtype=values.dtype)
    array[...] = values
    np.testing.assert_array_equal(zarr.open_array(array.store)[...].astype(values.dtype), values)


class Foreign(zarr.codecs.BytesCodec):
    """The name of a codec of zarr-python, and other bytes."""


Foreign.__module__ = "somewhere.else"


def test_codecs_of_other_packages_are_their_own():
    with pytest.warns(FallbackWarning, match="somewhere.else"):
        array = zarr.create_array(MemoryStore(), shape=(6,), chunks=(3,), dtype="uint8", serializer=Foreign())
        array[...] = 1


class Flipped(zarr.codecs.Crc32cCodec):
    """A codec that has the name of a known one, and does something else."""

    async def _decode_single(self, encoded, spec):
        return await super()._decode_single(flipped(encoded), spec)

    async def _encode_single(self, decoded, spec):
        encoded = await super()._encode_single(decoded, spec)
        return None if encoded is None else flipped(encoded)


def flipped(encoded):
    return type(encoded).from_bytes(bytes(byte ^ 1 for byte in encoded.to_bytes()))


Flipped.__module__ = "somewhere.else"


@pytest.mark.parametrize("place", ["codecs", "index_codecs", "shards in shards"])
def test_codecs_of_other_packages_inside_shards_are_their_own(place):
    little, own = [zarr.codecs.BytesCodec()], [zarr.codecs.BytesCodec(), Flipped()]
    codecs = {"index_codecs": little, "codecs": own}
    if place == "index_codecs":
        codecs = {"index_codecs": own, "codecs": little}
    shards = zarr.codecs.ShardingCodec(chunk_shape=(2,), **codecs)
    if place == "shards in shards":
        shards = zarr.codecs.ShardingCodec(chunk_shape=(4,), codecs=[shards], index_codecs=little)
    stored = []
    for path in (OWN, OURS):
        store = MemoryStore()
        with zarr.config.set({"codec_pipeline.path": path, "codecs.crc32c": "somewhere.else.Flipped"}):
            zarr.registry.register_codec("crc32c", Flipped)
            array = zarr.create_array(store, shape=(8,), chunks=(8,), dtype="uint8", serializer=shards, compressors=None)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                array[...] = np.arange(8)
                assert np.array_equal(zarr.open_array(store)[...], np.arange(8))
        assert (path == OURS) == any("somewhere.else.Flipped" in str(each.message) for each in caught)
        stored.append(store._store_dict["c/0"].to_bytes())
    assert stored[0] == stored[1]


@pytest.mark.parametrize("layout", ["plain", "sharded"])
def test_damaged_chunks_are_errors(layout):
    store = MemoryStore()
    array = zarr.create_array(store, shape=(40, 50), dtype="uint16", compressors=[zarr.codecs.ZstdCodec(checksum=True)], **{"plain": {"chunks": (40, 50)}, "sharded": LAYOUTS["sharded"]}[layout])  # fmt: skip
    array[...] = some("uint16", (40, 50))
    key = next(key for key in store._store_dict if key.startswith("c/"))
    damaged = bytearray(store._store_dict[key].to_bytes())
    damaged[10:14] = b"\xff\xff\xff\xff"
    store._store_dict[key] = zarr.core.buffer.cpu.Buffer.from_bytes(bytes(damaged))
    with pytest.raises(zcodec.Error, match="zstd"):
        array[...]


def notes(caught):
    return "; ".join(caught.value.__notes__)


@pytest.mark.parametrize("layout", ["plain", "sharded"])
def test_errors_name_the_chunk(store, layout):
    array = zarr.create_array(store, name="images/a", shape=(107, 93), dtype="uint16", **LAYOUTS[layout])
    array[...] = some("uint16")
    key = array.metadata.encode_chunk_key((2, 1))
    path = f"{array.store_path}/{key}"
    asyncio.run(array.store.set(f"images/a/{key}", zarr.core.buffer.cpu.Buffer.from_bytes(b"damaged")))
    at = (slice(81, 89), slice(51, 59)) if layout == "sharded" else (slice(41, 49), slice(31, 39))
    for call in (
        lambda: array[...], lambda: array[at], lambda: array.vindex[[0, at[0].start], [0, at[1].start]],
        lambda: array.__setitem__(at, 7), lambda: array.oindex.__setitem__(([at[0].start, at[0].stop], at[1]), 7),
    ):  # fmt: skip
        with pytest.raises(zcodec.Error) as caught:
            call()
        assert notes(caught) == f"chunk {path}"


def test_errors_of_encoding_name_the_chunk(store):
    array = zarr.create_array(store, shape=(20,), chunks=(5,), dtype="float32", filters=[CastValue("uint8")])
    values = np.zeros(20, np.float32)
    values[[7, 19]] = 300
    with pytest.raises(zcodec.Error, match="300") as caught:
        array[...] = values
    assert notes(caught) == f"chunk {array.store_path}/c/1, and 1 other"


def _sum_in_another_process(pickled):
    array = pickle.loads(pickled)
    return int(array[...].sum()), zarr.config.get("codec_pipeline.path"), type(array._async_array.codec_pipeline).__name__


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_other_processes(tmp_path, monkeypatch, method):
    """Arrays are pickled by their metadata; a new process finds the pipeline by the environment."""
    array = zarr.create_array(LocalStore(tmp_path), shape=(100, 100), chunks=(30, 30), shards=(60, 60), dtype="int64")
    array[...] = np.arange(10000).reshape(100, 100)
    monkeypatch.setenv("ZARR_CODEC_PIPELINE__PATH", OURS)
    with multiprocessing.get_context(method).Pool(1) as pool:
        total, path, name = pool.apply(_sum_in_another_process, (pickle.dumps(array),))
    assert (total, path, name) == (49995000, OURS, "CodecPipeline")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_fork_while_a_thread_counts():
    """The child does not wait for a lock that nobody in it holds."""
    held, stop = threading.Event(), threading.Event()

    def count():
        with stats._lock:
            held.set()
            stop.wait()

    thread = threading.Thread(target=count)
    thread.start()
    held.wait()
    try:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(10)  # ends a child that waits
                stats.add(decoded=1)
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_the_pipeline_pickles():
    array = zarr.create_array(MemoryStore(), shape=(10,), chunks=(5,), dtype="int8")
    array[...] = 1
    pipeline = array._async_array.codec_pipeline
    assert isinstance(pipeline, CodecPipeline)
    assert pickle.loads(pickle.dumps(pipeline)) == pipeline


def test_large_requests_overlap_fetching_and_decoding(store, monkeypatch):
    from zcodec.zarr import read, write

    for module in (read, write):
        monkeypatch.setattr(module, "WINDOW", 10_000)
    expected = some("uint16", (1000, 200))
    array = zarr.create_array(store, shape=expected.shape, dtype="uint16", chunks=(50, 50))
    array[...] = expected
    np.testing.assert_array_equal(array[...], expected)
    key = array.metadata.encode_chunk_key((7, 1))
    asyncio.run(array.store.set(key, zarr.core.buffer.cpu.Buffer.from_bytes(b"damaged")))
    with pytest.raises(zcodec.Error):
        array[...]


def test_an_error_is_not_hidden_by_what_is_cancelled_because_of_it():
    from zcodec.zarr.read import raise_failed, settle

    async def fails():
        raise ValueError("damaged")

    async def run():
        tasks = [asyncio.create_task(asyncio.sleep(60)), asyncio.create_task(fails())]
        await asyncio.sleep(0.01)
        await settle(tasks)
        raise_failed(tasks)

    with pytest.raises(ValueError, match="damaged"):
        asyncio.run(run())


class Cancelling(WrapperStore):
    """Cancels the write of one chunk."""

    _supports_sync_io = False

    async def set(self, key, value):
        if key == "c/1":
            raise asyncio.CancelledError
        await self._store.set(key, value)


async def test_a_write_that_a_store_cancels_is_no_success():
    array = await zarr.api.asynchronous.create_array(Cancelling(MemoryStore()), shape=(6,), chunks=(2,), dtype="uint8")
    with pytest.raises(asyncio.CancelledError):
        await array.setitem(..., 1)


def test_own_codec_classes_in_zarrs_pipeline(store):
    with zarr.config.set({"codec_pipeline.path": OWN}):
        array = zarr.create_array(
            store, shape=(100, 90), chunks=(20, 30), dtype="float64",
            filters=[Reshape([[0, 1]]), CastValue("float32")], serializer=Zfp(mode="reversible"),
            compressors=[Pad("end", 3, b"abc")],
        )  # fmt: skip
        expected = np.arange(9000.0).reshape(100, 90)
        array[...] = expected
        np.testing.assert_array_equal(array[...], expected)
    np.testing.assert_array_equal(zarr.open_array(store)[...], expected)
    assert issubclass(Reshape, ArrayArrayCodec)


# zarr 3.0 has no zarr.dtype.
TOO_OLD = f"needs zarr 3.1 or later, and this is {zarr.__version__}; pip install --upgrade zarr"
OLD_LIBRARY = "sys.modules['zcodec._declarations'] = types.SimpleNamespace(ffi=types.SimpleNamespace(dlopen=lambda _: 1, NULL=0))"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("", None),
        ("sys.modules['zarr.dtype'] = None", TOO_OLD),
        ("ctypes.CDLL = lambda _: open('/missing/library')", "No such file or directory"),
        (OLD_LIBRARY, "has no attribute"),
    ],
)
def test_the_entry_point_stops_no_other_pipeline(spoil, says):
    """zarr-python loads it whenever an array is opened."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    module, name = project["entry-points"]["zarr.codec_pipeline"]["zcodec"].split(":")
    script = (
        "import ctypes, sys, types, warnings, zarr, zarr.core.codec_pipeline, zarr.registry\n"
        f"{spoil}\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        f"    from {module} import {name} as found\n"
        "print(found.__module__, *[str(each.message) for each in caught if 'zcodec' in str(each.message)])\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    if says is None:
        assert out == "zcodec.zarr"
    else:
        assert out.startswith("zarr.core.codec_pipeline zcodec.zarr.CodecPipeline is missing, other pipelines work: ")
        assert says in out


async def test_arrays_are_written_and_read_while_an_exception_is_handled():
    array = await zarr.api.asynchronous.create_array(Waiting(MemoryStore()), shape=(64,), chunks=(8,), dtype="u1")
    try:
        {}["missing"]
    except KeyError:
        await array.setitem(..., np.arange(64, dtype="u1"))
        found = await array.getitem(...)
    assert (found == np.arange(64)).all()
    assert (await array.getitem(...) == np.arange(64)).all()


class Slow(WrapperStore):
    """Counts the requests for chunks that are under way. The one number `fails` raises, and all later ones wait."""

    _supports_sync_io = False
    fails = None

    def __init__(self, store):
        super().__init__(store)
        self.running = self.most = self.count = 0

    async def get(self, key, prototype, byte_range=None):
        if key.endswith("zarr.json"):
            return await self._store.get(key, prototype, byte_range)
        self.count += 1
        number = self.count
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(60 if self.fails is not None and number > self.fails else 0.001)
            if number == self.fails:
                raise ConnectionError("this request failed")
            return await self._store.get(key, prototype, byte_range)
        finally:
            self.running -= 1


async def slow_array():
    """An array whose inner chunks are too far apart to be read in one request, if every second one is."""
    array = await zarr.api.asynchronous.create_array(
        Slow(MemoryStore()), shape=(32, 1 << 17), chunks=(1, 1 << 17), shards=(16, 1 << 17), dtype="uint8",
        compressors=None,
    )  # fmt: skip
    await array.setitem(..., 1 + np.arange(32, dtype=np.uint8)[:, None])
    array.store.most = array.store.count = 0
    return array


async def test_parts_of_shards_are_asked_for_within_the_limit(no_ranges):
    array = await slow_array()
    with zarr.config.set({"async.concurrency": 3}):
        found = await array.getitem((slice(0, 32, 3), slice(0, 5)))
    np.testing.assert_array_equal(found[:, 0], np.arange(1, 33, 3))
    assert array.store.count == 2 + 11 and array.store.most == 3


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("cancel", [False, True])
async def test_no_request_outlives_its_call(no_ranges, write, cancel):
    array = await slow_array()
    array.store.fails = 0 if cancel else 1 if write else 4
    before = asyncio.all_tasks()
    selection = (slice(0, 32, 3), slice(0, 5))
    call = asyncio.create_task(array.setitem(selection, 1) if write else array.getitem(selection))
    if cancel:
        await asyncio.sleep(0.05)
        assert array.store.running
        call.cancel()
    with pytest.raises(asyncio.CancelledError if cancel else ConnectionError):
        await call
    assert array.store.running == 0
    assert asyncio.all_tasks() - {call} == before


class Inverted(MemoryStore):
    """Keeps chunks with all bits flipped. Its synchronous methods, which it inherits, do not know that."""

    async def get(self, key, prototype=None, byte_range=None):
        return self.flipped(key, await super().get(key, prototype, byte_range))

    async def set(self, key, value, byte_range=None):
        await super().set(key, self.flipped(key, value), byte_range)

    @staticmethod
    def flipped(key, value):
        if value is None or key.endswith("zarr.json"):
            return value
        return type(value).from_bytes(bytes(~np.frombuffer(value.to_bytes(), np.uint8)))


@pytest.mark.parametrize("wrappers", [[], [WrapperStore], [WrapperStore, LoggingStore]])
def test_what_stores_do_asynchronously_is_done_inside_wrappers(wrappers):
    store, expected = Inverted(), np.arange(10, dtype="uint8")
    outer = store
    for wrapper in wrappers:
        outer = wrapper(outer)
    array = zarr.create_array(outer, shape=(10,), chunks=(5,), dtype="uint8", compressors=None)
    array[...] = expected
    np.testing.assert_array_equal(array[...], expected)
    assert store._store_dict["c/0"].to_bytes() == bytes(~expected[:5])


class Doubled(MemoryStore):
    """Keeps no chunks: they are those of another array, with all elements doubled."""

    def __init__(self, array):
        super().__init__()
        self.array = array

    def get_sync(self, key, *, prototype=None, byte_range=None):
        count = self.array.chunks[0]
        start = int(key.removeprefix("c/")) * count
        return zarr.core.buffer.cpu.Buffer.from_bytes((2 * self.array[start : start + count]).tobytes())

    async def get(self, key, prototype=None, byte_range=None):
        if not key.startswith("c/"):
            return await super().get(key, prototype, byte_range)
        return await asyncio.to_thread(self.get_sync, key)

    def set_sync(self, key, value):
        raise NotImplementedError

    def delete_sync(self, key):
        raise NotImplementedError


@pytest.mark.skipif(not hasattr(StorePath, "get_sync"), reason="this zarr-python has no synchronous stores")
@pytest.mark.parametrize("wrapper", [lambda store: store, WrapperStore])
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_synchronous_stores_may_use_zarr(wrapper, size):
    inner = zarr.create_array(MemoryStore(), shape=(2 * size,), chunks=(size,), dtype="uint8")
    inner[...] = expected = np.arange(2 * size, dtype="uint8")
    array = zarr.create_array(
        wrapper(Doubled(inner)), shape=inner.shape, chunks=inner.chunks, dtype="uint8", compressors=None
    )
    np.testing.assert_array_equal(array[...], 2 * expected)


class Negated(LocalStore):
    """Its chunks are the complements of its files."""

    def get_sync(self, key, *, prototype=None, byte_range=None):
        found = super().get_sync(key, prototype=prototype, byte_range=byte_range)
        return None if found is None else zarr.core.buffer.cpu.Buffer.from_bytes((~found.as_numpy_array()).tobytes())


@pytest.mark.skipif(not hasattr(StorePath, "get_sync"), reason="this zarr-python has no synchronous stores")
@pytest.mark.parametrize("chunks", [{"chunks": (10,)}, {"chunks": (10,), "shards": (20,)}])
def test_classes_derived_from_local_stores_are_asked(tmp_path, chunks):
    expected = np.arange(40, dtype="uint8")
    array = zarr.create_array(tmp_path, shape=(40,), dtype="uint8", compressors=None, **chunks)
    array[...] = expected
    derived = zarr.open_array(Negated(tmp_path))
    if "shards" in chunks:
        with pytest.raises(zcodec.Error):
            derived[...]
    else:
        np.testing.assert_array_equal(derived[...], ~expected)


@pytest.mark.skipif(not hasattr(StorePath, "get_sync"), reason="this zarr-python has no synchronous stores")
def test_local_files_are_read_as_by_their_store(tmp_path):
    from zcodec.zarr import local

    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(range(100)))
    (tmp_path / "empty").write_bytes(b"")
    prototype = zarr.core.buffer.default_buffer_prototype()
    store = LocalStore(tmp_path)
    assert local.path_of(StorePath(store, "empty")) is None  # not open
    requests = [None, RangeByteRequest(3, 50), RangeByteRequest(90, 110), OffsetByteRequest(7), SuffixByteRequest(9)]
    for key in ("folder/file", "empty", "missing", "folder", "folder/file/part"):
        getter = StorePath(store, key)
        expected = [getter.get_sync(prototype=prototype, byte_range=request) for request in requests]
        with local.opened(local.path_of(getter)) as file:
            found = [None if file is None else local.part(file, request) for request in requests]
        assert [None if part is None else part.tobytes() for part in found] == [
            None if part is None else part.to_bytes() for part in expected
        ]


@pytest.mark.skipif(os.name == "nt", reason="files are written by the store itself there")
def test_local_files_are_replaced_whole_or_not_at_all(tmp_path):
    from zcodec.zarr import local

    path = tmp_path / "c" / "0" / "1"  # in folders that do not exist yet
    for encoded in (b"first", b"", np.arange(100_000, dtype="uint8")):
        local.replace(str(path), encoded)
        assert path.read_bytes() == bytes(encoded)
    with pytest.raises(IsADirectoryError):
        local.replace(str(path.parent), b"no folder is replaced")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]
    assert path.stat().st_mode == stat.S_IFREG | (path.parent.stat().st_mode & 0o666)


@pytest.mark.skipif(os.name == "nt", reason="files are written by the store itself there")
def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    from zcodec.zarr import local

    class Full(FileIO):
        def write(self, memory):
            if self.tell():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(memory[:5])

    path = tmp_path / "chunk"
    path.write_bytes(b"old")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "FileIO", Full)
        with pytest.raises(OSError, match="No space"):
            local.replace(str(path), b"new bytes")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["chunk"]


def test_stores_that_are_read_only_are_not_written(tmp_path):
    array = zarr.create_array(tmp_path, shape=(4,), chunks=(2,), dtype="uint8")
    array[...] = 1
    with pytest.raises(ValueError, match="read-only"):
        zarr.open_array(LocalStore(tmp_path, read_only=True))[...] = 2
    np.testing.assert_array_equal(array[...], 1)


class Failing(WrapperStore):
    """Fails to read the second chunk once `begun` is set."""

    _supports_sync_io = False

    def __init__(self, store):
        super().__init__(store)
        self.begun = threading.Event()

    async def get(self, key, prototype, byte_range=None):
        if key == "c/1":
            assert await asyncio.to_thread(self.begun.wait, 60)
            raise ConnectionError("this request failed")
        return await self._store.get(key, prototype, byte_range)


async def test_no_thread_outlives_a_failed_read(monkeypatch):
    """Threads fill memory that belongs to the caller."""
    from zcodec.zarr import read

    ended = []

    def decode(window, threads):
        store.begun.set()
        time.sleep(0.3)
        ended.append(window)

    store = Failing(MemoryStore())
    monkeypatch.setattr(read, "WINDOW", 1)
    array = await zarr.api.asynchronous.create_array(store, shape=(6,), chunks=(2,), dtype="uint8")
    await array.setitem(..., 1)
    monkeypatch.setattr(read, "decode_window", decode)
    with pytest.raises(ConnectionError):
        await array.getitem(...)
    assert ended


@pytest.mark.parametrize(
    ("shape", "selection", "value"),
    [
        ((), ..., np.array([True])), ((4, 6), ..., np.ones((1, 4, 6))), ((4, 6), ..., np.arange(6).reshape(1, 1, 6)),
        ((4, 6), np.s_[:2, :3], np.array([[[5]]])), ((4, 6), np.s_[:2, :3], np.arange(6).reshape(1, 1, 2, 3)),
        ((4, 6), np.s_[1, :3], np.arange(3).reshape(1, 1, 3)), ((4, 6), np.s_[1:3, 2], np.array([[5]])),
        ((4, 6), np.s_[1:3, 2], np.array([[5, 6]])), ((1, 1), ..., np.array([[[5]]])),
    ],
)  # fmt: skip
def test_values_may_have_more_axes_of_size_1(shape, selection, value):
    expected = np.zeros(shape, value.dtype)
    expected[selection] = value
    array = zarr.create_array(MemoryStore(), shape=shape, chunks=shape, dtype=value.dtype)
    array[selection] = value
    np.testing.assert_array_equal(array[...], expected)


def test_values_with_too_many_axes_are_refused():
    array = zarr.create_array(MemoryStore(), shape=(4, 6), chunks=(4, 6), dtype="int8")
    with pytest.raises(ValueError):
        array[...] = np.ones((2, 4, 6))


def test_stats_pickle():
    stats.add(decoded=3, encoded=1)
    copy = pickle.loads(pickle.dumps(stats))
    assert repr(copy) == repr(stats) and copy.share == 1
    copy.add(decoded=1)
    with pytest.warns(FallbackWarning):
        copy.fall_back("for another reason", 4)
    assert (copy.decoded, stats.decoded, copy.share, dict(stats.fallback)) == (4, 3, 5 / 9, {})
