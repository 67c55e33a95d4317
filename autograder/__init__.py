"""An autograder for courses on PyTorch: `check()` in the learner's notebook, `autograder` on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.notebook_check import Checked

__version__ = "0.1.0"
__all__ = ["check"]


def check(exercise: str | None = None, *, trace: bool = False) -> Checked:
    """Try the rules of one exercise, or of all, on your own code, and say what holds and what does not.

    exercise: its name, such as "split_heads"; without it every exercise is tried and the total shown.
    trace: also show each operation of your own code with the shape it makes, and where the numbers leave the right way.
    Returns an object that shows itself as a panel in a notebook; its `repr` is the points earned.
    """
    from autograder.notebook_check import check_in_notebook

    return check_in_notebook(exercise, trace=trace)
