"""Documents of arrays with codecs of zcodec.zarr: zarr-python opens what the library accepts, and nothing else."""

import json

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

import zcodec
from zarr.codecs import BytesCodec
from zarr.core.buffer import cpu
from zarr.registry import get_codec_class
from zarr.storage import MemoryStore
from zcodec.zarr import CastValue, PackBits

OURS, OWN = "zcodec.zarr.CodecPipeline", "zarr.core.codec_pipeline.BatchedCodecPipeline"
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
pytestmark = [
    pytest.mark.filterwarnings("error::zcodec.zarr.FallbackWarning"),
    pytest.mark.filterwarnings("ignore:.*not in the Zarr version 3 specification"),
]


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


def needs_class(name):
    try:
        get_codec_class(name)
    except (KeyError, ValueError) as error:
        pytest.skip(f"neither this zarr-python nor numcodecs has a class for {name}: {error}")


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


WIDENING = {
    "cast_value": {"name": "cast_value", "configuration": {"data_type": "int16", "rounding": "nearest-even"}},
    "numcodecs.astype": {"name": "numcodecs.astype", "configuration": {"encode_dtype": "<i2", "decode_dtype": "|u1"}},
}
DROPS = r'"bytes": endian is missing, .*; zarr-python 3\.[12].* drops it .*; zarr 3\.3 or later .*PackBits\(\)'


@pytest.mark.parametrize("shards", [None, (6, 4)])
@pytest.mark.parametrize("filters", WIDENING)
def test_wider_elements_keep_their_byte_order_or_no_array_is_made(filters, shards):
    """zarr-python before 3.3 drops the `endian` of arrays of one byte an element: such an array could not be read."""
    needs_class(filters)
    store, values = MemoryStore(), np.arange(24, dtype="uint8").reshape(6, 4)
    with zarr.config.set({"codec_pipeline.path": OURS}):
        try:
            array = zarr.create_array(
                store, shape=(6, 4), chunks=(3, 2), shards=shards, dtype="uint8", filters=[WIDENING[filters]],
                serializer=BytesCodec(endian="big"), compressors=None,
            )  # fmt: skip
        except zcodec.Error as error:
            assert not store._store_dict
            with pytest.raises(zcodec.Error, match=DROPS):
                raise error
            return
        array[...] = values
        np.testing.assert_array_equal(zarr.open_array(store)[...], values)
    made = json.loads(store._store_dict["zarr.json"].to_bytes())["codecs"]
    assert (made[0]["configuration"]["codecs"] if shards else made)[1]["configuration"] == {"endian": "big"}


@pytest.mark.parametrize("shards", [False, True])
@pytest.mark.parametrize("endian", ["little", "big", None])
def test_wider_elements_of_others_are_read_in_their_byte_order_or_refused(shards, endian):
    codecs = [WIDENING["cast_value"], {**LITTLE, "configuration": {"endian": endian}} if endian else {"name": "bytes"}]
    values = np.arange(24, dtype="uint8").reshape(6, 4)
    made = document(sharded(codecs) if shards else codecs, "uint8")
    store = stored(made, values if endian else None)
    with zarr.config.set({"codec_pipeline.path": OURS}):
        try:
            found = zarr.open_array(store)[...]
        except zcodec.Error as error:
            with pytest.raises(zcodec.Error, match=DROPS):
                raise error
        except ValueError as error:
            if endian is not None or "`endian` configuration needs to be specified" not in str(error):
                raise
        else:
            np.testing.assert_array_equal(found, values if endian else 0)


@pytest.mark.parametrize(
    ("name", "configuration", "dtype"),
    [
        ("delta", {"dtype": "<i4"}, "int32"), ("delta", {"dtype": "<i4", "astype": "<i2"}, "int32"),
        ("astype", {"encode_dtype": "<f8", "decode_dtype": "<i4"}, "int32"),
        ("fixedscaleoffset", {"offset": 0, "scale": 10, "dtype": "<f4", "astype": "<i4"}, "float32"),
        ("quantize", {"digits": 2, "dtype": "<f4"}, "float32"),
    ],
)  # fmt: skip
def test_filters_of_numcodecs_before_bytes_in_big_endian_order(name, configuration, dtype):
    """The pipeline of zarr-python before 3.3 reads their elements with the bytes swapped."""
    needs_class(f"numcodecs.{name}")
    store, values = MemoryStore(), np.array([1, 2, 4, 9], dtype)
    for pipeline in (OWN, OURS):
        with zarr.config.set({"codec_pipeline.path": pipeline}):
            array = zarr.create_array(
                store, shape=(4,), chunks=(4,), dtype=dtype, serializer=BytesCodec(endian="big"), compressors=None,
                filters=[{"name": f"numcodecs.{name}", "configuration": configuration}], overwrite=True,
            )  # fmt: skip
            array[...] = values
        with zarr.config.set({"codec_pipeline.path": OURS}):
            np.testing.assert_array_equal(zarr.open_array(store)[...], values)


@pytest.mark.parametrize("shards", [None, (6, 4)])
def test_wider_elements_without_a_byte_order(pipeline, shards):
    values = np.arange(24, dtype="uint8").reshape(6, 4)
    array = zarr.create_array(
        MemoryStore(), shape=(6, 4), chunks=(3, 2), shards=shards, dtype="uint8", filters=[CastValue("int16")],
        serializer=PackBits(),
    )  # fmt: skip
    array[...] = values
    np.testing.assert_array_equal(array[...], values)
