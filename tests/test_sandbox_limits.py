"""What a learner's code tries in its child, and what comes of it: nothing, layer by layer."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from sandbox_support import NAMESPACE, death, looked, opened, ran, shared, write_probes

from autograder.observations import Job, Limits, Request
from autograder.sandbox import NoIsolation, Sandbox, filters, processes, view

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces are Linux's")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def sandbox() -> Sandbox:
    return shared()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """As on a machine that has neither libseccomp nor Landlock: namespaces and limits alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filters, "system_call_program", lambda: None)
        patch.setattr(filters, "landlock_version", lambda: 0)
        sandbox = opened(tmp_path_factory.mktemp("probes"))
    with sandbox:
        assert {name for name, there in sandbox.layers.items() if not there} == {"landlock", "seccomp"}
        yield sandbox


@pytest.fixture(scope="module")
def wrapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """As on a machine where only bubblewrap may make namespaces."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    launch = processes.Zygote._launch

    def refuse(self: processes.Zygote, theirs: socket.socket, limits: Limits) -> None:
        if self._means == processes.OWN:
            raise NoIsolation("This machine makes no namespaces for us.")
        launch(self, theirs, limits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes.Zygote, "_launch", refuse)
        sandbox = opened(tmp_path_factory.mktemp("probes"))
    with sandbox:
        assert (sandbox.isolation, sandbox.means) == ("namespaces", processes.BUBBLEWRAP)
        yield sandbox


@pytest.fixture(params=["sandbox", "bare", "wrapped"])
def confined(request: pytest.FixtureRequest) -> Sandbox:
    """All: what these tests claim holds whoever makes the namespaces, and whatever else stands around them."""
    found: Sandbox = request.getfixturevalue(request.param)
    return found


def refused(sandbox: Sandbox, code: str, *kinds: str) -> bool:
    """Whether a cell is stopped by an exception of one of these kinds."""
    outcome = ran(sandbox, code)
    assert outcome.death is None, outcome.death
    (problem,) = outcome.problems
    assert problem is not None, f"it went through: {code}"
    assert problem.kind in kinds, problem
    return True


def test_every_layer_that_this_machine_has_is_in_place(sandbox: Sandbox) -> None:
    expected = {"user", "pid", "network", "mount", "ipc", "uts", "capabilities", "limits", "landlock", "seccomp"}
    assert set(sandbox.layers) == expected
    missing = {name for name, there in sandbox.layers.items() if not there}
    assert ("landlock" in missing) == (filters.landlock_version() == 0)
    assert ("seccomp" in missing) == (filters.system_call_program() is None)
    assert missing <= {"landlock", "seccomp"}


def test_without_isolation_no_layer_is_claimed() -> None:
    sandbox = shared(unsandboxed=True)
    assert sandbox.isolation == "none"
    assert set(sandbox.layers) == {"limits"}


# --- Files ----------------------------------------------------------------------------------------------------------


def test_the_course_and_everything_else_of_ours_do_not_exist(confined: Sandbox) -> None:
    tried = [str(ROOT / name) for name in ("solutions", "tests", ".git", "README.md", "autograder/cli.py")]
    tried += ["/home", "/var", "/sys", "/etc/passwd", "/etc/shadow", "/proc/self", "/proc/1", "/proc/sys", "/run"]
    assert all(Path(path).exists() for path in (tried[0], tried[7], tried[9]))
    assert looked(confined, f"import os\nseen = [path for path in {tried!r} if os.path.exists(path)]") == []


def test_of_the_engine_only_what_runs_in_the_child_is_there(confined: Sandbox) -> None:
    if view.view().shows(ROOT / "autograder" / "cli.py"):
        pytest.skip("the engine is installed among the packages, and whole")
    names = sorted(path.name for path in (ROOT / "autograder").iterdir())
    code = (
        f"import os\nseen = [name for name in {names!r} if os.path.exists({str(ROOT / 'autograder')!r} + '/' + name)]"
    )
    assert looked(confined, code) == [
        "cell_shell.py",
        "observations.py",
        "probes.py",
        "sandbox",
        "tracing.py",
        "wire.py",
    ]


def test_the_probes_file_is_not_there_either(sandbox: Sandbox) -> None:
    assert looked(sandbox, f"import os\nseen = os.path.exists({str(sandbox._probes)!r})") is False


@pytest.mark.parametrize("place", ["/", sys.prefix, sys.base_prefix, "/usr/lib", "/dev", "/proc", torch.__path__[0]])
def test_nothing_can_be_written_but_scratch(confined: Sandbox, place: str) -> None:
    assert refused(confined, f"open({place!r} + '/planted.py', 'w')", "OSError", "PermissionError", "FileNotFoundError")


def test_existing_files_cannot_be_changed(confined: Sandbox) -> None:
    assert refused(confined, "open(torch.__file__, 'a')", "OSError", "PermissionError")
    assert refused(confined, "import os\nos.chmod(torch.__file__, 0o777)", "OSError", "PermissionError")
    assert refused(confined, "import os\nos.unlink(torch.__file__)", "OSError", "PermissionError")
    assert refused(confined, "import os\nos.rename('/scratch', '/elsewhere')", "OSError", "PermissionError")


def test_scratch_is_empty_for_each_child_and_bounded(confined: Sandbox) -> None:
    plant = """
        import os, tempfile
        seen = [os.getcwd(), os.listdir('.'), tempfile.mkstemp()[1].startswith('/scratch')]
        open('left', 'w').write('x')
        try:
            open('/tmp/left', 'w')  # scratch, or read-only where the interpreter lies in there
        except OSError:
            pass
    """
    for _ in range(2):
        assert looked(confined, textwrap.dedent(plant)) == ["/scratch", [], True]
    assert refused(confined, "open('big', 'wb').write(b'x' * (8 << 20))", "OSError")
    assert refused(confined, "for i in range(9):\n    open(str(i), 'wb').write(b'x' * (1 << 20))", "OSError")


@pytest.mark.parametrize("place", ["/dev/shm", "/tmp", "~", "~/.ipython/profile_default/startup", "~/.config"])
def test_nothing_that_is_planted_is_seen_by_the_next(confined: Sandbox, place: str) -> None:
    code = f"""
        import os
        place = os.path.expanduser({place!r})
        seen = os.path.exists(place + '/planted.py')
        try:
            os.makedirs(place, exist_ok=True)
            open(place + '/planted.py', 'w').write('x = 1')
        except OSError:
            pass
    """
    for _ in range(2):
        assert looked(confined, textwrap.dedent(code)) is False


@pytest.mark.parametrize(
    "device", ["/dev/sda", "/dev/vda", "/dev/mem", "/dev/kvm", "/dev/tty", "/dev/fuse", "/dev/ptmx"]
)
def test_devices_do_not_exist(confined: Sandbox, device: str) -> None:
    assert refused(confined, f"open({device!r})", "FileNotFoundError", "PermissionError")


def test_the_view_shows_no_folder_whole() -> None:
    seen = view.view()
    assert seen.shows(ROOT / "solutions") is None
    assert seen.shows(torch.__file__) is not None
    assert not {"/", "/usr", "/home", "/root", "/etc", "/proc", "/sys", str(ROOT), str(ROOT.parent)} & set(seen.allowed)


def test_links_on_the_way_are_followed_and_told(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "up").symlink_to("../link/inner")
    links: dict[str, str] = {}
    real = tmp_path.resolve()
    assert view.resolve(str(real / "link" / "up"), links) == str(real / "real" / "inner")
    assert links == {str(real / "link"): "real", str(real / "real" / "up"): "../link/inner"}
    (tmp_path / "loop").symlink_to("loop")
    assert view.resolve(str(real / "loop"), {}) == str(real / "loop")


# --- Processes, privileges, the network -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.fork()",
        "import subprocess\nsubprocess.run(['true'])",
        "import multiprocessing as m\nm.get_context('fork').Process(target=print).start()",
        "import sys, os\nos.execv(sys.executable, ['python'])",
        "import sys, os\nos.posix_spawn(sys.executable, ['python'], {})",
        "import os\nwhile True:\n    os.fork()",
    ],
)
def test_no_process_can_be_started(sandbox: Sandbox, code: str) -> None:
    if not sandbox.layers["seccomp"]:
        pytest.skip("libseccomp is missing")
    assert refused(sandbox, code, "PermissionError", "OSError")


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG"])
def test_no_socket_can_be_made(sandbox: Sandbox, family: str) -> None:
    assert refused(sandbox, f"import socket\nsocket.socket(socket.{family})", "PermissionError")


def test_a_pair_of_local_sockets_can(sandbox: Sandbox) -> None:
    assert looked(sandbox, "import socket\na, b = socket.socketpair()\na.send(b'x')\nseen = len(b.recv(9))") == 1
    assert refused(sandbox, "import socket\nsocket.socketpair(socket.AF_INET)", "PermissionError", "OSError")


CALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
ctypes.set_errno(0)
seen = [libc.syscall({call}), ctypes.get_errno()]
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
@pytest.mark.parametrize(
    ("name", "call", "errno"),
    [
        ("clone", "56, 17, 0, 0, 0, 0", 1),
        ("clone3", "435, 0, 0", 38),
        ("vfork", "58", 1),
        ("ptrace", "101, 0, 0, 0, 0", 1),
        ("process_vm_readv", "310, 1, 0, 0, 0, 0, 0", 1),
        ("mount", "165, 0, 0, 0, 0, 0", 1),
        ("umount2", "166, b'/scratch', 2", 1),
        ("pivot_root", "155, b'.', b'.'", 1),
        ("chroot", "161, b'.'", 1),
        ("unshare, user", "272, 0x10000000", 1),
        ("setns", "308, 0, 0", 1),
        ("bpf", "321, 0, 0, 0", 1),
        ("io_uring_setup", "425, 1, 0", 1),
        ("keyctl", "250, 0, 0, 0, 0, 0", 1),
        ("memfd_create", "319, b'x', 0", 1),
        ("shmget", "29, 0, 1 << 30, 0o1777", 1),
        ("userfaultfd", "323, 0", 1),
        ("perf_event_open", "298, 0, 0, 0, 0, 0", 1),
        ("open_by_handle_at", "304, 0, 0, 0", 1),
        ("ioctl TIOCSTI", "16, 0, 0x5412, b'x'", 1),
        ("kexec_load", "246, 0, 0, 0, 0", 1),
        ("init_module", "175, 0, 0, 0", 1),
    ],
    ids=lambda value: value if isinstance(value, str) and value[:1].isalpha() else "",
)
def test_a_dangerous_system_call_is_refused(sandbox: Sandbox, name: str, call: str, errno: int) -> None:
    if not sandbox.layers["seccomp"]:
        pytest.skip("libseccomp is missing")
    assert looked(sandbox, CALL.format(call=call)) == [-1, errno], name


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
def test_system_calls_of_another_kind_end_the_process(sandbox: Sandbox) -> None:
    if not sandbox.layers["seccomp"]:
        pytest.skip("libseccomp is missing")
    found = death(sandbox, CALL.format(call="0x40000000 + 39"))  # the x32 way
    assert found is not None
    assert (found.reason, found.detail) == ("signal", "SIGSYS")


def test_no_capability_is_left(confined: Sandbox) -> None:
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        head, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert libc.capget(head, sets) == 0
        bounding = [n for n in range(64) if libc.prctl(23, n, 0, 0, 0) == 1]
        seen = [list(sets), bounding, libc.prctl(39, 0, 0, 0, 0)]
    """
    assert looked(confined, textwrap.dedent(code)) == [[0] * 6, [], 1]


