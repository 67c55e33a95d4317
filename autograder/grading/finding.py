"""Paths → submissions: notebooks, folders of them, nbgrader's `submitted/` tree, what Canvas, Moodle and Gradescope
hand out, and zips of each of these.

Nothing is extracted to disk by the names a zip gives, and links are not followed.

    Canvas      lastfirst_[LATE_]USER_FILE_name[-N].ipynb   N: how often a file of this name was handed in again
    Moodle      Full Name_NUMBER_assignsubmission_file/name.ipynb, or without folders
                Full Name_NUMBER_assignsubmission_file_name.ipynb
    Gradescope  submission_NUMBER/name.ipynb, and submission_metadata.yml with the names of who handed it in

Elsewhere a notebook's own name is the student's. Where that is the name as released, the folder around it has theirs.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.grading.files import NOTEBOOK, ZIP, File, files_in_folder, files_in_zip, read_bytes, stem_of
from autograder.grading.roster import Roster
from autograder.language import _
from autograder.notebooks import Unreadable

SUBMITTED = "submitted"  # nbgrader's folder: submitted/STUDENT/ASSIGNMENT/
METADATA = "submission_metadata.yml"  # Gradescope's list of who handed in what
MOST_NAMED = 3  # files in a reason

# The numbers have at least three digits, so that a notebook someone called exam_2_1_final keeps its whole name.
_CANVAS = re.compile(r"(?P<name>[^_/]+)(?P<late>_LATE)?_(?P<number>\d{3,})_(?P<turn>\d{3,})_(?P<original>.+)")
_CANVAS_ANONYMOUS = re.compile(
    r"(?P<name>anon(?:ymous)?)(?P<late>_LATE)?_(?P<number>\w{5})_(?P<turn>\d{3,})_(?P<original>.+)"
)
_AGAIN = re.compile(r"-(\d{1,3})$")
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<original>.*))?")
_GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")


class NothingFound(Exception):
    """A path is missing or holds no submission. The message is a sentence."""


@dataclass(frozen=True)
class Found:
    """One student's submission, not read yet. reason: why it cannot be graded, "" where it may be.

    path: the notebook; inside: its name within `path` where that is a zip; within: its name within `inside` where that
    is one too. before: what an earlier run wrote of it, of which parts may stay; None where there is no such run.
    """

    student: str
    path: Path
    inside: str = ""
    reason: str = ""
    flags: Sequence[str] = field(default=())
    before: Path | None = None
    within: str = ""

    def read(self) -> bytes:
        """The notebook's bytes. Raises `Unreadable`."""
        if self.reason:
            raise Unreadable(self.reason)
        return read_bytes(self.path, self.inside, self.within)


def _found(student: str, file: File, **more: Any) -> Found:
    return Found(student, file.path, file.inside, within=file.within, **more)


@dataclass(frozen=True)
class _Handed:
    """A submission as it arrived, before it is known which of a student's counts.

    number: what the system calls the student by, "" where a name alone is known. stem: the file's own name.
    order: of several under one name, the highest was handed in last.
    """

    found: Found
    number: str = ""
    stem: str = ""
    order: tuple[int, ...] = ()


def find(
    paths: Iterable[Path],
    assignment: str,
    roster: Roster | None = None,
    passed_over: Callable[[Path], object] = lambda _: None,
) -> list[Found]:
    """Every submission below the paths, one per student, in the order of their names. Raises `NothingFound`.

    roster: who is in the class, under which names. Who handed in nothing has a place as well, with that reason.
    passed_over: hears of each file that is no notebook and belongs to no submission.
    """
    handed: list[_Handed] = []
    others: list[File] = []
    for path in paths:
        here = list(_below(path, assignment, others))
        if not here:
            raise NothingFound(f"{path} holds no notebook ({NOTEBOOK}) of {assignment}.")
        handed.extend(here)
    handed = list(_named(_by_folder(handed, assignment), roster))
    found = list(_one_each(handed, assignment))
    if roster is not None:
        there = {one.student for one in found}
        theirs: dict[str, list[File]] = {}
        nobodys = []
        for file in others:
            student = roster.student(_normal(file.name.partition(".")[0]))
            if student and student not in there:
                theirs.setdefault(student, []).append(file)
            else:
                nobodys.append(file)
        others = nobodys
        found.extend(_without_notebook(student, own) for student, own in theirs.items())
        missing = [student for student in roster.students if student not in there and student not in theirs]
        found.extend(Found(student, Path(), reason=_("Nothing was handed in.")) for student in missing)
        found.sort(key=lambda one: one.student)
    for file in others:
        passed_over(file.path / file.inside)
    return found


