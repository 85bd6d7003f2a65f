"""Documents of arrays with codecs of zcodec.zarr: zarr-python opens what the library accepts, and nothing else."""

import json

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

import zcodec
from zarr.core.buffer import cpu
from zarr.registry import get_codec_class
from zarr.storage import MemoryStore
from zcodec.zarr import PackBits

OURS, OWN = "zcodec.zarr.CodecPipeline", "zarr.core.codec_pipeline.BatchedCodecPipeline"
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
pytestmark = pytest.mark.filterwarnings("error::zcodec.zarr.FallbackWarning")


@pytest.fixture(params=[OURS, OWN])
def pipeline(request):
    with zarr.config.set({"codec_pipeline.path": request.param}):
        yield request.param


def document(codecs, dtype):
    return {
        "zarr_format": 3, "node_type": "array", "shape": [6, 4], "data_type": dtype, "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [6, 4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "attributes": {},
        "codecs": codecs,
    }  # fmt: skip


def stored(document, values=None):
    """A store with an array of one chunk."""
    store = MemoryStore()
    store._store_dict["zarr.json"] = cpu.Buffer.from_bytes(json.dumps(document).encode())
    if values is not None:
        chunk = zcodec.Chain.from_zarr_json(document).encode(values)
        store._store_dict["c/0/0"] = cpu.Buffer.from_bytes(chunk)
    return store


def sharded(codecs):
    index = [LITTLE, {"name": "crc32c"}]
    configuration = {"chunk_shape": [3, 2], "codecs": codecs, "index_codecs": index}
    return [{"name": "sharding_indexed", "configuration": configuration}]


@pytest.mark.parametrize("shards", [False, True])
@pytest.mark.parametrize(
    ("configuration", "codec"),
    [
        ({"start_bit": 0, "end_bit": 4}, PackBits(first_bit=0, last_bit=4)),
        ({"first_bit": 0, "end_bit": 4}, PackBits(first_bit=0, last_bit=4)),
        ({"padding_encoding": "start_byte"}, PackBits("first_byte")),
        ({"padding_encoding": "end_byte", "start_bit": 1, "last_bit": None}, PackBits("last_byte", first_bit=1)),
        ({"first_bit": None, "end_bit": None}, PackBits()),
    ],
)
def test_names_of_the_schema_of_packbits_are_read_and_those_of_the_text_are_written(
    pipeline, shards, configuration, codec
):
    packbits = [{"name": "packbits", "configuration": configuration}]
    values = 2 * (np.arange(24, dtype="uint8").reshape(6, 4) % 16)
    array = zarr.open_array(stored(document(sharded(packbits) if shards else packbits, "uint8"), values))
    np.testing.assert_array_equal(array[...], values)
    array[0] = 6
    np.testing.assert_array_equal(array[...], np.concatenate([[[6] * 4], values[1:]]))
    written = array.metadata.to_dict()["codecs"][0]
    assert (written["configuration"]["codecs"][0] if shards else written) == codec.to_dict()
    assert not {"start_bit", "end_bit"} & codec.configuration.keys()


def test_one_bit_of_packbits_has_one_name():
    assert PackBits(start_bit=1, end_bit=3) == PackBits(first_bit=1, last_bit=3)
    for names in ({"first_bit": 1, "start_bit": 1}, {"last_bit": 0, "end_bit": 3}):
        with pytest.raises(ValueError, match=f"{' and '.join(names)} are the same member"):
            PackBits(**names)


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("packbits", {"padding_encoding": None}), ("packbits", {"first_bit": None}), ("packbits", {"end_bit": None}),
        ("packbits", {"first_bit": None, "start_bit": 0}), ("packbits", {"first_bit": 0, "start_bit": 0}),
        ("packbits", {"last_bit": None, "end_bit": None}), ("packbits", {"padding_encoding": "start_byte"}),
        ("packbits", {"padding_encoding": "first"}), ("packbits", {"padding_encoding": ["first_byte"]}),
        ("zfp", {"mode": "reversible", "rate": None}), ("zfp", {"mode": None}),
        ("pad", {"location": "start", "nbytes": 3, "padding": None}), ("pad", {"location": "start", "nbytes": None}),
        ("offset", {"offset": 3, "prefix": None}), ("offset", {"offset": None}),
        ("scale_offset", {"offset": None}), ("scale_offset", {"scale": None}), ("scale_offset", {"scale": 2}),
        ("cast_value", {"data_type": "int32", "rounding": None}), ("cast_value", {"data_type": None}),
        ("cast_value", {"data_type": "int32", "out_of_range": None}),
        ("cast_value", {"data_type": "int32", "scalar_map": None}),
        ("cast_value", {"data_type": "int32", "scalar_map": {"encode": None}}),
        ("bitround", {"keepbits": None}), ("reshape", {"shape": None}), ("n5_default", {"codecs": None}),
        ("conditional", {"codecs": [{"name": "crc32c"}], "header_bits": None}), ("conditional", {"codecs": None}),
        ("conditional", {"codecs": [{"name": "crc32c"}], "header_bits": 8}), ("conditional", {"codecs": []}),
        ("squeeze", {"dimensions": None}),
    ],
)  # fmt: skip
def test_zarr_opens_what_the_library_accepts(pipeline, name, configuration):
    """Null in particular, which is a value in a document, and in Python an option that is not given."""
    codec = {"name": name, "configuration": configuration}
    serializes = name in ("packbits", "zfp", "n5_default")
    follows = name in ("pad", "offset", "conditional")
    made = document([codec] if serializes else [LITTLE, codec] if follows else [codec, LITTLE], "float32")
    try:
        zcodec.Chain.from_zarr_json(made)
    except zcodec.Error:
        with pytest.raises((ValueError, TypeError)):
            zarr.open_array(stored(made))
    else:
        values = np.ones((6, 4), "float32")
        np.testing.assert_array_equal(zarr.open_array(stored(made, values))[...], values)


def test_zarr_has_a_class_for_every_codec_of_the_library():
    for codec in zcodec.supported()["codecs"]:
        for name in (codec["name"], *codec["aliases"]):
            if not name.startswith("numcodecs."):  # those are of zarr-python, or of numcodecs
                assert get_codec_class(name)
