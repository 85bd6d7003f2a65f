"""The codec pipeline that zarr-python finds by its entry point. It loads this whenever an array is opened, whatever
pipeline is configured: an error here must not stop it. So this is a package of its own: `zcodec` itself cannot be
imported without its library."""

from __future__ import annotations

import warnings
from typing import Any

CodecPipeline: Any
try:
    from zcodec.zarr import CodecPipeline
except (ImportError, OSError, AttributeError) as error:  # the library is missing, damaged or too old
    from zarr.core.codec_pipeline import BatchedCodecPipeline

    warnings.warn(f"zcodec.zarr.CodecPipeline is missing, other pipelines work: {error}", RuntimeWarning, stacklevel=2)
    CodecPipeline = BatchedCodecPipeline
