"""Data types: the names of Zarr, and the numpy dtypes of the same elements.

A type that numpy lacks is taken from ml_dtypes if this is installed. Otherwise its elements appear as their bits: uint8
for types of one byte, void for larger ones.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

ml_dtypes: Any
try:
    import ml_dtypes
except ImportError:  # numpy alone has the common types
    ml_dtypes = None

DataType = str | dict[str, Any]

_NUMPY = {
    name: np.dtype(name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
}
_ALIASES = {"complex_float32": "complex64", "complex_float64": "complex128"}
_ML = [
    "bfloat16", "int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4",
    "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]  # fmt: skip
_BYTE_ORDER = re.compile(r"^[<>=|]")


def _ml_dtype(name: str) -> np.dtype[Any] | None:
    scalar = getattr(ml_dtypes, name, None)
    return None if scalar is None else np.dtype(scalar)


def is_ml(dtype: np.dtype[Any]) -> bool:
    """Whether this is a type of ml_dtypes."""
    return dtype.name in _ML


def _carrier(size: int) -> np.dtype[Any]:
    return np.dtype(np.uint8) if size == 1 else np.dtype(f"V{size}")


def dtype_of(data_type: DataType, element_size: int) -> np.dtype[Any]:
    """The numpy dtype of a Zarr data type whose elements take `element_size` bytes in memory."""
    return _dtype_of(json.dumps(data_type), element_size)


@lru_cache(maxsize=256)
def _dtype_of(data_type: str, element_size: int) -> np.dtype[Any]:
    parsed = json.loads(data_type)
    name = parsed if isinstance(parsed, str) else parsed["name"]
    configuration = {} if isinstance(parsed, str) else parsed.get("configuration", {})
    dtype = named(_ALIASES.get(name, name), configuration, element_size)
    if dtype is None or dtype.itemsize != element_size:
        return _carrier(element_size)
    return dtype


def named(name: str, configuration: dict[str, Any], element_size: int) -> np.dtype[Any] | None:
    """The numpy dtype of this name; None if there is none."""
    if name in _NUMPY:
        return _NUMPY[name]
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        unit = configuration.get("unit", "generic")
        scale = configuration.get("scale_factor", 1)
        kind = "M8" if name == "numpy.datetime64" else "m8"
        return np.dtype(f"{kind}[{scale}{unit}]")
    if name == "fixed_length_utf32":
        return np.dtype(f"U{element_size // 4}")
    if name == "null_terminated_bytes":
        return np.dtype(f"S{element_size}")
    if name == "raw_bytes" or re.fullmatch(r"r\d+", name):
        return np.dtype(f"V{element_size}")
    if name in ("struct", "structured"):
        return _struct(configuration.get("fields", []))
    return _ml_dtype(name)


def _field_size(data_type: DataType) -> int:
    """The size of a member of a packed struct, in bytes."""
    name = data_type if isinstance(data_type, str) else data_type["name"]
    configuration = {} if isinstance(data_type, str) else data_type.get("configuration", {})
    if "length_bytes" in configuration:
        return int(configuration["length_bytes"])
    if name in ("struct", "structured"):
        return sum(_field_size(member_of(field)[1]) for field in configuration["fields"])
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        return 8
    if re.fullmatch(r"r\d+", name):
        return int(name[1:]) // 8
    dtype = named(_ALIASES.get(name, name), configuration, 1)
    if dtype is not None:
        return dtype.itemsize
    if name.startswith("complex_"):
        return 2 * _field_size(name.removeprefix("complex_"))
    return 2 if name == "bfloat16" else 1


def member_of(field: Any) -> tuple[str, DataType]:
    """A member of a struct: ["name", type], or {"name": .., "data_type": ..}."""
    if isinstance(field, dict):
        return field["name"], field["data_type"]
    return field[0], field[1]


def _struct(fields: list[Any]) -> np.dtype[Any]:
    members = [member_of(field) for field in fields]
    return np.dtype([(name, dtype_of(data_type, _field_size(data_type))) for name, data_type in members])


def data_type_of(dtype: DTypeLike | DataType) -> DataType:
    """The Zarr data type of a numpy dtype; names and objects of Zarr stay as they are."""
    if isinstance(dtype, dict):
        return cast(dict[str, Any], dtype)
    if isinstance(dtype, str) and not _BYTE_ORDER.match(dtype) and (dtype in _NUMPY or not _is_dtype_text(dtype)):
        return dtype
    return _from_numpy(np.dtype(dtype))


def _is_dtype_text(text: str) -> bool:
    """Whether numpy reads this text. The names of Zarr come first: "r8" and the like mean nothing to numpy."""
    try:
        np.dtype(text)
    except TypeError:
        return False
    return text not in _ML


def _from_numpy(dtype: np.dtype[Any]) -> DataType:
    if dtype.kind == "T":  # of variable size, and newbyteorder raises for it
        raise TypeError(f"no Zarr data type is known for the numpy dtype {dtype!r}")
    native = dtype.newbyteorder("=")
    if dtype.names is not None:
        _refuse_gaps(dtype)
        fields = [{"name": name, "data_type": _from_numpy(dtype[name])} for name in dtype.names]
        return {"name": "struct", "configuration": {"fields": fields}}
    if dtype.kind in "mM":
        unit, scale = np.datetime_data(dtype)
        name = "numpy.datetime64" if dtype.kind == "M" else "numpy.timedelta64"
        return {"name": name, "configuration": {"unit": unit, "scale_factor": scale}}
    if dtype.kind == "U":
        return {"name": "fixed_length_utf32", "configuration": {"length_bytes": dtype.itemsize}}
    if dtype.kind == "S":
        return {"name": "null_terminated_bytes", "configuration": {"length_bytes": dtype.itemsize}}
    if native.name in _NUMPY or native.name in _ML:
        return native.name
    if dtype.type is np.void and dtype.subdtype is None:
        return {"name": "raw_bytes", "configuration": {"length_bytes": dtype.itemsize}}
    raise TypeError(f"no Zarr data type is known for the numpy dtype {dtype!r}")


def _refuse_gaps(dtype: np.dtype[Any]) -> None:
    end = 0
    for name in dtype.names or ():
        if dtype.fields is None or dtype.fields[name][1] != end:
            break
        end += dtype[name].itemsize
    if end != dtype.itemsize:
        raise TypeError(f"the members of {dtype!r} do not lie back to back and in order; a Zarr struct has no gaps")


def as_numbers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view of times as integers of the same byte order; any other array as it is.

    numpy casts times without a unit to the other byte order without swapping their bytes.
    """
    return array.view(f"{array.dtype.byteorder}i8") if array.dtype.kind in "mM" else array


def converted(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """`array.astype(dtype, copy=False)`, also for times without a unit: see `as_numbers`."""
    if dtype.kind in "mM" and array.dtype == dtype.newbyteorder("S"):
        return as_numbers(array).astype(f"{dtype.byteorder}i8").view(dtype)
    return array.astype(dtype, copy=False)
