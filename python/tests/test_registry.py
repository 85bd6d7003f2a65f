"""Codecs written in Python."""

import gc
import pickle
import threading
import weakref
import zlib

import numpy as np
import pytest

from zcodec import Chain, Error, HostCodec, Kind, Registry, Status
from zcodec.tasks import EncodeTask, run_encode

from test_padding import interrupted_at

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


class Negate(HostCodec):
    """array->array"""

    name = "test.negate"
    kind = Kind.ARRAY_TO_ARRAY

    def encode(self, decoded):
        assert not decoded.flags.writeable
        return -decoded

    decode = encode


class Text(HostCodec):
    """array->bytes, of a size that is only known afterwards"""

    name = "test.text"
    kind = Kind.ARRAY_TO_BYTES

    def encode(self, decoded):
        return " ".join(str(number) for number in decoded.ravel()).encode()

    def decode(self, encoded):
        return np.array(bytes(encoded).split(), np.int32)


class Deflate(HostCodec):
    """bytes->bytes"""

    name = "test.deflate"
    kind = Kind.BYTES_TO_BYTES

    def __init__(self, configuration, entering):
        super().__init__(configuration, entering)
        if not 0 <= configuration["level"] <= 9:
            raise ValueError(f"level is {configuration['level']}, expected 0 to 9")

    def encoded_bound(self, decoded_size):
        return decoded_size + decoded_size // 1000 + 64

    def encode(self, decoded):
        return zlib.compress(decoded, self.configuration["level"])

    def decode(self, encoded):
        return zlib.decompress(encoded)


DEFLATE = {"name": "test.deflate", "configuration": {"level": 6}}
ARRAY = np.arange(600, dtype=np.int32).reshape(20, 30)


@pytest.fixture
def registry():
    return Registry([Negate, Text, Deflate])


@pytest.mark.parametrize(
    "codecs",
    [
        ["test.negate", LITTLE],
        ["test.text"],
        ["test.negate", "test.text", DEFLATE],
        [LITTLE, DEFLATE],
        [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [5, 10], "codecs": ["test.negate", LITTLE, DEFLATE],
            "index_codecs": [LITTLE, "crc32c"], "index_location": "end"}}],
    ],
    ids=["array_to_array", "array_to_bytes", "all", "bytes_to_bytes", "sharding"],
)  # fmt: skip
def test_every_kind(registry, codecs):
    chain = Chain(codecs, "int32", ARRAY.shape, 0, registry=registry)
    encoded = chain.encode(ARRAY)
    np.testing.assert_array_equal(chain.decode(encoded), ARRAY)
    np.testing.assert_array_equal(chain.decode(encoded, box=np.s_[3:9, ::-2]), ARRAY[3:9, ::-2])
    assert chain.encode(ARRAY[::-1]) == chain.encode(ARRAY[::-1].copy())
    encoded_many = chain.encode_many([ARRAY, ARRAY + 1])
    np.testing.assert_array_equal(chain.decode_many(encoded_many)[1], ARRAY + 1)
    again = pickle.loads(pickle.dumps(chain))
    assert again.encode(ARRAY) == encoded
    small = chain.with_shape((5, 10))
    np.testing.assert_array_equal(small.decode(small.encode(ARRAY[:5, :10])), ARRAY[:5, :10])


def test_bytes_are_those_of_the_codec(registry):
    chain = Chain([LITTLE, DEFLATE], "int32", ARRAY.shape, 0, registry=registry)
    assert chain.encode(ARRAY) == zlib.compress(ARRAY.tobytes(), 6)
    assert Chain([DEFLATE], registry=registry).encode(b"abc") == zlib.compress(b"abc", 6)


def test_what_a_codec_raises(registry):
    with pytest.raises(Error, match="level is 10") as caught:
        Chain([LITTLE, {"name": "test.deflate", "configuration": {"level": 10}}], "int32", (4,), 0, registry=registry)
    assert caught.value.status is Status.INVALID_METADATA
    assert isinstance(caught.value.__cause__, ValueError)
    chain = Chain([LITTLE, DEFLATE], "int32", (4,), 0, registry=registry)
    with pytest.raises(Error) as caught:
        chain.decode(b"no zlib stream")
    assert caught.value.status is Status.CORRUPT_DATA
    assert isinstance(caught.value.__cause__, zlib.error)
    with pytest.raises(Error):
        chain.decode(zlib.compress(b"too short"))


def test_an_interrupt_of_a_codec_is_not_an_error():
    class Interrupted(Negate):
        name = "test.interrupted"

        def __init__(self, configuration, entering):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        Chain(["test.interrupted", LITTLE], "int32", (4,), 0, registry=Registry([Interrupted]))
    assert caught.value.__cause__.status is Status.INVALID_METADATA


