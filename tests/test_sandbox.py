"""A child runs cells and probes and brings back plain data; whatever happens in it, the trusted side says what."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from sandbox_support import LIMITS, NAMESPACE, PROBES, death, looked, opened, ran, shared, write_probes

from autograder.observations import Job, Limits, Line, Problem, Request
from autograder.probes import BadProbes, load_probes, observe, randomness_kept
from autograder.sandbox import NoIsolation, Sandbox, SandboxBroken, StandInsFailed, open_sandbox, processes, running


@pytest.fixture(params=["namespaces", "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    one = shared(unsandboxed=request.param == "none")
    assert one.isolation == request.param
    return one


@pytest.fixture
def isolated() -> Sandbox:
    return shared()


def asked(probe: str, seed: int = 0, **arguments: Any) -> Request:
    return Request("exercise", "check", probe, arguments, seed)


# --- Cells ----------------------------------------------------------------------------------------------------------


def test_a_cell_that_raises_costs_itself_and_later_cells_still_run(sandbox: Sandbox) -> None:
    outcome = ran(sandbox, "a = 1", "b = a\nc = a / 0\nd = 1", "def answer():\n    return a", careful=False)
    assert outcome.death is None
    assert outcome.problems == (
        None,
        Problem("ZeroDivisionError", "division by zero", (Line(1, 2, "c = a / 0"),)),
        None,
    )
    assert outcome.defined == {"answer"}


def test_what_a_cell_writes_beside_itself_it_can_import(sandbox: Sandbox) -> None:
    cells = ("%%writefile helper.py\ndef one():\n    return 1\n", "from helper import one\nanswer = one")
    outcome = ran(sandbox, *cells, careful=False)
    assert outcome.problems == (None, None)
    assert "answer" in outcome.defined


def test_a_syntax_error_names_its_line(sandbox: Sandbox) -> None:
    (problem,) = ran(sandbox, "x = 1\ndef broken(:\n    pass", careful=False).problems
    assert problem is not None
    assert problem.kind == "SyntaxError"
    assert problem.lines == (Line(0, 2, "def broken(:"),)
    assert problem.message == "invalid syntax"  # without a file name and the line once more


@pytest.mark.parametrize(
    "code",
    [
        "%matplotlib inline",
        "!pip install something",
        "files = !ls",
        "%time x = 1",
        "import asyncio\nawait asyncio.sleep(0)",
        "from IPython.display import display\ndisplay(torch.ones(3))",
        "1 + 1",
        "print('x' * 50_000_000)",
        "for i in range(200_000):\n    print(i)",
        "import sys\nprint('a warning', file=sys.stderr)",
        "import warnings\nwarnings.warn('careful')",
        "from autograder import check\ncheck('attention')",
        "check()",
        "copy, math, torch, nn, F",
        "",
        "# only a comment",
        "import sys\nsys.stdout.close()",
        "x = 1\r\ny = 2\r\n",
        "exit",
        "?print",
        "%load_ext autoreload\n%autoreload 2",
        "%%time\nx = 1",
        "%%html\n<b>bold</b>",
    ],
)
def test_what_notebooks_hold_does_no_harm(sandbox: Sandbox, code: str) -> None:
    outcome = ran(sandbox, code, "def answer():\n    return 1", careful=False)
    assert outcome.death is None
    assert outcome.problems == (None, None)
    assert "answer" in outcome.defined


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("input('name?')", "EOFError"),
        ("import sys\nsys.exit('done')", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("breakpoint()", "BdbQuit"),
        ("%run nothing.py", "Exception"),
        ("a = 1\x00", "SyntaxError"),
        ("a = '\ud800'", "UnicodeEncodeError"),
        ("def f():\n    return f()\nf()", "RecursionError"),
        ("class Odd(BaseException):\n    def __str__(self):\n        raise ValueError\nraise Odd", "Odd"),
        ("raise ValueError('x' * 100_000)", "ValueError"),
    ],
)
def test_every_exception_becomes_a_problem(sandbox: Sandbox, code: str, kind: str) -> None:
    outcome = ran(sandbox, code, "def answer():\n    return 1", careful=False)
    problem = outcome.problems[0]
    assert problem is not None
    assert problem.kind == kind
    assert len(problem.message) <= 2_000
    assert len(problem.lines) <= 20
    assert "answer" in outcome.defined


def test_each_child_starts_from_the_same_namespace(sandbox: Sandbox) -> None:
    ran(sandbox, "leftover = 1\ntorch.leftover = 1\nimport builtins\nbuiltins.leftover = 1", careful=False)
    code = (
        "import builtins\nseen = ['leftover' in globals(), hasattr(torch, 'leftover'), hasattr(builtins, 'leftover')]"
    )
    assert looked(sandbox, code) == [False, False, False]


# --- Probes ---------------------------------------------------------------------------------------------------------


def test_replies_come_by_their_position_in_the_plan(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=torch.full((2,), float(i))) for i in range(5)])
    for careful in (False, True):
        outcome = sandbox.run(Job(["def answer(x):\n    return x * 2"], [3, 1], careful=careful))
        assert outcome.death is None
        assert list(outcome.replies) == [3, 1]
        value: Any = outcome.replies[3].value
        assert value["result"].tolist() == [6.0, 6.0]


def test_changing_an_argument_in_place_reaches_no_other_request(sandbox: Sandbox) -> None:
    x = torch.zeros(2)
    sandbox.give_plan([asked("call", x=x), asked("call", x=x), asked("call", x=[x, {"x": x}])])
    cell = "def answer(x):\n    while not isinstance(x, torch.Tensor):\n        x = x[0]\n    return x.add_(1)"
    outcome = sandbox.run(Job([cell], [0, 1, 2]))
    values: list[Any] = [outcome.replies[i].value for i in range(3)]
    assert [value["result"].tolist() for value in values] == [[1.0, 1.0]] * 3
    assert values[0]["x"].tolist() == [1.0, 1.0]
    assert x.sum() == 0


def test_what_an_answer_does_later_changes_no_earlier_observation(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=torch.zeros(1)), asked("call", x=torch.zeros(1))])
    outcome = sandbox.run(Job(["kept = torch.zeros(1)\ndef answer(x):\n    return kept.add_(1)"], [0, 1]))
    values: list[Any] = [outcome.replies[i].value for i in range(2)]
    assert [value["result"].item() for value in values] == [1.0, 2.0]


def test_random_numbers_depend_on_the_request_alone(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("draw", seed=7), asked("draw", seed=8), asked("draw", seed=7)])
    all_at_once = sandbox.run(Job(["torch.manual_seed(3); torch.randn(5)"], [0, 1, 2]))
    alone = sandbox.run(Job([], [2]))
    first: Any = all_at_once.replies[0].value
    assert torch.equal(first, torch.randn(3, generator=torch.Generator().manual_seed(7)))
    assert torch.equal(first, all_at_once.replies[2].value)  # type: ignore[arg-type]
    assert torch.equal(first, alone.replies[2].value)  # type: ignore[arg-type]
    assert not torch.equal(first, all_at_once.replies[1].value)  # type: ignore[arg-type]


def test_an_exception_in_an_answer_shows_the_learners_own_lines_only(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=torch.zeros(2, 3))])
    cells = [
        "",
        "def helper(x):\n    return torch.softmax(x, dim=9)",
        "class answer:\n  def __init__(self, x):\n    helper(x)",
    ]
    problem = sandbox.run(Job(cells, [0])).replies[0].problem
    assert problem is not None
    assert problem.kind == "IndexError"
    assert "Dimension out of range" in problem.message
    assert problem.lines == (Line(2, 3, "    helper(x)"), Line(1, 2, "    return torch.softmax(x, dim=9)"))


def test_a_missing_name_is_a_problem_without_lines(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=1)])
    problem = sandbox.run(Job(["x = 1"], [0])).replies[0].problem
    assert problem == Problem("KeyError", "'answer'")


@pytest.mark.parametrize("code", ["import sys; sys.exit()", "raise KeyboardInterrupt", "raise GeneratorExit"])
def test_no_exception_of_an_answer_ends_the_child(sandbox: Sandbox, code: str) -> None:
    sandbox.give_plan([asked("call", x=1), asked("draw")])
    outcome = sandbox.run(Job([f"def answer(x):\n    {code}"], [0, 1]))
    assert outcome.replies[0].problem is not None
    assert outcome.replies[1].problem is None


def test_junk_is_an_observation_too(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=1)])
    outcome = sandbox.run(Job(["def answer(x):\n    return {1: object(), 'f': answer, 'nan': float('nan')}"], [0]))
    value: Any = outcome.replies[0].value
    assert value["result"]["1"] == "<object>"
    assert value["result"]["f"] == "<function>"


def test_a_result_that_holds_itself_costs_its_own_request(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=1), asked("draw")])
    outcome = sandbox.run(Job(["a = []\na += [a] * 9\ndef answer(x):\n    return a"], [0, 1]))
    problem = outcome.replies[0].problem
    assert problem is not None and "values" in problem.message
    assert outcome.replies[1].problem is None


def test_stand_ins_take_the_place_of_names_after_the_cells(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=torch.ones(1))])
    cells = ["def helper(x):\n    return 1 / 0", "def answer(x):\n    return helper(x)"]
    outcome = sandbox.run(Job(cells, [0], stand_ins="def helper(x):\n    return x + 41"))
    value: Any = outcome.replies[0].value
    assert value["result"].item() == 42.0


def test_stand_ins_that_raise_are_our_error(sandbox: Sandbox) -> None:
    for careful in (False, True):
        with pytest.raises(StandInsFailed, match="ZeroDivisionError") as caught:
            sandbox.run(Job(["x = 1"], [], stand_ins="y = 1 / 0", careful=careful))
        assert caught.value.problem.kind == "ZeroDivisionError"


def test_lines_of_stand_ins_are_not_shown_as_the_learners(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=1)])
    cells = ["def answer(x):\n    return helper(x)"]
    problem = sandbox.run(Job(cells, [0], stand_ins="def helper(x):\n    raise ValueError")).replies[0].problem
    assert problem is not None
    assert problem.lines == (Line(0, 2, "    return helper(x)"),)


def test_defined_are_the_callable_names_that_the_cells_brought(sandbox: Sandbox) -> None:
    brought = "from math import sqrt\ndef f(): pass\nclass C: pass\ncheck = lambda: 1\nk = nn.Linear"
    not_counted = "import os\ng = 3\n_h = f"
    assert ran(sandbox, brought, not_counted).defined == {"sqrt", "f", "C", "check", "k"}


def test_a_probe_that_does_not_exist_is_our_error(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxBroken, match="nonsense"):
        sandbox.give_plan([asked("nonsense")])
    with pytest.raises(SandboxBroken, match="_hidden"):
        sandbox.give_plan([asked("_hidden")])
    sandbox.give_plan([asked("draw")])
    with pytest.raises(IndexError):
        sandbox.run(Job([], [1]))


# --- Deaths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize(
    ("code", "reason", "detail"),
    [
        ("import os\nos._exit(3)", "exit", "exit code 3"),
        ("import os\nos._exit(0)", "exit", "exit code 0"),
        ("import ctypes\nctypes.string_at(0)", "signal", "SIGSEGV"),
        ("import os\nos.abort()", "signal", "SIGABRT"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "signal", "SIGKILL"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", "signal", "SIGTERM"),
        ("import os\nos.close(3)\nimport time\ntime.sleep(60)", "reply", "It closed its channel and went on."),
    ],
)
def test_a_death_has_its_cause_and_its_step(
    sandbox: Sandbox, code: str, reason: str, detail: str, careful: bool
) -> None:
    outcome = ran(sandbox, "x = 1", code, "y = 1", careful=careful)
    assert outcome.death is not None
    assert (outcome.death.reason, outcome.death.detail) == (reason, detail)
    # What else was written to the channel is read before the child has gone on: then it has to tell step by step.
    assert outcome.death.step == (("cell", 1) if careful or reason != "reply" else None)
    assert outcome.problems == ((None,) if careful else ())


def test_a_death_in_a_request_names_it_and_keeps_the_replies_before(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("draw"), asked("call", x=1), asked("draw")])
    job = Job(["import os\ndef answer(x):\n    os._exit(9)"], [2, 1, 0], careful=True)
    outcome = sandbox.run(job)
    assert outcome.death is not None
    assert outcome.death.step == ("request", 1)
    assert list(outcome.replies) == [2]


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        "import signal\nsignal.signal(signal.SIGXCPU, lambda *a: None)\nwhile True:\n    pass",
    ],
)
def test_a_loop_without_end_runs_out_of_time(isolated: Sandbox, code: str) -> None:
    found = death(isolated, code)
    assert found is not None
    assert found.reason == "time"
    assert found.step == ("cell", 0)


@pytest.mark.parametrize(
    ("number", "part", "reason"),
    [
        (signal.SIGPROF, 0.8, "time"),  # the kernel counts in ticks
        (signal.SIGPROF, 0.1, "signal"),  # sent by the answer itself
        (signal.SIGXCPU, 1.0, "time"),
        (signal.SIGKILL, 0.9, "time"),
        (signal.SIGKILL, 0.1, "signal"),
    ],
)
def test_a_limit_of_time_is_told_from_a_signal(isolated: Sandbox, number: int, part: float, reason: str) -> None:
    limit = isolated.limits.step_seconds if number == signal.SIGPROF else isolated.limits.cpu_seconds
    assert isolated._cause(processes.End(-number, False, part * limit), Job((), ())).reason == reason


def test_sleeping_meets_the_wall_clock(tmp_path: Path) -> None:
    limits = Limits(cpu_seconds=2, wall_seconds=3.0)
    with opened(tmp_path, limits=limits) as sandbox:
        started = time.monotonic()
        found = death(sandbox, "import time\ntime.sleep(100)")
        assert found is not None
        assert found.reason == "time"
        assert 2.5 < time.monotonic() - started < 10


@pytest.mark.parametrize(
    "code",
    [
        "x = torch.ones(1 << 30)",
        "x = bytearray(4 << 30)",
        "x = []\nwhile True:\n    x.append(torch.empty(1 << 26))",
    ],
)
def test_memory_ends_as_an_exception_or_as_a_death_by_memory(isolated: Sandbox, code: str) -> None:
    for careful in (False, True):
        outcome = ran(isolated, code, careful=careful)
        if outcome.death is None:
            (problem,) = outcome.problems
            assert problem is not None
            assert problem.kind in ("MemoryError", "RuntimeError")
        else:
            assert outcome.death.reason == "memory"


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.write(3, b'\\xff' * 8)",
        "import os, struct\nos.write(3, struct.pack('<Q', 3) + b'abc')",
        "import os\nos.write(3, b'x' * 100_000)",
        "import os, struct\nos.write(3, struct.pack('<Q', 1 << 40))",
        "import os, struct\nfor _ in range(1000):\n    os.write(3, struct.pack('<Q', 0))",
        "import os, struct, json\nb = json.dumps(['cell', 5]).encode()\nb = struct.pack('<I', len(b)) + b\n"
        "os.write(3, struct.pack('<Q', len(b)) + b)",
    ],
)
def test_a_reply_that_is_none_is_a_death(sandbox: Sandbox, code: str) -> None:
    for careful in (False, True):
        found = death(sandbox, code, careful=careful)
        assert found is not None
        assert found.reason == "reply"


def test_a_reply_that_is_too_large_is_refused_by_its_header(sandbox: Sandbox) -> None:
    sandbox.give_plan([asked("call", x=1), asked("draw")])
    cell = "def answer(x):\n    return torch.zeros(2 << 20)"
    outcome = sandbox.run(Job([cell], [0]))
    assert outcome.death is not None
    assert outcome.death.reason == "reply"
    assert "were announced" in outcome.death.detail or "was announced" in outcome.death.detail
    outcome = sandbox.run(Job([cell], [1, 0], careful=True))
    assert outcome.death is not None
    assert outcome.death.step == ("request", 0)
    assert list(outcome.replies) == [1]


def test_a_sabotaged_encoder_costs_the_child_only(sandbox: Sandbox) -> None:
    code = "import json\njson.dumps = lambda *a, **k: 1 / 0\ntorch.Tensor.clone = None"
    found = death(sandbox, code, careful=False)
    assert found is not None
    assert found.reason == "reply"
    assert ran(sandbox, "x = 1").death is None


def test_a_thread_left_running_ends_with_its_child(sandbox: Sandbox) -> None:
    code = "import threading\ndef spin():\n    while True:\n        pass\nthreading.Thread(target=spin).start()"
    started = time.monotonic()
    assert ran(sandbox, code).death is None
    assert time.monotonic() - started < LIMITS.wall_seconds - 2


# --- The zygote -----------------------------------------------------------------------------------------------------


def processes_of(sandbox: Sandbox) -> list[int]:
    """The launcher and everything below it, by the kernel's own account."""
    time.sleep(0.1)  # the keeper is still exchanging one chamber for the next
    assert sandbox._zygote is not None and sandbox._zygote._process is not None
    found, left = [], [sandbox._zygote._process.pid]
    while left:
        process = left.pop()
        found.append(process)
        try:
            children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        except FileNotFoundError:
            continue
        left += [int(word) for word in children.split()]
    return found


