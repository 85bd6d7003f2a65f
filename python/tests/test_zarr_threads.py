"""Chunks of one request on several threads."""

import asyncio
import contextvars
import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

import zcodec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.buffer.cpu import NDBuffer
from zarr.storage import LocalStore, MemoryStore
from zcodec.callbacks import processors
from zcodec.zarr import threads
from zcodec.zarr.threads import WORTH_A_THREAD, for_each, in_thread, max_threads


@pytest.fixture(autouse=True)
def pipeline():
    with zarr.config.set({"codec_pipeline.path": "zcodec.zarr.CodecPipeline", "codec_pipeline.max_workers": 3}):
        yield


def test_items_are_divided_among_threads():
    met = threading.Barrier(3, timeout=60)
    shares = {}

    def work(item, threads):
        if item < 3:
            met.wait()
        shares[item] = threads

    for_each(range(10), work, 3 * WORTH_A_THREAD)
    assert sorted(shares) == list(range(10))
    assert shares[0] == 1 and shares[9] == 3
    assert not any(thread.name == "zcodec" for thread in threading.enumerate())


@pytest.mark.parametrize(("items", "size", "shares"), [(10, WORTH_A_THREAD - 1, 3), (1, 1 << 30, 3), (2, 1 << 30, 1)])
def test_few_items_use_several_threads_each(items, size, shares):
    found = []
    for_each(range(items), lambda item, threads: found.append((item, threads)), size)
    assert (0, shares) in found and len(found) == items


def test_an_exception_ends_the_others():
    begun = []

    def work(item, _):
        begun.append(item)
        raise KeyError(item)

    with pytest.raises(KeyError):
        for_each(range(1000), work, 1 << 30)
    assert len(begun) <= 3


@pytest.mark.parametrize("workers", ["auto", "1.5", [2], float("inf")])
def test_what_is_no_number_of_threads_is_ignored_with_a_warning(workers):
    array = zarr.create_array(MemoryStore(), shape=(6,), chunks=(2,), dtype="uint8")
    with zarr.config.set({"codec_pipeline.max_workers": workers}):
        with pytest.warns(UserWarning, match="codec_pipeline.max_workers is .* expected a number of threads"):
            array[...] = 1
            assert array[...].tolist() == [1] * 6
        with pytest.warns(UserWarning, match="all processors"):
            assert max_threads() == processors()


def test_threads_have_the_settings_of_the_caller():
    setting = contextvars.ContextVar("setting", default=0)
    setting.set(7)
    met = threading.Barrier(3, timeout=60)
    found = []

    def work(item, _):
        met.wait()
        found.append(setting.get())

    for_each(range(3), work, 1 << 30)
    assert found == [7, 7, 7]


async def test_what_a_thread_has_begun_ends_before_its_call():
    """However often the call is cancelled. What has not begun is left."""
    begun, done = threading.Event(), []

    def work(name):
        begun.set()
        time.sleep(0.3)
        done.append(name)
        raise KeyError(name)

    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    calls = [asyncio.create_task(in_thread(work, name)) for name in ("first", "second")]
    while not begun.is_set():
        await asyncio.sleep(0.01)
    for _ in range(3):
        for call in calls:
            call.cancel()
        await asyncio.sleep(0.01)
    for call in calls:
        with pytest.raises(asyncio.CancelledError):
            await call
        assert done == ["first"]


async def test_what_waits_for_a_thread_is_cancelled_at_once():
    released, done = threading.Event(), []
    executor = ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(executor)
    busy = executor.submit(released.wait, 60)
    try:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_thread(done.append, "late"), 0.05)
        assert not busy.done()
    finally:
        released.set()
    executor.shutdown()
    assert done == []


@pytest.mark.parametrize("place", ["memory", "files", "wrapped"])
def test_methods_of_one_store_are_called(tmp_path, monkeypatch, place):
    """As mocks replace them."""
    store = zarr.storage.LocalStore(tmp_path) if place == "files" else zarr.storage.MemoryStore()
    outer = zarr.storage.WrapperStore(store) if place == "wrapped" else store
    array = zarr.create_array(outer, shape=(4,), chunks=(2,), dtype="int16")
    array[...] = 7
    keys, get = [], store.get

    async def counting_get(key, *arguments, **options):
        keys.append(key)
        return await get(key, *arguments, **options)

    monkeypatch.setattr(store, "get", counting_get)
    assert array[...].tolist() == [7] * 4
    assert sorted(keys) == ["c/0", "c/1"]


