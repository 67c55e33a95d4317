"""Looks for answers where learners can see them: in folders, zips and wheels, notebooks, web pages, as text or as code.

What is secret: every body of an answer in the solved notebook, and the banks of wrong and right answers and the
stand-ins. A body of one statement is secret only under its own function's name: the expression by itself is what the
book teaches.
"""

from __future__ import annotations

import ast
import gzip
import html
import io
import json
import keyword
import re
import textwrap
import tokenize
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course, Source

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
STUB = "raise NotImplementedError()"
LARGEST = 64 << 20  # bytes of one file that are looked through
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".ico", ".woff", ".woff2", ".ttf", ".eot")
WRONG = "wrong/"
BOOK = Path("_build", "html")


@dataclass(frozen=True)
class Secret:
    """A run of statements that nobody may see.

    what: how it is named to the instructor. statements: normalised syntax trees. texts: the same without white space
    and comments. words: its identifiers. function: where not "", it is a secret only as the whole body of a function
    of that name.
    """

    what: str
    statements: tuple[str, ...]
    texts: tuple[str, ...]
    words: frozenset[str]
    function: str = ""

    @property
    def may_be_taught(self) -> bool:
        """A wrong answer: the book may show a mistake that people make, the learners' folder may not."""
        return self.what.startswith(WRONG)

    def may_be_in(self, text: str) -> bool:
        """Whether all its identifiers occur, which costs little to ask."""
        return all(word in text for word in self.words)


@dataclass(frozen=True)
class Leak:
    """A secret in the open."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where} gives away {self.what}."


# -- what is secret ---------------------------------------------------------------------------------------------------


class _Normal(ast.NodeTransformer):
    """Drops what changes no behaviour: docstrings, annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.body = _without_docstring(node.body) or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = _without_docstring(node.body) or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value is not None else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        node.kind = None
        return node


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    is_docstring = body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1:] if is_docstring and isinstance(body[0].value.value, str) else body  # type: ignore[attr-defined]


def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _dump(statement: ast.stmt) -> str:
    return ast.dump(_Normal().visit(ast.parse(ast.unparse(statement)).body[0]))


def _without_comments(code: str) -> str:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return code
    lines = code.splitlines()
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "\n".join(lines)


def _squash(text: str) -> str:
    return re.sub(r"\s+|\\$", "", text.replace('"', "'"))


def _secret(what: str, code: str, statements: Sequence[ast.stmt], function: str = "") -> Secret:
    own = "\n".join(ast.get_source_segment(code, statement) or "" for statement in statements)
    written_again = "\n".join(map(ast.unparse, statements))
    texts = tuple(dict.fromkeys((_squash(_without_comments(own)), _squash(written_again))))
    words = {word for word in re.findall(r"[^\W\d]\w*", _without_comments(written_again)) if len(word) > 3}
    words -= {word for node in statements for word in _words_of_strings(node)}
    words.difference_update(keyword.kwlist)
    return Secret(what, tuple(map(_dump, statements)), texts, frozenset(words), function)


def _words_of_strings(node: ast.AST) -> Iterator[str]:
    """Words inside strings may be escaped or annotations where they leak, so they identify nothing."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield from re.findall(r"\w+", inner.value)
        for annotation in (getattr(inner, "annotation", None), getattr(inner, "returns", None)):
            if annotation is not None:
                yield from re.findall(r"\w+", ast.unparse(annotation))


def _bodies(tree: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Name and body, without docstring, of every function in the code, methods and inner functions included."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, _without_docstring(node.body)


def _stub(code: str) -> str:
    """The cell as learners get it: between nbgrader's marks stands the stub."""
    lines, hidden = [], False
    for line in code.splitlines():
        if BEGIN in line:
            hidden = True
            lines.append(re.match(r"\s*", line).group() + STUB)  # type: ignore[union-attr]
        elif END in line:
            hidden = False
        elif not hidden:
            lines.append(line)
    return "\n".join(lines) if BEGIN in code else STUB


