"""Ctrl-C ends in one sentence from the first moment on, also while modules are still being imported."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

STOPPED = "autograder: stopped."
GRADE_STOPPED = f"{STOPPED} What is written so far is whole; `grade --resume` goes on from there."
RELEASE_STOPPED = f"{STOPPED} Nobody's files are lost; run `autograder release` again to bring the rest up to date."
INTERRUPTED = 130  # exit code, as shells have it
_when_stopped: list[Callable[[], object]] = []


class StoppedIn(KeyboardInterrupt):
    """Ctrl-C, or a notebook's stop button, in somebody's code. The message is a sentence that says where."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def stopped(arguments: Sequence[str]) -> str:
    """What is said where Ctrl-C ends a command. arguments: those of the command line."""
    command = next((one for one in arguments if not one.startswith("-")), "")
    if command == "release":
        return RELEASE_STOPPED
    writes = not any(one.partition("=")[0] == "--only" for one in arguments)
    return GRADE_STOPPED if command == "grade" and writes else STOPPED


@contextlib.contextmanager
def when_stopped(action: Callable[[], object]) -> Iterator[None]:
    """Do this where Ctrl-C ends what is within, also inside an import."""
    _when_stopped.append(action)
    try:
        yield
    except KeyboardInterrupt:
        action()
        raise
    finally:
        _when_stopped.remove(action)


def handle_interrupts() -> None:
    """Have Ctrl-C raise KeyboardInterrupt, and end the process where that cannot be caught: inside an import.

    There it turns into other errors on its way out, of NumPy's and Python's own. An import holds nothing to tidy up.
    """
    signal.signal(signal.SIGINT, _interrupted)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """A process that is started within meets no Ctrl-C until it calls `let_interrupts_through`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its start, with the first process, would let them through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_interrupts_through() -> None:
    """Raises KeyboardInterrupt where one came in the meantime."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def is_interrupt(problem: BaseException) -> bool:
    """Whether Ctrl-C is behind an exception, and no `raise KeyboardInterrupt` in somebody's code.

    Where another than us has said what Ctrl-C does, as in a notebook, nobody can tell: then every one counts as such.
    """
    ours = signal.getsignal(signal.SIGINT) is _interrupted
    seen: set[int] = set()
    one: BaseException | None = problem
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        if isinstance(one, KeyboardInterrupt) and (not ours or _raised_here(one)):
            return True
        one = one.__cause__ or one.__context__
    return False


def _raised_here(problem: BaseException) -> bool:
    return any(frame.f_code is _interrupted.__code__ for frame, _line in traceback.walk_tb(problem.__traceback__))


def _interrupted(_number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _end()
        frame = frame.f_back
    raise KeyboardInterrupt


def _end() -> None:
    processes = sys.modules.get("multiprocessing.process")
    if processes is None or processes.parent_process() is None:  # of a run's processes one speaks
        for action in _when_stopped:
            with contextlib.suppress(Exception):
                action()
        os.write(2, f"{stopped(sys.argv[1:])}\n".encode())
    os._exit(INTERRUPTED)
