#!/usr/bin/env python3
"""Opens the chunks that the example tiff_chunks wrote with tifffile and compares the pixels.

    check_tiff.py DIRECTORY VOLUME.npy
"""
import logging
import sys
from pathlib import Path

import numpy
import tifffile

# The tags that a baseline grayscale image must have (TIFF 6.0, section 4).
BASELINE = {"ImageWidth", "ImageLength", "BitsPerSample", "Compression", "PhotometricInterpretation", "StripOffsets",
            "RowsPerStrip", "StripByteCounts", "XResolution", "YResolution", "ResolutionUnit"}


class Complaints(logging.Handler):
    """tifffile logs what it finds odd in a file; here that is a failure."""

    def emit(self, record):
        raise AssertionError(record.getMessage())


def check_chunk(path, plane, compression, tags):
    with tifffile.TiffFile(path) as tiff:
        (page,) = tiff.pages
        assert page.compression.name == compression, page.compression
        names = {tag.name for tag in page.tags}
        assert tags <= names, tags - names
        (offset,), (size,) = page.dataoffsets, page.databytecounts
        assert offset + size == path.stat().st_size, (offset, size)
        pixels = page.asarray()
    assert pixels.dtype == plane.dtype and numpy.array_equal(pixels, plane)


def main(directory, volume):
    logging.getLogger("tifffile").addHandler(Complaints())
    planes = numpy.load(volume)
    # The header in the metadata is that of the pad specification, which has no resolution.
    specified = BASELINE - {"XResolution", "YResolution", "ResolutionUnit"}
    for array, compression, tags in (("tiff.zarr", "NONE", specified), ("tiff_zstd.zarr", "ZSTD", BASELINE)):
        for z, plane in enumerate(planes):
            check_chunk(Path(directory, array, "c", str(z), "0", "0"), plane, compression, tags)
        print("tifffile %s reads %d chunks of %s: pixels equal" % (tifffile.__version__, len(planes), array))


if __name__ == "__main__":
    main(*sys.argv[1:])
