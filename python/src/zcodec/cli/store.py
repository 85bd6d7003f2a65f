"""Arrays of a store, and their chunks."""

from __future__ import annotations

import json
import stat
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import FsspecStore, LocalStore, StorePath
from zarr.storage._common import make_store_path

from zcodec.callbacks import processors
from zcodec.chain import Chain
from zcodec.cli.grid import Grid
from zcodec.cli.place import is_url
from zcodec.cli.unopened import Unopened, stored_document, unopened
from zcodec.zarr import FallbackWarning

OUTDATED = "the consolidated metadata of a group above is out of date; zarr.consolidate_metadata renews it"
_OTHER_FORMAT = "is of Zarr v{}, and its group of Zarr v{} does not show it"
Item = TypeVar("Item")
Result = TypeVar("Result")


def use_zcodec() -> None:
    """Configures the pipeline. It does not warn of arrays that it leaves to zarr-python: `inspect` reports them."""
    zarr.config.set({"codec_pipeline.path": "zcodec.zarr.CodecPipeline", "array.rectilinear_chunks": True})
    warnings.simplefilter("ignore", FallbackWarning)


class Contents(NamedTuple):
    """What is in a store, by path, in order. If the store is an array, its path is ""."""

    arrays: list[tuple[str, Any]]
    """Arrays of zarr-python, or `Unopened` ones."""
    unreadable: list[tuple[str, Exception]]
    """Arrays that cannot be read, with the error of each."""
    hidden: list[tuple[str, str]]
    """The paths of arrays and groups that readers of a group above do not see, or of which they see other metadata,
    each with the reason. Their own metadata counts."""


def contents(store: str) -> Contents:
    """Finds all arrays of a store, or the one that it is. Raises OSError or ValueError if it is neither an array nor a
    group."""
    use_zcodec()
    found = Contents([], [], [])
    for path, node in sorted(_nodes("", _opened(store), found.hidden), key=lambda item: item[0]):
        try:
            if isinstance(node, Exception):
                raise node
            grid_of(node)
            found.arrays.append((path, node))
        except Exception as error:
            found.unreadable.append((path, error))
    return found


def _opened(store: str) -> Any:
    """An array or a group. Consolidated metadata with an array that cannot be read is not used."""
    place = store if is_url(store) else Path(store)  # zarr-python 3.4 drops characters of a path that is a str
    try:
        return zarr.open(place, mode="r")
    except Exception as error:
        try:
            return zarr.open_group(place, mode="r", use_consolidated=False)
        except Exception:
            if isinstance(error, FileNotFoundError):
                hint = f"; zip://::{store} is what the zip file contains" if zipfile.is_zipfile(store) else ""
                raise FileNotFoundError(f"there is no array and no group at {store}{hint}") from None
            found = unopened(sync(make_store_path(place, mode="r")), error)
            if isinstance(found, Unopened):
                return found
            raise ValueError(f"{store} cannot be read: {reason(error)}") from None


def _nodes(path: str, node: Any, hidden: list[tuple[str, str]]) -> Iterator[tuple[str, Any]]:
    """The node itself if it is an array, or the arrays in it, with their paths; exceptions instead of unreadable
    ones. Adds to `hidden`."""
    if not isinstance(node, zarr.Group):
        yield path, node
        return
    for name, is_new in _names(node).items():
        below = f"{path}/{name}" if path else name
        child: Any
        try:
            child, is_outdated = _child(node, name, is_new)
            if child is None:
                continue  # such as the zarr.json of the group
            if _format(child) != _format(node):
                hidden.append((below, _OTHER_FORMAT.format(_format(child), _format(node))))
            if is_outdated:
                hidden.append((below, OUTDATED))
        except Exception as error:
            child = unopened(node.store_path / name, error)
        yield from _nodes(below, child, hidden)


def _child(group: zarr.Group, name: str, is_new: bool) -> tuple[Any, bool]:
    """An array or a group in a group, or None, and whether consolidated metadata should have it, or has other metadata
    of it."""
    if is_new:
        stored = _stored(group, name)
        return stored, stored is not None and _format(stored) == _format(group)
    try:
        child: Any = group[name]
    except KeyError as error:
        if error.args != (name,):
            raise
        return _of_other_format(group, name), False
    if group.metadata.consolidated_metadata is None:
        return child, False
    try:
        stored = _stored(group, name)
    except Exception:
        if isinstance(child, zarr.Group):  # its arrays can be read all the same
            return child, False
        raise
    if stored is None or (isinstance(child, zarr.Group) and _are_alike(stored, child)):
        return child, False
    return stored, not _are_alike(stored, child)


