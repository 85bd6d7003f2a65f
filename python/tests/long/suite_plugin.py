"""A pytest plugin for zarr-python's own tests: runs them with zcodec's pipeline, and counts chunks.

ZCODEC_SUITE_COUNTS names the folder for the counts, one file for each process.
"""

import json
import os
import pathlib

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", "ignore::zcodec.zarr.FallbackWarning")


def pytest_sessionfinish(session: pytest.Session) -> None:
    from zcodec.zarr import stats

    counts = {"decoded": stats.decoded, "encoded": stats.encoded, "fallback": dict(stats.fallback)}
    folder = pathlib.Path(os.environ["ZCODEC_SUITE_COUNTS"])
    (folder / f"{os.getpid()}.json").write_text(json.dumps(counts))