def memory_of(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")


def gone(processes: list[int], seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not any(alive(process) for process in processes):
            return True
        time.sleep(0.02)
    return False


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@linux
@pytest.mark.parametrize("victim", ["launcher", "zygote"])
def test_a_lost_zygote_is_started_again_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, victim: str
) -> None:
    with opened(tmp_path) as sandbox:
        sandbox.give_plan([asked("draw", seed=1)])
        before = sandbox.run(Job([], [0])).replies[0].value
        order = looked(sandbox, "seen = list({'a', 'b', 'c', 'd', 'e', 'f', 'g'})")
        sandbox.give_plan([asked("draw", seed=1)])
        processes = processes_of(sandbox)
        assert len(processes) == 4  # launcher, keeper, zygote, and the holder of the next chamber
        os.kill(processes[0] if victim == "launcher" else max(processes, key=memory_of), signal.SIGKILL)
        after = sandbox.run(Job([], [0])).replies[0].value
        assert torch.equal(before, after)  # type: ignore[arg-type]
        assert sandbox.restarts == 1
        assert "started again" in caplog.text
        assert gone(processes)
        # A grade does not depend on which zygote it came from.
        assert looked(sandbox, "seen = list({'a', 'b', 'c', 'd', 'e', 'f', 'g'})") == order


@linux
def test_a_sandbox_that_cannot_be_started_again_is_broken(tmp_path: Path) -> None:
    with opened(tmp_path) as sandbox:
        os.kill(processes_of(sandbox)[0], signal.SIGKILL)
        (tmp_path / "probes.py").unlink()
        with pytest.raises(SandboxBroken):
            sandbox.run(Job([], []))


@linux
@pytest.mark.parametrize("unsandboxed", [False, True])
def test_nothing_is_left_after_closing(tmp_path: Path, unsandboxed: bool) -> None:
    sandbox = opened(tmp_path, unsandboxed=unsandboxed)
    base = sandbox._zygote._base  # type: ignore[union-attr]
    processes = processes_of(sandbox)
    sandbox.close()
    assert gone(processes)
    assert not base.exists()
    (tmp_path / "probes.py").unlink()
    with pytest.raises(SandboxBroken):
        sandbox.run(Job([], []))


@linux
@pytest.mark.parametrize("unsandboxed", [False, True])
def test_nothing_is_left_when_the_grader_is_killed(tmp_path: Path, unsandboxed: bool) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    script = f"""
        import sys, tempfile, threading
        from pathlib import Path
        tempfile.tempdir = {str(folder)!r}
        sys.path[:0] = {sys.path!r}
        from test_sandbox import processes_of
        from sandbox_support import opened, ran
        sandbox = opened(Path({str(tmp_path)!r}), unsandboxed={unsandboxed})
        threading.Timer(0.7, lambda: print(*processes_of(sandbox), flush=True)).start()
        ran(sandbox, "import time\\ntime.sleep(60)")
    """
    grader = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert grader.stdout is not None
    processes = [int(word) for word in grader.stdout.readline().split()]
    assert len(processes) == (2 if unsandboxed else 5)
    grader.kill()
    grader.wait()
    grader.stdout.close()
    assert gone(processes)
    assert not list(folder.iterdir())


def test_a_sandbox_belongs_to_the_process_that_opened_it(isolated: Sandbox) -> None:
    process = os.fork()
    if process == 0:
        try:
            isolated.run(Job([], []))
        except SandboxBroken:
            os._exit(5)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 5
    assert ran(isolated, "x = 1").death is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def broken(:", "probes.py"),
        ("import nothing_like_it", "nothing_like_it"),
        ("def look(names): ...", "Two probes are called look"),
    ],
)
def test_probes_that_cannot_be_loaded_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.py").write_text(PROBES, encoding="utf-8")
    (tmp_path / "probes.py").write_text(text, encoding="utf-8")
    with pytest.raises(SandboxBroken, match=message):
        open_sandbox(tmp_path, unsandboxed=True)


