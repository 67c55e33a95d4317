"""What stands in `assignment.toml` must make sense: else a sentence says what was expected, and what stands there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from course_copies import SECOND

from autograder import cli, collecting
from autograder.course import Assignment, Course, CourseError

NAME = "smoothing"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    shutil.copytree(SECOND / "solutions", tmp_path / "solutions")
    return Course(tmp_path)


def edited(course: Course, old: str, new: str, file: str = "assignment.toml") -> Course:
    path = course.root / "solutions" / NAME / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return Course(course.root)


POINTS = "points must be a number above 0, at most 10000, with two decimals at most; it is "


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("points = 6", "points = true", f"exercise moving_average: {POINTS}true."),
        ("points = 6", 'points = "six"', f'exercise moving_average: {POINTS}"six".'),
        ("points = 6", "points = -6", f"{POINTS}-6."),
        ("points = 6", "points = 0", f"{POINTS}0."),
        ("points = 6", "points = nan", f"{POINTS}nan."),
        ("points = 6", "points = inf", POINTS),
        ("points = 6", "points = 1e308", f"{POINTS}1e+308."),
        ("points = 6", "points = 6.005", f"{POINTS}6.005."),
        ("points = 6\n", "", "exercise moving_average: points is missing. It must be a number above 0"),
        ("points = 6", "point = 6", "exercise moving_average: point is no setting; did you mean points?"),
        ("points = 6", "points = 6\nfunctions = []", "functions must be a list with one name or more; it is []."),
        ("points = 4", 'points = 4\nfunctions = ["moving_average"]', "both define moving_average"),
        ('needs = ["moving_average"]', 'needs = "moving_average"', 'needs must be a list of names, such as'),
        ('name = "Standardize"', 'name = "../Standardize"', "exercise 2: name must be a name of letters, digits and _"),
        ('name = "Standardize"', "name = 3", "exercise 2: name must be"),
        ('["F.avg_pool1d"]', "[3]", "off_limits must be a list of texts, such as"),
        ('title = "Smoothing a signal"', 'title = ["a"]', 'title must be text in quotation marks; it is ["a"].'),
        ('chapter = "averages"', 'chapter = "avrages"', "avrages, which [chapters] lacks. It has: averages."),
        ("minutes = 10", "minutes = 1.5", "minutes must be a whole number of minutes; it is 1.5."),
        ("from torch import nn", "from torch import", "namespace cannot be run: it is no Python"),
        ("import torch\n", "import torhc\n", "namespace cannot be run: it imports torhc, which is not installed here."),
        ("import torch\n", "from . import x\n", "namespace cannot be run: it imports ., which is not installed here."),
        ("[chapters]", "[grading]\nlimits = 3\n[chapters]", "[grading]: limits must be a table; it is 3."),
        ("[chapters]", "[grading.limits]\ncpu_seconds = 0.5\n[chapters]", "[grading.limits]: cpu_seconds must be"),
        ("[chapters]", "[grading.limits]\nwall_seconds = 1e300\n[chapters]", "from 0.1 to 86400 (a day); it is 1e+300"),
        ("[chapters]", "[grading.limits]\nstep_seconds = 1e300\n[chapters]", "from 0.1 to 86400 (a day); it is 1e+300"),
        ("[chapters]", "[grading.limits]\nstep_seconds = 1e-9\n[chapters]", "step_seconds must be a number of seconds"),
        ("[chapters]", "[grading.limits]\ncpu_seconds = 86401\n[chapters]", "cpu_seconds must be a whole number of"),
        ("[chapters]", "[grading.limits]\nmemory_mb = 99999999\n[chapters]", "memory_mb must be a whole number of"),
        ("[chapters]", "[grading.points]\nmoving_average = nan\n[chapters]", "[grading.points]: moving_average"),
        ("[chapters]", '[trace.moving_average]\nchecks = "one"\n[chapters]', "[trace.moving_average]: checks must be"),
        ("[[exercise]]", "[[exercises]]", "exercises is no setting; did you mean exercise?"),
    ],
)  # fmt: skip
def test_a_setting_without_sense_is_refused_in_a_sentence(course: Course, old: str, new: str, says: str) -> None:
    with pytest.raises(CourseError) as refused:
        edited(course, old, new).source()
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("says =", "say =", "say is no setting; did you mean says?"),
        ('chapter = "averages"', 'chapter = "none"', "the chapter none, which [chapters] lacks"),
    ],
)
def test_so_is_one_of_a_misconception(course: Course, old: str, new: str, says: str) -> None:
    with pytest.raises(CourseError) as refused:
        edited(course, old, new, "wrong/misconceptions.toml").source()
    assert says in str(refused.value) and "misconceptions.toml" in str(refused.value)


def test_a_file_that_is_not_utf_8_is_named(course: Course) -> None:
    path = course.root / "solutions" / NAME / "assignment.toml"
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    with pytest.raises(CourseError, match=r"assignment\.toml is not text in UTF-8"):
        course.source()


def test_a_learner_needs_only_what_the_answers_import(course: Course) -> None:
    edited(course, "import torch\n", "import torhc\n")
    assert Assignment.read(course.root / "solutions" / NAME).max_score == 10


BOTH = "The checks of moving_average are worth 6 points together, but assignment.toml gives the exercise 5."


@pytest.mark.parametrize("command", ["grade", "release", "package", "verify"])
def test_points_that_the_checks_do_not_sum_up_to_are_refused_by_every_command(
    course: Course, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(course, "points = 6", "points = 5")
    (tmp_path / "a.ipynb").write_text("{}", encoding="utf-8")
    call = {"grade": ["grade", "a.ipynb", "--output", "grades"], "package": ["package", "gradescope"]}
    monkeypatch.chdir(course.root)
    assert cli.main(call.get(command, [command])) == cli.WRONG_USAGE
    error = capsys.readouterr().err
    assert BOTH in error and "Write `points = 6` there" in error
    assert not (tmp_path / "build" / f"{NAME}-gradescope.zip").exists()


def test_they_are_spread_where_the_instructor_says_so(course: Course) -> None:
    source = edited(course, "[chapters]", "[grading.points]\nmoving_average = 5\n[chapters]").source()
    rules = collecting.collect(source.assignment)
    assert round(sum(rule.stage.points for rule in rules if rule.exercise == "moving_average"), 9) == 5


@pytest.mark.parametrize("points", ["-1", "float('nan')", "1e308"])
def test_a_check_worth_nonsense_is_refused(course: Course, points: str) -> None:
    source = edited(course, "points=3", f"points={points}", "checks/test_moving_average.py").source()
    with pytest.raises(CourseError, match=r"is worth .* points; expected 0 or more"):
        collecting.collect(source.assignment)


def test_an_exercise_without_checks_is_told_what_to_write(course: Course) -> None:
    (course.root / "solutions" / NAME / "checks" / "test_moving_average.py").unlink()
    with pytest.raises(
        CourseError, match=r"moving_average has no check: expected checks/test_moving_average\.py"
    ) as told:
        collecting.collect(course.source().assignment)
    assert "points = 0" not in str(told.value)


def test_points_that_no_exercise_may_have_are_not_advised(course: Course) -> None:
    path = course.root / "solutions" / NAME / "checks" / "test_moving_average.py"
    path.write_text(re.sub(r"points=\d+", "points=0", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(CourseError) as told:
        collecting.collect(course.source().assignment)
    assert "points = 0" not in str(told.value) and str(told.value).endswith(
        "gives the exercise 6. Change the checks' points in test_moving_average.py."
    )
