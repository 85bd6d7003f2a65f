"""Chunks of more than 2^32 bytes, whole and boxes at their ends. Needs Linux and 18 GiB of free memory."""

import re
from pathlib import Path

import numpy as np
import pytest
import zcodec
from zcodec.plan import read_object

# An array, what it is encoded to, and what that decodes to, with room for the library's own buffers.
NEEDED = 18 << 30
MEMORY = Path("/proc/meminfo")

PLANES, ROWS, ROW = 4099, 1027, 1024  # 2^32 bytes and 15.7 MB


def codec(name, **configuration):
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


LITTLE = codec("bytes", endian="little")
BIG = codec("bytes", endian="big")
ZSTD = codec("zstd", level=1, checksum=True)
N5 = codec("n5_default", codecs=[codec("transpose", order=[2, 1, 0]), BIG, codec("gzip", level=1)])


def shard(chunk_shape, *codecs, location="end"):
    return codec(
        "sharding_indexed",
        chunk_shape=chunk_shape,
        codecs=list(codecs),
        index_codecs=[LITTLE, codec("crc32c")],
        index_location=location,
    )


CHAINS = {
    "bytes": ("uint8", [LITTLE]),
    "big-endian": ("uint16", [BIG]),
    "crc32c": ("uint8", [LITTLE, codec("crc32c")]),
    "pad": ("uint8", [LITTLE, codec("pad", location="end", nbytes=7)]),
    "offset": ("uint8", [LITTLE, codec("offset", offset=9)]),
    "zstd": ("uint8", [LITTLE, ZSTD]),
    "gzip": ("uint8", [LITTLE, codec("gzip", level=1)]),
    "reversed": ("uint8", [codec("transpose", order=[2, 1, 0]), LITTLE]),
    "transposed, big-endian": ("uint16", [codec("transpose", order=[1, 2, 0]), BIG]),
    "reshape": ("uint8", [codec("reshape", shape=[[0, 1], [2]]), LITTLE]),
    "packbits": ("uint8", [codec("packbits", padding_encoding="first_byte")]),
    "packbits of 5 bits": ("uint8", [codec("packbits", first_bit=0, last_bit=4)]),
    "cast_value": ("uint8", [codec("cast_value", data_type="uint16"), BIG]),
    "scale_offset": ("uint16", [codec("scale_offset", offset=0, scale=1), LITTLE]),
    "zfp": ("float32", [codec("zfp", mode="reversible")]),
    "bitround": ("float32", [codec("bitround", keepbits=23), LITTLE, ZSTD]),
    "shard of large inner chunks": ("uint8", [shard([PLANES, ROWS, ROW // 2], LITTLE)]),
    "shard with zstd, transposed": (
        "uint8",
        [codec("transpose", order=[1, 0, 2]), shard([79, PLANES, 64], LITTLE, ZSTD, location="start")],
    ),
    "n5_default": ("uint16", [N5]),
    "numcodecs.shuffle": ("uint8", [LITTLE, codec("numcodecs.shuffle", elementsize=4)]),
    "numcodecs.delta": ("uint16", [codec("numcodecs.delta", dtype="<u2"), LITTLE]),
    "numcodecs.zlib": ("uint8", [LITTLE, codec("numcodecs.zlib", level=1)]),
    "numcodecs.bz2": ("uint8", [LITTLE, codec("numcodecs.bz2", level=1)]),
    "numcodecs.lzma": ("uint8", [LITTLE, codec("numcodecs.lzma", preset=0)]),
    "numcodecs.pcodec": ("float32", [codec("numcodecs.pcodec", level=0)]),
    **{
        f"numcodecs.{name}": ("uint8", [LITTLE, codec(f"numcodecs.{name}")])
        for name in ("adler32", "crc32", "crc32c", "fletcher32", "jenkins_lookup3")
    },
}

# Formats that have 32 bits for a size say so.
TOO_SMALL = {
    "blosc": codec("blosc", cname="lz4", clevel=1, shuffle="noshuffle", typesize=1, blocksize=0),
    "numcodecs.lz4": codec("numcodecs.lz4", acceleration=1),
}


def free_memory():
    found = re.search(r"MemAvailable: *(\d+) kB", MEMORY.read_text()) if MEMORY.exists() else None
    return int(found[1]) << 10 if found else 0


@pytest.fixture(scope="module")
def memory():
    """Planes of one byte each, so that compressors are fast, the last of them random."""
    if free_memory() < NEEDED:
        pytest.skip(f"needs {NEEDED >> 30} GiB of free memory, and Linux to say how much there is")
    planes = np.empty((PLANES, ROWS, ROW), np.uint8)
    for i, plane in enumerate(planes):
        plane[:] = i % 31
    planes[-1] = np.random.default_rng(1).integers(0, 31, (ROWS, ROW), np.uint8)
    return planes


def same(found, expected):
    """Whether two arrays have the same bytes; one plane at a time, because a comparison makes an array of bools."""
    return found.shape == expected.shape and all(map(np.array_equal, found, expected))


@pytest.mark.parametrize("name", CHAINS)
def test_a_chunk_of_more_than_4_gib(memory, name):
    data_type, codecs = CHAINS[name]
    array = memory.view(data_type)
    chain = zcodec.Chain(codecs, data_type, array.shape, 0)
    encoded = chain.encode(array, max_threads=None)
    end = np.s_[-2:, -3:, -11:]
    assert np.array_equal(chain.decode(encoded, box=end), array[end])
    assert np.array_equal(read_object(chain.plan(end), encoded), array[end])
    assert same(chain.decode(encoded), array)


@pytest.mark.parametrize("name", TOO_SMALL)
def test_a_format_that_is_too_small(name):
    with pytest.raises(zcodec.Error, match=r"at most \d+ bytes, but this chunk has") as error:
        zcodec.Chain([LITTLE, TOO_SMALL[name]], "uint8", (PLANES, ROWS, ROW), 0)
    assert error.value.status == zcodec.Status.UNSUPPORTED
