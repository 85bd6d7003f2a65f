"""A pytest plugin for zarr-python's own tests: says which failed, and how many chunks zcodec coded.

ZCODEC_SUITE_REPORT names the file for the result.
"""

import json
import os
import pathlib

import pytest

failed: set[str] = set()
passed: set[str] = set()


def pytest_configure(config: pytest.Config) -> None:
    # Warnings are errors in these tests; what falls back is counted instead.
    config.addinivalue_line("filterwarnings", "ignore::zcodec.zarr.FallbackWarning")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        failed.add(report.nodeid)
    elif report.when == "call" and report.passed:
        passed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    from zcodec.zarr import stats

    found = {
        "decoded": stats.decoded, "encoded": stats.encoded, "fallback": dict(stats.fallback),
        "failed": sorted(failed), "passed": len(passed - failed),
    }  # fmt: skip
    pathlib.Path(os.environ["ZCODEC_SUITE_REPORT"]).write_text(json.dumps(found))
