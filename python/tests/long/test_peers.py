"""Arrays that tensorstore and zarrs write are read, and the reverse."""

import numpy as np
import pytest
import zarr

tensorstore = pytest.importorskip("tensorstore")
OURS = "zcodec.zarr.CodecPipeline"
ARRAY = np.random.default_rng(0).normal(size=(100, 90)).astype(np.float32)
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
BLOSC = {
    "name": "blosc",
    "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
}


def sharded(codecs, index_location="end"):
    configuration = {
        "chunk_shape": [10, 15], "codecs": codecs, "index_codecs": [LITTLE, {"name": "crc32c"}],
        "index_location": index_location,
    }  # fmt: skip
    return [{"name": "sharding_indexed", "configuration": configuration}]


TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}
CHAINS = {
    "bytes": [LITTLE], "zstd": [LITTLE, ZSTD], "blosc": [LITTLE, BLOSC],
    "gzip": [LITTLE, {"name": "gzip", "configuration": {"level": 5}}], "crc32c": [LITTLE, {"name": "crc32c"}],
    "transpose": [TRANSPOSE, LITTLE, ZSTD], "shards": sharded([LITTLE, ZSTD]),
    "shards_start": sharded([TRANSPOSE, LITTLE, BLOSC], "start"),
}  # fmt: skip


def document(codecs):
    return {
        "zarr_format": 3, "node_type": "array", "shape": [100, 90], "data_type": "float32", "fill_value": 0.0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [40, 45]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "codecs": codecs,
    }  # fmt: skip


def with_tensorstore(path, codecs=None):
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}}
    if codecs is not None:
        spec["metadata"] = {key: value for key, value in document(codecs).items() if key != "node_type"}
        spec |= {"create": True, "delete_existing": True}
    return tensorstore.open(spec).result()


@pytest.mark.parametrize("name", CHAINS)
def test_tensorstore(tmp_path, name):
    theirs = with_tensorstore(tmp_path, CHAINS[name])
    theirs.write(ARRAY).result()
    with zarr.config.set({"codec_pipeline.path": OURS}):
        ours = zarr.open_array(tmp_path)
        np.testing.assert_array_equal(ours[...], ARRAY)
        np.testing.assert_array_equal(ours[3:50, 7], ARRAY[3:50, 7])
        ours[...] = ARRAY[::-1]
        ours[5:50, 3:4] = 1
    expected = ARRAY[::-1].copy()
    expected[5:50, 3:4] = 1
    np.testing.assert_array_equal(with_tensorstore(tmp_path).read().result(), expected)


@pytest.mark.parametrize("name", CHAINS)
def test_zarrs(tmp_path, name):
    pytest.importorskip("zarrs")
    with_tensorstore(tmp_path, CHAINS[name])
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        zarr.open_array(tmp_path)[...] = ARRAY
    with zarr.config.set({"codec_pipeline.path": OURS}):
        ours = zarr.open_array(tmp_path)
        np.testing.assert_array_equal(ours[...], ARRAY)
        np.testing.assert_array_equal(ours[3:50, 7], ARRAY[3:50, 7])
        ours[...] = ARRAY[::-1]
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        np.testing.assert_array_equal(zarr.open_array(tmp_path)[...], ARRAY[::-1])
