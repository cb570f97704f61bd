"""What a report of ``records`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import (
    LIMITS,
    OPEN_LIMITS,
    POLICY,
    POLICY_CASES,
    SHORT_LIMITS,
    Column,
    Layout,
    Table,
)

_RISK: Final = (
    Column("at least", "{lower:lower}"),
    Column("risk", "{risk:value}"),
    Column("at most", "{upper:upper}"),
)
_POINTS: Final = Column("", "points to {speaks_for}, {members:members}, {holdout:count} holdout")
_COUNTS: Final = (Column("members", "{members:count}"), Column("holdout", "{holdout:count}"))
_CELL: Final = Column("cell", "{cell:number}")
_SPEAKS: Final = Column("points to", "{speaks_for}")
_JOINTLY: Final = "Each column holds with {design.confidence:percent} confidence for all groups."

LAYOUT: Final = Layout(
    about=(
        "Score {design.score_column:quoted}: {design.n_members:members}, "
        "{design.n_holdout:holdout} in {design.cells:count} {design.cells:cell|cells} of similar "
        "scores, {design.confidence:percent} confidence; a score that says nothing has a risk of "
        "{design.baseline:number}."
    ),
    tables=(
        Table(
            "Groups of records with similar scores, first those that most give members away",
            "most_exposed",
            (_POINTS, *_RISK),
            whole=False,
            picture="intervals",
            of="risk of a record",
            axis=("design.baseline", "risk_limit"),
        ),
        Table(
            "Records by the risk of their cell",
            "exposure",
            (
                Column("risk from", "{low:number}"),
                Column("members, at least", "{at_least_members:count}"),
                Column("holdout, at least", "{at_least_holdout:count}"),
                Column("members, best", "{members:count}"),
                Column("holdout, best", "{holdout:count}"),
            ),
            words=1,
            caption="Records by the risk of their cell: [0 is even chances, {guessing:best} blind "
            "guessing][0 reveals nothing{guessing:unless}], 1 is certain.",
            legend="Records in cells of this risk or more, pointing to member or to holdout.",
            short=None,
            note="At least: the lower limit of the cell is that high; best: its best estimate is. "
            "Each row includes the records of the rows above it.",
        ),
        OPEN_LIMITS,
        Table(
            "Advantage within each group",
            "advantages",
            (
                Column("group", "{group:short}"),
                Column("", "{axis}"),
                *SHORT_LIMITS,
                Column("records", "{n_members:count} + {n_holdout:count}"),
            ),
            caption="Advantage within each group, any attacker[ (blind guessing: "
            "{guessing:best})]; records: members + holdout.",
            legend="Advantage in each group, any attacker[ (guessing: {guessing:best})]; records: "
            "members + holdout.",
            where=(("attackers", ("any",)),),
            short=None,
            whole=False,
            picture="intervals",
            of="advantage within a group",
            axis=("design.baseline", ""),
        ),
        Table(
            "The most exposed records",
            "top_first",
            (
                Column("record", "[{key:short}]"),
                Column("row, from 0", "{row:number}"),
                Column("is", "[member{member:said}][holdout{member:unless}]"),
                _SPEAKS,
                _CELL,
                *_RISK,
            ),
            words=4,
            caption="The most exposed records. As exposed as the last one: {top_tied:count}; which "
            "of these are shown is random. Rows of the input are numbered from 0.",
            legend="The most exposed. As exposed as the last of them: {top_tied:count} in all.",
            short=None,
        ),
        Table(
            "The exposed cells",
            "shown_cells",
            (_CELL, _SPEAKS, Column("", "{axis}"), *_RISK, *_COUNTS),
            words=3,
            caption="[The exposed cells{exposed:said}][The cells nearest to being "
            "exposed{exposed:unless}]. The confidence is for the whole table.[ ┃ is blind "
            "guessing{drawn:said}.]",
            short=None,
            whole=False,
            axis=("", "guessing"),
        ),
        Table(
            "Groups of records with similar scores, the most exposed as used first",
            "cells_first",
            (_POINTS, *_RISK),
            whole=False,
            picture="intervals",
            of="risk of a record",
            axis=("design.baseline", "risk_limit"),
        ),
        POLICY,
        Table(
            "The largest risk of a record",
            "estimates",
            LIMITS,
            where=(("quantity", ("risk",)),),
            note="The least alpha of (alpha, p)-membership privacy, at p = {design.prior:number}. "
            "The pair holds with {design.confidence:percent} confidence, the upper limit for the "
            "cells that were cut.",
        ),
        Table(
            "The most exposed cells",
            "cells_first",
            (_CELL, _SPEAKS, Column("listed", "[yes{in_list:said}]"), *_COUNTS, *_RISK),
            words=3,
            marked=("in_list", (True,)),
            note="Listed: risk above {design.tau:number} at a false-discovery rate of "
            "{design.fdr:percent}. The limits hold for all cells together.",
        ),
        Table(
            "Advantage within each group, by attackers",
            "advantages",
            (Column("group", "{group}"), Column("attackers", "{attackers:attackers}"), *LIMITS),
            note=_JOINTLY,
        ),
        Table(
            "The same attack in the group minus in the rest",
            "differences",
            (
                Column("group", "{group}"),
                Column("differs", "{shown:differs}"),
                Column("members", "{n_members:count}"),
                Column("holdout", "{n_holdout:count}"),
                Column("difference", "{value:value}"),
                Column("from", "{lower:lower}"),
                Column("to", "{upper:upper}"),
            ),
            marked=("shown", ("increase",)),
            note="The attack is the best threshold on everybody. " + _JOINTLY,
        ),
    ),
    terms=(
        ("cell", "a score range, or a single value; its risk is the average over its records."),
        (
            "group",
            "records with similar scores (a cell), or with equal values in the `by` columns.",
        ),
        ("risk", "how surely somebody can tell whether a record was used. {design.prior:scale}"),
        ("times in 100", "{design.prior:guessed}"),
        ("points to", "what the limits show: the record was used (member) or was not (holdout)."),
        ("confidence", "such statements are wrong at most {design.confidence:wrong} times in 100."),
        ("members", "records that were used, as in training; holdout records are similar, unused."),
    ),
    cases=(POLICY_CASES,),
    beside=(
        "[{harm}\n]A score is a number for each record, made from the release; how "
        "{design.score_column:quoted} was made was not checked. A risk is an average "
        "over records with similar scores: one of them may be exposed far more."
    ),
)
