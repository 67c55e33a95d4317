"""One guard taken away at a time: then an attack bites that does nothing while the guard stands.

What runs in the child's side is a copy of it with one line changed.
"""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from attack_support import base_notebook
from sandbox_support import NAMESPACE, looked, write_probes

from autograder import notebooks
from autograder.course import Course, Source
from autograder.grading.submission import Grader
from autograder.observations import Limits
from autograder.sandbox import Sandbox, filters, open_sandbox, processes, view

pytestmark = [pytest.mark.long, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's guards")]

ENGINE = Path(processes.__file__).resolve().parents[1]
NO_CALLS = ("sandbox/zygote.py", "filters.refuse_system_calls(self._program)", "pass")
NO_LANDLOCK = (
    "sandbox/zygote.py",
    "filters.allow_files_only(self._landlock, self._readable, self._writable, namespaces.SCRATCH)",
    "pass",
)


@dataclass(frozen=True)
class Guard:
    """What is taken away (file, line, what stands there instead), the attack, and what it sees when it bites."""

    name: str
    changes: tuple[tuple[str, str, str], ...]
    attack: str
    bites: Any


GUARDS = [
    Guard(
        "system-call filter", (NO_CALLS,),
        "import os\npid = os.fork()\nif pid == 0:\n    os._exit(0)\nseen = os.waitpid(pid, 0)[0] == pid", True,
    ),
    Guard(
        "a scratch folder for each child",
        (("sandbox/zygote.py", "namespaces.mount_scratch(self._limits.scratch_bytes)", "pass"),),
        "import os\nseen = os.path.exists('left')\nopen('left', 'w').close()", True,
    ),
    Guard(
        "no capability", (("sandbox/zygote.py", "filters.drop_capabilities()", "pass"),),
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "head, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()\n"
        "libc.capget(head, sets)\nseen = any(sets)", True,
    ),
    Guard(
        "limits", (("sandbox/zygote.py", "filters.limit(self._limits, processes=self._confined)", "True"),),
        "seen = open('big', 'wb').write(b'x' * (5 << 20)) > 0", True,
    ),
    Guard(
        "a read-only view, and Landlock", (
            NO_LANDLOCK,
            ("sandbox/namespaces.py", 'mount(None, "/", None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)', "pass"),
        ),
        "open('/planted', 'w').close()\nimport os\nseen = os.path.exists('/planted')", True,
    ),
    Guard(
        "one open channel", (("sandbox/child.py", "    os.closerange(4, 256)\n", ""),),
        "import os, stat\nseen = False\nfor number in range(4, 256):\n    try:\n"
        "        seen = seen or stat.S_ISSOCK(os.fstat(number).st_mode)\n    except OSError:\n        pass", True,
    ),
    Guard(
        "no network, and no sockets", (NO_CALLS, ("sandbox/launcher.py", "| namespaces.NEWNET ", ""), NO_LANDLOCK),
        "import socket\nline = socket.create_connection(('127.0.0.1', PORT), timeout=2)\n"
        "seen = line.recv(9) == b'secret'", True,
    ),
    Guard(
        "other processes out of sight", (
            NO_CALLS,
            ("sandbox/zygote.py", "            self._enter_chamber(self._keeper)\n", "            pass\n"),
        ),
        "import os\nseen = os.getpid() > 2", True,
    ),
]  # fmt: skip


@pytest.fixture
def port() -> Iterator[int]:
    """Something that listens outside, and tells whoever comes."""
    import threading

    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                line.sendall(b"secret")
                line.close()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


def sandbox_of(folder: Path, patch: pytest.MonkeyPatch, changes: tuple[tuple[str, str, str], ...]) -> Sandbox:
    """A sandbox whose child's side is a copy with these changes."""
    copy = folder / "autograder"
    shutil.copytree(ENGINE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, line, instead in changes:
        text = (copy / name).read_text(encoding="utf-8")
        assert text.count(line) == 1, (name, line)
        (copy / name).write_text(text.replace(line, instead), encoding="utf-8")
    patch.setattr(processes, "_HERE", copy / "sandbox")
    patch.setattr(view, "ENGINE", copy)
    return open_sandbox(write_probes(folder), limits=Limits(), namespace_code=NAMESPACE)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_without_a_guard_an_attack_bites(guard: Guard, tmp_path: Path, port: int) -> None:
    attack = guard.attack.replace("PORT", str(port))
    for changes in ((), guard.changes):
        folder = tmp_path / ("without" if changes else "with")
        folder.mkdir()
        folder.chmod(0o755)
        with pytest.MonkeyPatch.context() as patch, sandbox_of(folder, patch, changes) as sandbox:
            bites = []
            for _ in range(2):
                try:
                    bites.append(looked(sandbox, attack) == guard.bites)
                except AssertionError:
                    bites.append(False)
            assert any(bites) == bool(changes), f"{guard.name}: {bites}"


def test_a_view_that_shows_the_course_gives_the_marks_away(
    course: Course, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    notebook = base_notebook(course, source, "stubs")
    path = source.notebook
    lines = f"[line for line in open({str(path)!r}) if not line.startswith(('#', 'check('))]"
    code = f"exec(''.join({lines}))"
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": code, "outputs": []})
    data = json.dumps(notebook).encode()
    with Grader.open(source, seed=3) as grader:
        assert grader.grade_bytes("s", data).score == 0
    seen = view.view()
    shown = view.View((*seen.allowed, str(path)), seen.links)
    monkeypatch.setattr(view, "view", lambda: shown)
    monkeypatch.setattr(view.View, "shows", lambda self, other: None)
    with Grader.open(source, seed=3) as grader:
        assert (grader.grade_bytes("s", data).score or 0) > 50


def test_an_environment_that_is_passed_on_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRADER_SECRET", "hunter2")
    code = "import os\nseen = 'hunter2' in str(dict(os.environ))"
    made = view.environment
    for passed, expected in ((False, False), (True, True)):
        folder = tmp_path / str(passed)
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            if passed:
                patch.setattr(view, "environment", lambda scratch: {**made(scratch), "AUTOGRADER_SECRET": "hunter2"})
            with sandbox_of(folder, patch, ()) as sandbox:
                assert looked(sandbox, code) is expected


def test_replies_without_a_cap_arrive_whole(tmp_path: Path) -> None:
    code = "def answer(x):\n    return torch.zeros(20 << 20)"
    from autograder.observations import Job, Request

    for cap, dies in ((64 << 20, True), (1 << 30, False)):
        with open_sandbox(write_probes(tmp_path), limits=Limits(reply_bytes=cap), namespace_code=NAMESPACE) as sandbox:
            sandbox.give_plan([Request("e", "c", "call", {"x": 1}, 0)])
            assert (sandbox.run(Job([code], [0])).death is not None) is dies


def test_a_link_that_is_followed_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("{}", encoding="utf-8")
    link = tmp_path / "s.ipynb"
    link.symlink_to(tmp_path / "secret")
    with pytest.raises(notebooks.Unreadable, match="link"):
        notebooks.read_file(link)
    monkeypatch.setattr(Path, "is_symlink", lambda self: False)
    with pytest.raises(notebooks.Unreadable):  # the system refuses it as well
        notebooks.read_file(link)
    monkeypatch.setattr(notebooks.os, "O_NOFOLLOW", 0)
    assert notebooks.read_file(link) == b"{}"


def test_layers_are_reported_as_missing_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "landlock_version", lambda: 0)
    with open_sandbox(write_probes(tmp_path), namespace_code=NAMESPACE) as sandbox:
        assert sandbox.layers["landlock"] is False
