"""The measured figures as tables in Markdown, which the book's page on speed includes.

python benchmarks/page.py        book/measured/speed.md from benchmarks/measured.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "benchmarks" / "measured.json"
PAGE = ROOT / "book" / "measured" / "speed.md"
CLASSES = (12, 30, 300, 1000, 10_000, 100_000)
CLUSTER = 64  # workers of the cluster for which times are computed


def duration(seconds: float) -> str:
    """As people say it: 40 s, 12 min, 3.5 h, 2.1 days."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.{0 if unit == 'min' or seconds >= 9.95 * size else 1}f} {unit}"
    return f"{seconds:.0f} s"


def where(machine: dict[str, Any]) -> str:
    """What was measured on, as a sentence."""
    return (
        f"Measured on {machine['date']}: {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}, "
        f"Python {machine['python']}, PyTorch {machine['torch']}."
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table."""
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def called(name: str) -> str:
    """A way's name; commands as code, so that no dash of theirs is set as one dash."""
    return f"`{name}`" if name.startswith("autograder ") else name


def lines(measured: dict[str, Any]) -> Iterator[str]:
    """The text of the page's measured part."""
    ways = measured["ways"]["rows"]
    bare, stock = ways[0], next(row for row in ways if "stock" in row["name"])
    yield "### Each way, on the same class"
    yield ""
    yield where(measured["ways"]["machine"])
    yield ""
    yield from table(
        ["way", "a minute", "times stock", "of the bare probes", "start", "memory"],
        [
            [
                called(row["name"]),
                f"{row['a_minute']:.0f}",
                f"{row['a_minute'] / stock['a_minute']:.1f}",
                f"{row['a_minute'] / bare['a_minute']:.2f}",
                duration(row["start"]),
                f"{row['memory']} MB",
            ]
            for row in ways
        ],
    )
    yield ""
    yield "### How long a class takes"
    yield ""
    yield "Computed from the table above: the start, then the class at its rate."
    large = measured.get("large")
    if large:
        yield (
            f"One large class was graded as a whole, on {large['machine']['date']}: {large['students']:,} submissions "
            f"took {duration(large['seconds'])} with {large['workers']} workers, and {large['memory']} MB in all."
        )
    yield ""
    ours = max((row for row in ways if "autograder grade" in row["name"]), key=lambda row: row["a_minute"])
    one = next(row for row in ways if row["name"].endswith("--jobs 1"))
    rest = [row for row in ways[1:] if row["name"].startswith("nbgrader")]
    yield from table(
        ["class of", *(called(row["name"]) for row in (*rest, ours)), f"Dask, {CLUSTER} such workers"],
        [
            [
                f"{size:,}",
                *(duration(row["start"] + 60 * size / row["a_minute"]) for row in (*rest, ours)),
                duration(one["start"] + 60 * size / (one["a_minute"] * CLUSTER)),
            ]
            for size in CLASSES
        ],
    )
    yield ""
    yield "### What a learner waits for"
    yield ""
    yield where(measured["check"]["machine"])
    yield ""
    yield from table(
        ["a warm", "takes"],
        [[f'`check("{name}")`', f"{1000 * seconds:.0f} ms"] for name, seconds in measured["check"]["seconds"].items()],
    )
    yield ""
    book = measured["book"]["seconds"]
    parts = "; ".join(f"{name}: {duration(seconds)}" for name, seconds in book.items())
    child = 1000 * measured["launch"]["seconds"]
    yield f"A child of the sandbox is had and ended in {child:.0f} ms. Building this book: {parts}."


def write_page(measured: dict[str, Any], path: Path = PAGE) -> None:
    """Write the part of the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines(measured)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_page(json.loads(MEASURED.read_text(encoding="utf-8")))
