"""Submissions on this machine's GPU: what the reports on devices say of each, beside grading and without points."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from autograder import collecting
from autograder.checking import Rule
from autograder.course import Source
from autograder.exporting import defused
from autograder.grading.finding import Found
from autograder.grading.submission import Grader, open_for
from autograder.grading.writing import write_whole
from autograder.language import _
from autograder.notebooks import Unreadable, read
from autograder.observations import Job, Limits
from autograder.results import ExerciseResult

FILE = "cuda.csv"
# CUDA takes seconds to start in each process, reserves far more addresses than it uses, and opens many files.
LIMITS = Limits(cpu_seconds=60, step_seconds=30.0, wall_seconds=90.0, memory_bytes=0, open_files=512)
_TRIAL = "import torch\ntorch.zeros(1, device='cuda').item()"


class NoGpu(Exception):
    """Nothing can be tried on a GPU. The message is a sentence."""


@dataclass(frozen=True)
class OnGpu:
    """What came of one exercise of one student on the GPU. finding: "" where it gives what the CPU gives."""

    student: str
    exercise: str
    finding: str


def on_gpu(source: Source, found: Sequence[Found], *, seed: int, unsandboxed: bool) -> Iterator[OnGpu]:
    """Every submission's exercises that have reports on devices, one after the other in one process.

    Learners' code reaches the devices of the GPUs here, which it does not where it is graded. Raises `NoGpu` where
    there is none, or none to be reached from inside the sandbox.
    """
    if not torch.cuda.is_available():
        raise NoGpu(_("there is no CUDA GPU here, so parity of CPU and GPU was not tried"))
    rules = [rule for rule in collecting.collect(source.assignment) if _on_devices(rule)]
    with open_for(source, unsandboxed=unsandboxed, gpu=LIMITS) as sandbox:
        outcome = sandbox.run(Job([_TRIAL], ()))
        problem = next(iter(outcome.problems), None)
        if problem is not None or outcome.death is not None:
            why = f"{problem.kind}: {problem.message}" if problem else outcome.death.detail if outcome.death else ""
            words = _("the GPU cannot be used inside the sandbox, so parity of CPU and GPU was not tried ({why})")
            raise NoGpu(words.format(why=why.splitlines()[0][:200] if why else "–"))
        grader = Grader(source, rules, sandbox, seed)
        for one in found:
            try:
                cells = read(one.read(), source.assignment).cells
            except Unreadable as unreadable:
                yield OnGpu(one.student, "", str(unreadable))
                continue
            for exercise in dict.fromkeys(rule.exercise for rule in rules):
                yield OnGpu(one.student, exercise, _finding(grader.judge_exercise_alone(cells, exercise)))


def _on_devices(rule: Rule) -> bool:
    return rule.stage.report and rule.stage.name == "device"


def _finding(result: ExerciseResult) -> str:
    """The first thing that is said of the exercise, in one line."""
    messages = [check.message for check in result.checks if check.message]
    return " ".join(messages[0].split("\n\n")[0].split()) if messages else ""


def write_findings(folder: Path, findings: Sequence[OnGpu]) -> Path:
    """`cuda.csv` beside the grades: what was found, and for whom."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["student", "exercise", "on the GPU"])
    table.writerows(
        [defused(one.student), one.exercise, defused(one.finding or _("as on the CPU"))] for one in findings
    )
    write_whole(folder / FILE, text.getvalue())
    return folder / FILE
