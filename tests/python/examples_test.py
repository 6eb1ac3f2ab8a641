"""The notebook's cells run one after the other, as in Jupyter, and so does the script."""

import json
import subprocess
import sys

import pytest


def test_its_cells_run(examples):
    pytest.importorskip("pandas", reason="apt-get install python3-pandas")
    notebook = json.loads((examples.parent / "roofcast.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    names = {}
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    assert names["forecast"].time_s > names["forecast"].limit
    assert len(names["frame"]) == 2 * 2 * 4


def test_the_example_runs(examples):
    pytest.importorskip("pandas", reason="apt-get install python3-pandas")
    script = examples.parent / "forecast.py"
    done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "gemm.library" in done.stdout
