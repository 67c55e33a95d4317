"""What an assignment is: its exercises, points, needs and folders, read from `assignment.toml` and the files beside it.

A `Course` is the folder that holds `solutions/`. An `Assignment` is what learners have of one assignment: exercises,
checks and recordings, wherever that folder lies. A `Source` is the instructor's side of it, with the answers.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.choices import Choices
from autograder.settings import (
    FILE_NAME,
    MINUTES,
    NAME,
    NAMES,
    POINTS,
    REQUIRED,
    SOME_NAMES,
    TABLE,
    TABLES,
    TEXT,
    TEXTS,
    Settings,
    WrongSetting,
    fault_of_code,
    not_python,
    read_each,
    read_settings,
    table_of,
)

if sys.version_info >= (3, 11):
    import tomllib
else:  # the same parser, before it joined the standard library
    import tomli as tomllib

SETTINGS = "assignment.toml"

_ASSIGNMENT: Settings = {
    "name": (FILE_NAME, ""),
    "title": (TEXT, REQUIRED),
    "exercise": (TABLES, REQUIRED),
    "chapters": (table_of(TEXT), {}),
    "off_limits": (TEXTS, ()),
    "namespace": (TEXT, ""),
    "book": (TEXT, ""),
    "requirements": (TEXTS, ()),  # read where the learners' zip is made
    "trace": (table_of(TABLE), {}),
    "grading": (TABLE, {}),
}
_EXERCISE: Settings = {
    "name": (NAME, REQUIRED),
    "title": (TEXT, REQUIRED),
    "points": (POINTS, REQUIRED),
    "functions": (SOME_NAMES, None),
    "needs": (NAMES, ()),
    "may_call": (NAMES, ()),
    "chapter": (TEXT, ""),
    "minutes": (MINUTES, 0),
}
_TRACE: Settings = {
    "checks": (SOME_NAMES, REQUIRED),
    "inputs": (table_of(TEXT), REQUIRED),
    "shown_only": (NAMES, ()),
    "joined": (table_of(TEXT), {}),
}
_MISCONCEPTION: Settings = {"says": (TEXT, REQUIRED), "advice": (TEXT, ""), "chapter": (TEXT, "")}


class CourseError(Exception):
    """The course's own files are wrong or missing. The message is a sentence for the instructor."""


@dataclass(frozen=True)
class Exercise:
    """One exercise. functions: the names its answer defines. needs: exercises whose answers this one calls.

    may_call: exercises whose answers it may call or write afresh. Grading has stand-ins for both.
    """

    name: str
    title: str
    points: float
    functions: tuple[str, ...]
    needs: tuple[str, ...] = ()
    may_call: tuple[str, ...] = ()
    chapter: str = ""
    minutes: int = 0


@dataclass(frozen=True)
class Misconception:
    """A mistake people make: what the learner is told, what to try, and the chapter to reread."""

    name: str
    says: str
    advice: str = ""
    chapter: str = ""


@dataclass(frozen=True)
class Trace:
    """How the learner's own way through an exercise is followed: `[trace.EXERCISE]`.

    checks: names of checks. Followed is the first request of the first that fails, or of the first where none does.
    inputs: arguments of the probe to follow, with their axes ("B Tq d_model"); for a number, the axis whose size it is.
    shown_only: arguments that are followed too, though what is made of them alone is held against nothing: a mask.
    joined: axes made of others (d_model = "h d_k").
    """

    checks: tuple[str, ...]
    inputs: Mapping[str, str]
    shown_only: tuple[str, ...] = ()
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_text(path: Path) -> str:
    """The text of one of the course's files. Raises `CourseError`."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise CourseError(f"{path} cannot be read: {problem.strerror}.") from problem
    except UnicodeDecodeError as problem:
        raise CourseError(f"{path} is not text in UTF-8 ({problem}). Save it as UTF-8.") from problem


def read_toml(path: Path) -> dict[str, Any]:
    """The file's table. Raises `CourseError` with the place of the mistake."""
    try:
        table: dict[str, Any] = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as problem:
        raise CourseError(f"{path} is not valid TOML: {problem}.") from problem
    return table


