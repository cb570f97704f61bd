"""What a code says."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A sentence with places for the values of its message.

    A place is ``{name}`` or ``{name:form}``: `report.messages.told` has the forms; ``{n:row|rows}``
    is the first word where ``n`` is 1 or true, else the second. What stands between places is prose
    as a reader sees it. The key of an entry is the code, with ``.case`` where a code has several.

    Attributes:
        sentence: without a full stop where it is a part of others.
        serious: the answer may be untrue because of such a finding, so that no view leaves it out.
    """

    sentence: str
    serious: bool = False
