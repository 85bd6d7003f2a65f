"""`Chain`: a run of codecs, bound to the data that it encodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from enum import IntEnum
from operator import index as integer
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from zcodec import coding, errors
from zcodec._ffi import NULL, ffi, lib, new_buffer, new_chain, new_error, new_size, size_of, text_of
from zcodec.callbacks import Check, Context, Generate, Padding, padding_functions, raise_late, take_late
from zcodec.dtypes import DataType, data_type_of, dtype_of
from zcodec.errors import Error, Status, status_name
from zcodec.fill_values import fill_value_json
from zcodec.views import Array, Box, Buffer

if TYPE_CHECKING:
    from zcodec.index import Index
    from zcodec.plan import Plan
    from zcodec.registry import Registry
    from zcodec.writer import Writer

Codec = str | Mapping[str, Any]
_CHAIN_OPTIONS_SIZE = ffi.sizeof("zcodec_chain_options")


class Kind(IntEnum):
    """The kinds of chains and codecs: what they encode, and what they encode it to."""

    ARRAY_TO_ARRAY = 1
    ARRAY_TO_BYTES = 2
    BYTES_TO_BYTES = 3


class Chain:
    """A contiguous run of Zarr v3 codecs, bound to the data that it encodes.

    `codecs` is a list of codec metadata (objects or names) in the order of encoding, or its JSON text. `data_type` is a
    Zarr data type (a name or an object) or a numpy dtype; its byte order does not count. `shape` is that of a decoded
    chunk, in elements. A chain of bytes->bytes codecs takes neither, nor a `fill_value`. `fill_value` is a value of
    numpy or its JSON; for a struct also a tuple or a mapping. Without it the chain has none, and calls that need it
    fail with the status UNSUPPORTED. `registry` has codecs of your own. A chunk that would decode to more than
    `max_decoded_size` bytes is refused; 0 means no limit.

    Raises `Error` with INVALID_METADATA (the metadata is malformed) or UNSUPPORTED (it is valid, but zcodec does not
    support it).

    A chain is immutable once its paddings are set. Any number of threads may then use it at once; every call releases
    the GIL. It works after a fork, and pickles by its metadata; its paddings and classes of codecs must pickle, too.
    """

    def __init__(
        self,
        codecs: str | bytes | Iterable[Codec],
        data_type: DTypeLike | DataType | None = None,
        shape: int | Iterable[int] | None = None,
        fill_value: Any = None,
        *,
        registry: Registry | None = None,
        max_decoded_size: int = 0,
    ) -> None:
        if isinstance(codecs, Mapping):
            raise TypeError("codecs is one codec, expected a list of codecs")
        codecs_json = _json(codecs if isinstance(codecs, str | bytes) else list(codecs))
        input_json = _input_json(data_type, shape, fill_value)
        self._make(codecs_json, input_json, registry, max_decoded_size)

    def _make(
        self, codecs_json: bytes, input_json: bytes | None, registry: Registry | None, max_decoded_size: int
    ) -> None:
        options = _chain_options(registry, max_decoded_size)
        size, text = (len(input_json), input_json) if input_json is not None else (0, NULL)
        chain, error = new_chain(), new_error()
        status = lib.zcodec_chain_new_with(options, codecs_json, len(codecs_json), text, size, chain, error)
        _check_made(status, error, registry)
        self._adopt(chain[0], registry, max_decoded_size)

    @classmethod
    def from_zarr_json(
        cls,
        document: str | bytes | Mapping[str, Any],
        *,
        registry: Registry | None = None,
        max_decoded_size: int = 0,
    ) -> Self:
        """The chain of a whole array document, its text or the parsed object, not a path: a `zarr.json`, or the
        `.zarray` of Zarr v2."""
        text = _json(document)
        options = _chain_options(registry, max_decoded_size)
        chain, error = new_chain(), new_error()
        status = lib.zcodec_chain_from_zarr_json_with(options, text, len(text), chain, error)
        _check_made(status, error, registry)
        return cls._of(chain[0], registry, max_decoded_size)

    @classmethod
    def _of(cls, pointer: Any, registry: Registry | None, max_decoded_size: int) -> Self:
        chain = cls.__new__(cls)
        chain._adopt(pointer, registry, max_decoded_size)
        return chain

    def _adopt(self, pointer: Any, registry: Registry | None, max_decoded_size: int) -> None:
        self._handle: Any = ffi.gc(pointer, lib.zcodec_chain_free)
        self._registry = registry
        self._max_decoded_size = max_decoded_size
        self._paddings: dict[str, Padding] = {}  # by the path of the codec
        self._has_callbacks = registry is not None
        if registry is not None:
            raise_late()
        self._kind = Kind(lib.zcodec_chain_kind(pointer))
        self._output: dict[str, Any] | None = None
        self._output_array: tuple[np.dtype[Any], tuple[int, ...]] | None = None
        self._bound: int | None = None
        self._granularity: tuple[int, ...] | None = None
        self._has_index: bool | None = None
        if self._kind is Kind.BYTES_TO_BYTES:
            self._shape: tuple[int, ...] | None = None
            self._dtype: np.dtype[Any] | None = None
            self._decoded_size = -1
            self._is_plain = False
            return
        self._shape = self._read_shape()
        self._data_type: DataType = self.input["data_type"]
        size = new_size()
        errors.check(lib.zcodec_chain_element_size(pointer, size))
        self._dtype = dtype_of(self._data_type, size[0])
        errors.check(lib.zcodec_chain_decoded_size(pointer, size))
        self._decoded_size = size[0]
        # numpy shows the memory of these as plain bytes, which is the fastest way to it.
        has_bytes = self._kind is Kind.ARRAY_TO_BYTES
        self._is_plain = has_bytes and self._dtype.kind in "biufc" and not self._has_callbacks

    def _read_shape(self) -> tuple[int, ...]:
        count = new_size()
        lib.zcodec_chain_shape(self._handle, NULL, 0, count)
        ndim = count[0]
        shape = ffi.new("uint64_t[]", ndim)
        errors.check(lib.zcodec_chain_shape(self._handle, shape, ndim, count))
        return tuple(shape)

    # ---- Lifetime ------------------------------------------------------------------------------

    def close(self) -> None:
        """Frees the chain as soon as no other thread uses it. Later calls raise ValueError."""
        self._handle = None
        self._is_plain = False

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def handle(self) -> Any:
        """The zcodec_chain, for calls of cffi."""
        handle = self._handle
        if handle is None:
            raise ValueError("the chain is closed")
        return handle

    def __reduce__(self) -> tuple[Any, ...]:
        paddings = [(path, padding.generate, padding.check) for path, padding in self._paddings.items()]
        arguments = (self.codecs_json, self.input_json, self._registry, self._max_decoded_size, paddings, type(self))
        return _unpickle, arguments

    def __repr__(self) -> str:
        if self.closed:
            return "<zcodec.Chain, closed>"
        names = " | ".join(codec["name"] for codec in self.codecs)
        if self._shape is None:
            return f"<zcodec.Chain {names}>"
        name = self._data_type if isinstance(self._data_type, str) else self._data_type["name"]
        return f"<zcodec.Chain {names} of {name} {self._shape}>"

    # ---- Coding --------------------------------------------------------------------------------

    def encode(self, array: Any, *, box: Box | None = None, max_threads: int | None = 1) -> Any:
        """Encodes a chunk. The array may have any strides; it is copied only if its byte order is not the machine's.

        Gives bytes; or an array, if the chain consists of array->array codecs. With `box` the array is this part of the
        chunk, and the rest is the fill value. Up to `max_threads` threads work on the chunk; None means one
        per processor. Small chunks take one thread.

        Raises TypeError for another dtype, ValueError for another shape, and `Error`: OUT_OF_RANGE if a codec cannot
        represent an element (`element_index` says which) or one of yours raised, CALLBACK_FAILED if a padding did.
        """
        return coding.encode(self, array, box, max_threads)

    def encode_into(self, array: Any, encoded: Buffer, *, box: Box | None = None, max_threads: int | None = 1) -> int:
        """Encodes a chunk into writable memory, and gives the number of bytes written. `encoded_bound` is always
        enough.

        Raises as `encode`, and `Error` with BUFFER_TOO_SMALL, whose `needed_size` is enough. After an error the content
        of `encoded` is unspecified.
        """
        return coding.encode_into(self, array, encoded, box, max_threads)

    def decode(
        self, buffer: Buffer, out: Any = None, box: Box | None = None, *, max_threads: int | None = 1
    ) -> Any:
        """Decodes a chunk, or the part of it that `box` selects, to a new array or to `out`, which may have any
        strides.

        `buffer` is exactly one encoded chunk. `box` is a tuple of slices and integers, as numpy takes them, in elements
        of the chunk; `out` has the shape of what it selects, and shares no memory with `buffer`. Only what the box
        needs is decoded, where the codecs allow it. A chain of bytes->bytes codecs gives bytes, or the part of `out`
        that was written.

        Raises TypeError or ValueError for an `out` that does not fit, IndexError if an integer of `box` is outside the
        chunk (slices are clipped, as by numpy), and `Error`: CORRUPT_DATA if no encode of this chain can have made the
        bytes, or a padding check or a codec of yours refused them, OUT_OF_RANGE if a codec cannot represent an element
        (`element_index` says which), UNSUPPORTED if the chunk uses a feature of its format that the library lacks,
        BUFFER_TOO_SMALL if the bytes do not fit into `out` (`needed_size` is enough), CALLBACK_FAILED if a codec of
        yours broke its rules, OUT_OF_MEMORY if memory could not be allocated. The content of `out` is then unspecified.
        """
        if self._is_plain and box is None and max_threads == 1 and (out is None or coding.is_whole(self, out)):
            return coding.decode_whole(self, buffer, out)
        return coding.decode(self, buffer, out, box, max_threads)

    def decode_many(
        self,
        buffers: Iterable[Buffer | None],
        out: Sequence[Any] | None = None,
        box: Box | list[Any] | None = None,
        *,
        max_threads: int | None = None,
    ) -> list[Array]:
        """Decodes many chunks in one call, on all processors or at most `max_threads` threads.

        None instead of a buffer means that the chunk does not exist: its array is filled with the fill value. `out` has
        an array for each chunk; they share no memory with each other or with `buffers`. `box` is one for all chunks, or
        a list with one for each.

        All chunks are decoded, even if some fail; then the first error is raised, with a note of its place. Not for
        chains of bytes->bytes codecs: ValueError.
        """
        from zcodec import tasks

        return tasks.decode_many(self, buffers, out, box, max_threads)

    def encode_many(self, arrays: Iterable[Any], *, max_threads: int | None = None) -> list[bytes]:
        """Encodes many chunks in one call, on all processors or at most `max_threads` threads. Errors as in
        `decode_many`, also for chains of bytes->bytes codecs."""
        from zcodec import tasks

        return tasks.encode_many(self, arrays, max_threads)

    def fill(self, out: Array) -> None:
        """Fills an array of the chain's data type and number of dimensions, of any shape and strides, with the fill
        value."""
        coding.fill(self, out)

    def is_fill(self, array: Array) -> bool:
        """Whether every element is the fill value, to the bit: such a chunk need not be stored."""
        return coding.is_fill(self, array)

    # ---- Objects that are read or written in parts ---------------------------------------------

    def plan(
        self,
        box: Box | list[Any] | None = None,
        out: Any = None,
        *,
        object_size: int | None = None,
        index: Index | None = None,
        max_threads: int | None = 1,
    ) -> Plan:
        """A read of one stored object that is not in memory: see `Plan`."""
        from zcodec.plan import Plan

        return Plan(self, box, out, object_size=object_size, index=index, max_threads=max_threads)

    def writer(
        self,
        index: Index | None = None,
        old_size: int = 0,
        *,
        max_threads: int | None = 1,
        store_empty: bool = False,
    ) -> Writer:
        """Makes a shard, or changes the one that `index` belongs to: see `Writer`."""
        from zcodec.writer import Writer

        return Writer(self, index, old_size, max_threads=max_threads, store_empty=store_empty)

    def inner(self) -> Chain:
        """The chain of the inner chunks of a shard. UNSUPPORTED if inner chunks cannot be decoded alone."""
        inner, error = new_chain(), new_error()
        errors.check(lib.zcodec_chain_inner(self.handle, inner, error), error)
        within = f"/{len(self) - 1}/configuration/codecs"  # a shard is made by the last codec
        paddings = {
            path.removeprefix(within): padding for path, padding in self._paddings.items() if path.startswith(f"{within}/")
        }
        return self._relative(inner[0], paddings)

    def with_shape(self, shape: int | Iterable[int]) -> Chain:
        """The same codecs, data type, fill value and paddings for a chunk of another shape. Cheap."""
        sizes = _shape(shape)
        numbers, chain, error = ffi.new("uint64_t[]", sizes), new_chain(), new_error()
        status = lib.zcodec_chain_with_shape(self.handle, numbers, len(sizes), chain, error)
        _check_made(status, error, self._registry)
        return self._relative(chain[0], dict(self._paddings))

    def _relative(self, pointer: Any, paddings: dict[str, Padding]) -> Chain:
        """A chain that shares the callbacks of this one."""
        chain = type(self)._of(pointer, self._registry, self._max_decoded_size)
        chain._paddings = paddings
        chain._use_callbacks()
        return chain

    def _use_callbacks(self) -> None:
        self._has_callbacks = self._registry is not None or bool(self._paddings)
        self._is_plain = self._is_plain and not self._has_callbacks

    def context(self) -> Context | None:
        """Keeps the exceptions of callbacks during a call; None for chains without callbacks."""
        return Context() if self._has_callbacks else None

    def set_padding(
        self, codec_index: int | str, generate: Generate | None = None, check: Check | None = None
    ) -> None:
        """Computes the padding of a `pad` or `offset` codec for each chunk, and checks it on decode.

        `codec_index` counts in the chain; a path such as "/0/configuration/codecs/1" names a codec inside another, such
        as a shard. `generate(chunk, padding)` gets the bytes that the padding is attached to, and fills `padding`.
        `check(chunk, padding)` returns None, or False to refuse. Both get memoryviews of copies, which they may keep;
        later writes to `padding` have no effect. An exception of a function is the cause of the `Error` of the call.
        The functions run in the thread of the call; for shards and tasks in any thread, and in several at once. No
        other thread may use the chain while they are set.
        """
        for function in (generate, check):
            if function is not None and not callable(function):
                raise TypeError(f"expected a function of two memoryviews, not {function!r}")
        padding = Padding(generate, check)
        generate_c, check_c = padding_functions() if generate or check else (NULL, NULL)
        where: Any
        if isinstance(codec_index, str):
            if "\0" in codec_index:
                raise ValueError(f"the path {codec_index!r} contains a NUL")
            where, set_function = codec_index.encode(), lib.zcodec_chain_set_padding_at
        else:
            codec_index = _codec_index(codec_index)
            where, set_function = codec_index, lib.zcodec_chain_set_padding
        error = new_error()
        functions = generate_c if generate else NULL, check_c if check else NULL
        errors.check(set_function(self.handle, where, *functions, padding.handle, NULL, error), error)
        self._paddings[codec_index if isinstance(codec_index, str) else f"/{codec_index}"] = padding
        self._use_callbacks()

    # ---- Asking --------------------------------------------------------------------------------

    @property
    def kind(self) -> Kind:
        """What the chain encodes, and what to: arrays or bytes."""
        return self._kind

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a decoded chunk."""
        if self._shape is None:
            raise ValueError("a chain of bytes->bytes codecs has no shape")
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype of a decoded chunk."""
        if self._dtype is None:
            raise ValueError("a chain of bytes->bytes codecs has no data type")
        return self._dtype

    @property
    def data_type(self) -> DataType:
        """The Zarr data type of a decoded chunk."""
        self.dtype  # noqa: B018 - refuses chains that have none
        return deepcopy(self._data_type)

    @property
    def decoded_size(self) -> int:
        """The size of a decoded chunk in bytes."""
        size = new_size()
        errors.check(lib.zcodec_chain_decoded_size(self.handle, size))
        return int(size[0])

    def encoded_bound(self, decoded_size: int | None = None) -> int:
        """A number of bytes that is always enough for an encoded chunk. A chain of bytes->bytes codecs needs
        `decoded_size`, that of the chunk in bytes, and raises `Error` with UNKNOWN_SIZE without it; so does a chain
        with a codec of yours that has no bound."""
        if decoded_size is None:
            if self._bound is None:
                self._bound = self.encoded_bound(self.decoded_size)
            return self._bound
        size, bound = size_of(decoded_size, "decoded_size"), new_size()
        status = lib.zcodec_chain_encoded_bound(self.handle, size, bound)
        raise_late()
        check_bound(status, decoded_size)
        return int(bound[0])

    @property
    def encoded_size(self) -> int | None:
        """The size of every encoded chunk in bytes; None if sizes differ, or if encoded chunks are arrays."""
        if self._output is None:
            self._output = self.output
        size = self._output.get("size")
        return None if size is None else int(size)

    @property
    def granularity(self) -> tuple[int, ...]:
        """The shape, in elements, of the smallest box worth decoding: boxes of this grid decode nothing that is not
        needed. That of `blosc` is the chunk, although a box decodes only the blocks of it that it touches."""
        handle = self.handle
        if self._granularity is None:
            ndim = len(self.shape)
            shape, error = ffi.new("uint64_t[]", ndim), new_error()
            errors.check(lib.zcodec_chain_granularity(handle, shape, ndim, error), error)
            self._granularity = tuple(shape)
        return self._granularity

    @property
    def has_index(self) -> bool:
        """Whether an encoded chunk is a shard, with an index that says where its inner chunks lie."""
        handle = self.handle
        if self._has_index is None:
            found = ffi.new("zcodec_range *")
            self._has_index = not lib.zcodec_chain_index_range(handle, found, NULL)
        return self._has_index

    def _text(self, function: Any) -> str:
        text, error = new_buffer(), new_error()
        errors.check(function(self.handle, text, error), error)
        return text_of(text[0]).decode()

    @property
    def codecs_json(self) -> str:
        """The codecs in canonical form, ready to be stored as "codecs" of a zarr.json."""
        return self._text(lib.zcodec_chain_codecs_json)

    @property
    def codecs(self) -> list[dict[str, Any]]:
        """The codecs in canonical form."""
        codecs: list[Codec] = json.loads(self.codecs_json)
        return [{"name": codec} if isinstance(codec, str) else dict(codec) for codec in codecs]

    @property
    def input_json(self) -> str | None:
        """The data that the chain encodes, as JSON; None for a chain of bytes->bytes codecs."""
        return None if self._kind is Kind.BYTES_TO_BYTES else self._text(lib.zcodec_chain_input_json)

    @property
    def input(self) -> dict[str, Any]:
        """The data that the chain encodes: data_type, shape and fill_value."""
        return json.loads(self._text(lib.zcodec_chain_input_json))  # type: ignore[no-any-return]

    @property
    def output(self) -> dict[str, Any]:
        """An encoded chunk: data_type, shape and fill_value of an array, or the size of bytes."""
        return json.loads(self._text(lib.zcodec_chain_output_json))  # type: ignore[no-any-return]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Warnings about metadata that is valid but likely to cause trouble: codec_index, code and message of each, and
        the path of a codec inside another."""
        return json.loads(self._text(lib.zcodec_chain_warnings_json))  # type: ignore[no-any-return]

    def __len__(self) -> int:
        """The number of codecs."""
        return int(lib.zcodec_chain_codec_count(self.handle))


