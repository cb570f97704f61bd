"""What a report of ``check`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

LAYOUT: Final = Layout(
    tables=(
        Table(
            "What each column was taken for",
            "columns",
            (
                Column("column", "{short}"),
                Column("taken for", "{treated}"),
                Column("holds", "{kind}"),
                Column("distinct", "{distinct:counted}"),
                Column("repeated", "{atoms:counted}"),
                Column("tied rows", "{tied_rows:counted}"),
                Column("infinite", "{infinite:counted}"),
            ),
            short=None,
        ),
    ),
    terms=(
        ("repeated", "values that many records share; they are treated on their own"),
        ("tied rows", "records that share their value with another record"),
        ("-", "not counted: there are too many rows"),
    ),
    passes=True,
    untold="The input can be audited.",
)
