"""Both courses are proven by `verify`, and `verify` itself is able to fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder import cli
from autograder.course import Course, CourseError
from autograder.verifying import Verdict, verify

ROOT = Path(__file__).parents[1]
SECOND = Path(__file__).parent / "second_course"


def proven(course: Course, seeds: range, name: str | None = None) -> Verdict:
    return verify(course, name, seeds, lambda text: None)


@pytest.fixture
def second(tmp_path: Path) -> Course:
    """A copy of the second course, to be spoilt."""
    return Course(
        shutil.copytree(SECOND, tmp_path / "course", ignore=shutil.ignore_patterns("exercises", "build", "dist"))
    )


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_course_holds_on_two_seeds(course: Course) -> None:
    verdict = proven(course, range(1, 3))
    assert verdict.holds, "\n".join(verdict.broken)


@pytest.mark.long
def test_the_course_holds_on_ten_seeds(course: Course) -> None:
    verdict = proven(course, range(1, 11))
    assert verdict.holds, "\n".join(verdict.broken)


def test_every_exercise_has_its_banks(course: Course) -> None:
    source = course.source()
    for exercise in source.assignment.by_name:
        assert sum(one.exercise == exercise for one in source.wrong) >= 6, exercise
        assert sum(one.exercise == exercise for one in source.right) >= 1, exercise
    assert len(source.wrong) >= 75 and len(source.right) >= 35
    assert {one.misconception for one in source.wrong} == set(source.misconceptions), (
        "a misconception without an answer"
    )


def test_a_course_that_has_nothing_to_do_with_attention_holds(second: Course) -> None:
    verdict = proven(second, range(1, 4))
    assert verdict.holds, "\n".join(verdict.broken)


def test_the_engine_names_no_exercise() -> None:
    names = {name for course in (Course(ROOT), Course(SECOND)) for source in course.sources.values()
             for name in source.assignment.exercise_of_function}  # fmt: skip
    for path in (ROOT / "autograder").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name in names - {"attention", "clones", "split_heads"}:  # words of examples in docstrings
            assert name not in text, f"{path.name} names {name}"


def spoil(course: Course) -> Path:
    return next(iter(course.sources.values())).assignment.folder


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (
            "right/moving_average/cumulative_sums.py",
            "return",
            "return 2 *",
            "right/moving_average/cumulative_sums loses",
        ),
        ("standins.py", "def moving_average", "def average", "needs moving_average, which standins.py lacks"),
        ("smoothing.py", '"points": 6', '"points": 7', "is worth 6 in assignment.toml, 7.0 in its check cell"),
    ],
)
def test_verify_says_what_does_not_hold(second: Course, file: str, old: str, new: str, words: str) -> None:
    edit(spoil(second) / file, old, new)
    verdict = proven(Course(second.root), range(1, 2))
    assert not verdict.holds and any(words in sentence for sentence in verdict.broken), verdict.broken


def test_verify_refuses_a_wrong_answer_that_passes(second: Course) -> None:
    folder = spoil(second)
    source = next(iter(Course(second.root).sources.values()))
    wrong, right = source.wrong[0], next(one for one in source.right if one.exercise == source.wrong[0].exercise)
    path = folder / "wrong" / wrong.exercise / f"{wrong.name}.py"
    path.write_text(f"# misconception: {wrong.misconception}\n# In truth right.\n{right.code}", encoding="utf-8")
    verdict = proven(Course(second.root), range(1, 2))
    assert any("fails no check that has points" in sentence for sentence in verdict.broken), verdict.broken


def test_verify_refuses_a_wrong_answer_named_by_another(second: Course) -> None:
    folder = spoil(second)
    source = next(iter(Course(second.root).sources.values()))
    one = source.wrong[0]
    other = next(name for name in source.misconceptions if name != one.misconception)
    copy = folder / "wrong" / one.exercise / "a_copy.py"
    copy.write_text(
        one.code.replace(f"misconception: {one.misconception}", f"misconception: {other}"), encoding="utf-8"
    )
    verdict = proven(Course(second.root), range(1, 2))
    assert any("should be named" in sentence for sentence in verdict.broken), verdict.broken


def test_a_reference_that_fails_its_own_check_is_the_courses_fault(second: Course) -> None:
    source = next(iter(second.sources.values()))
    edit(source.notebook, "### BEGIN SOLUTION", "### BEGIN SOLUTION\n    raise ValueError")
    with pytest.raises(CourseError, match=r"reference fails|solved notebook"):
        proven(Course(second.root), range(1, 2))


def test_the_command_says_in_numbers_what_holds(
    second: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(second.root)
    assert cli.main(["verify", "--seeds", "1"]) == 0
    out = capsys.readouterr().out
    assert "wrong answers refused and named" in out and out.rstrip().endswith("The course holds.")
