"""Plans, indices and writers of shards."""

import asyncio
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from zcodec import Chain, Error, Index, Layout, Range, Status, index_range
from zcodec.plan import read_object
from zcodec.writer import whole_object

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
ARRAY = np.arange(4096, dtype=np.uint16).reshape(64, 64) + 1


@pytest.fixture(params=["end", "start"])
def chain(request):
    configuration = {
        "chunk_shape": [8, 8], "codecs": [LITTLE, ZSTD], "index_codecs": [LITTLE, "crc32c"],
        "index_location": request.param,
    }  # fmt: skip
    return Chain([{"name": "sharding_indexed", "configuration": configuration}], "uint16", (64, 64), 0)


def part(encoded, wanted):
    offset, size = wanted
    if offset is None:
        return encoded[-size:]
    return encoded[offset:] if size is None else encoded[offset : offset + size]


def test_a_plan_reads_what_the_box_needs(chain):
    encoded = chain.encode(ARRAY)
    plan = chain.plan(np.s_[3:20, 1:9])
    assert plan.ranges == [index_range(chain)]
    assert not plan.is_complete
    read = 0
    for ranges in plan:
        for i, wanted in enumerate(ranges):
            plan.supply(i, part(encoded, wanted))
            read += len(part(encoded, wanted))
    np.testing.assert_array_equal(plan.result, ARRAY[3:20, 1:9])
    assert plan.is_complete and read < len(encoded) / 2
    again = chain.plan(np.s_[3:20, 1:9], index=plan.index, object_size=len(encoded))
    assert len(again.ranges) == 6
    np.testing.assert_array_equal(read_object(again, encoded), ARRAY[3:20, 1:9])


@pytest.mark.parametrize("out", [np.zeros((17, 8), ">u2"), np.zeros((17, 8), "<u2"), np.zeros((17, 8), "u2")[::-1]])
def test_the_result_of_a_plan_stays_as_the_caller_changes_it(chain, out):
    plan = chain.plan(np.s_[3:20, 1:9], out)
    assert read_object(plan, chain.encode(ARRAY)) is out
    out[0] = 7
    assert plan.result is out
    np.testing.assert_array_equal(out[0], 7)


async def test_a_plan_in_asyncio(chain):
    encoded = chain.encode(ARRAY)

    async def fetch(wanted):
        await asyncio.sleep(0)
        return part(encoded, wanted)

    plan = chain.plan([np.s_[3:20, 1:9], np.s_[60, ::-1]])
    first, second = await plan.read(fetch)
    np.testing.assert_array_equal(first, ARRAY[3:20, 1:9])
    np.testing.assert_array_equal(second, ARRAY[60, ::-1])
    plan = chain.plan(out=np.zeros((64, 64), np.uint16)[::-1])
    async for ranges in plan:
        for i, wanted in enumerate(ranges):
            plan.supply(i, await fetch(wanted))
    np.testing.assert_array_equal(plan.result, ARRAY)


def test_threads_supply_a_plan(chain):
    encoded = chain.encode(ARRAY)
    plan = chain.plan()
    for ranges in plan:
        work = [threading.Thread(target=plan.supply, args=(i, part(encoded, it))) for i, it in enumerate(ranges)]
        [thread.start() for thread in work]
        [thread.join() for thread in work]
    np.testing.assert_array_equal(plan.result, ARRAY)


def test_threads_ask_for_the_same_stage():
    codecs = ["bytes"]
    configuration = {"chunk_shape": [1], "codecs": codecs, "index_codecs": [LITTLE, "crc32c"]}
    chain = Chain([{"name": "sharding_indexed", "configuration": configuration}], "uint8", (1 << 16,), 0)
    encoded = chain.encode(np.ones(1 << 16, np.uint8))
    plan = chain.plan()
    plan.supply_all([part(encoded, it) for it in plan.ranges])
    with ThreadPoolExecutor(4) as pool:  # finding so many ranges takes a while
        stages = list(pool.map(lambda _: plan.ranges, range(4)))
    assert all(stage is stages[0] for stage in stages)
    plan.supply_all([part(encoded, it) for it in stages[0]])
    assert plan.ranges == [] and plan.result.all()


