"""What a report on scores of a model shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

LAYOUT: Final = Layout(
    about=(
        "Made from [the outputs of a model with {classes:count} classes][{models:count} shadow "
        "{models:model|models}]."
    ),
    tables=(
        Table(
            "The scores",
            "scores",
            (
                Column("column", "{name}"),
                Column("infinite in", "[{infinite:count} {infinite:row|rows}]"),
                Column("what it is", "{meaning:text}"),
            ),
            words=2,
            short=None,
            prose=True,
        ),
        Table("", "curves", (), picture="bins"),
    ),
    following="mipaudit estimate FILE --score-col NAME, for the score that matters",
    untold="scores were made, and nothing was judged",
    title="Scores made from a model",
)
