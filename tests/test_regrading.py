"""A run that goes on in the folder of an earlier one judges again what has changed since, that alone, and says why."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sample_class
from course_copies import copy_course
from test_class_run import contents

from autograder import cli, solved
from autograder.course import Course
from autograder.grading import class_run
from autograder.grading.basis import PARTS, bases, changes
from autograder.grading.finding import find
from autograder.grading.writing import read_results
from autograder.observations import Job, Outcome
from autograder.results import Move, SubmissionResult
from autograder.sandbox import Sandbox

NAME = "smoothing"
FIRST = "def moving_average(x, window):\n    return 1.0 * x.unfold(-1, window, 1)[..., 0]\n"
PLAIN = """class Standardize(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window, self.gain = window, 1.0

    def forward(self, x):
        smooth = moving_average(x, self.window)
        return self.gain * (smooth - smooth.mean(-1, keepdim=True)) / smooth.std(-1, keepdim=True, correction=0)
"""
CLASS: dict[str, dict[str, str]] = {"ada": {}, "ben": {"moving_average": FIRST}, "eva": {"Standardize": PLAIN}}


def edit(course: Course, file: str, old: str, new: str) -> Course:
    """The course, read anew, with a text in one of its files replaced."""
    path = course.root / "solutions" / NAME / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return Course(course.root)


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("checks/test_moving_average.py", '"""The rules', '# nothing\n"""The rules', {}),
        ("checks/test_moving_average.py", "(2, 3, 5)", "(2, 4)", {"moving_average": ["checks"]}),
        ("checks/test_Standardize.py", "points=2", "points=2.0", {"Standardize": ["checks"]}),
        ("checks/probes.py", "gain):", "gain=1):", {"Standardize": ["checks"]}),
        ("checks/probes.py", "x.clone()", "x + 0", {"moving_average": ["checks"]}),
        ("checks/probes.py", "import torch\n", "import torch, math\n",
         {"moving_average": ["checks"], "Standardize": ["checks"]}),
        ("smoothing.py", "return runs.mean(-1)", "return runs.mean(dim=-1)",
         {"moving_average": ["reference"], "Standardize": ["reference"]}),
        ("smoothing.py", "    self.window = window", "    self.window = int(window)", {"Standardize": ["reference"]}),
        ("smoothing.py", "# (B, T - window + 1, window)", "# one row per run", {}),
        ("assignment.toml", "points = 4", "points = 5", {"Standardize": ["settings"]}),
        ("assignment.toml", "[chapters]", '[grading]\nleave_out = ["Standardize"]\n[chapters]', {}),
        ("wrong/moving_average/sum_of_neighbours.py", ".sum(-1)", ".sum(dim=-1)", {"moving_average": ["explanations"]}),
        ("standins.py", "def ", "X = 1\n\n\ndef ", {"Standardize": ["stand-ins"]}),
    ],
)  # fmt: skip
def test_a_change_concerns_the_exercises_that_rest_on_it(
    tmp_path: Path, file: str, old: str, new: str, expected: dict[str, list[str]]
) -> None:
    course = copy_course(tmp_path)
    before = bases(course.source(NAME))
    after = bases(edit(course, file, old, new).source(NAME))
    parts = {name: [part for part in PARTS if before[name][part] != after[name][part]] for name in after}
    assert {name: found for name, found in parts.items() if found} == expected
    assert all(len(changes(before[name], after[name])) == len(parts[name]) for name in parts)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The exercises that each job of a sandbox asks for, jobs that ask for nothing left out."""
    found: list[set[str]] = []
    usual: Callable[[Sandbox, Job], Outcome] = Sandbox.run

    def run(self: Sandbox, job: Job) -> Outcome:
        if job.requests:
            found.append({self._exercises[position] for position in job.requests})
        return usual(self, job)

    monkeypatch.setattr(Sandbox, "run", run)
    return found


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a course, a class in `class/`, and what grading it once left in `grades/`."""
    folder = tmp_path_factory.mktemp("graded")
    course = copy_course(folder / "course")
    solution = json.loads(json.dumps(solved.solved_notebook(course.source(NAME))))
    (folder / "class").mkdir()
    for student, answers in CLASS.items():
        hand_in(folder, student, sample_class.with_answers(solution, answers))
    (folder / "class" / "broken.ipynb").write_text("<html>Log in</html>", encoding="utf-8")
    grade(course, folder / "grades", resume=False)
    return folder


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Course:
    """A copy of all that, in `tmp_path`."""
    shutil.copytree(graded, tmp_path, dirs_exist_ok=True)
    return Course(tmp_path / "course")