@pytest.mark.parametrize("name", ["bind", "encode", "decode", "encoded_bound"])
def test_an_interrupt_before_a_codec_is_not_lost(registry, name):
    def made():
        return Chain([LITTLE, DEFLATE], "int32", ARRAY.shape, 0, registry=registry)

    chain = made()
    encoded = chain.encode(ARRAY)
    calls = {"bind": [made], "encode": [lambda: chain.encode(ARRAY)], "decode": [lambda: chain.decode(encoded)]}
    bounds = [lambda: chain.encode(ARRAY), lambda: chain.encode_many([ARRAY] * 2), lambda: chain.encoded_bound(7), made]
    for call in calls.get(name, bounds):
        with pytest.raises(KeyboardInterrupt), interrupted_at(name):
            call()
        assert chain.encode(ARRAY) == encoded
        np.testing.assert_array_equal(chain.decode(encoded), ARRAY)


def test_an_exception_without_a_text_is_kept():
    class Silent(ValueError):
        def __str__(self):
            raise TypeError

    class Refusing(Text):
        name = "test.refusing"

        def encode(self, decoded):
            raise Silent

    chain = Chain(["test.refusing"], "int32", (4,), 0, registry=Registry([Refusing]))
    with pytest.raises(Error, match="Silent") as caught:
        chain.encode(np.zeros(4, np.int32))
    assert isinstance(caught.value.__cause__, Silent)


def test_tasks_that_fail_when_they_have_more_room_are_named():
    class Once(Text):
        name = "test.once"
        count = 0

        def encode(self, decoded):
            type(self).count += 1
            if self.count > 2:
                raise ValueError("not again")
            return bytes(10_000)

    chain = Chain(["test.once"], "int32", (4,), 0, registry=Registry([Once]))
    with pytest.raises(Error, match="not again") as caught:
        chain.encode_many([np.zeros(4, np.int32)] * 2, max_threads=1)
    assert caught.value.__notes__ == ["chunk 0 of 2, and 1 other"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda array: array.astype(np.float32), r"expected int32 of shape \(20, 30\), not float32"),
        (lambda array: array.view(np.uint32), "expected int32.*not uint32"),
        (lambda array: array.T, r"expected.*\(20, 30\), not int32 of shape \(30, 20\)"),
        (lambda array: array.astype(object), "not object"),
    ],
)
def test_arrays_are_what_the_codec_said(wrong, says):
    class Wrong(Negate):
        name = "test.wrong"

        def encode(self, decoded):
            return wrong(decoded) if (decoded == ARRAY).all() else decoded

        decode = encode

    chain = Chain([LITTLE], "int32", ARRAY.shape, 0)
    of_arrays = Chain(["test.wrong", LITTLE], "int32", ARRAY.shape, 0, registry=Registry([Wrong]))
    for call in (lambda: of_arrays.encode(ARRAY), lambda: of_arrays.decode(chain.encode(ARRAY))):
        with pytest.raises(Error, match=f'codecs.0. "test.wrong": .*{says}') as caught:
            call()
        assert isinstance(caught.value.__cause__, TypeError)
    for right in (lambda array: array.astype(">i4"), np.asfortranarray, np.ravel):
        wrong = right
        np.testing.assert_array_equal(of_arrays.decode(of_arrays.encode(ARRAY)), ARRAY)


@pytest.mark.filterwarnings("ignore:The 'generic' unit")
def test_times_of_the_other_byte_order():
    """Also without a unit: numpy does not swap the bytes of such times."""

    class Swapped(Negate):
        name = "test.swapped"

        def encode(self, decoded):
            return decoded.view("i8").astype(">i8").view(">m8")

        decode = encode

    counts = np.array([0, 1, -2, 100])
    chain = Chain(["test.swapped"], np.dtype("m8"), (4,), 0, registry=Registry([Swapped]))
    np.testing.assert_array_equal(chain.encode(counts.view("m8")).view("i8"), counts)


class BigEndian(HostCodec):
    """array->bytes, and bytes->bytes: its bytes are those of arrays in another byte order"""

    name = "test.big"
    kind = Kind.ARRAY_TO_BYTES

    def encode(self, decoded):
        return np.asarray(decoded).astype(">u2")

    def decode(self, encoded):
        return np.frombuffer(encoded, ">u2")


class BigEndianBytes(BigEndian):
    name = "test.big-bytes"
    kind = Kind.BYTES_TO_BYTES

    def encode(self, decoded):
        return np.frombuffer(decoded, "<u2").astype(">u2")

    def decode(self, encoded):
        return np.frombuffer(encoded, ">u2").astype("<u2")


