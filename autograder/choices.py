"""What an instructor may choose for one assignment: the table `[grading]` of its `assignment.toml`.

    [grading]
    leave_out = ["silence"]                      # exercises that are not part of the assignment
    not_counted = ["attention/one_row_per_query_one_column_per_key"]   # checks that are told and worth nothing
    off_limits_cost = true                       # an exercise that calls a function of `off_limits` gets no points

    [grading.points]
    attention = 20                               # an exercise's points, instead of its own

    [grading.limits]                             # a day at most, and a terabyte
    cpu_seconds = 8                              # of computing, for a whole submission; and of these:
    step_seconds = 4                             # for each cell, and for each exercise's checks
    wall_seconds = 30
    memory_mb = 8192

An exercise's points are spread over those of its checks that count, in the proportions in which they were written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.observations import Limits
from autograder.settings import (
    MEGABYTES,
    NAMES,
    POINTS,
    SECONDS,
    TABLE,
    WHOLE_SECONDS,
    YES_OR_NO,
    read_each,
    read_settings,
)

_GRADING = {
    "leave_out": (NAMES, ()),
    "not_counted": (NAMES, ()),
    "off_limits_cost": (YES_OR_NO, False),
    "points": (TABLE, {}),
    "limits": (TABLE, {}),
}
_LIMITS = {
    "cpu_seconds": (WHOLE_SECONDS, None),
    "step_seconds": (SECONDS, None),
    "wall_seconds": (SECONDS, None),
    "memory_mb": (MEGABYTES, None),
}


@dataclass(frozen=True)
class Choices:
    """The table as it was read. limits: by name of a setting of the sandbox; memory in MB."""

    leave_out: tuple[str, ...] = ()
    not_counted: tuple[str, ...] = ()
    off_limits_cost: bool = False
    points: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Choices:
        """Raises `WrongSetting`."""
        chosen = read_settings(table, _GRADING, "[grading]: ")
        points = read_each(chosen["points"], POINTS, "[grading.points]: ")
        limits = read_settings(chosen["limits"], _LIMITS, "[grading.limits]: ")
        return cls(
            leave_out=tuple(chosen["leave_out"]),
            not_counted=tuple(chosen["not_counted"]),
            off_limits_cost=chosen["off_limits_cost"],
            points={name: float(worth) for name, worth in points.items()},
            limits={name: limit for name, limit in limits.items() if limit is not None},
        )

    def child_limits(self) -> Limits:
        """What a child may use: the usual, and in its place what was chosen."""
        chosen: dict[str, Any] = dict(self.limits)
        if "memory_mb" in chosen:
            chosen["memory_bytes"] = int(chosen.pop("memory_mb")) << 20
        return Limits(**chosen)


def spread(points: float, weights: Mapping[str, float]) -> dict[str, float]:
    """Points over checks, in proportion to their weights, in hundredths that sum up exactly."""
    whole = sum(weights.values())
    if whole <= 0:
        return dict.fromkeys(weights, 0.0)
    hundredths = round(points * 100)
    exact = {name: hundredths * weight / whole for name, weight in weights.items()}
    given = {name: int(share) for name, share in exact.items()}
    left = hundredths - sum(given.values())
    for name in sorted(exact, key=lambda name: (given[name] - exact[name], name))[:left]:
        given[name] += 1
    return {name: share / 100 for name, share in given.items()}