def test_only_the_child_itself_can_be_seen(confined: Sandbox) -> None:
    code = """
        import os
        seen = []
        for number in range(1, 400):
            try:
                os.getpgid(number)
            except ProcessLookupError:
                continue
            seen.append(number)
    """
    seen = looked(confined, textwrap.dedent(code))
    if confined.means == processes.OWN:
        assert seen == [1, 2]  # the first holds the chamber open; it is idle, and ends with the child
    else:
        assert len(seen) == 3  # bubblewrap's own, the zygote, and the child


@pytest.mark.parametrize("number", [1, -1])
@pytest.mark.parametrize("what", [9, 15, 19])
def test_killing_everything_in_sight_reaches_nobody(confined: Sandbox, number: int, what: int) -> None:
    before = confined.restarts
    ran(confined, f"import os\ntry:\n    os.kill({number}, {what})\nexcept PermissionError:\n    pass")
    assert ran(confined, "x = 1").death is None
    assert confined.restarts == before


def test_only_the_channel_is_open(sandbox: Sandbox) -> None:
    code = """
        import os, stat
        seen = []
        for number in range(1024):
            try:
                seen.append([number, stat.S_ISSOCK(os.fstat(number).st_mode)])
            except OSError:
                pass
    """
    assert looked(sandbox, textwrap.dedent(code)) == [[0, False], [1, False], [2, False], [3, True]]


