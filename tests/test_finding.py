"""Submissions are found in files, folders, nbgrader's tree and zips; each student ends as one row."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from autograder.grading.finding import Found, NothingFound, SystemName, find, find_one, system_name
from autograder.grading.roster import read_roster
from autograder.notebooks import Unreadable

NAME = "demo"


def put(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def students(*paths: Path) -> list[str]:
    return [one.student for one in find(paths, NAME)]


def only(path: Path) -> Found:
    found = find([path], NAME)
    assert len(found) == 1
    return found[0]


def test_a_file_is_named_by_its_stem(tmp_path: Path) -> None:
    assert students(put(tmp_path / "hw (1).ipynb")) == ["hw (1)"]
    assert students(put(tmp_path / "HW.IPYNB")) == ["HW"]


def test_a_folder_holds_a_student_per_notebook(tmp_path: Path) -> None:
    for name in ("b.ipynb", "a.ipynb", "notes.txt", "._a.ipynb", ".c.ipynb", ".ipynb_checkpoints/a-checkpoint.ipynb"):
        put(tmp_path / name)
    assert students(tmp_path) == [".c", "a", "b"]


def test_nbgraders_tree_is_read_from_any_of_its_levels(tmp_path: Path) -> None:
    tree = tmp_path / "submitted"
    put(tree / "s1" / NAME / "demo.ipynb")
    put(tree / "s2" / NAME / "demo.ipynb")
    put(tree / "s1" / "another" / "x.ipynb")
    assert students(tree) == ["s1", "s2"]
    assert students(tree / "s1") == ["s1"]
    assert students(tree / "s1" / NAME) == ["s1"]
    assert students(tree / "s1" / NAME / "demo.ipynb") == ["s1"]


def test_the_released_notebook_is_named_by_its_stem_too(tmp_path: Path) -> None:
    assert students(put(tmp_path / "exercises" / NAME / "demo.ipynb")) == [NAME]


def test_where_all_files_have_the_released_name_the_folders_name_the_students(tmp_path: Path) -> None:
    put(tmp_path / "class" / "ann" / "demo.ipynb")
    assert students(tmp_path / "class") == ["ann"]
    bob = put(tmp_path / "class" / "bob" / "demo.ipynb")
    assert students(tmp_path / "class") == ["ann", "bob"]
    assert students(tmp_path / "class" / "ann" / "demo.ipynb", bob) == ["ann", "bob"]
    assert students(bob) == students(bob, bob) == [NAME]
    put(tmp_path / "class" / "eve.ipynb")
    put(tmp_path / "class" / "kim" / "demo (2).ipynb")
    assert students(tmp_path / "class") == ["ann", "bob", "eve", "kim"]
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("class/ann/demo.ipynb", "A")
        archive.writestr("class/bob/demo.ipynb", "B")
    assert students(tmp_path / "class.zip") == ["ann", "bob"]
    twice = put(tmp_path / "later" / "ann" / "demo.ipynb")
    reason = next(one.reason for one in find([tmp_path / "class", twice.parents[1]], NAME) if one.student == "ann")
    assert reason.startswith("Two notebooks were handed in") and str(twice) in reason


def test_in_a_folder_for_each_student_everything_is_that_students(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "demo.ipynb")
    put(tmp_path / "ann" / "notes.ipynb")
    put(tmp_path / "ann" / "backup" / "demo.ipynb")
    put(tmp_path / "bob" / "demo.ipynb")
    put(tmp_path / "nia" / "report.pdf")
    put(tmp_path / "sam" / "mine.ipynb")
    (tmp_path / "zoe").mkdir()
    passed_over: list[Path] = []
    found = {one.student: one for one in find([tmp_path], NAME, None, passed_over.append)}
    assert list(found) == ["ann", "bob", "nia", "sam", "zoe"] and passed_over == []
    assert found["ann"].path == tmp_path / "ann" / "demo.ipynb" and "notes.ipynb" in found["ann"].flags[0]
    assert found["sam"].path.name == "mine.ipynb" and found["sam"].reason == ""
    assert "no notebook (.ipynb): report.pdf" in found["nia"].reason and "empty" in found["zoe"].reason


def test_what_is_no_notebook_is_told_and_found_by_the_roster(tmp_path: Path) -> None:
    for name in ("ada.ipynb", "max.py", "nia.report.pdf", "README", ".DS_Store"):
        put(tmp_path / "class" / name)
    passed_over: list[Path] = []
    assert [one.student for one in find([tmp_path / "class"], NAME, None, passed_over.append)] == ["ada"]
    assert [path.name for path in passed_over] == ["README", "max.py", "nia.report.pdf"]
    roster = read_roster(put(tmp_path / "roster.csv", "student\nada\nmax\nnia\neve\n"))
    passed_over.clear()
    found = {one.student: one.reason for one in find([tmp_path / "class"], NAME, roster, passed_over.append)}
    assert found["ada"] == "" and found["eve"] == "Nothing was handed in."
    assert "holds no notebook (.ipynb): max.py" in found["max"] and "nia.report.pdf" in found["nia"]
    assert [path.name for path in passed_over] == ["README"]


def zipped(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/") + ".ipynb", text)
        archive.writestr("__MACOSX/._demo.ipynb", "junk")
    return data.getvalue()


def test_a_zip_that_a_student_handed_in_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    put(folder / "ada.ipynb", "A")
    (folder / "greta.zip").write_bytes(zipped(work__demo="G"))
    (folder / "two.zip").write_bytes(zipped(a="1", b="2"))
    (folder / "turingalan_1003_9003_hw.zip").write_bytes(zipped(demo="T", draft="D"))
    (folder / "broken.zip").write_text("PK")
    passed_over: list[Path] = []
    found = {one.student: one for one in find([folder], NAME, None, passed_over.append)}
    assert {name: one.read() for name, one in found.items() if not one.reason} == {
        "ada": b"A", "greta": b"G", "turingalan": b"T"
    }  # fmt: skip
    assert "a.ipynb and b.ipynb" in found["two"].reason and "draft.ipynb" in found["turingalan"].flags[0]
    assert system_name(found["turingalan"]) == SystemName("canvas", "1003", "turingalan", "turingalan_1003_9003_hw")
    assert [path.name for path in passed_over] == ["broken.zip"]

    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"all/{path.name}")
        archive.writestr("Nia Moss_5_assignsubmission_file/hw.zip", zipped(demo="N"))
        archive.writestr("Eli Fox_6_assignsubmission_file/hw.zip", "no zip")
    again = {one.student: one for one in find([tmp_path / "all.zip"], NAME)}
    assert {name: one.read() for name, one in again.items() if not one.reason} == {
        "ada": b"A", "greta": b"G", "turingalan": b"T", "Nia Moss": b"N"
    }  # fmt: skip
    assert system_name(again["turingalan"]) == system_name(found["turingalan"])
    assert "hw.zip" in again["Eli Fox"].reason
    for name in ("liv", "max"):
        (tmp_path / f"{name}.zip").write_bytes(zipped(demo=name))
    assert students(tmp_path / "liv.zip") == [NAME]
    assert students(tmp_path / "liv.zip", tmp_path / "max.zip") == ["liv", "max"]


def test_a_students_zip_that_lists_very_many_files_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "class" / "ada.ipynb")
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        archive.writestr("demo.ipynb", "B")
        for number in range(12_000):
            archive.writestr(f"{number:050}", "")
    (tmp_path / "class" / "bob.zip").write_bytes(many.getvalue())
    (tmp_path / "class" / "eve.zip").write_bytes(zipped(demo="E"))
    passed_over: list[Path] = []
    assert [one.student for one in find([tmp_path / "class"], NAME, None, passed_over.append)] == ["ada", "eve"]
    assert [path.name for path in passed_over] == ["bob.zip"]
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 0)  # then the list's length may stand elsewhere
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 0)
    (tmp_path / "class" / "eve.zip").write_bytes(zipped(demo="E"))
    assert [one.student for one in find([tmp_path / "class"], NAME)] == ["ada"]


@pytest.mark.parametrize("name", ["demo.ipynb.txt", "demo.ipynb.json", "demo.IPYNB"])
def test_an_ending_that_a_browser_added_is_seen_through(tmp_path: Path, name: str) -> None:
    put(tmp_path / "submitted" / "s1" / NAME / name)
    assert only(tmp_path / "submitted").reason == ""
    assert students(put(tmp_path / "flat" / name)) == [NAME]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_file_in_a_zip_costs_its_own_student(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w", method) as archive:
        archive.writestr("ann.ipynb", "sound")
        archive.writestr("bob.ipynb", "the bytes of this one are damaged " * 50)
        place = archive.getinfo("bob.ipynb").header_offset
    data = bytearray((tmp_path / "class.zip").read_bytes())
    data[place + 45 : place + 75] = bytes(range(97, 127))
    (tmp_path / "class.zip").write_bytes(data)
    ann, bob = find([tmp_path / "class.zip"], NAME)
    assert ann.read() == b"sound"
    with pytest.raises(Unreadable, match=r"bob\.ipynb in class\.zip cannot be read"):
        bob.read()


def test_in_nbgraders_tree_a_notebook_one_folder_too_high_is_not_lost(tmp_path: Path) -> None:
    put(tmp_path / "submitted" / "s1" / NAME / "demo.ipynb")
    put(tmp_path / "submitted" / "s2" / "demo.ipynb")
    put(tmp_path / "submitted" / "s1" / "another" / "demo.ipynb")
    put(tmp_path / "submitted" / "s3" / "homework.ipynb")
    put(tmp_path / "submitted" / "s4" / "wrong name" / "demo (1).ipynb")
    put(tmp_path / "submitted" / "s5" / "another" / "other.ipynb")  # nothing of this assignment
    put(tmp_path / "submitted" / "s6" / "answers.py")
    (tmp_path / "submitted" / "s7.zip").write_bytes(zipped(demo="Z"))
    found = {one.student: one for one in find([tmp_path / "submitted"], NAME)}
    assert list(found) == ["s1", "s2", "s3", "s4", "s6", "s7"]
    assert [one.student for one in found.values() if one.reason] == ["s6"] and "answers.py" in found["s6"].reason
    assert found["s1"].path == tmp_path / "submitted" / "s1" / NAME / "demo.ipynb" and not found["s1"].flags


def test_a_reason_is_one_line_whatever_the_files_are_called(tmp_path: Path) -> None:
    for folder in ("x\ny", "z\t", "bad\udcff"):
        put(tmp_path / folder / "s1.ipynb")
    (found,) = find([tmp_path], NAME)
    assert found.reason.startswith("3 notebooks were handed in")
    assert found.reason.isprintable() and r"bad\udcff" in found.reason


def test_of_two_notebooks_the_one_named_as_released_counts_and_a_flag_names_the_other(tmp_path: Path) -> None:
    put(tmp_path / "submitted" / "s1" / NAME / "demo.ipynb")
    put(tmp_path / "submitted" / "s1" / NAME / "draft.ipynb")
    found = only(tmp_path / "submitted")
    assert found.path.name == "demo.ipynb" and "draft.ipynb" in found.flags[0]


def test_two_notebooks_of_other_names_end_as_one_row_that_names_both(tmp_path: Path) -> None:
    put(tmp_path / "submitted" / "s1" / NAME / "a.ipynb")
    put(tmp_path / "submitted" / "s1" / NAME / "b.ipynb")
    found = only(tmp_path / "submitted")
    assert "a.ipynb and b.ipynb" in found.reason
    with pytest.raises(Unreadable):
        found.read()


def test_a_student_whose_folder_is_empty_keeps_a_row(tmp_path: Path) -> None:
    (tmp_path / "submitted" / "s1" / NAME).mkdir(parents=True)
    put(tmp_path / "submitted" / "s2" / NAME / "demo.ipynb")
    found = find([tmp_path / "submitted"], NAME)
    assert [one.student for one in found] == ["s1", "s2"]
    assert "no notebook" in found[0].reason


def test_the_same_student_from_two_paths_is_ungradable_but_the_same_file_twice_is_not(tmp_path: Path) -> None:
    one, other = put(tmp_path / "x" / "s1.ipynb"), put(tmp_path / "y" / "s1.ipynb")
    assert only(one).reason == ""
    assert [found.reason for found in find([one, one], NAME)] == [""]
    assert "Two notebooks" in find([one, other], NAME)[0].reason


def test_names_that_differ_in_unicode_form_alone_are_one_student(tmp_path: Path) -> None:
    put(tmp_path / "x" / "Jos\u00e9.ipynb")
    put(tmp_path / "y" / "Jose\u0301.ipynb")
    found = find([tmp_path / "x", tmp_path / "y"], NAME)
    assert len(found) == 1 and "Two notebooks" in found[0].reason and "encoded" not in found[0].reason
    put(tmp_path / "x" / "Jose\u0301.ipynb")
    assert "look the same and differ in how they are encoded" in find([tmp_path / "x"], NAME)[0].reason


def test_zips_of_notebooks_and_of_the_tree_are_read_without_unpacking(tmp_path: Path) -> None:
    flat, tree = tmp_path / "class.zip", tmp_path / "submitted.zip"
    with zipfile.ZipFile(flat, "w") as archive:
        archive.writestr("class/a.ipynb", "A")
        archive.writestr("class/b.ipynb", "B")
        archive.writestr("__MACOSX/class/._a.ipynb", "junk")
    with zipfile.ZipFile(tree, "w") as archive:
        archive.writestr(f"submitted/s1/{NAME}/demo.ipynb", "one")
        archive.writestr(f"submitted/s2/{NAME}/demo.ipynb", "two")
        archive.writestr("../../evil.ipynb", "out")
    assert {one.student: one.read() for one in find([flat], NAME)} == {"a": b"A", "b": b"B"}
    before = set(tmp_path.rglob("*"))
    assert {one.student: one.read() for one in find([tree], NAME)}.items() >= {"s1": b"one", "s2": b"two"}.items()
    assert set(tmp_path.rglob("*")) == before and not (tmp_path.parent / "evil.ipynb").exists()


@pytest.mark.parametrize("name", ["nothing", "text.txt", "broken.zip", "empty"])
def test_a_path_without_a_submission_is_wrong_usage_in_words(tmp_path: Path, name: str) -> None:
    put(tmp_path / "text.txt")
    put(tmp_path / "broken.zip", "PK")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingFound, match=name):
        find([tmp_path / name], NAME)


def test_links_are_listed_but_never_followed(tmp_path: Path) -> None:
    secret = put(tmp_path / "elsewhere" / "secret.ipynb")
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "s1.ipynb").symlink_to(secret)
    (tmp_path / "class" / "loop").symlink_to(tmp_path / "class")
    found = find([tmp_path / "class"], NAME)
    assert [one.student for one in found] == ["s1"]
    with pytest.raises(Unreadable, match="symbolic link"):
        found[0].read()


def test_every_file_of_one_student_is_that_students(tmp_path: Path) -> None:
    put(tmp_path / "work" / "demo (1).ipynb")
    put(tmp_path / "notes.txt")
    put(tmp_path / "Ada Lovelace_1234568_assignsubmission_file" / "notes.txt")
    found = find_one(tmp_path, "s", NAME)
    assert (found.student, found.path.name, found.reason) == ("s", "demo (1).ipynb", "")
    put(tmp_path / "other.ipynb")
    assert "neither is named demo.ipynb" in find_one(tmp_path, "s", NAME).reason
    put(tmp_path / "demo.ipynb")
    found = find_one(tmp_path, "s", NAME)
    assert found.path == tmp_path / "demo.ipynb" and "other.ipynb" in found.flags[0]
    assert "no notebook" in find_one(tmp_path / "missing", "s", NAME).reason


@pytest.mark.parametrize(
    ("place", "system", "number"),
    [
        ("lovelaceada_40901_700001_demo.ipynb", "canvas", "40901"),
        ("lovelaceada_LATE_40901_700001_demo-2.ipynb", "canvas", "40901"),
        ("Ada Lovelace_1234568_assignsubmission_file/work/demo.ipynb", "moodle", "1234568"),
        ("Ada Lovelace_1234568_assignsubmission_file_demo.ipynb", "moodle", "1234568"),
        ("export/submission_21/demo.ipynb", "gradescope", "21"),
        ("submitted/ada/demo/demo.ipynb", "", ""),
        ("exam_2_1_final.ipynb", "", ""),
    ],
)
def test_what_a_system_called_a_submission_is_known(tmp_path: Path, place: str, system: str, number: str) -> None:
    name = system_name(only(put(tmp_path / place).parents[len(Path(place).parts) - 1]))
    assert (name.system, name.number) == (system, number) if name is not None else not system
