"""The chains of an array, made from zarr-python's description of its chunks."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zcodec.chain import Chain

if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.core.array_spec import ArraySpec
    from zarr.core.dtype import ZDType

# Codecs by other packages may do something else under the same name.
_KNOWN_PACKAGES = ("zarr", "numcodecs", "zcodec")
_MOST_SHAPES = 256
_FILTERS = threading.Lock()


class Unsupported(Exception):
    """zcodec does not code these chunks; the text says why."""


class Chains:
    """The chains of one list of codecs, by data type, fill value and shape."""

    def __init__(self, codecs: Iterable[Codec]) -> None:
        from zarr.codecs._v2 import V2Codec

        self._codecs = tuple(codecs)
        self._is_v2 = len(self._codecs) == 1 and isinstance(self._codecs[0], V2Codec)
        self._bases: dict[Any, Chain | str] = {}  # or why there is none: an exception would keep frames alive
        self._shaped: dict[Any, Chain] = {}
        self._last: tuple[ArraySpec, Chain] | None = None

    def get(self, spec: ArraySpec) -> Chain:
        """The chain of chunks like `spec`. Raises Unsupported."""
        last = self._last
        if last is None or last[0] is not spec:  # the chunks of a request mostly share one
            last = self._last = spec, self._find(spec)
        return last[1]

    def _find(self, spec: ArraySpec) -> Chain:
        key = (spec.dtype, _fill_key(spec.fill_value), spec.order if self._is_v2 else None)
        base = self._bases.get(key)
        if base is None:
            base = self._bases[key] = self._make(spec)
        if isinstance(base, str):
            raise Unsupported(base)
        return base if base.shape == spec.shape else self._with_shape(key, base, spec.shape)

    def _with_shape(self, key: Any, base: Chain, shape: tuple[int, ...]) -> Chain:
        chain = self._shaped.get((key, shape))
        if chain is None:
            try:
                chain = base.with_shape(shape)
            except ValueError as error:
                raise Unsupported(str(error)) from error
            if len(self._shaped) >= _MOST_SHAPES:
                self._shaped.clear()
            self._shaped[key, shape] = chain
        return chain

    def _make(self, spec: ArraySpec) -> Chain | str:
        """A chain, or why there is none."""
        try:
            _must_be_known(self._codecs)
            chain = self._v2_chain(spec) if self._is_v2 else chain_of(self._codecs, spec)
        except (ValueError, NotImplementedError) as error:
            return str(error)
        except TypeError as error:  # of zarr-python, whose fill values of some structs are of a wrong type
            return f"{error} (data type {spec.dtype}, fill value {spec.fill_value!r})"
        native: Any = spec.dtype.to_native_dtype()
        if chain.dtype not in (native, native.newbyteorder("=")):
            return f"data type {native} is {chain.dtype} in zcodec"
        if native.kind in "mM" and not native.isnative and np.datetime_data(native)[0] == "generic":
            return f"numpy does not swap the bytes of {native.str}, a time without a unit"
        return chain

    def _v2_chain(self, spec: ArraySpec) -> Chain:
        codec: Any = self._codecs[0]
        fill_value: Any = spec.dtype.to_json_scalar(fill_value_of(spec), zarr_format=2)
        data_type: Any = spec.dtype.to_json(zarr_format=2)
        document = {
            "zarr_format": 2, "shape": spec.shape, "chunks": spec.shape, "dtype": data_type["name"], "order": spec.order,
            "fill_value": fill_value, "filters": [_v2_config(each) for each in codec.filters or ()] or None,
            "compressor": None if codec.compressor is None else _v2_config(codec.compressor),
        }  # fmt: skip
        return Chain.from_zarr_json(document)


def chain_of(codecs: Iterable[Codec], spec: ArraySpec) -> Chain:
    """The chain of Zarr v3 codecs for chunks like `spec`."""
    fill_value: Any = spec.dtype.to_json_scalar(fill_value_of(spec), zarr_format=3)
    document = {
        "zarr_format": 3, "node_type": "array", "shape": spec.shape,
        "data_type": data_type_of(spec.dtype), "fill_value": fill_value,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": spec.shape}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [codec.to_dict() for codec in codecs],
    }  # fmt: skip
    return Chain.from_zarr_json(document)


def data_type_of(dtype: ZDType[Any, Any]) -> Any:
    """The data type as `zarr.json` has it. zarr-python warns of those without a specification when an array is created,
    and not again."""
    if dtype.to_native_dtype().kind in "biufc":  # they have a specification
        return dtype.to_json(zarr_format=3)
    return json.loads(_unwarned(dtype))


@lru_cache(maxsize=256)
def _unwarned(dtype: ZDType[Any, Any]) -> str:
    # Filters of warnings hold for the whole process: they are changed once for each type, by one thread at a time.
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.dumps(dtype.to_json(zarr_format=3))


def _v2_config(codec: Any) -> dict[str, Any]:
    _must_be_known([codec])
    return dict(codec.get_config())


def _must_be_known(codecs: Iterable[object]) -> None:
    """Refuses codecs of other packages, including those inside shards."""
    for codec in codecs:
        package = type(codec).__module__.split(".")[0]
        if package not in _KNOWN_PACKAGES:
            kind = f"{type(codec).__module__}.{type(codec).__qualname__}"
            raise NotImplementedError(f"codec {kind} is of another package")
        for inner in ("codecs", "index_codecs"):
            _must_be_known(getattr(codec, inner, ()))


def first_chunk(chunk_grid: Any) -> tuple[int, ...]:
    """The shape of the first chunk of a grid of zarr-python, regular or rectilinear."""
    if hasattr(chunk_grid, "chunk_shape"):
        return tuple(chunk_grid.chunk_shape)
    return tuple(axis if isinstance(axis, int) else axis[0] for axis in chunk_grid.chunk_shapes)


def fill_value_of(spec: ArraySpec) -> Any:
    """The fill value. Zarr v2 allows null; zarr-python then uses the default of the data type."""
    return spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value


def _fill_key(fill_value: Any) -> Any:
    if isinstance(fill_value, np.generic):
        return type(fill_value), fill_value.tobytes()
    return repr(fill_value)