def test_an_open_file_cannot_be_handed_over_the_channel(sandbox: Sandbox) -> None:
    code = "import socket, os\nsocket.send_fds(socket.socket(fileno=os.dup(3)), [b'\\0' * 8], [0])"
    found = death(sandbox, code)
    assert found is not None
    assert found.reason == "reply"
    assert len(list(Path("/proc/self/fd").iterdir())) < 200


def test_the_environment_tells_nothing_of_ours(sandbox: Sandbox) -> None:
    seen = looked(sandbox, "import os, sys\nseen = [dict(os.environ), sys.argv, sys.path]")
    of_libraries = {name for name in seen[0] if name.startswith(("TORCH", "KMP", "COLUMNS", "LINES"))}
    assert set(seen[0]) - of_libraries <= set(view.environment(""))
    assert not {name: value for name, value in seen[0].items() if str(ROOT) in value and name not in view._PASSED_ON}
    assert str(ROOT / "solutions") not in str(seen)
    assert sandbox.isolation not in str(seen[0])


def test_nothing_on_the_network_is_reached(sandbox: Sandbox) -> None:
    code = "import urllib.request\nurllib.request.urlopen('http://127.0.0.1', timeout=1)"
    assert refused(sandbox, code, "URLError")


def test_amounts_are_limited(sandbox: Sandbox) -> None:
    code = """
        import resource
        names = ("CPU", "FSIZE", "NOFILE", "CORE", "AS", "NPROC")
        seen = [list(resource.getrlimit(getattr(resource, "RLIMIT_" + name))) for name in names]
    """
    limits = sandbox.limits
    assert looked(sandbox, textwrap.dedent(code)) == [
        [limits.cpu_seconds, limits.cpu_seconds + 1],
        [limits.file_bytes] * 2,
        [limits.open_files] * 2,
        [0, 0],
        [limits.memory_bytes] * 2,
        [limits.processes] * 2,
    ]
    assert refused(sandbox, "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (99, 99))", "ValueError")


