"""Who ended a process is found at once, pays alone, and cannot make another pay for more than their own notebook."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from sandbox_support import opened, shared

from autograder.grading.submission import Grader
from autograder.observations import Job, Limits, Outcome, Request
from autograder.results import SubmissionResult
from autograder.sandbox import Sandbox

Notebook = Callable[..., bytes]
LOOP = "while True:\n        pass"
BURN = (
    "import time\n{name}_until = time.process_time() + {seconds}\nwhile time.process_time() < {name}_until:\n    pass"
)


def lost(result: SubmissionResult) -> dict[str, float]:
    return {one.name: one.score for one in result.exercises if one.score < one.max_score}


def counted(grader: Grader, data: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[SubmissionResult, list[Outcome]]:
    """The result, and what came of each child that it took."""
    outcomes: list[Outcome] = []
    run = grader._sandbox.run

    def watched(job: Job) -> Outcome:
        outcomes.append(run(job))
        return outcomes[-1]

    with monkeypatch.context() as patch:
        patch.setattr(grader._sandbox, "run", watched)
        return grader.grade_bytes("s", data), outcomes


def deaths(outcomes: list[Outcome]) -> list[tuple[str, int]]:
    """The steps that were to blame.

    On a busy machine the time may run out while it is not yet clear whose it was: that one runs again by itself, so at
    most one such child comes for each that is blamed.
    """
    died = [one.death for one in outcomes if one.death is not None]
    blamed = [one.step for one in died if one.sure and one.step is not None]
    assert len(died) <= 2 * len(blamed)
    return blamed


def test_a_loop_costs_its_time_once_and_only_its_own_exercise(
    grader: Grader, notebook_with: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = notebook_with({"merge_heads": f"def merge_heads(x):\n    {LOOP}\n"})
    result, outcomes = counted(grader, data, monkeypatch)
    assert lost(result) == {"merge_heads": 0}
    assert len(deaths(outcomes)) == 1
    assert len(outcomes[0].replies) > 10  # what came before it is not asked again
    assert not outcomes[0].replies.keys() & outcomes[1].replies.keys()


@pytest.mark.parametrize(
    "ending",
    [LOOP, "import os; os._exit(0)", "x = [0]\n    while True:\n        x = x + x"],
    ids=["time", "exit", "memory"],
)
def test_a_free_cell_that_ends_the_process_costs_nothing_though_an_answer_needs_it(
    grader: Grader, notebook_with: Notebook, ending: str
) -> None:
    helper = f"import math\ndef joined(x):\n    return x.flatten(2)\nif True:\n    {ending}\n%timeit joined\n"
    answer = "def merge_heads(x):\n    return joined(x.transpose(1, 2))\n"
    result = grader.grade_bytes("s", notebook_with({"merge_heads": answer}, first=(helper,)))
    assert lost(result) == {}
    assert len(result.flags) == 1 and "A cell outside the exercises ended the process" in result.flags[0]


def test_what_a_free_cell_defines_is_left_out_where_that_ends_the_process(
    grader: Grader, notebook_with: Notebook
) -> None:
    cell = f"def forever():\n    {LOOP}\n\nprint()\nnumber = forever()\n"
    assert lost(grader.grade_bytes("s", notebook_with(first=(cell,), extra=("def d():\n    pass",)))) == {}


def test_many_loops_are_all_found_and_get_less_and_less_time(
    grader: Grader, notebook_with: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["split_heads", "merge_heads", "clones", "silence_head", "load_torch_weights", "mix_heads"]
    data = notebook_with({name: f"def {name}(*a, **k):\n    {LOOP}\n" for name in names})
    started = time.process_time()
    result, outcomes = counted(grader, data, monkeypatch)
    assert {name for name, score in lost(result).items() if score == 0} >= set(names)
    assert {"predict", "attention", "masks"}.isdisjoint(lost(result))
    # The module calls the broken ones; two exercises that use the module run once more with stand-ins for it.
    assert len(deaths(outcomes)) <= len(names) + 3
    assert time.process_time() - started < 10  # ours; theirs is the children's


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """The time of a step is nearly that of all."""
    with opened(tmp_path_factory.mktemp("probes"), limits=Limits(cpu_seconds=2, step_seconds=1.6)) as sandbox:
        yield sandbox


def test_a_slow_exercise_does_not_take_the_time_of_those_after_it(narrow: Sandbox) -> None:
    cell = (
        "import time\ndef answer(x):\n    until = time.process_time() + x\n"
        "    while time.process_time() < until:\n        pass"
    )
    narrow.give_plan([Request(name, "check", "call", {"x": x}, 0) for name, x in (("a", 1.2), ("b", 1.2), ("c", 0))])
    outcome = narrow.run(Job([cell], [0, 1, 2]))
    assert list(outcome.replies) == [0] and outcome.death is not None
    assert (outcome.death.step, outcome.death.sure) == (("request", 1), False)
    outcome = narrow.run(Job([cell], [1, 2]))
    assert outcome.death is None and list(outcome.replies) == [1, 2]


def test_of_many_cells_the_one_that_took_most_of_the_time_is_to_blame(narrow: Sandbox) -> None:
    cells = [
        BURN.format(name=name, seconds=seconds) for name, seconds in (("a", 0.2), ("b", 1.3), ("c", 0.9), ("d", 0))
    ]
    death = narrow.run(Job(cells, [])).death
    assert death is not None and (death.reason, death.step) == ("time", ("cell", 1))


def test_a_thread_that_goes_on_is_charged_to_the_cell_that_left_it(narrow: Sandbox) -> None:
    cells = ["x = 1", "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()"]
    # The thread needs its time, however busy the machine is.
    death = narrow.run(Job([*cells, *["import time\nfor _ in range(30):\n    time.sleep(0.1)"] * 4], [])).death
    assert death is not None and (death.reason, death.step) == ("time", ("cell", 1))


FORGE = """
import gc, mmap, os, struct
page = next(one for one in gc.get_objects() if type(one).__name__ == "Marks")._page
def claim(step, left=0.0):
    struct.pack_into("<dd", page, 0, step, left)
