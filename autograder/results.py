"""What grading says: plain data, and its JSON and CSV. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

CheckStatus = Literal["passed", "failed", "blocked"]
Status = Literal["graded", "ungradable", "error"]

STAGES = (
    "loads", "shape", "values", "mask", "gradients", "side effects", "train/eval", "dtype", "device",
)  # fmt: skip
GATING_STAGES = ("loads", "shape", "values")  # while one fails for a function, its later checks are blocked


@dataclass(frozen=True)
class CheckResult:
    """One rule's outcome. `points` is what the check is worth, whatever its status.

    rule: the rule as a sentence. message: what was expected and what came. hint: what to try.
    misconception: the name of the wrong answer that gives the same observation; says: its words.
    narrows: where no wrong answer is known to do the same, what the checks say together of where the fault lies.
    chapter: the book's page to reread ("" for none). blocked_by: the exercise that blocks it ("" for none).
    picture: small table of expected beside got for the panel, or None.

    In `message`, `hint`, `says` and `narrows` a blank line parts paragraphs, lines indented by four spaces are code,
    and text between backticks is code. Each paragraph of `hint` is a layer of its own, opened one after the other.

    A picture is JSON-ready: {"kind": "table", "expected": [[...]], "got": [[...]]}, rows of numbers or short strings
    (None where there is no value; at most 12 by 12 are drawn), and, each of them optional:
      "at": what is held fixed, as the learner reads it: ["B 0", "h 2"]
      "row_label", "column_label": what rows and columns are: "query", "key"
      "rows", "columns": their labels; 0, 1, 2, ... where not given. A shape is one row with columns B, h, T, d_k.
      "differs": [[bool]] for the cells to mark; where not given, those that read differently
      "cut": True where the tensor goes on beyond what is shown
    """

    name: str
    stage: str
    status: CheckStatus
    points: float
    message: str = ""
    hint: str = ""
    misconception: str | None = None
    rule: str = ""
    says: str = ""
    chapter: str = ""
    blocked_by: str = ""
    picture: Mapping[str, Any] | None = None
    narrows: str = ""


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise: the sum over its passed checks, and which pieces it was judged with.

    attempted: False when the stub is untouched, or nothing of the answer is there. missing: functions that are not
    there, where no exception says why. judged_by: digests of what the verdict rests on, by their names.
    """

    name: str
    score: float
    max_score: float
    judged_with: Literal["own", "stand-ins"] = "own"
    checks: Sequence[CheckResult] = ()
    attempted: bool = True
    title: str = ""
    judged_by: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[str] = ()


@dataclass(frozen=True)
class Move:
    """A score that is not what an earlier run gave. why: what changed since, as sentences."""

    exercise: str
    before: float
    after: float
    why: Sequence[str] = ()


@dataclass(frozen=True)
class SubmissionResult:
    """One submission, as `students/STUDENT.json` holds it. `score` is None unless `status` is "graded".

    moved: the exercises whose scores changed when a run went on in the folder of an earlier one.
    """

    student: str
    assignment: str
    status: Status
    max_score: float
    score: float | None = None
    reason: str | None = None
    exercises: Sequence[ExerciseResult] = ()
    flags: Sequence[str] = ()
    isolation: Literal["namespaces", "none"] = "none"
    seed: int = 0
    seconds: float = 0.0
    sha256: str = ""
    layers: Mapping[str, bool] = field(default_factory=dict)
    moved: Sequence[Move] = ()

    def as_json(self) -> dict[str, Any]:
        """The contract's JSON object (shown in the instructors' page), ready for `json.dumps`."""
        return asdict(self)


def total(exercises: Sequence[ExerciseResult]) -> float:
    """Sum of the exercises' scores, rounded to two decimals as every score is."""
    return round(sum(exercise.score for exercise in exercises), 2)


def passed(checks: Sequence[CheckResult]) -> float:
    """An exercise's score: the sum over its passed checks, rounded in the same way."""
    return round(sum(check.points for check in checks if check.status == "passed"), 2)
