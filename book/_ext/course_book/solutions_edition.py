"""The instructors' chapter: the solved notebook, shown line by line and grown step by step.

Its code is read from `solutions/` while the book is built; no page holds a line of it. The learners'
edition refuses these directives.

    ```{answer} attention
    ```
    ```{answer-lines} attention
    :at: d_k =
    :count: 2
    ```
    ```{growing-step} MultiHeadedAttention
    add: [self.linears =, "for linear, x"]
    cut: {"linear(x)": .transpose(1, 2)}
    returns: query
    show: ["tuple(module(x, x, x).shape)"]
    ```

`at` and `add` name lines by a piece of them that stands in one line only. `cut` leaves a piece out of a
line for this step. `returns` ends the step's `forward` where the source's own end is not there yet.
Each step is run; `show` prints expressions.
"""

import ast
import difflib

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from . import BOOK

SOURCE = BOOK.parent / "solutions" / "multi_head_attention" / "multi_head_attention.py"
MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def answers(source=SOURCE):
    """{exercise: lines of its answer}, without nbgrader's marks and without docstrings."""
    import jupytext

    found = {}
    for cell in jupytext.read(source, fmt="py:percent").cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("solution"):
            found[about["grade_id"]] = without_docstrings(cell.source)
    return found


def without_docstrings(code):
    lines = code.splitlines()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            first = node.body[0]
            for number in range(first.lineno - 1, first.end_lineno):
                lines[number] = MARKS[0]
    kept = [line for line in lines if line.strip() not in MARKS]
    return [line for line, before in zip(kept, ["", *kept]) if line.strip() or before.strip()]  # noqa: B905


def line_with(lines, piece):
    """The number of the one line that holds this piece."""
    numbers = [number for number, line in enumerate(lines) if piece in line]
    if len(numbers) != 1:
        raise ExtensionError(f"{piece!r} stands in {len(numbers)} lines of the answer; it has to stand in one.")
    return numbers[0]


def always_shown(lines):
    """The frame that the learner is given: class, def, super()."""
    return {n for n, line in enumerate(lines) if line.strip().startswith(("class ", "def ", "super()"))} | {
        n for n, line in enumerate(lines) if not line.strip()
    }


def grown(lines, shown, cut=None, returns=None):
    """The answer as far as it stands: the lines in `shown`, some cut short, and a `return` of its own."""
    text = []
    for number, line in enumerate(lines):
        if number in shown:
            for place, piece in (cut or {}).items():
                if number == line_with(lines, place):
                    if piece not in line:
                        raise ExtensionError(f"{piece!r} is not in {line.strip()!r}.")
                    line = line.replace(piece, "").rstrip()
            text.append(line)
    if returns:
        text.append(f"        return {returns}")
    return text


def difference(before, now):
    """Both in one text: lines added with +, lines removed with -."""
    return [line.rstrip() for line in difflib.ndiff(before, now) if not line.startswith("?")]


def run(known, code, expressions):
    """What the expressions give after this code; an error as its name and words."""
    import torch

    torch.manual_seed(0)
    space = {}
    exec("import copy\nimport math\nimport torch\nfrom torch import nn\n", space)
    for exercise in ("attention", "clones", "load_torch_weights"):
        exec("\n".join(known[exercise]), space)
    exec("\n".join(code), space)
    exec("module = MultiHeadedAttention(8, 512)\nx = torch.randn(2, 10, 512)", space)
    printed = []
    for expression in expressions:
        try:
            result = eval(expression, space)
        except (RuntimeError, AssertionError) as error:
            result = f"{type(error).__name__}: {error}"
        if result is not None:
            printed.append(f"{expression}\n    {result}")
    return "\n".join(printed)


def block(text, language):
    node = nodes.literal_block(text, text, language=language)
    node["classes"] = ["answer"]
    return node


class Answer(SphinxDirective):
    required_arguments = 1

    def lines(self):
        if self.config.course_book_edition != "solutions":
            raise ExtensionError(f"{self.env.docname} shows an answer; it belongs into the solutions edition only.")
        self.env.note_dependency(str(SOURCE))
        return answers()[self.arguments[0]]

    def run(self):
        return [block("\n".join(self.lines()).strip(), "python")]


class AnswerLines(Answer):
    option_spec = {"at": directives.unchanged_required, "count": directives.positive_int}  # noqa: RUF012

    def run(self):
        lines = self.lines()
        first = line_with(lines, self.options["at"])
        chosen = lines[first : first + self.options.get("count", 1)]
        indent = min(len(line) - len(line.lstrip()) for line in chosen)
        return [block("\n".join(line[indent:] for line in chosen), "python")]


class GrowingStep(Answer):
    has_content = True

    def run(self):
        lines = self.lines()
        step = yaml.safe_load("\n".join(self.content))
        state = self.env.temp_data.setdefault("growing", {"shown": always_shown(lines), "text": []})
        state["shown"] |= {line_with(lines, piece) for piece in step.get("add", [])}
        now = grown(lines, state["shown"], step.get("cut"), step.get("returns"))
        if step.get("last") and now != lines:
            raise ExtensionError("The last step is not yet the whole answer.")
        shown = [block("\n".join(difference(state["text"], now)), "diff")]
        state["text"] = now
        if step.get("show"):
            shown.append(block(run(answers(), now, step["show"]), "text"))
        return shown


def setup(app):
    app.add_config_value("course_book_edition", "learners", "env")
    app.add_directive("answer", Answer)
    app.add_directive("answer-lines", AnswerLines)
    app.add_directive("growing-step", GrowingStep)