@pytest.mark.parametrize("chunks", [(64, 1200), (700, 500), (40, 40)], ids=["large", "larger", "small"])
@pytest.mark.parametrize("shards", [False, True])
@pytest.mark.parametrize("folder", [False, True])
def test_chunks_of_all_sizes(tmp_path, chunks, shards, folder):
    layout = {"chunks": (chunks[0] // 2, chunks[1] // 2), "shards": chunks} if shards else {"chunks": chunks}
    values = np.random.default_rng(0).integers(0, 50, (1300, 1200)).astype("float64")
    array = zarr.create_array(
        LocalStore(tmp_path) if folder else MemoryStore(), shape=values.shape, dtype="float64", fill_value=-1, **layout
    )
    array[:1000] = values[:1000]
    values[1000:] = -1
    np.testing.assert_array_equal(array[...], values)
    np.testing.assert_array_equal(array[3:1290, 5], values[3:1290, 5])
    np.testing.assert_array_equal(array[7:1200:3], values[7:1200:3])
    np.testing.assert_array_equal(array.oindex[[5, 77, 1299]], values[[5, 77, 1299]])


async def test_a_damaged_chunk_is_named():
    values = np.ones((1024, 1024), "float32")
    array = zarr.create_array(MemoryStore(), shape=values.shape, chunks=(256, 1024), dtype="float32")
    await array._async_array.setitem(..., values)
    await array.store.set("c/2/0", zarr.core.buffer.cpu.Buffer.from_bytes(b"damaged"))
    with pytest.raises(zcodec.Error) as caught:
        await array._async_array.getitem(...)
    assert caught.value.__notes__ == [f"chunk {array.store_path}/c/2/0"]


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("shards", [None, (64,)])
@pytest.mark.parametrize("work", ["getitem", "setitem"])
async def test_a_chunk_is_named_whatever_is_raised(monkeypatch, waits, shards, work):
    def fails(*_, **__):
        raise ConnectionError("no answer")

    store = (Waiting if waits else MemoryStore)()
    array = zarr.create_array(store, shape=(64,), chunks=(8,), shards=shards, dtype="uint8", fill_value=1)._async_array
    await array.setitem(..., np.arange(64))
    for name in ("get", "get_sync", "get_ranges"):
        monkeypatch.setattr(store, name, fails, raising=False)
    arguments = [np.s_[3:7]] if work == "getitem" else [np.s_[3:7], 5]
    with pytest.raises(ConnectionError) as caught:
        await getattr(array, work)(*arguments)
    assert caught.value.__notes__ == [f"chunk {array.store_path}/c/0"]


async def test_a_chunk_that_cannot_be_stored_is_named(monkeypatch):
    def fails(*_, **__):
        raise ConnectionError("no answer")

    for store in (Waiting(), MemoryStore()):
        array = zarr.create_array(store, shape=(64,), chunks=(8,), dtype="uint8", fill_value=1)._async_array
        for name in ("set", "set_sync"):
            monkeypatch.setattr(store, name, fails, raising=False)
        with pytest.raises(ConnectionError) as caught:
            await array.setitem(np.s_[8:16], 5)
        assert caught.value.__notes__ == [f"chunk {array.store_path}/c/1"]


async def test_a_cancelled_request_begins_no_more_items():
    begun, items = threading.Event(), []

    def work(item, _):
        items.append(item)
        begun.set()
        time.sleep(0.05)

    with zarr.config.set({"codec_pipeline.max_workers": 4}):
        call = asyncio.create_task(in_thread(for_each, range(1000), work, 1 << 30))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert 0 < len(items) < 500
    for_each(range(3), lambda item, _: items.append(item), 0)  # another request goes on
    assert items[-3:] == [0, 1, 2]


class Waiting(MemoryStore):
    """A store that must be waited for."""

    _supports_sync_io = False

    async def get(self, *arguments, **options):
        await asyncio.sleep(0)
        return await super().get(*arguments, **options)


@pytest.mark.parametrize("store", [MemoryStore, Waiting])
@pytest.mark.parametrize("shards", [False, True])
@pytest.mark.parametrize(("size", "count"), [(1 << 20, 1), (1000, 0)])
async def test_a_large_chunk_is_not_decoded_on_the_event_loop(monkeypatch, store, shards, size, count):
    """Even if little of it is wanted."""
    calls = []

    async def counted(*arguments):
        calls.append(arguments)
        return await in_thread(*arguments)

    layout = {"chunks": (size,), "shards": (4 * size,)} if shards else {"chunks": (size,)}
    array = zarr.create_array(store(), shape=(4 * size,), dtype="uint8", **layout)._async_array
    await array.setitem(..., 1)
    monkeypatch.setattr(threads, "in_thread", counted)
    assert await array.getitem(size + 5) == 1
    assert len(calls) == count


@pytest.mark.parametrize(("size", "count"), [(1 << 20, 2), (1000, 0)])
async def test_large_batches_are_not_coded_on_the_event_loop(monkeypatch, size, count):
    calls = []

    async def counted(*arguments):
        calls.append(arguments)
        return await in_thread(*arguments)

    array = zarr.create_array(MemoryStore(), shape=(size,), chunks=(size,), dtype="uint8")._async_array
    spec = ArraySpec(
        shape=(size,), dtype=array.metadata.data_type, fill_value=np.uint8(0),
        config=ArrayConfig(order="C", write_empty_chunks=False), prototype=default_buffer_prototype(),
    )  # fmt: skip
    monkeypatch.setattr(threads, "in_thread", counted)
    values = np.arange(size).astype("uint8")
    encoded = await array.codec_pipeline.encode([(NDBuffer.from_ndarray_like(values), spec)])
    decoded = await array.codec_pipeline.decode([(encoded[0], spec)])
    np.testing.assert_array_equal(decoded[0].as_numpy_array(), values)
    assert len(calls) == count


@pytest.mark.parametrize("selection", [np.s_[...], np.s_[:, 3]])
def test_chunks_are_freed_as_they_are_decoded(monkeypatch, selection):
    from zcodec.zarr import read

    alive = most = 0

    def gone():
        nonlocal alive
        alive -= 1

    class Counting(Waiting):
        async def get(self, key, *arguments, **options):
            nonlocal alive, most
            found = await super().get(key, *arguments, **options)
            if found is None or key.endswith("zarr.json"):
                return found
            memory = found.as_numpy_array().copy()
            weakref.finalize(memory, gone)
            alive += 1
            most = max(most, alive)
            return zarr.core.buffer.cpu.Buffer.from_array_like(memory)

    values = np.random.default_rng(0).integers(0, 999, (600, 100)).astype("uint16")
    array = zarr.create_array(Counting(), shape=values.shape, chunks=(2, 100), dtype="uint16")
    array[...] = values
    monkeypatch.setattr(read, "WINDOW", 2000)  # five chunks
    with zarr.config.set({"async.concurrency": 10}):
        np.testing.assert_array_equal(array[selection], values[selection])
    # Two windows are decoded, and one may wait; threads that have ended may not have let go of others.
    assert 5 <= most < 150


async def test_reading_ends_when_a_chunk_cannot_be_decoded(monkeypatch):
    from zcodec.zarr import read

    class Counting(Waiting):
        count = 0

        async def get(self, *arguments, **options):
            Counting.count += 1
            await asyncio.sleep(0.001)
            return await super().get(*arguments, **options)

    def fails(*_):
        raise KeyError("damaged")

    array = zarr.create_array(Counting(), shape=(3000,), chunks=(1,), dtype="uint8")._async_array
    await array.setitem(..., 1)
    monkeypatch.setattr(read, "WINDOW", 1)
    monkeypatch.setattr(read, "decode_window", fails)
    Counting.count = 0
    with pytest.raises(KeyError):
        await array.getitem(...)
    assert Counting.count < 2000


@pytest.mark.parametrize("shards", [None, (32,)])
def test_requests_without_a_limit(shards):
    with zarr.config.set({"async.concurrency": None}):
        array = zarr.create_array(Waiting(), shape=(64,), chunks=(8,), shards=shards, dtype="uint8")
        array[...] = np.arange(64)
        array[3:40:3] = 7
        expected = np.arange(64)
        expected[3:40:3] = 7
        np.testing.assert_array_equal(array[...], expected)
        np.testing.assert_array_equal(array[5:7], expected[5:7])


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced there")
def test_a_shard_that_is_replaced_while_it_is_read(tmp_path, monkeypatch):
    """The index and the inner chunks are those of one file."""
    from zcodec.zarr import local

    array = zarr.create_array(tmp_path, shape=(8,), chunks=(1,), shards=(8,), dtype="int32", compressors=None)
    old, new = np.arange(1, 9), np.where(np.arange(8) % 2, np.arange(1, 9), 0)
    array[...] = new
    shard = tmp_path / "c" / "0"
    shard.rename(tmp_path / "new")
    array[...] = old
    read = local.part

    def replacing(file, request):
        found = read(file, request)
        if (tmp_path / "new").exists():
            (tmp_path / "new").replace(shard)
        return found

    monkeypatch.setattr(local, "part", replacing)
    assert array[5] == 6
    assert not (tmp_path / "new").exists()
    assert array[2] == 0
