"""Runs zarr-python's own tests with zcodec's pipeline, and then those that failed without it.

    zarr_suite.py FOLDER [ARGUMENT...]

FOLDER is for the source distribution and results. Arguments go to pytest; without, all tests are run. Fails if a test
fails that passes without the pipeline, unless EXCEPTIONS names it, or if zcodec coded less than 97 % of the chunks.
"""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from importlib.metadata import version

HERE = pathlib.Path(__file__).parent
LEAST = 0.97
EXCEPTIONS = {  # tests by their names without parameters: why they fail with zcodec's pipeline and pass without
    "tests/test_config.py::test_config_codec_pipeline_class": "expects zarr-python's own pipeline to be the default",
    "tests/test_config.py::test_config_codec_implementation": "makes the warning about a codec class of its own an error",
    "tests/test_array.py::test_create_array_with_data_num_gets": "counts one get per shard that is written whole; "
    "zcodec does none",
    # zarr-python 3.4:
    "tests/test_config.py::test_config_defaults_set": "lists the default settings; without cast_value_rs, zcodec makes its "
    "class for cast_value the default",
    "tests/test_array.py::test_shard_write_num_gets": "counts calls of get; zcodec calls get_sync, once",
    "tests/test_store/test_logging.py::test_logging_store_counter": "counts calls of set; zcodec calls set_sync",
    "tests/test_codecs/test_sharding.py::test_encoded_subchunk_write_order": "zcodec lays inner chunks in C order; the "
    "order is free, and not part of the metadata",
    "tests/test_codecs/test_sharding.py::test_sharding_partial_shard_read__index_chunk_slice_fails": "replaces a method of "
    "zarr-python's own shard index, which zcodec does not use",
    **dict.fromkeys(
        (
            f"tests/test_codecs/test_scale_offset.py::test_{name}"
            for name in (
                "uint64_encode_rejects_underflow",
                "integer_decode_rejects_non_exact_division",
                "encode_rejects_signed_integer_overflow",
                "encode_rejects_unsigned_integer_underflow",
                "decode_rejects_integer_overflow_on_offset_add",
            )
        ),
        "expects the words of zarr-python's message; zcodec raises a ValueError with its own",
    ),
}


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def source(folder: pathlib.Path) -> pathlib.Path:
    """The source distribution of the zarr-python that is installed, with what its tests need."""
    name = f"zarr-{version('zarr')}"
    if not (folder / name).exists():
        pip("download", "--no-deps", "--no-binary", ":all:", "--dest", str(folder), name.replace("-", "=="))
        with tarfile.open(folder / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    groups = tomllib.loads((folder / name / "pyproject.toml").read_text())["dependency-groups"]
    pip("install", *[each for each in groups["test"] if isinstance(each, str)])
    return folder / name


def run_tests(tests: pathlib.Path, arguments: list[str], report: pathlib.Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "suite_plugin"]
    environment = {**os.environ, "PYTHONPATH": str(HERE), "ZCODEC_SUITE_REPORT": str(report), **environment}
    report.unlink(missing_ok=True)
    status = subprocess.run([*command, *arguments], cwd=tests, env=environment, check=False).returncode
    if status not in (0, 1):  # 1: tests failed, which the report has
        sys.exit(f"pytest ended with status {status}")


def main(folder: pathlib.Path, arguments: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    tests = source(folder)
    # Its documentation is not part of the distribution.
    arguments = arguments or ["tests", "--ignore=tests/test_docs.py", "--ignore=tests/benchmarks"]
    ours, own = folder / "zcodec.json", folder / "zarr.json"
    run_tests(tests, arguments, ours, {"ZARR_CODEC_PIPELINE__PATH": "zcodec.zarr.CodecPipeline"})
    found = json.loads(ours.read_text())
    worse = []
    if found["failed"]:
        run_tests(tests, found["failed"], own, {})
        only_ours = set(found["failed"]) - set(json.loads(own.read_text())["failed"])
        worse = sorted(test for test in only_ours if test.split("[")[0] not in EXCEPTIONS)
        for test in sorted({test.split("[")[0] for test in only_ours - set(worse)}):
            print(f"exception: {test}: {EXCEPTIONS[test]}")
    fallback = Counter(found["fallback"])
    coded = found["decoded"] + found["encoded"]
    share = coded / max(1, coded + fallback.total())
    print(f"\n{found['passed']} passed, {len(found['failed'])} failed, of which {len(worse)} pass without zcodec")
    print(f"{coded} of {coded + fallback.total()} chunks coded by zcodec: {share:.1%}")
    for reason, count in fallback.most_common():
        print(f"{count:8} {reason}")
    for test in worse:
        print(f"FAILED only with zcodec: {test}")
    return 1 if worse or share < LEAST else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
