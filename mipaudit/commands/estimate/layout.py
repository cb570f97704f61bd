"""What a report of ``estimate`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import (
    ADVANTAGE_WORDS,
    ATTACKERS,
    AXIS,
    LIMIT_WORDS,
    LIMITS,
    OPEN_LIMITS,
    POLICY,
    POLICY_CASES,
    SCORE,
    SHORT_LIMITS,
    SHORT_SCORE,
    STATUS,
    Cases,
    Column,
    Layout,
    Table,
)

_CLAIM: Final = Column("claim", "({epsilon:number}, {delta:number}), {adjacency}")
_NO_INTERVAL: Final = (("validity", ("not-an-interval",)),)
_LINES: Final = (
    "Membership advantage, from [{guessing:best} (blind guessing)][0 (none){guessing:unless}] to 1 "
    "(sure). 'At most' holds {shown_attackers:class}.[ ┃ is the limit{drawn:said}.][ "
    "AUC{lines.0.auc:said}][, TPR at FPR 1%{lines.0.auc:said}{lines.0.tpr:said}][: limits for "
    "attackers with one threshold.{lines.0.auc:said}]"
)
_LEGEND: Final = (
    "Advantage, [{guessing:best} (no leak)][0{guessing:unless}] to 1. 'At most' "
    "{shown_attackers:class}.[ ┃: limit{drawn:said}.]"
)
_PEOPLE: Final = (
    "People whose membership is guessed right, beyond blind guessing, of the "
    "{provenance.declared.subjects:count} declared, each in the training data with probability "
    "{design.prior:number}"
)

LAYOUT: Final = Layout(
    about=(
        "{design.n_members:members}, {design.n_holdout:holdout}, {design.confidence:percent} "
        "confidence[; advantage of blind guessing: {guessing:best}]."
    ),
    tables=(
        Table(
            "Every score, the strongest first",
            "lines",
            (
                SHORT_SCORE,
                AXIS,
                *SHORT_LIMITS,
                Column("AUC", "{auc:span}"),
                Column("TPR at 1%", "{tpr:span_percent}"),
            ),
            caption=_LINES,
            legend=_LEGEND,
            short=None,
            picture="intervals",
            axis=("design.baseline", "shown_limit"),
        ),
        Table("", "curves", (), picture="roc"),
        Table("", "curves", (), picture="bins"),
        OPEN_LIMITS,
        Table(
            "Metrics (larger: a better attacker)",
            "metric_lines",
            (
                SHORT_SCORE,
                Column("metric", "{metric}"),
                *SHORT_LIMITS,
                Column("attackers", "{attackers:attackers}"),
            ),
            short=None,
            whole=False,
        ),
        POLICY,
        Table(
            "The advantage that was found beside what the claim of differential privacy allows",
            "claims",
            (
                SCORE,
                _CLAIM,
                STATUS,
                Column("at least", "{lower:lower}"),
                Column("the claim allows", "{allowed_advantage:upper}"),
            ),
        ),
        Table(
            "What the answer on the claim rests on",
            "claims",
            (_CLAIM, Column("", "{rests_on:text}[; conversion: {conversion:text}]")),
            prose=True,
        ),
        Table(
            "Published bounds of the advantage under this claim",
            "claims.bounds",
            (
                Column("published bound", "{name}"),
                Column("advantage", "{advantage:upper}"),
                Column("source, and what it assumes", "{source:text}; {assumes:text}"),
            ),
            prose=True,
        ),
        Table(
            "Advantage for records that cannot be told apart without the release",
            "blind.excess",
            (
                SCORE,
                Column("at least", "{lower:lower}"),
                Column("may be explained", "{taken_off:upper}"),
            ),
        ),
        Table(
            "What it means for the people declared",
            "people",
            (
                ATTACKERS,
                Column("at least", "{lower:counted}"),
                Column("best estimate", "{value:counted}"),
                Column("at most", "{upper:counted_most}"),
            ),
            caption=_PEOPLE,
            note="Assumes that each person has one record, and that the audited records are a "
            "random sample of these people's records: members of people in the training data, "
            "holdout records of the others. The figures are the number of people times (accuracy - "
            "max(p, 1 - p)); limits hold as those of the advantage. [The prior is the default: "
            "nobody declared how many were in the training data{prior_unstated:said}.]",
        ),
        Table(
            "Metrics (larger: a better attacker)",
            "estimates",
            (SCORE, Column("metric", "{metric}"), ATTACKERS, *LIMITS),
            where=(("quantity", ("metric",)),),
            unless=_NO_INTERVAL,
        ),
        Table(
            "Advantage, by what attackers may do with a score",
            "estimates",
            (
                SCORE,
                ATTACKERS,
                *LIMITS,
                Column("same rows", "{plugin:value}"),
                Column("judged on", "{n_members:count} + {n_holdout:count}"),
            ),
            where=(("quantity", ("advantage",)),),
            unless=(*_NO_INTERVAL, ("attackers", ("noised-query",))),
            picture="intervals",
            axis=("design.baseline", "shown_limit"),
        ),
        Table(
            "Advantage with Gaussian noise on the score",
            "estimates",
            (SCORE, Column("s.d. of the noise", "[{bandwidth:number}]"), *LIMITS),
            where=(("quantity", ("advantage",)), ("attackers", ("noised-query",))),
            unless=_NO_INTERVAL,
        ),
        Table(
            "The same as accuracy, and as accuracy over blind guessing (eta)",
            "estimates",
            (SCORE, Column("in terms of", "{quantity:quantity}"), *LIMITS),
            where=(("quantity", ("eta", "accuracy")),),
            unless=_NO_INTERVAL,
        ),
        Table(
            "The same as advantage over blind guessing (excess)",
            "estimates",
            (SCORE, *LIMITS),
            where=(("quantity", ("excess",)),),
            unless=_NO_INTERVAL,
            when="guessing",
        ),
        Table(
            "With one threshold (AUC 0.5: no better than chance)",
            "estimates",
            (
                SCORE,
                Column("figure", "{quantity:quantity}"),
                Column("member if", "[{side}]"),
                *LIMITS,
            ),
            where=(("quantity", ("auc", "tpr_at_fpr")),),
            unless=_NO_INTERVAL,
        ),
        Table(
            "Any difference between members and holdout, by membership or for another reason: "
            "p-value, small if they differ; a verdict rests on it only if a policy asks",
            "estimates",
            (SCORE, Column("p-value", "{value:value}")),
            where=(("quantity", ("any_difference",)),),
        ),
        Table(
            "As published: not a valid interval",
            "estimates",
            (
                SCORE,
                Column("figure", "{quantity:quantity}"),
                Column("method", "{method:text}"),
                *LIMITS,
            ),
            where=_NO_INTERVAL,
        ),
        Table(
            "How each figure was made, and how far its limits can be trusted",
            "estimates",
            (
                Column("figure", "{quantity:of_kind}"),
                Column("for", "{attackers:of_whom}"),
                Column("limits are", "{validity}"),
                Column("method", "{method:text}"),
            ),
            where=(("quantity", ("advantage", "auc", "tpr_at_fpr", "metric", "any_difference")),),
            prose=True,
        ),
    ),
    terms=(
        *LIMIT_WORDS,
        (
            "limits",
            (
                "[All limits together hold with {design.confidence:percent} "
                "confidence{design.joint:said}][, except those of the verdict, which are shown "
                "first{design.joint:said}{shown_limit:said}][The limits of one quantity hold with "
                "{design.confidence:percent} confidence{design.joint:unless}][, together for all "
                "scores{several:said}{design.joint:unless}][; those of different quantities need "
                "not hold together{design.joint:unless}]."
            ),
        ),
        ("same rows", "The best attacker, tuned and tested on the same rows: too high on average."),
        ("judged on", "the numbers of members and holdout records that gave 'at least'."),
        *ADVANTAGE_WORDS,
    ),
    cases=(
        POLICY_CASES,
        Cases(
            "claims",
            "{score}",
            "({epsilon:number}, {delta:number})-differential privacy, adjacency {adjacency}",
            "{reason}",
        ),
    ),
    untold="no policy and no claim was given to compare with",
    beside=(
        "A score is a number for each record, from the release[; how {told_score:quoted} was made "
        "was not checked]. The figure is an average over records: a few may be exposed far more."
    ),
    beside_tells=("average",),
)
