"""Any file that arrives → its code cells, and which exercise each belongs to.

Reading never raises anything but `Unreadable`, whose message is one sentence for the instructor. Nothing in the file
is run. Answers are found by what they define, so lost metadata costs nobody a mark.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.course import Assignment

LARGEST_FILE = 64 << 20  # bytes; 30 MB of stored output is an ordinary accident
LARGEST_CELL = 100_000  # characters of source that are still somebody's answer
LARGEST_SOURCE = 250_000  # characters of source in all: Python takes seconds to read so many, whatever they say
MOST_CELLS = 2000
MOST_VALUES = 1_000_000  # in the file, as JSON counts them: each takes some 80 bytes of memory
_COUNTED_FROM = 4 << 20  # characters; a smaller file cannot hold many more
_TEXTS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_MAGIC = re.compile(r"(?m)^([ \t]*)[%!].*$")
_CHECK_CALL = re.compile(r"""check\(\s*(?:(?:"\w*"|'\w*')\s*)?\)(?:\s*;)?""")


class Unreadable(Exception):
    """The submission cannot be read as a notebook. The message says why, in one sentence."""


@dataclass(frozen=True)
class Cell:
    """One cell of code. exercises: those whose answer it is part of. grade_id: nbgrader's name of it, "" if lost."""

    source: str
    grade_id: str = ""
    exercises: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submission:
    """The code cells of a notebook in their order, and the file's SHA-256 in hex."""

    cells: Sequence[Cell]
    sha256: str


def read_file(path: Path) -> bytes:
    """The bytes of a regular file of bearable size; links and devices are not followed. Raises `Unreadable`."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if path.is_symlink():
            raise Unreadable("The file is a symbolic link; links are not followed.")
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise Unreadable("The file does not exist.") from None
    except OSError as problem:
        raise Unreadable(f"The file cannot be opened: {problem.strerror}.") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise Unreadable("It is not a regular file.")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > LARGEST_FILE:
            raise Unreadable(f"The file has {status.st_size >> 20} MB; at most {LARGEST_FILE >> 20} MB are read.")
        try:
            return file.read(LARGEST_FILE + 1)
        except OSError as problem:
            raise Unreadable(f"The file cannot be read: {problem.strerror}.") from None


def decode_text(data: bytes) -> str:
    """UTF-8 with or without a byte-order mark, or UTF-16. Raises `Unreadable`."""
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable("The file is empty.")
    for start, what in (
        (b"PK\x03\x04", "a zip archive"),
        (b"%PDF", "a PDF"),
        (b"\x89PNG", "a picture"),
        (b"\x1f\x8b", "a gzip archive"),
    ):
        if data.startswith(start):
            raise Unreadable(f"The file is {what}, not a notebook.")
    encodings = ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig"]
    if data[:2] in (b"{\0", b"[\0"):
        encodings = ["utf-16-le"]
    elif data[:2] in (b"\0{", b"\0["):
        encodings = ["utf-16-be"]
    for encoding in (*encodings, "latin-1"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise Unreadable("The file is no text.")


def parse(data: bytes) -> dict[str, Any]:
    """The notebook's JSON object. Raises `Unreadable`."""
    text = decode_text(data)
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise Unreadable("The file is a web page, not a notebook: perhaps a login page was saved.")
    if re.search(r"^<{7} |^>{7} ", text, re.MULTILINE) and re.search(r"^={7}$", text, re.MULTILINE):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            raise Unreadable("The file holds the marks of an unfinished merge (<<<<<<<).") from None
    if len(text) > _COUNTED_FROM and _values_in(text) > MOST_VALUES:
        raise Unreadable(f"The file holds more than {MOST_VALUES:,} values: it is no notebook that somebody wrote.")
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise Unreadable("The file is nested too deeply to be a notebook.") from None
    except ValueError as problem:
        place = f" at line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
        raise Unreadable(f"The file is not valid JSON{place}: it may be cut off, or no notebook.") from None
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise Unreadable("The file is JSON, but not a notebook: it has no cells.")
    if not any(isinstance(notebook.get(name), list) for name in ("cells", "worksheets")):
        raise Unreadable("The file is JSON, but not a notebook: its cells are not a list. It may be damaged.")
    return notebook


