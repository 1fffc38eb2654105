"""examples/notebook runs from beginning to end, and what stands in it came from a run."""
import re

import pytest
from conftest import SOURCE

NOTEBOOK = SOURCE / "examples" / "notebook" / "spans.ipynb"


@pytest.fixture
def notebook():
    nbformat = pytest.importorskip("nbformat")
    return nbformat.read(NOTEBOOK, as_version=4)


def images(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


def text_of(notebook, words):
    """The last output as text of the cell that has `words` in it."""
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code" and words in cell.source]
    return cell.outputs[-1]["data"]["text/plain"]


def test_it_was_saved_with_its_output(notebook):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert len(images(notebook)) == 2
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 200_000 and '"output_type": "error"' not in text
    assert not re.search(r"/(work|home|root|tmp|usr)/", text), "no path of a machine"


def test_it_runs(notebook, executable):
    nbclient = pytest.importorskip("nbclient")
    for library in ("pandas", "matplotlib", "ipykernel"):
        pytest.importorskip(library)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbclient.NotebookClient(notebook, timeout=500, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    assert len(images(notebook)) == 2
    assert re.search(r"done\s+9\b", text_of(notebook, "done = xlm.sweep"))
    difference, low, high = map(float, re.findall(r"-?\d\.\d+(?:e-\d+)?", text_of(notebook, "runs.compare"))[:3])
    assert 0 < low < difference < high, "the shortest span is the best after so few steps, on any processor"
