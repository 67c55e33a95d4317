"""nbgrader's own commands on our folders: the same grades as `autograder grade`, whatever was handed in."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
import sample_class
from course_copies import ROOT, SECOND, SEED, copy_course, gradebook, nbgrader, run
from jupyter_support import jupyter

from autograder import leaks
from autograder.course import Course
from autograder.gradebook import write_gradebook
from autograder.grading.submission import Grader
from autograder.release import release
from autograder.results import SubmissionResult
from autograder.solved import solved_notebook

NAME = "smoothing"


@dataclass(frozen=True)
class Graded:
    """A course whose class went through nbgrader, and what our own grading says of the same files."""

    course: Course
    name: str
    said: str
    ours: dict[str, SubmissionResult]

    @property
    def root(self) -> Path:
        return self.course.root


def graded(root: Path, of: Path, grader: Grader) -> Graded:
    course = copy_course(root, of)
    name = course.source().assignment.name
    nbgrader(root, "generate_assignment", name, "--force")
    sample_class.build(course, root / "submitted", nbgrader=True)
    said = nbgrader(root, "autograde", name).said
    ours = {
        folder.name: grader.grade(folder.name, folder / name / f"{name}.ipynb")
        for folder in sorted((root / "submitted").iterdir())
    }
    return Graded(course, name, said, ours)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The second course, released once: copies of it need no recording."""
    course = copy_course(tmp_path_factory.mktemp("built"), SECOND)
    release(course)
    return course.root


