"""The classes that zarr-python finds by the names of codecs: its own, where it has one of that name."""

from __future__ import annotations

from typing import Any

import zarr.codecs
from zarr.registry import register_codec

from zcodec.zarr import codecs as ours


def _choose(name: str) -> Any:
    return getattr(zarr.codecs, name, None) or getattr(ours, name)


BitRound = ours.BitRound
CastValue = _choose("CastValue")
N5Default = ours.N5Default
Offset = ours.Offset
PackBits = ours.PackBits
Pad = ours.Pad
Reshape = ours.Reshape
ScaleOffset = _choose("ScaleOffset")
Squeeze = ours.Squeeze
Zfp = ours.Zfp

for _codec in (BitRound, CastValue, N5Default, Offset, PackBits, Pad, Reshape, ScaleOffset, Squeeze, Zfp):
    _name = {"CastValue": "cast_value", "ScaleOffset": "scale_offset"}.get(_codec.__name__)
    register_codec(_name or _codec.codec_name, _codec)
