"""The learner's `check()`: the recorded rules on the learner's own code, in the learner's own kernel."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder import collecting, probes, recordings
from autograder.checking import Rule
from autograder.comparing import equal_replies
from autograder.course import SETTINGS, Assignment, CourseError
from autograder.grading.judging import Evidence, block_dependents, judge_exercise
from autograder.interrupting import StoppedIn
from autograder.language import _
from autograder.observations import Problem, Reply
from autograder.pages.panel import panel_html, panel_text
from autograder.recordings import Recording
from autograder.results import ExerciseResult, total
from autograder.routes import Traced, trace_request, traced


class CheckError(Exception):
    """`check()` cannot run at all. Shown as its sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Checked:
    """What `check()` found. In a notebook it shows itself as a panel; `repr` is the points earned."""

    assignment: Assignment
    exercises: Sequence[ExerciseResult]
    is_total: bool
    trace: Traced | None = None
    note: str = ""

    @property
    def score(self) -> float:
        """Points earned."""
        return total(self.exercises)

    @property
    def max_score(self) -> float:
        """Points that could be earned."""
        return sum(exercise.max_score for exercise in self.exercises)

    @property
    def passed(self) -> bool:
        """Full marks."""
        return self.score >= self.max_score

    def __repr__(self) -> str:
        return f"{self.score:g}"

    @property
    def _offer(self) -> str:
        """The exercise whose trace is worth a look, "" where none is."""
        if len(self.exercises) != 1 or self.trace is not None or self.passed or not self.exercises[0].attempted:
            return ""
        return self.exercises[0].name if self.exercises[0].name in self.assignment.traces else ""

    @property
    def _call(self) -> str:
        """How the trace is asked for in Python, "" where none is offered."""
        return f'check("{self._offer}", trace=True)' if self._offer else ""

    def _repr_html_(self) -> str:
        return panel_html(
            self.exercises,
            chapter_link=self.assignment.chapter_link,
            recorded=True,
            total=self.is_total,
            trace=self.trace,
            offer=self._call,
            note=self.note,
        )

    def text(self, notebook: Path | None = None) -> str:
        """The panel for a terminal. notebook: the file that `autograder check` was given."""
        return panel_text(
            self.exercises,
            chapter_link=self.assignment.chapter_link,
            recorded=True,
            total=self.is_total,
            trace=self.trace,
            offer=_command(notebook, self._offer) if notebook and self._offer else self._call,
            note=self.note,
        )


def _command(notebook: Path, exercise: str) -> str:
    """How a terminal asks for an exercise's trace."""
    file = f'"{notebook}"' if " " in str(notebook) else str(notebook)
    return f"autograder check {file} {exercise} --trace"


class _Silence:
    """While true, `check()` in a notebook's own cells does nothing: `autograder check` runs them itself."""

    on = False


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Within this block a notebook's own calls of `check()` do nothing."""
    before, _Silence.on = _Silence.on, True
    try:
        yield
    finally:
        _Silence.on = before


def find_assignment(start: Path) -> Assignment:
    """The assignment whose notebook lies in `start`, above it, or in a folder right below. Raises `CourseError`."""
    for folder in (start, *start.parents):
        if (folder / SETTINGS).is_file() and (folder / "recordings").is_dir():
            return Assignment.read(folder)
    below = [path.parent for path in sorted(start.glob(f"*/{SETTINGS}")) if (path.parent / "recordings").is_dir()]
    if len(below) == 1:
        return Assignment.read(below[0])
    raise CourseError(
        _(
            "The checks are not here: expected the file {file} and the folders checks and recordings beside the "
            "notebook, in {folder}. Unpack the whole zip into one folder, open the notebook there, and run the cell "
            "again."
        ).format(file=SETTINGS, folder=start)
    )


def _folder_of_notebook(names: Mapping[str, Any]) -> Path:
    editor = names.get("__vsc_ipynb_file__")  # VS Code may start the kernel in another folder
    return Path(editor).parent if isinstance(editor, str) else Path.cwd()


@lru_cache(maxsize=4)
def _load(folder: Path, stamp: float) -> tuple[Assignment, Sequence[Rule], Recording, Mapping[str, Any]]:
    assignment = Assignment.read(folder)
    rules = collecting.collect(assignment)
    return assignment, rules, recordings.load(assignment, rules), probes.load_probes(assignment.probes)


def load(assignment: Assignment) -> tuple[Assignment, Sequence[Rule], Recording, Mapping[str, Any]]:
    """Rules, recording and probes of the learner's copy, kept until its files change. Raises `CourseError`."""
    files = [assignment.folder / SETTINGS, *assignment.checks.glob("*.py"), *assignment.recordings.glob("*")]
    return _load(assignment.folder, max(path.stat().st_mtime for path in files))


def _names() -> dict[str, Any]:
    shell = _shell()
    if shell is not None:
        return shell.user_ns  # type: ignore[no-any-return]
    return vars(sys.modules["__main__"])


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def _refuse_unguarded_grading(folder: Path) -> None:
    """Inside the instructor's course, nbgrader without our settings would run strangers' code unprotected."""
    if os.environ.get("NBGRADER_EXECUTION") != "autograde":
        return
    for parent in (folder, *folder.parents):
        if (parent / "solutions").is_dir():
            raise CheckError(
                _(
                    "nbgrader runs this notebook without the autograder's own step, so without its protection. Run "
                    "nbgrader in {folder}, where nbgrader_config.py stands, or use `autograder grade`."
                ).format(folder=parent)
            )


