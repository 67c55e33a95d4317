"""The checks of an assignment, collected by pytest: once per session, however many submissions go through them."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest

from autograder.checking import Rule, Stage
from autograder.choices import spread
from autograder.course import SETTINGS, Assignment, CourseError, Exercise
from autograder.interrupting import is_interrupt
from autograder.settings import MOST_POINTS, are_points

Result = TypeVar("Result")

# pytest's own comfort, which costs time or touches the folder or the learner's kernel.
_SILENT = [
    "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:logging", "-p", "no:warnings",
    "-p", "no:threadexception", "-p", "no:unraisableexception", "-p", "no:junitxml", "-p", "no:doctest",
    "-p", "no:unittest", "-s", "--noconftest", "--import-mode=prepend", "-c", os.devnull,
]  # fmt: skip


class _Session(Generic[Result]):
    """The pytest plugin that turns collected functions into rules and holds the loop over submissions."""

    def __init__(self, assignment: Assignment, body: Callable[[Sequence[Rule]], Result]) -> None:
        self._assignment, self._body = assignment, body
        self._broken: list[str] = []
        self.result: Result
        self.failure: BaseException | None = None
        self.ended_by: BaseException | None = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        """`sys.exit()` in a check file would end pytest with a page of its own code."""
        outcome: Any = yield
        problem = outcome.excinfo[1] if outcome.excinfo else None
        if isinstance(problem, SystemExit):
            self.ended_by = self.ended_by or problem
            outcome.force_result(pytest.CollectReport(collector.nodeid, "passed", None, []))

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C, or what a check file raises as such."""
        self.ended_by = excinfo.value

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Told in a sentence, instead of a page."""
        self.ended_by = excinfo.value
        return True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._broken.append(str(report.longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self.ended_by is not None:
            return True
        try:
            if self._broken:
                raise CourseError("The checks cannot be collected:\n" + "\n".join(self._broken))
            self.result = self._body(_rules(self._assignment, session.items))
        except BaseException as problem:  # carried out of pytest, which would print or swallow it
            self.failure = problem
        return True


def _rules(assignment: Assignment, items: Sequence[pytest.Item]) -> list[Rule]:
    rules = []
    for item in items:
        function = getattr(item, "function", None)
        exercise = Path(item.path).stem.removeprefix("test_")
        where = f"{item.path.name}::{item.name}"
        if exercise in assignment.choices.leave_out:
            continue
        if exercise not in assignment.by_name:
            raise CourseError(f"{where} judges no exercise: the file must be named test_EXERCISE.py.")
        if not isinstance(getattr(function, "stage", None), Stage) or function is None:
            raise CourseError(f"{where} lacks its @stage(...).")
        extra = set(inspect.signature(function).parameters) - {"answer", "draw"}
        if extra:
            raise CourseError(f"{where} asks for {', '.join(sorted(extra))}; checks get `answer` and `draw` only.")
        if not function.__doc__:
            raise CourseError(f"{where} lacks its docstring, the rule that learners read.")
        rule = Rule(
            exercise, item.name.removeprefix("test_"), inspect.cleandoc(function.__doc__), function.stage, function
        )
        if not 0 <= rule.stage.points <= MOST_POINTS:
            raise CourseError(
                f"{where} is worth {rule.stage.points:g} points; expected 0 or more, at most {MOST_POINTS}."
            )
        if rule.of not in assignment.by_name[exercise].functions:
            raise CourseError(f"{where} judges {rule.of}, which {exercise} does not define; name one with of=.")
        rules.append(rule)
    rules = _counted(assignment, rules)
    order = {name: position for position, name in enumerate(assignment.by_name)}
    return sorted(rules, key=lambda rule: order[rule.exercise])


def _counted(assignment: Assignment, rules: list[Rule]) -> list[Rule]:
    """The rules with the points that the instructor chose: those of an exercise sum up to its own.

    Raises `CourseError` where they do not, and where a check is named that is none.
    """
    choices = assignment.choices
    names = {f"{rule.exercise}/{rule.name}" for rule in rules}
    for name in choices.not_counted:
        if name not in names and name.partition("/")[0] in assignment.by_name:
            raise CourseError(f"[grading] names the check {name}, which is none.")
    changed = {*choices.points, *(name.partition("/")[0] for name in choices.not_counted)}
    for exercise in assignment.exercises:
        written = {rule.name: rule.stage.points for rule in rules if rule.exercise == exercise.name}
        if exercise.name not in changed:
            _check_sum(exercise, written)
            continue
        own = {
            name: 0.0 if f"{exercise.name}/{name}" in choices.not_counted else points
            for name, points in written.items()
        }
        if not any(own.values()):
            raise CourseError(f"[grading] leaves {exercise.name} no check that counts. Leave the exercise out instead.")
        worth = spread(exercise.points, own)
        rules = [
            replace(rule, stage=replace(rule.stage, points=worth[rule.name]))
            if rule.exercise == exercise.name
            else rule
            for rule in rules
        ]
    return rules


def _check_sum(exercise: Exercise, written: Mapping[str, float]) -> None:
    together = round(sum(written.values()), 9)
    if together == exercise.points:
        return
    if not written:
        raise CourseError(
            f"The exercise {exercise.name} has no check: expected checks/test_{exercise.name}.py, with functions "
            f"`test_...` that are worth {exercise.points:g} points together. Write it, or leave the exercise out: "
            f'under [grading], `leave_out = ["{exercise.name}"]`.'
        )
    change = f"hange the checks' points in test_{exercise.name}.py"
    ways = [f"Write `points = {together:g}` there, or c{change}" if are_points(together) else f"C{change}"]
    if together:
        ways.append(f"have them spread: under [grading.points], `{exercise.name} = {exercise.points:g}`")
    raise CourseError(
        f"The checks of {exercise.name} are worth {together:g} points together, but {SETTINGS} gives the exercise "
        f"{exercise.points:g}. {', or '.join(ways)}."
    )


@contextmanager
def _own_modules(folder: Path) -> Iterator[None]:
    """Modules of the checks' folder come and go: names such as `probes` neither shadow the user's nor stay."""
    names = {path.stem for path in folder.glob("*.py")}
    kept = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    path = list(sys.path)
    sys.path.insert(0, str(folder))
    options = {name: os.environ.pop(name, None) for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    autoload = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = writes
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(kept)
        for name, value in {**options, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": autoload}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def in_session(assignment: Assignment, body: Callable[[Sequence[Rule]], Result]) -> Result:
    """Collect the assignment's checks and call `body(rules)` inside the pytest session.

    Rules come in the course's order of exercises, then in that of their files. Raises `CourseError` where a check
    file is broken, and whatever `body` raises.
    """
    if not assignment.checks.is_dir():
        raise CourseError(f"The checks are missing: expected the folder {assignment.checks}.")
    plugin = _Session(assignment, body)
    arguments: list[Any] = [*_SILENT, f"--rootdir={assignment.checks}", str(assignment.checks)]
    with _own_modules(assignment.checks):
        pytest.main(arguments, plugins=[plugin])
    if plugin.failure is not None:
        raise plugin.failure
    if plugin.ended_by is not None:
        raise _ended_by(plugin.ended_by, assignment.checks)
    if not hasattr(plugin, "result"):
        raise CourseError(f"pytest could not start on {assignment.checks}.")
    return plugin.result


def _ended_by(problem: BaseException, checks: Path) -> BaseException:
    """What is raised where this ended the collection of the checks."""
    if is_interrupt(problem):
        return KeyboardInterrupt()
    what = ": ".join(part for part in (type(problem).__name__, str(problem)) if part)
    places = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in traceback.walk_tb(problem.__traceback__)
        if Path(frame.f_code.co_filename).parent == checks
    ]
    where = places[-1] if places else str(checks)
    return CourseError(f"The checks cannot be collected: {what} ({where}). Mend that file and run `autograder verify`.")


def collect(assignment: Assignment) -> Sequence[Rule]:
    """The assignment's rules, for a caller that needs no session."""
    return in_session(assignment, lambda rules: rules)