def _exercise(table: Mapping[str, Any], place: int, choices: Choices) -> Exercise:
    """One `[[exercise]]`. Raises `WrongSetting`."""
    name = table.get("name")
    read = read_settings(table, _EXERCISE, f"exercise {name if NAME.fits(name) else place}: ")
    return Exercise(
        name=read["name"],
        title=read["title"],
        points=choices.points.get(read["name"], float(read["points"])),
        functions=tuple(read["functions"] or [read["name"]]),
        needs=tuple(read["needs"]),
        may_call=tuple(read["may_call"]),
        chapter=read["chapter"],
        minutes=read["minutes"],
    )


def _trace(name: str, table: Mapping[str, Any]) -> Trace:
    """One `[trace.NAME]`. Raises `WrongSetting`."""
    read = read_settings(table, _TRACE, f"[trace.{name}]: ")
    return Trace(
        checks=tuple(read["checks"]),
        inputs=read["inputs"],
        shown_only=tuple(read["shown_only"]),
        joined={axis: tuple(parts.split()) for axis, parts in read["joined"].items()},
    )


def _check_choices(choices: Choices, exercises: Sequence[str]) -> None:
    """Raises `WrongSetting` where the instructor's choices name what is not there."""
    named = {*choices.leave_out, *choices.points, *(name.partition("/")[0] for name in choices.not_counted)}
    for name in sorted(named - set(exercises)):
        raise WrongSetting(f"[grading] names {name}, which is no exercise.")