def find_one(folder: Path, student: str, assignment: str) -> Found:
    """The submission of one student, to whom every file below the folder belongs. It says itself what is wrong."""
    files, _folders = files_in_folder(folder) if folder.is_dir() else ([], [])
    return _of_student(student, files, assignment)


def _by_folder(handed: Sequence[_Handed], assignment: str) -> Sequence[_Handed]:
    """Files that all have the released name, each given by its own path, are told apart by their folders, or zips."""
    same = {str(one.found.path.absolute()) for one in handed if one.found.student == assignment}
    if len(same) < 2:
        return handed
    return [
        replace(one, found=replace(one.found, student=_folder(one.found) or assignment))
        if one.found.student == assignment
        else one
        for one in handed
    ]


def _folder(found: Found) -> str:
    path = found.path.absolute()
    return stem_of(path.name) if found.inside else path.parent.name


def _named(handed: Sequence[_Handed], roster: Roster | None) -> Iterator[_Handed]:
    """Each with the student's name: the roster's, or the system's, with its number where two share a name."""
    numbers: dict[str, set[str]] = {}
    for one in handed:
        numbers.setdefault(_normal(one.found.student), set()).add(one.number)
    for one in handed:
        name, found = _normal(one.found.student), one.found
        known = roster.student(name, one.number) if roster is not None else ""
        if known:
            found = replace(found, student=known)
        elif one.number and len(numbers[name]) > 1:
            found = replace(found, student=f"{name}_{one.number}")
        else:
            found = replace(found, student=name)
        if roster is not None and not known:
            found = replace(found, flags=(*found.flags, _("This name is not on the roster.")))
        yield replace(one, found=found)


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


# -- what a path holds ------------------------------------------------------------------------------------------------


def _below(path: Path, assignment: str, others: list[File]) -> Iterator[_Handed]:
    """others: takes what is no notebook and belongs to nobody."""
    if not path.exists() and not path.is_symlink():
        raise NothingFound(f"{path} does not exist. Check the path, and the folder you are in.")
    file = File((path.name,), path)
    if path.is_dir():
        files, folders = files_in_folder(path)
        yield from _by_student(path, files, assignment, folders, others)
    elif path.suffix.lower() == ZIP or (not file.is_notebook and zipfile.is_zipfile(path)):
        try:
            files = files_in_zip(path)
        except (OSError, ValueError, zipfile.BadZipFile) as problem:
            raise NothingFound(f"{path} is no readable zip: {problem}.") from None
        yield from _by_student(path, files, assignment, [], others)
    elif file.is_notebook or path.is_symlink():
        yield _from_file(path, assignment)
    else:
        raise NothingFound(f"{path} is neither a notebook ({NOTEBOOK}), nor a folder, nor a zip.")


def _from_file(path: Path, assignment: str) -> _Handed:
    """A single notebook; inside nbgrader's tree the student is the folder's name."""
    parts = path.resolve().parent.parts if not path.is_symlink() else path.absolute().parent.parts
    if len(parts) >= 3 and parts[-1] == assignment and parts[-3] == SUBMITTED:
        return _Handed(Found(parts[-2], path))
    return _loose(File((path.name,), path)) or _Handed(Found(stem_of(path.name), path))


def _by_student(
    path: Path, files: Sequence[File], assignment: str, folders: Sequence[tuple[str, ...]], others: list[File]
) -> Iterator[_Handed]:
    """A system's folders, STUDENT/ASSIGNMENT/ wherever it stands below the path, and each notebook without a folder."""
    above = path.resolve().parts
    if len(above) >= 3 and above[-1] == assignment and above[-3] == SUBMITTED:  # one student's folder in the tree
        yield _Handed(_of_student(above[-2], files, assignment))
        return
    systems, files = _systems_folders(files, assignment)
    yield from systems
    tree: dict[str, list[File]] = {}
    for parts in folders:
        if parts[-1] == assignment:  # kept where it is empty: the student shall have a row
            tree.setdefault(parts[-2] if len(parts) > 1 else path.stem, [])
    loose = []
    homes = set()  # the students' folders
    for file in files:
        if assignment in file.parts[:-1]:
            position = file.parts.index(assignment)
            homes.add(file.parts[:position])
            tree.setdefault(file.parts[position - 1] if position else path.stem, []).append(file)
        elif not any(part.startswith(".") for part in file.parts[:-1]) and (file.is_notebook or file.name[0] != "."):
            loose.append(file)
    if tree:
        loose = _beside_the_tree(loose, assignment, homes, tree)
        folders = []
    for student, own in tree.items():
        yield _Handed(_of_student(student, own, assignment))
    yield from _without_tree(loose, assignment, folders, others)


