"""A mistake in a check or a probe is told to the course's author: which one, where it stands, and what to try."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sample_class
from course_copies import copy_course

from autograder import cli, solved
from autograder.checking import Answer, CheckBroken, Draw, Rule, Stage
from autograder.course import Course
from autograder.interrupting import handle_interrupts

NAME = "smoothing"
CHECK = "solutions/smoothing/checks/test_moving_average.py"
PROBES = "solutions/smoothing/checks/probes.py"
FIRST = 'seen = answer.observe("average", x=draw.normal(2, 7), window=3)'
MEND = "Mend the check and run `autograder verify`."
BOOM = f"The check moving_average/one_number_per_run raises RuntimeError: boom ({CHECK}, line 9). {MEND}"
FAILS = "The reference fails the check moving_average/one_number_per_run with seed 7"

MISTAKES = [
    (CHECK, FIRST, 'raise RuntimeError("boom")', BOOM),
    (CHECK, FIRST, "import sys; sys.exit()", f"one_number_per_run raises SystemExit ({CHECK}, line 9). {MEND}"),
    (CHECK, FIRST, "raise KeyboardInterrupt", f"one_number_per_run raises KeyboardInterrupt ({CHECK}, line 9). {MEND}"),
    (
        CHECK, '"average", x', '"avrage", x',
        f"The check moving_average/one_number_per_run asks for the probe avrage ({CHECK}, line 9), which probes.py "
        "does not define. Did you mean average?",
    ),
    (CHECK, '"average", axes', '"avrage", axes', f"{FAILS} ({CHECK}, line 10): Expected a value for `avrage`."),
    (
        PROBES, "before = x.clone()", 'before = {}["x"]',
        f"{FAILS} ({CHECK}, line 9): the probe average raises KeyError: 'x'. Mend average in probes.py",
    ),
]  # fmt: skip


def edited(course: Course, file: str, old: str, new: str) -> None:
    path = course.root / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Course]:
    """The second course, in which the commands are given, with Ctrl-C as they have it."""
    copy = copy_course(tmp_path / "course")
    monkeypatch.chdir(copy.root)
    before = signal.getsignal(signal.SIGINT)
    handle_interrupts()
    yield copy
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def handed_in(course: Course, tmp_path: Path) -> Path:
    """Two solved notebooks."""
    folder = tmp_path / "class"
    folder.mkdir()
    for name in ("ada", "bob"):
        (folder / f"{name}.ipynb").write_text(json.dumps(solved.solved_notebook(course.source(NAME))), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("file", "old", "new", "says"), MISTAKES)
def test_a_mistake_is_told_with_its_place(
    course: Course, handed_in: Path, file: str, old: str, new: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(course, file, old, new)
    assert cli.main(["grade", str(handed_in), "--output", "grades", "--seed", "7", "--jobs", "1"]) == cli.WRONG_USAGE
    error = capsys.readouterr().err
    assert error.startswith("autograder: ") and says in error and error.count("\n") == 1, error


@pytest.mark.parametrize(("command", "file", "old", "new", "says"), [("grade", *MISTAKES[2]), ("verify", *MISTAKES[0])])
def test_so_it_is_by_verify_and_by_two_workers_of_whom_one_speaks(
    course: Course, handed_in: Path, command: str, file: str, old: str, new: str, says: str
) -> None:
    edited(course, file, old, new)
    given = {"grade": [str(handed_in), "--output", "grades", "--jobs", "2"], "verify": ["--seeds", "1"]}[command]
    done = subprocess.run(
        [sys.executable, "-m", "autograder", command, *given],
        cwd=course.root, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    said = done.stderr.removeprefix("Seed 1\n")
    assert done.returncode == cli.WRONG_USAGE and done.stdout == ""
    assert said.startswith("autograder: ") and says in said and said.count("\n") == 1, said


SETTINGS = "solutions/smoothing/assignment.toml"


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (PROBES, "def average", "def average(:", "probes.py raise SyntaxError: "),
        (PROBES, "def average", 'raise ValueError("boom")\ndef average', "probes.py raise ValueError: boom. Mend "),
        (PROBES, "def average", "raise SystemExit(3)\ndef average", "probes.py raise SystemExit: 3. Mend "),
        (PROBES, "", None, "The probes cannot be read: "),
        (SETTINGS, "import torch\n", "import torch\n1 / 0\n", "namespace in "),
        ("solutions/smoothing/standins.py", "", "def (:\n", "standins.py cannot be used: it is no Python: "),
        ("solutions/smoothing/smoothing.py", "", None, "smoothing.py cannot be read: No such file or directory. "),
        (CHECK, "", "import sys\nsys.exit(3)\n", "The checks cannot be collected: SystemExit: 3 ("),
        (CHECK, "", "raise KeyboardInterrupt\n", "The checks cannot be collected: KeyboardInterrupt ("),
    ],
)  # fmt: skip
def test_what_makes_a_release_impossible_is_one_sentence(
    course: Course, file: str, old: str, new: str | None, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if new is None:
        (course.root / file).unlink()
    else:
        edited(course, file, old, new)
    assert cli.main(["release"]) == cli.WRONG_USAGE
    error = capfd.readouterr().err
    assert error.startswith("autograder: ") and says in error and error.count("\n") == 1, error
    if file == CHECK:
        assert f"{Path(CHECK).name}, line " in error


ODD_ANSWER = "def moving_average(x, window):\n    return x[..., :0]\n"


def test_a_check_that_one_answer_breaks_costs_no_other_student(course: Course, handed_in: Path) -> None:
    edited(course, CHECK, FIRST, FIRST + "\n    assert seen.tensor('average').numel()")
    notebook = json.loads((handed_in / "ada.ipynb").read_text(encoding="utf-8"))
    odd = sample_class.with_answers(notebook, {"moving_average": ODD_ANSWER})
    (handed_in / "odd.ipynb").write_text(json.dumps(odd), encoding="utf-8")
    assert cli.main(["grade", str(handed_in), "--output", "grades", "--jobs", "1"]) == cli.SOME_FAILED
    results = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in Path("grades/students").glob("*.json")
    }
    assert {name: one["status"] for name, one in results.items()} == {"ada": "graded", "bob": "graded", "odd": "error"}
    assert "raises AssertionError" in results["odd"]["reason"] and f"({CHECK}, line 10)" in results["odd"]["reason"]


def rule_of(function: Callable[..., None]) -> Rule:
    return Rule("moving_average", "it", "It holds.", Stage("values", 1, "", "", ""), function)


def test_a_real_ctrl_c_inside_a_check_is_none_of_its_mistakes() -> None:
    def pressed() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def pressed_and_wrapped() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt as problem:
            raise RuntimeError("wrapped") from problem

    def exits() -> None:
        raise SystemExit(3)

    answer, draw = Answer("moving_average", "it", 0, None), Draw(0, "it")  # type: ignore[arg-type]
    before = signal.getsignal(signal.SIGINT)
    handle_interrupts()
    try:
        for check in (pressed, pressed_and_wrapped):
            with pytest.raises(KeyboardInterrupt):
                rule_of(check).run(answer, draw)
        with pytest.raises(CheckBroken, match="raises SystemExit: 3"):
            rule_of(exits).run(answer, draw)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt):  # in a notebook, where nobody can tell
            rule_of(pressed).run(answer, draw)
    finally:
        signal.signal(signal.SIGINT, before)  # which may be to ignore it, as a shell's background jobs do