@pytest.mark.long  # a start of PyTorch for each child
def test_a_system_that_cannot_fork_starts_each_child_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "can_fork", lambda: False)
    with opened(tmp_path, unsandboxed=True) as sandbox:
        assert (sandbox.isolation, sandbox.means) == ("none", processes.SPAWNED)
        sandbox.give_plan([asked("call", x=torch.ones(2))])
        value: Any = sandbox.run(Job(["def answer(x):\n    return x * 2"], [0])).replies[0].value
        assert value["result"].tolist() == [2.0, 2.0]
        found = death(sandbox, "import os\nos._exit(3)")
        assert found is not None
        assert (found.reason, found.detail, found.step) == ("exit", "exit code 3", ("cell", 0))
        with pytest.raises(SandboxBroken, match="nonsense"):
            sandbox.give_plan([asked("nonsense")])


def test_a_folder_of_probes_is_read_as_one(tmp_path: Path) -> None:
    write_probes(tmp_path)
    (tmp_path / "more.py").write_text("def more(names):\n    return 5\n", encoding="utf-8")
    with open_sandbox(tmp_path, unsandboxed=True) as sandbox:
        sandbox.give_plan([asked("more"), asked("draw")])
        assert sandbox.run(Job([], [0, 1])).replies[0].value == 5


