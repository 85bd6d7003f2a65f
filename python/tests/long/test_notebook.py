"""docs/chains.ipynb runs, and says what it says in the repository."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOK = Path(__file__).parents[2] / "docs" / "chains.ipynb"


def printed(notebook):
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return "".join(output["text"] for output in outputs if output["output_type"] == "stream" and output["name"] == "stdout")


def test_notebook():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    expected = printed(notebook)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    assert printed(notebook) == expected
    pictures = [cell for cell in notebook.cells if any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))]
    assert len(pictures) == 2
