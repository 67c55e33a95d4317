"""Kinds of settings, and tables of them. A setting that is unknown, missing or of another kind ends in a sentence."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_POINTS = 10_000
FEWEST_SECONDS, MOST_SECONDS = 0.1, 24 * 60 * 60
MOST_MEGABYTES = 1 << 20  # a terabyte
LONGEST_QUOTE = 60  # characters of a wrong value that are said


class WrongSetting(Exception):
    """A setting is not what it must be. The message is a sentence that begins with where it stands."""


@dataclass(frozen=True)
class Kind:
    """What a setting may be. words: as a sentence goes on after "must be"."""

    words: str
    fits: Callable[[Any], bool]


REQUIRED: Any = object()  # in the place of a default
Settings = Mapping[str, "tuple[Kind, Any]"]  # by name: kind, and default


def read_settings(table: Mapping[str, Any], settings: Settings, where: str) -> dict[str, Any]:
    """The table's values, and the defaults of what it leaves out. Raises `WrongSetting`.

    where: begins the sentence, "" or such as "[trace.NAME]: ".
    """
    for name in table:
        if name not in settings:
            near = difflib.get_close_matches(name, settings, 1)
            meant = f"did you mean {near[0]}?" if near else f"the settings here are {', '.join(settings)}."
            raise WrongSetting(f"{where}{name} is no setting; {meant}")
    values = {}
    for name, (kind, default) in settings.items():
        if name not in table and default is REQUIRED:
            raise WrongSetting(f"{where}{name} is missing. It must be {kind.words}.")
        values[name] = table.get(name, default)
        if name in table and not kind.fits(values[name]):
            raise WrongSetting(f"{where}{name} must be {kind.words}; it is {quoted(values[name])}.")
    return values


def read_each(table: Mapping[str, Any], kind: Kind, where: str) -> dict[str, Any]:
    """The table's values under any names, each of this kind. Raises `WrongSetting`."""
    return read_settings(table, dict.fromkeys(table, (kind, None)), where)


def quoted(value: Any) -> str:
    """The value about as TOML writes it, cut short."""
    text = "nan" if value != value else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"


# -- kinds ------------------------------------------------------------------------------------------------------------


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < math.inf


def are_points(value: Any) -> bool:
    """Whether an exercise may be worth that: grades have two decimals."""
    return _number(value) and 0 < value <= MOST_POINTS and round(value, 2) == value


def _lists(kind: Kind, value: Any) -> bool:
    return isinstance(value, list) and all(map(kind.fits, value))


TEXT = Kind("text in quotation marks", lambda value: isinstance(value, str))
NAME = Kind(
    "a name of letters, digits and _ that begins with a letter",
    lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z]\w*", value, re.ASCII) is not None,
)
FILE_NAME = Kind(
    "a name of letters, digits, - and _",
    lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][\w-]*", value, re.ASCII) is not None,
)
TEXTS = Kind('a list of texts, such as ["one", "two"]', lambda value: _lists(TEXT, value))
NAMES = Kind('a list of names, such as ["one", "two"]', lambda value: _lists(TEXT, value))
SOME_NAMES = Kind("a list with one name or more", lambda value: _lists(NAME, value) and bool(value))
POINTS = Kind(f"a number above 0, at most {MOST_POINTS}, with two decimals at most", are_points)
SECONDS = Kind(
    f"a number of seconds from {FEWEST_SECONDS:g} to {MOST_SECONDS} (a day)",
    lambda value: _number(value) and FEWEST_SECONDS <= value <= MOST_SECONDS,
)
WHOLE_SECONDS = Kind(
    f"a whole number of seconds from 1 to {MOST_SECONDS} (a day)",
    lambda value: _number(value) and isinstance(value, int) and 1 <= value <= MOST_SECONDS,
)
MEGABYTES = Kind(
    f"a whole number of megabytes from 1 to {MOST_MEGABYTES}",
    lambda value: _number(value) and isinstance(value, int) and 1 <= value <= MOST_MEGABYTES,
)
MINUTES = Kind("a whole number of minutes", lambda value: _number(value) and isinstance(value, int) and value >= 0)
YES_OR_NO = Kind("true or false", lambda value: isinstance(value, bool))
TABLE = Kind("a table", lambda value: isinstance(value, dict))
TABLES = Kind("one table or more, each under its own [[...]]", lambda value: _lists(TABLE, value) and bool(value))


def table_of(kind: Kind) -> Kind:
    """A table whose values are all of a kind."""
    return Kind(
        f"a table in which each value is {kind.words}",
        lambda value: isinstance(value, dict) and all(map(kind.fits, value.values())),
    )


# -- code -------------------------------------------------------------------------------------------------------------


def fault_of_code(code: str) -> str:
    """Why Python cannot run this code, as the end of a sentence; "" where nothing speaks against it. Nothing is run."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError) as problem:
        return not_python(problem)
    for node in tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        for name in names:
            if not _is_there(name.partition(".")[0]):
                return f"it imports {name}, which is not installed here"
    return ""


def not_python(problem: SyntaxError | ValueError) -> str:
    """Why code cannot be parsed, as the end of a sentence."""
    if not isinstance(problem, SyntaxError):
        return f"it is no Python: {problem}"
    return f"it is no Python: {problem.msg}" + (f" (line {problem.lineno})" if problem.lineno else "")


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None if module else False
    except ValueError:  # a module that runs as a program
        return True
