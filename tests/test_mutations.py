"""No single change to the reference keeps full marks, unless it is proven to compute the same."""

from __future__ import annotations

import ast

import pytest
from mutations import equivalent, mutants, survivors

from autograder.course import Source
from autograder.grading.submission import Grader

CODE = """def f(x, h):
    \"\"\"Says what it does.\"\"\"
    assert h > 0
    return x.transpose(1, 2) / h + 1
"""


def test_a_mutant_is_one_change_each_and_none_is_the_original() -> None:
    found = list(mutants("f", CODE))
    assert len({mutant.code for mutant in found}) == len(found)
    assert ast.unparse(ast.parse(CODE)) not in {mutant.code for mutant in found}
    for text in ("x.transpose(2, 1)", "x.transpose(1, 3)", "/ h - 1", "* h", "/ h + 2", "return x / h", "    pass"):
        assert any(text in mutant.code for mutant in found), text


def test_every_mutation_called_equivalent_exists_and_has_its_reason(grader: Grader, source: Source) -> None:
    there = {
        (cell.grade_id, mutant.what)
        for cell in grader.reference
        if cell.grade_id in source.assignment.by_name
        for mutant in mutants(cell.grade_id, cell.source)
    }
    for exercise, changes in equivalent().items():
        for what, reason in changes.items():
            assert (exercise, what) in there, f"{exercise}: {what} is no mutation any more"
            assert reason.endswith("."), f"{exercise}: {what} lacks its reason"


def test_a_sample_of_mutants_is_refused(grader: Grader, source: Source) -> None:
    tried, alive = survivors(grader, source, every=15)
    assert tried > 10 and not alive, [f"{mutant.exercise}: {mutant.what}" for mutant in alive]


@pytest.mark.long
def test_no_mutant_survives(grader: Grader, source: Source) -> None:
    tried, alive = survivors(grader, source)
    assert tried > 200 and not alive, [f"{mutant.exercise}: {mutant.what}" for mutant in alive]
