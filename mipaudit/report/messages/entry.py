"""What a code says."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A sentence with places for the values of its message.

    A place is ``{name}`` or ``{name:form}``: `report.messages.told` has the forms. What stands
    between places is prose as a reader sees it.

    Attributes:
        sentence: without a full stop where it is a part of others.
    """

    sentence: str
