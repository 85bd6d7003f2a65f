"""Random chains, shapes and selections: zcodec's pipeline gives what zarr-python's gives.

ZCODEC_EXAMPLES says how many examples; `make test-python-long` takes more than the short tests.
"""

import os

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")
pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from zarr.storage import MemoryStore
from zcodec.zarr import stats

OWN, OURS = "zarr.core.codec_pipeline.BatchedCodecPipeline", "zcodec.zarr.CodecPipeline"
EXAMPLES = settings(
    max_examples=int(os.environ.get("ZCODEC_EXAMPLES", "25")), deadline=None, suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = ["bool", "int8", "uint16", ">i4", "int64", "float16", "float32", ">f8", "complex64", "M8[ms]", "m8[10s]", "U3", "S5"]
COMPRESSORS = [
    [], [zarr.codecs.ZstdCodec(level=1)], [zarr.codecs.GzipCodec(level=1)], [zarr.codecs.BloscCodec(cname="lz4")],
    [zarr.codecs.BloscCodec(cname="zstd", shuffle="bitshuffle")], [zarr.codecs.Crc32cCodec()],
    [zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()],
]  # fmt: skip


@st.composite
def layouts(draw):
    """The arguments of create_array."""
    ndim = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(0 if ndim else 1, 20)) for _ in range(ndim))
    chunks = tuple(draw(st.integers(1, 8)) for _ in range(ndim))
    made = {"shape": shape, "chunks": chunks, "dtype": draw(st.sampled_from(DTYPES))}
    made["compressors"] = draw(st.sampled_from(COMPRESSORS))
    if ndim and draw(st.booleans()):
        made["shards"] = tuple(size * draw(st.integers(1, 3)) for size in chunks)
    if ndim > 1 and draw(st.booleans()):
        made["filters"] = [zarr.codecs.TransposeCodec(order=draw(st.permutations(range(ndim))))]
    if np.dtype(made["dtype"]).itemsize > 1 and np.dtype(made["dtype"]).kind in "iufc":
        made["serializer"] = zarr.codecs.BytesCodec(endian=draw(st.sampled_from(["little", "big"])))
    made["config"] = {"write_empty_chunks": draw(st.booleans()), "order": draw(st.sampled_from("CF"))}
    return made


@st.composite
def old_layouts(draw):
    """Arrays of version 2."""
    from numcodecs import Blosc, Delta, Zlib

    ndim = draw(st.integers(1, 3))
    dtype = draw(st.sampled_from(DTYPES))
    filters = [None, [Delta(dtype=dtype)]] if np.dtype(dtype).kind in "iu" else [None]
    return {
        "shape": tuple(draw(st.integers(0, 20)) for _ in range(ndim)), "dtype": dtype, "zarr_format": 2,
        "chunks": tuple(draw(st.integers(1, 8)) for _ in range(ndim)), "order": draw(st.sampled_from("CF")),
        "compressors": draw(st.sampled_from([None, Zlib(1), Blosc("lz4")])), "filters": draw(st.sampled_from(filters)),
    }  # fmt: skip


@st.composite
def selections(draw, shape):
    def axis(size):
        if size and draw(st.booleans()):
            return draw(st.integers(-size, size - 1))
        start, stop = draw(st.integers(0, size)), draw(st.integers(0, size))
        return slice(start, stop, draw(st.sampled_from([1, 1, 1, 2, 3])))

    return tuple(axis(size) for size in shape)


def values(data, shape, dtype):
    seed = data.draw(st.integers(0, 99))
    numbers = np.random.default_rng(seed).integers(0, data.draw(st.sampled_from([2, 200])), shape)
    dtype = np.dtype(dtype)
    return numbers.astype("i8").view(dtype) if dtype.kind in "mM" and numbers.ndim else numbers.astype(dtype)


def same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def read(array, where, kind=None):
    """What both pipelines read."""
    found = {}
    for path in (OWN, OURS):
        with zarr.config.set({"codec_pipeline.path": path}):
            again = zarr.open_array(array.store)
            found[path] = (getattr(again, kind) if kind else again)[where]
    return found


def run(data, layout):
    """The same steps with both pipelines, each on a store of its own; the stores must then say the same to both."""
    model = None
    made = {}
    for path in (OWN, OURS):
        with zarr.config.set({"codec_pipeline.path": path}):
            made[path] = zarr.create_array(MemoryStore(), **layout)
    shape, dtype = layout["shape"], layout["dtype"]
    steps = [(..., values(data, shape, dtype))]
    for _ in range(data.draw(st.integers(0, 3))):
        where = data.draw(selections(shape))
        steps.append((where, values(data, np.empty(shape, bool)[where].shape, dtype)))
    model = np.zeros(shape, dtype)
    for where, value in steps:
        model[where] = value
        for path, array in made.items():
            with zarr.config.set({"codec_pipeline.path": path}):
                array[where] = value
    reads = [data.draw(selections(shape)) for _ in range(3)]
    for array in made.values():
        for where in (..., *reads):
            found = read(array, where)
            np.testing.assert_array_equal(found[OWN], model[where])
            same(found[OURS], found[OWN])
        if shape and all(shape):
            rows = data.draw(st.lists(st.integers(0, shape[0] - 1), min_size=1, max_size=4))
            found = read(array, (rows, *[slice(None)] * (len(shape) - 1)), "oindex")
            np.testing.assert_array_equal(found[OWN], model[rows])
            same(found[OURS], found[OWN])
            found = read(array, tuple(np.resize(rows, 3) % size for size in shape), "vindex")
            same(found[OURS], found[OWN])
    keys = {path: set(array.store._store_dict) for path, array in made.items()}
    assert keys[OWN] == keys[OURS]
    documents = {"zarr.json", ".zarray", ".zattrs"}
    assert stats.coded or keys[OURS] <= documents
    assert not stats.fallback


@EXAMPLES
@given(st.data(), layouts())
def test_arrays(data, layout):
    stats.reset()
    run(data, layout)


@EXAMPLES
@given(st.data(), old_layouts())
def test_arrays_of_version_2(data, layout):
    stats.reset()
    run(data, layout)
