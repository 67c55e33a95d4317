"""Each attack of `attacks/` gains nothing, costs its own submission at most, and leaves nothing to the next one."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from attack_support import ATTACKS, Attack, base_notebook, submission
from test_sandbox import processes_of

from autograder.course import Course, Source
from autograder.grading.submission import Grader
from autograder.results import SubmissionResult

PLACES = (Path("/tmp"), Path("/dev/shm"), Path.home(), Path.home() / ".ipython/profile_default/startup")
PLANTED = ("ran", "it-ran", "planted", "planted.py", "00.py", "torch.py", "results.json", ".pythonrc", "grades.csv")


def scores(result: SubmissionResult) -> dict[str, float]:
    return {one.name: one.score for one in result.exercises}


def plain(result: SubmissionResult) -> SubmissionResult:
    return replace(result, seconds=0.0, sha256="")


@pytest.fixture(scope="module")
def without(course: Course, source: Source, grader: Grader) -> Iterator[functools.partial[SubmissionResult]]:
    """The result of a base without any attack, graded once before the first attack."""
    import json

    @functools.cache
    def result(base: str) -> SubmissionResult:
        return plain(grader.grade_bytes("s", json.dumps(base_notebook(course, source, base)).encode()))

    for base in ("solved", "stubs", "wrong"):
        result(base)
    assert (result("solved").score, result("stubs").score) == (100, 0)
    yield functools.partial(result)


def test_there_are_attacks_enough() -> None:
    assert len(ATTACKS) >= 40
    assert all(attack.hope.endswith(".") for attack in ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gains_nothing_and_costs_only_its_own(
    attack: Attack, course: Course, source: Source, grader: Grader, without: functools.partial[SubmissionResult]
) -> None:
    before = len(processes_of(grader._sandbox))
    result = grader.grade_bytes("s", submission(course, source, attack))
    assert result.status == "graded", result.reason
    base, got = scores(without(attack.base)), scores(result)
    lost = {name for name in got if got[name] < base[name]}
    if attack.lost == "no gain":
        assert all(got[name] <= base[name] for name in got), {name: got[name] for name in got if got[name] > base[name]}
    elif attack.lost.startswith("at most"):
        assert result.score is not None and result.score <= float(attack.lost.removeprefix("at most")), got
    elif attack.lost == "all":
        assert result.score == 0
    elif attack.lost != "own":
        assert lost == (set() if attack.lost == "nothing" else set(attack.lost.split()))
    assert all(got[name] <= base[name] for name in got) or attack.base == "stubs"
    messages = [check.message for one in result.exercises for check in one.checks]
    assert not attack.says or any(attack.says in message for message in messages), messages
    assert not attack.flag or any(attack.flag in flag for flag in result.flags), result.flags
    # The next one, on the same worker, is what it was.
    assert plain(grader.grade_bytes("s", _honest(course, source))) == without("solved")
    assert len(processes_of(grader._sandbox)) == before
    assert not [place / name for place in PLACES for name in PLANTED if (place / name).exists() and _ours(place / name)]


@functools.cache
def _honest_bytes(root: Path) -> bytes:
    import json

    course = Course(root)
    return json.dumps(base_notebook(course, course.source("multi_head_attention"), "solved")).encode()


def _honest(course: Course, source: Source) -> bytes:
    return _honest_bytes(course.root)


def _ours(path: Path) -> bool:
    return path.stat().st_mtime > _STARTED and path.stat().st_uid in (os.getuid(), 65534)


_STARTED = Path("/proc/self").stat().st_mtime if Path("/proc/self").exists() else 0.0