@pytest.mark.parametrize("codecs", [["test.big"], [LITTLE, "test.big-bytes"]])
def test_bytes_have_no_byte_order(codecs):
    chain = Chain(codecs, "uint16", (4,), 0, registry=Registry([BigEndian, BigEndianBytes]))
    numbers = np.array([0, 1, 2, 0x1234], "u2")
    encoded = chain.encode(numbers)
    assert bytes(encoded) == numbers.astype(">u2").tobytes()
    np.testing.assert_array_equal(chain.decode(encoded), numbers)


def test_pointers_are_no_bytes():
    class Pointers(Deflate):
        name = "test.pointers"

        def encode(self, decoded):
            return np.array(["a", "b"], object)

    chain = Chain([LITTLE, {**DEFLATE, "name": "test.pointers"}], "int32", (4,), 0, registry=Registry([Pointers]))
    with pytest.raises(Error, match='codecs.1. "test.pointers": .*not the pointers of an array of object'):
        chain.encode(np.zeros(4, np.int32))


@pytest.mark.parametrize("codecs", [[LITTLE, "test.bound"], ["test.bound"], [LITTLE, "zstd", "test.bound"]])
@pytest.mark.parametrize(("bound", "says"), [(-1, "gave -1"), (2.5, "gave 2.5"), ("10", "gave '10'"), (None, "division")])
def test_a_wrong_bound_makes_no_chain(codecs, bound, says):
    class Bound(Deflate):
        name = "test.bound"
        kind = Kind.BYTES_TO_BYTES if len(codecs) > 1 else Kind.ARRAY_TO_BYTES

        def __init__(self, configuration, entering):
            HostCodec.__init__(self, configuration, entering)

        def encoded_bound(self, decoded_size):
            return decoded_size // 0 if bound is None else bound

    with pytest.raises(Error, match=f'test.bound.*{says}') as caught:
        Chain(codecs, "int32", (4,), 0, registry=Registry([Bound]))
    assert caught.value.status is Status.INVALID_METADATA


class Own(Registry):
    def __init__(self):
        super().__init__([Deflate])


def test_a_derived_registry_stays_one():
    copied = pickle.loads(pickle.dumps(Own()))
    assert type(copied) is Own
    chain = Chain([LITTLE, DEFLATE], "int32", ARRAY.shape, 0, registry=copied)
    np.testing.assert_array_equal(chain.decode(chain.encode(ARRAY)), ARRAY)


def test_names(registry):
    with pytest.raises(Error):
        registry.add(Negate)

    class Builtin(Negate):
        name = "bytes"

    with pytest.raises(Error):
        registry.add(Builtin)
    with pytest.raises(Error) as caught:
        Chain(["test.negate", LITTLE], "int32", (4,), 0)
    assert caught.value.code == "unknown_codec"


def test_the_registry_lives_as_long_as_its_chains():
    chain = Chain(["test.negate", LITTLE], "int32", ARRAY.shape, 0, registry=Registry([Negate]))
    errors = []

    def work():
        for _ in range(20):
            if not np.array_equal(chain.decode(chain.encode(ARRAY)), ARRAY):
                errors.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors


def test_codecs_may_keep_what_they_get():
    kept = []

    class Keeps(Negate):
        name = "test.keeps"

        def encode(self, decoded):
            kept.append(decoded[::-1])
            return -decoded

    chain = Chain(["test.keeps", LITTLE, "crc32c"], "int32", ARRAY.shape, 0, registry=Registry([Keeps]))
    for factor in (1, 2, 3):
        chain.encode(factor * ARRAY)
    for factor, array in zip((1, 2, 3), kept, strict=True):
        np.testing.assert_array_equal(array[::-1], factor * ARRAY)


def test_a_codec_that_refers_to_its_chain_is_freed_after_close():
    class Refers(Negate):
        name = "test.refers"

    Refers.chain = Chain(["test.refers", LITTLE], "int32", ARRAY.shape, 0, registry=Registry([Refers]))
    Refers.chain.close()
    codec = weakref.ref(Refers)
    del Refers
    gc.collect()
    assert codec() is None


def test_empty_inner_chunks_are_stored_also_where_the_size_is_not_known(registry):
    configuration = {"chunk_shape": [10, 30], "codecs": ["test.text"], "index_codecs": [LITTLE, "crc32c"]}
    chain = Chain([{"name": "sharding_indexed", "configuration": configuration}], "int32", (20, 30), 0, registry=registry)
    array = np.zeros((20, 30), np.int32)
    array[:10] = -(2**31)
    array[5:10, 3] = 10**6
    for copies in 1, 2:
        tasks = [EncodeTask(chain, array)] * copies
        sizes = [[len(chunk) for chunk in run_encode(tasks, 2, store_empty=store)[0]] for store in (False, True)]
        assert [more - less for less, more in zip(*sizes, strict=True)] == [2 * 300 - 1] * copies
