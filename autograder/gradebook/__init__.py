"""nbgrader: our settings and steps for it, and our grades in its database. Needs autograder[instructor].

`configure` is called by the course's `nbgrader_config.py`, `write_gradebook` by `autograder grade --gradebook`.
"""

from autograder.gradebook.configuring import configure
from autograder.gradebook.saving import check_gradebook, write_gradebook

__all__ = ["check_gradebook", "configure", "write_gradebook"]