def _values_in(text: str) -> int:
    """How many values JSON has, at most, without reading them."""
    outside_texts = _TEXTS.sub("", text)
    return sum(outside_texts.count(sign) for sign in "[{,")


def _raw_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    cells = notebook.get("cells")
    if not isinstance(cells, list):  # nbformat 3 kept its cells in worksheets, and code in "input"
        worksheets = notebook.get("worksheets")
        cells = []
        for sheet in worksheets if isinstance(worksheets, list) else []:
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
                cells.extend(sheet["cells"])
    return [cell for cell in cells[:MOST_CELLS] if isinstance(cell, dict)]


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str) or len(source) > LARGEST_CELL:
        return ""
    # Lone surrogates and NUL cannot be compiled, nor sent on as UTF-8.
    return source.replace("\0", "").encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")


def _grade_id(cell: dict[str, Any]) -> str:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return grade_id if isinstance(grade_id, str) else ""


def _python(source: str) -> ast.Module | None:
    """The syntax tree, IPython's magics set aside; None where the source is no Python."""
    return _text_and_tree(source)[1]


@lru_cache(maxsize=1)  # one cell is asked about several times in a row, and its tree may be large
def _text_and_tree(source: str) -> tuple[str, ast.Module | None]:
    for text in (source, _MAGIC.sub(r"\1pass", source)):
        try:
            return text, ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return source, None


