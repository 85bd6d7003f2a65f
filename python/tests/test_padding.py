"""Paddings that Python computes and looks at."""

import base64
import contextlib
import gc
import pickle
import re
import sys
import threading

import numpy as np
import pytest

from zcodec import Chain, Error, Index, Status, errors
from zcodec.plan import read_object

PAD = {
    "name": "pad",
    "configuration": {"location": "start", "nbytes": 8, "padding": base64.b64encode(bytes(8)).decode()},
}

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


@pytest.fixture
def chain():
    return Chain(["bytes", PAD], "uint8", (64,), 0)


ARRAY = np.arange(64, dtype=np.uint8)


def size_of_chunk(chunk, padding):
    assert chunk.readonly and not padding.readonly and bytes(padding) == bytes(8)
    padding[:] = len(chunk).to_bytes(8, "little")


def must_be_64(chunk, padding):
    assert chunk.readonly and padding.readonly
    if int.from_bytes(padding, "little") != len(chunk):
        return False


def test_generate_and_check(chain):
    chain.set_padding(1, generate=size_of_chunk, check=must_be_64)
    encoded = chain.encode(ARRAY)
    assert encoded == (64).to_bytes(8, "little") + ARRAY.tobytes()
    np.testing.assert_array_equal(chain.decode(encoded), ARRAY)
    np.testing.assert_array_equal(chain.decode(encoded, box=slice(3, 9)), ARRAY[3:9])
    with pytest.raises(Error) as caught:
        chain.decode(b"\x07" + encoded[1:])
    assert caught.value.status is Status.CORRUPT_DATA
    assert caught.value.__cause__ is None
    assert caught.value.codec_index == 1


def test_a_check_that_returns_no_truth_value(chain, capfd):
    chain.set_padding(1, check=lambda chunk, padding: np.frombuffer(padding, np.uint8) == 0)
    with pytest.raises(Error, match="pad") as caught:
        chain.decode(bytes(72))
    assert "ambiguous" in str(caught.value.__cause__)
    assert capfd.readouterr().err == ""


def test_one_of_the_two(chain):
    chain.set_padding(1, generate=size_of_chunk)
    assert chain.decode(b"\xff" * 8 + ARRAY.tobytes())[3] == 3
    chain.set_padding(1)
    assert chain.encode(ARRAY)[:8] == bytes(8)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_callbacks_raise_is_the_cause(chain, threads):
    def fails(chunk, padding):
        raise KeyError("no such key")

    chain.set_padding(1, generate=fails, check=fails)
    encoded = bytes(72)
    for call, status in (
        (lambda: chain.encode(ARRAY, max_threads=threads), Status.CALLBACK_FAILED),
        (lambda: chain.decode(encoded, max_threads=threads), Status.CORRUPT_DATA),
        (lambda: chain.decode_many([encoded] * 3, max_threads=threads), Status.CORRUPT_DATA),
        (lambda: chain.encode_many([ARRAY] * 3, max_threads=threads), Status.CALLBACK_FAILED),
    ):
        with pytest.raises(Error) as caught:
            call()
        assert caught.value.status is status
        assert isinstance(caught.value.__cause__, KeyError)


def test_an_interrupt_is_not_an_error(chain):
    def interrupted(chunk, padding):
        raise KeyboardInterrupt

    chain.set_padding(1, generate=interrupted)
    with pytest.raises(KeyboardInterrupt):
        chain.encode(ARRAY)


@contextlib.contextmanager
def interrupted_at(*names):
    """Raises KeyboardInterrupt before the first statement of a function, as a signal does that came while the library
    worked."""

    def interrupt(frame, event, argument):
        if frame.f_code.co_name in names and frame.f_globals["__name__"].startswith("zcodec."):
            raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("name", ["generate", "check"])
def test_an_interrupt_before_a_callback_is_not_lost(chain, name):
    chain.set_padding(1, generate=lambda chunk, padding: None, check=lambda chunk, padding: None)
    encoded = chain.encode(ARRAY)
    call = {"generate": lambda: chain.encode(ARRAY), "check": lambda: chain.decode(encoded)}[name]
    with pytest.raises(KeyboardInterrupt), interrupted_at(name):
        call()
    assert chain.encode(ARRAY) == encoded
    np.testing.assert_array_equal(chain.decode(encoded), ARRAY)