def test_threads_are_limited(sandbox: Sandbox) -> None:
    code = """
        import threading, time
        threading.stack_size(65536)
        seen = 0
        try:
            for seen in range(1000):
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except RuntimeError:
            pass
    """
    assert looked(sandbox, textwrap.dedent(code)) <= sandbox.limits.processes


# --- Namespaces alone -----------------------------------------------------------------------------------------------


def test_a_daemon_does_not_outlive_its_child(bare: Sandbox) -> None:
    from test_sandbox import gone, processes_of

    code = """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(1)
            os._exit(0)
        time.sleep(0.3)
    """
    before = len(processes_of(bare))
    sleeping = bare.run(Job([textwrap.dedent(code)], []))
    assert sleeping.death is None
    assert sleeping.problems == (None,)
    assert len(processes_of(bare)) == before
    assert gone([process for process in orphans() if process not in processes_of(bare)])


def orphans() -> list[int]:
    """Processes whose parent is process 1, and that sleep in a copy of this interpreter."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if words[1] == "1" and b"zygote.py" in command:
                found.append(int(entry.name))
    return found


def test_a_loop_of_forks_is_stopped_and_cleared(bare: Sandbox) -> None:
    from test_sandbox import processes_of

    before = len(processes_of(bare))
    outcome = ran(bare, "import os\nwhile True:\n    os.fork()")
    problems = outcome.problems
    assert outcome.death is not None or problems[0] is not None
    assert len(processes_of(bare)) == before
    assert ran(bare, "x = 1").death is None


def test_the_network_of_the_room_is_empty(bare: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert looked(bare, "import socket\nseen = [name for _, name in socket.if_nameindex()]") == ["lo"]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=2)"
        assert refused(bare, code, "OSError", "ConnectionRefusedError")
    name = f"\0autograder-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        assert refused(
            bare, f"import socket\nsocket.socket(socket.AF_UNIX).connect({name!r})", "ConnectionRefusedError"
        )


def test_the_machine_goes_by_another_name(bare: Sandbox) -> None:
    assert refused(bare, "import socket\nsocket.sethostname('x')", "PermissionError")


def test_shared_memory_ends_with_its_child(bare: Sandbox) -> None:
    code = "import ctypes\nseen = ctypes.CDLL(None).shmget(77, 4096, {flags})"
    assert looked(bare, code.format(flags="0o1666")) >= 0
    assert looked(bare, code.format(flags="0o666")) == -1


def test_new_namespaces_give_back_no_right_over_the_room(bare: Sandbox) -> None:
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        libc.unshare(0x10000000 | 0x00020000)
        seen = [libc.mount(b"none", b"/", None, 32 | 4096, None), os.access(torch.__path__[0], os.W_OK)]
    """
    assert looked(bare, textwrap.dedent(code)) == [-1, False]


