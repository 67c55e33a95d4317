"""Hand-written results for the tests of pages and exports: every status, and strings that try to break a page."""

from __future__ import annotations

import random
from collections.abc import Iterator

from autograder.results import STAGES, CheckResult, ExerciseResult, SubmissionResult, total

SCRIPT = '<script>window.ran = 1</script><img src="https://evil.example/x" onerror="window.ran = 1">'
RIGHT_TO_LEFT = "\u202eשלום olleh\u202c"
LONG = "n" * 200
EMOJI = "👩‍🔬🎉"

CHAPTERS = {
    "splitting-heads": ("Splitting heads", "https://book.example/splitting-heads.html"),
    "one-attention": ("One attention", "one-attention.html"),
    "masks": ("Masks for many heads", ""),
    "evil": ("Evil", "javascript:window.ran=1"),
}


def chapter_link(chapter: str) -> tuple[str, str]:
    return CHAPTERS.get(chapter, (chapter, ""))


PICTURE = {
    "kind": "table",
    "at": ["B 0", "h 1"],
    "row_label": "T",
    "column_label": "d_k",
    "expected": [[0.1234, -1.5, 2.0, 0.25], [1.0, 0.5, -0.75, 3.0]],
    "got": [[0.1234, 0.5, 2.0, -0.3], [1.0, 0.5, -0.75, 3.0]],
    "differs": [[False, True, False, True], [False, False, False, False]],
    "cut": True,
}


def failing() -> ExerciseResult:
    """The first failure in the order of stages is not the first in the list."""
    return ExerciseResult(
        "split_heads",
        4.0,
        10.0,
        title="Split the heads",
        checks=[
            CheckResult(
                "gradients", "gradients", "failed", 2.0, "Expected a gradient. Got none.", rule="Gradients arrive."
            ),
            CheckResult(
                "columns",
                "values",
                "failed",
                3.0,
                "Expected `x[0, 0, 4:8]` in head 1. Got numbers of tokens 1 and 2.\n\n    return x.view(B, h, T, d_k)",
                "Cut the last axis first: `(B, T, h, d_k)`.\n\nThen move the head axis with `transpose(1, 2)`.",
                misconception="view-without-transpose",
                says="The tensor was viewed straight as (B, h, T, d_k): each head holds whole tokens.",
                rule="Head i holds columns i·d_k to (i+1)·d_k - 1 of every token.",
                chapter="splitting-heads",
                picture=PICTURE,
            ),
            CheckResult("device", "device", "blocked", 1.0, rule="It works where its input lies."),
            CheckResult("loads", "loads", "passed", 1.0, rule="`split_heads` takes a tensor and a number."),
            CheckResult("shape", "shape", "passed", 3.0, rule="(B, T, d_model) becomes (B, h, T, d_k)."),
            CheckResult("half", "dtype", "passed", 0.0, "float16: nothing overflows here.", rule="Half precision."),
        ],
    )


def full() -> ExerciseResult:
    checks = [CheckResult(f"rule_{i}", s, "passed", 2.0, rule=f"Rule {i} holds.") for i, s in enumerate(STAGES)]
    return ExerciseResult("MultiHeadedAttention", 18.0, 18.0, "stand-ins", checks)


def blocked() -> ExerciseResult:
    check = CheckResult(
        "silent", "values", "blocked", 5.0, rule="Head 2 adds nothing.", blocked_by="MultiHeadedAttention"
    )
    return ExerciseResult("silence_head", 0.0, 5.0, checks=[check])


def untouched() -> ExerciseResult:
    checks = [CheckResult("same", "values", "failed", 5.0, "Nothing here yet.", rule="Both compute the same.")]
    return ExerciseResult("load_torch_weights", 0.0, 5.0, checks=checks, attempted=False)


