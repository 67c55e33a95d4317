"""Runs learners' code where it can do almost nothing, and brings back plain data.

`open_sandbox` starts a zygote in a room of its own; `Sandbox.run` has it fork a child for one job. `launcher.py`,
`zygote.py` and `child.py` are the processes; `running.py` is the trusted side of them.
"""

from __future__ import annotations

from autograder.sandbox.processes import NoIsolation, SandboxBroken, SandboxError
from autograder.sandbox.running import Sandbox, StandInsFailed, open_sandbox

__all__ = ["NoIsolation", "Sandbox", "SandboxBroken", "SandboxError", "StandInsFailed", "open_sandbox"]