def _stored(group: zarr.Group, name: str) -> Any:
    """A node of a group by its own metadata, of the format of the group or of the other one; None if it has none."""
    try:
        return zarr.open(group.store_path / name, zarr_format=_format(group), mode="r")
    except (FileNotFoundError, NotADirectoryError):
        return _of_other_format(group, name)


def _of_other_format(group: zarr.Group, name: str) -> Any:
    """A node in a group of Zarr v2 that is of Zarr v3, or the other way round; None if there is none."""
    path = group.store_path / name
    other: Literal[2, 3] = 3 if _format(group) == 2 else 2
    return zarr.open(path, zarr_format=other, mode="r") if _is_node(path, other) else None


def _is_node(path: StorePath, zarr_format: int) -> bool:
    names = ("zarr.json",) if zarr_format == 3 else (".zarray", ".zgroup")
    try:
        return any(sync((path / name).exists()) for name in names)
    except Exception:  # each kind of store raises its own
        return False


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two arrays have the same metadata apart from attributes, or two groups the same format."""
    if isinstance(one, zarr.Group) or isinstance(other, zarr.Group):
        return type(one) is type(other) and _format(one) == _format(other)
    return {**document(one), "attributes": {}} == {**document(other), "attributes": {}}


def _format(node: Any) -> Literal[2, 3]:
    return node.metadata.zarr_format  # type: ignore[no-any-return]


def _names(group: zarr.Group) -> dict[str, bool]:
    """What may be the nodes of a group: for each name, whether consolidated metadata lacks it."""
    consolidated = group.metadata.consolidated_metadata
    if consolidated is None:
        return dict.fromkeys(sync(_listed(group)), False)
    try:
        listed = sync(_listed(group))
    except Exception:  # each kind of store that cannot list raises its own
        listed = []
    new = (name for name in listed if name != "zarr.json" and not name.startswith("."))
    return {**dict.fromkeys(new, True), **dict.fromkeys(consolidated.metadata, False)}


async def _listed(group: zarr.Group) -> list[str]:
    store = group.store
    if not isinstance(store, FsspecStore):
        return [name async for name in store.list_dir(group.path)]
    # list_dir of zarr-python 3.1 is wrong for groups of stores whose root is "", and for the roots of zip files.
    root = "/".join(part for part in (store.path.rstrip("/"), group.path) if part)
    try:
        found = await store.fs._ls(root, detail=False)
    except FileNotFoundError:
        return []
    names = (place.removeprefix(root).strip("/") for place in found)
    # A page over HTTP has other links, too.
    others = "/?#" if {"http", "https"} & _protocols(store.fs) else "/"
    return list(dict.fromkeys(name for name in names if name not in ("", ".", "..") and not set(name) & set(others)))


def _protocols(files: Any) -> set[str]:
    """The protocols of a file system of fsspec, which may be wrapped to be asynchronous."""
    protocol = getattr(getattr(files, "sync_fs", files), "protocol", ())
    return {protocol} if isinstance(protocol, str) else set(protocol)


def reason(error: Exception) -> str:
    """Why metadata cannot be read."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error}"
    if type(error) is KeyError:
        return f"{error} is missing"
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return (str(error) or type(error).__name__) + notes


def document(array: Any) -> dict[str, Any]:
    """The metadata document as zarr-python writes it: a zarr.json, or a .zarray."""
    return array.document if isinstance(array, Unopened) else document_of(array.metadata)


def document_of(metadata: Any) -> dict[str, Any]:
    files = metadata.to_buffer_dict(default_buffer_prototype())
    name = "zarr.json" if metadata.zarr_format == 3 else ".zarray"
    return json.loads(files[name].to_bytes())  # type: ignore[no-any-return]


def grid_of(array: Any) -> Grid:
    return Grid(document(array))