def _secrets_of_cell(what: str, code: str) -> Iterator[Secret]:
    tree, stub = ast.parse(code), _parse(_stub(code))
    public = {(name, *map(_dump, body)) for name, body in _bodies(stub)} if stub else set()
    for name, body in _bodies(tree):
        if (name, *map(_dump, body)) not in public:
            yield _secret(what, code, body, name if len(body) == 1 else "")
    for region in re.findall(rf"{BEGIN}[^\n]*\n(.*?)\n[^\n]*{END}", code, re.DOTALL):
        own = textwrap.dedent(region)
        statements = _parse(own)
        if statements is not None and len(statements.body) > 1:
            yield _secret(what, own, statements.body)


def _secrets_of_file(what: str, code: str, bodies: bool) -> Iterator[Secret]:
    """A definition is a secret as a whole; where `bodies`, so is each body in it."""
    tree = ast.parse(code)
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield _secret(what, code, [statement])
    for name, body in _bodies(tree) if bodies else ():
        if len(body) > 1:
            yield _secret(what, code, body)
        elif not any(isinstance(node, ast.Pass) for node in body):
            yield _secret(what, code, body, name)


def secrets(source: Source) -> list[Secret]:
    """Every secret of an assignment."""
    from autograder.solved import solved_notebook  # needs Jupytext, which learners lack

    found: list[Secret] = []
    for cell in solved_notebook(source).cells:
        settings = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and settings.get("solution"):
            found.extend(_secrets_of_cell(f"the answer of {settings['grade_id']}", cell.source))
    for variant in source.right:
        found.extend(_secrets_of_file(f"right/{variant.path}", variant.code, bodies=True))
    if source.stand_ins:
        found.extend(_secrets_of_file("the stand-ins", source.stand_ins, bodies=True))
    for variant in source.wrong:
        found.extend(_secrets_of_file(f"{WRONG}{variant.path}", variant.code, bodies=False))
    return [secret for secret in found if secret.statements]


# -- where it may show ------------------------------------------------------------------------------------------------


def _files(place: Path) -> Iterator[tuple[str, bytes]]:
    paths = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    for path in paths:
        if path.suffix.lower() not in PICTURES and path.stat().st_size <= LARGEST:
            where = path.name if path == place else f"{place.name}/{path.relative_to(place).as_posix()}"
            yield from _unpacked(where, path.read_bytes())


def _unpacked(where: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """The file, or what is in it where it is a zip, a wheel or a gzip."""
    if data.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in sorted(archive.namelist()):
                    yield from _unpacked(f"{where}/{name}", archive.read(name))
            return
        except zipfile.BadZipFile:
            pass
    if data.startswith(b"\x1f\x8b"):
        try:
            yield from _unpacked(where, gzip.decompress(data))
            return
        except (OSError, EOFError):
            pass
    yield where, data


def _strings(value: Any) -> Iterator[str]:
    """Every string in JSON; lists of strings also joined, as notebooks keep their lines."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        if value and all(isinstance(inner, str) for inner in value):
            yield "".join(value)
            yield "\n".join(value)
        else:
            for inner in value:
                yield from _strings(inner)


def _views(text: str) -> Iterator[str]:
    """The text as it stands, as JSON, without HTML's tags, and unescaped: as a reader or a program would take it."""
    yield text
    start = text.lstrip()[:1]
    if start in ("{", "["):
        try:
            for inner in _strings(json.loads(text)):
                yield inner
                if "<" in inner or "&" in inner:
                    yield _plain(inner)
        except (ValueError, RecursionError):
            pass
    elif "</" in text or "&lt;" in text or "&quot;" in text or "&#" in text:
        yield _plain(text)
        for block in re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL):
            yield _plain(block)
    if "\\n" in text:
        yield text.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'").replace("\\t", "\t")


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def _code(text: str) -> Iterator[str]:
    """Pieces of a text that may be Python: all of it, fenced and indented blocks, lines behind a prompt or a plus."""
    yield text
    for block in re.findall(r"^ *(?:```+|~~~+|:::+)[^\n]*\n(.*?)^ *(?:```+|~~~+|:::+)", text, re.DOTALL | re.MULTILINE):
        yield textwrap.dedent(block)
    for block in re.findall(r"(?:^(?: {4,}|\t)[^\n]*\n(?:[ \t]*\n)*)+", text + "\n", re.MULTILINE):
        yield textwrap.dedent(block)
    marked = re.findall(r"^[ \t]*(?:>>> |\.\.\. |\+)(.*)$", text, re.MULTILINE)
    if marked:
        yield textwrap.dedent("\n".join(marked))
    # Code that stands in comments, as in some script formats of notebooks.
    commented = re.findall(r"^[ \t]*# ?(.*)$", text, re.MULTILINE)
    if commented:
        yield textwrap.dedent("\n".join(commented))


