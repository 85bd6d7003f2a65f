"""The codec pipeline that zarr-python finds by its entry point. It loads this whenever an array is opened, whatever
pipeline is configured: an error here must not stop it."""

from __future__ import annotations

import warnings
from typing import Any

CodecPipeline: Any
try:
    from zcodec.zarr import CodecPipeline
except ImportError as error:
    from zarr.core.codec_pipeline import BatchedCodecPipeline

    warnings.warn(f"zcodec.zarr.CodecPipeline is missing, other pipelines work: {error}", RuntimeWarning, stacklevel=2)
    CodecPipeline = BatchedCodecPipeline
