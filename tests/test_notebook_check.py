"""The learner's `check()`: in a real kernel, in a terminal, and where it cannot run at all."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from autograder import cli, notebook_file, solved
from autograder.course import Assignment, Course
from autograder.grading import judging
from autograder.grading.submission import Grader
from autograder.interrupting import INTERRUPTED, handle_interrupts
from autograder.notebook_check import CheckError, find_assignment, try_exercises

NAME = "multi_head_attention"
WRONG_SPLIT = "def split_heads(x, h):\n    B, T, d_model = x.shape\n    return x.view(B, h, T, d_model // h)\n"


@pytest.fixture(scope="module")
def released(course: Course) -> Path:
    return course.released / NAME


@pytest.fixture
def folder(released: Path, tmp_path: Path) -> Path:
    return shutil.copytree(released, tmp_path / "unpacked")


def write(folder: Path, data: bytes) -> Path:
    path = folder / f"{NAME}.ipynb"
    path.write_bytes(data)
    return path


def outputs(path: Path) -> dict[str, Any]:
    """The notebook's outputs by grade_id, after running it in a kernel of its own."""
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": path.parent}}, allow_errors=True
    ).execute()
    return {
        cell.metadata["nbgrader"]["grade_id"]: cell.outputs
        for cell in notebook.cells
        if cell.cell_type == "code" and "nbgrader" in cell.metadata
    }


def test_in_a_notebook_the_panel_is_drawn_and_the_repr_is_the_points(folder: Path, notebook_with: Any) -> None:
    found = outputs(write(folder, notebook_with({"split_heads": WRONG_SPLIT})))
    wrong, right = found["check-split_heads"][0], found["check-clones"][0]
    assert (wrong.data["text/plain"], right.data["text/plain"]) == ("1", "8")
    assert "Split into heads" in wrong.data["text/html"] and "What to try" in wrong.data["text/html"]
    assert len(found["check-split_heads"]) == 1, "nothing but the panel, so that nbgrader reads the points"


def test_the_stubs_show_as_not_attempted_with_0(folder: Path) -> None:
    found = outputs(folder / f"{NAME}.ipynb")
    for name, shown in found.items():
        if name.startswith("check-"):
            assert shown[0].data["text/plain"] == "0", name
            assert "Not attempted" in shown[0].data["text/html"]


