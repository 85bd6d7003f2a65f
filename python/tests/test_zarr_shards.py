"""Shards that are written in part: what nobody wrote stays as it is."""

import json

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

from zarr.core.buffer import cpu
from zarr.storage import MemoryStore
from zcodec import Error
from zcodec.zarr import stats

OURS, OWN = "zcodec.zarr.CodecPipeline", "zarr.core.codec_pipeline.BatchedCodecPipeline"


def write_box(array, value):
    array[4:6, 1:3] = value


def write_steps(array, value):
    array[1:8:3, 2] = value


def write_rows(array, value):
    array.oindex[[0, 5], 1:3] = value


def write_rows_by_mask(array, value):
    rows = np.zeros(array.shape[0], bool)
    rows[[0, 5]] = True
    array.oindex[rows, 1:3] = value


def write_crossings(array, value):
    array.oindex[[0, 5], [1, 6]] = value


def write_points(array, value):
    array.vindex[[0, 5], [1, 6]] = value


def write_mask(array, value):
    mask = np.zeros(array.shape, bool)
    mask[3, 1:6] = True
    array.set_mask_selection(mask, value)


WRITES = [write_box, write_steps, write_rows, write_rows_by_mask, write_crossings, write_points, write_mask]


@pytest.fixture(autouse=True)
def pipeline():
    stats.reset()
    with zarr.config.set({"codec_pipeline.path": OURS}):
        yield
    assert not stats.fallback


def create(**options):
    codecs = {"compressors": [zarr.codecs.ZstdCodec(checksum=True)], "fill_value": 7}
    return zarr.create_array(MemoryStore(), shape=(9, 9), chunks=(3, 3), shards=(9, 9), dtype="int16", **codecs, **options)


@pytest.mark.parametrize("write", WRITES)
def test_inner_chunks_that_a_write_does_not_touch_are_not_coded(write):
    """They would lose a little more each time if a codec is lossy. Here one of them is damaged."""
    array = create()
    array[...] = values = np.arange(81, dtype=np.int16).reshape(9, 9)
    shards = array.store._store_dict
    damaged = bytearray(shards["c/0/0"].to_bytes())
    at = int.from_bytes(damaged[-20:-12], "little")  # of the last inner chunk
    damaged[at : at + 4] = b"\xff\xff\xff\xff"
    shards["c/0/0"] = cpu.Buffer.from_bytes(bytes(damaged))
    write(array, 99)
    with zarr.config.set({"codec_pipeline.path": OWN}):
        other = create()
        other[...] = values
        write(other, 99)
        expected = other[...]
    np.testing.assert_array_equal(array[:6], expected[:6])
    np.testing.assert_array_equal(array[:, :6], expected[:, :6])
    with pytest.raises(Error, match="zstd"):
        array[8, 8]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("store_empty", [True, False])
@pytest.mark.parametrize("value", [99, 7])
def test_the_same_inner_chunks_are_stored_as_by_zarr(write, is_new, store_empty, value):
    found = []
    for path in (OWN, OURS):
        with zarr.config.set({"codec_pipeline.path": path}):
            array = create(config={"write_empty_chunks": store_empty})
            if not is_new:
                array[0, 8] = 1
            write(array, value)
            sizes = {key: len(shard) for key, shard in array.store._store_dict.items() if key.startswith("c/")}
            found.append((array[...].tolist(), _stored(array), sizes.keys()))
    assert found[0] == found[1]


@pytest.mark.parametrize("selection", [
    (slice(5, 1), slice(0, 3)), (slice(5, 1), slice(None, None, 2)), (3, slice(5, 1)), ([0, 5], slice(5, 1)),
])  # fmt: skip
@pytest.mark.parametrize("is_new", [True, False])
def test_what_takes_no_elements_stores_nothing(selection, is_new):
    array = create(config={"write_empty_chunks": True})
    if not is_new:
        array[...] = np.arange(81).reshape(9, 9)
    before = dict(array.store._store_dict)
    array.oindex[selection] = 3
    assert array.store._store_dict == before


def _stored(array):
    """Which inner chunks the index of the shard has."""
    shard = array.store._store_dict.get("c/0/0")
    if shard is None:
        return None
    index = np.frombuffer(shard.to_bytes()[-4 - 16 * 9 : -4], "<u8").reshape(3, 3, 2)
    return (index[..., 0] != 2**64 - 1).tolist()