@dataclass(frozen=True)
class Assignment:
    """The part of an assignment that learners have: a folder with `assignment.toml`, `checks/` and `recordings/`."""

    folder: Path
    name: str
    title: str
    exercises: tuple[Exercise, ...]
    chapters: Mapping[str, str]
    off_limits: tuple[str, ...] = ()
    namespace: str = ""
    book: str = ""
    traces: Mapping[str, Trace] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)

    @classmethod
    def read(cls, folder: Path) -> Assignment:
        """Read `folder/assignment.toml`. Raises `CourseError`."""
        table = read_toml(folder / SETTINGS)
        try:
            chosen = read_settings(table, _ASSIGNMENT, "")
            choices = Choices.read(chosen["grading"])
            exercises = [_exercise(entry, place, choices) for place, entry in enumerate(chosen["exercise"], 1)]
            _check_choices(choices, [exercise.name for exercise in exercises])
            assignment = cls(
                folder=folder,
                name=chosen["name"] or folder.name,
                title=chosen["title"],
                exercises=tuple(exercise for exercise in exercises if exercise.name not in choices.leave_out),
                chapters=chosen["chapters"],
                off_limits=tuple(chosen["off_limits"]),
                namespace=chosen["namespace"],
                book=chosen["book"],
                traces={
                    name: _trace(name, entry)
                    for name, entry in chosen["trace"].items()
                    if name not in choices.leave_out
                },
                choices=choices,
            )
        except WrongSetting as problem:
            raise CourseError(f"{folder / SETTINGS}: {problem}") from problem
        assignment._check_needs()
        return assignment

    def _check_needs(self) -> None:
        where = self.folder / SETTINGS
        seen: set[str] = set()
        functions: dict[str, str] = {}
        for exercise in self.exercises:
            if exercise.name in seen:
                raise CourseError(f"{where} names the exercise {exercise.name} twice.")
            for need in exercise.needs:
                if need in self.choices.leave_out:
                    raise CourseError(f"{where}: {exercise.name} needs {need}, which [grading] leaves out.")
                if need not in seen:
                    raise CourseError(f"{where}: {exercise.name} needs {need}, which does not come before it.")
            for other in exercise.may_call:
                if other not in seen and other not in self.choices.leave_out:
                    raise CourseError(f"{where}: {exercise.name} may call {other}, which does not come before it.")
            for function in exercise.functions:
                if function in functions:
                    both = f"{functions[function]} and {exercise.name}"
                    raise CourseError(f"{where}: {both} both define {function}; it can belong to one of them.")
                functions[function] = exercise.name
            self.check_chapter(f"{where}: {exercise.name}", exercise.chapter)
            seen.add(exercise.name)
        for name in self.traces:
            if name not in seen:
                raise CourseError(f"{where} has a trace for {name}, which is no exercise.")

    def check_chapter(self, who: str, chapter: str) -> None:
        """Raises `CourseError` where a chapter is named that the course lacks. who: who names it."""
        if chapter and chapter not in self.chapters:
            known = ", ".join(self.chapters) or "none"
            raise CourseError(f"{who} names the chapter {chapter}, which [chapters] lacks. It has: {known}.")

    @property
    def checks(self) -> Path:
        """Folder of the rules: one pytest file per exercise, and the probes."""
        return self.folder / "checks"

    @property
    def probes(self) -> Path:
        """File of the probes, which run beside an answer."""
        return self.checks / "probes.py"

    @property
    def recordings(self) -> Path:
        """Folder of the recordings (learner's side only)."""
        return self.folder / "recordings"

    @property
    def minutes(self) -> int:
        """How long all exercises take together, about; 0 where nobody says."""
        return sum(exercise.minutes for exercise in self.exercises)

    @property
    def max_score(self) -> float:
        """Points of all exercises together."""
        return sum(exercise.points for exercise in self.exercises)

    @cached_property
    def by_name(self) -> Mapping[str, Exercise]:
        """Exercises by name, in the course's order."""
        return {exercise.name: exercise for exercise in self.exercises}

    @cached_property
    def exercise_of_function(self) -> Mapping[str, str]:
        """Name of the exercise that defines a function."""
        return {function: exercise.name for exercise in self.exercises for function in exercise.functions}

    def calls_of(self, name: str) -> tuple[str, ...]:
        """Exercises whose answers `name` needs or may call, directly or through others, in the course's order."""
        parts = {name, *self.needs_of(name)}
        called = {other for part in parts for other in self.by_name[part].may_call} | parts - {name}
        return tuple(exercise.name for exercise in self.exercises if exercise.name in called)

    def needs_of(self, name: str) -> tuple[str, ...]:
        """Exercises that `name` needs, directly or through others, in the course's order."""
        found: set[str] = set()
        waiting = list(self.by_name[name].needs)
        while waiting:
            need = waiting.pop()
            if need not in found:
                found.add(need)
                waiting.extend(self.by_name[need].needs)
        return tuple(exercise.name for exercise in self.exercises if exercise.name in found)

    def chapter_link(self, slug: str) -> tuple[str, str]:
        """Title and address of a chapter; the address is "" where the course names no published book."""
        title = self.chapters.get(slug, slug)
        if not self.book or slug not in self.chapters:
            return title, ""
        return title, f"{self.book.rstrip('/')}/book/{slug}.html"


@dataclass(frozen=True)
class Variant:
    """An answer from the banks: it takes the place of one exercise's cell in the solved notebook."""

    exercise: str
    name: str
    code: str
    about: str
    misconception: str | None = None

    @property
    def path(self) -> str:
        """How people name it: `attention/softmax_over_queries`."""
        return f"{self.exercise}/{self.name}"


