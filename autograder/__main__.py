"""The command `autograder`, and `python -m autograder`."""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.interrupting import handle_interrupts

NOWHERE = (
    "autograder: The folder in which you are is not there any more. Change into one that is, such as with `cd ~`, and "
    "try again."
)
handle_interrupts()  # before all other imports; the processes that a run starts import this file as well


def main() -> int:
    """Run one command. Returns its exit code."""
    try:
        Path.cwd()
    except OSError:  # PyTorch's import would end the process over it, with words of its own
        print(NOWHERE, file=sys.stderr)
        return 2
    from autograder.cli import main as run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