def _beside_the_tree(
    files: Sequence[File], assignment: str, homes: Collection[tuple[str, ...]], tree: dict[str, list[File]]
) -> list[File]:
    """Adds to the tree whose folder lacks that of the assignment. Returns the files that lie in no student's folder.

    Theirs is what lies right in their folder, or has the released name in a folder of another; the rest of it, and what
    lies beside the assignment's folder, is another assignment's.
    """
    depths = {len(home) for home in homes} - {0}
    outside = []
    for file in files:
        home = next((file.parts[:depth] for depth in sorted(depths) if len(file.parts) > depth), None)
        if home is None:
            if () not in homes or len(file.parts) == 1:  # else they lie in the one student's folder
                outside.append(file)
        elif home not in homes and (len(file.parts) == len(home) + 1 or _as_released(file, assignment)):
            tree.setdefault(home[-1], []).append(file)
    return outside


def _as_released(file: File, assignment: str) -> bool:
    """Whether a notebook has the released name, if with a number that a browser added."""
    return file.is_notebook and re.fullmatch(re.escape(assignment) + r"[ _-]?\(?\d{0,3}\)?", file.stem) is not None


def _without_tree(
    files: Sequence[File], assignment: str, folders: Sequence[tuple[str, ...]], others: list[File]
) -> Iterator[_Handed]:
    """Each student's folder, where several hold a notebook of the released name; else each notebook is a student's."""
    homes = {file.parts[:-1] for file in files if _as_released(file, assignment) and len(file.parts) > 1}
    homes = {home for home in homes if not any(home[:depth] in homes for depth in range(1, len(home)))}
    own: dict[tuple[str, ...], list[File]] = {}
    if len(homes) > 1:
        depths = sorted({len(home) for home in homes})
        own = {parts: [] for parts in folders if len(parts) in depths and not parts[-1].startswith(".")}
        for file in files:
            home = next((file.parts[:depth] for depth in depths if file.parts[:depth] in homes), None)
            home = home or next((file.parts[:depth] for depth in depths if len(file.parts) > depth), None)
            if home is not None and _loose(file) is None:
                own.setdefault(home, []).append(file)
    for home, theirs in own.items():
        yield _Handed(_of_student(home[-1], theirs, assignment))
    taken = {file for theirs in own.values() for file in theirs}
    yield from _each_by_itself([file for file in files if file not in taken], assignment, others)


def _each_by_itself(files: Sequence[File], assignment: str, others: list[File]) -> Iterator[_Handed]:
    without: dict[tuple[str, str], tuple[_Handed, list[File]]] = {}
    notebooks: set[tuple[str, str]] = set()
    for file in files:
        of_system = _loose(file)
        in_own = len(file.parts) > 1 and (file.stem == assignment or _as_released(file, assignment))
        student = of_system.found.student if of_system else file.parts[-2] if in_own else file.stem
        there = file.notebooks()
        if there:
            found = _found(student, file) if file.is_notebook else _of_student(student, [file], assignment)
            if of_system is not None:
                found = replace(found, flags=(*of_system.found.flags, *found.flags))
            notebooks.add((student, of_system.number if of_system else ""))
            yield replace(of_system or _Handed(found), found=found)
        elif of_system is not None:  # something else was handed in: the student shall have a row
            without.setdefault((student, of_system.number), (of_system, []))[1].append(file)
        else:
            others.append(file)
    for who, (handed, theirs) in without.items():
        if who not in notebooks:
            found = _without_notebook(handed.found.student, theirs)
            yield replace(handed, found=replace(found, flags=handed.found.flags))


def _loose(file: File) -> _Handed | None:
    """A file that Canvas or Moodle named, all students' in one folder; None where it has another name."""
    match = _CANVAS.fullmatch(file.stem) or _CANVAS_ANONYMOUS.fullmatch(file.stem)
    if match is not None:
        again = _AGAIN.search(match["original"])
        flags = (_("Handed in late, as Canvas marks it."),) if match["late"] else ()
        return _Handed(
            _found(match["name"], file, flags=flags),
            match["number"],
            _AGAIN.sub("", match["original"]),
            (int(match["turn"]), int(again[1]) if again else 0),
        )
    match = _MOODLE.fullmatch(file.stem)
    if match is not None:
        return _Handed(_found(match["name"], file), match["number"], match["original"] or "")
    return None


