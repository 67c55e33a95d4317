"""nbgrader's own commands, and its formgrader, on this course's folders and with our grading step.

Run them in this folder. To choose the seed, or to grade submissions that you trust on a machine without isolation, add:

    c.GradeInSandbox.seed = 7
    c.GradeInSandbox.unsandboxed = True
"""

from pathlib import Path

c = get_config()  # noqa: F821  (given by nbgrader)
try:
    from autograder.gradebook import configure
except ImportError as problem:  # nbgrader would only log it, and run submissions without our settings, unprotected
    from nbgrader.apps import NbGrader
    from traitlets.config import Application

    sentence = f"nbgrader_config.py needs the autograder in nbgrader's environment: {problem}."
    if not Application.initialized() or isinstance(Application.instance(), NbGrader):
        raise SystemExit(sentence) from None
    Application.instance().log.error("%s Until then nothing is graded.", sentence)  # a Jupyter server goes on
    c.Autograde.exporter_class = "autograder.gradebook.steps.SubmissionReader"  # which is not there
else:
    configure(c, Path(__file__).parent)
