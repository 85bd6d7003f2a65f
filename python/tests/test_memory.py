"""Memory that a call refuses: with a mask, or shared with what the call fills."""

import numpy as np
import pytest

from zcodec import Chain

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}
ARRAY = np.arange(64, dtype=np.int32).reshape(8, 8)


@pytest.fixture
def chain():
    return Chain([LITTLE], "int32", (8, 8), 0)


def test_masks_are_refused(chain):
    masked = np.ma.masked_equal(ARRAY, 3)
    encoded, bits = chain.encode(ARRAY), Chain(["crc32c"])
    calls = [
        lambda: chain.encode(masked),
        lambda: chain.encode(masked[:2], box=np.s_[:2]),
        lambda: chain.encode_into(masked, bytearray(256)),
        lambda: chain.encode_many([ARRAY, masked]),
        lambda: chain.is_fill(masked),
        lambda: chain.decode(encoded, masked),
        lambda: chain.decode(encoded, masked, max_threads=2),
        lambda: chain.decode(encoded, masked[:2], box=np.s_[:2]),
        lambda: chain.decode_many([encoded], [masked]),
        lambda: chain.plan(out=masked),
        lambda: chain.fill(masked),
        lambda: Chain([TRANSPOSE], "int32", (8, 8), 0).decode(masked),
        lambda: bits.encode(masked),
        lambda: bits.decode(bits.encode(encoded), masked),
        lambda: chain.encode_into(ARRAY, masked),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="has a mask"):
            call()
    assert masked.mask.sum() == 1 and np.array_equal(masked.data, ARRAY)
    np.testing.assert_array_equal(chain.decode(chain.encode(masked.filled(9))), np.where(ARRAY == 3, 9, ARRAY))
    chain.decode(encoded, masked.data)


def test_other_subclasses_are_arrays(chain, tmp_path):
    mapped = np.memmap(tmp_path / "mapped", np.int32, "w+", shape=(8, 8))
    assert chain.decode(chain.encode(ARRAY), mapped) is mapped
    np.testing.assert_array_equal(mapped, ARRAY)
    assert chain.encode(mapped) == chain.encode(ARRAY)
