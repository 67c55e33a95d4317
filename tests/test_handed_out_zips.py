"""What Canvas, Moodle and Gradescope hand out is found under the students' names; a roster says who is missing."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from autograder.grading.finding import Found, NothingFound, find
from autograder.grading.roster import RosterError, read_roster

NAME = "demo"
GRADESCOPE = """---
submission_21:
  :submitters:
  - :name: Ada Lovelace
    :sid: '1815'
    :email: ada@example.org
  :created_at: 2024-03-01 10:00:00.000000000 Z
  :score: 0.0
submission_22:
  :submitters:
  - :name: Alan Turing
    :sid: '1912'
    :email: alan@example.org
  - :name: Grace Hopper
    :sid: '1906'
    :email: grace@example.org
  :created_at: 2024-03-01 11:00:00.000000000 Z
"""


def archive(path: Path, *names: str, **more: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, name)
        for name, text in more.items():
            file.writestr(name, text)
    return path


def by_student(*paths: Path, roster: Path | None = None) -> dict[str, Found]:
    return {one.student: one for one in find(paths, NAME, read_roster(roster) if roster else None)}


def unpacked(path: Path) -> Path:
    """The same files in a folder, as somebody unpacks them."""
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as file:
        file.extractall(folder)
    return folder


# -- Canvas -----------------------------------------------------------------------------------------------------------


def test_canvas_names_become_students_and_late_marks_flags(tmp_path: Path) -> None:
    zipped = archive(
        tmp_path / "submissions.zip",
        "lovelaceada_40901_700001_demo.ipynb",
        "turingalan_LATE_40902_700002_my homework_v_2.ipynb",
        "hopper_only_a_name.ipynb",
    )
    for path in (zipped, unpacked(zipped)):
        found = by_student(path)
        assert set(found) == {"lovelaceada", "turingalan", "hopper_only_a_name"}
        assert list(found["lovelaceada"].flags) == []
        assert "late" in found["turingalan"].flags[0]
        assert found["lovelaceada"].read() == b"lovelaceada_40901_700001_demo.ipynb"
    paths = sorted(tmp_path.glob("submissions/*.ipynb"))
    assert set(by_student(*paths)) == {"lovelaceada", "turingalan", "hopper_only_a_name"}  # named one by one


def test_of_what_was_handed_in_again_the_last_counts_and_a_flag_names_the_others(tmp_path: Path) -> None:
    found = by_student(
        archive(
            tmp_path / "a.zip",
            "lovelaceada_40901_700001_demo.ipynb",
            "lovelaceada_40901_700009_demo-1.ipynb",
            "lovelaceada_LATE_40901_700030_demo-2.ipynb",
        )
    )
    assert list(found) == ["lovelaceada"]
    assert found["lovelaceada"].inside.endswith("demo-2.ipynb") and found["lovelaceada"].reason == ""
    late, again = found["lovelaceada"].flags
    assert "late" in late and "700001" in again and "700009" in again


def test_two_different_notebooks_in_canvas_follow_the_rule_of_the_released_name(tmp_path: Path) -> None:
    named = by_student(archive(tmp_path / "a.zip", "x_40901_700001_demo.ipynb", "x_40901_700002_draft.ipynb"))
    assert named["x"].inside.endswith("demo.ipynb") and "draft" in named["x"].flags[0]
    neither = by_student(archive(tmp_path / "b.zip", "x_40901_700001_one.ipynb", "x_40901_700002_two.ipynb"))
    assert "one.ipynb and " in neither["x"].reason


def test_two_students_of_one_name_are_told_apart_by_their_numbers(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", "kimmin_40901_700001_demo.ipynb", "kimmin_40902_700002_demo.ipynb")
    assert set(by_student(path)) == {"kimmin_40901", "kimmin_40902"}


def test_who_handed_in_something_else_keeps_a_row(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", "a_40901_700001_demo.ipynb", "a_40901_700002_x.pdf", "b_40902_700003_demo.pdf")
    found = by_student(path)
    assert found["a"].reason == "" and "no notebook" in found["b"].reason


# -- Moodle -----------------------------------------------------------------------------------------------------------


def test_moodles_folders_and_its_single_folder_give_the_same_students(tmp_path: Path) -> None:
    folders = archive(
        tmp_path / "folders.zip",
        "José Ñandú_1234567_assignsubmission_file/demo.ipynb",
        "José Ñandú_1234567_assignsubmission_onlinetext/onlinetext.html",
        "Ada Lovelace_1234568_assignsubmission_file_/work/demo.ipynb",
        "Alan Turing_1234569_assignsubmission_onlinetext/onlinetext.html",
    )
    flat = archive(
        tmp_path / "flat.zip",
        "José Ñandú_1234567_assignsubmission_file_demo.ipynb",
        "José Ñandú_1234567_assignsubmission_onlinetext_onlinetext.html",
        "Ada Lovelace_1234568_assignsubmission_file_demo.ipynb",
        "Alan Turing_1234569_assignsubmission_onlinetext_onlinetext.html",
    )
    for path in (folders, flat, unpacked(folders), unpacked(flat)):
        found = by_student(path)
        assert list(found) == ["Ada Lovelace", "Alan Turing", "José Ñandú"]
        assert "no notebook" in found["Alan Turing"].reason
        assert not found["Ada Lovelace"].reason and not found["José Ñandú"].reason


def test_moodles_anonymous_participants_keep_their_numbers(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.zip",
        "Participant_71_assignsubmission_file/demo.ipynb",
        "Participant_72_assignsubmission_file/demo.ipynb",
    )
    assert set(by_student(path)) == {"Participant_71", "Participant_72"}


def test_two_notebooks_in_a_moodle_folder_follow_the_rule_of_the_released_name(tmp_path: Path) -> None:
    folder = "Ada Lovelace_1234568_assignsubmission_file"
    found = by_student(archive(tmp_path / "a.zip", f"{folder}/demo.ipynb", f"{folder}/draft.ipynb"))
    assert "draft.ipynb" in found["Ada Lovelace"].flags[0] and not found["Ada Lovelace"].reason


# -- Gradescope -------------------------------------------------------------------------------------------------------


def test_gradescopes_folders_get_the_names_from_its_list_and_a_group_a_row_each(tmp_path: Path) -> None:
    root = "assignment_5_export"
    path = archive(
        tmp_path / "a.zip",
        f"{root}/submission_21/demo.ipynb",
        f"{root}/submission_22/demo.ipynb",
        f"{root}/submission_22/submission_21/demo.ipynb",  # names nobody: it stands in somebody's own folder
        **{f"{root}/submission_metadata.yml": GRADESCOPE, f"{root}/submission_22/submission_metadata.yml": "[]"},
    )
    for place in (path, unpacked(path)):
        found = by_student(place)
        assert list(found) == ["Ada Lovelace", "Alan Turing", "Grace Hopper"]
        assert not found["Ada Lovelace"].reason
        assert "submission_22" in str(found["Grace Hopper"].path / found["Grace Hopper"].inside)
        assert any("Alan Turing" in flag for flag in found["Grace Hopper"].flags)


def test_gradescopes_folders_without_the_list_keep_their_own_names(tmp_path: Path) -> None:
    assert list(by_student(archive(tmp_path / "a.zip", "submission_21/demo.ipynb"))) == ["submission_21"]


def test_a_list_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", "submission_21/demo.ipynb", **{"submission_metadata.yml": "a: [unclosed"})
    with pytest.raises(NothingFound, match="submission_metadata"):
        by_student(path)


# -- whose folder is it? ----------------------------------------------------------------------------------------------


def test_no_folder_in_a_students_own_folder_names_another_student(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.zip",
        f"submitted/s1/{NAME}/demo.ipynb",
        f"submitted/s1/{NAME}/Ada Lovelace_1234568_assignsubmission_file/demo.ipynb",
        f"submitted/s1/{NAME}/submission_7/demo.ipynb",
        f"submitted/s1/{NAME}/turingalan_40902_700002_demo.ipynb",
    )
    assert list(by_student(path)) == ["s1"]


# -- rosters ----------------------------------------------------------------------------------------------------------

CANVAS_ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section,Demo (77)
    Points Possible,,,,,100.00
"Lovelace, Ada",40901,u1,alovelace,Section A,
"Turing, Alan",40902,u2,aturing,Section A,
"Hopper, Grace",40903,u3,ghopper,Section A,
"Student, Test",40999,,,Section A,
"""


