"""A warm process that holds torch, IPython and a course's probes, and forks a child for each job.

Run as `python zygote.py CONTROL KEEPER`: numbers of the sockets to the trusted side and to the keeper that makes
chambers (-1: there is none, children share the namespaces that the zygote is in). It never runs a learner's code
itself. What it holds, each child holds: no answer, no check, no expected value; of a course, the probes and the inputs
alone.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import engine  # type: ignore[import-not-found]

engine.expose()

import base64  # noqa: E402
import contextlib  # noqa: E402
import gc  # noqa: E402
import mmap  # noqa: E402
import shutil  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from typing import Any  # noqa: E402

import torch  # noqa: E402

from autograder import wire  # noqa: E402
from autograder.cell_shell import cell_name  # noqa: E402
from autograder.observations import Limits  # noqa: E402
from autograder.sandbox import child, filters, namespaces  # noqa: E402
from autograder.sandbox.control import Control, Lost  # noqa: E402
from autograder.sandbox.fingerprint import fingerprint  # noqa: E402

PLAN_BYTES = 1 << 30


class Zygote:
    """Answers the trusted side, one message after the other."""

    def __init__(self, control: Control, keeper: socket.socket | None, settings: dict[str, Any]) -> None:
        self._control = control
        self._keeper = keeper
        self._confined: bool = settings["confined"]
        self._base: str = settings["base"]
        self._limits = Limits(**settings["limits"])
        self._readable: list[str] = settings["readable"]
        self._writable: list[str] = settings["writable"]
        self._program = base64.b64decode(settings["program"]) if settings["program"] else None
        self._landlock: int = settings["landlock"]
        self._running: int | None = None
        self._chamber: int | None = None
        self._worker = child.prepared(settings)
        _warm(self._worker.shell)
        self._freeze()

    def serve(self) -> None:
        """Until the trusted side is gone. Then nothing is left running."""
        try:
            self._serve()
        finally:
            if self._running is not None:
                self._end(self._running, 0)
            if not self._confined:
                shutil.rmtree(self._base, ignore_errors=True)

    def _serve(self) -> None:
        while True:
            message, handles = self._control.receive()
            wanted = message["do"]
            if wanted == "begin":
                self._control.send(self._begin(handles[0], handles[1], message["folder"]))
            elif wanted == "end":
                self._control.send(self._end(message["pid"], message["grace"]))
            elif wanted == "plan":
                self._control.send(self._take_plan(handles[0]))

    def _take_plan(self, handle: int) -> dict[str, Any]:
        with socket.socket(fileno=handle) as channel:
            content: Any = wire.decode(wire.receive(channel, limit=PLAN_BYTES))
        self._worker.plan = [wire.as_request(one) for one in content]
        self._freeze()
        unknown = {request.probe for request in self._worker.plan} - set(self._worker.probes)
        return {"unknown": sorted(unknown)}

    def _freeze(self) -> None:
        """What exists now is not looked at by children's garbage collections: they would copy its pages."""
        gc.collect()
        gc.freeze()

    def _enter_chamber(self, keeper: socket.socket) -> None:
        """The next child is born into a new pid namespace, which the keeper has had the time to make."""
        self._chamber = int(keeper.recv(32) or b"0")
        if not self._chamber:
            raise OSError("no new process namespace could be had")
        handle = os.pidfd_open(self._chamber)
        try:
            namespaces.enter_pid_namespace(handle)
        finally:
            os.close(handle)

    def _clear_chamber(self) -> None:
        """Whatever is left in the chamber ends here."""
        if self._keeper is not None and self._chamber is not None:
            self._keeper.send(b"%d" % self._chamber)
            self._chamber = None
            self._keeper.recv(32)

    def _begin(self, handle: int, page: int, folder: str) -> dict[str, Any]:
        if self._keeper is not None:
            self._enter_chamber(self._keeper)
        process = os.fork()
        if process == 0:
            try:
                self._become_child(handle, page, folder)
            finally:
                os._exit(0)
        os.close(handle)
        os.close(page)
        self._running = process
        return {"pid": process}

    def _become_child(self, handle: int, page: int, folder: str) -> None:
        child.silence()
        marks = mmap.mmap(page, os.fstat(page).st_size)  # the file itself is closed with all others
        channel = child.keep_only(handle)
        try:
            layers = self._confine(folder)
        except Exception as problem:  # told in words
            wire.send(channel, wire.encode({"failed": f"{type(problem).__name__}: {problem}"}))
        else:
            self._worker.serve(channel, layers, self._limits.reply_bytes, self._limits.step_seconds, marks)

    def _confine(self, folder: str) -> dict[str, bool]:
        """Puts everything around this process. Returns the layers by name, and whether this machine has them."""
        layers: dict[str, bool] = {}
        if self._keeper is not None:
            namespaces.unshare(namespaces.NEWNS | namespaces.NEWIPC)
            namespaces.mount_scratch(self._limits.scratch_bytes)
            filters.drop_capabilities()
        if self._confined:
            filters.forbid_new_privileges()
            layers = dict.fromkeys(("user", "pid", "network", "mount", "ipc", "uts", "capabilities"), True)
        else:
            os.setsid()
        os.chdir(folder)
        layers["limits"] = filters.limit(self._limits, processes=self._confined)
        if self._confined:
            layers["landlock"] = self._landlock > 0
            if self._landlock:
                filters.allow_files_only(self._landlock, self._readable, self._writable, namespaces.SCRATCH)
            layers["seccomp"] = self._program is not None
            if self._program is not None:
                filters.refuse_system_calls(self._program)
        return layers

    def _end(self, process: int, grace: float) -> dict[str, Any]:
        """Kills a child and all that it started. Says how it ended: by itself within `grace` seconds, or killed."""
        status = usage = None
        until = time.monotonic() + grace
        while grace > 0 and status is None and time.monotonic() < until:
            status, usage = _reap(process, os.WNOHANG)
            if status is None:
                time.sleep(0.002)
        killed = status is None
        if not self._confined:
            _kill(process, group=True)
        if killed:
            _kill(process, group=False)
            status, usage = _reap(process, 0)
        if self._confined and self._keeper is None:
            _empty(namespaces.SCRATCH)
        self._clear_chamber()
        self._running = None
        seconds = 0.0 if usage is None else usage.ru_utime + usage.ru_stime
        code = None if status is None else os.waitstatus_to_exitcode(status)
        return {"code": code, "killed": killed, "cpu": seconds}


