"""Fill values of numpy as the JSON of a zarr.json."""

from __future__ import annotations

import base64
import datetime
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from zcodec.dtypes import DataType, is_ml, member_of, named

_COMPLEX = {"complex64": "float32", "complex128": "float64"}
_NUMBER = bool | int | float | complex | np.number | np.bool_


def fill_value_json(fill_value: Any, data_type: DataType) -> Any:
    """A fill value of this data type as JSON. A value that is already such JSON is not changed."""
    name = data_type if isinstance(data_type, str) else data_type["name"]
    configuration = {} if isinstance(data_type, str) else data_type.get("configuration", {})
    value = fill_value[()] if isinstance(fill_value, np.ndarray) and fill_value.ndim == 0 else fill_value
    if re.fullmatch(r"r\d+", name) and isinstance(value, np.void | bytes | bytearray):
        return list(value.tobytes() if isinstance(value, np.void) else bytes(value))
    if name in ("struct", "structured"):
        return _struct_json(value, name, configuration)
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        return _time_json(value, named(name, configuration, 8))
    if name.startswith("complex") and isinstance(value, _NUMBER):
        part = _COMPLEX.get(name, name.removeprefix("complex_"))
        return [fill_value_json(value.real, part), fill_value_json(value.imag, part)]
    if isinstance(value, np.floating) and np.isnan(value):
        dtype = named(name, configuration, value.itemsize)
        with np.errstate(invalid="ignore"):  # a signalling NaN
            value = value.astype(dtype) if dtype is not None and dtype.kind == "f" else float(value)
    found = scalar_json(value)
    if name == "bool":
        return bool(found) if found in (0, 1) else found
    if isinstance(found, bool) or (isinstance(found, float) and found.is_integer() and re.fullmatch(r"u?int\d+", name)):
        return int(found)
    return found


def _struct_json(value: Any, name: str, configuration: dict[str, Any]) -> Any:
    """Tuples, mappings and numpy structs, whose members may have other types."""
    members = dict(map(member_of, configuration["fields"]))
    if isinstance(value, np.void) and value.dtype.names is not None:
        dtype = named(name, configuration, value.itemsize)
        if value.dtype.newbyteorder("=") == dtype:
            return scalar_json(value.astype(dtype))
        value = {member: value[member] for member in value.dtype.names}
    if isinstance(value, tuple):
        if len(value) != len(members):
            raise ValueError(f"fill_value has {len(value)} members, the struct has {len(members)}")
        value = dict(zip(members, value, strict=True))
    if isinstance(value, Mapping):
        return {key: fill_value_json(part, members[key]) if key in members else part for key, part in value.items()}
    return scalar_json(value)


def _time_json(value: Any, dtype: np.dtype[Any] | None) -> Any:
    """Times of any unit, times of Python, and texts such as "2020-01-01"."""
    assert dtype is not None
    kind = np.datetime64 if dtype.kind == "M" else np.timedelta64
    # numpy 2.5 warns of a NaT without a unit, even one that it makes of this text.
    if isinstance(value, str) and value.upper() == "NAT":
        return "NaT"
    if isinstance(value, str | datetime.date | datetime.timedelta):
        value = kind(value)
    if not isinstance(value, np.datetime64 | np.timedelta64):
        return scalar_json(value)
    if np.isnat(value):
        return "NaT"
    found = value.astype(dtype) if isinstance(value, kind) else None
    if found is None or found != value:
        raise ValueError(f"fill_value is {value!r}, which {dtype} cannot represent")
    return int(found.astype(np.int64))


def scalar_json(value: Any) -> Any:
    """A number or bytes as Zarr writes them. NaN of a numpy type keeps its bits, as hexadecimal text."""
    if isinstance(value, np.void):
        value = value.tobytes()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, np.generic) and is_ml(value.dtype):
        value = int(value) if "int" in value.dtype.name else float(value)
    if isinstance(value, np.longdouble) and not np.isnan(value):
        value = float(value)
    if isinstance(value, np.floating) and np.isnan(value):
        return "0x" + np.array(value, value.dtype.newbyteorder(">")).tobytes().hex()
    if isinstance(value, complex | np.complexfloating):
        return [scalar_json(value.real), scalar_json(value.imag)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
