"""The students' feedback pages as one zip, named as each system's bulk upload asks.

    canvas      lastfirst_USER_FILE_name_feedback.html         Gradebook or assignment: "Upload Submissions"
    moodle      Full Name_NUMBER_assignsubmission_file_feedback.html   "Upload multiple feedback files in a zip"
    gradescope  submission_NUMBER/feedback.html and results.json       takes no files in bulk: to look things up
    csv         STUDENT.html

Canvas and Moodle find a student by the numbers in the names of what they handed out, and skip silently what lacks
them. So these two need those submissions again; who is not among them is told and left out.

Canvas: the first number is the user, the second a file of that user's submission; what begins with "link" after the
last underscore is taken for a web address. Moodle: name, number, "assignsubmission", "file", parted by underscores.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.course import Assignment
from autograder.exporting import (
    Exported,
    ExportError,
    folder_name,
    gradescope_results,
    member_name,
    results_json,
    whole_file,
)
from autograder.grading.finding import Found, SystemName, system_name
from autograder.grading.likeness import for_the_student
from autograder.grading.writing import file_name, read_results
from autograder.language import _

PAGE = "feedback.html"
NEEDS_NAMES = ("canvas", "moodle")


def names_in(found: Iterable[Found], system: str) -> dict[str, SystemName]:
    """By student, what the system called each submission. Raises `ExportError` where it called none of them anything.

    found: what the system handed out, as it was graded.
    """
    names = {one.student: name for one in found if (name := system_name(one)) is not None and name.system == system}
    if not names:
        raise ExportError(
            _("None of these submissions has a name as {system} gives it. Name what {system} handed out.").format(
                system=system.capitalize()
            )
        )
    return names


def write_feedback(folder: Path, assignment: Assignment, to: str, names: Mapping[str, SystemName]) -> Exported:
    """Write `folder/feedback-SYSTEM.zip` from the results in the folder. Raises `ExportError`.

    names: what the system calls the students' submissions. Who could not be graded gets a page too: it says why.
    """
    if to in NEEDS_NAMES and not names:
        raise ExportError(
            _(
                "{system} finds students by the numbers in the names of what it handed out. Name that: "
                "--submissions PATH, as it was graded."
            ).format(system=to.capitalize())
        )
    path = folder / f"feedback-{to}.zip"
    left_out: list[str] = []
    written = 0
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for result in read_results(folder):
            name = names.get(result.student)
            if to in NEEDS_NAMES and name is None:
                left_out.append(result.student)
                continue
            member = member_name(_MEMBERS[to](result.student, name))
            page = _page(folder / "students" / f"{file_name(result.student)}.html")
            archive.writestr(member, page, zipfile.ZIP_DEFLATED)
            if to == "gradescope":
                shown = replace(result, flags=for_the_student(result.flags))
                results = gradescope_results(shown, chapter_link=assignment.chapter_link)
                archive.writestr(member.replace(PAGE, "results.json"), results_json(results))
            written += 1
        if not written:
            raise ExportError(_("There is no page to hand back: no result belongs to one of these submissions."))
    return Exported(path, written, tuple(left_out), _("they are not among these submissions"))


def _page(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ExportError(
            _("The page {path} cannot be read: {problem}. Grade this student again to rebuild it.").format(
                path=path, problem=problem.strerror
            )
        ) from None


def _canvas(student: str, name: SystemName | None) -> str:
    return f"{name.stem}_{PAGE}" if name is not None else ""


def _moodle(student: str, name: SystemName | None) -> str:
    person = name.name.replace("_", " ") if name is not None else ""
    return f"{person}_{name.number if name is not None else ''}_assignsubmission_file_{PAGE}"


def _gradescope(student: str, name: SystemName | None) -> str:
    return f"{folder_name(student) if name is None else name.stem}/{PAGE}"


def _csv(student: str, name: SystemName | None) -> str:
    return f"{file_name(student)}.html"


_MEMBERS: Mapping[str, Callable[[str, SystemName | None], str]] = {
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "csv": _csv,
}
