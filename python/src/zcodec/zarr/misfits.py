"""Arrays whose chunks a codec of `zcodec.zarr.codecs` cannot code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype

from zcodec.errors import Error
from zcodec.zarr.chains import chain_of, first_chunk
from zcodec.zarr.kinds import Named


def refuse_misfits(metadata: Any) -> None:
    """Raises Error if a codec of ours cannot code the chunks of an array: no pipeline can then."""
    codecs = getattr(metadata, "codecs", ())  # Zarr v2 has none
    if not _has_ours(codecs):
        return
    spec = ArraySpec(
        first_chunk(metadata.chunk_grid), metadata.data_type, metadata.fill_value, ArrayConfig.from_dict({}),
        default_buffer_prototype(),
    )  # fmt: skip
    try:
        chain_of(codecs, spec)
    except Error as error:
        if _is_about_ours(codecs, error.path):
            raise
    except (ValueError, TypeError, NotImplementedError):
        pass  # zcodec does not support something else


def _has_ours(codecs: Iterable[Any]) -> bool:
    return any(isinstance(codec, Named) or _has_ours(getattr(codec, "codecs", ())) for codec in codecs)


def _is_about_ours(codecs: Iterable[Any], path: str) -> bool:
    """Whether the codec at this path of an error is ours, or inside one of ours."""
    first, _, inside = path.removeprefix("/").partition("/configuration/codecs")
    if not first.isdigit():
        return False
    codec = list(codecs)[int(first)]
    return isinstance(codec, Named) or _is_about_ours(getattr(codec, "codecs", ()), inside)
