"""Release makes the learner's side from the one source, the same each time, and nothing else."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from course_copies import ROOT, build_root, copy_course

from autograder import bundle, recordings, release, wire
from autograder.collecting import collect
from autograder.course import Assignment, Course, CourseError, Source, Trace


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = copy_course(tmp_path_factory.mktemp("released"))
    release.release(course)
    return course


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_a_second_release_gives_the_same_bytes(released: Course, tmp_path: Path) -> None:
    again = copy_course(tmp_path)
    report = release.release(again)
    assert content(again.released) == content(released.released)
    assert content(again.root / "dist") == content(released.root / "dist")
    assert report.changed
    assert not release.release(again).changed
    assert "nothing changed" in release.release(again).sentence


def test_learners_get_notebook_checks_and_recordings_and_nothing_else(released: Course) -> None:
    assert set(content(released.released / "smoothing")) == {
        "smoothing.ipynb", "assignment.toml", "checks/probes.py", "checks/test_moving_average.py",
        "checks/test_Standardize.py", "recordings/moving_average.recording", "recordings/Standardize.recording",
    }  # fmt: skip


def test_every_exercise_has_its_stub_and_one_locked_check_with_its_points(released: Course) -> None:
    notebook = json.loads((released.released / "smoothing" / "smoothing.ipynb").read_text())
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    for exercise in released.source().assignment.exercises:
        stub, check = cells[exercise.name], cells[f"check-{exercise.name}"]
        assert "raise NotImplementedError()" in "".join(stub["source"])
        assert "SOLUTION" not in "".join(stub["source"])
        assert "".join(check["source"]) == f'check("{exercise.name}")'
        settings = check["metadata"]["nbgrader"]
        assert (settings["points"], settings["locked"], settings["grade"]) == (exercise.points, True, True)
        assert check["metadata"]["editable"] is False


def test_the_released_folder_can_be_called_anything(released: Course, tmp_path: Path) -> None:
    folder = (released.released / "smoothing").rename(tmp_path / "smoothing (1)")
    try:
        assert Assignment.read(folder).name == "smoothing"
    finally:
        folder.rename(released.released / "smoothing")


def test_the_recording_replays_the_checks_and_knows_the_wrong_answers(released: Course) -> None:
    assignment = Assignment.read(released.released / "smoothing")
    recording = recordings.load(assignment, collect(assignment))
    assert {rule.partition("/")[0] for rule in recording.takes} == {"moving_average", "Standardize"}
    named = {wrong.misconception.name for wrong in recording.wrong["moving_average"]}
    assert named == {"sum-not-mean", "over-the-batch"}


def test_what_is_committed_can_be_compared_with_the_source(released: Course, tmp_path: Path) -> None:
    course = copy_course(tmp_path, released.root)
    assert release.differences(course, course.source()) == []
    check = course.released / "smoothing" / "checks" / "test_moving_average.py"
    check.write_text(check.read_text() + "\n# edited here\n")
    (course.released / "smoothing" / "extra.txt").write_text("")
    (course.released / "smoothing" / "smoothing.ipynb").unlink()
    said = "\n".join(release.differences(course, course.source()))
    assert "test_moving_average.py is not what the source gives" in said
    assert "extra.txt is not part of the release" in said
    assert "smoothing.ipynb is missing" in said


def test_the_source_folder_is_made_anew_only_when_the_source_changed(released: Course, tmp_path: Path) -> None:
    course = copy_course(tmp_path, released.root)
    notebook = course.root / "build" / "source" / "smoothing" / "smoothing.ipynb"
    before = notebook.stat().st_mtime_ns
    release.refresh_source(course, course.source())
    assert notebook.stat().st_mtime_ns == before
    text = course.source().notebook
    text.write_text(text.read_text().replace("Exercises: {{exercises}}.", "Two small exercises."))
    changed = Course(course.root)
    release.refresh_source(changed, changed.source())
    assert "Two small exercises." in notebook.read_text()


def test_a_leak_stops_the_release(released: Course, tmp_path: Path) -> None:
    course = copy_course(tmp_path, released.root)
    check = course.root / "solutions" / "smoothing" / "checks" / "test_moving_average.py"
    answer = "# runs = x.unfold(-1, window, 1)\n# return runs.mean(-1)\n"
    check.write_text(check.read_text() + answer)
    with pytest.raises(CourseError, match="the answer of moving_average"):
        release.release(Course(course.root))
    assert "unfold" not in (course.released / "smoothing" / "checks" / "test_moving_average.py").read_text()


def test_the_zip_unpacks_into_one_folder_with_all_that_a_learner_needs(released: Course) -> None:
    with zipfile.ZipFile(released.root / "dist" / "smoothing.zip") as archive:
        names = archive.namelist()
        assert {name.partition("/")[0] for name in names} == {"smoothing"}
        wanted = archive.read("smoothing/requirements.txt").decode().splitlines()
        start = archive.read("smoothing/START-HERE.md").decode()
    wheels = [name for name in names if name.endswith(".whl")]
    assert len(wheels) == 1
    assert wanted == ["torch>=2.4", "jupyterlab>=4", "./" + wheels[0].removeprefix("smoothing/")]
    for system in ("Windows", "macOS", "Linux"):
        assert f"## {system}" in start
    assert "jupyter lab smoothing.ipynb" in start
    assert "`.venv/bin/python -m pip install` in place of" in start  # pytorch.org says `pip3 install`


def test_the_first_page_says_where_the_book_is(source: Source) -> None:
    assignment = source.assignment
    assert "ask your instructor for the book" in bundle.start_here(replace(assignment, book=""))
    assert "The book is at https://a.b/c." in bundle.start_here(replace(assignment, book="https://a.b/c"))
    assert "book" not in bundle.start_here(replace(assignment, chapters={})).replace("notebook", "")


def test_the_first_page_tells_the_command_and_what_can_be_traced(source: Source) -> None:
    assignment = replace(source.assignment, traces={})
    start = bundle.start_here(assignment)
    command = f"autograder check {assignment.name}.ipynb "
    assert f".venv/bin/{command}{assignment.exercises[0].name}\n" in start and "traced" not in start
    last = assignment.exercises[-1].name
    start = bundle.start_here(replace(assignment, traces={last: Trace(("any",), {}, (), {})}))
    assert f".venv\\Scripts\\{command}{last}\n" in start and f"These exercises can be traced: `{last}`." in start


NOTEBOOK = "smoothing.ipynb"


@pytest.mark.parametrize("listed", [True, False])
def test_what_somebody_made_in_the_released_folder_is_never_lost(
    released: Course, tmp_path: Path, listed: bool
) -> None:
    course = copy_course(tmp_path, released.root)
    folder = course.released / "smoothing"
    if not listed:  # released by another version, or the list is lost
        (course.released / "smoothing.sha256").unlink()
    written = content(folder)
    (folder / NOTEBOOK).write_text("answers", encoding="utf-8")
    (folder / "mine" / "students").mkdir(parents=True)
    (folder / "mine" / "students" / "ada.json").write_text("8", encoding="utf-8")
    report = release.release(course)
    aside = course.root / "build" / "set-aside" / "smoothing"
    assert (aside / NOTEBOOK).read_text(encoding="utf-8") == "answers"
    assert content(folder) == {**written, "mine/students/ada.json": b"8"}
    assert "was brought up to date: 1 file changed; " in report.sentence
    assert "What is not part of the release stays where it is: mine/students/ada.json." in report.sentence
    assert f"{NOTEBOOK} is now {aside / NOTEBOOK}." in report.sentence
    assert "ada.json is not part of the release" in "\n".join(release.differences(course, course.source()))
    (folder / NOTEBOOK).write_text("other answers", encoding="utf-8")
    release.release(course)
    assert {one.read_text(encoding="utf-8") for one in aside.iterdir()} == {"answers", "other answers"}


def test_what_release_wrote_itself_is_replaced_without_a_word(released: Course, tmp_path: Path) -> None:
    course = copy_course(tmp_path, released.root)
    probes = course.root / "solutions" / "smoothing" / "checks" / "probes.py"
    probes.write_text(probes.read_text(encoding="utf-8") + "\n# more\n", encoding="utf-8")
    extra = probes.with_name("helper.py")
    extra.write_text("", encoding="utf-8")
    assert release.release(Course(course.root)).changed == ["checks/helper.py", "checks/probes.py"]
    extra.unlink()
    report = release.release(Course(course.root))
    assert report.changed == ["checks/helper.py"] and not report.foreign and not report.aside
    assert not (course.root / "build" / "set-aside").exists()


def test_an_exercise_that_was_left_out_and_taken_back_is_released_as_before(released: Course, tmp_path: Path) -> None:
    course = copy_course(tmp_path, released.root)
    folder = course.released / "smoothing"
    path = folder / "recordings" / "Standardize.recording"
    recording: Any = wire.decode(path.read_bytes())
    _nudge(recording["replies"])  # as another machine has it in the last digit
    path.write_bytes(wire.encode(recording))
    (course.released / "smoothing.sha256").write_text(release._sums(folder), encoding="utf-8")
    before = content(course.released)
    settings = course.root / "solutions" / "smoothing" / "assignment.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("[chapters]", '[grading]\nleave_out = ["Standardize"]\n[chapters]'), "utf-8")
    release.release(Course(course.root))
    assert not path.exists()
    settings.write_text(text, encoding="utf-8")
    report = release.release(Course(course.root))
    assert content(course.released) == before and not report.aside


def _nudge(value: Any) -> None:
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            one.copy_(torch.nextafter(one, torch.full_like(one, math.inf)))
        elif isinstance(one, (dict, list)):
            _nudge(one)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_make_lab_opens_a_copy_that_no_later_step_touches(tmp_path: Path) -> None:
    shutil.copyfile(ROOT / "Makefile", tmp_path / "Makefile")
    for name in ("requirements.txt", "pyproject.toml", "exercises/multi_head_attention/multi_head_attention.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "jupyter").write_text('#!/bin/sh\npwd; echo answers >> "$2"\n', encoding="utf-8")
    (tools / "jupyter").chmod(0o755)
    (tmp_path / ".venv" / "ready").touch()
    for times in (1, 2):
        done = subprocess.run(["make", "lab"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "build/lab/multi_head_attention\n" in done.stdout
        copy = tmp_path / "build" / "lab" / "multi_head_attention" / "multi_head_attention.ipynb"
        assert copy.read_text(encoding="utf-8") == "answers\n" * times
    (tmp_path / "build" / "source").mkdir()
    subprocess.run(["make", "clean"], cwd=tmp_path, capture_output=True, check=True)
    assert copy.exists() and not (tmp_path / "build" / "source").exists()


def test_the_committed_exercises_are_what_the_source_gives(course: Course, source: Source) -> None:
    build_root()
    assert release.differences(course, source) == []
