"""The target of a conversion. It becomes an array only when it is finished, so nobody reads a part of it as the
whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import zarr
from zarr.core.buffer import Buffer, default_buffer_prototype
from zarr.core.metadata import ArrayV3Metadata
from zarr.core.sync import sync
from zarr.storage import StorePath
from zarr.storage._common import make_store_path

from zcodec.cli.place import is_url, place_of
from zcodec.cli.store import document

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Exists in the target while it is unfinished: everything next to it was left by a convert, and may be deleted. It says
# by which one, so that a convert notices if another one took its target.
_MARK = "zcodec-convert-unfinished"
_SAYS = b"This folder is being converted to, or that was interrupted: zcodec convert may be run again.\n"
_RENEWS = "zarr.consolidate_metadata renews it"


class Target:
    """An array without a zarr.json, in a place that belongs to one process while this is used as a context manager."""

    def __init__(self, place: str, array: Any) -> None:
        self.place = place
        self.array = array
        self._mark = _SAYS + uuid4().hex.encode() + b"\n"
        self._lock: IO[bytes] | None = None
        path: StorePath = array.store_path
        sync((path / _MARK).set(_buffer(self._mark)))
        try:
            self._lock = _locked(place)
        except BaseException:
            sync((path / _MARK).delete())
            raise

    def check(self) -> None:
        """Raises FileExistsError if another process took the place."""
        found = sync((self.array.store_path / _MARK).get(default_buffer_prototype()))
        if found is None or found.to_bytes() != self._mark:
            raise FileExistsError(f"another process changed {self.place} meanwhile; convert to another place")

    def finish(self) -> None:
        """Makes the target an array, after all chunks are written."""
        path: StorePath = self.array.store_path
        document = self.array.metadata.to_buffer_dict(default_buffer_prototype())["zarr.json"]
        self.check()
        sync((path / "zarr.json").set(document))
        self.check()
        sync((path / _MARK).delete())

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()


def _locked(place: str) -> IO[bytes] | None:
    """The mark of a target on this machine, locked for this process; None elsewhere, and on Windows. Raises
    FileExistsError if another process has it."""
    where = place_of(place)
    if fcntl is None or where.files is not None:
        return None
    file = (Path(where.path) / _MARK).open("rb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise FileExistsError(f"another process is converting to {place}") from None
    except OSError:  # some file systems have no locks
        pass
    return file


def refuse_zip(place: str) -> None:
    """Refuses a zip file: zarr-python would make a folder of that name."""
    path = place.removeprefix("file://").removeprefix("local://")
    if path.startswith("zip:") or (not is_url(path) and path.lower().endswith(".zip") and not Path(path).is_dir()):
        raise ValueError(f"{place} is a zip file, which convert cannot write; convert to a folder, and pack that")


def unfinished(place: str, metadata: Any, source: Any, *, overwrite: bool) -> Target:
    """A target in an empty place. The rest of an interrupted convert is deleted, anything else only with `overwrite`.
    Nothing of the array `source` is deleted, and nothing that another process is converting to."""
    where = place_of(place)
    # Stores of fsspec make no directories on the machine, and would fail after the old ones are deleted.
    path = sync(make_store_path(Path(where.path) if where.files is None else place, mode="a"))
    if not sync(path.is_empty()):
        has_mark = sync((path / _MARK).exists())
        if not (overwrite or (has_mark and not sync((path / "zarr.json").exists()))):
            raise FileExistsError(f"something exists at {place}; --overwrite deletes it")
        left = _locked(place) if has_mark else None
        try:
            _refuse_inside(path, place, source)
            sync(path.delete_dir())
        finally:
            if left is not None:
                left.close()
    return Target(place, zarr.Array(zarr.AsyncArray(metadata, path)))


def _refuse_inside(path: StorePath, place: str, source: Any) -> None:
    """Refuses a place in the source that has another name: an object written to `place` can be read from the source
    under the last parts of that name."""
    name, parts = f"{_MARK}-{uuid4().hex}", place_of(place).parts
    sync((path / name).set(_buffer(_SAYS)))
    try:
        for i in range(1, len(parts) + 1):
            if sync((source.store_path / "/".join((*parts[i:], name))).exists()):
                raise ValueError(f"{place} and {source.store_path} share a place; convert to another one")
    finally:
        sync((path / name).delete())


def reopened(array: Any) -> Any:
    """The target as others will open it: from the document that `finish` writes."""
    return zarr.Array(zarr.AsyncArray(ArrayV3Metadata.from_dict(document(array)), array.store_path))


def hidden_by(place: str, array: Any) -> list[str]:
    """Why readers of the groups above a new array do not see it, or see other metadata of it."""
    made, name = document(array), ""
    found: list[str] = []
    formats: list[int] = []
    for parent, step in _above(place):
        name = f"{step}/{name}" if name else step
        path = sync(make_store_path(parent, mode="r"))
        group = _json(path / "zarr.json")
        if isinstance(group, dict):
            if 2 not in formats and _lacks(group.get("consolidated_metadata"), name, made):
                found.append(f"the consolidated metadata of {parent} is out of date; {_RENEWS}")
        elif isinstance(_json(path / ".zgroup"), dict):
            if not formats:
                found.append(f"{parent} is a group of Zarr v2, and does not show the new array, which is of Zarr v3")
            if _has_any(_json(path / ".zmetadata"), f"{name}/"):
                says = "still has what was there, of which readers get the fill value"
                found.append(f"the consolidated metadata of {parent} {says}; {_RENEWS}")
        else:
            break  # no group that can be read
        formats.append(3 if isinstance(group, dict) else 2)
    return found


def _lacks(consolidated: Any, name: str, made: dict[str, Any]) -> bool:
    members = _members(consolidated)
    return members is not None and members.get(name) != made


def _has_any(consolidated: Any, prefix: str) -> bool:
    return any(name.startswith(prefix) for name in _members(consolidated) or ())


def _members(consolidated: Any) -> dict[str, Any] | None:
    members = consolidated.get("metadata") if isinstance(consolidated, dict) else None
    return members if isinstance(members, dict) else None


def _above(place: str) -> Iterator[tuple[Path | str, str]]:
    """The places above a place, each with the name of the next one below it."""
    where = place_of(place)
    if where.files is None:
        path = Path(where.path)
        yield from zip(path.parents, (each.name for each in (path, *path.parents)))
    elif "::" not in place:
        protocol, _, names = place.partition("://")
        parts = names.strip("/").split("/")
        for i in range(len(parts) - 1, 0, -1):
            yield f"{protocol}://{'/'.join(parts[:i])}", parts[i]


def _json(path: StorePath) -> Any:
    """A document; None if it does not exist, cannot be read, or is no JSON."""
    try:
        found = sync(path.get(default_buffer_prototype()))
        return None if found is None else json.loads(found.to_bytes())
    except Exception:  # of a store: anything
        return None


def _buffer(content: bytes) -> Buffer:
    return default_buffer_prototype().buffer.from_bytes(content)
