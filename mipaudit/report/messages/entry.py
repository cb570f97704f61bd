"""What a code says."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mood = Literal["good", "bad", "open", "plain"]


class Entry(NamedTuple):
    """A sentence with places for the values of its message.

    A place is ``{name}`` or ``{name:form}``: `report.messages.told` has the forms; ``{n:row|rows}``
    is the first word where ``n`` is 1 or true, else the second. A part in brackets is left out
    where one of its places has no value. What stands between places is prose as a reader sees it.
    The key of an entry is the code, with ``.case`` where a code has several.

    Attributes:
        sentence: without a full stop where it is a part of others.
        serious: the answer may be untrue because of such a finding, so that no view leaves it out.
        mood: how an answer is shown.
        next: what to do about it, in words, and the page that tells more.
        unsaid: what an answer does not say.
        short: whether a remark is worth a line of a screenful.
        last: whether it gives way before what is worth knowing of the input.
    """

    sentence: str
    serious: bool = False
    mood: Mood = "plain"
    next: tuple[str, str] | None = None
    unsaid: str = ""
    short: bool = True
    last: bool = False