def test_a_course_that_learners_could_read_is_refused(isolated: Sandbox) -> None:
    import IPython

    with pytest.raises(NoIsolation, match="Move it elsewhere"):
        open_sandbox(Path(IPython.__file__))


# --- Beside an answer in a notebook ---------------------------------------------------------------------------------


def test_probes_run_in_this_process_too(tmp_path: Path) -> None:
    probes = load_probes(write_probes(tmp_path))
    assert set(probes) == {"look", "call", "draw"}
    assert set(load_probes(PROBES)) == set(probes)
    names: dict[str, Any] = {"answer": lambda x: x.add_(1)}
    x = torch.zeros(1)
    value: Any = observe(probes, names, asked("call", x=x)).value
    assert value["result"].item() == 1.0
    assert x.item() == 0.0


def test_an_interrupt_ends_a_check_in_a_notebook() -> None:
    def interrupted(x: object) -> None:
        raise KeyboardInterrupt

    probes = load_probes(PROBES)
    with pytest.raises(KeyboardInterrupt):
        observe(probes, {"answer": interrupted}, asked("call", x=1))
    reply = observe(probes, {"answer": interrupted}, asked("call", x=1), interruptible=False)
    assert reply.problem is not None and reply.problem.kind == "KeyboardInterrupt"


