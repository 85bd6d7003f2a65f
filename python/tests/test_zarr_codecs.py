"""Codecs of zcodec.zarr that do not fit what enters them."""

import contextlib
from importlib.util import find_spec

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

import zcodec
from zarr.codecs import TransposeCodec
from zarr.storage import MemoryStore
from zcodec.zarr import BitRound, CastValue, N5Default, PackBits, Reshape, ScaleOffset, Squeeze, Zfp

OURS, OWN = "zcodec.zarr.CodecPipeline", "zarr.core.codec_pipeline.BatchedCodecPipeline"
pytestmark = pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification")
SHARDS = {"shape": (8,), "chunks": (4,), "shards": (8,)}
FIVE = {"shape": (4, 5, 4, 4, 4), "chunks": (4, 1, 4, 4, 4), "dtype": "float32", "serializer": Zfp(mode="reversible")}
ORDER = {"name": "transpose", "configuration": {"order": [2, 1, 0]}}


@pytest.fixture(params=[OURS, OWN])
def pipeline(request):
    if request.param == OWN and find_spec("zarr.core.chunk_utils") is None:
        pytest.skip("this zarr-python does not tell codecs what enters them before the first write")
    with zarr.config.set({"codec_pipeline.path": request.param}):
        yield


@pytest.mark.parametrize(
    ("says", "arguments"),
    [
        ('"packbits": last_bit is 9', {"dtype": "uint8", "serializer": PackBits(last_bit=9)}),
        ('"packbits": last_bit is 9', {"dtype": "uint8", "serializer": PackBits(last_bit=9), **SHARDS}),
        ('"packbits": last_bit is 9', {"dtype": "int16", "filters": [CastValue("uint8")], "serializer": PackBits(last_bit=9)}),
        ('"packbits": .*fixed_length_utf32', {"dtype": "U4", "serializer": PackBits()}),
        ('"bitround": .*bool', {"dtype": "bool", "filters": [BitRound(1)]}),
        ('"bitround": .*float8_e4m3', {"dtype": "float32", "filters": [CastValue("float8_e4m3"), BitRound(1)]}),
        ('"scale_offset": offset is 500', {"dtype": "uint8", "filters": [ScaleOffset(offset=500)]}),
        ('"scale_offset": offset is 500', {"dtype": "uint8", "filters": [ScaleOffset(offset=500)], **SHARDS}),
        ('"cast_value": fill_value is "NaN"', {"dtype": "float32", "fill_value": np.nan, "filters": [CastValue("uint8")]}),
        ('"reshape": shape makes', {"dtype": "int16", "filters": [Reshape([3, 5])]}),
        ('"reshape": shape makes', {"dtype": "int16", "filters": [Reshape([5, 16])]}),  # the array, but no chunk
        ('"reshape": shape makes', {"dtype": "int16", "filters": [Reshape([2, 3])], **SHARDS}),
        ('"zfp": shape .* has 5 dimensions', FIVE),
        ('"n5_default": .*"transpose"', {"dtype": "int16", "serializer": N5Default([ORDER, "bytes"]), "compressors": None}),
    ],
)  # fmt: skip
def test_no_array_is_made_of_what_does_not_fit(pipeline, says, arguments):
    store = MemoryStore()
    with pytest.raises(zcodec.Error, match=says):
        zarr.create_array(store, **{"shape": (80,), "chunks": (20,), **arguments})
    assert not store._store_dict


def test_what_is_made_of_scale_offset_can_be_opened_again(pipeline):
    store, array = MemoryStore(), None
    with contextlib.suppress(zcodec.Error):  # some versions of zarr-python encode 0, too, which has no image here
        array = zarr.create_array(store, shape=(8,), chunks=(3,), shards=(6,), dtype="uint16", fill_value=1,
                                  filters=[ScaleOffset(offset=1)])  # fmt: skip
    if array is None:
        assert not store._store_dict and hasattr(zarr.codecs, "ScaleOffset")
        return
    array[2:] = 5
    np.testing.assert_array_equal(zarr.open_array(store)[...], [1, 1, 5, 5, 5, 5, 5, 5])


