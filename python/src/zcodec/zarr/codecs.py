"""Codecs that zarr-python lacks, so that arrays can be created with them. They also work in its own pipeline."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.core.dtype import get_data_type_from_json

from zcodec.chain import Chain
from zcodec.dtypes import data_type_of
from zcodec.errors import Error, Status
from zcodec.fill_values import scalar_json
from zcodec.zarr.stored import memory_of

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
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


class _Named:
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
        return type(other) is type(self) and isinstance(other, _Named) and other.configuration == self.configuration

    def __hash__(self) -> int:
        return hash((type(self), *sorted(self.configuration)))  # the options alone: 8 and 8.0 are equal

    def __repr__(self) -> str:
        members = ", ".join(f"{key}={value!r}" for key, value in self.configuration.items())
        return f"{type(self).__name__}({members})"

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Refuses options that are wrong whatever enters: zarr-python tells the data type of the array here, which a codec
        before this one may change."""
        own: Any = array_spec.dtype.to_json(zarr_format=3)
        errors = []
        for data_type in (own, *_DATA_TYPES):
            try:
                self._bind(data_type)
                return self
            except Error as error:
                errors.append(error)
        # The first that is about the codec rather than a data type.
        wrong = max(errors, key=lambda error: (error.codec_index is not None, error.status == Status.INVALID_METADATA))
        raise Error(str(wrong).replace("codecs[0] ", "codec ", 1), wrong.status, code=wrong.code)

    def _bind(self, data_type: Any) -> None:
        _chain(json.dumps(self.to_dict()), json.dumps([data_type, [1], None]))

    def _chain(self, spec: ArraySpec, *, has_fill_value: bool = True) -> Chain:
        """The chain of this codec alone."""
        data_type: Any = spec.dtype.to_json(zarr_format=3)
        fill_value = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
        scalar: Any = spec.dtype.to_json_scalar(fill_value, zarr_format=3)
        return _chain(json.dumps(self.to_dict()), json.dumps([data_type, spec.shape, scalar if has_fill_value else None]))


def _any_shape(codec: _Named, data_type: Any) -> None:
    """For codecs whose options fit some shapes only: a codec before this one may change the shape, too."""


@lru_cache(maxsize=128)
def _chain(codec: str, entering: str) -> Chain:
    data_type, shape, fill_value = json.loads(entering)
    return Chain(f"[{codec}]", data_type, shape, fill_value)


class _ArrayToArray(_Named, ArrayArrayCodec):
    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        try:
            leaving = self._chain(chunk_spec).output
        except Error:
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
        made = self._chain(chunk_spec).encode(chunk_data.as_numpy_array())
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(made)

    def _decode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        made = self._chain(chunk_spec).decode(np.ascontiguousarray(chunk_data.as_numpy_array()))
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(made)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


def _data_type(data_type: Any) -> Any:
    """A data type of zarr-python. What it does not have is taken as integers of the same size."""
    try:
        return get_data_type_from_json(data_type, zarr_format=3)
    except ValueError:
        one = Chain([{"name": "transpose", "configuration": {"order": [0]}}], data_type, (1,))
        return get_data_type_from_json(f"uint{8 * one.decoded_size}", zarr_format=3)


