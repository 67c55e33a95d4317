"""The command `autograder`, and `python -m autograder`."""

from __future__ import annotations

from autograder.interrupting import handle_interrupts

handle_interrupts()  # before all other imports; the processes that a run starts import this file as well


def main() -> int:
    """Run one command. Returns its exit code."""
    from autograder.cli import main as run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
