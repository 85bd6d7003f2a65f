"""Arrays of zarr-python through several pipelines, side by side in one run.

    pip install './python[zarr]' zarrs tensorstore
    python benches/python_arrays.py [--processors N] [--repeat N] [--size 64,512,512] [--only TEXT] [--folder PATH]

Each row is one layout, codec and operation. The process is bound to `--processors` processors, one if not given:
tensorstore and zarrs start threads of their own, whatever they are told. The contestants run in turn; the medians of
their times are shown:

* `nothing` is a pipeline that reads, writes and codes nothing: what zarr-python takes by itself, with every pipeline.
* `codecs` is what one thread of zcodec takes to code the chunks or inner chunks of the row in memory, without files.
* `own` is how many times as long as zcodec the faster pipeline of zarr-python takes, `peers` the faster of zarrs and
  tensorstore.
* `goal` is how many times as long zcodec may take: half of the time of zarr-python's faster pipeline, or `codecs` / 0.8
  if that is longer.

Stores are local files; their pages are in memory after the first round, which does not count.
"""

import argparse
import itertools
import math
import os
import statistics
import sys
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


CORNER = (slice(0, 32),) * 3


def selections(shape):
    """What is read."""
    middle = shape[1] // 2
    return {
        "full": (slice(None),) * 3,
        "box": (slice(10, 50), slice(100, 100 + middle), slice(90, 90 + middle)),
        "plane": (slice(None), middle, slice(None)),
        "one-chunk": CORNER,
    }


def operations(array):
    """What is timed: reads return what they read."""
    value = np.asarray(array[...])
    reads = {name: lambda a, where=where: a[where] for name, where in selections(array.shape).items()}
    return reads | {
        "write": lambda a: a.__setitem__(..., value),
        "update": lambda a: a.__setitem__(CORNER, value[CORNER]),
    }


def touched(where, shape, chunk):
    """The chunks that a selection touches, as slices of the array."""
    axes = []
    for item, size, step in zip(where, shape, chunk):
        first, stop, _ = item.indices(size) if isinstance(item, slice) else (item, item + 1, 1)
        axes.append([slice(i * step, (i + 1) * step) for i in range(first // step, -(-stop // step))])
    return itertools.product(*axes)


def codecs_alone(array):
    """The coding that each operation needs, without files and without zarr-python."""
    import zcodec

    codecs = array.metadata.to_dict()["codecs"]
    is_sharded = codecs[0]["name"] == "sharding_indexed"
    if is_sharded:
        codecs = codecs[0]["configuration"]["codecs"]
    shape = array.chunks
    chain = zcodec.Chain(codecs, data_type="uint16", shape=shape, fill_value=0)
    value, out = np.asarray(array[...]), np.empty(shape, "uint16")

    def decoding(where):
        encoded = [chain.encode(value[chunk]) for chunk in touched(where, array.shape, shape)]

        def run(_):
            for each in encoded:
                chain.decode(each, out=out)

        return run

    def encode(_, chunks=list(touched((slice(None),) * 3, array.shape, shape))):
        for chunk in chunks:
            chain.encode(value[chunk])

    decode_one = decoding(CORNER)

    def update(_):
        if not is_sharded:  # the corner is a part of a chunk, whose other elements stay
            decode_one(_)
        chain.encode(out)

    reads = {name: decoding(where) for name, where in selections(array.shape).items()}
    return reads | {"write": encode, "update": update}


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
    try:
        made["tensorstore"] = (tensorstore_operations(path), {})
    except ImportError:
        pass
    return made


def seconds(work, array, settings):
    with zarr.config.set(settings):
        begin = time.perf_counter()
        work(array)
        return time.perf_counter() - begin


COLUMNS = ["nothing", "batched", "fused", "zarrs", "tensorstore", "codecs", "zcodec"]


def compare(row, work, alone, found, repeat):
    times = {name: [] for name in COLUMNS if name in found or name == "codecs"}
    for _ in range(repeat + 1):
        for name, (array, settings) in found.items():
            times[name].append(seconds(work, array, settings))
        times["codecs"].append(seconds(alone, None, {}))
    typical = {name: statistics.median(each[1:]) for name, each in times.items()}
    own = min(typical[name] for name in ("batched", "fused") if name in typical)
    peers = min((typical[name] for name in ("zarrs", "tensorstore") if name in typical), default=math.nan)
    ratios = [own, peers, max(own / 2, typical["codecs"] / 0.8)]
    cells = "".join(f"{1000 * typical[name]:12.2f}" if name in typical else f"{'-':>12}" for name in COLUMNS)
    print(f"{row:28}{cells}" + "".join(f"{each / typical['zcodec']:7.2f}" for each in ratios), flush=True)


def bind_to(count):
    """Restarts this program bound to this many processors, if it is not yet: threads that it has would stay unbound."""
    if not hasattr(os, "sched_setaffinity"):
        print("# this system binds no process to processors: peers may use all of them")
        return
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < count:
        raise SystemExit(f"{count} processors are wanted, and {len(processors)} are there")
    if len(processors) > count:
        os.sched_setaffinity(0, processors[-count:])
        os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processors", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--size", default="64,512,512")
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", help="where the stores are; default: the folder for temporary files")
    options = parser.parse_args()
    threads = options.processors
    bind_to(threads)
    shape = tuple(int(size) for size in options.size.split(","))
    tile = np.load(DATA)
    values = np.tile(tile, [-(-size // step) for size, step in zip(shape, tile.shape)])[tuple(map(slice, shape))]
    size = f"{values.nbytes / 2**20:.0f} MiB of uint16"
    print(f"# {size}, processors: {threads}, milliseconds, median of {options.repeat}")
    heads = [f"{name:>12}" for name in COLUMNS] + [f"{name:>7}" for name in ("own", "peers", "goal")]
    print(" " * 28 + "".join(heads))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for layout, chunks in LAYOUTS.items():
            for codec, compressors in CODECS.items():
                path = Path(folder) / f"{layout}-{codec}"
                array = zarr.create_array(path, shape=shape, dtype="uint16", compressors=compressors, **chunks)
                array[...] = values
                found, alone = contestants(path, threads), codecs_alone(array)
                for name, work in operations(array).items():
                    row = f"{layout}/{codec}/{name}"
                    if options.only in row:
                        compare(row, work, alone[name], found, options.repeat)


if __name__ == "__main__":
    main()
