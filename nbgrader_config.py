"""nbgrader's own commands, and its formgrader, on this course's folders and with our grading step.

Run them in this folder. To choose a seed, or on a machine without isolation to grade submissions that you trust:

    c.GradeInSandbox.seed = 7
    c.GradeInSandbox.unsandboxed = True
"""

from pathlib import Path

from autograder.gradebook import configure

c = get_config()  # noqa: F821  (given by nbgrader)
configure(c, Path(__file__).parent)
