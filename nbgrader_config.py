"""nbgrader's own commands, and its formgrader, on this course's folders and with our grading step.

Run them in this folder. To choose the seed, or to grade submissions that you trust on a machine without isolation, add:

    c.GradeInSandbox.seed = 7
    c.GradeInSandbox.unsandboxed = True
"""

from pathlib import Path

try:
    from autograder.gradebook import configure
except ImportError as problem:  # nbgrader would only log it, and run submissions without our settings, unprotected
    raise SystemExit(f"nbgrader_config.py needs the autograder in nbgrader's environment: {problem}.") from None

c = get_config()  # noqa: F821  (given by nbgrader)
configure(c, Path(__file__).parent)
