"""What a child does with one job: cells, then probes, then its reply. It runs a learner's code and holds no secret.

Whatever it sends can be forged by that code; the trusted side takes it for an observation and nothing more.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import mmap
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from IPython.utils.text import SList
from traitlets.config import Config

from autograder import wire
from autograder.cell_shell import CellShell, cell_name
from autograder.observations import Plain, Problem, Reply, Request
from autograder.probes import COURSE, STAND_INS, Probe, observe, probes_in, problem_of
from autograder.sandbox import engine

JOB_BYTES = 64 << 20
BRIEF = 4  # a brief job gets this part of the time for each step


class Shell(CellShell):
    """IPython without a terminal, a history, or other programs."""

    def init_virtualenv(self) -> None:
        """The environment is the one that runs."""

    def showtraceback(self, *_: Any, **__: Any) -> None:
        """Nobody reads it, and writing one takes longer than a cell."""

    def showsyntaxerror(self, *_: Any, **__: Any) -> None:
        """As for other tracebacks."""

    def system(self, cmd: str) -> None:
        """`!command`: there is no other program; the cell goes on."""
        self.user_ns["_exit_code"] = 127

    system_raw = system_piped = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """`names = !command`: no output."""
        return SList() if split else ""

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        """`%matplotlib`: figures are drawn into memory."""
        return None, "agg"

    def ask_exit(self) -> None:
        """`exit`: the notebook goes on."""

    def enable_gui(self, gui: str | None = None) -> None:
        """`%gui`: there is none."""


class Marks:
    """Where this process stands, in a page that the trusted side reads when the process is no more.

    The page holds pairs of numbers: the step that began last and the first step that left a thread running (both
    counted from 1; 0: none), then, for each step, seconds of computing and the time at which it began. A learner's code
    can write there too. What it then says of itself is whom to blame, among its own cells and exercises.
    """

    _pair = struct.Struct("<dd")
    # Kept here, out of reach of a cell that replaces what a module calls by these names.
    _computed, _now, _threads = time.process_time, time.monotonic, sys._current_frames
    _timer = getattr(signal, "setitimer", None)
    _handle = signal.signal

    def __init__(self, page: mmap.mmap | None) -> None:
        self._page = page
        self._left = 0
        self._alone = len(sys._current_frames())
        self.seconds = 0.0

    def begin(self, step: int, *, anew: bool = True) -> None:
        """A step begins. anew: with the full time of a step; otherwise it shares that of the one before."""
        if anew and Marks._timer is not None and self.seconds:
            Marks._handle(signal.SIGPROF, signal.SIG_DFL)
            Marks._timer(signal.ITIMER_PROF, self.seconds)
        if self._page is None:
            return
        if not self._left and step and len(Marks._threads()) > self._alone:
            self._left = step  # the step before this one, counted from 1
        place = Marks._pair.size * (step + 1)
        with contextlib.suppress(ValueError, struct.error):  # a page that was closed
            if place + Marks._pair.size <= len(self._page):
                Marks._pair.pack_into(self._page, place, Marks._computed(), Marks._now())
            Marks._pair.pack_into(self._page, 0, float(step + 1), float(self._left))


def make_shell(namespace_code: str) -> Shell:
    """A shell whose namespace holds what `namespace_code` defines, and a `check` that does nothing."""
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.HistoryManager.hist_file = ":memory:"
    settings.InteractiveShell.autocall = 0
    settings.InteractiveShell.enable_tip = False
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        shell: Shell = Shell.instance(config=settings)
    shell.user_ns["check"] = engine.no_check
    linecache.cache[COURSE] = (len(namespace_code), None, namespace_code.splitlines(keepends=True), COURSE)
    exec(compile(namespace_code, COURSE, "exec"), shell.user_ns)  # the course's own code
    return shell


def eagerly(model: Any = None, **_: Any) -> Any:
    """Stands for `torch.compile`, whose compiler takes longer than an answer may: the same operations, not compiled."""
    return model if model is not None else eagerly


def prepared(settings: Mapping[str, Any]) -> Worker:
    """A worker with the probes and the namespace of a course. Raises whatever they raise."""
    sys.path.extend(settings["packages"])
    torch.compile = eagerly
    probes: dict[str, Probe] = {}
    for filename, text in settings["probes"].items():
        for name, probe in probes_in(text, filename).items():
            if name in probes:
                raise ValueError(f"Two probes are called {name}.")
            probes[name] = probe
    return Worker(make_shell(settings["namespace_code"]), probes)


class Worker:
    """Runs jobs in this process: what the zygote prepares, and each child uses once."""

    def __init__(self, shell: Shell, probes: Mapping[str, Probe]) -> None:
        self.shell = shell
        self.probes = probes
        self.plan: Sequence[Request] = ()
        self._before = dict(shell.user_ns)
        self._marks = Marks(None)

    def serve(
        self,
        channel: socket.socket,
        layers: Mapping[str, bool],
        reply_bytes: int,
        step_seconds: float,
        page: mmap.mmap | None = None,
    ) -> None:
        """Says that all is in place, then receives one job and does it. page: for `Marks`."""
        wire.send(channel, wire.encode({"ready": dict(layers)}))
        job: Any = wire.decode(wire.receive(channel, limit=JOB_BYTES))
        cells: list[str] = job["cells"]
        self._marks = Marks(page)
        self._marks.seconds = step_seconds / BRIEF if job["brief"] else step_seconds
        sys.path.insert(0, "")  # as in a notebook: what a cell writes beside itself, it can import
        try:
            if job["careful"]:
                self._step_by_step(channel, cells, job["requests"], job["stand_ins"])
            else:
                self._at_once(channel, cells, job["requests"], job["stand_ins"], reply_bytes)
        except MemoryError:
            self._give_up(channel, wire.OUT_OF_MEMORY)
        except BaseException:  # what a learner's code did to this process
            # An empty message is none that can be read: better than a death whose cause nobody knows.
            self._give_up(channel, b"")

    def _give_up(self, channel: socket.socket, last_word: bytes) -> None:
        self.shell.user_ns.clear()
        wire.send(channel, last_word)

    def _at_once(
        self, channel: socket.socket, cells: list[str], requests: list[int], stand_ins: str, reply_bytes: int
    ) -> None:
        left = reply_bytes

        def tell(message: Plain) -> None:
            nonlocal left
            payload = wire.encode(message, settled=True)
            # The reader refuses a longer one by its header; the bytes need not be sent.
            channel.settimeout(None)
            if len(payload) > left:
                channel.sendall(len(payload).to_bytes(8, "little"))
            else:
                wire.send(channel, payload)
            left -= len(payload)

        problems: list[Plain] = []
        for position, code in enumerate(cells):
            self._marks.begin(position)
            problems.append(self._cell(position, code))
        self._marks.begin(len(cells))
        broken = self._stand_in(stand_ins)
        tell({"problems": problems, "stand_ins": broken, "defined": self._defined()})
        if broken is not None:
            return
        files = self._files(cells)
        step = len(cells)
        for _, group in itertools.groupby(requests, lambda position: self.plan[position].exercise):
            replies: list[Plain] = []
            for turn, position in enumerate(group):
                step += 1
                self._marks.begin(step, anew=turn == 0)
                replies.append([position, wire.plain_reply(self._observe(position, files))])
            tell(replies)

    def _step_by_step(self, channel: socket.socket, cells: list[str], requests: list[int], stand_ins: str) -> None:
        def tell(*words: Plain) -> None:
            wire.send(channel, wire.encode(list(words), settled=True))

        for position, code in enumerate(cells):
            tell("cell", position)
            self._marks.begin(position)
            tell("ran", position, self._cell(position, code))
        tell("stood in", self._stand_in(stand_ins))
        files = self._files(cells)
        exercise = None
        for turn, position in enumerate(requests):
            tell("request", position)
            self._marks.begin(len(cells) + 1 + turn, anew=self.plan[position].exercise != exercise)
            exercise = self.plan[position].exercise
            tell("replied", position, wire.plain_reply(self._observe(position, files)))
        tell("done", self._defined())

    def _cell(self, position: int, code: str) -> Plain:
        error = self.shell.run_named(cell_name(position), code)
        if error is None:
            return None
        return wire.plain_problem(problem_of(error, self.shell.user_ns, {cell_name(position): position}))

    def _observe(self, position: int, files: Mapping[str, int]) -> Reply:
        return observe(self.probes, self.shell.user_ns, self.plan[position], cells=files, interruptible=False)

    def _stand_in(self, source: str) -> Plain:
        """Replaces names by what `source` defines. Returns the problem if that fails."""
        if not source:
            return None
        linecache.cache[STAND_INS] = (len(source), None, source.splitlines(keepends=True), STAND_INS)
        try:
            exec(compile(source, STAND_INS, "exec"), self.shell.user_ns)  # the course's own code
        except BaseException as error:  # it becomes data
            problem = problem_of(error)
            return wire.plain_problem(Problem(problem.kind, problem.message))
        return None

    def _files(self, cells: Sequence[str]) -> dict[str, int]:
        return {cell_name(position): position for position in range(len(cells))}

    def _defined(self) -> Plain:
        """Callable names that the cells brought: not those of IPython or of the course."""
        hidden = self.shell.user_ns_hidden
        return sorted(
            name
            for name, value in self.shell.user_ns.items()
            if type(name) is str
            and not name.startswith("_")
            and callable(value)
            and name not in hidden
            and self._before.get(name) is not value
        )


def silence() -> None:
    """Standard input and outputs lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def keep_only(channel: int) -> socket.socket:
    """Of the open files, the channel and the standard ones are kept. Returns it."""
    if channel != 3:
        os.dup2(channel, 3, inheritable=False)
    os.closerange(4, 256)
    return socket.socket(fileno=3)