def hand_in(folder: Path, student: str, notebook: object) -> None:
    (folder / "class" / f"{student}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def grade(course: Course, output: Path, resume: bool = True) -> tuple[dict[str, SubmissionResult], set[str]]:
    """Results by student, and who was graded in this run."""
    told: set[str] = set()
    settings = class_run.Settings(course.root, NAME, output, 7, 1, False)
    class_run.grade_class(
        find([output.parent / "class"], NAME), settings,
        lambda one, before: None if before else told.add(one.student), resume,
    )  # fmt: skip
    return {result.student: result for result in read_results(output)}, told


def scores(results: Sequence[SubmissionResult]) -> dict[str, tuple[float, ...]]:
    return {result.student: tuple(one.score for one in result.exercises) for result in results}


def test_where_nothing_has_changed_nothing_is_judged(course: Course, tmp_path: Path, judged: list[set[str]]) -> None:
    before = contents(tmp_path / "grades")
    assert grade(Course(course.root), tmp_path / "grades")[1] == set()
    assert contents(tmp_path / "grades") == before and judged == []


def test_a_run_that_cannot_begin_leaves_everything_as_it_was(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.root)
    before = contents(tmp_path / "grades")
    command = ["grade", str(tmp_path / "class"), "--output", str(tmp_path / "grades"), "--assignment", NAME]
    for address in ("foo", "tcp://127.0.0.1:1", "tcp://127.0.0.1:notaport"):
        assert cli.main([*command, "--seed", "8", "--scheduler", address]) == 2
        assert "scheduler" in capsys.readouterr().err
    edit(course, "assignment.toml", "import torch", "import torhc")
    assert cli.main([*command, "--seed", "8", "--jobs", "1"]) == 2
    assert contents(tmp_path / "grades") == before


def test_who_is_not_of_this_run_is_named(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.root)
    (tmp_path / "class" / "ben.ipynb").unlink()
    command = ["grade", str(tmp_path / "class"), "--output", str(tmp_path / "grades"), "--assignment", NAME, "--resume"]
    assert cli.main(command) == 1  # broken.ipynb
    said = capsys.readouterr().out
    assert "students who are not among these: ben" in said
    assert "ben" in (tmp_path / "grades" / "grades.csv").read_text(encoding="utf-8")


def test_results_of_several_runs_merge_by_copying(course: Course, tmp_path: Path, judged: list[set[str]]) -> None:
    first, second = tmp_path / "grades", tmp_path / "second" / "students"
    expected = contents(first)
    second.mkdir(parents=True)
    for path in (first / "students").glob("ada.*"):
        path.rename(second / path.name)
    (first / "grades.csv").unlink()
    shutil.copytree(second, first / "students", dirs_exist_ok=True)
    assert grade(course, first)[1] == set() and judged == []
    assert contents(first) == expected


def test_a_changed_check_judges_its_exercise_alone_and_says_what_moved(
    course: Course, tmp_path: Path, judged: list[set[str]]
) -> None:
    after = edit(course, "checks/test_Standardize.py", '"shape", points=1', '"shape", points=2')
    after = edit(after, "checks/test_Standardize.py", '"values", points=1', '"values", points=0')
    results, told = grade(after, tmp_path / "grades")
    assert told == {"ada", "ben", "eva"}
    submissions = judged[judged.index({"Standardize"}) :]  # those before ask the reference
    assert len(submissions) >= len(CLASS) and all(asked == {"Standardize"} for asked in submissions)
    assert results["ada"].moved == () == results["ben"].moved
    assert [(one.exercise, one.before, one.after) for one in results["eva"].moved] == [("Standardize", 3, 4)]
    assert results["eva"].moved[0].why == ("Its checks were changed.",)
    # As if all had been judged anew.
    fresh, _ = grade(after, tmp_path / "fresh", resume=False)
    for student, result in results.items():
        assert dataclasses.replace(result, moved=(), seconds=0) == dataclasses.replace(fresh[student], seconds=0)
    assert (tmp_path / "grades" / "grades.csv").read_bytes() == (tmp_path / "fresh" / "grades.csv").read_bytes()


@pytest.mark.long
def test_what_may_call_a_changed_exercise_is_judged_again_too(
    course: Course, tmp_path: Path, judged: list[set[str]]
) -> None:
    after = edit(course, "checks/test_moving_average.py", "points=3", "points=2")
    after = edit(after, "checks/test_moving_average.py", 'points=1, hint="A run', 'points=2, hint="A run')
    results, _ = grade(after, tmp_path / "grades")
    assert [one.exercise for one in results["ben"].moved] == ["moving_average"]
    assert results["ben"].exercises[1].judged_with == "stand-ins"  # its own moving_average is wrong
    fresh, _ = grade(after, tmp_path / "fresh", resume=False)
    assert scores(list(results.values())) == scores(list(fresh.values()))


def test_another_notebook_is_graded_whole_and_the_one_who_is_new_as_well(course: Course, tmp_path: Path) -> None:
    solution = json.loads(json.dumps(solved.solved_notebook(course.source(NAME))))
    hand_in(tmp_path, "ben", solution)
    hand_in(tmp_path, "new", sample_class.with_answers(solution, {"moving_average": FIRST}))
    results, told = grade(course, tmp_path / "grades")
    assert told == {"ben", "new"} and results["new"].moved == ()
    assert results["ben"].moved == (Move("moving_average", 1, 6, ("Another notebook was handed in.",)),)


@pytest.mark.long
def test_who_behaved_oddly_is_graded_whole(course: Course, tmp_path: Path, judged: list[set[str]]) -> None:
    solution = json.loads(json.dumps(solved.solved_notebook(course.source(NAME))))
    hand_in(
        tmp_path, "eva", sample_class.with_answers(solution, {"moving_average": f"{FIRST}import os\nos._exit(1)\n"})
    )
    flags = grade(course, tmp_path / "grades")[0]["eva"].flags
    assert any("ended the process" in flag for flag in flags)
    after = edit(course, "checks/test_Standardize.py", "points=2", "points=2.0")
    results, _ = grade(after, tmp_path / "grades")
    assert results["eva"].flags == flags


def test_what_could_not_be_graded_follows_the_assignments_points(course: Course, tmp_path: Path) -> None:
    before, _ = grade(course, tmp_path / "grades")
    after = edit(course, "assignment.toml", "points = 4", "points = 5")
    after = edit(after, "checks/test_Standardize.py", "points=2", "points=3")
    results, told = grade(after, tmp_path / "grades")
    assert (before["broken"].max_score, results["broken"].max_score) == (10, 11) and "broken" in told
    assert {one.max_score for one in results.values()} == {11}


@pytest.mark.long
def test_an_exercise_left_out_goes_and_one_taken_back_is_new(course: Course, tmp_path: Path) -> None:
    path = course.root / "solutions" / NAME / "assignment.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + '\n[grading]\nleave_out = ["Standardize"]\n', encoding="utf-8")
    results, told = grade(Course(course.root), tmp_path / "grades")
    assert told == set(CLASS) and results["ada"].max_score == 6
    assert results["ada"].moved == (Move("Standardize", 4, 0, ("It is left out now.",)),)
    path.write_text(text, encoding="utf-8")
    results, _ = grade(Course(course.root), tmp_path / "grades")
    assert results["ada"].moved == (Move("Standardize", 0, 4, ("It is new.",)),) and results["ada"].score == 10
