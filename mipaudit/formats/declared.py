"""What was declared, which nobody checked, and what follows from it and from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import Heading, Note, Pairs, Section
from mipaudit.statements.origin import value_words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from mipaudit.statements.sources import Declaration

_TERMS: Final = {
    "release": "released",
    "data": "trained on",
    "subjects": "people",
    "sensitivity": "sensitivity",
    "controller": "controller",
    "seen_by": "seen by",
    "author": "answers for this report",
}
_SEEN_BY: Final = {"query-access": "whoever may query it"}
_LONGEST: Final = 200


def declared_pairs(said: Declaration | None) -> tuple[tuple[str, str], ...]:
    """Return what was declared of a release, as terms and texts; the title stands elsewhere."""
    found = ((term, getattr(said, name, None)) for name, term in _TERMS.items())
    return tuple((term, _words(value)) for term, value in found if value is not None)


def _words(value: str | int) -> str:
    if isinstance(value, int):
        return count_text(value)
    return safe_name(_SEEN_BY.get(value, value_words(value)), longest=_LONGEST)


def declared_section(said: Declaration | None) -> Section:
    """Return what was declared; nothing where nothing was."""
    pairs = declared_pairs(said)
    note = Note(text="As whoever made the report says; nobody checked it.")
    return (Heading(text="What was declared"), Pairs(pairs=pairs), note) if pairs else ()