# --- Secrets and verdicts -------------------------------------------------------------------------------------------


def test_memory_holds_nothing_of_the_trusted_process(sandbox: Sandbox) -> None:
    code = """
        import gc, sys
        word = "only the " + "trusted side knows"
        texts = [str(o) for o in gc.get_objects() if isinstance(o, (dict, list, tuple)) and len(o) < 200]
        seen = [any(word in text for text in texts), "pytest" in sys.modules, "sandbox_support" in sys.modules]
    """
    secret = ["a list with a text that only the trusted side knows"]
    assert looked(sandbox, textwrap.dedent(code)) == [False, False, False], secret


def test_no_module_of_the_trusted_side_is_loaded(sandbox: Sandbox) -> None:
    seen = looked(sandbox, "import sys\nseen = sorted(n for n in sys.modules if n.startswith('autograder'))")
    child_side = {"autograder", "autograder.sandbox"}
    child_side |= {f"autograder.{n}" for n in ("cell_shell", "observations", "probes", "tracing", "wire")}
    child_side |= {
        f"autograder.sandbox.{n}" for n in ("child", "control", "engine", "filters", "fingerprint", "namespaces")
    }
    assert set(seen) == child_side


@pytest.mark.parametrize(
    "code",
    [
        "import builtins\nbuiltins.print = builtins.len = None",
        "torch.equal = torch.allclose = torch.testing.assert_close = lambda *a, **k: True",
        "import atexit, os\natexit.register(os._exit, 0)",
        "print('PASSED 100/100')",
        "ip = get_ipython()\nip.input_transformers_cleanup.append(lambda lines: [])",
        "ip = get_ipython()\nip.events.register('pre_execute', lambda: 1 / 0)",
        "ip = get_ipython()\nip.run_cell = lambda *a, **k: None",
        "import sys\nsys.settrace(lambda *a: None)\nsys.setrecursionlimit(60)",
        "import sys\nsys.modules.clear()",
        "import gc\n[f.__globals__.clear() for f in gc.get_objects() if type(f) is type(lambda: 0)]",
    ],
)
def test_sabotage_stays_in_its_child(sandbox: Sandbox, code: str) -> None:
    sandbox.give_plan([Request("e", "c", "call", {"x": torch.ones(2)}, 0)])
    answer = "def answer(x):\n    return x * 2"
    ran(sandbox, code, answer, careful=False)
    restarts = sandbox.restarts
    outcome = sandbox.run(Job([answer], [0]))
    value: Any = outcome.replies[0].value
    assert value["result"].tolist() == [2.0, 2.0]
    assert sandbox.restarts == restarts