@pytest.mark.parametrize(
    ("codecs", "fill_value", "value"),
    [
        ([{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<i4", "decode_dtype": "<f8"}}], 1.3, 1.0),
        ([{"name": "bitround", "configuration": {"keepbits": 2}}], 1.3, 1.25),
        ([{"name": "cast_value", "configuration": {"data_type": "int32"}}], -0.0, 0.0),
    ],
    ids=["astype", "bitround", "cast_value"],
)
def test_a_shard_that_is_not_the_fill_value_is_not_deleted(codecs, fill_value, value):
    """All its inner chunks are missing: they are what the codecs make of the fill value."""
    shard = {"chunk_shape": [2], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
    shard["index_codecs"] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float64", "fill_value": fill_value,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}, "attributes": {},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [*codecs, {"name": "sharding_indexed", "configuration": shard}],
    }  # fmt: skip
    store = {"zarr.json": cpu.Buffer.from_bytes(json.dumps(document).encode())}
    array = zarr.open_array(MemoryStore(store), mode="r+")
    expected = np.full(4, value).tobytes()
    array[:] = value
    assert array[:].tobytes() == expected
    array[0:1] = value
    assert array[:].tobytes() == expected


@pytest.mark.parametrize("shards", [None, (6, 1)])
def test_elements_of_another_shape_are_those_that_numpy_assigns_or_refused(shards):
    """zarr-python cuts a box for each chunk from them, and so stores the wrong ones."""
    for shape in [(6, 1), (1, 1), (1,), (1, 6, 1), (), (1, 6), (6,), (2, 1), (2, 6, 1)]:
        array = zarr.create_array({}, shape=(6, 1), chunks=(2, 1), shards=shards, dtype="int32", fill_value=0)
        elements = np.arange(1, 1 + np.prod(shape, dtype=int), dtype="int32").reshape(shape)
        expected = np.zeros((6, 1), "int32")
        try:
            expected[...] = elements
        except ValueError:
            with pytest.raises(ValueError, match="do not fit a selection of shape"):
                array[...] = elements
        else:
            array[...] = elements
        np.testing.assert_array_equal(array[...], expected, str(shape))


@pytest.mark.filterwarnings("ignore:The data type")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("chunks", [(4,), (3,)])
def test_members_of_structs_that_are_arrays_are_stored_whole(zarr_format, chunks):
    dtype = np.dtype([("x", "i1"), ("y", "<u2", (2,))])
    elements = np.array([(i, [2 * i, 300 * i]) for i in range(4)], dtype)
    options = {"dtype": dtype, "fill_value": np.zeros((), dtype)[()], "zarr_format": zarr_format}
    try:
        array = zarr.create_array({}, shape=(4,), chunks=chunks, **options)
    except ValueError as error:
        # From 3.4 on.
        assert "subarray" in str(error)
        pytest.skip("this zarr-python refuses such structs")
    array[...] = elements
    assert array[...].tobytes() == elements.tobytes()
    array[1:3] = elements[2:]
    assert array[...].tobytes() == elements[[0, 2, 3, 3]].tobytes()
    with pytest.raises(TypeError, match="cannot be stored as"):
        array[...] = np.zeros(4, [("y", "<u2", (2,)), ("x", "i1")])


@pytest.mark.parametrize("rows", [[1, 3], [3, 1], [1, 2]])
def test_elements_for_rows_and_columns_have_their_shape(rows):
    columns = np.array([0, 0, 1, 1, 0, 1], bool)
    for shape in [(2, 3), (1, 3), (2, 1), (3,), (1, 2, 3), (4, 4), (2, 5), (3, 2), (2,)]:
        array = zarr.create_array({}, shape=(4, 6), chunks=(2, 2), dtype="int32", fill_value=0)
        elements = np.arange(1, 1 + np.prod(shape, dtype=int), dtype="int32").reshape(shape)
        expected = np.zeros((4, 6), "int32")
        try:
            expected[np.ix_(rows, np.flatnonzero(columns))] = elements
        except ValueError:
            with pytest.raises(ValueError, match="do not fit a selection of shape"):
                array.oindex[rows, columns] = elements
        else:
            array.oindex[rows, columns] = elements
        np.testing.assert_array_equal(array[...], expected, str(shape))