"""


@pytest.fixture
def sandbox() -> Sandbox:
    return shared()


@pytest.mark.parametrize("claimed", ["1.0", "float('nan')", "float('inf')", "-1.0", "1e300", "99.0", "3.0"])
@pytest.mark.parametrize("code", ["os._exit(3)", "while True: pass"])
def test_what_a_process_says_of_itself_blames_its_own_steps_or_nobody(
    sandbox: Sandbox, claimed: str, code: str
) -> None:
    sandbox.give_plan([Request(name, "check", "call", {"x": 1}, 0) for name in ("a", "b", "c")])
    cell = (
        f"{FORGE}\ncalls = []\ndef answer(x):\n    calls.append(1)\n"
        f"    if len(calls) == 2:\n        claim({claimed}, {claimed})\n        {code}"
    )
    outcome = sandbox.run(Job([cell], [0, 1, 2]))
    assert outcome.death is not None
    assert outcome.death.step in (("request", 1), ("cell", 0), ("request", 0))
    assert list(outcome.replies) == [0]
    if "exit" in code:
        assert outcome.death.step == ("request", 1)


def test_a_page_of_forged_marks_gains_nothing_and_comes_to_an_end(grader: Grader, notebook_with: Notebook) -> None:
    for where in ("1.0", "5.0", "1e9"):
        body = f"{FORGE}\ndef merge_heads(x):\n    claim({where}, {where})\n    os._exit(0)\n"
        assert lost(grader.grade_bytes("s", notebook_with({"merge_heads": body}))) == {"merge_heads": 0}


def test_a_page_that_is_closed_or_shrunk_harms_nobody(grader: Grader, notebook_with: Notebook) -> None:
    for code in ("page.close()", "page.resize(1)", "page.madvise(9)", "page[:] = b'\\xff' * len(page)"):
        first = FORGE + f"try:\n    {code}\nexcept Exception:\n    pass\n"
        assert lost(grader.grade_bytes("s", notebook_with(first=(first,)))) == {}