def test_a_forged_reply_is_an_observation_and_nothing_more(sandbox: Sandbox) -> None:
    code = """
        import os, struct, json
        for words in ({"problems": [None], "stand_ins": None, "defined": ["answer"]}, [[0, {"value": {"score": 100}}]]):
            text = json.dumps(words).encode()
            message = struct.pack("<I", len(text)) + text
            os.write(3, struct.pack("<Q", len(message)) + message)
        os._exit(0)
    """
    sandbox.give_plan([Request("e", "c", "call", {"x": 1}, 0)])
    outcome = sandbox.run(Job([textwrap.dedent(code)], [0]))
    assert outcome.death is None
    assert outcome.replies[0].value == {"score": 100}
    # An answer to a question that was not asked is none.
    outcome = sandbox.run(Job([textwrap.dedent(code).replace("[[0,", "[[1,")], [0]))
    assert outcome.death is not None
    assert outcome.death.reason == "reply"
    assert outcome.replies == {}


def test_a_pickle_on_the_wire_is_not_opened(sandbox: Sandbox, tmp_path: Path) -> None:
    target = tmp_path / "opened"
    code = f"""
        import os, struct, pickle, pathlib
        class Bomb:
            def __reduce__(self):
                return (os.mkdir, ({str(target)!r},))
        data = pickle.dumps(Bomb())
        os.write(3, struct.pack("<Q", len(data)) + data)
    """
    found = death(sandbox, textwrap.dedent(code))
    assert found is not None and found.reason == "reply"
    assert not target.exists()


