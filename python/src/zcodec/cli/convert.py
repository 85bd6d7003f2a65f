"""`zcodec convert`: rewrites an array with another chain, and compares."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
from zarr.registry import get_codec_class
from zarr.storage import MemoryStore

from zcodec.chain import Chain
from zcodec.cli.boxes import Boxes
from zcodec.cli.differences import Differences
from zcodec.cli.grid import Box, Coordinates, Grid, combined
from zcodec.cli.place import place_of, places_of
from zcodec.cli.progress import progress
from zcodec.cli.store import chain_of, contents, document_of, each, grid_of, reason, refuse_unreadable, stored_size
from zcodec.cli.stored import stored_boxes
from zcodec.cli.target import Target, hidden_by, refuse_zip, reopened, unfinished
from zcodec.cli.unopened import Unopened, stored_document
from zcodec.errors import Error, Status
from zcodec.zarr.chains import data_type_of

# How many bytes a worker reads at once if chunks of the target are smaller, so that each source chunk is decoded once.
_BOX_SIZE = 128 << 20


def _codecs(text: str) -> list[Any]:
    try:
        found = json.loads(Path(text[1:]).read_text("utf-8") if text.startswith("@") else text)
    except json.JSONDecodeError as error:
        raise ValueError(f"--codecs is not a JSON list: {error}") from None
    if not isinstance(found, list):
        raise ValueError(f"--codecs must be a JSON list, not {text!r}")
    return found


def _chunks(text: str | None, source: Any) -> Any:
    if text is None:
        return grid_of(source).chunks
    sizes = text.split(",") if text else []
    if not all(size.strip().isdecimal() for size in sizes):
        raise ValueError(f"--chunks is {text!r}, expected sizes such as 64,64")
    if len(sizes) != source.ndim:
        raise ValueError(f"--chunks is {text!r}: expected a size for each of the {source.ndim} dimensions of the array")
    chunks = [int(size) for size in sizes]
    if 0 in chunks:
        raise ValueError(f"--chunks is {text!r}, but a chunk has at least one element along each dimension")
    return chunks


def _metadata(options: argparse.Namespace, source: Any) -> Any:
    """The metadata of the new array: that of the source with other codecs."""
    codecs, chunks = _codecs(options.codecs), _chunks(options.chunks, source)
    entering = _entering(source)
    first = [axis if isinstance(axis, int) else axis[0] for axis in chunks]
    chain = Chain(codecs, entering["data_type"], first, None)
    for warning in chain.warnings:
        print(f"zcodec: {warning['message']}", file=sys.stderr)
    _refuse_too_large(chain, options.chunks)
    # zarr-python wants the long form of codecs, also inside other codecs.
    ignored = {warning["codec_index"] for warning in chain.warnings if warning["code"] == "ignored_codec"}
    codecs = [codec for i, codec in enumerate(chain.codecs) if i not in ignored]
    made: list[Any] = [_class_of(codec["name"]).from_dict(codec) for codec in codecs]
    serializer = next((codec for codec in made if isinstance(codec, ArrayBytesCodec)), None)
    if serializer is None:
        raise ValueError("--codecs has no array->bytes codec: an array needs exactly one")
    dtype, fill_value = _elements(source)
    names, attributes = _dimension_names(source)
    store = MemoryStore()  # if this fails, the target stays as it is
    array = zarr.create_array(
        store,
        zarr_format=3,
        shape=source.shape,
        dtype=dtype,
        chunks=chunks,
        filters=[codec for codec in made if isinstance(codec, ArrayArrayCodec)],
        serializer=serializer,
        compressors=[codec for codec in made if not isinstance(codec, ArrayArrayCodec | ArrayBytesCodec)],
        fill_value=fill_value,
        dimension_names=names,
        attributes=attributes,
    )
    _refuse_unreadable(store, array)
    made_document: dict[str, Any] = dict(array.metadata.to_dict())
    _refuse_other_byte_order(chain, Chain(made_document["codecs"], made_document["data_type"], first), array.dtype)
    return array.metadata


_MEMBERS = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs",
    "attributes", "dimension_names", "storage_transformers",
}  # fmt: skip


def _warn_of_extensions(source: Any) -> None:
    """Names the members of a zarr.json that the new one will not have: nobody knows whether they hold for it."""
    text = stored_document(source.store_path, 3) if source.metadata.zarr_format == 3 else None
    for name in json.loads(text) if text is not None else ():
        if name not in _MEMBERS:
            print(f"zcodec: the member {name!r} of the zarr.json is not copied", file=sys.stderr)


def _class_of(name: str) -> Any:
    try:
        return get_codec_class(name)
    except Exception as error:  # each version raises its own
        says = f"zarr-python {zarr.__version__} has no class for the codec {name!r}, and could not open the array"
        raise ValueError(says) from error


def _refuse_too_large(chain: Chain, chunks: str | None) -> None:
    """Refuses chunks that this machine cannot hold, before anything is deleted."""
    size = chain.decoded_size
    try:
        np.empty(size, np.uint8)
        np.empty(chain.encoded_bound(), np.uint8)
    except (MemoryError, ValueError) as error:
        if isinstance(error, Error) and error.status == Status.UNKNOWN_SIZE:
            return
        what = "a chunk" if chunks is None else f"--chunks is {chunks!r}, and a chunk"
        raise ValueError(f"{what} has {size} bytes, which this machine cannot allocate") from None


def _refuse_unreadable(store: MemoryStore, array: Any) -> None:
    """Refuses an array that zarr-python writes and cannot open, such as one of datetime64 without a unit."""
    try:
        zarr.open_array(store, mode="r")
    except Exception as error:
        what = f"a zarr.json with the data type {array.dtype} and these codecs"
        raise ValueError(f"zarr-python {zarr.__version__} cannot open {what}: {reason(error)}") from error


def _refuse_other_byte_order(asked: Chain, made: Chain, dtype: np.dtype[Any]) -> None:
    """Refuses codecs that lost the byte order which was asked for, as zarr-python 3.1 loses that of structs."""
    for order, other in zip(_byte_orders(asked.codecs), _byte_orders(made.codecs)):
        if order != other:
            what = f"--codecs asks for the byte order {order!r}, but zarr-python {zarr.__version__} makes {other!r}"
            raise ValueError(f"{what} of it for {dtype}")


def _byte_orders(codecs: list[dict[str, Any]]) -> Iterator[str]:
    """Those of the codecs `bytes` of a chain, and of shards in it. Structs without one are little-endian."""
    for codec in codecs:
        configuration = codec.get("configuration", {})
        if codec["name"] == "bytes":
            yield configuration.get("endian", "little")
        yield from _byte_orders(configuration.get("codecs", []))


def _elements(source: Any) -> tuple[Any, Any]:
    """The data type and the fill value of the new array."""
    dtype, fill_value = source.metadata.dtype, source.metadata.fill_value
    if source.dtype.fields is None or source.dtype.isnative:
        return dtype, fill_value
    # zarr-python 3.1 keeps the byte order of a struct, which a zarr.json cannot say.
    native = source.dtype.newbyteorder("=")
    return native, None if fill_value is None else np.asarray(fill_value, source.dtype).astype(native)[()]


def _dimension_names(source: Any) -> tuple[Any, dict[str, Any]]:
    """The names of the dimensions, and the other attributes: xarray keeps the names in an attribute of Zarr v2."""
    attributes = dict(source.attrs)
    if source.metadata.zarr_format == 3:
        return source.metadata.dimension_names, attributes
    names = attributes.get("_ARRAY_DIMENSIONS")
    if isinstance(names, list) and len(names) == source.ndim and all(isinstance(name, str) for name in names):
        del attributes["_ARRAY_DIMENSIONS"]
        return names, attributes
    return None, attributes


def _entering(source: Any) -> dict[str, Any]:
    try:
        return chain_of(source).input
    except Error:
        return {"data_type": data_type_of(source.metadata.dtype)}


def _source(place: str) -> Any:
    """The array at `place`. Raises ValueError if it cannot be read, or if a group is there."""
    members, unreadable, _ = contents(place)
    if len(members) == 1 and not members[0][0]:
        found = members[0][1]
        if isinstance(found, Unopened):
            why = f"zarr-python {zarr.__version__} does not open it: {reason(found.error)}"
            raise ValueError(f"{place} cannot be read: {why}") from found.error
        return found
    if members:
        raise ValueError(f"{place} is a group; name one of its arrays: {', '.join(path for path, _ in members)}")
    if not unreadable:
        raise ValueError(f"{place} is a group; it has no arrays")
    path, error = unreadable[0]
    what = f"{place} is a group; its array {path}" if path else place
    raise ValueError(f"{what} cannot be read: {reason(error)}") from error


def run(options: argparse.Namespace) -> int:
    source = _source(options.source)
    refuse_zip(options.target)
    if any(place.shares(place_of(options.target)) for place in places_of(options.source)):
        raise ValueError(f"{options.target} and {options.source} share a place; convert to another one")
    metadata = _metadata(options, source)
    _warn_of_extensions(source)
    # What may fail does so before anything is deleted.
    boxes = Boxes(grid_of(source), Grid(document_of(metadata)), _BOX_SIZE // max(source.dtype.itemsize, 1))
    present = stored_boxes(source, boxes)
    with unfinished(options.target, metadata, source, overwrite=options.overwrite) as target:
        try:
            differences = _copy(options, source, target, boxes, present)
        except BaseException:
            print(f"zcodec: {options.target} is incomplete: it may have chunks, but has no zarr.json", file=sys.stderr)
            raise
        target.finish()
    status = _verdict(differences, target.array, lossy=options.lossy)
    for says in hidden_by(options.target, target.array):
        print(f"zcodec: {says}", file=sys.stderr)
    before, after = stored_size(source), stored_size(target.array)
    if before is not None and after is not None:
        print(f"{before} bytes became {after}")
    return status


def _copy(
    options: argparse.Namespace, source: Any, target: Target, boxes: Boxes, present: set[Coordinates] | None
) -> Differences:
    """Writes all chunks, and compares what comes back."""
    array, stored = target.array, reopened(target.array)
    source_grid, grid, differences = grid_of(source), grid_of(stored), Differences()
    chosen: Iterable[Box] = boxes
    count = boxes.count
    if present is not None and _may_leave_out(present, boxes, grid, source, stored):
        chosen, count = map(boxes.numbered, sorted(present)), len(present)

    def copy(box: Box) -> None:
        target.check()
        where = grid.region_of(box)
        refuse_unreadable(source, source_grid.touching(where))
        values = np.asarray(source[where])
        array[where] = values
        for coordinates in combined(box):
            chunk = grid.region(coordinates)
            within = tuple(slice(a.start - b.start, a.stop - b.start) for a, b in zip(chunk, where, strict=True))
            differences.compare(coordinates, values[within], np.asarray(stored[chunk]))

    with progress("convert", count, quiet=options.quiet) as advance:
        for _, done in each(copy, chosen, count, options.workers):
            done.result()
            advance(1)
    return differences


def _may_leave_out(present: set[Coordinates], boxes: Boxes, grid: Grid, source: Any, stored: Any) -> bool:
    """Whether boxes without chunks have nothing to write and nothing to compare: what is missing reads as the same
    value from both arrays."""
    missing = next((numbers for numbers in boxes.numbers() if numbers not in present), None)
    if missing is None or zarr.config.get("array.write_empty_chunks", False):
        return False
    where = tuple(slice(part.start, part.start + 1) for part in grid.region_of(boxes.numbered(missing)))
    differences = Differences()
    differences.compare((), np.asarray(source[where]), np.asarray(stored[where]))
    return not differences.count


def _verdict(differences: Differences, target: Any, *, lossy: bool) -> int:
    if not differences.count:
        print("verified: every value is the same")
        return 0
    print(f"{differences}; the first in {target.metadata.encode_chunk_key(differences.first)}")
    return 0 if lossy else 1