def defines(source: str) -> frozenset[str]:
    """Names that a cell defines at its top level: def, class, assignment, import."""
    tree = _python(source)
    if tree is None:
        return frozenset(re.findall(r"(?m)^(?:async\s+def|def|class)\s+(\w+)", source))
    names: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names.update(part.id for part in ast.walk(target) if isinstance(part, ast.Name))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            for name in ("body", "orelse", "finalbody"):
                waiting.extend(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                waiting.extend(handler.body)
    return frozenset(names)


def definitions(source: str) -> str:
    """What a cell defines, line for line, without what else it does; "" where that is nothing, or all of it."""
    text, tree = _text_and_tree(source.replace("\r\n", "\n").replace("\r", "\n"))  # lines as Python counts them
    if tree is None:
        return ""
    kept = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    others = [node for node in tree.body if not isinstance(node, kept)]
    if len(others) in (0, len(tree.body)):
        return ""
    lines = text.encode().split(b"\n")
    for node in reversed(others):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        after = lines[last][node.end_col_offset :]
        lines[first : last + 1] = [lines[first][: node.col_offset] + b"pass" + after, *[b""] * (last - first)]
    return b"\n".join(lines).decode()


def stubs(cells: Sequence[Cell], names: Collection[str]) -> frozenset[str]:
    """Which of these functions and classes still hold a stub's `raise NotImplementedError()`.

    Of several definitions the last counts.
    """
    found: dict[str, bool] = {}
    for cell in cells:
        defined = [name for name in names if name in cell.source]
        tree = _python(cell.source) if defined else None
        if tree is None:
            continue
        found.update(dict.fromkeys(defines(cell.source) & set(defined), False))
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name in names:
                found[node.name] = any(
                    isinstance(part, ast.Raise)
                    and any(isinstance(one, ast.Name) and one.id == "NotImplementedError" for one in ast.walk(part))
                    for part in ast.walk(node)
                )
    return frozenset(name for name, there in found.items() if there)


def read(data: bytes, assignment: Assignment) -> Submission:
    """The submission's code cells with their exercises. Raises `Unreadable`.

    A cell belongs to an exercise when nbgrader's metadata says so or when it defines one of its functions. A raw or
    Markdown cell counts as code when it defines a function that no code cell defines.
    """
    raw = _raw_cells(parse(data))
    of_function = assignment.exercise_of_function
    kinds = [str(cell.get("cell_type", "")) for cell in raw]
    sources = [_source(cell) for cell in raw]
    may_define = [
        kind == "code" or any(name in source for name in of_function)
        for kind, source in zip(kinds, sources, strict=True)
    ]
    if sum(len(source) for source, may in zip(sources, may_define, strict=True) if may) > LARGEST_SOURCE:
        raise Unreadable(f"The notebook holds more than {LARGEST_SOURCE:,} characters of code.")
    names = [
        defines(source) & of_function.keys() if may else frozenset()
        for source, may in zip(sources, may_define, strict=True)
    ]
    in_code = frozenset().union(*(name for name, kind in zip(names, kinds, strict=True) if kind == "code"))
    cells: list[Cell] = []
    recognised = False
    for cell, kind, source, defined in zip(raw, kinds, sources, names, strict=True):
        grade_id = _grade_id(cell)
        exercises = {of_function[name] for name in defined}
        if grade_id in assignment.by_name:
            exercises.add(grade_id)
        checked = grade_id.removeprefix("check-")
        recognised = recognised or bool(exercises) or checked in assignment.by_name
        is_code = kind == "code" or (bool(defined - in_code) and _python(source) is not None)
        if is_code and source.strip():
            cells.append(Cell(source, grade_id, tuple(name for name in assignment.by_name if name in exercises)))
    if not recognised:
        wanted = ", ".join(f"`{name}`" for name in list(of_function)[:3])
        raise Unreadable(
            f"It is a notebook, but none of its cells belongs to this assignment: none defines {wanted} or the others."
        )
    return Submission(cells, hashlib.sha256(data).hexdigest())


def only_checks(source: str) -> bool:
    """The cell does nothing but call `check`, which does nothing where answers are graded."""
    return _CHECK_CALL.fullmatch(source.strip()) is not None


def without_layout(source: str) -> str:
    """The code as Python would write it: without comments, blank lines and layout. As it is where it is no Python."""
    tree = _python(source)
    if tree is None:
        return source.strip()
    try:
        return ast.unparse(tree)
    except (RecursionError, MemoryError, ValueError):
        return source.strip()


def changed_cells(cells: Sequence[Cell], released: Sequence[Cell]) -> list[str]:
    """Names of the cells that learners were to leave alone and that are changed, or gone where others have a name."""
    if not any(cell.grade_id for cell in cells):
        return []  # an editor lost all names
    sources: dict[str, list[str]] = {}
    for cell in cells:
        sources.setdefault(cell.grade_id, []).append(_lines(cell.source))
    return [
        cell.grade_id
        for cell in released
        if cell.grade_id and not cell.exercises and _lines(cell.source) not in sources.get(cell.grade_id, [])
    ]


def _lines(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def off_limits_calls(cells: Sequence[Cell], names: Sequence[str]) -> list[tuple[str, str]]:
    """(exercise, name) for each call of a function that is off limits inside an exercise's cell. Only calls count.

    A function that was given another name is known by that as well.
    """
    short = {name.rpartition(".")[2]: name for name in names}
    trees = [(cell, tree) for cell in cells if (tree := _python(cell.source)) is not None]
    for _cell, tree in trees:
        for alias, name in _renamed(tree):
            if name in short:
                short.setdefault(alias, short[name])
    found: list[tuple[str, str]] = []
    for cell, tree in trees:
        for node in ast.walk(tree) if cell.exercises else ():
            if isinstance(node, ast.Call) and (called := _last_name(node.func)) in short:
                found.extend((exercise, short[called]) for exercise in cell.exercises)
    return list(dict.fromkeys(found))


def _last_name(node: ast.AST | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _renamed(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Other names that code gives: `from a import name as alias`, `alias = a.name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((one.asname, one.name) for one in node.names if one.asname)
        elif isinstance(node, ast.Assign) and _last_name(node.value):
            yield from ((target.id, _last_name(node.value)) for target in node.targets if isinstance(target, ast.Name))