def _holds(statements: list[str], wanted: tuple[str, ...]) -> bool:
    return any(tuple(statements[i : i + len(wanted)]) == wanted for i in range(len(statements) - len(wanted) + 1))


def _in_tree(tree: ast.Module, wanted: Sequence[Secret]) -> Iterator[Secret]:
    lists: list[list[str]] = []
    functions: dict[str, list[tuple[str, ...]]] = {}
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                lists.append([_dump(statement) for statement in _without_docstring(body)])
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.setdefault(node.name, []).append(tuple(map(_dump, _without_docstring(node.body))))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            body_of_lambda = (_dump(ast.Return(node.value.body)),)
            for target in node.targets:
                functions.setdefault(getattr(target, "id", ""), []).append(body_of_lambda)
    for secret in wanted:
        if secret.function:
            if secret.statements in functions.get(secret.function, ()):
                yield secret
        elif any(_holds(statements, secret.statements) for statements in lists):
            yield secret


def _in_text(squashed: str, wanted: Sequence[Secret]) -> Iterator[Secret]:
    for secret in wanted:
        for text in secret.texts:
            if text not in squashed:
                continue
            if not secret.function:
                yield secret
            else:
                head = rf"def{secret.function}\((?:(?!def\w).){{0,600}}?:('''.{{0,4000}}?''')?" + re.escape(text)
                if re.search(head, squashed):
                    yield secret


def find_in_text(text: str, wanted: Sequence[Secret], where: str = "the text") -> list[Leak]:
    """Secrets in one text: Python, Markdown, HTML, JSON, or anything else."""
    found: dict[str, None] = {}
    wanted = [secret for secret in wanted if secret.may_be_in(text)]
    for view in _views(text) if wanted else ():
        likely = [secret for secret in wanted if secret.may_be_in(view)]
        if not likely:
            continue
        for squashed in {_squash(view), _squash(re.sub(r"#[^\n]*", "", view))}:
            found.update(dict.fromkeys(secret.what for secret in _in_text(squashed, likely)))
        for piece in _code(view):
            tree = _parse(piece)
            if tree is not None:
                found.update(dict.fromkeys(secret.what for secret in _in_tree(tree, likely)))
    return [Leak(where, what) for what in found]


def find(places: Sequence[Path], wanted: Sequence[Secret]) -> list[Leak]:
    """Secrets in files, folders, zips and the wheels inside them."""
    found: list[Leak] = []
    for place in places:
        for where, data in _files(place):
            found.extend(find_in_text(data.decode("utf-8", "replace"), wanted, where))
    return found


def find_in_release(course: Course, source: Source) -> list[str]:
    """Sentences about what leaks into the released folder, the learners' zip and the learners' book, where they are."""
    name = source.assignment.name
    everything = secrets(source)
    places = [course.released / name, course.root / "dist" / f"{name}.zip"]
    found = find([place for place in places if place.exists()], everything)
    book = course.root / BOOK
    if book.exists():
        found.extend(find([book], [secret for secret in everything if not secret.may_be_taught]))
    return [str(leak) for leak in found]