def try_exercises(
    assignment: Assignment,
    names: dict[str, Any],
    exercise: str | None = None,
    problems: Mapping[str, Problem] | None = None,
    *,
    trace: bool = False,
    tell: Callable[[str], object] = lambda exercise: None,
) -> Checked:
    """Observe and judge the answers in `names` on the recorded inputs. Raises `CourseError` and `CheckError`.

    trace: follow the inputs through the answer as well. tell: hears which exercise is observed next. Where Ctrl-C or a
    notebook's stop button ends an answer, `StoppedIn` says which.
    """
    assignment, rules, recording, functions = load(assignment)
    if exercise is not None and exercise not in assignment.by_name:
        raise CheckError(
            _("There is no exercise {name}. The exercises are: {known}.").format(
                name=repr(exercise), known=", ".join(assignment.by_name)
            )
        )
    note = ""
    if trace and exercise not in assignment.traces:
        note = _no_trace(assignment, exercise)
        if exercise is None:
            raise CheckError(note)
    wanted = list(assignment.by_name) if exercise is None else [*assignment.needs_of(exercise), exercise]
    replies: dict[int, Reply] = {}
    plan = recording.plan
    sink = io.StringIO()
    with (
        contextlib.redirect_stdout(sink),
        contextlib.redirect_stderr(sink),
        warnings.catch_warnings(),
        probes.randomness_kept(),
    ):
        warnings.simplefilter("ignore")
        for position in recording.positions(wanted):
            tell(plan[position].exercise)
            with _told_where_stopped(plan[position].exercise, names):
                replies[position] = probes.observe(functions, names, plan[position])
        way = None
        if trace and exercise and not note:
            with _told_where_stopped(exercise, names):
                way = _trace(assignment, recording, functions, names, exercise, replies)
    evidence = Evidence(
        replies=recording.by_check(replies),
        defined=_defined(names),
        problems=problems or {},
        stubs=frozenset(name for name in assignment.exercise_of_function if _holds_stub(names.get(name))),
    )
    results = {
        name: judge_exercise(
            assignment.by_name[name], rules, recording, evidence, lambda asked: recording.wrong.get(asked, ())
        )
        for name in wanted
    }
    results = block_dependents(assignment, results)
    shown = list(results.values()) if exercise is None else [results[exercise]]
    return Checked(assignment, shown, exercise is None, way, note)


@contextlib.contextmanager
def _told_where_stopped(exercise: str, names: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as problem:
        what = _("the check of {exercise}").format(exercise=exercise)
        raise StoppedIn(where_stopped(what, probes.problem_of(problem, names))) from None


def where_stopped(what: str, problem: Problem) -> str:
    """The sentence on what was stopped, and in which line of the learner's own. what: as a sentence goes on."""
    if not problem.lines:
        return _("Stopped in {what}, outside your own code.").format(what=what)
    line = problem.lines[-1]
    return _(
        "Stopped in {what}, at your line {number}, `{text}`. If it was not just slow, look there, and in the lines "
        "around it, for a loop that never ends."
    ).format(what=what, number=line.number, text=line.text.strip())


def _no_trace(assignment: Assignment, exercise: str | None) -> str:
    """Why there is no trace, and of what there is one."""
    if not assignment.traces:
        return _("No exercise here can be traced.")
    known = ", ".join(assignment.traces)
    if exercise is None:
        return _("A trace follows one exercise. Name one of these, which can be traced: {known}.").format(known=known)
    return _("{name} cannot be traced. These exercises can: {known}.").format(name=exercise, known=known)


def _defined(names: Mapping[str, Any]) -> frozenset[str]:
    """Callable names of the notebook: among them may be one that is misspelt."""
    return frozenset(
        name for name, thing in names.items() if type(name) is str and not name.startswith("_") and callable(thing)
    )


def _holds_stub(thing: Any) -> bool:
    """A function, or a class with a method, that may raise `NotImplementedError`."""
    functions = vars(thing).values() if isinstance(thing, type) else [thing]
    return any(
        "NotImplementedError" in function.__code__.co_names
        for function in functions
        if isinstance(function, types.FunctionType)
    )


def _trace(
    assignment: Assignment,
    recording: Recording,
    functions: Mapping[str, Any],
    names: dict[str, Any],
    exercise: str,
    replies: Mapping[int, Reply],
) -> Traced:
    """The learner's way through the first of the trace's checks whose first reply differs from the reference's."""
    trace = assignment.traces[exercise]
    by_check = recording.by_check(replies)
    checks = [f"{exercise}/{name}" for name in trace.checks]
    first: dict[str, Reply] = {name: reply for name in checks if (reply := by_check[name][0]) is not None}
    wrong = [name for name in checks if not equal_replies(first[name], recording.takes[name].replies[0])]
    chosen = (wrong or checks)[0]
    request = trace_request(recording, chosen, trace)
    reply = probes.observe(functions, names, request)
    expected = recording.takes[chosen].replies[0]
    return traced(request, reply.value, trace, recording.ways.get(chosen, ()), bool(wrong), first[chosen], expected)


def check_in_notebook(exercise: str | None, *, trace: bool = False) -> Checked:
    """What `autograder.check` does."""
    if _Silence.on:
        return None  # type: ignore[return-value]
    names = _names()
    folder = _folder_of_notebook(names)
    _refuse_unguarded_grading(folder)
    try:
        checked = try_exercises(find_assignment(folder), names, exercise, trace=trace)
    except CourseError as problem:
        raise CheckError(str(problem)) from None
    shell = _shell()
    if shell is None or not hasattr(shell, "kernel"):  # a terminal: no panel would be drawn
        print(checked.text())
    return checked
