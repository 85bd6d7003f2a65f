"""Chunks that go to boxes of one array, without what other selections cost."""

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

from hypothesis import given
from hypothesis import strategies as st
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer.core import default_buffer_prototype
from zarr.storage import MemoryStore

import zcodec
from zcodec.zarr.places import PlacedTarget, Places, are_disjoint

SHAPE = (5, 6, 7)
CHAIN = zcodec.Chain([{"name": "bytes", "configuration": {"endian": "big"}}], "int16", SHAPE)
CHUNK = np.arange(np.prod(SHAPE), dtype="int16").reshape(SHAPE)
ENCODED = CHAIN.encode(CHUNK)


@st.composite
def selections(draw):
    """A selection of the chunk, and where it goes in an array of some layout."""
    chunk, target, shape = [], [], []
    for size in SHAPE:
        first = draw(st.integers(0, size - 1))
        if draw(st.integers(0, 3)) == 0:
            chunk.append(first - draw(st.sampled_from([0, size])))
            continue
        count = draw(st.integers(1, size - first))
        before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        chunk.append(slice(first, first + count, draw(st.sampled_from([None, 1]))))
        target.append(slice(before, before + count))
        shape.append(before + count + after)
    order, is_reversed = draw(st.permutations(range(len(shape)))), draw(st.booleans())
    memory = np.full([shape[axis] for axis in order], -1, "int16").transpose(np.argsort(order))
    return tuple(chunk), tuple(target), memory[::-1] if shape and is_reversed else memory


@given(selections())
def test_a_place_gets_what_numpy_selects(case):
    chunk, target, out = case
    expected = out.copy()
    expected[target] = CHUNK[chunk]
    place = Places(out).get(CHAIN, chunk, target)
    assert place is not None
    np.testing.assert_array_equal(CHUNK[place.box].ravel(), CHUNK[chunk].ravel())
    assert place.array.shape == place.shape and np.shares_memory(place.array, out)
    zcodec.coding.decode_to(PlacedTarget(CHAIN, place), CHAIN, zcodec.views.from_buffer(ENCODED), 1)
    np.testing.assert_array_equal(out, expected)


def test_a_chunk_without_dimensions_has_a_place():
    chain = zcodec.Chain([{"name": "bytes", "configuration": {"endian": "big"}}], "int16", ())
    out = np.zeros((), "int16")
    place = Places(out).get(chain, (), ())
    assert np.shares_memory(place.array, out)
    zcodec.coding.decode_to(PlacedTarget(chain, place), chain, zcodec.views.from_buffer(b"\1\2"), 1)
    assert out == 0x0102


WHOLE = (slice(0, 5), slice(0, 6), slice(0, 7))


@pytest.mark.parametrize(
    ("chunk", "target", "out"),
    [
        ((slice(0, 5, 2), *WHOLE[1:]), (slice(0, 3), *WHOLE[1:]), np.zeros(SHAPE, "int16")),
        (WHOLE, (slice(0, 9, 2), *WHOLE[1:]), np.zeros((9, 6, 7), "int16")),
        ((slice(3, 3), *WHOLE[1:]), (slice(0, 0), *WHOLE[1:]), np.zeros(SHAPE, "int16")),
        (WHOLE, (slice(2, 7), *WHOLE[1:]), np.zeros(SHAPE, "int16")),
        (WHOLE, WHOLE[1:], np.zeros(SHAPE[1:], "int16")),
        (WHOLE, (*WHOLE, slice(0, 1)), np.zeros((*SHAPE, 1), "int16")),
        (WHOLE, WHOLE, np.zeros((*SHAPE, 1), "int16")),
        (..., ..., np.zeros(SHAPE, "int16")),
        ((np.arange(5), *WHOLE[1:]), WHOLE, np.zeros(SHAPE, "int16")),
        (WHOLE, WHOLE, np.zeros(SHAPE, "int32")),
        (WHOLE, WHOLE, np.zeros(SHAPE, np.dtype("int16").newbyteorder("S"))),
        (WHOLE, WHOLE, np.broadcast_to(np.zeros((), "int16"), SHAPE)),
        (WHOLE, WHOLE, np.lib.stride_tricks.as_strided(np.zeros(99, "int16"), SHAPE, (2, 2, 2))),
    ],
)
def test_what_is_no_box_of_the_array_has_no_place(chunk, target, out):
    assert Places(out).get(CHAIN, chunk, target) is None


def test_places_of_a_grid_are_disjoint():
    places = Places(np.zeros((10, 12, 7), "int16"))

    def at(row, column, rows=5, columns=6):
        target = slice(row, row + rows), slice(column, column + columns), slice(0, 7)
        return places.get(CHAIN, (slice(0, rows), slice(0, columns), slice(0, 7)), target)

    grid = [at(0, 0), at(0, 6), at(5, 6), at(5, 0)]
    assert are_disjoint(grid)
    assert are_disjoint([])
    assert are_disjoint([at(0, 0, 2), at(2, 0, 3), at(5, 0)])
    assert not are_disjoint([*grid, at(5, 6)])
    assert not are_disjoint([at(0, 0), at(4, 6)])
    others = Places(np.zeros((5, 6, 7), "int16")).get(CHAIN, WHOLE, WHOLE)
    assert not are_disjoint([at(0, 0), others])


def test_memory_that_is_read_is_not_filled():
    memory = np.frombuffer(bytearray(ENCODED), ">i2").view("int16").reshape(SHAPE)
    target = PlacedTarget(CHAIN, Places(memory).get(CHAIN, WHOLE, WHOLE))
    target.refuse_shared(zcodec.views.from_buffer(ENCODED))
    with pytest.raises(ValueError, match="share memory"):
        target.refuse_shared(zcodec.views.from_buffer(memory))


async def test_chunks_that_go_to_one_place_are_refused():
    """zarr-python asks for no such thing. Two threads would write the same memory."""
    with zarr.config.set({"codec_pipeline.path": "zcodec.zarr.CodecPipeline", "codec_pipeline.max_workers": 2}):
        array = zarr.create_array(MemoryStore(), shape=(40, 8), chunks=(20, 8), dtype="int32")
        await array._async_array.setitem(..., np.ones((40, 8), "int32"))
        prototype = default_buffer_prototype()
        spec = ArraySpec(
            shape=(20, 8), dtype=array.metadata.data_type, fill_value=np.int32(0),
            config=ArrayConfig(order="C", write_empty_chunks=False), prototype=prototype,
        )  # fmt: skip
        out = prototype.nd_buffer.create(shape=(40, 8), dtype=np.dtype("int32"), order="C", fill_value=0)
        box = slice(0, 20), slice(0, 8)
        batch = [(array.store_path / f"c/{i}/0", spec, box, box, True) for i in range(2)]
        with pytest.raises(ValueError, match="share memory"):
            await array._async_array.codec_pipeline.read(batch, out)
