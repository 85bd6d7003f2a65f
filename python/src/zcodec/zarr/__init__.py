"""zcodec inside zarr-python: a codec pipeline, and the codecs that zarr-python lacks.

    zarr.config.set({"codec_pipeline.path": "zcodec.zarr.CodecPipeline"})
"""

from __future__ import annotations

from importlib.util import find_spec

import zarr

if find_spec("zarr.dtype") is None:
    raise ImportError(
        f"zcodec.zarr needs zarr 3.1 or later, and this is {zarr.__version__}; pip install --upgrade zarr brings it"
    )

from zcodec.zarr import entry as _entry  # noqa: F401 - zarr-python knows the codecs from here on
from zcodec.zarr.codecs import (
    BitRound,
    CastValue,
    Conditional,
    N5Default,
    Offset,
    PackBits,
    Pad,
    Reshape,
    ScaleOffset,
    Squeeze,
    Zfp,
)
from zcodec.zarr.pipeline import CodecPipeline
from zcodec.zarr.stats import FallbackWarning, Stats, stats

__all__ = [
    "BitRound", "CastValue", "CodecPipeline", "Conditional", "FallbackWarning", "N5Default", "Offset", "PackBits",
    "Pad", "Reshape", "ScaleOffset", "Squeeze", "Stats", "Zfp", "stats",
]  # fmt: skip
