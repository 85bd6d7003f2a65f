"""What the codecs of `zcodec.zarr.codecs` have in common: options, what enters and leaves, and calls of zcodec."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.dtype import get_data_type_from_json

from zcodec.chain import Chain
from zcodec.errors import Error, Status
from zcodec.fill_values import scalar_json
from zcodec.zarr.chains import chain_of, first_chunk
from zcodec.zarr.stored import memory_of

if TYPE_CHECKING:
    from zarr.core.buffer import Buffer, NDBuffer


# One of each kind and size.
_DATA_TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8_e4m3", "float16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip


def _json(value: Any) -> Any:
    """An option as JSON: numpy scalars are numbers, and NaN is the text that Zarr has for it."""
    if isinstance(value, Mapping):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_json(item) for item in value]
    found = scalar_json(float(value) if isinstance(value, np.floating) else value)
    if not isinstance(found, bool | int | float | str | list | None):
        raise TypeError("expected a number, a text, or a list or mapping of them")
    return found


class _Validated(threading.local):
    """The codec that was validated last, and the shape of the first chunk.

    zarr-python tells a codec twice what enters it. When it makes the metadata of an array this has the shape of the array, and
    only `validate`, just before, says how large a chunk is. When it makes the pipeline it is exact, and then everything about it
    is checked: the metadata is not yet stored.
    """

    codec: Named | None = None
    chunk_shape: tuple[int, ...] = ()


_validated = _Validated()


class Named:
    """A codec that is a name and a configuration."""

    codec_name: ClassVar[str]
    is_fixed_size: bool = True
    _configuration: str

    def _configure(self, **options: Any) -> None:
        given = {}
        for option, value in options.items():
            if value is not None:
                try:
                    given[option] = _json(value)
                except TypeError as error:
                    raise TypeError(f"codec {self.codec_name!r}: {option} is {value!r}: {error}") from None
        object.__setattr__(self, "_configuration", json.dumps(given))

    @property
    def configuration(self) -> dict[str, Any]:
        return json.loads(self._configuration)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        try:
            return cls(**data.get("configuration", {}))
        except TypeError as error:  # members that are missing or unknown
            raise ValueError(f"codec {cls.codec_name!r}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        configuration = self.configuration
        return {"name": self.codec_name, **({"configuration": configuration} if configuration else {})}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Named) and other.configuration == self.configuration

    def __hash__(self) -> int:
        return hash((type(self), *sorted(self.configuration)))  # the options alone: 8 and 8.0 are equal

    def __repr__(self) -> str:
        members = ", ".join(f"{key}={value!r}" for key, value in self.configuration.items())
        return f"{type(self).__name__}({members})"

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        self._refuse_wrong_options(array_spec.dtype)
        if self._chunk_shape is not None:
            _validated.codec = None
        return self

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        self._refuse_wrong_options(dtype)
        _validated.codec, _validated.chunk_shape = self, first_chunk(chunk_grid)

    @property
    def _chunk_shape(self) -> tuple[int, ...] | None:
        """The shape of a chunk, if zarr-python is making the metadata of an array: see `_Validated`."""
        return _validated.chunk_shape if _validated.codec is self else None

    def _refuse_wrong_options(self, dtype: Any) -> None:
        """Refuses options that are wrong whatever enters: versions of zarr-python tell every codec the data type of the array,
        which a codec before this one may change."""
        errors = []
        for data_type in (dtype.to_json(zarr_format=3), *_DATA_TYPES):
            try:
                self._bind(data_type)
                return
            except Error as error:
                errors.append(error)
        # The first that is about the codec rather than a data type.
        raise _alone(max(errors, key=lambda error: (error.codec_index is not None, error.status == Status.INVALID_METADATA)))

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        try:
            return self._leaving(self._of_a_chunk(chunk_spec))
        except Error as error:
            raise _alone(error) from None

    def _of_a_chunk(self, spec: ArraySpec) -> ArraySpec:
        """No array->array codec changes the number of elements: where there is another one, these are those of the array."""
        chunk = self._chunk_shape
        return spec if chunk is None or math.prod(chunk) == math.prod(spec.shape) else replace(spec, shape=chunk)

    def _leaving(self, spec: ArraySpec) -> ArraySpec:
        """What leaves when this enters. Raises Error if it cannot enter."""
        raise NotImplementedError

    def _bind(self, data_type: Any) -> None:
        _chain(json.dumps(self.to_dict()), json.dumps([data_type, [1], None]))

    def _chain(self, spec: ArraySpec, *, has_fill_value: bool = True) -> Chain:
        """The chain of this codec alone."""
        data_type: Any = spec.dtype.to_json(zarr_format=3)
        fill_value = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
        scalar: Any = spec.dtype.to_json_scalar(fill_value, zarr_format=3)
        return _chain(json.dumps(self.to_dict()), json.dumps([data_type, spec.shape, scalar if has_fill_value else None]))


def _alone(error: Error) -> Error:
    """What is wrong with a codec, by its name: zarr-python does not say which of its chain it is."""
    return Error(str(error).replace("codecs[0] ", "codec ", 1), error.status, code=error.code)


def any_shape(codec: Named, data_type: Any) -> None:
    """For codecs whose options fit some shapes only: a codec before this one may change the shape, too."""


@lru_cache(maxsize=128)
def _chain(codec: str, entering: str) -> Chain:
    data_type, shape, fill_value = json.loads(entering)
    return Chain(f"[{codec}]", data_type, shape, fill_value)


class ArrayToArray(Named, ArrayArrayCodec):
    def _leaving(self, chunk_spec: ArraySpec) -> ArraySpec:
        try:
            leaving = self._chain(chunk_spec).output
        except Error:
            if self._chunk_shape is None:
                raise
            # zarr-python also asks with other fill values than the array's, which may have no image.
            leaving = self._chain(chunk_spec, has_fill_value=False).output
        dtype = _data_type(leaving["data_type"])
        fill_value = dtype.default_scalar()
        if "fill_value" in leaving:
            fill_value = dtype.from_json_scalar(leaving["fill_value"], zarr_format=3)
        return replace(chunk_spec, shape=tuple(leaving["shape"]), dtype=dtype, fill_value=fill_value)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return self._chain(chunk_spec).encoded_bound()

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        chain = self._chain(chunk_spec)
        made = _as_bits(chain.encode(chunk_data.as_numpy_array()), _data_type(chain.output["data_type"]))
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(made)

    def _decode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        made = _as_bits(self._chain(chunk_spec).decode(chunk_data.as_numpy_array()), chunk_spec.dtype)
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(made)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


def _data_type(data_type: Any) -> Any:
    """A data type of zarr-python. What it does not have is taken as integers of the same size: see `_Bits`."""
    try:
        return get_data_type_from_json(data_type, zarr_format=3)
    except ValueError:
        return _bits_of(data_type)


class _Bits:
    """A data type of zarr-python for the bits of one that it lacks. Codecs of ours see what the bits stand for."""

    data_type: str
    to_native_dtype: Any

    def to_json(self, zarr_format: Any) -> str:
        return self.data_type

    def from_json_scalar(self, data: Any, *, zarr_format: Any) -> Any:
        one = _one(self.data_type, data)
        scalar = np.empty(1, one.dtype)
        one.fill(scalar)
        return scalar.view(f"u{one.dtype.itemsize}")[0]

    def to_json_scalar(self, data: Any, *, zarr_format: Any) -> Any:
        return _bits_json(self.data_type, np.asarray(data).tobytes())


def _bits_json(data_type: str, memory: bytes) -> Any:
    """The JSON of an integer or a real float, which is what codecs convert to."""
    bits = int.from_bytes(memory, sys.byteorder)
    if "float" in data_type:
        return f"0x{bits:0{2 * len(memory)}x}"
    range_size = 1 << int(data_type.lstrip("uint"))
    value = bits % range_size
    return value - range_size if data_type.startswith("int") and 2 * value >= range_size else value


def _one(data_type: str, fill_value: Any = None) -> Chain:
    """A chain that says what an element of a data type is like."""
    return Chain([{"name": "transpose", "configuration": {"order": [0]}}], data_type, (1,), fill_value)


@lru_cache(maxsize=64)
def _bits_of(data_type: str) -> Any:
    bits = get_data_type_from_json(f"uint{8 * _one(data_type).decoded_size}", zarr_format=3)
    made = type(data_type, (_Bits, type(bits)), {"data_type": data_type})
    return made(**vars(bits))


def _as_bits(array: Any, dtype: Any) -> Any:
    """Elements as zarr-python has them: those of a type that it lacks may be of a type of ml_dtypes."""
    return array.view(dtype.to_native_dtype()) if isinstance(dtype, _Bits) else array


class ArrayToBytes(Named, ArrayBytesCodec):
    def _leaving(self, spec: ArraySpec) -> ArraySpec:
        if self._chunk_shape is None:
            self._chain(spec)
        return spec

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        size = self._chain(chunk_spec).encoded_size
        if size is None:
            raise NotImplementedError(f"chunks of {self!r} differ in size")
        return size

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        encoded = self._chain(chunk_spec).encode(chunk_data.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        decoded = _as_bits(self._chain(chunk_spec).decode(memory_of(chunk_data)), chunk_spec.dtype)
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(decoded)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


class BytesToBytes(Named, BytesBytesCodec):
    def _leaving(self, spec: ArraySpec) -> ArraySpec:
        return spec

    def _bind(self, data_type: Any) -> None:
        self._bytes_chain()

    def _bytes_chain(self) -> Chain:
        return _bytes_chain(json.dumps(self.to_dict()))

    def _encode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return chunk_spec.prototype.buffer.from_bytes(self._bytes_chain().encode(memory_of(chunk_data)))

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return chunk_spec.prototype.buffer.from_bytes(self._bytes_chain().decode(memory_of(chunk_data)))

    async def _encode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return self._decode_sync(chunk_data, chunk_spec)


@lru_cache(maxsize=32)
def _bytes_chain(codec: str) -> Chain:
    return Chain(f"[{codec}]")


# ---- Codecs of an array ------------------------------------------------------------------------


def refuse_misfits(metadata: Any) -> None:
    """Raises Error if a codec of this module cannot code the chunks of an array: nobody else would."""
    codecs = getattr(metadata, "codecs", ())  # Zarr v2 has none
    if not _has_ours(codecs):
        return
    spec = ArraySpec(
        first_chunk(metadata.chunk_grid), metadata.data_type, metadata.fill_value, ArrayConfig.from_dict({}),
        default_buffer_prototype(),
    )  # fmt: skip
    try:
        chain_of(codecs, spec)
    except Error as error:
        if _is_about_ours(codecs, error.path):
            raise
    except (ValueError, TypeError, NotImplementedError):
        pass  # zcodec does not support something else


def _has_ours(codecs: Iterable[Any]) -> bool:
    return any(isinstance(codec, Named) or _has_ours(getattr(codec, "codecs", ())) for codec in codecs)


def _is_about_ours(codecs: Iterable[Any], path: str) -> bool:
    """Whether the codec that this path of an error names is of this module, or inside one that is."""
    first, _, inside = path.removeprefix("/").partition("/configuration/codecs")
    if not first.isdigit():
        return False
    codec = list(codecs)[int(first)]
    return isinstance(codec, Named) or _is_about_ours(getattr(codec, "codecs", ()), inside)