def hostile() -> ExerciseResult:
    picture = {
        "kind": "table",
        "at": [SCRIPT],
        "row_label": SCRIPT,
        "column_label": LONG,
        "rows": [SCRIPT] * 30,
        "expected": [[SCRIPT, LONG, float("nan"), None] * 9] * 30,
        "got": [[1.0]],
    }
    return ExerciseResult(
        SCRIPT + LONG,
        0.5,
        12.25,
        title=RIGHT_TO_LEFT + EMOJI + LONG,
        checks=[
            CheckResult(
                SCRIPT,
                "values",
                "failed",
                1.5,
                f"{SCRIPT}\x1b[31m{RIGHT_TO_LEFT}\n\n    z = {'1+' * 400}{SCRIPT}\n\n`{SCRIPT}` {'y' * 9000}",
                SCRIPT,
                misconception=SCRIPT,
                says=RIGHT_TO_LEFT + SCRIPT,
                rule=f"{SCRIPT} `{SCRIPT}` {EMOJI}",
                chapter="evil",
                picture=picture,
            ),
            CheckResult("b", SCRIPT, "failed", 0.0, rule="R" * 300, chapter=SCRIPT),
            CheckResult("c", "mask", "blocked", 1.0, rule=SCRIPT, blocked_by=SCRIPT),
        ],
    )


def everything() -> list[ExerciseResult]:
    return [full(), failing(), hostile(), blocked(), untouched()]


def graded(student: str = "ada", exercises: list[ExerciseResult] | None = None) -> SubmissionResult:
    exercises = everything() if exercises is None else exercises
    return SubmissionResult(
        student,
        "multi_head_attention",
        "graded",
        100.0,
        total(exercises),
        exercises=exercises,
        flags=[f"`F.scaled_dot_product_attention` is named in {student}.ipynb.", SCRIPT],
        seed=7,
        seconds=0.21,
        sha256="ab" * 32,
    )


def ungradable(student: str = "bob") -> SubmissionResult:
    reason = f"{student}.ipynb is not a notebook: it is empty. {SCRIPT}"
    return SubmissionResult(student, "multi_head_attention", "ungradable", 100.0, reason=reason)


def error(student: str = "eve") -> SubmissionResult:
    reason = "The sandbox did not start three times in a row."
    return SubmissionResult(student, "multi_head_attention", "error", 100.0, reason=reason)


EXERCISES = {"predict": 8.0, "attention": 15.0, "clones": 8.0, "split_heads": 10.0, "masks": 12.0, "merge_heads": 10.0}


def class_of(students: int, seed: int = 1) -> Iterator[SubmissionResult]:
    """A class: the able pass more; one in 40 cannot be graded, one in 97 fails on our side."""
    chance = random.Random(seed)
    for i in range(students):
        student = f"student-{i:05d}" if i % 7 else f"Müller, Ännchen {i} 金"
        if i % 40 == 11:
            yield ungradable(student)
            continue
        if i % 97 == 50:
            yield error(student)
            continue
        able = chance.betavariate(3, 1.3)
        exercises = []
        for name, worth in EXERCISES.items():
            attempted = chance.random() < 0.5 + able / 2
            checks = []
            for j in range(4):
                passed = attempted and chance.random() < (0.4 + able / 2 if (name, j) != ("masks", 3) else 0.5)
                checks.append(
                    CheckResult(
                        f"rule_{j}",
                        STAGES[j],
                        "passed" if passed else "failed",
                        worth / 4,
                        "" if passed else "Expected 3. Got 4.",
                        misconception="softmax-over-queries" if attempted and not passed and j == 2 else None,
                        says="The softmax ran over the queries." if attempted and not passed and j == 2 else "",
                        rule=f"Rule {j} of `{name}` holds for every input.",
                        chapter="one-attention",
                    )
                )
            score = round(sum(check.points for check in checks if check.status == "passed"), 2)
            exercises.append(ExerciseResult(name, score, worth, checks=checks, attempted=attempted))
        flags = [f"`nn.MultiheadAttention` is named in {student}.ipynb."] if i % 25 == 3 else []
        yield SubmissionResult(
            student, "multi_head_attention", "graded", 63.0, total(exercises), exercises=exercises, flags=flags
        )
