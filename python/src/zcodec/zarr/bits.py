"""Data types that zarr-python lacks, between codecs: their elements as integers of the same size."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import numpy as np
from zarr.core.dtype import get_data_type_from_json

from zcodec.chain import Chain


def data_type_for(data_type: Any) -> Any:
    """A data type of zarr-python. A type that it lacks becomes integers of the same size: see `_Bits`."""
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
    """The JSON of an integer or a real float: codecs convert to no other types."""
    bits = int.from_bytes(memory, sys.byteorder)
    if "float" in data_type:
        return f"0x{bits:0{2 * len(memory)}x}"
    range_size = 1 << int(data_type.removeprefix("u").removeprefix("int"))
    value = bits % range_size
    return value - range_size if data_type.startswith("int") and 2 * value >= range_size else value


def _one(data_type: str, fill_value: Any = None) -> Chain:
    """A chain that knows the dtype and the size of an element of a data type."""
    return Chain([{"name": "transpose", "configuration": {"order": [0]}}], data_type, (1,), fill_value)


@lru_cache(maxsize=64)
def _bits_of(data_type: str) -> Any:
    bits = get_data_type_from_json(f"uint{8 * _one(data_type).decoded_size}", zarr_format=3)
    made = type(data_type, (_Bits, type(bits)), {"data_type": data_type})
    return made(**vars(bits))


def as_bits(array: Any, dtype: Any) -> Any:
    """Elements as zarr-python has them: those of a type that it lacks may be of a type of ml_dtypes."""
    return array.view(dtype.to_native_dtype()) if isinstance(dtype, _Bits) else array
