"""Arrays of Zarr v2 with each codec, as zarr-python writes them, for the tests of all hosts."""

import lzma
import os
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
import numcodecs  # noqa: E402
import numcodecs.pcodec  # noqa: E402
import numcodecs.zfpy  # noqa: E402
import zarr  # noqa: E402

SHAPE = (70, 90)
CHUNKS = (32, 40)


def elements(dtype):
    """Smooth values with noise, none of them 0, the fill value."""
    walk = np.cumsum(np.random.default_rng(7).normal(size=SHAPE), axis=1)
    return (walk * 8 + 1000.25).astype(dtype)


# name: codec, dtype
CODECS = {
    "zlib": (numcodecs.Zlib(level=5), "<i2"),
    "gzip": (numcodecs.GZip(level=5), "<i2"),
    "zstd": (numcodecs.Zstd(level=3), "<i4"),
    "zstd_checksum": (numcodecs.Zstd(level=3, checksum=True), "<i4"),
    "lz4": (numcodecs.LZ4(acceleration=2), "<u2"),
    "bz2": (numcodecs.BZ2(level=9), "<f4"),
    "lzma": (numcodecs.LZMA(), "<f4"),
    "lzma_alone": (numcodecs.LZMA(format=lzma.FORMAT_ALONE), "<f4"),
    "blosc": (numcodecs.Blosc(cname="zstd", clevel=3, shuffle=2), "<f4"),
    "blosc_auto": (numcodecs.Blosc(cname="lz4", clevel=5, shuffle=-1), "<i2"),
    "shuffle": (numcodecs.Shuffle(elementsize=8), "<f8"),
    "fletcher32": (numcodecs.Fletcher32(), "<i4"),
    "jenkins_lookup3": (numcodecs.JenkinsLookup3(), "<f4"),
    "crc32": (numcodecs.CRC32(), "<f4"),
    "crc32_end": (numcodecs.CRC32(location="end"), "<f4"),
    "crc32c": (numcodecs.CRC32C(), "<f4"),
    "crc32c_start": (numcodecs.CRC32C(location="start"), "<f4"),
    "adler32": (numcodecs.Adler32(), "<u4"),
    "adler32_end": (numcodecs.Adler32(location="end"), "<u4"),
    "zfpy_accuracy": (numcodecs.zfpy.ZFPY(mode=4, tolerance=0.01), "<f4"),
    "zfpy_accuracy_0": (numcodecs.zfpy.ZFPY(mode=4, tolerance=0), "<f8"),
    "zfpy_rate": (numcodecs.zfpy.ZFPY(mode=2, rate=10.5), "<f4"),
    "zfpy_precision": (numcodecs.zfpy.ZFPY(mode=3, precision=20), "<f8"),
    "zfpy_reversible": (numcodecs.zfpy.ZFPY(), "<i4"),
    "zfpy_reversible_int64": (numcodecs.zfpy.ZFPY(), "<i8"),
    "pcodec": (numcodecs.pcodec.PCodec(), "<f4"),
    "pcodec_float64": (numcodecs.pcodec.PCodec(level=4), "<f8"),
    "pcodec_int16": (numcodecs.pcodec.PCodec(delta_spec="try_consecutive", delta_encoding_order=2), "<i2"),
    "pcodec_uint32": (numcodecs.pcodec.PCodec(mode_spec="classic"), "<u4"),
    "pcodec_pages": (numcodecs.pcodec.PCodec(equal_pages_up_to=300), "<i8"),
}


def codec_id(name):
    return CODECS[name][0].codec_id


def corner(name):
    """The first chunk, whole."""
    return np.ascontiguousarray(elements(CODECS[name][1])[: CHUNKS[0], : CHUNKS[1]])


def decode(codec, chunk, like):
    """What numcodecs makes of a chunk, in the shape of an array."""
    decoded = codec.decode(chunk)
    return np.frombuffer(np.ascontiguousarray(decoded) if isinstance(decoded, np.ndarray) else decoded, like.dtype).reshape(
        like.shape
    )


def write(path, name, attributes=None, filters=None):
    """Makes the array at `path`; returns what zarr-python reads back."""
    codec, dtype = CODECS[name]
    array = zarr.create_array(
        path,
        shape=SHAPE,
        chunks=CHUNKS,
        dtype=dtype,
        zarr_format=2,
        filters=filters,
        compressors=codec,
        fill_value=0,
        overwrite=True,
        attributes=attributes or {},
    )
    array[:] = elements(dtype)
    return array[:]


def chunk_file(path, chunk="0.0"):
    return os.path.join(path, chunk)


def damages(chunk):
    """Chunks that are cut short, empty, or wrong in a byte."""
    yield "empty", b""
    for size in sorted({1, 3, 4, 8, 12, len(chunk) // 2, len(chunk) - 1}):
        yield f"{size} bytes", chunk[:size]
    for index in (0, 5, len(chunk) // 2, len(chunk) - 1):
        yield f"byte {index} flipped", chunk[:index] + bytes([chunk[index] ^ 0xFF]) + chunk[index + 1 :]
    yield "101 bytes more", chunk + b"\xa5" * 101


def loaded_library(name):
    """The path of a library that this process has loaded."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if name in line and "/" in line}
    assert paths, f"{name} is not loaded"
    return sorted(paths)[0]


def run(code, environment, *arguments):
    """Runs Python code in a process of its own."""
    import subprocess

    merged = {**os.environ, **environment}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=merged, text=True, capture_output=True, timeout=300)
