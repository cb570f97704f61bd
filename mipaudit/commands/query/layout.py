"""What a report on queries against released records shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

_COLUMN: Final = Column("column", "{column}")
_HOW: Final = (
    "{compared_by} The scales come from the {encoded_on} table only. [Neighbours were found by "
    "{search:text}, exactly.{searched:said}][No query asked for neighbours.{searched:unless}][ "
    "Classifier: {classifier:text}.][ It took {seconds:thousandths} seconds.]"
)

LAYOUT: Final = Layout(
    about="{sizes}",
    tables=(
        Table(
            "The scores that were made, and the query of each",
            "scores",
            (
                Column("column", "{short}"),
                Column("member if", "{side}"),
                Column("radius", "[{radius:figure}]"),
                Column("what it is", "{says:text}"),
            ),
            words=3,
            short=None,
            prose=True,
        ),
        Table(
            "What was read",
            "tables",
            (
                Column("table", "{role}"),
                Column("records", "{rows:count}"),
                Column("columns", "{columns:count}"),
            ),
            note=_HOW,
        ),
        Table(
            "How each column was compared",
            "columns",
            (
                _COLUMN,
                Column("taken as", "{treated}"),
                Column("1 is", "{scale:text}"),
                Column("words", "[{levels:count}]"),
                Column("missing", "{missing:count}"),
                Column("unseen", "{unseen:count}"),
            ),
        ),
        Table("Not compared", "uncompared", (_COLUMN, Column("why", "{why:text}")), prose=True),
        Table("", "curves", (), picture="bins"),
    ),
    following="{following:text}",
    untold="scores were made, and nothing was judged",
    title="Scores made from the tables",
)
