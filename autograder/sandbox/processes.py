"""Starts the processes of a sandbox, from the trusted side, and has them ended.

`Zygote` is the line to a zygote that forks its children, whatever stands around them. `Spawner` starts each child anew,
on systems that cannot fork.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hmac
import json
import os
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder import wire
from autograder.observations import Limits
from autograder.sandbox import filters, view
from autograder.sandbox.control import Control, Lost
from autograder.sandbox.fingerprint import fingerprint
from autograder.sandbox.namespaces import DEVICES, SCRATCH

OWN = "own"  # namespaces that we make ourselves, and a pid namespace for each child
BUBBLEWRAP = "bubblewrap"  # the same view and namespaces, which children share one after the other
PLAIN = "plain"  # nothing but limits
SPAWNED = "spawned"  # not even a zygote: each child starts from nothing

_START_SECONDS = 120.0  # importing torch from a cold disk takes its time
_ANSWER_SECONDS = 30.0
_PLAN_SECONDS = 120.0
_HERE = Path(__file__).resolve().parent


class SandboxError(Exception):
    """Something of ours that kept a job from being done. The message is a sentence for the instructor."""


class NoIsolation(SandboxError):
    """Learners' code cannot be isolated on this machine."""


class SandboxBroken(SandboxError):
    """The sandbox stopped working and could not be started again."""


def can_fork() -> bool:
    """Whether this system can copy a process."""
    return hasattr(os, "fork")


def _probes_of(path: Path) -> dict[str, str]:
    try:
        texts = dict(view.read_probes(path))
        for name, text in texts.items():
            compile(text, name, "exec")  # here, since a zygote takes seconds to say so
    except (OSError, SyntaxError, ValueError) as problem:
        raise SandboxBroken(f"The probes cannot be read: {problem}") from problem
    return texts


@dataclasses.dataclass(frozen=True)
class End:
    """How a child ended. code: negative for a signal. killed: by us, not by itself. cpu: seconds of computing."""

    code: int
    killed: bool
    cpu: float