@pytest.fixture(scope="module")
def second(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    with Grader.open(Course(built).source(), seed=SEED) as own:
        return graded(tmp_path_factory.mktemp("second"), built, own)


@pytest.fixture(scope="module")
def main_course(tmp_path_factory: pytest.TempPathFactory, grader: Grader) -> Graded:
    assert grader.seed == SEED
    return graded(tmp_path_factory.mktemp("main"), ROOT, grader)


def assert_same_grades(course: Graded) -> None:
    theirs = gradebook(course.root, course.name)
    assert theirs.keys() == course.ours.keys()
    for student, result in course.ours.items():
        if result.status != "graded":
            assert set(theirs[student].scores.values()) == {None}, student
            continue
        assert theirs[student].scores == {exercise.name: exercise.score for exercise in result.exercises}, student
        assert theirs[student].score == pytest.approx(result.score), student


# -- the sample class -------------------------------------------------------------------------------------------------


def test_nbgrader_and_we_give_the_same_grades_exercise_by_exercise(second: Graded) -> None:
    assert_same_grades(second)
    scores = {student: result.score for student, result in second.ours.items()}
    assert {scores[student] for student in sample_class.FULL_MARKS} == {10}
    assert scores[sample_class.UNTOUCHED] == 0
    assert len(set(scores.values())) > 4  # partial credit of several kinds is among them


@pytest.mark.long
def test_nbgrader_and_we_agree_on_the_course_itself(main_course: Graded) -> None:
    assert_same_grades(main_course)
    scores = {student: result.score for student, result in main_course.ours.items()}
    assert {scores[student] for student in sample_class.FULL_MARKS} == {
        main_course.course.source().assignment.max_score
    }
    assert scores[sample_class.UNTOUCHED] == 0


def test_broken_submissions_need_manual_grading_with_a_reason(second: Graded) -> None:
    grades = gradebook(second.root, NAME)
    assert {student for student, grade in grades.items() if grade.needs_manual_grade} == set(sample_class.BROKEN)
    assert "cut off" in (grades["sample-13"].comments["moving_average"] or "")
    assert "web page" in (grades["sample-14"].comments["moving_average"] or "")
    assert "sample-14 needs manual grading" in second.said
    notebook = nbformat.read(second.root / "autograded" / "sample-14" / NAME / f"{NAME}.ipynb", 4)
    assert "could not be graded" in notebook.cells[0].source


def test_an_untouched_answer_has_no_response(second: Graded) -> None:
    grades = gradebook(second.root, NAME)
    assert set(grades[sample_class.UNTOUCHED].comments.values()) == {"No response."}
    assert set(grades["sample-01"].comments.values()) == {None}


def test_nbgraders_release_is_ours_and_holds_no_answer(second: Graded, built: Path) -> None:
    ours, theirs = built / "exercises" / NAME, second.course.released / NAME
    names = {path.relative_to(ours) for path in ours.rglob("*") if path.is_file()}
    assert names == {path.relative_to(theirs) for path in theirs.rglob("*") if path.is_file()}
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    assert leaks.find([theirs], leaks.secrets(second.course.source())) == []


def test_every_check_cell_holds_the_panel_before_its_number(second: Graded) -> None:
    for student, result in second.ours.items():
        notebook = nbformat.read(second.root / "autograded" / student / NAME / f"{NAME}.ipynb", 4)
        checks = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        assert len(checks) == 2
        for cell in checks:
            assert [output.output_type for output in cell.outputs] == ["display_data", "execute_result"]
            assert float(cell.outputs[1].data["text/plain"]) <= cell.metadata.nbgrader.points
            assert "<" in cell.outputs[0].data["text/html"]
        assert notebook.metadata.autograder.sha256 == result.sha256


def test_feedback_shows_the_panels_and_no_answer(second: Graded) -> None:
    nbgrader(second.root, "generate_feedback", NAME)
    pages = {path.parent.parent.name: path for path in (second.root / "feedback").rglob("*.html")}
    assert pages.keys() == second.ours.keys()
    wrong = pages["sample-06"].read_text(encoding="utf-8")
    named = {check.misconception for exercise in second.ours["sample-06"].exercises for check in exercise.checks} - {
        None
    }
    assert named
    for misconception in named:
        sentence = second.course.source().misconceptions[str(misconception)].says
        assert sentence.split("`")[0][:25] in wrong
    # What a student wrote is theirs to see; in these nobody wrote anything.
    unwritten = [pages[student] for student in (sample_class.UNTOUCHED, *sample_class.BROKEN)]
    assert leaks.find(unwritten, leaks.secrets(second.course.source())) == []
    beside = [path.name for path in (second.root / "feedback").rglob("*") if path.is_file() and path.suffix != ".html"]
    assert beside == []


def test_exported_grades_are_ours(second: Graded) -> None:
    nbgrader(second.root, "export")
    with (second.root / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert rows == {student: result.score or 0 for student, result in second.ours.items()}


@pytest.fixture(scope="module")
def graded_again(second: Graded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some of them once more: two were graded by hand, one handed in anew what is broken, one what is sound."""
    from nbgrader.api import Gradebook

    root = tmp_path_factory.mktemp("again") / "course"
    shutil.copytree(second.root, root, symlinks=True)
    for student in (root / "submitted").iterdir():
        if student.name not in {"sample-01", "sample-14", *BY_HAND}:
            shutil.rmtree(student)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        for student, points in BY_HAND.items():
            book.find_grade("check-moving_average", NAME, NAME, student).manual_score = points
            book.find_comment("moving_average", NAME, NAME, student).manual_comment = f"Spoken with {student}."
        book.db.commit()
    spoilt, mended = (root / "submitted" / student / NAME / f"{NAME}.ipynb" for student in ("sample-01", "sample-14"))
    before = spoilt.read_bytes()
    spoilt.write_bytes(mended.read_bytes())
    mended.write_bytes(before)
    nbgrader(root, "autograde", NAME, "--force")
    return root


BY_HAND = {"sample-06": 2.5, "sample-13": 4.0}


def test_scores_and_comments_given_by_hand_outlive_grading_again(graded_again: Path) -> None:
    command = ("grade", "submitted", "--output", "grades", "--seed", str(SEED), "--gradebook", "--jobs", "1")
    for again in (False, True):  # by nbgrader, then by our own command
        if again:
            run(graded_again, "autograder", *command, expected=1)
        grades = gradebook(graded_again, NAME)
        for student, points in BY_HAND.items():
            assert grades[student].manual["moving_average"] == points
            assert grades[student].comments["moving_average"] == f"Spoken with {student}."
            assert grades[student].needs_manual_grade  # as nbgrader has it: to be looked at again


def test_a_mended_submission_gets_its_grade_and_a_spoilt_one_loses_its_old_one(graded_again: Path) -> None:
    grades = gradebook(graded_again, NAME)
    assert set(grades["sample-01"].scores.values()) == {None}
    assert grades["sample-01"].needs_manual_grade
    assert grades["sample-14"].score == 10
    assert not grades["sample-14"].needs_manual_grade
    assert set(grades["sample-14"].comments.values()) == {None}


def test_our_command_writes_the_same_gradebook(second: Graded, built: Path, tmp_path: Path) -> None:
    course = copy_course(tmp_path, built)
    shutil.copytree(second.root / "submitted", tmp_path / "submitted")
    run(
        tmp_path,
        "autograder",
        "grade",
        "submitted",
        "--output",
        "grades",
        "--seed",
        str(SEED),
        "--gradebook",
        "--jobs",
        "1",
        expected=1,
    )
    assert gradebook(course.root, NAME) == gradebook(second.root, NAME)


# -- what arrives -----------------------------------------------------------------------------------------------------

Notebook = dict[str, Any]


def cell_of(notebook: Notebook, name: str) -> Any:
    return next(cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name)


def code(source: str, **metadata: Any) -> Notebook:
    return {
        "cell_type": "code",
        "id": f"new-{abs(hash(source))}",
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def copied_check(notebook: Notebook) -> None:
    notebook["cells"].append(json.loads(json.dumps(cell_of(notebook, "check-moving_average"))))


def copied_answer(notebook: Notebook) -> None:
    copy = json.loads(json.dumps(cell_of(notebook, "moving_average")))
    notebook["cells"].insert(0, {**copy, "source": "raise ValueError('an old try')"})


def deleted_checks(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")]


def edited_checks(notebook: Notebook) -> None:
    for name in ("check-moving_average", "check-Standardize"):
        cell_of(notebook, name)["source"] = "100"
        cell_of(notebook, name)["metadata"]["nbgrader"]["points"] = 1000


def split_check(notebook: Notebook) -> None:
    check = cell_of(notebook, "check-moving_average")
    notebook["cells"].insert(0, {**json.loads(json.dumps(check)), "source": "check("})
    check["source"] = '"moving_average")'


def check_as_text(notebook: Notebook) -> None:
    check = cell_of(notebook, "check-moving_average")
    check["cell_type"] = "markdown"
    del check["outputs"], check["execution_count"]


def answered_below(notebook: Notebook) -> None:
    answer = cell_of(notebook, "moving_average")
    notebook["cells"].append(code(answer["source"]))
    answer["source"] = "def moving_average(x, window):\n    raise NotImplementedError()"


def deleted_answer(notebook: Notebook) -> None:
    answer = cell_of(notebook, "moving_average")
    notebook["cells"].remove(answer)
    cell_of(notebook, "imports")["source"] += "\n\n" + answer["source"]


def both_in_one(notebook: Notebook) -> None:
    first, second = cell_of(notebook, "moving_average"), cell_of(notebook, "Standardize")
    first["source"] += "\n\n" + second["source"]
    notebook["cells"].remove(second)


def answer_as_raw(notebook: Notebook) -> None:
    answer = cell_of(notebook, "moving_average")
    answer["cell_type"] = "raw"
    del answer["outputs"], answer["execution_count"]


def no_metadata(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def damaged_metadata(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] = {"nbgrader": [{"grade_id": number}, {}, {"grade": True}, 7][number % 4]}


def new_schema(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"]["schema_version"] = 99


def old_schema(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"]["schema_version"] = 1


def version_3(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
    notebook["worksheets"] = [{"cells": notebook.pop("cells")}]
    notebook["nbformat"] = 3


def twice_the_same_id(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["id"] = "same"


def from_the_future(notebook: Notebook) -> None:
    notebook["nbformat_minor"] = 99
    notebook["cells"].append({"cell_type": "hologram", "metadata": {}, "source": "?"})


def stored_outputs(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                {"output_type": "stream", "name": "stderr", "text": "a warning\n"},
                {"output_type": "odd"},
            ]


FULL_MARKS: list[Callable[[Notebook], None]] = [
    copied_check, copied_answer, deleted_checks, edited_checks, split_check, check_as_text, answered_below,
    deleted_answer, both_in_one, answer_as_raw, no_metadata, damaged_metadata, new_schema, old_schema, version_3,
    twice_the_same_id, from_the_future, stored_outputs,
]  # fmt: skip


@pytest.fixture(scope="module")
def mangled(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """One class of solved notebooks, each damaged in its own way, and a few files that are no notebooks."""
    root = tmp_path_factory.mktemp("mangled")
    course = copy_course(root, built)
    source = course.source()
    released = sample_class.released_notebook(course, source)
    files: dict[str, bytes] = {}
    for damage in FULL_MARKS:
        notebook = sample_class.with_answers(released, sample_class.solved_answers(source))
        damage(notebook)
        files[damage.__name__] = json.dumps(notebook).encode()
    files["null"], files["list"], files["pdf"], files["nothing"] = b"null", b"[]", b"%PDF-1.7", b""
    files["another"] = json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [code("1 + 1")]}
    ).encode()
    files["utf-16"] = json.dumps(sample_class.with_answers(released, sample_class.solved_answers(source))).encode(
        "utf-16"
    )
    for student, data in files.items():
        path = root / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    solved = files["utf-16"]
    for student, names in {
        "renamed": ["hw (1).ipynb"],
        "two of them": [f"{NAME}.ipynb", "old try.ipynb"],
        "which one": ["a.ipynb", "b.ipynb"],
    }.items():
        for name in names:
            path = root / "submitted" / student / NAME / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(solved)
    nbgrader(root, "generate_assignment", NAME, "--force")
    said = nbgrader(root, "autograde", NAME).said
    return Graded(course, NAME, said, {})


@pytest.mark.parametrize("student", [damage.__name__ for damage in FULL_MARKS] + ["utf-16", "renamed", "two of them"])
def test_a_damaged_notebook_costs_no_marks(mangled: Graded, student: str) -> None:
    assert gradebook(mangled.root, NAME)[student].scores == {"moving_average": 6, "Standardize": 4}
    notebook = nbformat.read(mangled.root / "autograded" / student / NAME / f"{NAME}.ipynb", 4)
    nbformat.validate(notebook)
    graded_cells = [
        cell.metadata.nbgrader.grade_id for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")
    ]
    assert sorted(graded_cells) == ["check-Standardize", "check-moving_average"]


@pytest.mark.parametrize("student", ["null", "list", "pdf", "nothing", "another", "which one"])
def test_what_is_no_submission_needs_manual_grading_and_stops_nobody(mangled: Graded, student: str) -> None:
    grades = gradebook(mangled.root, NAME)[student]
    assert set(grades.scores.values()) == {None}
    assert grades.needs_manual_grade
    assert grades.comments["moving_average"]
    assert (mangled.root / "autograded" / student / NAME / f"{NAME}.ipynb").exists()


# -- nbgrader's other commands, and nbgrader without our settings ------------------------------------------------------


def test_validate_says_what_fails(second: Graded, tmp_path: Path) -> None:
    released = second.course.released / NAME
    stub = nbgrader(released, "validate", f"{NAME}.ipynb")
    assert "VALIDATION FAILED ON 2 CELL(S)" in stub.said
    shutil.copytree(released, tmp_path / NAME)
    notebook = solved_notebook(second.course.source())
    nbformat.write(notebook, tmp_path / NAME / f"{NAME}.ipynb")
    assert "Success! Your notebook passes all the tests." in nbgrader(tmp_path / NAME, "validate", f"{NAME}.ipynb").said


def test_a_stock_nbgrader_reads_partial_credit_from_check(second: Graded, tmp_path: Path) -> None:
    """In another folder, without our settings: the released folder is its source, and `check` runs in its kernel."""
    shutil.copytree(second.course.released / NAME, tmp_path / "source" / NAME)
    students = ("sample-02", "sample-06", "sample-07")
    for student in students:
        shutil.copytree(second.root / "submitted" / student, tmp_path / "submitted" / student)
    nbgrader(tmp_path, "generate_assignment", NAME, stock=True)
    nbgrader(tmp_path, "autograde", NAME, stock=True)
    theirs = gradebook(tmp_path, NAME)
    for student in students:
        result = second.ours[student]
        for exercise in result.exercises:
            if exercise.judged_with == "own":  # the learner's copy has no stand-ins
                assert theirs[student].scores[exercise.name] == exercise.score, (student, exercise.name)
    assert any(0 < theirs[student].score < 10 for student in students)


def test_nbgrader_without_our_settings_is_refused_inside_the_course(second: Graded, tmp_path: Path) -> None:
    root = tmp_path / "unguarded"
    shutil.copytree(second.root, root, symlinks=True)
    (root / "nbgrader_config.py").rename(root / "elsewhere.py")
    for student in (root / "submitted").iterdir():
        if student.name != "sample-01":
            shutil.rmtree(student)
    nbgrader(
        root, "autograde", NAME, "--force", "--CourseDirectory.source_directory=build/source", "--student", "sample-01",
        stock=True,
    )  # fmt: skip
    notebook = nbformat.read(root / "autograded" / "sample-01" / NAME / f"{NAME}.ipynb", 4)
    said = json.dumps(notebook)
    assert "without the autograder" in said
    assert gradebook(root, NAME)["sample-01"].scores == {"moving_average": 0, "Standardize": 0}


def test_a_broken_course_stops_nbgrader_with_a_sentence(built: Path, tmp_path: Path) -> None:
    course = copy_course(tmp_path, built)
    settings = course.root / "solutions" / NAME / "assignment.toml"
    settings.write_text(settings.read_text().replace("points = 6", "points = "))
    done = nbgrader(tmp_path, "generate_assignment", NAME, expected=1)
    assert "assignment.toml is not valid TOML" in done.said
    assert "Traceback" not in done.said


@pytest.mark.long
def test_a_broken_course_leaves_a_jupyter_server_alive_and_grades_nothing(built: Path, tmp_path: Path) -> None:
    course = copy_course(tmp_path, built)
    # The gradebook knows the assignment from before.
    assert write_gradebook(course, [SubmissionResult("ben", NAME, "ungradable", 10.0, reason="It is empty.")]) == 1
    settings = course.root / "solutions" / NAME / "assignment.toml"
    settings.write_text(settings.read_text().replace("points = 6", "points = "))
    handed_in = tmp_path / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    handed_in.parent.mkdir(parents=True)
    evil = tmp_path / "it-ran"
    cells = [code(f"open({str(evil)!r}, 'w')")]
    handed_in.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    with jupyter_server(tmp_path) as (ask, log):
        assert ask("GET", "api/status")["connections"] == 0
        for step in ("assignment/smoothing/assign", "submission/smoothing/ada/autograde"):
            answer = ask("POST", f"formgrader/api/{step}")
            assert answer["success"] is False and "assignment.toml is not valid TOML" in answer["log"], answer["log"]
        assert ask("GET", "api/status")["connections"] == 0
        assert "assignment.toml is not valid TOML" in log.read_text(encoding="utf-8")
    assert not evil.exists()
    assert not (tmp_path / "autograded" / "ada" / NAME / f"{NAME}.ipynb").exists()
    released = f"exercises/{NAME}/{NAME}.ipynb"
    assert (tmp_path / released).read_bytes() == (built / released).read_bytes()


@contextmanager
def jupyter_server(folder: Path) -> Iterator[tuple[Callable[[str, str], Any], Path]]:
    """A server with the formgrader in a folder: what asks it for JSON, and its log."""
    options = (
        "--ServerApp.disable_check_xsrf=True",
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    )
    home = folder / "jupyter-home"
    with jupyter("server", folder, home, *options) as address:

        def ask(method: str, path: str) -> Any:
            data = b"" if method == "POST" else None
            request = urllib.request.Request(f"{address}/{path}", method=method, data=data)
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)

        yield ask, home / "server.log"


WITHOUT_US = """
import sys
from pathlib import Path
from traitlets.config import Application, Config

sys.modules["autograder.gradebook"] = None  # as in an environment without it
if sys.argv[2] == "server":
    from jupyter_server.serverapp import ServerApp
    ServerApp.instance()
path = Path(sys.argv[1])
c = Config()
exec(compile(path.read_text(), str(path), "exec"), {"get_config": lambda: c, "__file__": str(path)})

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
try:
    Autograde(coursedir=CourseDirectory(), config=c).exporter_class
except Exception as problem:
    print("refused:", type(problem).__name__)
"""


@pytest.mark.parametrize("where", ["command", "server"])
def test_without_the_autograder_a_command_ends_and_a_server_goes_on_and_grades_nothing(where: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_US, str(ROOT / "nbgrader_config.py"), where],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "needs the autograder in nbgrader's environment" in done.stderr
    assert (done.returncode, done.stdout.startswith("refused:")) == ((1, False) if where == "command" else (0, True))
