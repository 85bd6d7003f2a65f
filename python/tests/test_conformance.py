"""The conformance cases of the library through `zcodec.Chain`: what the package makes of arrays, sizes and errors.

Named callbacks, generated sides and calls of the C interface itself are left to tests/conformance/run.py.
"""

import base64
import json
import pathlib
import sys

import numpy as np
import pytest

from zcodec import Chain, Error, Kind
from zcodec.dtypes import named
from zcodec.plan import read_object

CASES = pathlib.Path(__file__).parents[2] / "tests" / "conformance" / "cases"
NOT_HERE = {"api", "padding", "call_data", "codecs_b64", "codecs_repeat", "max_rss_growth_mib", "probe_capacity"}
# Fill values that mean something to numpy, but nothing as JSON: they are given as such.
ONLY_NUMPY = {"input: fill_value true for a number", "input: fill_value 1 for bool", "input: fill_value a scalar for complex"}
FILES = sorted(path.name for path in CASES.glob("*.jsonl"))
pytestmark = pytest.mark.skipif(sys.byteorder == "big", reason="the cases are little-endian")


def cases(name):
    for line in (CASES / name).read_text("utf-8").splitlines():
        case = json.loads(line)
        entering = case.get("input")
        # A dictionary that does not say what enters cannot be given to the package.
        is_given = "input_text" not in case and (
            entering is None or (isinstance(entering, dict) and "data_type" in entering and isinstance(entering.get("shape"), list))
        )
        if is_given and not NOT_HERE & case.keys() and not isinstance(case.get("decoded"), dict):
            yield case


def chain_of(case):
    if "zarr_json" in case or "zarr_json_text" in case:
        return Chain.from_zarr_json(case.get("zarr_json") or case["zarr_json_text"])
    codecs = case.get("codecs_text", case.get("codecs"))
    entering = case["input"]
    if entering is None:
        return Chain(codecs)
    assert set(entering) <= {"data_type", "shape", "fill_value"}
    if case["name"] in ONLY_NUMPY:
        grid = {"name": "regular", "configuration": {"chunk_shape": entering["shape"]}}
        array = {"zarr_format": 3, "node_type": "array", "chunk_key_encoding": {"name": "default"}}
        return Chain.from_zarr_json({**array, **entering, "chunk_grid": grid, "codecs": codecs})
    return Chain(codecs, entering["data_type"], entering["shape"], entering.get("fill_value"))


def side(raw, dtype, shape):
    return np.frombuffer(raw, np.uint8).view(dtype).reshape(shape) if raw else np.zeros(shape, dtype)


def same(found, expected, free):
    """Whether these bytes are equal; any NaN is as good as another of the data type that is `free`."""
    if found == expected or free is None or len(found) != len(expected):
        return found == expected
    dtype = named(free["data_type"], {}, 0)
    found, expected = np.frombuffer(found, dtype), np.frombuffer(expected, dtype)
    equal = found.view(f"u{dtype.itemsize}") == expected.view(f"u{dtype.itemsize}")
    return np.all(equal | (np.isnan(found) & np.isnan(expected)))


def check(case):
    chain = chain_of(case)
    decoded = base64.b64decode(case.get("decoded", ""))
    encoded = base64.b64decode(case.get("encoded", ""))
    expected = base64.b64decode(case["redecoded"]) if "redecoded" in case else decoded
    checks = case.get("checks", [])
    free_encoded, free_decoded = (case.get("any_nan", {}).get(name) for name in ("encoded", "decoded"))
    if chain.kind is Kind.BYTES_TO_BYTES:
        given, back = decoded, bytes
    else:
        given, back = side(decoded, chain.dtype, chain.shape) if "decoded" in case else None, lambda a: a.tobytes()
    if "encode" in checks:
        made = chain.encode(given)
        made = made if isinstance(made, bytes) else made.tobytes()
        assert same(made, encoded, free_encoded), "encode"
        if chain.kind is Kind.ARRAY_TO_BYTES:
            wide = np.zeros([2 * size for size in chain.shape], chain.dtype)
            wide = wide[(*(slice(None, None, -2) for _ in chain.shape), ...)]
            wide[...] = given
            assert chain.encode(wide) == made, "encode with strides"
    if "decode" in checks:
        assert same(back(chain.decode(encoded)), expected, free_decoded), "decode"
        if chain.kind is Kind.ARRAY_TO_BYTES:
            half = tuple(slice(size // 3, None) for size in chain.shape)
            part = side(expected, chain.dtype, chain.shape)[half].tobytes()
            assert same(chain.decode(encoded, box=half).tobytes(), part, free_decoded), "box"
            assert same(read_object(chain.plan(half), encoded).tobytes(), part, free_decoded), "plan"
            assert same(chain.decode_many([encoded], box=half)[0].tobytes(), part, free_decoded), "tasks"
    if "round_trip" in checks:
        assert same(back(chain.decode(chain.encode(given))), expected, free_decoded), "round trip"


def check_error(case):
    wanted = case["error"]
    stages = wanted["stage"] if isinstance(wanted["stage"], list) else [wanted["stage"]]
    stage = "new"
    try:
        chain = chain_of(case)
        if chain.kind is Kind.BYTES_TO_BYTES:
            given = base64.b64decode(case.get("decoded", ""))
        else:
            given = np.frombuffer(base64.b64decode(case.get("decoded", "")), np.uint8)
            if given.nbytes == chain.decoded_size:
                given = side(given.tobytes(), chain.dtype, chain.shape)
        if "encode" in stages:
            stage = "encode"
            chain.encode(given)
        if "decode" in stages:
            stage = "decode"
            chain.decode(base64.b64decode(case.get("encoded", "")))
    except Error as error:
        statuses = wanted["status"] if isinstance(wanted["status"], list) else [wanted["status"]]
        assert stage in stages and error.status.name in statuses, f"{stage}: {error}"
        indices = wanted.get("codec_index", error.codec_index)
        found = -1 if error.codec_index is None else error.codec_index
        assert found == indices or (isinstance(indices, list) and found in indices) or indices is None, str(error)
        assert error.element_index == wanted.get("element_index", error.element_index), str(error)
        return
    except (ValueError, TypeError) as error:  # the package looks at shapes and sizes itself
        assert stage in stages, f"{stage}: {error}"
        assert {"INVALID_ARGUMENT", "INVALID_METADATA"} & set(wanted["status"]), str(error)
        assert "shape" in str(error) or "dtype" in str(error), str(error)
        return
    assert wanted.get("may_succeed"), "no error"


@pytest.mark.parametrize("name", FILES)
def test_cases(name):
    failed, count = [], 0
    for case in cases(name):
        count += 1
        try:
            check_error(case) if "error" in case else check(case)
        except Error as error:
            if not (case.get("optional") and error.status.name == "UNSUPPORTED"):
                failed.append(f"{case['name']}: {error}")
        except (AssertionError, ValueError, TypeError) as error:
            failed.append(f"{case['name']}: {type(error).__name__}: {error}")
    assert not failed, f"{len(failed)} of {count}: " + "\n".join(failed[:10])


def test_most_cases_run_here():
    total = sum(len((CASES / name).read_text("utf-8").splitlines()) for name in FILES)
    assert sum(1 for name in FILES for _ in cases(name)) > 0.95 * total
