"""What a comparison of reports shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import (
    ADVANTAGE_WORDS,
    ATTACKERS,
    CHANGE,
    CHANGE_CHECK,
    LIMIT_NUMBER,
    LIMIT_WORDS,
    SHORT_CHANGE,
    SIZES,
    STATUS,
    UNKEPT,
    WHY,
    Cases,
    Column,
    Layout,
    Table,
)

_SCORE: Final = Column("score", "{score:short}")
_REPORT: Final = Column("report", "{report:short}")
_FIGURE: Final = (_SCORE, _REPORT, Column("figure", "{quantity:quantity}"), ATTACKERS)
_CHANGE: Final = Column("change", "{shown:change}")
_AT_LEAST, _, _ = CHANGE
_, _AT_MOST = CHANGE_CHECK

LAYOUT: Final = Layout(
    about=(
        "The old report is {design.baseline:quoted}; {design.confidence:percent} confidence for "
        "all scores and reports together."
    ),
    tables=(
        Table(
            "Change of the advantage since {design.baseline:quoted}, {design.against:class}",
            "decisive",
            (_SCORE, _REPORT, _CHANGE, *SHORT_CHANGE),
            short=None,
            picture="intervals",
            of="change of the advantage",
            axis=("", "shown_limit"),
        ),
        Table(
            "Scores that only one report has (not compared)",
            "unmatched",
            (_SCORE, Column("in report", "{report:short}"), Column("status", "{status}")),
            short=3,
        ),
        Table(
            "The reports, all at prior {design.prior:number}",
            "design.reports",
            (
                Column("report", "{name:short}"),
                Column("made", "{created}"),
                Column("verdict", "{verdict:status}"),
                Column("confidence", "{confidence:percent}"),
                *SIZES,
            ),
            short=3,
        ),
        Table(
            "How much the advantage of each score may have grown, and what was found",
            "policy",
            (_SCORE, _REPORT, LIMIT_NUMBER, STATUS, *CHANGE_CHECK, WHY),
            words=4,
            prose=True,
            marked=UNKEPT,
        ),
        Table(
            "Changes: the new report less {design.baseline:quoted}",
            "shown_changes",
            (*_FIGURE, _CHANGE, *CHANGE),
            marked=("shown", ("increase",)),
            note=(
                "Each row holds with {design.confidence:percent} confidence, over all scores and "
                "reports. Metrics that have no limits are left out."
            ),
        ),
        Table(
            "The limits that the changes follow from",
            "shown_figures",
            (*_FIGURE, _AT_LEAST, Column("best estimate", "{value:value}"), _AT_MOST),
        ),
        Table(
            "A class of attackers beside any attacker",
            "beside_any",
            (
                _SCORE,
                _REPORT,
                ATTACKERS,
                Column("compared", "{quantity:quantity}"),
                Column("at least", "{lower:lower}"),
                Column("at most", "{upper:upper}"),
            ),
            note=(
                "(a) The class has at most this much more on the new scores than some attacker "
                "surely has on the old ones. (b) Some attacker on the new scores surely has at "
                "least this much more than the class can have on the old ones. Neither decides the "
                "verdict: they are about different attackers."
            ),
        ),
    ),
    terms=(*LIMIT_WORDS, *ADVANTAGE_WORDS),
    cases=(
        Cases("policy", "{score}", "increase from {versus} to {report} {limit:number}", "{reason}"),
    ),
    title="A new release beside an old one",
)
