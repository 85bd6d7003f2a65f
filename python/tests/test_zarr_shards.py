"""Shards that are written in part: what nobody wrote stays as it is."""

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