# -- folders that a system names --------------------------------------------------------------------------------------


def _systems_folders(files: Sequence[File], assignment: str) -> tuple[list[_Handed], list[File]]:
    """Submissions in folders as Moodle and Gradescope name them, and the files that are not in such a folder."""
    folders: dict[tuple[str, ...], list[File]] = {}
    others = []
    for file in files:
        above = file.parts[:-1]
        if assignment in above:  # what stands in a student's own folder names nobody
            above = above[: above.index(assignment)]
        depth = next(
            (i for i, part in enumerate(above) if _MOODLE.fullmatch(part) or _GRADESCOPE.fullmatch(part)), None
        )
        if depth is None:
            others.append(file)
        else:
            folders.setdefault(file.parts[: depth + 1], []).append(file)
    people = _gradescopes_people(others) if folders else {}
    handed: list[_Handed] = []
    moodles: dict[tuple[str, str], list[File]] = {}
    for parts, own in folders.items():
        match = _MOODLE.fullmatch(parts[-1])
        if match is not None:
            moodles.setdefault((match["name"], match["number"]), []).extend(own)
        else:
            handed.extend(_of_gradescope(parts[-1], own, people.get(parts[-1], ()), assignment))
    for (name, number), own in moodles.items():
        found = _of_student(name, own, assignment)
        handed.append(_Handed(found, number, assignment))
    return handed, others


@dataclass(frozen=True)
class _Person:
    name: str
    number: str


def _of_gradescope(folder: str, files: Sequence[File], people: Sequence[_Person], assignment: str) -> Iterator[_Handed]:
    """A submission counts for everyone in its group."""
    turn = int(folder.rpartition("_")[2])
    if not people:
        yield _Handed(_of_student(folder, files, assignment), "", assignment, (turn,))
        return
    for person in people:
        found = _of_student(person.name, files, assignment)
        others = [one.name for one in people if one is not person]
        if others:
            together = _("Handed in together with {names}.").format(names=", ".join(others))
            found = replace(found, flags=(*found.flags, together))
        yield _Handed(found, person.number, assignment, (turn,))


def _gradescopes_people(files: Sequence[File]) -> Mapping[str, Sequence[_Person]]:
    """Who is in each folder's group, from the list that stands beside the folders."""
    lists = sorted((file for file in files if file.name == METADATA), key=lambda file: len(file.parts))
    if not lists:
        return {}
    try:
        import yaml

        data = read_bytes(lists[0].path, lists[0].inside)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        table: Any = yaml.load(io.BytesIO(data), Loader=loader)
    except ImportError:
        raise NothingFound(f"{METADATA} cannot be read without PyYAML. Install autograder[instructor].") from None
    except (Unreadable, ValueError, yaml.YAMLError) as problem:
        raise NothingFound(f"{lists[0].path / lists[0].inside} cannot be read: {problem}") from None
    if not isinstance(table, dict):
        raise NothingFound(f"{lists[0].path / lists[0].inside} is not a list of submissions.")
    return {str(folder): _people(entry) for folder, entry in table.items() if isinstance(entry, dict)}


def _people(entry: Mapping[Any, Any]) -> Sequence[_Person]:
    submitters = entry.get(":submitters")
    people = []
    for one in submitters if isinstance(submitters, list) else []:
        if isinstance(one, dict):
            number = str(one.get(":sid") or one.get(":email") or "")
            name = str(one.get(":name") or number)
            if name:
                people.append(_Person(name, number))
    return people


# -- as a system knows it ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SystemName:
    """How the system that handed a submission out calls it.

    system: "canvas", "moodle" or "gradescope". number: the student's with Canvas and Moodle, the submission's with
    Gradescope. name: the student's. stem: the whole name of the file or folder, without the notebook's ending.
    """

    system: str
    number: str
    name: str
    stem: str