def test_a_roster_of_canvas_names_students_by_their_login_and_says_who_is_missing(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(CANVAS_ROSTER, encoding="utf-8")
    path = archive(
        tmp_path / "a.zip",
        "lovelaceada_40901_700001_demo.ipynb",
        "somebodyelse_40902_700002_demo.ipynb",  # renamed since: the number counts
        "stranger_41111_700003_demo.ipynb",
    )
    found = by_student(path, roster=roster)
    assert list(found) == ["alovelace", "aturing", "ghopper", "stranger"]
    assert found["ghopper"].reason == "Nothing was handed in."
    assert "roster" in found["stranger"].flags[0] and not found["stranger"].reason


@pytest.mark.parametrize(
    ("text", "students"),
    [
        ("Identifier,Full name,Email address,Status\nParticipant 71,Ada Lovelace,ada@x.org,Submitted\n", ["ada@x.org"]),
        ("First name,Last name,Username\nAda,Lovelace,ada\n", ["ada"]),
        ("First Name,Last Name,SID,Email\nAda,Lovelace,1815,ada@x.org\n", ["1815"]),
        ("Ada Lovelace\nAlan Turing\n", ["Ada Lovelace", "Alan Turing"]),
        ("\ufeffstudent\nAda Lovelace\n", ["Ada Lovelace"]),
    ],
)
def test_rosters_of_several_systems_and_plain_lists_are_read(tmp_path: Path, text: str, students: list[str]) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(text, encoding="utf-8")
    path = archive(tmp_path / "a.zip", "Ada Lovelace_71_assignsubmission_file/demo.ipynb")
    found = by_student(path, roster=roster)
    assert list(found) == students and not found[students[0]].reason


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_roster_is_read_as_spreadsheets_save_it(tmp_path: Path, separator: str, encoding: str) -> None:
    rows = [["username", "full name"], ["ada", '"Lovelace, Ada; of London"'], ["günther", "Günther Jauch"]]
    roster = tmp_path / "roster.csv"
    roster.write_text("\r\n".join(separator.join(row) for row in rows), encoding=encoding)
    found = read_roster(roster)
    assert list(found.students) == ["ada", "günther"]
    assert found.student("Lovelace, Ada; of London") == "ada" and found.student("gunther jauch") == ""


@pytest.mark.parametrize("data", ["username\nMüller\n".encode("latin-1"), "username\nada\n".encode("utf-16-le")])
def test_a_roster_in_another_encoding_is_told_with_how_to_save_it(tmp_path: Path, data: bytes) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_bytes(data)
    with pytest.raises(RosterError, match=r'is no table of text in UTF-8.*choose File, Save As, "CSV UTF-8"'):
        read_roster(roster)


def test_a_header_that_is_not_known_makes_no_student(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("Benutzername;Vorname\nada;Ada\n", encoding="utf-8")
    with pytest.raises(RosterError, match=r"begins with Benutzername. Expected a column sis login id, username, stud"):
        read_roster(roster)


def test_a_name_that_two_students_share_is_nobodys(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("username,full name\nkim1,Min Kim\nkim2,Min Kim\n", encoding="utf-8")
    path = archive(tmp_path / "a.zip", "Min Kim_71_assignsubmission_file/demo.ipynb")
    found = by_student(path, roster=roster)
    assert "roster" in found["Min Kim"].flags[0]
    assert found["kim1"].reason and found["kim2"].reason


@pytest.mark.parametrize("text", ["", "student\n", 'a,"unclosed'])
def test_a_roster_that_names_nobody_is_wrong_usage_in_words(tmp_path: Path, text: str) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(text, encoding="utf-8")
    with pytest.raises(RosterError, match="roster"):
        read_roster(roster)
