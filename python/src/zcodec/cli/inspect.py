"""`zcodec inspect`: the shape, sizes and codecs of each array."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

from zcodec.cli.store import chain_of, contents, grid_of, reason, stored_size


def describe(path: str, array: Any) -> dict[str, Any]:
    """A description of an array, for programs."""
    stored, grid = stored_size(array), grid_of(array)
    found: dict[str, Any] = {
        "path": path, "zarr_format": array.metadata.zarr_format, "shape": list(array.shape), "data_type": str(array.dtype),
        "chunk_shape": grid.chunks, "chunks": grid.count, "stored_size": stored,
        # The texts and other objects of an array are not in its elements.
        "decoded_size": None if array.dtype.hasobject else math.prod(array.shape) * array.dtype.itemsize,
    }  # fmt: skip
    try:
        chain = chain_of(array)
    except (ValueError, TypeError) as error:
        return {**found, "codecs": None, "unsupported": str(error)}
    try:
        bound = chain.encoded_bound()
    except ValueError:  # of a chunk that no memory holds
        bound = None
    return {
        **found, "codecs": chain.codecs, "granularity": list(chain.granularity), "warnings": chain.warnings,
        "encoded_size": chain.encoded_size, "encoded_bound": bound,
    }  # fmt: skip


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _sizes(chunk_shape: list[int | list[int]]) -> str:
    """A chunk shape; of a rectilinear grid, the smallest and the largest size along each axis."""
    sizes = [str(axis) if isinstance(axis, int) else f"{min(axis)} to {max(axis)}" for axis in chunk_shape]
    return f"({', '.join(sizes)})"


def _print(found: dict[str, Any]) -> None:
    decoded, stored = found["decoded_size"], found["stored_size"]
    ratio = f", ratio {decoded / stored:.2f}" if stored and decoded is not None else ""
    sizes = ["unknown" if size is None else _size(size) for size in (decoded, stored)]
    print(f"{found['path'] or '/'}: {found['data_type']} {tuple(found['shape'])}, Zarr v{found['zarr_format']}")
    print(f"  chunks    {_sizes(found['chunk_shape'])}, {found['chunks']} of them")
    print(f"  size      {sizes[0]}, stored {sizes[1]}{ratio}")
    if found["codecs"] is None:
        print(f"  not supported: {found['unsupported']}")
        return
    print(f"  reads by  {_sizes(found['granularity'])}")
    for i, codec in enumerate(found["codecs"]):
        configuration = json.dumps(codec.get("configuration", {}))
        print(f"  {'codecs' if i == 0 else '':9} {i} {codec['name']} {configuration}")
    for warning in found["warnings"]:
        place = warning.get("path") or f"/{warning['codec_index']}"
        print(f"  warning   {place} {warning['code']}: {warning['message']}")


def run(options: argparse.Namespace) -> int:
    readable, unreadable, hidden = contents(options.store)
    for path, array in readable:
        found = describe(path, array)
        if options.json:
            print(json.dumps(found))
        else:
            _print(found)
    for path, error in unreadable:
        why = reason(error)
        print(json.dumps({"path": path, "unreadable": why}) if options.json else f"{path or '/'}: cannot be read: {why}")
    for path, why in hidden:
        print(f"zcodec: {path}: {why}", file=sys.stderr)
    return 1 if unreadable else 0
