"""Grades one submission where Gradescope runs its containers: `python -I -m autograder.gradescope.running /autograder`.

    ROOT/source/       the package, unpacked      ROOT/submission/   what the student handed in
    ROOT/venv/         made by setup.sh           ROOT/results/results.json   what this writes

The container is thrown away after each submission, but the solutions lie in it. So a submission runs in our sandbox.
Where the container lets nobody make namespaces, nothing is graded, unless the instructor chose otherwise when the
package was made: then it runs as a user of its own, who cannot read the course.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import collecting, notebooks
from autograder.course import Course, CourseError, Source
from autograder.exporting import gradescope_results, results_json
from autograder.gradescope.packaging import PACKAGE
from autograder.grading.class_run import draw_seed, grade_found
from autograder.grading.finding import find_one
from autograder.grading.submission import Grader
from autograder.language import _
from autograder.notebooks import Unreadable
from autograder.observations import Job, Limits, Outcome
from autograder.pages.verdict import verdict_text
from autograder.results import SubmissionResult
from autograder.sandbox import NoIsolation, Sandbox, SandboxError
from autograder.sandbox.namespaces import unowned_id

STUDENT = "submission"  # Gradescope knows whose it is
MOST_PROCESSES = 256  # of the other user, threads included


@dataclass(frozen=True)
class Choices:
    """What the instructor chose when the package was made."""

    assignment: str
    unsandboxed: bool
    visibility: str


def main() -> int:
    """Grade what was handed in. Returns 0 when a result was written, whatever it says."""
    root = Path(sys.argv[1])
    try:
        results = _results(root)
    except (CourseError, SandboxError) as problem:
        print(problem)
        results = _not_graded()
    except Exception:
        traceback.print_exc(file=sys.stdout)
        results = _not_graded()
    folder = root / "results"
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_text(results_json(results), encoding="utf-8")
    return 0


def _results(root: Path) -> dict[str, Any]:
    source_folder = root / "source"
    choices = Choices(**json.loads((source_folder / PACKAGE).read_text(encoding="utf-8")))
    source = Course(source_folder / "course").source(choices.assignment)
    found = find_one(root / "submission", STUDENT, choices.assignment)
    try:
        notebooks.read(found.read(), source.assignment)
    except Unreadable as problem:
        print(problem)
        return _not_graded(str(problem))
    with _grader(source, root, choices.unsandboxed) as grader:
        result = grade_found(grader, found)
    _tell(result, source)
    return gradescope_results(result, visibility=choices.visibility, chapter_link=source.assignment.chapter_link)


def _not_graded(reason: str = "") -> dict[str, Any]:
    """For the student. Where no reason is given it stands in what was printed, which instructors see."""
    sentence = _(
        "This submission could not be graded, and that is not your fault. It is not a zero: your instructor sees why."
    )
    return {
        "output": reason or sentence,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [],
    }


def _tell(result: SubmissionResult, source: Source) -> None:
    """For the instructor."""
    print(verdict_text(result, None, source.assignment.chapter_link))
    for flag in result.flags:
        print(flag)
    print(_("Isolation: {isolation}.").format(isolation=result.isolation))


@contextlib.contextmanager
def _grader(source: Source, root: Path, unsandboxed: bool) -> Iterator[Grader]:
    """The grader for this container. Raises `NoIsolation` with what the instructor can do."""
    seed = draw_seed()
    with contextlib.ExitStack() as stack:
        try:
            grader = stack.enter_context(Grader.open(source, seed=seed))
        except NoIsolation as problem:
            if not unsandboxed:
                raise NoIsolation(
                    _(
                        "{problem} So a submission could read the solutions here, and none is graded. To grade all the "
                        "same, each as a user who cannot read the course, make the package with "
                        "`autograder package gradescope --unsandboxed` and upload it again."
                    ).format(problem=problem)
                ) from problem
            print(problem)
            grader = stack.enter_context(_grader_with_other_user(source, root, seed))
        yield grader


# -- where there are no namespaces: another user ----------------------------------------------------------------------


class _OtherUser(Sandbox):
    """Its processes belong to a user who owns nothing. `Sandbox` makes each of them in `_new_zygote` or `run`.

    Root keeps the grader. While a learner's code runs, only the effective user is the other one: what it writes it can
    read, and it can send us no signal.
    """

    def __init__(self, probes: Path, limits: Limits, namespace_code: str, user: int) -> None:
        self._user = user
        super().__init__(probes, limits, True, namespace_code)

    def _new_zygote(self) -> Any:
        with self._as_user(real=True):
            return super()._new_zygote()

    def run(self, job: Job) -> Outcome:
        """Does one job in a fresh child of the other user."""
        with self._as_user(real=False):
            return super().run(job)

    @contextlib.contextmanager
    def _as_user(self, *, real: bool) -> Iterator[None]:
        """real: what is executed meanwhile is the other user for good, since the saved id is lost when it starts."""
        before_user, before_group = os.getresuid(), os.getresgid()
        own = self._user if real else -1
        os.setresgid(own, self._user, -1)
        os.setresuid(own, self._user, -1)
        try:
            yield
        finally:
            os.setresuid(*before_user)
            os.setresgid(*before_group)


class _GraderWithoutSecrets(Grader):
    """Once a learner's code has run, nothing of the solution may enter a process of that user any more."""

    def __init__(self, source: Source, rules: Any, sandbox: Sandbox, seed: int) -> None:
        super().__init__(source, rules, sandbox, seed)
        for exercise in self.assignment.by_name:
            self.wrong_replies(exercise)

    def _stand_ins_hold(self, exercises: Any) -> bool:
        return True  # `autograder verify` has shown it


@contextlib.contextmanager
def _grader_with_other_user(source: Source, root: Path, seed: int) -> Iterator[Grader]:
    user = unowned_id() if os.getuid() == 0 else None
    if user is None:
        raise NoIsolation(_("There is no other user to be: this must be run by root, as Gradescope does."))
    os.setgroups([])
    closed = [root / "source", root / "results"]
    for folder in closed:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o700)
    resource.setrlimit(resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES))
    with tempfile.TemporaryDirectory(prefix="probes-") as temporary:
        probes = Path(temporary) / source.assignment.probes.name
        shutil.copyfile(source.assignment.probes, probes)
        for path in (probes.parent, probes):
            path.chmod(0o755)
        rules = collecting.collect(source.assignment)
        limits = source.assignment.choices.child_limits()
        with _OtherUser(probes, limits, source.assignment.namespace, user) as sandbox:
            _require_closed(sandbox, closed)
            yield _GraderWithoutSecrets(source, rules, sandbox, seed)


def _require_closed(sandbox: Sandbox, folders: Sequence[Path]) -> None:
    """Asks the other user's own process. Raises `NoIsolation` where it can read the course after all."""
    outcome = sandbox.run(Job([f"import os\nos.listdir({str(folder)!r})" for folder in folders], ()))
    if outcome.death is not None or any(one is None or one.kind != "PermissionError" for one in outcome.problems):
        names = ", ".join(map(str, folders))
        raise NoIsolation(_("Another user can read {folders} all the same; nothing is graded.").format(folders=names))


if __name__ == "__main__":
    sys.exit(main())