def test_errors_say_which_codec_of_the_array(pipeline):
    if zarr.config.get("codec_pipeline.path") == OWN:
        pytest.skip("zarr-python knows")
    with pytest.raises(zcodec.Error, match=r'codecs\[1\] "packbits": last_bit is 9') as caught:
        zarr.create_array(
            MemoryStore(), shape=(8,), dtype="int16", filters=[CastValue("uint8")], serializer=PackBits(last_bit=9)
        )
    assert (caught.value.codec_index, caught.value.code != "") == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": "int16", "filters": [Reshape([4, 5])]},
        {"dtype": "int16", "filters": [Reshape([4, 5]), Reshape([10, -1])]},
        {"shape": (99, 30), "chunks": (20, 10), "dtype": "int16", "filters": [Reshape([8, 25])]},
        {"shape": (99, 30), "chunks": (20, 10), "dtype": "int16", "filters": [TransposeCodec(order=(1, 0)), Reshape([8, 25])]},
        {"dtype": "uint8", "filters": [Reshape([2, 2])], **SHARDS},
        {**FIVE, "filters": [Squeeze()]},
        {**FIVE, "filters": [Reshape([16, -1])]},
        {"dtype": "uint8", "filters": [CastValue("int32")], "serializer": PackBits(last_bit=30)},
    ],
)  # fmt: skip
def test_what_fits_chunks_need_not_fit_the_array(pipeline, arguments):
    store, arguments = MemoryStore(), {"shape": (90,), "chunks": (20,), **arguments}
    array = zarr.create_array(store, **arguments)
    again = zarr.create_array(MemoryStore(), **{**arguments, "filters": array.filters})  # codecs that were in use
    expected = np.arange(np.prod(array.shape), dtype=array.dtype).reshape(array.shape)
    for each in (array, again):
        each[...] = expected
        np.testing.assert_array_equal(each[...], expected)
    np.testing.assert_array_equal(zarr.open_array(store)[...], expected)


@pytest.mark.parametrize("shape", [(9, 9), (8, 8)])
def test_an_array_that_cannot_be_made_changes_no_other(pipeline, shape):
    """They share a codec object, which was told the chunks of both. Those of the second may also be the whole array of
    the first."""
    codec, expected = Reshape([[0, 1]]), np.arange(64, dtype=np.uint8).reshape(8, 8)
    arrays = [
        zarr.create_array(MemoryStore(), shape=(8, 8), chunks=chunks, dtype="uint8", filters=[codec], compressors=None)
        for chunks in [(4, 2), (8, 8)]
    ]
    with pytest.raises(ValueError):
        zarr.create_array(
            MemoryStore(), shape=shape, chunks=(3, 3), dtype="uint8", filters=[codec, TransposeCodec(order=(2, 1, 0))]
        )
    for array in arrays:
        array[...] = expected
        np.testing.assert_array_equal(array[...], expected)


@pytest.mark.parametrize("pipeline", [OURS], indirect=True)
def test_chunks_of_several_shapes(pipeline):
    with zarr.config.set({"array.rectilinear_chunks": True}):
        try:
            zarr.create_array(MemoryStore(), shape=(30,), chunks=[[10, 20]], dtype="int16")
        except TypeError as error:
            pytest.skip(f"this zarr-python has no rectilinear grids: {error}")
        array = zarr.create_array(
            MemoryStore(), shape=(30, 4), chunks=[[10, 20], [4]], dtype="int16", filters=[Reshape([[0, 1]])]
        )
        array[...] = expected = np.arange(120, dtype=np.int16).reshape(30, 4)
        np.testing.assert_array_equal(array[...], expected)
        with pytest.raises(zcodec.Error, match='"reshape": shape makes'):
            zarr.create_array(
                MemoryStore(), shape=(30, 4), chunks=[[10, 20], [4]], dtype="int16", filters=[Reshape([7, 3])]
            )


def test_arrays_without_dimensions(pipeline):
    array = zarr.create_array(MemoryStore(), shape=(), dtype="int32", filters=[ScaleOffset(offset=-3), BitRound(31)])
    array[...] = 5
    assert array[...] == 5


@pytest.mark.parametrize(
    "codecs",
    [
        {"dtype": "int32", "filters": [CastValue("int4")], "serializer": PackBits(), "fill_value": -3},
        {"dtype": "int32", "filters": [CastValue("int4"), Reshape([[0]])], "shards": (8,), "fill_value": -3},
        {"dtype": "float32", "filters": [CastValue("bfloat16"), BitRound(2)], "fill_value": 1.5},
        {"dtype": "float32", "filters": [CastValue("bfloat16")], "shards": (8,), "fill_value": -np.inf},
        {"dtype": "float32", "filters": [CastValue("float8_e4m3"), ScaleOffset(2)], "fill_value": 2.5},
        {"dtype": "float32", "filters": [CastValue("float8_e5m2")], "fill_value": 1.5},
    ],
    ids=lambda codecs: repr(codecs["filters"]),
)  # fmt: skip
def test_data_types_that_zarr_lacks(codecs):
    """Codecs of its own pipeline know what the bits stand for, and store the same as ours."""
    stored, values = {}, np.array([-4, -1, 0, 1, 2, 3]).astype(codecs["dtype"])
    for path in (OWN, OURS):
        store = MemoryStore()
        with zarr.config.set({"codec_pipeline.path": path}):
            array = zarr.create_array(store, shape=(15,), chunks=(2,), **codecs)
            array[2:8] = values
            expected = np.full(15, array.fill_value)
            expected[2:8] = values
        stored[path] = {key: chunk.to_bytes() for key, chunk in store._store_dict.items()}
        for reader in (OWN, OURS):
            with zarr.config.set({"codec_pipeline.path": reader}):
                other = zarr.Array(zarr.AsyncArray(array.metadata, array.store_path))
                np.testing.assert_array_equal(other[...], expected)
    assert stored[OWN] == stored[OURS]
