"""Checks and replies → results. The same code judges a recorded run in a notebook and a graded run of a class."""

from __future__ import annotations

import difflib
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from autograder import comparing
from autograder.checking import Answer, CheckFailed, Draw, Rule
from autograder.comparing import Difference
from autograder.course import Assignment, Exercise
from autograder.diagnosing import diagnose, narrow
from autograder.language import _
from autograder.observations import Death, Plain, Problem, Reply, Request
from autograder.recordings import Recording, Take, WrongReplies, key
from autograder.results import GATING_STAGES, STAGES, CheckResult, ExerciseResult, passed

MOST_NAMES = 1000  # that a notebook defines; of more a child may tell, and comparing them takes its time
Bank = Callable[[str], Sequence[WrongReplies]]


@dataclass(frozen=True)
class Evidence:
    """What is known of an answer before it is judged.

    replies: by check. defined: callable names it left behind. problems: exceptions in an exercise's own cells.
    deaths: what ended the process, by exercise; the check that was running is in `died_at`, by exercise.
    digests: by exercise, a digest of all its replies, where they came in one piece. stubs: names whose definition
    still holds a stub's `raise NotImplementedError()`.
    """

    replies: Mapping[str, Sequence[Reply | None]]
    defined: frozenset[str]
    problems: Mapping[str, Problem] = field(default_factory=dict)
    deaths: Mapping[str, Death] = field(default_factory=dict)
    died_at: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, bytes] = field(default_factory=dict)
    stubs: frozenset[str] = frozenset()


class _Replay:
    """The learner's replies to one check, beside the recorded ones of the reference."""

    def __init__(self, take: Take, got: Sequence[Reply | None]) -> None:
        self._take, self._got, self._asked = take, got, 0

    def next(self, request: Request) -> tuple[Reply, Reply]:
        position = self._asked
        self._asked += 1
        expected = self._take.requests[position]
        if expected.probe != request.probe:
            raise LookupError(
                f"The check asked for {request.probe}, on the pass over the reference for {expected.probe}."
            )
        got = self._got[position]
        if got is None:
            raise LookupError(f"The answer gave no reply to {request.probe}, and nothing ended its process.")
        return got, self._take.replies[position]


def explain_death(death: Death) -> Difference:
    """What ended an answer's process, in words."""
    advice = {
        "time": _("Look for a loop that never ends, or for one that waits for something."),
        "memory": _("Look for a tensor that grows on every pass, or for a shape that is far too large."),
        "exit": _("Remove calls such as `sys.exit()` and `os._exit()`."),
        "signal": _("Something crashed Python itself. Restart the kernel and run your cells one by one."),
        "reply": _("What your functions return is far larger than what was asked for."),
    }
    got = {
        "time": _("code that was still running when its time was up"),
        "memory": _("code that asked for more memory than there is"),
        "exit": _("code that ended the program ({detail})"),
        "signal": _("code that crashed Python ({detail})"),
        "reply": _("a result that cannot be read ({detail})"),
    }
    return Difference(
        _("code that runs and then returns"),
        got.get(death.reason, death.reason).format(detail=death.detail),
        advice.get(death.reason, ""),
    )


def _result(rule: Rule, status: str, difference: Difference | None = None, **more: object) -> CheckResult:
    result = CheckResult(
        name=rule.name,
        stage=rule.stage.name,
        status=status,  # type: ignore[arg-type]
        points=rule.stage.points,
        rule=_(rule.sentence),
        message=difference.message if difference else "",
        hint=_hints(difference, _(rule.stage.hint)) if status == "failed" else "",
        chapter=rule.stage.chapter,
        picture=difference.picture if difference else None,
    )
    return replace(result, **more)  # type: ignore[arg-type]


def _hints(difference: Difference | None, of_rule: str) -> str:
    """What to try: for this difference, then for the rule, where that can help."""
    if difference is None:
        return _layers(of_rule)
    return _layers(difference.advice, of_rule if difference.rule_helps else "")


def _layers(*hints: str) -> str:
    """Hints one below the other, each opened after the one before; none of them twice."""
    return "\n\n".join(dict.fromkeys(layer for hint in hints for layer in hint.split("\n\n") if layer.strip()))


def _note(rule: Rule, difference: Difference) -> CheckResult:
    """A report whose finding is told beside a check that passes: it judges nobody."""
    words = [difference.message, _(rule.stage.hint) or difference.advice]
    return _result(rule, "passed", message="\n\n".join(word for word in words if word))


def near_names(exercise: Exercise, rules: Sequence[Rule], defined: frozenset[str]) -> dict[str, str]:
    """For each function of the exercise that is not there, a name that is and looks like it. Nobody asked for it."""
    missing = [function for function in exercise.functions if function not in defined]
    if not missing or len(defined) > MOST_NAMES:
        return {}
    others = {name.casefold(): name for name in sorted(defined - {rule.of for rule in rules} - set(exercise.functions))}
    near = {}
    for function in missing:
        close = difflib.get_close_matches(function.casefold(), others, 1, 0.75)
        if close:
            near[function] = others[close[0]]
    return near


