"""Arrays that zarr-python does not open, although zcodec reads their chunks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import StorePath

from zcodec.chain import Chain
from zcodec.cli.grid import Coordinates

_DOCUMENTS = {2: ".zarray", 3: "zarr.json"}


def stored_document(path: StorePath, zarr_format: int) -> bytes | None:
    """The metadata document of an array as it is stored; None if there is none."""
    found = sync((path / _DOCUMENTS[zarr_format]).get(default_buffer_prototype()))
    return None if found is None else found.to_bytes()


@dataclass(frozen=True)
class Unopened:
    """As much of a `zarr.Array` as `inspect` and `verify` need."""

    store_path: StorePath
    document: dict[str, Any]
    chain: Chain
    error: Exception
    """Why zarr-python does not open it."""

    @property
    def metadata(self) -> Unopened:
        return self

    @property
    def zarr_format(self) -> int:
        return int(self.document["zarr_format"])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.document["shape"])

    @property
    def dtype(self) -> np.dtype[Any]:
        assert self.chain.dtype is not None  # the chain of a document takes an array
        return self.chain.dtype

    @cached_property
    def _key_encoding(self) -> tuple[str, str]:
        """Its name and its separator."""
        if self.zarr_format == 2:
            return "v2", self.document.get("dimension_separator", ".")
        encoding = self.document["chunk_key_encoding"]
        name, configuration = (encoding, {}) if isinstance(encoding, str) else (encoding["name"], encoding)
        separator = configuration.get("configuration", {}).get("separator", "." if name == "v2" else "/")
        if name not in ("default", "v2") or separator not in (".", "/"):
            raise ValueError(f"chunk_key_encoding is {encoding}, which is not supported")
        return name, separator

    def encode_chunk_key(self, coordinates: Coordinates) -> str:
        name, separator = self._key_encoding
        if name == "default":
            return separator.join(("c", *map(str, coordinates)))
        return separator.join(map(str, coordinates)) or "0"


def unopened(path: StorePath, error: Exception) -> Unopened | Exception:
    """What zcodec reads of the array at `path`, which zarr-python does not open because of `error`. If zcodec does not
    read it either, that error; a note has what zcodec says."""
    for zarr_format in (3, 2):
        try:
            text = stored_document(path, zarr_format) or b"null"
            document = json.loads(text)
        except Exception:  # each kind of store raises its own
            return error
        if not isinstance(document, dict) and document is not None:
            found_instead = text.decode(errors="replace")[:40]
            error.add_note(f"zcodec: {_DOCUMENTS[zarr_format]} is {found_instead}, expected an object")
            return error
        if not isinstance(document, dict) or document.get("node_type", "array") != "array":
            continue
        try:
            found = Unopened(path, document, Chain.from_zarr_json(text), error)
            found.encode_chunk_key((0,) * len(found.shape))
            return found
        except (ValueError, TypeError, KeyError, AttributeError) as own:
            if isinstance(own, ValueError):
                error.add_note(f"zcodec: {own}")
            return error
    return error
