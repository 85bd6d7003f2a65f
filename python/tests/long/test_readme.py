"""The examples of README.md run, in order and as they are."""

import asyncio
import re
from pathlib import Path

import pytest

pytest.importorskip("xarray")
README = Path(__file__).parents[2] / "README.md"


@pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification", "ignore:Consolidated metadata")
def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    names = {}
    for example in examples:
        if "async for" not in example:
            exec(compile(example, str(README), "exec"), names)
            continue

        async def get(offset, size, encoded=names["encoded"]):
            return encoded[-size:] if offset is None else encoded[offset : None if size is None else offset + size]

        body = "".join(f"    {line}\n" for line in example.splitlines())
        exec(f"async def read(get):\n{body}    return plan.result\n", names)
        assert (asyncio.run(names["read"](get)) == names["pixels"][::-1][:100, :100]).all()
    assert len(examples) >= 7
    assert names["zcodec"].zarr.stats.share == 1