def check_bound(status: int, decoded_size: int) -> None:
    """zcodec_chain_encoded_bound gives no error of its own."""
    if status:
        raise Error(f"no bound is known for {decoded_size} decoded bytes ({status_name(status)})", Status(status))


def _codec_index(codec_index: SupportsIndex) -> int:
    try:
        found = integer(codec_index)
    except TypeError:
        raise TypeError(f"codec_index is {codec_index!r}, expected an integer or a path") from None
    if found < 0:
        raise IndexError(f"codec_index is {found}, expected 0 or more")
    return found


def _json(document: str | bytes | Any) -> bytes:
    if isinstance(document, bytes):
        return document
    text = document if isinstance(document, str) else json.dumps(document, default=_number)
    return text.encode()


def _number(value: Any) -> Any:
    """A scalar of numpy as a number of Python."""
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, np.floating):
        return float(value)
    raise TypeError(f"{value!r} has no form in JSON")


def _shape(shape: int | Iterable[int]) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int | np.integer) or not 0 <= size < 2**64:
            raise ValueError(f"a shape consists of sizes, not {size!r}")
    return tuple(int(size) for size in sizes)


def _input_json(data_type: Any, shape: Any, fill_value: Any) -> bytes | None:
    if data_type is None and shape is None:
        if fill_value is not None:
            raise TypeError("a chain of bytes->bytes codecs has no fill_value")
        return None
    if data_type is None or shape is None:
        raise TypeError("a chain of arrays needs both data_type and shape")
    zarr_type = data_type_of(data_type)
    document: dict[str, Any] = {"data_type": zarr_type, "shape": _shape(shape)}
    if fill_value is not None:
        document["fill_value"] = fill_value_json(fill_value, zarr_type)
    return json.dumps(document).encode()


