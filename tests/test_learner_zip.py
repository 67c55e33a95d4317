"""The learners' zip, unpacked somewhere else: solved, it gives full marks; with a mistake, it says so in words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from course_copies import ROOT, copy_course
from nbclient import NotebookClient
from sample_class import solved_answers, with_answers

from autograder.course import Course, Source
from autograder.release import release

# A fresh environment gets the torch that the course itself is tested with.
CONSTRAINT = "torch==2.13.0\n"


@dataclass(frozen=True)
class Unpacked:
    """The zip's folder, and the Python that has the wheel inside it installed."""

    folder: Path
    source: Source
    python: str
    environment: Mapping[str, str]

    @property
    def notebook(self) -> dict[str, Any]:
        """The untouched notebook."""
        return dict(json.loads((self.folder / f"{self.source.assignment.name}.ipynb").read_text(encoding="utf-8")))

    def run(self, answers: Mapping[str, str]) -> dict[str, Any]:
        """Run the notebook with these answers in a kernel of its own. Returns the outputs of each check, and of all."""
        notebook = nbformat.reads(json.dumps(with_answers(self.notebook, answers)), as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell("check()", metadata={"nbgrader": {"grade_id": "total"}}))
        notebook.cells.append(
            nbformat.v4.new_code_cell(
                "import autograder; print(autograder.__file__)", metadata={"nbgrader": {"grade_id": "where"}}
            )
        )
        client = NotebookClient(
            notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": str(self.folder)}}
        )
        client.create_kernel_manager()
        client.km.kernel_spec.argv[0] = self.python
        client.execute(env=dict(self.environment))
        return {
            cell.metadata["nbgrader"]["grade_id"]: cell.outputs
            for cell in notebook.cells
            if cell.cell_type == "code" and "nbgrader" in cell.metadata
        }


def unpack(course: Course, folder: Path) -> Path:
    name = course.source().assignment.name
    with zipfile.ZipFile(course.root / "dist" / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder / name


@pytest.fixture(scope="module")
def course_copy(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = copy_course(tmp_path_factory.mktemp("course"), ROOT)
    release(course)
    return course


@pytest.fixture(scope="module")
def unpacked(course_copy: Course, tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    """The wheel alone in a folder of its own, in front of this environment's packages."""
    folder = unpack(course_copy, tmp_path_factory.mktemp("a learner's folder"))
    packages = tmp_path_factory.mktemp("packages")
    (wheel,) = (folder / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:  # a wheel without scripts is installed by unpacking it
        archive.extractall(packages)
    return Unpacked(folder, course_copy.source(), sys.executable, {**os.environ, "PYTHONPATH": str(packages)})


def text_of(outputs: Any) -> str:
    return "".join(
        output.get("text", "")
        + "".join(output.get("data", {}).get("text/plain", ""))
        + "\n".join(output.get("traceback", []))
        for output in outputs
    )


def html_of(outputs: Any) -> str:
    return "".join(output.get("data", {}).get("text/html", "") for output in outputs)


def assert_full_marks_and_words(unpacked: Unpacked) -> None:
    source = unpacked.source
    reference = solved_answers(source)
    outputs = unpacked.run(reference)
    assert Path(text_of(outputs["where"]).strip()).resolve() != (ROOT / "autograder" / "__init__.py").resolve()
    for exercise in source.assignment.exercises:
        assert text_of(outputs[f"check-{exercise.name}"]).strip() == f"{exercise.points:g}", text_of(
            outputs[f"check-{exercise.name}"]
        )
    assert text_of(outputs["total"]).strip() == f"{source.assignment.max_score:g}"

    wrong = next(variant for variant in source.wrong if variant.path == "split_heads/view_alone")
    outputs = unpacked.run({**reference, "split_heads": wrong.code})
    points = float(text_of(outputs["check-split_heads"]))
    assert points < source.assignment.by_name["split_heads"].points
    said = html_of(outputs["check-split_heads"])
    words = source.misconceptions[str(wrong.misconception)].says
    assert words.split("`")[0].split("(")[0].strip()[:30] in said


def test_the_zip_solved_gives_full_marks_and_a_wrong_transpose_is_told_in_words(unpacked: Unpacked) -> None:
    assert_full_marks_and_words(unpacked)


def test_the_untouched_notebook_says_not_attempted(unpacked: Unpacked) -> None:
    outputs = unpacked.run({})
    assert text_of(outputs["total"]).strip() == "0"
    assert "not attempted" in html_of(outputs["check-split_heads"]).lower()


def test_in_a_terminal_the_panel_is_text(unpacked: Unpacked, tmp_path: Path) -> None:
    answer = solved_answers(unpacked.source)["clones"]
    script = tmp_path / "mine.py"
    script.write_text(
        f"{unpacked.source.assignment.namespace}\nfrom autograder import check\n\n{answer}\n\ncheck('clones')\n"
    )
    done = subprocess.run(
        [unpacked.python, str(script)],
        cwd=unpacked.folder,
        env=dict(unpacked.environment),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "8" in done.stdout
    assert "<" not in done.stdout.replace("<=", "")


def test_a_moved_notebook_is_told_where_the_checks_are(unpacked: Unpacked, tmp_path: Path) -> None:
    name = f"{unpacked.source.assignment.name}.ipynb"
    shutil.copyfile(unpacked.folder / name, tmp_path / name)
    moved = Unpacked(tmp_path, unpacked.source, unpacked.python, unpacked.environment)
    said = text_of(moved.run({})["check-clones"])
    assert "Unpack the whole zip into one folder" in said
    assert "Traceback" not in said


@pytest.mark.long
def test_the_zip_installs_into_a_fresh_environment(course_copy: Course, tmp_path: Path) -> None:
    folder = unpack(course_copy, tmp_path)
    venv.create(folder / ".venv", with_pip=True)
    python = str(folder / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    (tmp_path / "constraint.txt").write_text(CONSTRAINT)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run(
        [python, "-m", "pip", "install", "-r", "requirements.txt", "-c", str(tmp_path / "constraint.txt")],
        cwd=folder, env=environment, check=True, capture_output=True, timeout=1800,
    )  # fmt: skip
    subprocess.run(
        [python, "-m", "jupyter", "lab", "--version"], cwd=folder, env=environment, check=True, capture_output=True
    )
    assert_full_marks_and_words(Unpacked(folder, course_copy.source(), python, environment))