def test_a_broken_piece_blocks_what_needs_it_instead_of_failing_it(released: Path, notebook_with: Any) -> None:
    names: dict[str, Any] = {}
    assignment = Assignment.read(released)
    exec(assignment.namespace, names)
    for cell in json.loads(notebook_with())["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            exec("".join(cell["source"]), names)
    assert try_exercises(assignment, names, "MultiHeadedAttention").passed
    exec("def attention(query, key, value, mask=None, dropout=None):\n    return query, key\n", names)
    checked = try_exercises(assignment, names, "MultiHeadedAttention")
    lost = [check for check in checked.exercises[0].checks if check.status != "passed"]
    assert lost and {check.status for check in lost} == {"blocked"}
    assert {check.blocked_by for check in lost} == {"attention"}
    assert {check.message for check in lost} == {
        "Blocked by attention: mend that exercise first, then run this check again. No points are lost here by it: "
        "grading tries these rules once more with a working attention in its place."
    }
    assert checked.score < checked.max_score
    del names["attention"]
    checked = try_exercises(assignment, names, "MultiHeadedAttention")
    lost = [check for check in checked.exercises[0].checks if check.status != "passed"]
    assert lost and {check.message for check in lost} == {
        "Blocked by attention, which is not there. Run the cell with its answer, then this check again."
    }


def test_a_cell_that_was_not_run_is_not_called_untouched(released: Path) -> None:
    checked = try_exercises(Assignment.read(released), {}, "predict")
    words = "Not found: {}. Run the cell with your answer, then this one. If it ends in an error, mend that first."
    assert words.format("predict_shapes, predict_parameters") in " ".join(checked.text().split())
    named = words.format("<code>predict_shapes</code>, <code>predict_parameters</code>")
    assert named in checked._repr_html_() and "what it came with" not in checked._repr_html_()
    everything = try_exercises(Assignment.read(released), {})
    assert "not attempted" not in everything.text() and everything._repr_html_().count("Not found: ") == 10


def test_a_misspelt_function_is_found(released: Path, grader: Grader) -> None:
    said = (
        "Not found: clones. Run the cell with your answer, then this one. If it ends in an error, mend that first. {}"
    )
    for name, words in (
        ("clone", "There is a clone. Is clones meant?"),
        ("Clones", "There is a Clones. Is clones meant?"),
        ("split_heads", ""),
    ):
        checked = try_exercises(Assignment.read(released), {name: lambda module, N: module}, "clones")
        assert said.format(words).strip() in " ".join(checked.text().split())
        assert bool(words) == ("There is a" in checked.text())
    for name in ("clone", "clonse"):  # all else they reply is the same, and each is told its own name
        code = f"def {name}(module, N):\n    return module\n"
        cells = solved.with_answer(list(grader.reference), "clones", code)
        (check,) = [c for c in grader.judge_exercise_alone(cells, "clones").checks if c.stage == "loads"]
        assert f"There is a `{name}`. Is `clones` meant?" in check.message and f"Rename `{name}`" in check.hint


def test_what_was_not_asked_for_alone_is_taken_for_a_misspelt_name(grader: Grader) -> None:
    exercise = grader.assignment.by_name["predict"]
    near = judging.near_names(exercise, grader.rules, frozenset({"predict_shape", "predict_parameters", "check"}))
    assert near == {"predict_shapes": "predict_shape"}
    exercise = grader.assignment.by_name["MultiHeadedAttention"]
    near = judging.near_names(exercise, grader.rules, frozenset({"attention", "multi_headed_attention"}))
    assert near == {"MultiHeadedAttention": "multi_headed_attention"}
    many = frozenset({"multi_headed_attention", *(f"multi_headed_{number}" for number in range(judging.MOST_NAMES))})
    assert judging.near_names(exercise, grader.rules, many) == {}


def test_check_leaves_the_kernels_random_numbers_and_names_alone(released: Path) -> None:
    import torch

    names: dict[str, Any] = {"clones": lambda module, N: module}
    torch.manual_seed(5)
    before = torch.get_rng_state()
    try_exercises(Assignment.read(released), names, "clones")
    assert torch.equal(torch.get_rng_state(), before)
    assert [name for name in names if name != "__builtins__"] == ["clones"]


@pytest.mark.parametrize("name", ["split_head", "", "attention "])
def test_an_unknown_exercise_is_answered_with_the_names_there_are(released: Path, name: str) -> None:
    with pytest.raises(CheckError, match="The exercises are: predict, attention"):
        try_exercises(Assignment.read(released), {}, name)


def test_without_the_checks_beside_it_the_notebook_says_what_to_unpack(tmp_path: Path) -> None:
    code = "from autograder import check; check('clones')"
    ran = subprocess.run([sys.executable, "-m", "IPython", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "Unpack the whole zip" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr


def test_the_checks_are_found_from_above_and_below_the_notebooks_folder(folder: Path) -> None:
    assert find_assignment(folder.parent).folder == folder
    (folder / "drafts").mkdir()
    assert find_assignment(folder / "drafts").folder == folder


def test_in_a_terminal_the_panel_is_text(folder: Path) -> None:
    code = f"from autograder import check\n{WRONG_SPLIT}\nprint(repr(check('split_heads')))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert "split_heads" in ran.stdout and "What to try" in ran.stdout and ran.stdout.rstrip().endswith("1")


def test_in_the_instructors_course_unguarded_nbgrader_is_refused(folder: Path) -> None:
    (folder.parent / "solutions").mkdir()
    environment = {**os.environ, "NBGRADER_EXECUTION": "autograde"}
    code = "from autograder import check; check('clones')"
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env=environment)
    assert ran.returncode != 0 and "without its protection" in ran.stderr
    (folder.parent / "solutions").rmdir()
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr


def test_the_command_checks_a_file_as_its_learner_sees_it(
    folder: Path, notebook_with: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(folder, notebook_with({"split_heads": WRONG_SPLIT}))
    assert cli.main(["check", str(path), "split_heads"]) == 1
    assert "1 of 10 points" in capsys.readouterr().out
    assert cli.main(["check", str(path), "clones", "merge_heads"]) == 0
    assert cli.main(["check", str(path), "nonsense"]) == 2
    path.write_text("[]", encoding="utf-8")
    assert cli.main(["check", str(path)]) == 2
    assert "no cells" in capsys.readouterr().err


def test_the_command_names_the_line_of_a_cell_that_is_no_python(
    folder: Path, notebook_with: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(folder, notebook_with({"split_heads": "def split_heads(x, h)\n    return x\n"}))
    assert cli.main(["check", str(path), "split_heads"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "Got SyntaxError in your line 1, `def split_heads(x, h)`: expected ':'." in said


def test_the_command_names_the_line_that_stopped_a_cell(
    folder: Path, notebook_with: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(folder, notebook_with({"split_heads": "heads = 8\nwidth = heads / 0\n"}))
    assert cli.main(["check", str(path), "split_heads"]) == 1
    assert "ZeroDivisionError in your line 2, `width = heads / 0`" in " ".join(capsys.readouterr().out.split())


ENDLESS = "def split_heads(x, h):\n    while True:\n        x = x + 1\n"


@contextlib.contextmanager
def with_ctrl_c() -> Iterator[None]:
    """Ctrl-C as the command has it."""
    before = signal.getsignal(signal.SIGINT)
    handle_interrupts()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Pressed(io.StringIO):
    """What is said; once these words are, Ctrl-C is pressed."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def write(self, text: str) -> int:
        if self._words in text:
            press()
        return super().write(text)


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can be sent a Ctrl-C there")
@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (ENDLESS, "the check of split_heads"),
        (f"{ENDLESS}split_heads(torch.ones(1), 1)\n", "code cell 8, the answer of split_heads"),
    ],
)
def test_a_loop_without_end_is_named_and_when_it_is_stopped_with_its_line(
    folder: Path, notebook_with: Any, answer: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, notebook_with({"split_heads": answer}))
    error = Pressed(f"this still runs: {what}")
    monkeypatch.setattr(notebook_file, "LONG", 0.5)
    monkeypatch.setattr(sys, "stderr", error)
    with with_ctrl_c():
        assert cli.main(["check", str(path), "split_heads"]) == INTERRUPTED
    said = error.getvalue()
    assert f"autograder: after 0.5 seconds this still runs: {what}. Ctrl-C stops it.\n" in said
    assert re.search(rf"autograder: Stopped in {what}, at your line [23], `(while True:|x = x \+ 1)`\. If it was", said)
    assert said.endswith("a loop that never ends.\n") and "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can be sent a Ctrl-C there")
def test_a_notebooks_stop_button_is_told_with_exercise_and_line(released: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(ENDLESS, "<cell>", "exec"), names)
    try_exercises(Assignment.read(released), {}, "split_heads")  # what is read once is read
    timer = threading.Timer(1, press)
    timer.start()
    with with_ctrl_c(), pytest.raises(KeyboardInterrupt) as stopped:
        try_exercises(Assignment.read(released), names, "split_heads")
    (shown,) = stopped.value._render_traceback_()  # as IPython asks
    assert shown.startswith("Stopped in the check of split_heads, at your line ")
