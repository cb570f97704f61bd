"""What a comparison of reports shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import ADVANTAGE_WORDS, LIMIT_WORDS, Cases, Column, Layout, Table

_SCORE: Final = Column("score", "{score:short}")
_REPORT: Final = Column("report", "{report:short}")
_FIGURE: Final = (
    _SCORE,
    _REPORT,
    Column("figure", "{quantity:quantity}"),
    Column("attackers", "{attackers:attackers}"),
)
_CHANGE: Final = Column("change", "{shown:change}")
_NONE: Final = "[{lower:least}][none{lower:unless}]"
_SHORT_LIMITS: Final = (
    Column("at least", _NONE),
    Column("best", "{value:value}"),
    Column("at most", "{upper:upper}"),
)

LAYOUT: Final = Layout(
    about=(
        "The old report is {design.baseline:quoted}; {design.confidence:percent} confidence, "
        "jointly over scores and reports."
    ),
    tables=(
        Table(
            "Change of the advantage since {design.baseline:quoted}, {design.against:class}",
            "decisive",
            (_SCORE, _REPORT, _CHANGE, *_SHORT_LIMITS),
            words=3,
            short=None,
            picture="intervals",
            of="change of the advantage",
            axis=("", "shown_limit"),
        ),
        Table(
            "Scores that only one report has, and that are not compared",
            "unmatched",
            (_SCORE, Column("in report", "{report:short}"), Column("it is", "{status}")),
            words=3,
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
                Column("members", "{n_members:count}"),
                Column("holdout", "{n_holdout:count}"),
            ),
            words=3,
            short=3,
        ),
        Table(
            "How much the advantage of each score may have grown, and what was found",
            "policy",
            (
                _SCORE,
                _REPORT,
                Column("limit", "{limit:number}"),
                Column("status", "{status:state}"),
                Column("at least", _NONE),
                Column("at most", "{upper:upper}"),
                Column("why", "{reason}"),
            ),
            words=4,
            prose=True,
            marked=("status", ("not_met", "inconclusive")),
        ),
        Table(
            "Changes: the new report less {design.baseline:quoted}",
            "shown_changes",
            (
                *_FIGURE,
                _CHANGE,
                Column("at least", _NONE, "lower_reason"),
                Column("best estimate", "{value:value}"),
                Column("at most", "{upper:upper}", "upper_reason"),
            ),
            words=5,
            marked=("shown", ("increase",)),
            note=(
                "Each row holds with {design.confidence:percent} confidence, over all scores and "
                "reports. Metrics that have no limits are left out."
            ),
        ),
        Table(
            "The limits that the changes follow from",
            "shown_figures",
            (
                *_FIGURE,
                Column("at least", _NONE, "lower_reason"),
                Column("best estimate", "{value:value}"),
                Column("at most", "{upper:upper}"),
            ),
            words=4,
        ),
        Table(
            "A class of attackers beside any attacker",
            "beside_any",
            (
                _SCORE,
                _REPORT,
                Column("attackers", "{attackers:attackers}"),
                Column("compared", "{quantity:quantity}"),
                Column("at least", "{lower:lower}"),
                Column("at most", "{upper:upper}"),
            ),
            words=4,
            note=(
                "(a) The class has at most this much more on the new scores than some attacker "
                "surely has on the old ones. (b) Some attacker on the new scores surely has at "
                "least this much more than the class can have on the old ones. Neither decides "
                "the verdict: they are of different attackers."
            ),
        ),
    ),
    terms=(*LIMIT_WORDS, *ADVANTAGE_WORDS),
    cases=(
        Cases("policy", "{score}", "increase from {versus} to {report} {limit:number}", "{reason}"),
    ),
    height=30,
)