def stored_size(array: Any) -> int | None:
    """The stored size of the chunks in bytes; None if the store cannot list its objects, as stores over HTTP may
    not."""
    path = array.store_path
    try:
        size = sync(path.store.getsize_prefix(path.path))
        names = ("zarr.json", ".zarray", ".zattrs")
        documents = [sync((path / name).get(default_buffer_prototype())) for name in names]
    except Exception:  # each kind of store raises its own
        return None
    return int(size) - sum(len(found) for found in documents if found is not None)


def encoded(array: Any, coordinates: tuple[int, ...]) -> Any | None:
    """The bytes of a stored chunk; None if there is no such chunk. Raises OSError if something else is in its place."""
    path = array.store_path / array.metadata.encode_chunk_key(coordinates)
    if _is_missing(path):
        return None
    buffer = sync(path.get(default_buffer_prototype()))
    if buffer is None:
        _refuse_others(path)
        return None
    return buffer.as_numpy_array()


def refuse_unreadable(array: Any, chunks: Iterable[tuple[int, ...]]) -> None:
    """Raises OSError if something else is in the place of one of these chunks: zarr-python then reads a fill value."""
    if file_of(array.store_path) is None:
        return
    for coordinates in chunks:
        key = array.metadata.encode_chunk_key(coordinates)
        path = array.store_path / key
        try:
            if not _is_missing(path):
                _refuse_others(path)
        except OSError as error:
            raise type(error)(f"{key}: {error}") from None


def _refuse_others(path: StorePath) -> None:
    """Raises OSError if there is something else: file stores report everything but a regular file as missing."""
    place = file_of(path)
    if place is None:
        return
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise NotADirectoryError("cannot be read: a file has the name of a directory above it") from None
    if stat.S_ISLNK(mode) and not place.exists():
        raise FileNotFoundError("cannot be read: a link that leads nowhere has its name")
    if place.is_dir():
        raise IsADirectoryError("cannot be read: a directory has its name")


def _is_missing(path: StorePath) -> bool:
    """Whether a file does not exist; False for other stores. Most chunks of a large array may be missing, and asking
    the store for each takes five times as long. Raises OSError for what may be read for ever, such as a pipe, and if a
    folder above is lost."""
    place = file_of(path)
    if place is None:
        return False
    try:
        mode = place.lstat().st_mode
        if stat.S_ISLNK(mode):
            mode = place.stat().st_mode
    except OSError as error:
        if not isinstance(error, FileNotFoundError) or place.is_symlink():
            return False
        _refuse_lost_folders(place)
        return True
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError("cannot be read: something that is no regular file has its name")
    return False


def _refuse_lost_folders(place: Path) -> None:
    """Raises OSError if a folder above a missing file is a link that leads nowhere, such as to a missing disk."""
    for folder in place.parents:
        if folder.exists():
            return
        if folder.is_symlink():
            raise FileNotFoundError(f"cannot be read: the folder {folder.name} is a link that leads nowhere")


def file_of(path: StorePath) -> Path | None:
    """The path in the file system; None for other stores."""
    store: Any = path.store
    if isinstance(store, LocalStore):
        return store.root / path.path
    is_local = "file" in _protocols(getattr(store, "fs", None))
    return Path(store.path) / path.path if is_local else None


def chain_of(array: Any) -> Chain:
    """The chain of the document as it is stored, which other programs see, too."""
    if isinstance(array, Unopened):
        return array.chain
    text = stored_document(array.store_path, array.metadata.zarr_format)
    return Chain.from_zarr_json(document(array) if text is None else text)


def each(
    work: Callable[[Item], Result], items: Iterable[Item], item_count: int, workers: int | None
) -> Iterator[tuple[Item, Future[Result]]]:
    """Runs `work` on all items in `workers` threads, and yields them as they finish. Items are taken as threads need
    them. If there are fewer items than threads, the pipeline has the others."""
    count = workers or processors()
    left = iter(items)
    inside = {"codec_pipeline.max_workers": max(1, workers // max(1, item_count))} if workers else {}
    with zarr.config.set(inside), ThreadPoolExecutor(count) as pool:
        running = {pool.submit(work, item): item for item in islice(left, 2 * count)}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future
                for item in islice(left, 2 * count - len(running)):
                    running[pool.submit(work, item)] = item
        finally:
            for future in running:
                future.cancel()