@dataclass(frozen=True)
class Source:
    """The instructor's side of an assignment: `solutions/NAME/`."""

    assignment: Assignment
    misconceptions: Mapping[str, Misconception] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Source:
        """Read `solutions/NAME`. Raises `CourseError`."""
        assignment = Assignment.read(folder)
        fault = fault_of_code(assignment.namespace)
        if fault:
            raise CourseError(f"{folder / SETTINGS}: namespace cannot be run: {fault}.")
        path = folder / "wrong" / "misconceptions.toml"
        misconceptions = {}
        try:
            for name, entry in read_each(read_toml(path) if path.exists() else {}, TABLE, "").items():
                misconceptions[name] = Misconception(name, **read_settings(entry, _MISCONCEPTION, f"{name}: "))
                assignment.check_chapter(f"{path}: {name}", misconceptions[name].chapter)
        except WrongSetting as problem:
            raise CourseError(f"{path}: {problem}") from problem
        return cls(assignment, misconceptions)

    @property
    def notebook(self) -> Path:
        """The solved notebook as text, the one source."""
        return self.assignment.folder / f"{self.assignment.name}.py"

    @cached_property
    def stand_ins(self) -> str:
        """Source of the library-built pieces, "" where the assignment has none. Raises `CourseError`."""
        path = self.assignment.folder / "standins.py"
        text = read_text(path) if path.exists() else ""
        try:
            ast.parse(text)
        except (SyntaxError, ValueError) as problem:
            raise CourseError(f"{path} cannot be used: {not_python(problem)}. Mend it and try again.") from problem
        return text

    @cached_property
    def wrong(self) -> Sequence[Variant]:
        """The answers people really write, in the order of their paths."""
        return self._bank("wrong")

    @cached_property
    def right(self) -> Sequence[Variant]:
        """Unusual answers that must pass, in the order of their paths."""
        return self._bank("right")

    def _bank(self, bank: str) -> list[Variant]:
        variants = []
        for path in sorted((self.assignment.folder / bank).glob("*/*.py")):
            lines = read_text(path).splitlines()
            comments = []
            for line in lines:
                if not line.startswith("#"):
                    break
                comments.append(line.lstrip("# ").strip())
            misconception = None
            if comments and comments[0].startswith("misconception:"):
                misconception = comments.pop(0).partition(":")[2].strip()
            if path.parent.name in self.assignment.choices.leave_out:
                continue
            if path.parent.name not in self.assignment.by_name:
                raise CourseError(f"{path} stands in the folder of no exercise.")
            if not comments:
                raise CourseError(f"{path} lacks its first line: a comment that says what it is.")
            if bank == "wrong" and misconception not in self.misconceptions:
                raise CourseError(f"{path} names the misconception {misconception}, which misconceptions.toml lacks.")
            code = "\n".join(lines) + "\n"
            variants.append(Variant(path.parent.name, path.stem, code, comments[0], misconception))
        return variants


@dataclass(frozen=True)
class Course:
    """The folder that holds `solutions/`."""

    root: Path

    @classmethod
    def find(cls, start: Path) -> Course:
        """Look upwards from `start` for the folder that holds `solutions/`. Raises `CourseError`."""
        for folder in (start.resolve(), *start.resolve().parents):
            if (folder / "solutions").is_dir():
                return cls(folder)
        raise CourseError(
            f"No course found: expected a folder `solutions` in {start.resolve()} or above it. "
            "Change into the course's folder and try again."
        )

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """Every assignment of the course, by name."""
        folders = sorted(path.parent for path in (self.root / "solutions").glob(f"*/{SETTINGS}"))
        if not folders:
            raise CourseError(f"{self.root / 'solutions'} holds no assignment: no folder in it has an {SETTINGS}.")
        return {source.assignment.name: source for source in map(Source.read, folders)}

    def source(self, name: str | None = None) -> Source:
        """The assignment of that name; without a name, the only one. Raises `CourseError`."""
        known = ", ".join(self.sources)
        if name is None:
            if len(self.sources) > 1:
                raise CourseError(f"This course has several assignments ({known}). Name one with --assignment.")
            return next(iter(self.sources.values()))
        if name not in self.sources:
            raise CourseError(f"This course has no assignment {name}. It has: {known}.")
        return self.sources[name]

    @property
    def released(self) -> Path:
        """Folder of the learner's side of every assignment."""
        return self.root / "exercises"