def system_name(found: Found) -> SystemName | None:
    """What Canvas, Moodle or Gradescope called a submission that `find` has found; None where none of them named it."""
    names = [found.path.parts, PurePosixPath(found.inside).parts, PurePosixPath(found.within).parts]
    files = [parts[-1] for parts in names if parts]  # the notebook, and the zips that it lies in
    for place, part in reversed([(place, part) for place, parts in enumerate(names) for part in parts]):
        if place == 0 and found.inside and part not in files:
            continue  # above the zip
        stem = stem_of(part)
        match = _MOODLE.fullmatch(stem)
        if match is not None:
            return SystemName("moodle", match["number"], match["name"], stem)
        match = _GRADESCOPE.fullmatch(stem)
        if match is not None:
            return SystemName("gradescope", match["number"], "", stem)
        match = (_CANVAS.fullmatch(stem) or _CANVAS_ANONYMOUS.fullmatch(stem)) if part in files else None
        if match is not None:
            return SystemName("canvas", match["number"], match["name"], stem)
    return None


# -- which one counts -------------------------------------------------------------------------------------------------


def _of_student(student: str, files: Sequence[File], assignment: str) -> Found:
    """The student's one notebook: the one named as released counts, and a flag names the others."""
    here = [file for file in files if ".ipynb_checkpoints" not in file.parts]
    notebooks = [one for file in here for one in file.notebooks()]
    if not notebooks:
        return _without_notebook(student, files)
    named = [file for file in notebooks if file.stem == assignment]
    chosen = min(named, key=lambda file: len(file.parts)) if named else notebooks[0]
    others = [_printable(file.name) for file in notebooks if file is not chosen]
    if others and not named:
        names = " and ".join(_printable(file.name) for file in notebooks)
        neither = "neither" if len(notebooks) == 2 else "none of them"
        reason = f"The student handed in {names}, and {neither} is named {assignment}{NOTEBOOK}."
        return _found(student, notebooks[-1], reason=reason)
    flags = [f"Another notebook was handed in and not graded: {', '.join(others)}."] if others else []
    return _found(student, chosen, flags=flags)


def _without_notebook(student: str, files: Sequence[File]) -> Found:
    """What was handed in is no notebook; the reason names it."""
    if not files:
        return Found(student, Path(), reason=_("What the student handed in holds no notebook: the folder is empty."))
    names = ", ".join(_printable(file.name) for file in files[:MOST_NAMED]) + (", …" if len(files) > MOST_NAMED else "")
    reason = _("What the student handed in holds no notebook ({ending}): {names}.").format(ending=NOTEBOOK, names=names)
    return _found(student, files[-1], reason=reason)


def _one_each(handed: Sequence[_Handed], assignment: str) -> Iterator[Found]:
    """One row per student. Of what was handed in again the last counts; otherwise two notebooks end as ungradable."""
    students: dict[str, list[_Handed]] = {}
    for one in handed:
        students.setdefault(one.found.student, []).append(one)
    for student in sorted(students):
        own = list({_place(one.found): one for one in students[student]}.values())
        with_notebook = [one for one in own if not one.found.reason] or own[:1]
        if len(with_notebook) == 1:
            yield with_notebook[0].found
            continue
        yield _counted(student, with_notebook, assignment)


def _counted(student: str, handed: Sequence[_Handed], assignment: str) -> Found:
    """The one of several that counts."""
    named = [one for one in handed if one.stem == assignment]
    of_system = all(one.number for one in handed) or all(one.order for one in handed)
    same = named or handed
    if of_system and len({one.stem for one in same}) == 1:
        *_before, last = sorted(same, key=lambda one: one.order)
        if all(one is last or one.order < last.order for one in same):
            others = [one for one in handed if one is not last]
            again = [_where(one.found) for one in others if one.stem == last.stem]
            different = [_where(one.found) for one in others if one.stem != last.stem]
            flags = list(last.found.flags)
            if again:
                flags.append(
                    _("Handed in more than once; the last counts, not {files}.").format(files=", ".join(again))
                )
            if different:
                flags.append(
                    _("Another notebook was handed in and not graded: {files}.").format(files=", ".join(different))
                )
            return replace(last.found, flags=tuple(flags))
    names = ["/".join(filter(None, (str(one.found.path), one.found.inside, one.found.within))) for one in handed]
    count = "Two" if len(names) == 2 else str(len(names))
    shown = " and ".join(map(_printable, names))
    reason = f"{count} notebooks were handed in for this student: {shown}."
    if len({_normal(name) for name in names}) < len(names):
        reason += " The two names look the same and differ in how they are encoded. Keep one of the files."
    return replace(handed[-1].found, reason=reason, flags=())


def _place(found: Found) -> tuple[str, str, str]:
    return str(found.path.absolute()), found.inside, found.within


def _printable(name: str) -> str:
    """The name of a file with an escape for what is no letter, such as a line's end."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)


def _where(found: Found) -> str:
    return PurePosixPath(found.inside).name if found.inside else found.path.name
