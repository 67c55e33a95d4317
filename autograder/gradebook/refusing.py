"""What nbgrader meets where the course's own files are broken: a refusal, with the reason."""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters.base import NbGraderException
from traitlets import Unicode


class Refuse(NotebookExporter):
    """The exporter of a command that must not go on. nbgrader makes it before it touches any folder."""

    reason = Unicode("", help="What is wrong, in a sentence.").tag(config=True)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.parent.log.error("%s", self.reason)
        raise NbGraderException(self.reason)
