"""What a report of ``verify`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Layout, Table

LAYOUT: Final = Layout(
    about="{ground}[ {unread}]",
    tables=(
        Table(
            "Part by part",
            # What differs comes first, since a screenful ends where there is no more room.
            "differing_first",
            (
                Column("part", "{part}"),
                Column("result", "{status:part_status}"),
                Column("compared", "{compared:count}"),
                Column("differing", "{differing:count}"),
                Column("details", "{text:text}"),
            ),
            caption="The parts of the report, compared with what was computed now",
            short=None,
            prose=True,
            marked=("status", ("differs",)),
        ),
    ),
    cases=(Cases("parts", "verify", "{part}", "{text:text}"),),
)
