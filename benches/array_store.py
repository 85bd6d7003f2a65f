#!/usr/bin/env python3
"""Random boxes of the sharded volume of nuclei: examples-cpp/array_store and tensorstore from PyPI, on the same files.

    array_store.py ARRAY_STORE DIRECTORY THREADS [--edges 32 64 128] [--cache 0 16000000 64000000] [--turns N]

ARRAY_STORE is the program, DIRECTORY where its array goes: on a disk, whose files the system then has in memory. Both run on
as many processors as threads: tensorstore has settings for its threads (`data_copy_concurrency`, `file_io_concurrency`), but
its calling thread and those that read files run beside those that decode. Both have a cache of the same size, and have read
the whole array once. The table has medians of turns. Needs Linux, numpy and tensorstore (benches/requirements.txt).
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import time

import numpy as np

VOLUME = pathlib.Path(__file__).parent / "../tests/data/nuclei_uint16_8x256x256.npy"
SIDE = 256


def store(program, root, edge, count, threads, cache):
    arguments = [program, "read", VOLUME, root, edge, count, threads, cache]
    output = subprocess.run([str(argument) for argument in arguments], check=True, capture_output=True, text=True).stdout
    return float(re.search(r": (\d+) MB/s, equal", output)[1])


def peer(tensorstore, root, edge, count, threads, cache, volume, seed):
    context = {"data_copy_concurrency": {"limit": threads}, "file_io_concurrency": {"limit": threads},
               "cache_pool": {"total_bytes_limit": cache}}
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(root)}, "recheck_cached_data": "open"}
    array = tensorstore.open(spec, context=tensorstore.Context(context), open=True).result()
    assert np.array_equal(array[...].read().result(), volume)
    starts = np.random.default_rng(seed).integers(0, SIDE + 1 - edge, (count, 3))
    seconds = 0
    for start in starts:
        key = tuple(slice(at, at + edge) for at in start.tolist())
        begin = time.perf_counter()
        found = array[key].read().result()
        seconds += time.perf_counter() - begin
        assert np.array_equal(found, volume[key])
    return 2e-6 * edge**3 * count / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("threads", type=int)
    parser.add_argument("--edges", type=int, nargs="+", default=[32, 64, 128])
    parser.add_argument("--cache", type=int, nargs="+", default=[0, 16_000_000, 64_000_000])
    parser.add_argument("--turns", type=int, default=9)
    arguments = parser.parse_args()
    threads = arguments.threads
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    import tensorstore  # after it: its threads inherit the processors

    root = arguments.directory / "nuclei.zarr"
    subprocess.run([arguments.program, "write", VOLUME, root], check=True, stdout=subprocess.DEVNULL)
    volume = np.tile(np.load(VOLUME), (SIDE // 8, 1, 1))
    print("| boxes | threads | cache, MB | array_store, MB/s | tensorstore, MB/s | times |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for edge in arguments.edges:
        count = 200 * 64**2 // edge**2
        for cache in arguments.cache:
            ours, theirs = [], []
            for turn in range(arguments.turns):
                ours.append(store(arguments.program, root, edge, count, threads, cache))
                theirs.append(peer(tensorstore, root, edge, count, threads, cache, volume, turn))
            a, b = statistics.median(ours), statistics.median(theirs)
            print(f"| {edge}^3 | {threads} | {cache / 1e6:g} | {a:.0f} | {b:.0f} | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    main()
