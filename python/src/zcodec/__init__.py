"""The codecs of Zarr on numpy arrays.

`Chain` encodes and decodes chunks; `zcodec.zarr.CodecPipeline` puts it into zarr-python.
"""

from __future__ import annotations

import json
from typing import Any

from zcodec._ffi import ffi, lib
from zcodec.chain import Chain, Kind
from zcodec.errors import Error, Status
from zcodec.index import Index, Range, index_range
from zcodec.plan import Plan
from zcodec.registry import HostCodec, Registry
from zcodec.writer import Layout, Piece, Writer

__all__ = [
    "Chain", "Error", "HostCodec", "Index", "Kind", "Layout", "Piece", "Plan", "Range", "Registry", "Status", "Writer",
    "index_range", "supported",
]  # fmt: skip

__version__: str = ffi.string(lib.zcodec_version()).decode()


def supported() -> dict[str, Any]:
    """What this build supports: version, codecs with their aliases, data types."""
    return json.loads(ffi.string(lib.zcodec_supported_json()))  # type: ignore[no-any-return]
