"""Arrays of zarr-python through several pipelines, side by side in one run.

    pip install './python[zarr]' zarrs tensorstore
    python benches/python_arrays.py [--repeat N] [--size 64,512,512] [--only TEXT] [--processor] [--folder PATH]

Each row is one layout, codec, operation and number of threads. The contestants run in turn; the median of their times
is shown, and the ratio of zcodec to zarr-python's faster pipeline (more is better). `nothing` is a pipeline that reads,
writes and codes nothing: what zarr-python takes by itself, with every pipeline. With --processor it is the time that
processors worked for this process, all threads together: that depends less on what else the machine does. Stores are
local files; their pages are in memory after the first round, which does not count.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import zarr

DATA = Path(__file__).parents[1] / "tests" / "data" / "nuclei_uint16_8x256x256.npy"


class Nothing(zarr.core.codec_pipeline.BatchedCodecPipeline):
    """Neither reads nor writes: its arrays have any values."""

    async def read(self, batch_info, out, drop_axes=()):
        return tuple({"status": "present"} for _ in batch_info)

    async def write(self, batch_info, value, drop_axes=()):
        pass


zarr.registry.register_pipeline(Nothing)

PIPELINES = {
    "nothing": f"{__name__}.Nothing",
    "batched": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
    "zcodec": "zcodec.zarr.CodecPipeline",
}
CODECS = {
    "blosc-zstd": [zarr.codecs.BloscCodec(cname="zstd", clevel=1, shuffle="shuffle", typesize=2)],
    "blosc-lz4": [zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=2)],
    "zstd": [zarr.codecs.ZstdCodec(level=1)],
    "none": None,
}
LAYOUTS = {"plain": {"chunks": (64, 64, 64)}, "sharded": {"chunks": (32, 32, 32), "shards": (64, 256, 256)}}


def operations(array):
    """What is timed: reads return what they read."""
    middle = array.shape[1] // 2
    value = np.asarray(array[...])
    return {
        "full": lambda a: a[...],
        "box": lambda a: a[10:50, 100 : 100 + middle, 90 : 90 + middle],
        "plane": lambda a: a[:, middle, :],
        "one-chunk": lambda a: a[:32, :32, :32],
        "write": lambda a: a.__setitem__(..., value),
        "update": lambda a: a.__setitem__((slice(0, 32), slice(0, 32), slice(0, 32)), value[:32, :32, :32]),
    }


def tensorstore_operations(path):
    import tensorstore

    store = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}}).result()

    class Like:
        """The operations above on a tensorstore."""

        def __getitem__(self, where):
            return store[where].read().result()

        def __setitem__(self, where, value):
            store[where].write(value).result()

    return Like()


def contestants(path, threads):
    made = {}
    for name, pipeline in PIPELINES.items():
        settings = {"codec_pipeline.path": pipeline, "codec_pipeline.max_workers": threads, "threading.max_workers": threads}
        try:
            with zarr.config.set(settings):
                made[name] = (zarr.open_array(path), settings)
        except Exception as error:  # a peer that is not installed, or of another version
            print(f"# {name}: {type(error).__name__}: {error}".splitlines()[0])
    if threads == 1:
        try:
            made["tensorstore"] = (tensorstore_operations(path), {})
        except ImportError:
            pass
    return made


def seconds(work, array, settings, clock):
    with zarr.config.set(settings):
        begin = clock()
        work(array)
        return clock() - begin


def compare(row, work, found, repeat, clock):
    times = {name: [] for name in found}
    for _ in range(repeat + 1):
        for name, (array, settings) in found.items():
            times[name].append(seconds(work, array, settings, clock))
    typical = {name: statistics.median(each[1:]) for name, each in times.items()}
    own = min(typical[name] for name in ("batched", "fused") if name in typical)
    cells = "".join(f"{1000 * typical[name]:10.2f}" if name in typical else f"{'-':>10}" for name in [*PIPELINES, "tensorstore"])
    print(f"{row:34}{cells}{own / typical['zcodec']:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--size", default="64,512,512")
    parser.add_argument("--only", default="")
    parser.add_argument("--processor", action="store_true", help="processor time of all threads, not elapsed time")
    parser.add_argument("--folder", help="where the stores are; default: the folder for temporary files")
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    shape = tuple(int(size) for size in options.size.split(","))
    tile = np.load(DATA)
    values = np.tile(tile, [-(-size // step) for size, step in zip(shape, tile.shape)])[tuple(map(slice, shape))]
    head = "".join(f"{name[:9]:>10}" for name in [*PIPELINES, "tensorstore"])
    print(f"# {values.nbytes / 2**20:.0f} MiB of uint16, milliseconds of {clock.__name__}, median of {options.repeat}\n{'':34}{head}   ratio")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for layout, chunks in LAYOUTS.items():
            for codec, compressors in CODECS.items():
                path = Path(folder) / f"{layout}-{codec}"
                array = zarr.create_array(path, shape=shape, dtype="uint16", compressors=compressors, **chunks)
                array[...] = values
                for threads in (1, 2):
                    found = contestants(path, threads)
                    for name, work in operations(array).items():
                        row = f"{layout}/{codec}/{name}/{threads}"
                        if options.only in row:
                            compare(row, work, found, options.repeat, clock)


if __name__ == "__main__":
    main()
