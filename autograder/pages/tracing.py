"""A trace made ready to draw: the learner's lines, what each makes, and where the numbers leave the right way."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.comparing import explain_problem, show_shape
from autograder.language import _
from autograder.routes import Step, Traced, by_line


@dataclass(frozen=True)
class Row:
    """One operation and what it makes."""

    operation: str
    shape: str
    leaves: bool


@dataclass(frozen=True)
class LineView:
    """One of the learner's lines. height: rows of the table it takes."""

    function: str
    number: int
    text: str
    rows: list[Row]

    @property
    def height(self) -> int:
        """Rows of the table: one for each operation, one more where a sentence stands."""
        return len(self.rows) + sum(row.leaves for row in self.rows)


@dataclass(frozen=True)
class TraceView:
    """A trace in words. leaving: said at the operation where the numbers leave every known way."""

    title: str
    inputs: list[tuple[str, str]]
    lines: list[LineView]
    leaving: str
    sentences: list[str]


def trace_view(traced: Traced) -> TraceView:
    """The trace as a panel shows it."""
    return TraceView(
        title=_("Your own code in {exercise}, line by line").format(exercise=traced.exercise),
        inputs=[(name, show_shape(shape, axes)) for name, (shape, axes) in traced.inputs.items()],
        lines=[
            LineView(group[0].function, group[0].line, group[0].text, [_row(step) for step in group])
            for group in by_line(traced.steps)
        ],
        leaving=_(
            "Here the numbers leave every route we know. Up to here a right answer meets the same ones. Look at this "
            "line, and at what is missing before it."
        ),
        sentences=_sentences(traced),
    )


def _row(step: Step) -> Row:
    shape = show_shape(step.shape, step.axes)
    if step.count > 1:
        shape = _("{count} tensors, the first of shape {shape}").format(count=step.count, shape=shape)
    return Row(step.operation, shape, step.leaves)


def _sentences(traced: Traced) -> list[str]:
    said = []
    if not traced.steps:
        said.append(_("No operation of PyTorch on these inputs was seen in your own lines."))
    if traced.more:
        said.append(_("Some operations could not be shown, or were too many."))
    if traced.problem is not None:
        said.append(_("Your code stopped here: {what}.").format(what=explain_problem(traced.problem).got))
    elif not traced.wrong:
        said.append(_("On these inputs the result is right, so no line is marked."))
    elif traced.unfinished:
        said.append(
            _("The steps up to here are right, but the result is not: a step after them is missing, or differs.")
        )
    elif traced.leaves is None:
        said.append(
            _(
                "The result is wrong, but every number on the way is one that a right answer meets, or none that can "
                "be held against one. Look at what is returned, and in which order its axes stand."
            )
        )
    return said


def trace_offer(call: str) -> str:
    """How to see one's own code line by line, "" for no call."""
    return _("To see the shape that each line of your own code makes, run `{call}`.").format(call=call) if call else ""