def test_what_plans_refuse(chain):
    encoded = chain.encode(ARRAY)
    plan = chain.plan()
    with pytest.raises(ValueError, match="missing"):
        plan.result  # noqa: B018
    with pytest.raises(Error) as caught:
        plan.supply(5, b"")
    assert caught.value.status is Status.INVALID_ARGUMENT
    with pytest.raises(IndexError):
        plan.supply(-1, b"")
    with pytest.raises(ValueError, match="2 buffers for 1"):
        plan.supply_all([b"", b""])
    with pytest.raises(Error) as caught:
        plan.supply(0, b"short")
    assert caught.value.status is Status.CORRUPT_DATA
    with pytest.raises(Error):
        plan.supply(0, part(encoded, index_range(chain)))
    for handle in (plan, chain.writer()):
        with pytest.raises(TypeError, match="process"):
            pickle.dumps(handle)


def test_plans_do_not_fill_memory_that_they_read():
    chain, memory = Chain([LITTLE], np.uint16, (8,), 0), np.arange(24, dtype=np.uint16)
    before, encoded = memory.copy(), memory[:8].view(np.uint8)
    for out in (memory[5:9], memory[10:3:-2]):
        plan = chain.plan([np.s_[:2], np.s_[2:6]], [memory[20:22], out])
        shared = [part(encoded, wanted) for wanted in plan.ranges]
        for call in (lambda: plan.supply(len(shared) - 1, shared[-1]), lambda: plan.supply_all(shared)):
            with pytest.raises(ValueError, match="share memory"):
                call()
    np.testing.assert_array_equal(memory, before)


def test_plans_do_not_fill_memory_twice():
    chain, out = Chain([LITTLE], np.uint16, (8,), 0), np.zeros(6, np.uint16)
    with pytest.raises(ValueError, match="share memory"):
        chain.plan([np.s_[:4], np.s_[4:8]], [out[:4], out[2:]])
    plan = chain.plan([np.s_[:2], np.s_[2:4]], [out[::2][:2], out[1::2][:2]])
    for ranges in plan:
        plan.supply_all([part(np.arange(8, dtype="<u2").view(np.uint8), wanted) for wanted in ranges])
    np.testing.assert_array_equal(out, [0, 2, 1, 3, 0, 0])


def test_plans_fill_memory_around_what_they_read():
    chain, memory = Chain([LITTLE], np.uint16, (8,), 0), np.arange(24, dtype=np.uint16)
    plan = chain.plan([np.s_[:2], np.s_[2:6]], [memory[22:], memory[:4]])
    for ranges in plan:
        plan.supply_all([part(memory[8:16].view(np.uint8), wanted) for wanted in ranges])
    np.testing.assert_array_equal(memory, [10, 11, 12, 13, *range(4, 22), 8, 9])


def test_an_index_says_where_inner_chunks_lie(chain):
    array = ARRAY.copy()
    array[:8, :8] = 0
    encoded = chain.encode(array)
    index = Index(chain, part(encoded, index_range(chain)), len(encoded))
    assert index.entry((0, 0)) is None
    entry = index.entry((2, 3))
    assert isinstance(entry, Range)
    np.testing.assert_array_equal(chain.inner().decode(part(encoded, entry)), array[16:24, 24:32])
    assert index.memory > 0
    with pytest.raises(Error):
        index.entry((8, 0))
    with pytest.raises(Error):
        Index(chain, b"\xff" * index_range(chain).size, len(encoded))


def test_a_writer_makes_what_encode_makes(chain):
    writer = chain.writer(max_threads=2)
    writer.put(ARRAY[:, ::-1][:, ::-1])
    assert writer.ranges == []
    pieces, size = writer.finish()
    assert bytes(whole_object(pieces, size)) == chain.encode(ARRAY)
    with pytest.raises(Error):
        writer.finish()


