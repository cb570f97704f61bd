"""Columns, tables and words that the layouts of several commands share."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Table

SCORE: Final = Column("score", "{score:quoted}")
LIMITS: Final = (
    Column("at least", "{lower:lower}", "lower_reason"),
    Column("best estimate", "{value:value}", "value_reason"),
    Column("at most", "{upper:upper}", "upper_reason"),
)
SHORT_LIMITS: Final = (
    Column("at least", "{lower:lower}"),
    Column("best", "{value:value}"),
    Column("at most", "{upper:upper}"),
)
CHECK: Final = (Column("at least", "{lower:lower}"), Column("at most", "{upper:upper}"))

LIMIT: Final = Column("limit", "{limit:limited}")
WAIVER: Final = (
    "[; {status:status}, accepted by {waived.person} until {waived.expires}: {waived.reason:text}]"
    "[; the waiver by {expired.person} expired after {expired.expires}]"
)
OPEN_LIMITS: Final = Table(
    "Limits, and the scores that decide them.",
    "open_limits",
    (
        LIMIT,
        Column("score", "{short}"),
        Column("is", "{status:state}"),
        Column("against", "{against:attackers}"),
        *CHECK,
        Column("records", "{records_to_settle:counted}"),
    ),
    words=4,
    short=None,
    whole=False,
)
POLICY: Final = Table(
    "The limits of the policy beside what was found",
    "policy",
    (
        LIMIT,
        SCORE,
        Column("against", "{against:attackers}"),
        Column("status", "{status:state}"),
        *CHECK,
        Column("why", "{reason}" + WAIVER),
    ),
    words=4,
    prose=True,
    marked=("status", ("not_met", "inconclusive")),
)
POLICY_CASES: Final = Cases("policy", "{score}", "{limit:limited}", "{reason}" + WAIVER)

LIMIT_WORDS: Final = (
    ("at least", "This much leaks: some attacker who sees the score does at least this well."),
    ("best estimate", "Our best figure. Not a guarantee, in either direction."),
    ("at most", "No attacker of the kind named in the row does better. Other kinds may."),
)
ADVANTAGE_WORDS: Final = (
    ("advantage", "how well somebody can tell whose records were used, {design.prior:scale}"),
    ("times in 100", "{design.prior:guessed}"),
    ("members", "records that were used, as in training; holdout records are alike, unused."),
    ("confidence", "such statements are wrong at most {design.confidence:wrong} times in 100."),
    ("prior", "{design.prior:number}: how likely a challenged record is a member."),
)
