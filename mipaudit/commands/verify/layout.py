"""What a report of ``verify`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Layout, Table

_DIFFERS: Final = (("status", ("differs",)),)
_COLUMNS: Final = (
    Column("part", "{part}"),
    Column("", "{status:part_status}"),
    Column("compared", "{compared:count}"),
    Column("differing", "{differing:count}"),
    Column("where", "{text:text}"),
)
_CAPTION: Final = "The parts of the report beside what was computed now"

LAYOUT: Final = Layout(
    about="{ground}[ {unread}]",
    tables=(
        # A screenful has what differs first, since what does not gives way.
        Table(
            "What differs",
            "parts",
            _COLUMNS,
            words=2,
            where=_DIFFERS,
            short=None,
            prose=True,
            whole=False,
        ),
        Table(
            "What agrees, or is noted",
            "parts",
            _COLUMNS,
            words=2,
            unless=_DIFFERS,
            short=None,
            prose=True,
            whole=False,
        ),
        Table(
            "Part by part",
            "parts",
            _COLUMNS,
            words=2,
            caption=_CAPTION,
            prose=True,
            marked=("status", ("differs",)),
        ),
    ),
    cases=(Cases("parts", "verify", "{part}", "{text:text}"),),
    height=30,
)
