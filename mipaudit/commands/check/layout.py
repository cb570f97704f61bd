"""What a report of ``check`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

LAYOUT: Final = Layout(
    tables=(
        Table(
            "How each column is used",
            "columns",
            (
                Column("column", "{short}"),
                Column("used as", "{treated}"),
                Column("type", "{kind}"),
                Column("distinct", "{distinct:counted}"),
                Column("repeated", "{atoms:counted}"),
                Column("tied rows", "{tied_rows:counted}"),
                Column("infinite", "{infinite:counted}"),
            ),
            legend="Repeated: values that stand in many rows. Tied rows: rows that share a value.",
            short=None,
        ),
    ),
    terms=(
        ("repeated", "values that many records share; each is treated separately"),
        ("tied rows", "records that share their value with another record"),
        ("-", "not counted: there are too many rows"),
    ),
    passes=True,
    untold="The input can be audited.",
    title="A look at scores before their audit",
)