def _loads(
    function: str, exercise: Exercise, evidence: Evidence, replies: Sequence[Reply | None], near: str
) -> CheckResult:
    """The first check of every function, worth nothing by itself: it is there, and it was attempted.

    near: where it is not there, a name that looks like it, "" for none.
    """
    difference = None
    if exercise.name in evidence.deaths and exercise.name not in evidence.died_at:
        difference = explain_death(evidence.deaths[exercise.name])
    elif function not in evidence.defined:
        problem = evidence.problems.get(exercise.name)
        if problem is not None:
            difference = comparing.explain_problem(problem)
        elif near:
            difference = Difference(
                _("a function or class named `{name}`").format(name=function),
                _("none"),
                _("Rename `{near}` to `{name}`, letter by letter, and run its cell.").format(near=near, name=function),
                cause=_("There is a `{near}`. Is `{name}` meant?").format(near=near, name=function),
            )
        else:
            difference = Difference(
                _("a function or class named `{name}`").format(name=function),
                _("none"),
                _("Define `{name}` at the top level of its cell, and run the cell.").format(name=function),
            )
    elif function in evidence.stubs and untouched(replies):
        difference = Difference(
            _("your answer in `{name}`").format(name=function),
            _("not attempted: the stub is as it was handed out"),
            _("Replace the line `raise NotImplementedError()` by your answer."),
        )
    return CheckResult(
        name=f"{function}_loads",
        stage="loads",
        status="failed" if difference else "passed",
        points=0.0,
        rule=_("`{name}` is there and can be called.").format(name=function),
        message=difference.message if difference else "",
        hint=difference.advice if difference else "",
    )


def _first_replies(rules: Sequence[Rule], evidence: Evidence, functions: set[str]) -> list[Reply | None]:
    """Replies to the checks of shape and values, whose probes call an answer as it is."""
    return [
        reply
        for rule in rules
        if rule.of in functions and rule.stage.name in GATING_STAGES
        for reply in evidence.replies.get(key(rule), ())
    ]


def untouched(replies: Sequence[Reply | None]) -> bool:
    """Every request met a stub's `raise NotImplementedError()`: its own, or that of another which it calls."""
    return len(replies) > 0 and all(
        reply is not None
        and reply.problem is not None
        and reply.problem.kind == "NotImplementedError"
        and not reply.problem.message
        for reply in replies
    )


def _identical(got: Sequence[Reply | None], recorded: Sequence[Reply]) -> bool:
    """The replies are the reference's, number by number. A rule depends on its replies and on what it drew alone."""
    return len(got) == len(recorded) and all(
        mine is not None and mine.problem is None and theirs.problem is None and _same(mine.value, theirs.value)
        for mine, theirs in zip(got, recorded, strict=True)
    )


