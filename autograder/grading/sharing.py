"""What all workers of a run need is made once, by whichever of them comes to it first."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

Thing = TypeVar("Thing")


class Shared:
    """A folder of things by name, for the workers of one run; None for a worker that is alone.

    The folder must be nobody else's: what lies there is believed. A worker that dies gives up what it had begun.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def all(self, names: Sequence[str], make: Callable[[str], Thing]) -> list[Thing]:
        """The things of these names, in their order. Those that nobody has begun are made here."""
        if self._folder is None:
            return [make(name) for name in names]
        folder = self._folder
        found: dict[str, Thing] = {}

        def take(name: str, seconds: float) -> None:
            with FileLock(folder / f"{name}.lock", timeout=seconds):
                path = folder / name
                if path.exists():
                    found[name] = pickle.loads(path.read_bytes())
                    return
                found[name] = make(name)
                unfinished = folder / f"{name}.unfinished"
                unfinished.write_bytes(pickle.dumps(found[name], protocol=pickle.HIGHEST_PROTOCOL))
                unfinished.replace(path)

        others = []
        for name in names:
            try:
                take(name, 0)
            except Timeout:
                others.append(name)  # another worker is at it
        for name in others:
            take(name, -1)
        return [found[name] for name in names]
