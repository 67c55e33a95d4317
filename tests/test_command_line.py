"""A mistyped call is told in a sentence, with what was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

from autograder import cli
from autograder.course import Course


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("grad x", "autograder: There is no command grad. Did you mean grade?"),
        ("zzz", "autograder: There is no command zzz. Expected one of release, check, grade"),
        ("grade x --ouput y", "autograder grade: There is no option --ouput. Did you mean --output?"),
        ("grade --outptu=grades x", "autograder grade: There is no option --outptu. Did you mean --output?"),
        ("export grades --too canvas", "autograder export: There is no option --too. Did you mean --to?"),
        ("export grades --to canvass", "autograder export: There is no --to canvass. Did you mean canvas?"),
        ("export grades", "autograder export: The following arguments are required: --to."),
        ("package gradscope", "autograder package: There is no system gradscope. Did you mean gradescope?"),
        ("report a b", "autograder report: It takes no further argument: what is b?"),
        ("grade x --output", "autograder grade: Argument --output: expected one argument."),
        ("grade x --jobs two", "autograder grade: Argument --jobs: expected a whole number of 1 or more, got two."),
        ("grade x --seed -3", "autograder grade: Argument --seed: expected"),
        ("check", "autograder check: The following arguments are required: NOTEBOOK. `"),
        ("verify -q", "autograder verify: There is no option -q."),
    ],
)
def test_a_mistyped_call_is_told_with_what_was_meant(call: str, says: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(call.split())
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(says), error
    assert error.count("\n") == 1 and "--help` says what there is." in error


def test_a_beginning_of_an_option_is_enough(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        cli.main(["grade", "--outp", "here"])
    assert "required: PATH" in capsys.readouterr().err


@pytest.mark.parametrize("call", [["grade", ""], ["grade", "x", "--output", ""], ["grade", "x", "--output", " "]])
def test_an_empty_name_is_none(call: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit):
        cli.main(call)
    assert "expected the name of a file or folder, got an empty one" in capsys.readouterr().err


def test_a_notebook_that_is_not_there_is_named(course: Course, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(course.root)
    assert cli.main(["check", "nowhere.ipynb"]) == cli.WRONG_USAGE
    assert capsys.readouterr().err == "autograder: nowhere.ipynb: The file does not exist.\n"
