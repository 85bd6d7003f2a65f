"""numpy.packbits and numpy.unpackbits of bool chunks as a Markdown table: medians, and the ratio to a copy.

    pip install numpy && python3 numpy_packbits.py [SECONDS]     # per measurement, default 1

Both functions allocate their result.
"""
import statistics
import sys
import time

import numpy

SIZES = [("1MiB", 1 << 20), ("64MiB", 64 << 20)]


def median(function, seconds):
    function()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    seconds = float(sys.argv[1]) if sys.argv[1:] else 1
    print("| case | contestant | GB/s | ratio to the copy |\n| --- | --- | ---: | ---: |")
    for size_name, size in SIZES:
        decoded = numpy.random.default_rng(1).integers(0, 2, size, dtype=numpy.uint8).view(bool)
        encoded = numpy.packbits(decoded, bitorder="little")
        assert (numpy.unpackbits(encoded, bitorder="little", count=size).view(bool) == decoded).all()
        target = decoded.copy()
        copy = median(lambda: numpy.copyto(target, decoded), seconds)
        for direction, function in [
            ("encode", lambda: numpy.packbits(decoded, bitorder="little")),
            ("decode", lambda: numpy.unpackbits(encoded, bitorder="little", count=size)),
        ]:
            case = "packbits/bool-bits-0-0/%s/%s" % (direction, size_name)
            for contestant, duration in [("copy", copy), ("numpy", median(function, seconds))]:
                print("| %s | %s | %.2f | %.2f |" % (case, contestant, size / duration / 1e9, copy / duration))


if __name__ == "__main__":
    main()
