"""Reads, reduces and rewrites air temperatures in a packed and sharded array with 1, 2 and 4 worker processes of
dask.distributed.

    pip install './python[zarr]' dask distributed
    python python/examples/distributed_workers.py [FOLDER]

The workers find zcodec's pipeline by their environment, so the same code runs on any dask cluster.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

PIPELINE = {"ZARR_CODEC_PIPELINE__PATH": "zcodec.zarr.CodecPipeline", "ZARR_CODEC_PIPELINE__MAX_WORKERS": "1"}
os.environ.update(PIPELINE)

import dask.array
import numpy as np
import zarr
from distributed import Client, LocalCluster

from zcodec.zarr import CastValue, PackBits, ScaleOffset

SHAPE, SHARDS, CHUNKS = (48, 1024, 1024), (16, 512, 512), (8, 128, 128)
TEMPERATURE = Path(__file__).parents[2] / "tests/data/air_temperature_float32_48x37x49.npy"


def field() -> np.ndarray:
    """Air temperatures over North America in 48 years, to a hundredth of a kelvin, next to each other until they fill
    the array."""
    years = np.round(np.load(TEMPERATURE), 2)
    _, y, x = (-(-size // of_one) for size, of_one in zip(SHAPE, years.shape, strict=True))
    return np.tile(years, (1, y, x))[:, : SHAPE[1], : SHAPE[2]]


def create(path: Path) -> zarr.Array:
    """Hundredths of a degree above 250 in 13 bits, in shards."""
    return zarr.create_array(
        path,
        shape=SHAPE,
        shards=SHARDS,
        chunks=CHUNKS,
        dtype="float32",
        fill_value=250.0,
        filters=[ScaleOffset(offset=250, scale=100), CastValue("uint16", rounding="nearest-even")],
        serializer=PackBits(first_bit=0, last_bit=12),
        compressors=None,
        overwrite=True,
    )


def work(source: Path, target: Path) -> tuple[np.ndarray, float]:
    """Reads, takes the mean over time, subtracts it and writes; the means, and the seconds."""
    array = dask.array.from_zarr(zarr.open_array(source, mode="r"), chunks=SHARDS)
    begin = time.perf_counter()
    means = array.mean(axis=0).compute()
    warm = array - dask.array.from_array(means, chunks=SHARDS[1:]) + np.float32(280)
    dask.array.store(warm, create(target), lock=False)
    return means, time.perf_counter() - begin


def main(folder: Path) -> None:
    values = field()
    source = folder / "source.zarr"
    create(source)[...] = values
    stored = zarr.open_array(source).nbytes_stored()
    print(f"{values.nbytes / 2**20:.0f} MiB in {stored / 2**20:.0f} MiB of shards")
    expected = None
    for workers in (1, 2, 4):
        target = folder / f"target-{workers}.zarr"
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster):
            means, seconds = work(source, target)
        found = zarr.open_array(target)[...]
        expected = (means, found) if expected is None else expected
        np.testing.assert_array_equal(means, expected[0])
        np.testing.assert_array_equal(found, expected[1])
        print(f"{workers} workers: {3 * values.nbytes / seconds / 2**20:7.0f} MiB/s")
    np.testing.assert_allclose(expected[0], values.mean(axis=0), atol=1e-2)
    print("the results of 1, 2 and 4 workers are the same")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
