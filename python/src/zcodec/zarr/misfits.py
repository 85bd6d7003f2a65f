"""Arrays whose chunks no pipeline can code, because of a codec of `zcodec.zarr.codecs` or a byte order that
zarr-python dropped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import zarr
from zarr.abc.codec import ArrayArrayCodec
from zarr.codecs import BytesCodec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype

from zcodec.errors import Error
from zcodec.zarr.chains import chain_of, first_chunk
from zcodec.zarr.kinds import Named


def refuse_misfits(metadata: Any) -> None:
    """Raises Error if a codec of ours cannot code the chunks of an array, or `bytes` lacks its `endian`."""
    codecs = getattr(metadata, "codecs", ())  # Zarr v2 has none
    if not _has(codecs, Named | ArrayArrayCodec):
        return
    spec = ArraySpec(
        first_chunk(metadata.chunk_grid), metadata.data_type, metadata.fill_value, ArrayConfig.from_dict({}),
        default_buffer_prototype(),
    )  # fmt: skip
    try:
        chain_of(codecs, spec)
    except Error as error:
        codec = _codec_at(codecs, error.path)
        if isinstance(codec, BytesCodec) and codec.endian is None and error.code == "configuration":
            raise _without_endian(error) from None
        if isinstance(codec, Named):
            raise
    except (ValueError, TypeError, NotImplementedError):
        pass  # zcodec does not support something else


def _has(codecs: Iterable[Any], kinds: Any) -> bool:
    return any(isinstance(codec, kinds) or _has(getattr(codec, "codecs", ()), kinds) for codec in codecs)


def _codec_at(codecs: Iterable[Any], path: str) -> Any:
    """The codec at this path of an error, or the one of ours that it is inside."""
    first, _, inside = path.removeprefix("/").partition("/configuration/codecs")
    if not first.isdigit():
        return None
    codec = list(codecs)[int(first)]
    return codec if isinstance(codec, Named) or not inside else _codec_at(getattr(codec, "codecs", ()), inside)


def _without_endian(error: Error) -> Error:
    """zarr-python before 3.3 drops the `endian` of `bytes`, in shards or everywhere, if the elements of the array have
    one byte, whatever codecs make of them. The order that was meant is then unknown."""
    why = f"zarr-python {zarr.__version__} drops it if elements of the array have one byte, even if a codec widens them"
    ways = 'zarr 3.3 or later keeps that of BytesCodec(endian="little"), and the serializer PackBits() needs none'
    return Error(f"{error}; {why}; {ways}", error.status, error.codec_index, code=error.code, path=error.path)