class Zygote:
    """The processes of one sandbox, and the line to them."""

    def __init__(self, probes: Path, limits: Limits, means: str, namespace_code: str, gpu: bool = False) -> None:
        self._means = means
        self._gpus = view.gpu_devices() if gpu else []
        self._isolated = means != PLAIN
        self._process: subprocess.Popen[bytes] | None = None
        texts = _probes_of(probes)
        self._view = view.view() if sys.platform.startswith("linux") else view.View((), ())
        if self._isolated:
            if not sys.platform.startswith("linux"):
                raise NoIsolation("Learners' code can only be isolated on Linux.")
            folder = self._view.shows(probes)
            if folder is not None:
                raise NoIsolation(f"The course lies in {folder}, which learners' code can read. Move it elsewhere.")
        if gpu:
            self._view = view.with_gpu(self._view)
        self._base = Path(tempfile.mkdtemp(prefix="autograder-"))
        self._last_words = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as the processes are
        ours, theirs = socket.socketpair()
        self._control = Control(ours)
        try:
            with theirs:
                self._launch(theirs, limits)
            self._prepare(texts, limits, namespace_code)
        except BaseException:
            self.close()
            raise

    def _launch(self, theirs: socket.socket, limits: Limits) -> None:
        seen = self._view
        command = [sys.executable, "-s", str(_HERE / "zygote.py")]
        environment = view.environment(SCRATCH if self._isolated else str(self._base))
        handle = str(theirs.fileno())
        if self._means == OWN:
            settings = {
                "base": str(self._base),
                "allowed": seen.allowed,
                "links": seen.links,
                "devices": [*DEVICES, *self._gpus],
                "command": command,
                "environment": environment,
            }
            command = [sys.executable, "-I", "-S", str(_HERE / "launcher.py"), json.dumps(settings), handle]
            environment = {}
        elif self._means == BUBBLEWRAP:
            devices = [*DEVICES, *self._gpus]
            wrapped = view.bubblewrap(
                shutil.which("bwrap") or "bwrap", seen, devices, environment, limits.scratch_bytes
            )
            command = [*wrapped, "--", *command, handle, "-1"]
            environment = {}
        else:
            command = [*command, handle, "-1"]
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._last_words,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )

    def _prepare(self, probes: Mapping[str, str], limits: Limits, namespace_code: str) -> None:
        program = filters.system_call_program() if self._isolated else None
        settings = {
            "confined": self._isolated,
            "base": str(self._base),
            "limits": dataclasses.asdict(limits),
            "readable": [*self._view.allowed, "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"],
            "writable": [os.devnull, *self._gpus],
            "landlock": filters.landlock_version() if self._isolated else 0,
            "program": base64.b64encode(program).decode() if program else None,
            "probes": dict(probes),
            "namespace_code": namespace_code,
            "packages": view.packages(),
        }
        try:
            self._control.send(settings, seconds=_ANSWER_SECONDS)
            answer, _ = self._control.receive(seconds=_START_SECONDS)
        except Lost as problem:
            what = "Learners' code cannot be isolated here" if self._isolated else "The sandbox does not start"
            why = self._why() or str(problem)
            raise (NoIsolation if self._isolated else SandboxBroken)(f"{what}: {why}") from problem
        if "refused" in answer:
            raise NoIsolation(f"This machine refuses what isolating learners' code needs: {answer['refused']}")
        if "failed" in answer:
            raise SandboxBroken(f"The sandbox does not start: {answer['failed']}")
        if self._isolated:
            # What is mounted there exists inside the room only: nothing is left behind if this process is killed.
            with contextlib.suppress(OSError):
                self._base.rmdir()
        ours, theirs = fingerprint(), answer.get("ready")
        if theirs != ours:
            raise NoIsolation(f"PyTorch computes differently inside the sandbox: {theirs} instead of {ours}.")

    def _why(self) -> str:
        """The last line that the processes wrote about their own trouble."""
        self._last_words.seek(0)
        lines = self._last_words.read(1 << 20).decode(errors="replace").strip().splitlines()
        return lines[-1][:500] if lines else ""

    def _ask(self, message: dict[str, Any], handles: Sequence[int] = ()) -> dict[str, Any]:
        try:
            self._control.send(message, handles, seconds=_ANSWER_SECONDS)
            answer, _ = self._control.receive(seconds=_ANSWER_SECONDS)
        except BaseException:  # an interrupt, too: the next answer would be that to this question
            self._control.close()
            raise
        if "failed" in answer:
            raise Lost(str(answer["failed"]))
        return answer

    def give_plan(self, plan: bytes) -> list[str]:
        """Sends the plan; returns the names of probes that do not exist."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._control.send({"do": "plan"}, [theirs.fileno()], seconds=_ANSWER_SECONDS)
            try:
                wire.send(ours, plan, deadline=time.monotonic() + _PLAN_SECONDS)
            except OSError as problem:
                raise Lost(f"The plan could not be sent: {problem}") from problem
            answer, _ = self._control.receive(seconds=_PLAN_SECONDS)
        return [str(name) for name in answer["unknown"]]

    @contextlib.contextmanager
    def child(self, steps: int) -> Iterator[Child]:
        """A fresh child for a job of so many steps, which is no more when this ends."""
        folder = SCRATCH if self._isolated else tempfile.mkdtemp(dir=self._base)
        ours, theirs = socket.socketpair()
        child: Child | None = None
        page = Page(steps)
        try:
            with theirs:
                answer = self._ask({"do": "begin", "folder": folder}, [theirs.fileno(), page.handle])
            if "pid" not in answer:
                raise Lost(str(answer.get("refused", "No child could be had.")))
            process = int(answer["pid"])
            child = Child(ours, lambda grace: self._end(process, grace), page)
            yield child
        finally:
            ours.close()
            if child is not None:
                with contextlib.suppress(Lost):  # the next job will notice
                    child.end(0)
            page.close()
            if not self._isolated:
                shutil.rmtree(folder, ignore_errors=True)

    def _end(self, process: int, grace: float) -> End:
        answer = self._ask({"do": "end", "pid": process, "grace": grace})
        return End(int(answer["code"]), bool(answer["killed"]), float(answer["cpu"]))

    def close(self) -> None:
        """Ends everything: the zygote ends when its line does, and takes all that it holds with it."""
        self._control.close()
        if self._process is not None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._last_words.close()
        shutil.rmtree(self._base, ignore_errors=True)


class Page:
    """A page that a child shares with us: it notes where it stands, and we read that when it is no more.

    `child.Marks` writes it, and so may a learner's code: what stands there is looked at, never believed.
    """

    _PAIR = struct.Struct("<dd")

    def __init__(self, steps: int) -> None:
        self._size = self._PAIR.size * (steps + 1)
        if hasattr(os, "memfd_create"):
            self.handle = os.memfd_create("steps", os.MFD_CLOEXEC)
        else:
            with tempfile.TemporaryFile() as file:
                self.handle = os.dup(file.fileno())
        os.ftruncate(self.handle, self._size)

    def read(self) -> list[tuple[float, float]]:
        """The pairs of numbers. Reading, not mapping: whatever became of the file, this ends."""
        data = os.pread(self.handle, self._size, 0)
        return list(self._PAIR.iter_unpack(data.ljust(self._size, b"\0")))

    def close(self) -> None:
        """Gives it up."""
        os.close(self.handle)


class Child:
    """One child, from the trusted side. page: None where there is none to share."""

    def __init__(self, channel: socket.socket, end: Callable[[float], End], page: Page | None = None) -> None:
        self._end: Callable[[float], End] | None = end
        self.channel = channel
        self.page = page
        self.ready = False

    def layers(self, deadline: float) -> dict[str, bool]:
        """What stands around the child. It says so before it sees any code of a learner's."""
        message = wire.decode(wire.receive(self.channel, limit=1 << 16, deadline=deadline))
        if not isinstance(message, Mapping) or not isinstance(message.get("ready"), Mapping):
            why = message.get("failed", "") if isinstance(message, Mapping) else ""
            raise Lost(f"A child could not be set up. {why}")
        self.ready = True
        return {name: bool(there) for name, there in message["ready"].items()}  # type: ignore[union-attr]

    def end(self, grace: float) -> End:
        """Has it ended, once: by itself within `grace` seconds, or killed."""
        if self._end is None:
            return End(0, True, 0.0)
        end, self._end = self._end, None
        return end(grace)


