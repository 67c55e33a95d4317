"""Whose observation is this? A failed check's replies are held against those of answers people really write.

Where nobody is known to answer like that, the checks that set one part apart narrow the fault down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from autograder.checking import Rule
from autograder.comparing import equal_replies
from autograder.course import Misconception
from autograder.language import _
from autograder.observations import Reply
from autograder.recordings import WrongReplies
from autograder.results import GATING_STAGES

CLEARED = 2  # of the parts that are known to be sound, the nearest are told


def agrees(got: Sequence[Reply | None], wrong: Sequence[Reply]) -> bool:
    """Every reply is there and equals the wrong answer's. An untouched stub agrees with nothing."""
    return (
        len(got) == len(wrong)
        and len(got) > 0
        and all(
            mine is not None
            and not (mine.problem is not None and mine.problem.kind == "NotImplementedError")
            and equal_replies(mine, theirs)
            for mine, theirs in zip(got, wrong, strict=True)
        )
    )


def diagnose(
    failed: Sequence[str], replies: Mapping[str, Sequence[Reply | None]], bank: Sequence[WrongReplies]
) -> dict[str, Misconception]:
    """The misconception behind each failed check, where there is one.

    failed: keys of the failed checks of one exercise. replies: the learner's, by check, for the whole exercise.
    A wrong answer explains a check when it gave the same replies to it. Among several, the one that agrees with the
    learner on most checks of the exercise is taken; where different misconceptions agree equally often, none is named.
    """
    found: dict[str, Misconception] = {}

    @cache
    def agree(position: int, name: str) -> bool:
        theirs = bank[position].replies.get(name)
        return theirs is not None and agrees(replies.get(name, ()), theirs)

    @cache
    def agreement(position: int) -> int:
        return sum(agree(position, name) for name in bank[position].replies)

    for name in failed:
        candidates = [position for position in range(len(bank)) if agree(position, name)]
        if not candidates:
            continue
        most = max(map(agreement, candidates))
        best = [position for position in candidates if agreement(position) == most]
        if len({bank[position].misconception.name for position in best}) == 1:
            found[name] = bank[best[0]].misconception
    return found


def narrow(judged: Sequence[tuple[Rule, bool]]) -> str:
    """Where the fault of one function lies, in sentences, or "" where its checks do not say.

    judged: its checks in the order in which they are explained, and whether each passed; without those not judged.
    """
    cleared: dict[str, list[str]] = {}
    for rule, passed in judged:
        if passed and rule.stage.clears:
            cleared.setdefault(_part(rule), []).append(_(rule.stage.clears))
        elif not passed and rule.stage.blames:
            return " ".join([*cleared.get(_part(rule), [])[-CLEARED:], _(rule.stage.blames)])
    first = next((rule for rule, passed in judged if not passed), None)
    if first is None:
        return ""
    return _by_stage(first.stage.name) or " ".join(cleared.get(_part(first), [])[-CLEARED:])


def _part(rule: Rule) -> str:
    """Rules of one part clear each other up: those of shape and values together, else those of one stage."""
    return "values" if rule.stage.name in GATING_STAGES else rule.stage.name


def _by_stage(stage: str) -> str:
    """What it says that a check of this stage is the first to fail."""
    return {
        "mask": _("Without a mask every value is right, so the fault lies in how the mask is used."),
        "gradients": _("Every value is right, so the fault lies in what cuts or bends the gradient's way back."),
        "side effects": _("Every value is right, so the fault lies in what a call changes, or fails to keep."),
        "train/eval": _("Every value is right, so the fault lies in what differs between training and evaluation."),
        "dtype": _("In float32 every value is right, so the fault lies in which kind of numbers is made."),
        "device": _("On the CPU every value is right, so the fault lies in where new tensors are made."),
    }.get(stage, "")
