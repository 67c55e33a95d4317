"""One place for every text a person reads: `_("...")` looks it up in the catalogue of the reader's language.

Messages are whole sentences with named places, `_("Expected {shape}.").format(shape=...)`, never glued from parts.
"""

from __future__ import annotations

import gettext
import os
from pathlib import Path

CATALOGUES = Path(__file__).parent / "locale"


def _catalogue() -> gettext.NullTranslations:
    language = os.environ.get("AUTOGRADER_LANGUAGE", "en")
    return gettext.translation("autograder", CATALOGUES, languages=[language], fallback=True)


_translations = _catalogue()


def _(text: str) -> str:
    """The text in the reader's language; the English text itself where no translation exists."""
    return _translations.gettext(text) if text else ""


def count(number: int, one: str, many: str) -> str:
    """The form of a text that fits a number, with `{number}` filled in: count(2, "{number} file", "{number} files")."""
    return _translations.ngettext(one, many, number).format(number=number)