@pytest.mark.parametrize("layout", Layout)
def test_a_writer_changes_a_part(chain, layout):
    old = chain.encode(ARRAY)
    index = Index(chain, part(old, index_range(chain)), len(old))
    writer = chain.writer(index, len(old))
    writer.put(np.full((3, 20), 7, np.uint16), np.s_[5:8, 3:23])
    writer.put(np.zeros((8, 8), np.uint16), np.s_[8:16, 8:16])
    assert 0 < len(writer.ranges) < 5
    for ranges in writer:
        for i, wanted in enumerate(ranges):
            writer.supply(i, part(old, wanted))
    pieces, size = writer.finish(layout)
    del writer
    if layout is Layout.PACKED:
        made = whole_object(pieces, size, old)
    else:
        made = bytearray(old) + bytes(max(0, size - len(old)))
        for piece in pieces:
            made[piece.offset : piece.offset + piece.size] = piece.data
    expected = ARRAY.copy()
    expected[5:8, 3:23], expected[8:16, 8:16] = 7, 0
    np.testing.assert_array_equal(chain.decode(made), expected)


def test_nothing_but_the_fill_value(chain):
    for store_empty in (False, True):
        writer = chain.writer(store_empty=store_empty)
        writer.put(np.zeros((64, 64), np.uint16))
        assert writer.ranges == []
        assert (writer.finish()[1] == index_range(chain).size) is not store_empty


def test_what_writers_refuse(chain):
    writer = chain.writer()
    with pytest.raises(TypeError, match="float64"):
        writer.put(np.zeros((64, 64)))
    with pytest.raises(ValueError, match="shape"):
        writer.put(np.zeros((3, 3), np.uint16))
    with pytest.raises(Error) as caught:
        Chain([LITTLE], "uint16", (4,), 0).writer()
    assert caught.value.status is Status.UNSUPPORTED


async def test_stages_that_nobody_supplies_are_not_repeated(chain):
    encoded = chain.encode(ARRAY)
    plan = chain.plan()
    with pytest.raises(ValueError, match="1 of the 1 ranges of this stage were not supplied"):
        list(plan)
    with pytest.raises(ValueError, match="not supplied"):
        async for _ in plan:
            pass
    for ranges in plan:  # and goes on where it was
        plan.supply_all([part(encoded, it) for it in ranges])
    np.testing.assert_array_equal(plan.result, ARRAY)


def test_a_callback_cannot_use_the_writer_that_runs_it():
    inner = ["bytes", {"name": "pad", "configuration": {"location": "end", "nbytes": 1}}]
    configuration = {"chunk_shape": [4], "codecs": inner, "index_codecs": [LITTLE, "crc32c"]}
    chain = Chain([{"name": "sharding_indexed", "configuration": configuration}], "uint8", (8,), 0)
    refused = []

    def generate(_, padding):
        for use in (
            lambda: writer.ranges,
            writer.finish,
            lambda: writer.put(np.full(4, 9, np.uint8), np.s_[4:]),
            lambda: writer.supply(0, b""),
        ):
            with pytest.raises(Error) as caught:
                use()
            refused.append(caught.value.status)

    chain.set_padding("/0/configuration/codecs/1", generate)
    writer = chain.writer()
    writer.put(np.ones(2, np.uint8), np.s_[:2])  # an inner chunk that is encoded when the next stage is asked for
    assert writer.ranges == []
    assert refused == [Status.INVALID_ARGUMENT] * 4
    pieces, size = writer.finish()
    np.testing.assert_array_equal(chain.decode(whole_object(pieces, size)), [1, 1, 0, 0, 0, 0, 0, 0])

    refused.clear()
    writer = chain.writer()
    writer.put(np.ones(2, np.uint8), np.s_[:2])
    assert writer.finish()[1] == size  # which encodes it, too
    assert refused == [Status.INVALID_ARGUMENT] * 4


def test_sizes_are_checked(chain):
    encoded = part(chain.encode(ARRAY), index_range(chain))
    for size in (-1, 2**64):
        for call in (
            lambda: chain.plan(object_size=size), lambda: chain.writer(None, size), lambda: Index(chain, encoded, size),
            lambda: chain.encoded_bound(size), lambda: Chain(["bytes"], "uint8", (4,), max_decoded_size=size),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=f"is {size}, expected 0 to"):
                call()