class Spawner:
    """Starts a process for each child. It isolates nothing, and takes seconds."""

    def __init__(self, probes: Path, limits: Limits, namespace_code: str) -> None:
        self._limits = limits
        self._known: set[str] = set()
        self._settings: dict[str, Any] = {
            "limits": dataclasses.asdict(limits),
            "probes": _probes_of(probes),
            "namespace_code": namespace_code,
            "packages": view.packages(),
            "plan": [],
        }

    def give_plan(self, plan: bytes) -> list[str]:
        """Keeps the plan; returns the names of probes that do not exist."""
        content: Any = wire.decode(plan)
        self._settings["plan"] = content
        return sorted({request["probe"] for request in content} - self._known)

    @contextlib.contextmanager
    def child(self, steps: int) -> Iterator[Child]:
        """A fresh child, which is no more when this ends."""
        with (
            tempfile.TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True) as folder,
            socket.create_server(("127.0.0.1", 0)) as server,
        ):
            command = [sys.executable, "-s", str(_HERE / "spawned.py"), str(server.getsockname()[1])]
            process = subprocess.Popen(
                command,
                env=view.environment(folder),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                with self._met(server, process) as channel:
                    self._prepare(channel)
                    yield Child(channel, lambda grace: _ended(process, grace))
            finally:
                _ended(process, 0)

    def _met(self, server: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket:
        """The connection from the child, who is known by a word that only it was told."""
        word = secrets.token_hex(16).encode()
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin as line:
            line.write(word + b"\n")
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and process.poll() is None:
            server.settimeout(1)
            with contextlib.suppress(OSError):
                channel, _ = server.accept()
                channel.settimeout(5)
                if hmac.compare_digest(channel.recv(len(word), socket.MSG_WAITALL), word):
                    return channel
                channel.close()
        raise Lost("A process that was started did not answer.")

    def _prepare(self, channel: socket.socket) -> None:
        deadline = time.monotonic() + _START_SECONDS
        try:
            wire.send(channel, wire.encode(self._settings), deadline=deadline)
            answer: Any = wire.decode(wire.receive(channel, limit=1 << 20, deadline=deadline))
        except (OSError, wire.Closed, wire.Malformed) as problem:
            raise Lost(f"A process that was started did not answer: {problem}") from problem
        if "failed" in answer:
            raise SandboxBroken(f"The sandbox does not start: {answer['failed']}")
        if answer["prepared"] != fingerprint():
            raise SandboxBroken("PyTorch computes differently in a process of its own.")
        self._known = set(answer["probes"])

    def close(self) -> None:
        """There is nothing to end: a child ends with its job."""


def _ended(process: subprocess.Popen[bytes], grace: float) -> End:
    killed = False
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=grace)
    if process.returncode is None:
        killed = True
        process.kill()
        process.wait()
    return End(process.returncode, killed, 0.0)
