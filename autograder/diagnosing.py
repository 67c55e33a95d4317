"""Whose observation is this? A failed check's replies are held against those of answers people really write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.comparing import equal_replies
from autograder.course import Misconception
from autograder.observations import Reply
from autograder.recordings import WrongReplies


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
    agreement: dict[int, set[str]] = {}
    for position, wrong in enumerate(bank):
        agreement[position] = {name for name, theirs in wrong.replies.items() if agrees(replies.get(name, ()), theirs)}
    for name in failed:
        candidates = [position for position, agreed in agreement.items() if name in agreed]
        if not candidates:
            continue
        most = max(len(agreement[position]) for position in candidates)
        best = [position for position in candidates if len(agreement[position]) == most]
        if len({bank[position].misconception.name for position in best}) == 1:
            found[name] = bank[best[0]].misconception
    return found