def test_numbers_are_those_of_the_trusted_side(sandbox: Sandbox) -> None:
    code = """
        g = torch.Generator().manual_seed(3)
        x = torch.randn(4, 6, 20, generator=g)
        m = nn.MultiheadAttention(20, 4, batch_first=True)
        with torch.no_grad():
            for p in m.parameters():
                p.copy_(torch.randn(p.shape, generator=g))
        y, w = m(x, x, x)
        y.square().sum().backward()
        seen = [y, w, m.in_proj_weight.grad, torch.backends.cpu.get_cpu_capability()]
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ours: dict[str, Any] = {}
        exec(NAMESPACE + textwrap.dedent(code), ours)
    finally:
        torch.set_num_threads(threads)
    theirs = looked(sandbox, textwrap.dedent(code))
    for one, two in zip(ours["seen"][:3], theirs[:3], strict=True):
        assert torch.equal(one, two)
    assert ours["seen"][3] == theirs[3]


# --- Other users, other machines ------------------------------------------------------------------------------------


def as_ordinary_user(command: list[str], folder: Path) -> list[str]:
    """A command to run as a user without rights, for whom the interpreter is made reachable if it lies under a home."""
    script = """
        import os, sys
        sys.path.insert(0, {folder!r})
        import namespaces as n
        home = {home!r}
        n.unshare(n.NEWNS)
        n.mount(None, "/", None, (1 << 14) | (1 << 18))
        if home:
            keep = {keep!r}
            os.makedirs(keep, exist_ok=True)
            n.mount({base!r}, keep, None, (1 << 12) | (1 << 14))
            n.mount("tmpfs", home, "tmpfs", 0, "mode=0755")
            os.makedirs({base!r})
            n.mount(keep, {base!r}, None, (1 << 12) | (1 << 14))
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        os.environ["HOME"] = "/"
        os.execv(sys.argv[1], sys.argv[1:])
    """
    real = os.path.realpath(sys.base_prefix)
    home = "/root" if real.startswith("/root/") else ""
    text = textwrap.dedent(script).format(
        folder=str(ROOT / "autograder" / "sandbox"), home=home, base=real, keep=str(folder / "kept")
    )
    return [sys.executable, "-I", "-c", text, *command]


TRIAL = """
import os, sys
from pathlib import Path
sys.path[:0] = {path!r}
import torch
from sandbox_support import NAMESPACE
from autograder.observations import Job, Request
from autograder.sandbox import open_sandbox, NoIsolation
try:
    with open_sandbox(Path({probes!r}), namespace_code=NAMESPACE) as sandbox:
        sandbox.give_plan([Request("e", "c", "call", {{"x": torch.ones(2)}}, 0)])
        outcome = sandbox.run(Job(["def answer(x):\\n    return x * 2"], [0]))
        print(os.getuid(), sandbox.isolation, all(sandbox.layers.values()), outcome.replies[0].value["result"].tolist())
except NoIsolation as problem:
    print("refused:", problem)
"""


def tried(tmp_path: Path, prepare: str = "") -> str:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and folder != Path("/") and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    return prepare + TRIAL.format(path=[str(ROOT), str(ROOT / "tests")], probes=str(write_probes(tmp_path)))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_has_the_same_isolation(tmp_path: Path, sandbox: Sandbox) -> None:
    command = as_ordinary_user([sys.executable, "-c", tried(tmp_path)], tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.split(" ", 1) == ["65534", f"namespaces {all(sandbox.layers.values())} [2.0, 2.0]\n"], (
        done.stderr
    )


DENY_NAMESPACES = """
import pyseccomp as s
program = s.SyscallFilter(s.ALLOW)
for name in ("unshare", "setns", "mount"):
    program.add_rule(s.ERRNO(1), name)
program.load()
"""


def test_a_machine_without_namespaces_is_refused_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("pyseccomp", exc_type=ImportError)
    done = subprocess.run(
        [sys.executable, "-c", tried(tmp_path, DENY_NAMESPACES)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.startswith("refused: "), done.stderr
    assert "not permitted" in done.stdout


def test_a_chamber_holds_nothing_after_its_child(sandbox: Sandbox) -> None:
    from test_sandbox import processes_of

    before = len(processes_of(sandbox))
    for _ in range(3):
        death(
            sandbox,
            "import threading, os\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\nos._exit(4)",
        )
    assert len(processes_of(sandbox)) == before


def test_children_one_after_the_other_use_no_more_and_no_more(sandbox: Sandbox) -> None:
    from test_sandbox import memory_of, processes_of

    def handles() -> list[int]:
        return [len(list(Path(f"/proc/{process}/fd").iterdir())) for process in processes_of(sandbox)[:3]]

    for _ in range(5):
        ran(sandbox, "x = torch.ones(1000)")
    open_before, memory_before = handles(), sum(memory_of(process) for process in processes_of(sandbox)[:3])
    for _ in range(40):
        ran(sandbox, "x = torch.ones(1000)", careful=False)
    assert handles() == open_before
    grown = sum(memory_of(process) for process in processes_of(sandbox)[:3]) - memory_before
    assert grown * os.sysconf("SC_PAGESIZE") < 8 << 20
