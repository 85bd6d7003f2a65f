"""Memory that a call refuses: with a mask, or shared with what the call fills."""

import gc

import numpy as np
import pytest

from zcodec import Chain, Error
from zcodec._ffi import ffi
from zcodec.sharing import refuse_shared
from zcodec.views import View

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}
ARRAY = np.arange(64, dtype=np.int32).reshape(8, 8)


@pytest.fixture
def chain():
    return Chain([LITTLE], "int32", (8, 8), 0)


def test_masks_are_refused(chain):
    masked = np.ma.masked_equal(ARRAY, 3)
    encoded, bits = chain.encode(ARRAY), Chain(["crc32c"])
    calls = [
        lambda: chain.encode(masked),
        lambda: chain.encode(masked[:2], box=np.s_[:2]),
        lambda: chain.encode_into(masked, bytearray(256)),
        lambda: chain.encode_many([ARRAY, masked]),
        lambda: chain.is_fill(masked),
        lambda: chain.decode(encoded, masked),
        lambda: chain.decode(encoded, masked, max_threads=2),
        lambda: chain.decode(encoded, masked[:2], box=np.s_[:2]),
        lambda: chain.decode_many([encoded], [masked]),
        lambda: chain.plan(out=masked),
        lambda: chain.fill(masked),
        lambda: Chain([TRANSPOSE], "int32", (8, 8), 0).decode(masked),
        lambda: bits.encode(masked),
        lambda: bits.decode(bits.encode(encoded), masked),
        lambda: chain.encode_into(ARRAY, masked),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="has a mask"):
            call()
    assert masked.mask.sum() == 1 and np.array_equal(masked.data, ARRAY)
    np.testing.assert_array_equal(chain.decode(chain.encode(masked.filled(9))), np.where(ARRAY == 3, 9, ARRAY))
    chain.decode(encoded, masked.data)


def test_other_subclasses_are_arrays(chain, tmp_path):
    mapped = np.memmap(tmp_path / "mapped", np.int32, "w+", shape=(8, 8))
    assert chain.decode(chain.encode(ARRAY), mapped) is mapped
    np.testing.assert_array_equal(mapped, ARRAY)
    assert chain.encode(mapped) == chain.encode(ARRAY)


IMAGE = (48, 40)
TILES = [np.s_[i : i + 8, j : j + 8] for i in range(0, 48, 8) for j in range(0, 40, 8)]


def test_tasks_fill_tiles_of_one_array(chain):
    encoded = chain.encode(ARRAY)
    image = np.zeros(IMAGE, np.int32)
    padded = np.zeros((50, 41), np.int32)[1:-1, 1:]
    for memory in (image, image[::-1, ::-1], padded, np.zeros((40, 48), np.int32).T, np.zeros((96, 80), np.int32)[::2, ::-2]):
        outs = [memory[tile] for tile in TILES]
        chain.decode_many([encoded] * len(outs), outs)
        for out in outs:
            np.testing.assert_array_equal(out, ARRAY)
    pixels = np.zeros((8, 8), [("red", "i4"), ("green", "i4")])
    chain.decode_many([encoded] * 2, [pixels["green"], pixels["red"]])
    np.testing.assert_array_equal(pixels["green"], ARRAY)


@pytest.mark.parametrize("threads", [1, 2])
def test_tasks_that_share_memory_are_refused(chain, threads):
    encoded = chain.encode(ARRAY)
    image = np.zeros(IMAGE, np.int32)
    outs = [image[tile] for tile in TILES]
    shifted = [*outs[:-1], image[39:47, 32:40]]  # a row of the tile above
    with pytest.raises(ValueError, match=r"out\[24\] and out\[29\] share memory"):
        chain.decode_many([encoded] * 30, shifted, max_threads=threads)
    with pytest.raises(ValueError, match=r"out\[3\] and buffers\[7\] share memory"):
        within = np.zeros(8 * 64, np.int32)
        buffers = [*[encoded] * 7, within[3 * 64 + 1 : 4 * 64 + 1].view(np.uint8)]
        chain.decode_many(buffers, within.reshape(8, 8, 8), max_threads=threads)
    with pytest.raises(ValueError, match=r"out\[0\] and out\[1\] share memory"):  # also where steps are taken of the chunk
        chain.decode_many([encoded] * 2, [image[:4, :4], image[3:7, :4]], box=np.s_[::2, ::2], max_threads=threads)
    assert not image.any()


def random_view(generator, memory):
    ndim = generator.integers(1, 4)
    shape = generator.integers(1, 5, ndim)
    strides = generator.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 48], ndim) * generator.choice([-1, 1], ndim)
    reach = (shape - 1) * strides
    low, high = reach[reach < 0].sum(), reach[reach > 0].sum()
    size = generator.choice([1, 2, 4])
    if high - low + size > len(memory):
        return random_view(generator, memory)
    start = generator.integers(-low, len(memory) - high - size + 1)
    return np.ndarray(shape, f"V{size}", memory, start, strides)


def test_what_shares_memory_is_found_among_random_arrays():
    generator = np.random.default_rng(7)
    found = {True: 0, False: 0}
    for _ in range(3000):
        memory = np.zeros(generator.integers(20, 400), np.uint8)
        outs = [random_view(generator, memory) for _ in range(generator.integers(1, 6))]
        ends = np.sort(generator.integers(0, len(memory), (generator.integers(0, 3), 2)))
        reads = [memory[start : min(end, start + 9)] for start, end in ends]
        pairs = [(one, other) for i, one in enumerate(outs) for other in (*outs[i + 1 :], *reads)]
        expected = any(np.shares_memory(one, other) for one, other in pairs)
        found[expected] += 1
        arguments = [View(out) for out in outs], [ffi.from_buffer(read) for read in reads]
        if expected:
            with pytest.raises(ValueError, match="share memory"):
                refuse_shared(*arguments)
        else:
            refuse_shared(*arguments)
    assert min(found.values()) > 500


def test_thousands_of_tiles_are_told_apart_without_comparing_them(monkeypatch):
    monkeypatch.setattr("zcodec.sharing.arrays_share", lambda *_: pytest.fail("two tiles were compared"))
    for shape in ((4, 64, 64), (1, 1, 4096), (1, 4096, 1), (4096, 1, 1)):
        volume = np.zeros(np.multiply(shape, 2), np.uint8)
        tiles = [volume[tuple(slice(2 * i, 2 * i + 2) for i in place)] for place in np.ndindex(shape)]
        refuse_shared([View(tile) for tile in tiles], [])


def test_errors_are_collected_as_garbage():
    """CPython 3.11.7 crashes here if a frame has a memoryview and a cffi buffer of it."""
    shards = {"name": "sharding_indexed",
              "configuration": {"chunk_shape": [2], "codecs": [LITTLE], "index_codecs": [LITTLE, "crc32c"]}}  # fmt: skip
    chain = Chain([shards], "uint16", (64,), 0)
    shard = chain.encode(np.arange(1, 65, dtype=np.uint16))

    def fail():
        try:
            chain.decode(shard[:-1], box=np.s_[::9])
        except Error as error:
            kept = error  # a cycle with its own frame
            assert kept.__traceback__ is not None

    for _ in range(200):
        fail()
    gc.collect()
