"""`zcodec verify`: decodes every chunk."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from zcodec.cli.progress import progress
from zcodec.cli.store import arrays, chain_of, each, encoded, grid, grid_size, region

Coordinates = tuple[int, ...]


def _decoder(array: Any) -> Callable[[Coordinates], bool]:
    """Decodes a chunk, and says whether there is one. Arrays that zcodec does not support are read by zarr-python."""
    try:
        chain = chain_of(array)
    except (ValueError, TypeError):
        chain = None

    def decode(coordinates: Coordinates) -> bool:
        found = encoded(array, coordinates)
        if found is None:
            return False
        if chain is None:
            array[region(array, coordinates)]
        else:
            chain.decode(found)
        return True

    return decode


def run(options: argparse.Namespace) -> int:
    stored = damaged = 0
    members = arrays(options.store)
    total = sum(grid_size(array) for _, array in members)
    with progress("verify", total, quiet=options.quiet) as advance:
        for path, array in members:
            for coordinates, result in each(_decoder(array), grid(array), options.workers):
                advance()
                error = result.exception()
                if error is None:
                    stored += result.result()
                    continue
                stored += 1
                damaged += 1
                key = array.metadata.encode_chunk_key(coordinates)
                print(f"{path}/{key}: {error}" if path else f"{key}: {error}", flush=True)
    print(f"{stored} chunks of {len(members)} arrays, {damaged} damaged")
    return 1 if damaged else 0
