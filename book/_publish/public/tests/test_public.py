"""What the public tree promises: the notebooks run by themselves, and the checks greet an untouched notebook."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def code_of(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_alone_or_asks_for_the_solved_one(path, tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(code_of(path)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    if "from _support.module import" in "\n".join(code_of(path)):
        assert "Put your solved notebook" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


def test_an_untouched_notebook_gets_no_points_and_no_traceback():
    folder = ROOT / "exercises" / "multi_head_attention"
    command = [sys.executable, "-m", "autograder", "check", str(folder / "multi_head_attention.ipynb")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