def test_lines_are_found_by_the_namespace_or_by_the_file_name() -> None:
    names: dict[str, Any] = {}
    exec(compile("\ndef answer(x):\n    raise ValueError('no')\n", "<ipython-input-3>", "exec"), names)
    probes = load_probes(PROBES)
    problem = observe(probes, names, asked("call", x=1)).problem
    assert problem == Problem("ValueError", "no", (Line(-1, 3, ""),))
    problem = observe(probes, names, asked("call", x=1), cells={"<ipython-input-3>": 4}).problem
    assert problem == Problem("ValueError", "no", (Line(4, 3, ""),))


def test_a_check_leaves_random_numbers_as_they_were() -> None:
    probes = load_probes(PROBES)
    torch.manual_seed(1)
    expected = torch.randn(2)
    torch.manual_seed(1)
    with randomness_kept():
        observe(probes, {}, asked("draw", seed=5))
    assert torch.equal(torch.randn(2), expected)


def test_probes_that_raise_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadProbes, match="ZeroDivisionError"):
        load_probes("1 / 0")
    with pytest.raises(BadProbes, match="cannot be read"):
        load_probes(tmp_path / "none.py")


def test_the_namespace_of_the_course_is_there_before_the_cells(sandbox: Sandbox) -> None:
    assert "import torch" in NAMESPACE
    assert looked(sandbox, "seen = torch.nn is nn") is True
