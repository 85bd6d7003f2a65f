"""`zcodec verify`: decodes every chunk that is stored."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from zcodec.cli.progress import progress
from zcodec.cli.grid import Coordinates, Grid
from zcodec.cli.store import chain_of, contents, each, encoded, grid_of, reason
from zcodec.cli.stored import stored_chunks


def _decoder(array: Any, grid: Grid) -> Callable[[Coordinates], bool]:
    """A function that decodes a chunk and returns whether it exists. zarr-python reads arrays that zcodec does not
    support."""
    try:
        chain = chain_of(array)
    except (ValueError, TypeError):
        chain = None

    def decode(coordinates: Coordinates) -> bool:
        found = encoded(array, coordinates)
        if found is None:
            return False
        if chain is None:
            array[grid.region(coordinates)]
        elif chain.shape == (shape := grid.shape(coordinates)):
            chain.decode(found)
        else:  # of a rectilinear grid
            chain.with_shape(shape).decode(found)
        return True

    return decode


def _chunks(array: Any, grid: Grid) -> tuple[Iterable[Coordinates], int]:
    """The chunks to visit, and how many these are."""
    found = stored_chunks(array)
    return (grid, grid.count) if found is None else (sorted(found), len(found))


def run(options: argparse.Namespace) -> int:
    stored = damaged = 0
    found, unreadable, hidden = contents(options.store)
    for path, failed in unreadable:
        print(f"{path or '/'}: cannot be read: {reason(failed)}", flush=True)
    for path, why in hidden:
        print(f"{path}: {why}", flush=True)
    members = [(path, array, grid_of(array)) for path, array in found]
    with progress("verify", sum(grid.count for *_, grid in members), quiet=options.quiet) as advance:
        for path, array, grid in members:
            to_visit, count = _chunks(array, grid)
            advance(grid.count - count)
            for coordinates, result in each(_decoder(array, grid), to_visit, count, options.workers):
                advance(1)
                error = result.exception()
                if error is None:
                    stored += result.result()
                    continue
                stored += 1
                damaged += 1
                key = array.metadata.encode_chunk_key(coordinates)
                print(f"{path}/{key}: {error}" if path else f"{key}: {error}", flush=True)
    others = f", {len(unreadable)} more cannot be read" if unreadable else ""
    chunks = "1 chunk" if stored == 1 else f"{stored} chunks"
    arrays = "1 array" if len(members) == 1 else f"{len(members)} arrays"
    print(f"{chunks} of {arrays}, {damaged} damaged{others}")
    return 1 if damaged or unreadable or hidden else 0
