"""What the tests of attacks share: reading `attacks/NAME.py`, and making a submission of one.

An attack is the code of a cell, or of a function `edit(notebook)`. Its docstring says what the attacker hopes for.
Lines `# key: value` below it say where it goes and what is expected:

- base: the submission it is added to. solved: all answers right. stubs: nothing answered. wrong: each answer one that
  people really write.
- where: first or last (a cell of its own), answer NAME (in place of that answer), notebook (`edit` changes the file).
- lost: nothing; own (it may cost its own submission); all; names of the exercises that lose marks; no gain (no exercise
  gets more than without the attack); at most N (points in all).
- says: words that stand in a message. flag: words that stand in a flag.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import solved
from autograder.course import Course, Source

FOLDER = Path(__file__).parent / "attacks"


@dataclass(frozen=True)
class Attack:
    """One file of `attacks/`."""

    name: str
    hope: str
    code: str
    base: str
    where: str
    lost: str
    says: str
    flag: str


def read_attack(path: Path) -> Attack:
    """The attack that a file describes."""
    text = path.read_text(encoding="utf-8")
    docstring, _, rest = text.partition('"""\n')
    head = dict(re.findall(r"(?m)^# (base|where|lost|says|flag): (.*)$", rest))
    code = re.sub(r"(?m)\A(# .*\n)+", "", rest).strip() + "\n"
    return Attack(
        path.stem, docstring.strip('"'), code, head["base"], head["where"], head["lost"],
        head.get("says", ""), head.get("flag", ""),
    )  # fmt: skip


ATTACKS = [read_attack(path) for path in sorted(FOLDER.glob("*.py"))]


def base_notebook(course: Course, source: Source, base: str) -> dict[str, Any]:
    """A submission without the attack."""
    name = source.assignment.name
    released: dict[str, Any] = json.loads((course.released / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    answers: dict[str, str] = {}
    if base == "solved":
        answers = {cell.grade_id: cell.source for cell in solved.read_solved(source).cells}
    elif base == "wrong":
        for variant in source.wrong:
            answers.setdefault(variant.exercise, variant.code)
    for cell in released["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in source.assignment.by_name and grade_id in answers:
            cell["source"] = answers[grade_id]
    return released


def submission(course: Course, source: Source, attack: Attack) -> bytes:
    """The notebook that the attacker hands in."""
    notebook = base_notebook(course, source, attack.base)
    cell = {
        "cell_type": "code",
        "id": "attack",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": attack.code,
    }
    if attack.where == "first":
        notebook["cells"].insert(0, cell)
    elif attack.where == "last":
        notebook["cells"].append(cell)
    elif attack.where == "notebook":
        names: dict[str, Any] = {}
        exec(compile(attack.code, attack.name, "exec"), names)  # our own code: it edits a file
        notebook = names["edit"](notebook)
    else:
        wanted = attack.where.removeprefix("answer ")
        for one in notebook["cells"]:
            if one["metadata"].get("nbgrader", {}).get("grade_id") == wanted:
                one["source"] = attack.code
    return json.dumps(notebook).encode()