def _empty(folder: str) -> None:
    """Removes all that a child left in a folder, also what it has closed to itself."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            _empty(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def _reap(process: int, options: int) -> tuple[int | None, Any]:
    seen, status, usage = os.wait4(process, options)
    return (status, usage) if seen else (None, None)


def _kill(process: int, *, group: bool) -> None:
    try:
        if group:
            os.killpg(process, signal.SIGKILL)
        else:
            os.kill(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _warm(shell: child.Shell) -> None:
    """Does once what is slow the first time, and makes PyTorch read what it wants to know of the machine."""
    x = torch.randn(2, 5, 12, requires_grad=True)
    layer = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    layer(x, x, x)[0].sum().backward()
    torch.nn.Dropout(0.5)(x)
    torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()  # type: ignore[no-untyped-call]
    torch.softmax(x.masked_fill(torch.tril(torch.ones(5, 12)) == 0, float("-inf")), dim=-1)
    torch.einsum("bij,bkj->bik", x, x)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        x.to(dtype) @ x.to(dtype).mT
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    wire.decode(wire.encode({"a": x, "b": [1, 2.0, "c", None]}))
    before = set(shell.user_ns)
    for code in ("def _a(x):\n    return x + 1", "class _B:\n    pass", "1 + 1", "%matplotlib inline", "1 +", "1 / 0"):
        shell.run_named(cell_name(0), code)
    for name in set(shell.user_ns) - before:
        del shell.user_ns[name]


def main() -> None:
    """Prepares everything, tells the trusted side, and serves it."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    control = Control(socket.socket(fileno=int(sys.argv[1])))
    keeper = None if sys.argv[2] == "-1" else socket.socket(fileno=int(sys.argv[2]))
    try:
        settings, _ = control.receive()
        zygote = Zygote(control, keeper, settings)
        control.send({"ready": fingerprint()})
        zygote.serve()
    except Lost:
        return
    except Exception as problem:  # told in words
        with contextlib.suppress(Lost):
            control.send({"failed": f"{type(problem).__name__}: {problem}"})


if __name__ == "__main__":
    try:
        main()
    finally:
        # A child never comes here: it ends within `_begin`.
        os._exit(0)
