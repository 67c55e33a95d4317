"""What a child does with one job: cells, then probes, then its reply. It runs a learner's code and holds no secret.

Whatever it sends can be forged by that code; the trusted side takes it for an observation and nothing more.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList
from traitlets.config import Config

from autograder import wire
from autograder.observations import Plain, Problem, Reply, Request
from autograder.probes import COURSE, STAND_INS, Probe, observe, probes_in, problem_of
from autograder.sandbox import engine

JOB_BYTES = 64 << 20


def cell_name(position: int) -> str:
    """The file name under which the code of a cell is known."""
    return f"<cell {position}>"


class _Compiler(CachingCompiler):  # type: ignore[misc]
    """Names the code of each cell by its position."""

    position = 0

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return cell_name(self.position)


class Shell(InteractiveShell):  # type: ignore[misc]
    """IPython without a terminal, a history, or other programs."""

    compiler_class = _Compiler

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

    def run(self, position: int, code: str) -> BaseException | None:
        """Runs one cell; returns what stopped it."""
        self.compile.position = position
        try:
            result = self.run_cell(code, store_history=False, silent=True)
        except BaseException as error:  # a hook that a cell left behind
            return error
        return result.error_before_exec or result.error_in_exec  # type: ignore[no-any-return]


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


def prepared(settings: Mapping[str, Any]) -> Worker:
    """A worker with the probes and the namespace of a course. Raises whatever they raise."""
    sys.path.extend(settings["packages"])
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

    def serve(self, channel: socket.socket, layers: Mapping[str, bool], reply_bytes: int) -> None:
        """Says that all is in place, then receives one job and does it."""
        wire.send(channel, wire.encode({"ready": dict(layers)}))
        job: Any = wire.decode(wire.receive(channel, limit=JOB_BYTES))
        cells: list[str] = job["cells"]
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
        problems: list[Plain] = [self._cell(position, code) for position, code in enumerate(cells)]
        broken = self._stand_in(stand_ins)
        files = self._files(cells)
        replies: list[Plain] = []
        if broken is None:
            replies = [[position, wire.plain_reply(self._observe(position, files))] for position in requests]
        message = {"problems": problems, "stand_ins": broken, "replies": replies, "defined": self._defined()}
        payload = wire.encode(message, settled=True)
        # The reader refuses a longer one by its header; the bytes need not be sent.
        channel.settimeout(None)
        if len(payload) > reply_bytes:
            channel.sendall(len(payload).to_bytes(8, "little"))
        else:
            wire.send(channel, payload)

    def _step_by_step(self, channel: socket.socket, cells: list[str], requests: list[int], stand_ins: str) -> None:
        def tell(*words: Plain) -> None:
            wire.send(channel, wire.encode(list(words), settled=True))

        for position, code in enumerate(cells):
            tell("cell", position)
            tell("ran", position, self._cell(position, code))
        tell("stood in", self._stand_in(stand_ins))
        files = self._files(cells)
        for position in requests:
            tell("request", position)
            tell("replied", position, wire.plain_reply(self._observe(position, files)))
        tell("done", self._defined())

    def _cell(self, position: int, code: str) -> Plain:
        error = self.shell.run(position, code)
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
