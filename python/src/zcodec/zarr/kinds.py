"""The common part of the codecs of `zcodec.zarr.codecs`: options, what enters and leaves, and calls of zcodec."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec

from zcodec.chain import Chain
from zcodec.errors import Error, Status
from zcodec.fill_values import scalar_json
from zcodec.zarr.bits import as_bits, data_type_for
from zcodec.zarr.chains import data_type_of, fill_value_of, first_chunk
from zcodec.zarr.stored import elements_of, memory_of

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer


# One of each kind and size.
_DATA_TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8_e4m3", "float16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip


def _json(value: Any) -> Any:
    """An option as JSON: numpy scalars become numbers, and NaN becomes the text that Zarr has for it."""
    if isinstance(value, Mapping):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_json(item) for item in value]
    found = scalar_json(float(value) if isinstance(value, np.floating) else value)
    if not isinstance(found, bool | int | float | str | list | None):
        raise TypeError("expected a number, a text, or a list or mapping of them")
    return found


class Named:
    """A codec that is a name and a configuration.

    zarr-python tells a codec twice what enters it. When it makes the metadata of an array, it gives the shape of the
    array, and only `validate`, just before, gets the shape of a chunk. When it makes the pipeline, it gives the exact
    shape, and everything is checked: the metadata is not yet stored. Both times it calls `evolve_from_array_spec` first,
    so the codecs of a pipeline are others than those of the metadata and of the caller.
    """

    codec_name: ClassVar[str]
    is_fixed_size: bool = True
    _configuration: str
    # The shape of the first chunk, if this codec is in the metadata of an array and not in a pipeline.
    _chunk_shape: tuple[int, ...] | None = None

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
        """The codec of a document. There, null is a value, which few members may have; None in Python means that an
        option is not given."""
        configuration = data.get("configuration", {})
        try:
            codec = cls(**configuration)
        except TypeError as error:  # members that are missing or unknown
            raise ValueError(f"codec {cls.codec_name!r}: {error}") from None
        if any(value is None for value in configuration.values()):
            codec._refuse_wrong_options(json.dumps(dict(data)), _DATA_TYPES)
        return codec

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
        self._refuse_wrong_options_for(array_spec.dtype)
        evolved = copy(self)
        object.__setattr__(evolved, "_chunk_shape", None)
        return evolved

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        self._refuse_wrong_options_for(dtype)
        object.__setattr__(self, "_chunk_shape", first_chunk(chunk_grid))

    def _refuse_wrong_options_for(self, dtype: Any) -> None:
        """Refuses options that are wrong for every input. Some versions of zarr-python tell each codec the data type of
        the array, which a codec before this one may change."""
        self._refuse_wrong_options(json.dumps(self.to_dict()), (data_type_of(dtype), *_DATA_TYPES))

    def _refuse_wrong_options(self, document: str, data_types: Iterable[Any]) -> None:
        errors = []
        for data_type in data_types:
            try:
                self._bind(document, data_type)
                return
            except Error as error:
                errors.append(error)
        # The first error that is about the codec rather than a data type.
        raise _alone(max(errors, key=lambda error: (error.codec_index is not None, error.status == Status.INVALID_METADATA)))

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        try:
            return self._leaving(self._of_a_chunk(chunk_spec))
        except Error as error:
            raise _alone(error) from None

    def _of_a_chunk(self, spec: ArraySpec) -> ArraySpec:
        """The spec of a chunk. No array->array codec changes the number of elements: a spec with another number has the
        shape of the array."""
        chunk = self._chunk_shape
        return spec if chunk is None or math.prod(chunk) == math.prod(spec.shape) else replace(spec, shape=chunk)

    def _leaving(self, spec: ArraySpec) -> ArraySpec:
        """The spec after the codec. Raises Error if the codec does not take `spec`."""
        raise NotImplementedError

    def _bind(self, document: str, data_type: Any) -> None:
        _chain(document, json.dumps([data_type, [1], None]))

    def _chain(self, spec: ArraySpec, *, has_fill_value: bool = True) -> Chain:
        """The chain of this codec alone."""
        data_type = data_type_of(spec.dtype)
        scalar: Any = spec.dtype.to_json_scalar(fill_value_of(spec), zarr_format=3)
        return _chain(json.dumps(self.to_dict()), json.dumps([data_type, spec.shape, scalar if has_fill_value else None]))


def _alone(error: Error) -> Error:
    """The error with the name of the codec: zarr-python does not say which one of its chain it is."""
    return Error(str(error).replace("codecs[0] ", "codec ", 1), error.status, code=error.code)


def any_shape(codec: Named, document: str, data_type: Any) -> None:
    """For codecs whose options fit only some shapes: a codec before this one may also change the shape."""


@lru_cache(maxsize=128)
def _chain(codec: str, entering: str) -> Chain:
    data_type, shape, fill_value = json.loads(entering)
    return Chain(f"[{codec}]", data_type, shape, fill_value)


class ArrayToArray(Named, ArrayArrayCodec):
    _needs_every_fill_value = False
    """Whether all fill values that zarr-python asks with must be represented."""

    def _leaving(self, chunk_spec: ArraySpec) -> ArraySpec:
        try:
            leaving = self._chain(chunk_spec).output
        except Error:
            if self._chunk_shape is None or self._needs_every_fill_value:
                raise
            # zarr-python also asks with other fill values than the array's, some of which cannot be represented.
            leaving = self._chain(chunk_spec, has_fill_value=False).output
        dtype = data_type_for(leaving["data_type"])
        fill_value = dtype.default_scalar()
        if "fill_value" in leaving:
            fill_value = dtype.from_json_scalar(leaving["fill_value"], zarr_format=3)
        return replace(chunk_spec, shape=tuple(leaving["shape"]), dtype=dtype, fill_value=fill_value)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return self._chain(chunk_spec).encoded_bound()

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        chain = self._chain(chunk_spec)
        made = as_bits(chain.encode(elements_of(chunk_data)), data_type_for(chain.output["data_type"]))
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(made)

    def _decode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        made = as_bits(self._chain(chunk_spec).decode(elements_of(chunk_data)), chunk_spec.dtype)
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(made)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


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
        encoded = self._chain(chunk_spec).encode(elements_of(chunk_data))
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        decoded = as_bits(self._chain(chunk_spec).decode(memory_of(chunk_data)), chunk_spec.dtype)
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(decoded)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


class BytesToBytes(Named, BytesBytesCodec):
    def _leaving(self, spec: ArraySpec) -> ArraySpec:
        return spec

    def _bind(self, document: str, data_type: Any) -> None:
        _bytes_chain(document)

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
