"""A step that refuses, with the reason: what nbgrader runs where the course's own files are broken."""

from __future__ import annotations

from typing import Any

from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode


class Refuse(NbGraderPreprocessor):
    """Takes the place of every step of a command that must not go on."""

    reason = Unicode("", help="What is wrong, in a sentence.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Never returns."""
        self.log.error("%s", self.reason)
        raise NbGraderException(self.reason)
