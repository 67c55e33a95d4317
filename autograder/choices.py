"""What an instructor may choose for one assignment: the table `[grading]` of its `assignment.toml`.

    [grading]
    leave_out = ["silence"]                      # exercises that are not part of the assignment
    not_counted = ["attention/one_row_per_query_one_column_per_key"]   # checks that are told and worth nothing
    off_limits_cost = true                       # an exercise that calls a function of `off_limits` gets no points

    [grading.points]
    attention = 20                               # an exercise's points, instead of its own

    [grading.limits]
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

_LIMITS = {"cpu_seconds": int, "step_seconds": float, "wall_seconds": float, "memory_mb": int}


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
        """Raises ValueError with the name of a setting that is unknown or of the wrong kind."""
        unknown = set(table) - {"leave_out", "not_counted", "off_limits_cost", "points", "limits"}
        if unknown:
            raise ValueError(f"grading.{min(unknown)}")
        points = {name: _positive(f"grading.points.{name}", value) for name, value in table.get("points", {}).items()}
        limits = {}
        for name, value in table.get("limits", {}).items():
            if name not in _LIMITS:
                raise ValueError(f"grading.limits.{name}")
            limits[name] = _LIMITS[name](_positive(f"grading.limits.{name}", value))
        cost = table.get("off_limits_cost", False)
        if not isinstance(cost, bool):
            raise ValueError("grading.off_limits_cost")
        return cls(
            _names("leave_out", table.get("leave_out", [])),
            _names("not_counted", table.get("not_counted", [])),
            cost,
            points,
            limits,
        )


def _positive(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(name)
    return float(value)


def _names(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"grading.{name}")
    return tuple(value)


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
