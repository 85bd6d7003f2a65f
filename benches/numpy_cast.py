"""numpy's casts, with the checks of cast_value, as a Markdown table: medians, and the ratio to a copy.

    pip install numpy && python3 numpy_cast.py [SECONDS]     # per measurement, default 1

The pairs are those of `benches/cast_value.rs` whose types numpy has, rounded to nearest even.
"""
import sys

import numpy

from numpy_packbits import median

SIZES = [("1MiB", 1 << 20), ("64MiB", 64 << 20)]

# Source, target, and the rule for values outside the range.
CASES = [
    ("float64", "uint8", "clamp"),
    ("float64", "float32", None),
    ("uint16", "uint8", "wrap"),
    ("int64", "int32", None),
    ("int32", "int16", None),
    ("float32", "int16", None),
    ("float32", "uint8", "clamp"),
    ("int16", "float32", None),
    ("uint16", "float64", None),
    ("float32", "float64", None),
    ("float32", "float16", None),
    ("float16", "float32", None),
    ("uint8", "float32", None),
]


def cast(decoded, encoded, out_of_range):
    """What does not fit, or is NaN without a place in the target, is an error."""
    if encoded.dtype.kind == "f" or out_of_range == "wrap":
        with numpy.errstate(over="raise"):
            numpy.copyto(encoded, decoded, casting="unsafe")
        return
    ends = numpy.iinfo(encoded.dtype)
    if decoded.dtype.kind == "f":
        if not numpy.isfinite(decoded).all():
            raise ValueError("NaN or infinity")
        decoded = numpy.rint(decoded)
    if out_of_range == "clamp":
        decoded = decoded.clip(ends.min, ends.max)
    elif decoded.min() < ends.min or decoded.max() > ends.max:
        raise ValueError("out of range")
    numpy.copyto(encoded, decoded, casting="unsafe")


def elements(source, count):
    """As in `benches/cast_value.rs`: random 16-bit integers, floats with a fraction."""
    if source.itemsize == 1:
        return numpy.random.default_rng(1).integers(0, 256, count).astype(source)
    integers = numpy.random.default_rng(1).integers(-(1 << 15), 1 << 15, count, dtype=numpy.int16)
    if source.kind == "f":
        return (integers * 0.999).astype(source)
    return integers.view(numpy.uint16).astype(source) if source.name in ("uint16", "int64") else integers.astype(source)


def main():
    seconds = float(sys.argv[1]) if sys.argv[1:] else 1
    print("| case | contestant | GB/s | ratio to the copy |\n| --- | --- | ---: | ---: |")
    for source_name, target_name, out_of_range in CASES:
        source, target = numpy.dtype(source_name), numpy.dtype(target_name)
        for size_name, size in SIZES:
            decoded = elements(source, size // max(source.itemsize, target.itemsize))
            encoded = numpy.ones(decoded.size, dtype=target)
            larger = numpy.ones(size, dtype=numpy.uint8)
            copied = larger.copy()
            copy = median(lambda: numpy.copyto(copied, larger), seconds)
            duration = median(lambda: cast(decoded, encoded, out_of_range), seconds)
            suffix = "-" + out_of_range if out_of_range else ""
            case = "cast_value/%s-%s%s/%s" % (source_name, target_name, suffix, size_name)
            for contestant, time in [("copy", copy), ("numpy", duration)]:
                print("| %s | %s | %.2f | %.2f |" % (case, contestant, size / time / 1e9, copy / time))


if __name__ == "__main__":
    main()
