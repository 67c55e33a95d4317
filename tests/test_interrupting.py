"""Ctrl-C ends in one sentence, wherever it comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from course_copies import ROOT, SECOND

from autograder.grading import class_run
from autograder.interrupting import GRADE_STOPPED, INTERRUPTED, RELEASE_STOPPED, STOPPED, stopped

# In the making of a class Python turns KeyboardInterrupt into RuntimeError, in NumPy's imports it becomes ImportError.
CTRL_C = """
import os, signal
class Named:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
class Owner:
    named = Named()
"""


@pytest.mark.parametrize("module", ["difflib", "tqdm"])  # the first that the command line imports; one of `grade`
def test_ctrl_c_while_modules_are_imported(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text(CTRL_C, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", "class", "--output", str(tmp_path / "grades")],
        cwd=SECOND, env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", f"{GRADE_STOPPED}\n")


def test_elsewhere_it_can_be_caught_and_what_is_open_is_closed() -> None:
    code = "import os, signal\nfrom autograder.interrupting import *\nhandle_interrupts()\n"
    code += "try:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept KeyboardInterrupt:\n    print('closed')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "closed\n" and done.stderr == ""


WORKER = """
import multiprocessing, os, signal
from autograder.interrupting import interrupts_held, let_interrupts_through

def work():
    try:
        let_interrupts_through()
        print("not met")
    except KeyboardInterrupt:
        print("caught")

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work)
    with interrupts_held():
        process.start()
    os.kill(process.pid, signal.SIGINT)  # it has hardly begun to start
    process.join()
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be held here")
def test_a_process_that_is_starting_meets_it_where_it_can_be_caught(tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text(WORKER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "worker.py")], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True, timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("caught\n", "")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("grade class --output grades", GRADE_STOPPED),
        ("grade class --only ada", STOPPED),
        ("check a.ipynb", STOPPED),
        ("release", RELEASE_STOPPED),
        ("", STOPPED),
    ],
)
def test_each_command_says_what_its_stop_means(command: str, says: str) -> None:
    assert stopped(command.split()) == says


def test_a_run_that_is_stopped_before_its_first_result_keeps_its_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(class_run, "_graded", stop)
    for seed, kept in ((5, 5), (6, 5)):  # a run that was there keeps what it has
        with pytest.raises(KeyboardInterrupt):
            class_run.grade_class(
                [], class_run.Settings(SECOND, "smoothing", tmp_path, seed, 1, False), lambda *_: None
            )
        assert class_run.read_seed(tmp_path) == kept


IN_AN_IMPORT = """
from pathlib import Path
from autograder.interrupting import handle_interrupts, when_stopped
handle_interrupts()
with when_stopped(lambda: Path("noted").write_text("")):
    import stopping
"""


def test_what_is_to_be_done_then_is_done_inside_an_import_too(tmp_path: Path) -> None:
    (tmp_path / "stopping.py").write_text(CTRL_C, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", IN_AN_IMPORT],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == INTERRUPTED and (tmp_path / "noted").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
def test_from_a_folder_that_is_gone_it_is_a_sentence(tmp_path: Path) -> None:
    code = "import os, sys; os.rmdir(os.getcwd()); from autograder.__main__ import main; sys.exit(main())"
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "a.ipynb"],
        cwd=tmp_path / "gone", env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.startswith("autograder: The folder in which you are is not there")
    assert done.stderr.count("\n") == 1
