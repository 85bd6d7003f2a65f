"""Codecs that zarr-python lacks, so that arrays can be created with them. They also work in its own pipeline."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import zarr.codecs

from zcodec.dtypes import data_type_of
from zcodec.zarr.kinds import ArrayToArray, ArrayToBytes, BytesToBytes, any_shape

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec


# ---- array->array ------------------------------------------------------------------------------


class Reshape(ArrayToArray):
    """Reshapes each chunk. For each new dimension: a size, a list of the old dimensions that it joins, or once -1."""

    codec_name = "reshape"
    _bind = any_shape

    def __init__(self, shape: Iterable[int | list[int]]) -> None:
        self._configure(shape=list(shape))


class Squeeze(ArrayToArray):
    """Leaves out the dimensions of size 1; if none remains, one does."""

    codec_name = "zarrs.squeeze"
    _bind = any_shape

    def __init__(self) -> None:
        self._configure()


class ScaleOffset(ArrayToArray):
    """Encodes x as (x - offset) * scale, and decodes it as x / scale + offset, in the array's data type. The defaults
    are 0 and 1. A result that the type does not have is an `Error` (OUT_OF_RANGE)."""

    codec_name = "scale_offset"
    # If zarr-python has a class of its own, it opens the array with that, which fails unless all of them have an image.
    _needs_every_fill_value = hasattr(zarr.codecs, "ScaleOffset")

    def __init__(self, offset: Any = None, scale: Any = None) -> None:
        self._configure(offset=offset, scale=scale)


class CastValue(ArrayToArray):
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


class BitRound(ArrayToArray):
    """Rounds floats to `keepbits` bits of the significand, and integers to `keepbits` significant bits, so that
    compressors find zeros. Decoding changes nothing."""

    codec_name = "bitround"

    def __init__(self, keepbits: int) -> None:
        self._configure(keepbits=keepbits)


# ---- array->bytes ------------------------------------------------------------------------------


class PackBits(ArrayToBytes):
    """Packs elements without gaps: a bool takes one bit, an int4 four.

    `first_bit` to `last_bit` (counted from the lowest, 0) are kept of each element. `padding_encoding`: "none",
    "first_byte" or "last_byte", where a byte says how many bits of the last byte are unused. The names that the
    published schema has for all these are accepted, too.
    """

    codec_name = "packbits"

    def __init__(
        self,
        padding_encoding: str | None = None,
        first_bit: int | None = None,
        last_bit: int | None = None,
        *,
        start_bit: int | None = None,
        end_bit: int | None = None,
    ) -> None:
        if padding_encoding in ("start_byte", "end_byte"):
            padding_encoding = "first_byte" if padding_encoding == "start_byte" else "last_byte"
        self._configure(
            padding_encoding=padding_encoding,
            first_bit=_either(first_bit=first_bit, start_bit=start_bit),
            last_bit=_either(last_bit=last_bit, end_bit=end_bit),
        )


def _either(**names: int | None) -> int | None:
    """The value of an option that has two names."""
    given = [value for value in names.values() if value is not None]
    if len(given) > 1:
        raise ValueError(f"codec 'packbits': {' and '.join(names)} are the same member, expected only one of them")
    return given[0] if given else None


class Zfp(ArrayToBytes):
    """Compresses numbers that change slowly, in chunks of 1 to 4 dimensions.

    `mode` and its parameters: "reversible"; "fixed_accuracy", tolerance=0.01 (the largest absolute error);
    "fixed_rate", rate=8 (bits per element); "fixed_precision", precision=16 (bit planes); "expert", minbits=, maxbits=,
    maxprec=, minexp=.
    Lossy modes refuse NaN and infinities; "reversible" keeps all bits.
    """

    codec_name = "zfp"
    is_fixed_size = False

    def __init__(self, mode: str, **parameters: float) -> None:
        self._configure(mode=mode, **parameters)


class N5Default(ArrayToBytes):
    """Stores each chunk as a block of N5: a header with its shape, then what `codecs` make of it: a full transpose,
    bytes in big-endian order, and at most one compressor."""

    codec_name = "n5_default"
    _bind = any_shape
    is_fixed_size = False

    def __init__(self, codecs: Iterable[Any]) -> None:
        self._configure(codecs=_documents(codecs))


def _documents(codecs: Iterable[Any]) -> list[Any]:
    return [codec.to_dict() if hasattr(codec, "to_dict") else codec for codec in codecs]


# ---- bytes->bytes ------------------------------------------------------------------------------


def _base64(padding: str | bytes | None) -> str | None:
    return padding if padding is None or isinstance(padding, str) else base64.b64encode(padding).decode()


class Pad(BytesToBytes):
    """Puts `nbytes` bytes before (`location="start"`) or after (`"end"`) each chunk: `padding` is base64, or the bytes
    themselves; zeros if it is omitted."""

    codec_name = "pad"

    def __init__(self, location: str, nbytes: int, padding: str | bytes | None = None) -> None:
        self._configure(location=location, nbytes=nbytes, padding=_base64(padding))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return input_byte_length + int(self.configuration["nbytes"])


class Offset(BytesToBytes):
    """Makes each chunk begin at `offset`, after `prefix`: that many bytes, or their base64; zeros if it is omitted."""

    codec_name = "offset"

    def __init__(self, offset: int, prefix: str | bytes | None = None) -> None:
        self._configure(offset=offset, prefix=_base64(prefix))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return input_byte_length + int(self.configuration["offset"])


class Conditional(BytesToBytes):
    """Applies `codecs` to the chunks that they make smaller, and to no others. Each chunk begins with a header of
    `header_bits` bits (a multiple of 8; the fewest if it is omitted), which say what was applied."""

    codec_name = "conditional"
    is_fixed_size = False

    def __init__(self, codecs: Iterable[Any], header_bits: int | None = None) -> None:
        self._configure(codecs=_documents(codecs), header_bits=header_bits)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        raise NotImplementedError(f"chunks of {self!r} differ in size")
