"""The classes that zarr-python finds by the names of codecs: its own class, if it has one that works."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import zarr
import zarr.codecs
from zarr.registry import register_codec

from zcodec.zarr import codecs as ours

_CAST_VALUE = getattr(zarr.codecs, "CastValue", None)

BitRound = ours.BitRound
Conditional = ours.Conditional
N5Default = ours.N5Default
Offset = ours.Offset
PackBits = ours.PackBits
Pad = ours.Pad
Reshape = ours.Reshape
ScaleOffset: Any = getattr(zarr.codecs, "ScaleOffset", ours.ScaleOffset)
Squeeze = ours.Squeeze
Zfp = ours.Zfp
CastValue: Any = ours.CastValue
if _CAST_VALUE is not None and find_spec("cast_value_rs") is not None:
    CastValue = _CAST_VALUE
elif _CAST_VALUE is not None:
    # zarr-python knows the name but lacks the package that does the work, so our class becomes the default.
    zarr.config.update_defaults({"codecs": {"cast_value": "zcodec.zarr.codecs.CastValue"}})

for _name, _codec in {
    "bitround": BitRound, "cast_value": CastValue, "conditional": Conditional, "n5_default": N5Default,
    "offset": Offset, "packbits": PackBits, "pad": Pad, "reshape": Reshape, "scale_offset": ScaleOffset,
    "squeeze": Squeeze, "zarrs.squeeze": Squeeze, "zfp": Zfp,
}.items():  # fmt: skip
    register_codec(_name, _codec)