def _chain_options(registry: Registry | None, max_decoded_size: int) -> Any:
    if registry is None and not max_decoded_size:
        return NULL
    options = ffi.new("zcodec_chain_options *")
    options.struct_size = _CHAIN_OPTIONS_SIZE
    options.registry = NULL if registry is None else registry.handle
    options.max_decoded_size = size_of(max_decoded_size, "max_decoded_size")
    return options


def _check_made(status: int, error: Any, registry: Registry | None) -> None:
    """Raises if no chain was made; an exception of a codec of the registry becomes the cause."""
    if registry is None:
        errors.check(status, error)
        return
    from zcodec.registry import take_bind_error

    cause = take_bind_error()
    if status and cause is None:
        cause = take_late()
    errors.check_caused(status, error, cause)


def _unpickle(
    codecs: str,
    entering: str | None,
    registry: Registry | None,
    max_decoded_size: int,
    paddings: list[Any],
    cls: type[Chain] = Chain,
) -> Chain:
    """A chain from its metadata. The fill value keeps its bits: the text of the library is passed on unchanged."""
    chain = cls.__new__(cls)
    chain._make(codecs.encode(), None if entering is None else entering.encode(), registry, max_decoded_size)
    for path, generate, check in paddings:
        chain.set_padding(path, generate, check)
    return chain
