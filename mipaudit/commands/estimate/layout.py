"""What a report of ``estimate`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Layout, Table

_SCORE: Final = Column("score", "{score:quoted}")
_LEAST: Final = Column("at least", "{lower:lower}", "lower_reason")
_BEST: Final = Column("best estimate", "{value:value}", "value_reason")
_MOST: Final = Column("at most", "{upper:upper}", "upper_reason")
_LIMITS: Final = (_LEAST, _BEST, _MOST)
_LIMIT: Final = Column("limit", "{limit:limited}")
_CHECK: Final = (Column("at least", "{lower:lower}"), Column("at most", "{upper:upper}"))
_CLAIM: Final = Column("claim", "({epsilon:number}, {delta:number}), {adjacency}")
_NO_INTERVAL: Final = (("validity", ("not-an-interval",)),)
_WAIVER: Final = (
    "[; {status:status}, accepted by {waived.person} until {waived.expires}: {waived.reason:text}]"
    "[; the waiver by {expired.person} expired after {expired.expires}]"
)
_LINES: Final = (
    "Membership advantage, from [{guessing:best} (blind guessing)][0 (none){guessing:unless}] to 1 "
    "(sure). At most: {shown_attackers:class}.[ ┃ is the limit{drawn:said}.] AUC, TPR at FPR "
    "1%: limits, one threshold."
)
_PEOPLE: Final = (
    "People whose membership is guessed right, beyond blind guessing, of the "
    "{provenance.declared.subjects:count} declared, each in the training data with probability "
    "{design.prior:number}"
)

LAYOUT: Final = Layout(
    about=(
        "{design.n_members:count} members, {design.n_holdout:count} holdout records, "
        "{design.confidence:percent} confidence[; blind guessing has {guessing:best}]."
    ),
    tables=(
        Table(
            "Every score, the strongest first",
            "lines",
            (
                Column("score", "{short}"),
                Column("", "{axis}"),
                Column("at least", "{lower:lower}"),
                Column("best", "{value:value}"),
                Column("at most", "{upper:upper}"),
                Column("AUC", "{auc:span}"),
                Column("TPR 1%", "{tpr:span_percent}"),
            ),
            words=2,
            caption=_LINES,
            short=None,
            picture="intervals",
            axis=("design.baseline", "shown_limit"),
        ),
        Table(
            "Limits, and the scores that decide them.",
            "open_limits",
            (
                _LIMIT,
                Column("score", "{short}"),
                Column("is", "{status:state}"),
                Column("against", "{against:attackers}"),
                *_CHECK,
                Column("records", "{records_to_settle:counted}"),
            ),
            words=4,
            short=None,
            whole=False,
        ),
        Table(
            "Metrics (larger: a better attacker)",
            "metric_lines",
            (
                Column("score", "{short}"),
                Column("metric", "{metric}"),
                Column("at least", "{lower:lower}"),
                Column("best", "{value:value}"),
                Column("at most", "{upper:upper}"),
                Column("against", "{against:attackers}"),
            ),
            words=2,
            short=None,
            whole=False,
        ),
        Table(
            "The limits of the policy beside what was found",
            "policy",
            (
                _LIMIT,
                _SCORE,
                Column("against", "{against:attackers}"),
                Column("status", "{status:state}"),
                *_CHECK,
                Column("why", "{reason}" + _WAIVER),
            ),
            words=4,
            prose=True,
            marked=("status", ("not_met", "inconclusive")),
        ),
        Table(
            "The advantage that was found beside what the claim of differential privacy allows",
            "claims",
            (
                _SCORE,
                _CLAIM,
                Column("status", "{status:state}"),
                Column("at least", "{lower:lower}"),
                Column("the claim allows", "{allowed_advantage:upper}"),
            ),
            words=3,
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
            "Advantage among records that are alike, beyond what the records alone may explain",
            "blind.excess",
            (
                _SCORE,
                Column("at least", "{lower:lower}"),
                Column("may be explained", "{taken_off:upper}"),
            ),
        ),
        Table(
            "What it means for the people declared",
            "people",
            (
                Column("attackers", "{attackers:attackers}"),
                Column("at least", "{lower:counted}"),
                Column("best estimate", "{value:counted}"),
                Column("at most", "{upper:counted_most}"),
            ),
            caption=_PEOPLE,
            note="It takes the audited records for a random sample of these people's, one each: "
            "members of those who are in the training data, holdout of the others. The figures are "
            "their number times (accuracy - max(p, 1 - p)); limits hold as those of the advantage. "
            "[The prior is the default: nobody declared how many were in the training data"
            "{prior_unstated:said}.]",
        ),
        Table(
            "Metrics (larger: a better attacker)",
            "estimates",
            (
                _SCORE,
                Column("metric", "{metric}"),
                Column("attackers", "{attackers:attackers}"),
                *_LIMITS,
            ),
            words=3,
            where=(("quantity", ("metric",)),),
            unless=_NO_INTERVAL,
        ),
        Table(
            "Advantage, by what attackers may do with a score",
            "estimates",
            (
                _SCORE,
                Column("attackers", "{attackers:attackers}"),
                *_LIMITS,
                Column("same rows", "{plugin:value}"),
                Column("judged on", "{n_members:count} + {n_holdout:count}"),
            ),
            words=2,
            where=(("quantity", ("advantage",)),),
            unless=(*_NO_INTERVAL, ("attackers", ("noised-query",))),
            picture="intervals",
            axis=("design.baseline", "shown_limit"),
        ),
        Table(
            "Advantage with Gaussian noise on the score",
            "estimates",
            (_SCORE, Column("s.d. of the noise", "[{bandwidth:number}]"), *_LIMITS),
            words=1,
            where=(("quantity", ("advantage",)), ("attackers", ("noised-query",))),
            unless=_NO_INTERVAL,
        ),
        Table(
            "The same as accuracy, and as accuracy over blind guessing (eta)",
            "estimates",
            (_SCORE, Column("in terms of", "{quantity:quantity}"), *_LIMITS),
            words=2,
            where=(("quantity", ("eta", "accuracy")),),
            unless=_NO_INTERVAL,
        ),
        Table(
            "The same as advantage over blind guessing (excess)",
            "estimates",
            (_SCORE, *_LIMITS),
            where=(("quantity", ("excess",)),),
            unless=_NO_INTERVAL,
            when="guessing",
        ),
        Table(
            "With one threshold (AUC 0.5: no better than chance)",
            "estimates",
            (
                _SCORE,
                Column("figure", "{quantity:quantity}"),
                Column("member if", "[{side}]"),
                *_LIMITS,
            ),
            words=3,
            where=(("quantity", ("auc", "tpr_at_fpr")),),
            unless=_NO_INTERVAL,
        ),
        Table(
            "Any difference at all (membership, or another): p-value, small if they differ; a "
            "verdict rests on it only if a policy asks",
            "estimates",
            (_SCORE, Column("p-value", "{value:value}")),
            where=(("quantity", ("any_difference",)),),
        ),
        Table(
            "As published: not a valid interval",
            "estimates",
            (
                _SCORE,
                Column("figure", "{quantity:quantity}"),
                Column("method", "{method:text}"),
                *_LIMITS,
            ),
            words=3,
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
            words=3,
            where=(("quantity", ("advantage", "auc", "tpr_at_fpr", "metric", "any_difference")),),
            prose=True,
        ),
        Table("", "curves", (), picture="roc"),
        Table("", "curves", (), picture="bins"),
    ),
    terms=(
        ("at least", "This much leaks: some attacker who sees the score does at least this well."),
        ("best estimate", "Our best figure. Not a guarantee, in either direction."),
        ("at most", "No attacker of the kind named in the row does better. Other kinds may."),
        ("advantage", "how well somebody can tell whose records were used, {design.prior:scale}"),
        ("times in 100", "{design.prior:guessed}"),
        (
            "limits",
            (
                "[All limits together hold with {design.confidence:percent} confidence."
                "{design.joint:said}][Each pair of limits holds with {design.confidence:percent} "
                "confidence{design.joint:unless}][, over all score columns together{several:said}"
                "{design.joint:unless}][; different rows are not joint.{design.joint:unless}]"
            ),
        ),
        ("same rows", "The best attacker chosen and judged on the same rows: too high on average."),
        ("judged on", "members and holdout records behind 'at least'; the rest chose attackers."),
        (
            "members",
            "records that were used, as in training; holdout records are alike, unused.",
        ),
        ("confidence", "such statements are wrong at most {design.confidence:wrong} times in 100."),
        ("prior", "{design.prior:number}: how likely a challenged record is a member."),
    ),
    cases=(
        Cases("policy", "{score}", "{limit:limited}", "{reason}" + _WAIVER),
        Cases(
            "claims",
            "{score}",
            "({epsilon:number}, {delta:number})-differential privacy, adjacency {adjacency}",
            "{reason}",
        ),
    ),
    untold="no policy and no claim was given to compare with",
)