def _same(one: Plain, other: Plain) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def judge_exercise(
    exercise: Exercise, rules: Sequence[Rule], recording: Recording, evidence: Evidence, bank: Bank
) -> ExerciseResult:
    """Run the exercise's rules over the replies. Results stand in the order of the stages, as they are explained."""
    own = [rule for rule in rules if rule.exercise == exercise.name]
    results: list[CheckResult] = []
    loads: dict[str, CheckResult] = {}
    near = near_names(exercise, rules, evidence.defined)
    for function in exercise.functions:
        first = _first_replies(own, evidence, {function})
        loads[function] = _loads(function, exercise, evidence, first, near.get(function, ""))
        results.append(loads[function])
    gated: dict[str, CheckResult] = {name: check for name, check in loads.items() if check.status == "failed"}
    failed: dict[str, int] = {}
    judged: dict[str, list[tuple[Rule, bool]]] = {name: [] for name in exercise.functions}
    told: set[str] = set()  # checks whose message alone says where the fault lies
    died = exercise.name in evidence.deaths
    for rule in sorted(own, key=lambda rule: STAGES.index(rule.stage.name)):
        gate = gated.get(rule.of)
        if died:
            if evidence.died_at.get(exercise.name) == key(rule):
                result = _result(rule, "failed", explain_death(evidence.deaths[exercise.name]))
            else:
                result = _result(rule, "blocked", message=_("Not judged: the code of this exercise ended the process."))
            results.append(result)
            continue
        if gate is not None and STAGES.index(rule.stage.name) > STAGES.index(gate.stage):
            results.append(
                _result(rule, "blocked", message=_("Not judged yet. First mend this: {rule}").format(rule=gate.rule))
            )
            continue
        take = recording.takes[key(rule)]
        if _identical(evidence.replies[key(rule)], take.replies):  # the rule held for these very replies
            results.append(_result(rule, "passed"))
            judged[rule.of].append((rule, True))
            continue
        answer = Answer(exercise.name, key(rule), recording.seed, _Replay(take, evidence.replies[key(rule)]))
        try:
            rule.run(answer, Draw(recording.seed, key(rule), take.drawn))
        except CheckFailed as failure:
            if rule.stage.report and any(check.status == "failed" for check in results):
                results.append(_result(rule, "blocked", message=_("A report, told once the rules before it hold.")))
                continue
            if rule.stage.report:
                results.append(_note(rule, failure.difference))
                continue
            result = _result(rule, "failed", failure.difference)
            failed[key(rule)] = len(results)
            judged[rule.of].append((rule, False))
            if not failure.compared:
                told.add(key(rule))
            if rule.stage.name in GATING_STAGES and rule.of not in gated:
                gated[rule.of] = result
        else:
            result = _result(rule, "passed")
            judged[rule.of].append((rule, True))
        results.append(result)
    if failed:
        for name, misconception in diagnose(list(failed), evidence.replies, bank(exercise.name)).items():
            position = failed[name]
            results[position] = replace(
                results[position],
                misconception=misconception.name,
                says=_(misconception.says),
                hint=_layers(_(misconception.advice), results[position].hint),
                chapter=misconception.chapter or results[position].chapter,
            )
        _narrow(own, judged, told, failed, results)
    if died:
        results = [
            replace(check, status="blocked") if check.status == "passed" and check.points else check
            for check in results
        ]
    results = [check if check.chapter else replace(check, chapter=exercise.chapter) for check in results]
    missing = tuple(name for name in exercise.functions if name not in evidence.defined)
    if died or exercise.name in evidence.problems:
        missing = ()
    return ExerciseResult(
        name=exercise.name,
        title=_(exercise.title),
        score=passed(results),
        max_score=exercise.points,
        checks=tuple(results),
        attempted=len(missing) < len(exercise.functions)
        and not (
            evidence.stubs.issuperset(set(exercise.functions) - set(missing))
            and untouched(_first_replies(own, evidence, set(exercise.functions)))
        ),
        missing=missing,
    )


def without_points(result: ExerciseResult, message: str) -> ExerciseResult:
    """The exercise with no points, for a reason that is told at its first check; the others are blocked by it."""
    first, *others = result.checks
    told = replace(first, status="failed", message=message, misconception=None, says="", picture=None, narrows="")
    blocked = [replace(check, status="blocked") if check.points else check for check in others]
    return replace(result, score=0.0, checks=(told, *blocked))


def _narrow(
    rules: Sequence[Rule],
    judged: Mapping[str, Sequence[tuple[Rule, bool]]],
    told: set[str],
    failed: Mapping[str, int],
    results: list[CheckResult],
) -> None:
    """Tell at each function's first failed check where its fault lies, unless its mistake is known by name there."""
    function_of = {key(rule): rule.of for rule in rules}
    firsts: dict[str, str] = {}
    for name in sorted(failed, key=lambda one: failed[one]):
        firsts.setdefault(function_of[name], name)
    for function, name in firsts.items():
        first = failed[name]
        if name not in told and not results[first].misconception:
            results[first] = replace(results[first], narrows=narrow(judged[function]))


def block_dependents(assignment: Assignment, results: Mapping[str, ExerciseResult]) -> dict[str, ExerciseResult]:
    """The learner's copy has no stand-ins: failures of an exercise whose needs lost points are blocked by them.

    So is what waits for those failures, and nobody is sent to mend a rule that cannot be tried.
    """
    settled: dict[str, ExerciseResult] = {}
    for name, result in results.items():
        broken = [
            need
            for need in assignment.needs_of(name)
            if need in results and results[need].score < results[need].max_score
        ]
        if broken and result.score < result.max_score and result.attempted:
            result = replace(result, checks=_blocked_by(results[broken[0]], result.checks))
        settled[name] = result
    return settled


def _blocked_by(need: ExerciseResult, checks: Sequence[CheckResult]) -> Sequence[CheckResult]:
    """The checks of an exercise, blocked by one that it needs; those of a function that is not there wait for it."""
    if any(check.status == "failed" and check.stage == "loads" for check in checks):
        waiting: tuple[str, ...] = ("failed",)
    else:
        waiting = ("failed", "blocked")
    if need.missing:
        words = _("Blocked by {name}, which is not there. Run the cell with its answer, then this check again.")
    else:
        words = _(
            "Blocked by {name}: mend that exercise first, then run this check again. No points are lost here by it: "
            "grading tries these rules once more with a working {name} in its place."
        )
    message = words.format(name=need.name)
    return tuple(
        replace(check, status="blocked", blocked_by=need.name, message=message)
        if check.status in waiting and check.stage != "loads"
        else check
        for check in checks
    )


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
