"""What a report of ``shift`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Layout, Table

_DIFFERENCE: Final = (
    Column("column", "{column:short}"),
    Column("records with", "{aspect:of_records}"),
    Column("members - holdout", "{effect:points} points"),
    Column("p-value", "{p_value:p_value}"),
    Column("p, corrected", "{adjusted:p_value}"),
)

LAYOUT: Final = Layout(
    about=(
        "{design.n_members:members}, {design.n_holdout:holdout}, {n_columns:count} "
        "{n_columns:column|columns}, {design.confidence:percent} confidence; the model was not "
        "examined.[ Not compared: {left_out:names}.]"
    ),
    tables=(
        Table(
            "What the records reveal about membership without the model",
            "estimates",
            (
                Column("attackers", "{attackers:attackers}"),
                Column("", "{axis}"),
                Column("at least", "{lower:lower}"),
                Column("best", "{value:value}"),
                Column("at most", "{upper:upper}", "upper_reason"),
            ),
            caption=(
                "Blind advantage, from 0 (alike) to 1 (told apart surely).[ ┃ is the "
                "limit{drawn:said}.]"
            ),
            short=None,
            picture="intervals",
            of="blind advantage",
            axis=("", "shown_limit"),
            note=(
                "Learned on the burn-in: {design.learned}, from {design.coordinates:count} numbers "
                "made of {n_columns:count} {n_columns:column|columns}. Each limit holds with "
                "{each_confidence:percent} confidence."
            ),
        ),
        Table("Columns that surely differ", "differing", _DIFFERENCE, short=None),
        Table(
            "No column surely differs. Nearest to a difference",
            "nearest",
            _DIFFERENCE,
            short=3,
            whole=False,
        ),
        Table("Columns that are not shown to differ, the nearest first", "alike", _DIFFERENCE),
        Table(
            "Holdout records similar to a member, of {copies.searched:count} searched",
            "copies",
            (
                Column("all columns equal", "{exact:counted}"),
                Column("(within the holdout)", "{exact_within:counted}"),
                Column("all but one equal", "{but_one:counted}"),
                Column("equal to 3 digits", "{rounded:counted}"),
                Column("the same person", "{persons:counted}"),
            ),
        ),
        Table(
            "Columns that were left out",
            "design.skipped",
            (Column("column", "{column}"), Column("why", "{why}")),
            prose=True,
        ),
    ),
    terms=(
        (
            "blind advantage",
            "how well somebody can tell membership from a record alone. {design.prior:scale}",
        ),
        ("any attacker", "anybody who sees the record; the others use what was learned, as named."),
        ("at least", "This much can be found out: some attacker does at least this well."),
        ("at most", "No attacker of the kind named in the row does better. Other kinds may."),
        ("times in 100", "{design.prior:guessed}"),
        ("confidence", "such statements are wrong at most {design.confidence:wrong} times in 100."),
        (
            "members - holdout",
            (
                "the largest difference between the percentages of records "
                "up to one value, with one text, or with a missing value"
            ),
        ),
        (
            "p, corrected",
            (
                "the column's p-value, corrected for all tests (Holm): at {error:percent} or less "
                "it surely differs. The p-values are exact or conservative."
            ),
        ),
        ("within the holdout", "for comparison: holdout records with a copy in the holdout itself"),
    ),
    cases=(Cases("policy", "{score}", "{limit:limited}", "{reason}"),),
    topic="members-and-holdout",
    title="Members beside holdout records, without the release",
)