def test_a_callback_cannot_free_the_memory_of_a_padding(chain):
    def clear(chunk, padding):
        owner = padding.obj
        padding.release()
        owner.clear()

    chain.set_padding(1, generate=clear)
    with pytest.raises(Error) as caught:
        chain.encode(ARRAY)
    assert isinstance(caught.value.__cause__, BufferError)


def test_an_interrupt_of_one_task_comes_from_its_error_and_all_errors_are_freed(chain, monkeypatch):
    def interrupted(chunk, padding):
        raise KeyboardInterrupt

    freed = []

    class Counting:
        def __getattr__(self, name):
            return getattr(library, name)

        def zcodec_error_free(self, error):
            freed.append(error)
            library.zcodec_error_free(error)

    library = errors.lib
    monkeypatch.setattr(errors, "lib", Counting())
    chain.set_padding(1, generate=interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        chain.encode_many([ARRAY] * 3, max_threads=1)
    assert caught.value.__cause__.status is Status.CALLBACK_FAILED
    assert caught.value.__cause__.__cause__ is None
    assert len(freed) == 3


@pytest.mark.parametrize("keep", [lambda view: view, lambda view: view[1:5], lambda view: np.frombuffer(view, np.uint8)])
def test_memory_may_be_kept(chain, keep):
    """Whatever a callback keeps is its own: it does not change when the library's memory is used again, or freed."""
    kept = []

    def both(chunk, padding):
        padding[:] = b"12345678"
        kept.extend((keep(chunk), keep(padding)))

    chain.set_padding(1, generate=both, check=lambda chunk, padding: kept.extend((keep(chunk), keep(padding))))
    encoded = bytearray(chain.encode(ARRAY))
    chain.decode(encoded)
    encoded[:] = bytes(72)
    chain.encode(ARRAY[::-1])
    assert len(kept) == 6
    for chunk, padding in zip(kept[:4:2], kept[1:4:2], strict=True):
        assert bytes(chunk) == bytes(keep(memoryview(ARRAY.tobytes())))
        assert bytes(padding) == bytes(keep(memoryview(b"12345678")))
    kept[1][0:1] = memoryview(b"x") if isinstance(kept[1], memoryview) else 0  # written too late: no effect, no crash
    del chain, encoded
    assert bytes(kept[0]) == bytes(keep(memoryview(ARRAY.tobytes())))


def test_callbacks_may_call_the_library(chain):
    inner = Chain(["bytes", "crc32c"], "uint8", (64,), 0)

    def checksum(chunk, padding):
        padding[:4] = inner.encode(np.frombuffer(bytes(chunk), np.uint8))[-4:]
        with pytest.raises(Error):
            inner.decode(b"damaged")

    chain.set_padding(1, generate=checksum)
    assert chain.encode(ARRAY)[:4] == inner.encode(ARRAY)[-4:]


def test_paddings_follow_shapes_and_pickles(chain):
    chain.set_padding(1, size_of_chunk, must_be_64)
    for other in (chain.with_shape((9,)), pickle.loads(pickle.dumps(chain)).with_shape((9,))):
        assert other.encode(ARRAY[:9])[:8] == (9).to_bytes(8, "little")
    del chain
    assert other.encode(ARRAY[:9])[:8] == (9).to_bytes(8, "little")


def first(chunk, padding):
    padding[:] = b"1" * 8


def second(chunk, padding):
    padding[:] = b"2" * 8


def test_paddings_follow_inner_chains():
    def shard(size, *codecs):
        configuration = {"chunk_shape": [size], "codecs": codecs, "index_codecs": [LITTLE]}
        return {"name": "sharding_indexed", "configuration": configuration}

    flip = {"name": "transpose", "configuration": {"order": [0]}}
    chain = Chain([flip, shard(32, shard(16, "bytes", PAD))], "uint8", (64,), 0)
    chain.set_padding("/1/configuration/codecs/0/configuration/codecs/1", second)
    for inner in (chain.inner(), pickle.loads(pickle.dumps(chain)).inner(), pickle.loads(pickle.dumps(chain.inner()))):
        assert inner.encode(ARRAY[:32]).startswith(b"2" * 8)
        for innermost in (inner.inner(), pickle.loads(pickle.dumps(inner.inner()))):
            assert innermost.encode(ARRAY[:16]) == b"2" * 8 + ARRAY[:16].tobytes()


def test_a_padding_replaces_that_of_the_same_codec(chain):
    for codec_index, generate in ((1, first), ("/1", second), (1, first)):
        chain.set_padding(codec_index, generate)
    for same in (chain, chain.with_shape((9,)), pickle.loads(pickle.dumps(chain))):
        assert same.encode(np.zeros(same.shape, np.uint8)).startswith(b"1" * 8)


def test_paths_and_wrong_indices(chain):
    chain.set_padding("/1", size_of_chunk)
    assert chain.encode(ARRAY)[0] == 64
    for wrong in (0, 2, "/0", "/1/x", 2**40):
        with pytest.raises(Error):
            chain.set_padding(wrong, size_of_chunk)
    with pytest.raises(IndexError):
        chain.set_padding(-1, size_of_chunk)


def test_plans_check_paddings(chain):
    chain.set_padding(1, size_of_chunk, must_be_64)
    encoded = chain.encode(ARRAY)
    plan = chain.plan(slice(3, 9))
    chain.set_padding(1)
    for ranges in plan:
        plan.supply_all([encoded[part.offset : part.size and part.offset + part.size] for part in ranges])
    np.testing.assert_array_equal(plan.result, ARRAY[3:9])


def test_an_error_does_not_come_from_callbacks_of_calls_before():
    configuration = {"chunk_shape": [1 << 16], "codecs": ["bytes", PAD], "index_codecs": [LITTLE]}
    shape = (1 << 20,)
    chain = Chain([{"name": "sharding_indexed", "configuration": configuration}], "uint8", shape, 0)
    encoded = chain.encode(np.ones(shape, np.uint8))
    together = threading.Barrier(2)

    def raising(chunk, padding):
        together.wait(10)
        raise KeyError(threading.get_ident())

    chain.set_padding("/0/configuration/codecs/1", check=raising)
    plan = chain.plan(index=Index(chain, encoded[-256:], len(encoded)), max_threads=2)
    with pytest.raises(Error) as caught:
        plan.supply_all([encoded[offset : offset + size] for offset, size in plan.ranges])
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(Error, match="has ended") as caught:
        plan.supply(0, b"")
    assert caught.value.__cause__ is None


def test_plans_and_writers_keep_the_paddings_they_began_with():
    path = "/0/configuration/codecs/1"
    configuration = {"chunk_shape": [32], "codecs": ["bytes", PAD], "index_codecs": [LITTLE]}
    chain = Chain([{"name": "sharding_indexed", "configuration": configuration}], "uint8", (64,), 0)

    def must_be_32(chunk, padding):
        return int.from_bytes(padding, "little") == 32

    chain.set_padding(path, lambda chunk, padding: size_of_chunk(chunk, padding), must_be_32)
    encoded = chain.encode(ARRAY)
    plan, writer = chain.plan(slice(3, 9)), chain.writer()
    chain.set_padding(path)
    gc.collect()
    np.testing.assert_array_equal(read_object(plan, encoded), ARRAY[3:9])
    writer.put(ARRAY)
    assert list(writer) == []
    assert b"".join(bytes(piece.data) for piece in writer.finish()[0]) == encoded


def test_what_is_no_function_is_refused_at_once(chain):
    for arguments in ({"generate": 5}, {"check": b""}):
        with pytest.raises(TypeError, match="expected a function"):
            chain.set_padding(1, **arguments)


@pytest.mark.parametrize("codec_index", [None, 1.0, ["/1"]])
def test_a_codec_index_that_is_no_integer_is_named(chain, codec_index):
    with pytest.raises(TypeError, match=re.escape(f"codec_index is {codec_index!r}, expected an integer or a path")):
        chain.set_padding(codec_index, size_of_chunk)
