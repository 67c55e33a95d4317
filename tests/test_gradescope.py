"""The package for Gradescope, unpacked as Gradescope documents it, grades what is handed in."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sample_class
from course_copies import SECOND
from gradescope_format import conforms

from autograder.course import Course, Source
from autograder.gradescope.packaging import package
from autograder.solved import solved_notebook

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Gradescope runs Linux")
ROOT_USER = pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="Gradescope runs autograders as root")
HERE = Path(__file__).parent
NAME = "smoothing"


@dataclass(frozen=True)
class Unpacked:
    """A tree laid out as /autograder is, before a submission arrives."""

    root: Path

    def grade(self, files: dict[str, bytes], *, container: bool = False) -> tuple[dict[str, Any], str]:
        """results.json of a submission, which conforms, and what was printed for the instructor."""
        for folder in ("submission", "results"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
            (self.root / folder).mkdir()
        for name, data in files.items():
            (self.root / "submission" / name).write_bytes(data)
        wrapper = [sys.executable, str(HERE / "like_a_container.py")] if container else []
        done = subprocess.run(
            [*wrapper, str(self.root / "run_autograder")],
            cwd=self.root, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(HERE.parent)},
            capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
        results = json.loads((self.root / "results" / "results.json").read_text(encoding="utf-8"))
        conforms(results)
        return results, done.stdout + done.stderr


def unpack(zipped: Path, root: Path) -> Unpacked:
    """As Gradescope builds an image of the package; setup.sh's environment is made of what is installed here."""
    source = root / "source"
    with zipfile.ZipFile(zipped) as archive:
        for info in archive.infolist():
            archive.extract(info, source)
            (source / info.filename).chmod(info.external_attr >> 16)
    shutil.copy(source / "run_autograder", root / "run_autograder")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / "venv")], check=True)
    site = root / "venv" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (wheel,) = (source / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "installed-here.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    return Unpacked(root)


@pytest.fixture(scope="module")
def second() -> Source:
    return Course(SECOND).source()


@pytest.fixture(scope="module")
def course_copy(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(SECOND / "solutions", folder / "solutions")
    return Course(folder)


@pytest.fixture(scope="module")
def zipped(course_copy: Course) -> Path:
    return package(course_copy, course_copy.source()).path


@pytest.fixture(scope="module")
def unpacked(zipped: Path, tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    return unpack(zipped, tmp_path_factory.mktemp("autograder"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are closed."""
    with tempfile.TemporaryDirectory(prefix="gradescope-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def notebook(source: Source, **answers: str) -> bytes:
    return json.dumps(sample_class.with_answers(solved_notebook(source), answers)).encode()


# -- the zip ----------------------------------------------------------------------------------------------------------


def test_the_scripts_stand_at_the_root_and_may_be_run(zipped: Path) -> None:
    assert zipped.parent.name == "build"  # what lies in dist/ is handed out
    with zipfile.ZipFile(zipped) as archive:
        names = set(archive.namelist())
        modes = {name: archive.getinfo(name).external_attr >> 16 for name in ("setup.sh", "run_autograder")}
        wanted = archive.read("requirements.txt").decode()
    assert all(mode & stat.S_IXUSR for mode in modes.values())
    assert {"requirements.txt", "package.json", f"course/solutions/{NAME}/{NAME}.py"} <= names
    assert not [name for name in names if "/right/" in name or "__pycache__" in name]
    (wheel,) = (name for name in names if name.endswith(".whl"))
    assert f"./{wheel}" in wanted.splitlines() and "torch==" in wanted


def test_what_to_enter_on_gradescope_is_said(course_copy: Course) -> None:
    source = course_copy.source()
    assert "10 points" in str(package(course_copy, source)) and "hand it to nobody" in str(package(course_copy, source))
    assert "another user" in str(package(course_copy, source, unsandboxed=True))


@LINUX
@pytest.mark.parametrize("new_enough", [True, False])
def test_setup_installs_what_the_zip_holds_and_closes_the_course(
    zipped: Path, tmp_path: Path, new_enough: bool
) -> None:
    source, tools = tmp_path / "autograder" / "source", tmp_path / "tools"
    tools.mkdir()
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(source)
    pretend = "" if new_enough else "import sys; sys.version_info = (3, 8); "
    python = f"""#!/bin/sh
case "$1" in
-c) exec {sys.executable} -c "{pretend}$2" ;;
-m) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo "$@" >>{tmp_path}/calls ;;
esac
"""
    for name, text in {"python3": python, "apt-get": f'#!/bin/sh\necho apt-get "$@" >>{tmp_path}/calls\n'}.items():
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)
    done = subprocess.run(
        ["bash", str(source / "setup.sh")],
        cwd="/", env={"PATH": f"{tools}:/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not new_enough:
        assert done.returncode != 0 and "Python 3.10 or newer" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert calls[-2] == f"-m venv {tmp_path}/autograder/venv"
    assert calls[-1].startswith("-m pip install") and calls[-1].endswith("-r requirements.txt")
    assert all(not path.stat().st_mode & 0o077 for path in (source, *source.rglob("*")))


# -- grading there ----------------------------------------------------------------------------------------------------


@LINUX
def test_a_sound_submission_gets_full_marks_there(unpacked: Unpacked, second: Source) -> None:
    results, said = unpacked.grade({"smoothing (1).ipynb": notebook(second), "notes.txt": b"hello"})
    assert results["score"] == 10 == sum(test["max_score"] for test in results["tests"])
    assert results["visibility"] == "visible" and results["stdout_visibility"] == "hidden"
    assert results["extra_data"]["isolation"] == "namespaces" and "Isolation: namespaces" in said


@LINUX
@pytest.mark.long
def test_the_course_itself_gives_full_marks_there(course: Course, source: Source, tmp_path: Path) -> None:
    made = package(course, source, visibility="after_published")
    results, _said = unpack(made.path, tmp_path).grade({"multi head attention (1).ipynb": notebook(source)})
    assert results["score"] == made.points == sum(test["max_score"] for test in results["tests"])
    assert {results["visibility"]} == {test["visibility"] for test in results["tests"]} == {"after_published"}


LOOKS_AROUND = """
import os

def found():
    for path in ({course!r}, {results!r}, "/proc/1/environ"):
        try:
            yield "READ " + path + (str(os.listdir(path)) if os.path.isdir(path) else open(path).read())
        except OSError as problem:
            yield type(problem).__name__
    try:
        with open({results!r} + "/results.json", "w") as file:
            file.write('{{"score": 1000}}')
        yield "WROTE"
    except OSError as problem:
        yield type(problem).__name__
    for process in (os.getppid(), {parent}):
        try:
            os.kill(process, 0)
            yield "REACHED " + str(process)
        except OSError as problem:
            yield type(problem).__name__

def moving_average(x, window):
    raise RuntimeError(" ".join(found()))
"""


@LINUX
def test_a_wrong_and_prying_submission_gets_what_it_earns_and_learns_nothing(
    unpacked: Unpacked, second: Source
) -> None:
    prying = LOOKS_AROUND.format(course=str(unpacked.root / "source"), results=str(unpacked.root / "results"), parent=1)
    (wrong,) = (one for one in second.wrong if one.name == "sample_spread")
    results, said = unpacked.grade({f"{NAME}.ipynb": notebook(second, moving_average=prying, Standardize=wrong.code)})
    assert 0 < results["score"] <= 4
    outputs = " ".join(test["output"] for test in results["tests"])
    assert "FileNotFoundError" in outputs and "READ" not in outputs and "WROTE" not in outputs
    assert any("spread" in test["output"] for test in results["tests"] if test["tags"][0] == "Standardize")
    assert sum(test["score"] for test in results["tests"] if test["tags"][0] == "moving_average") <= 1  # it loads
    assert "stand-ins" in said


@LINUX
def test_a_file_that_is_no_notebook_gets_a_sentence_and_no_zero(unpacked: Unpacked) -> None:
    results, _said = unpacked.grade({f"{NAME}.ipynb": b"<html>Please log in</html>", "notes.txt": b"hello"})
    assert "score" not in results and results["tests"] == []
    assert "web page" in results["output"] and results["visibility"] == "visible"


@LINUX
def test_where_nothing_starts_a_result_is_written_all_the_same(unpacked: Unpacked, tmp_path: Path) -> None:
    shutil.copy(unpacked.root / "run_autograder", tmp_path / "run_autograder")
    results, said = Unpacked(tmp_path).grade({})
    assert "not a zero" in results["output"] and "score" not in results
    assert "No such file" in said


# -- where the container makes no namespaces --------------------------------------------------------------------------


@LINUX
@ROOT_USER
def test_without_namespaces_nothing_is_graded_unless_the_instructor_chose_so(
    course_copy: Course, second: Source, open_folder: Path
) -> None:
    tree = unpack(package(course_copy, course_copy.source()).path, open_folder / "refuses")
    results, said = tree.grade({f"{NAME}.ipynb": notebook(second)}, container=True)
    assert "score" not in results and "not your fault" in results["output"]
    assert "namespaces" not in results["output"] and "`autograder package gradescope --unsandboxed`" in said

    tree = unpack(package(course_copy, course_copy.source(), unsandboxed=True).path, open_folder / "grades")
    prying = LOOKS_AROUND.format(
        course=str(tree.root / "source"),
        results=str(tree.root / "results"),
        parent="int(open(f'/proc/{os.getppid()}/status').read().partition('PPid:')[2].split()[0])",
    )
    results, said = tree.grade({f"{NAME}.ipynb": notebook(second, moving_average=prying)}, container=True)
    assert results["extra_data"]["isolation"] == "none" and "Isolation: none" in said
    assert results["score"] == 4  # with a stand-in for what it broke on purpose
    (output,) = {test["output"] for test in results["tests"] if "RuntimeError" in test["output"]}
    assert (
        "READ" not in output and "WROTE" not in output and output.count("REACHED") == 1
    )  # the process that forked it, of its own user
    assert stat.S_IMODE((tree.root / "source").stat().st_mode) == 0o700