class _ArrayToBytes(_Named, ArrayBytesCodec):
    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        size = self._chain(chunk_spec).encoded_size
        if size is None:
            raise NotImplementedError(f"chunks of {self!r} differ in size")
        return size

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        encoded = self._chain(chunk_spec).encode(chunk_data.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        decoded = self._chain(chunk_spec).decode(memory_of(chunk_data))
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(decoded)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


class _BytesToBytes(_Named, BytesBytesCodec):
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


# ---- array->array ------------------------------------------------------------------------------


class Reshape(_ArrayToArray):
    """Reshapes each chunk. For each new dimension: a size, a list of the old dimensions that it joins, or once -1."""

    codec_name = "reshape"
    _bind = _any_shape

    def __init__(self, shape: Iterable[int | list[int]]) -> None:
        self._configure(shape=list(shape))


class Squeeze(_ArrayToArray):
    """Leaves out the dimensions of size 1."""

    codec_name = "squeeze"
    _bind = _any_shape

    def __init__(self) -> None:
        self._configure()


class ScaleOffset(_ArrayToArray):
    """Subtracts `offset`, then multiplies by `scale`; what is left out does nothing. Both are of the array's data type."""

    codec_name = "scale_offset"

    def __init__(self, offset: Any = None, scale: Any = None) -> None:
        self._configure(offset=offset, scale=scale)


class CastValue(_ArrayToArray):
    """Converts values to another data type: a Zarr name such as "int16", or a numpy dtype.

    `rounding`: "nearest-even" (the default), "nearest-away", "towards-zero", "towards-positive" or "towards-negative".
    `out_of_range`: "clamp" or "wrap"; otherwise such a value is an error. `scalar_map`: {"encode": [[from, to], ..],
    "decode": [..]} for single values, such as NaN.
    """

    codec_name = "cast_value"

    def __init__(
        self,
        data_type: Any,
        rounding: str | None = None,
        out_of_range: str | None = None,
        scalar_map: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(data_type, str):
            data_type = data_type_of(data_type)
        self._configure(data_type=data_type, rounding=rounding, out_of_range=out_of_range, scalar_map=scalar_map)


class BitRound(_ArrayToArray):
    """Rounds floats to `keepbits` bits of the mantissa, and integers to `keepbits` significant bits, so that compressors
    find zeros. Decoding changes nothing."""

    codec_name = "bitround"

    def __init__(self, keepbits: int) -> None:
        self._configure(keepbits=keepbits)


# ---- array->bytes ------------------------------------------------------------------------------


class PackBits(_ArrayToBytes):
    """Packs elements without gaps: a bool takes one bit, an int4 four.

    `first_bit` to `last_bit` (counted from the lowest, 0) are kept of each element. `padding_encoding`: "none",
    "first_byte" or "last_byte", where a byte says how many bits of the last byte are unused.
    """

    codec_name = "packbits"

    def __init__(
        self, padding_encoding: str | None = None, first_bit: int | None = None, last_bit: int | None = None
    ) -> None:
        self._configure(padding_encoding=padding_encoding, first_bit=first_bit, last_bit=last_bit)


class Zfp(_ArrayToBytes):
    """Compresses numbers that change slowly, in chunks of 1 to 4 dimensions.

    `mode` and its parameters: "reversible"; "fixed_accuracy", tolerance=0.01 (the largest error); "fixed_rate", rate=8
    (bits per element); "fixed_precision", precision=16 (bit planes); "expert", minbits=, maxbits=, maxprec=, minexp=.
    """

    codec_name = "zfp"
    is_fixed_size = False

    def __init__(self, mode: str, **parameters: float) -> None:
        self._configure(mode=mode, **parameters)


class N5Default(_ArrayToBytes):
    """The blocks of N5."""

    codec_name = "n5_default"
    _bind = _any_shape
    is_fixed_size = False

    def __init__(self, codecs: Iterable[Any]) -> None:
        self._configure(codecs=[codec.to_dict() if hasattr(codec, "to_dict") else codec for codec in codecs])


# ---- bytes->bytes ------------------------------------------------------------------------------


def _base64(padding: str | bytes | None) -> str | None:
    return padding if padding is None or isinstance(padding, str) else base64.b64encode(padding).decode()


class Pad(_BytesToBytes):
    """Puts `nbytes` bytes before or after each chunk: `padding` is base64, or the bytes themselves."""

    codec_name = "pad"

    def __init__(self, location: str, nbytes: int, padding: str | bytes | None = None) -> None:
        self._configure(location=location, nbytes=nbytes, padding=_base64(padding))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return input_byte_length + int(self.configuration["nbytes"])


class Offset(_BytesToBytes):
    """Lets each chunk begin at `offset`, after `prefix`: base64, or the bytes themselves."""

    codec_name = "offset"

    def __init__(self, offset: int, prefix: str | bytes | None = None) -> None:
        self._configure(offset=offset, prefix=_base64(prefix))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return input_byte_length + int(self.configuration["offset"])
