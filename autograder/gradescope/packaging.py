"""The zip that Gradescope takes as an autograder (https://gradescope-autograders.readthedocs.io/en/latest/specs/).

    setup.sh           run once, when the image is built
    run_autograder     run for each submission
    requirements.txt   what setup.sh installs: the engine's wheel, and what grading needs beside it
    wheels/            the engine
    course/            what grading needs of the course: the solved notebook, checks, stand-ins and wrong answers
    package.json       what the instructor chose

It holds the solutions. Everything lies at the root of the zip, as Gradescope asks.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from autograder import collecting
from autograder.bundle import EPOCH, build_wheel
from autograder.course import SETTINGS, Course, Source, read_toml
from autograder.language import _

PACKAGE = "package.json"
_EXECUTABLE = ("setup.sh", "run_autograder")
_HERE = Path(__file__).parent
# What grading imports beside the engine's own dependencies. A processor is all that Gradescope offers.
_REQUIREMENTS = ("jupytext>=1.16", "nbformat>=5.9", "pyseccomp>=0.1.2")
_PROCESSOR_ONLY = "--extra-index-url https://download.pytorch.org/whl/cpu"


@dataclass(frozen=True)
class Packaged:
    """The zip that was written, and the points to enter on Gradescope."""

    path: Path
    points: float
    unsandboxed: bool

    def __str__(self) -> str:
        """What to do with it, for the instructor."""
        lines = [
            _("Wrote {path}. It holds the solutions: hand it to nobody.").format(path=self.path),
            _(
                "On Gradescope make a programming assignment with {points:g} points and upload it there as the "
                "autograder. Then hand in a solved notebook yourself, to see that it works."
            ).format(points=self.points),
        ]
        if self.unsandboxed:
            lines.append(
                _(
                    "Where the container there does not isolate, submissions run as another user, who cannot read the "
                    "course. They reach the network, and what else that user may read."
                )
            )
        return "\n".join(lines)


def package(course: Course, source: Source, *, unsandboxed: bool = False, visibility: str = "visible") -> Packaged:
    """Write `build/NAME-gradescope.zip`, never into `dist/`: what lies there is handed out. Raises `CourseError`.

    unsandboxed: grade also where the container does not isolate. visibility: when students see their results.
    """
    name = source.assignment.name
    collecting.collect(source.assignment)  # what is wrong with the checks is said here, not by Gradescope
    files: dict[str, bytes] = {script: (_HERE / script).read_bytes() for script in _EXECUTABLE}
    files.update({f"course/solutions/{name}/{path}": data for path, data in _needed(source).items()})
    choices = {"assignment": name, "unsandboxed": unsandboxed, "visibility": visibility}
    files[PACKAGE] = (json.dumps(choices, indent=1) + "\n").encode()
    with tempfile.TemporaryDirectory(prefix="wheel-") as temporary:
        wheel = build_wheel(Path(temporary))
        files[f"wheels/{wheel.name}"] = wheel.read_bytes()
    files["requirements.txt"] = _requirements(source, wheel.name).encode()
    path = course.root / "build" / f"{name}-gradescope.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in sorted(files.items()):
            entry = zipfile.ZipInfo(member, EPOCH)
            entry.external_attr = (0o755 if member in _EXECUTABLE else 0o644) << 16
            entry.create_system = 3  # on every machine, so that the scripts may be run
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return Packaged(path, source.assignment.max_score, unsandboxed)


def _needed(source: Source) -> dict[str, bytes]:
    """Files of the assignment that grading reads, by their names in its folder."""
    folder = source.assignment.folder
    paths = [folder / SETTINGS, source.notebook, folder / "standins.py"]
    for part in ("checks", "wrong"):
        paths += sorted((folder / part).rglob("*"))
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if path.is_file() and "__pycache__" not in path.parts
    }


def _requirements(source: Source, wheel: str) -> str:
    """PyTorch as it is here, so that both grade alike; the rest as new as it may be."""
    torch = version("torch").partition("+")[0]
    more = read_toml(source.assignment.folder / SETTINGS).get("requirements", [])
    return "\n".join([_PROCESSOR_ONLY, f"torch=={torch}", *_REQUIREMENTS, *more, f"./wheels/{wheel}"]) + "\n"
