"""What an audit of epsilon shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Layout, Table

_SCORE: Final = Column("score", "[{score:short}]")
_METHOD: Final = Column("method", "{method:way}")
_JOINTLY: Final = "[, jointly for all scores{design.score_columns.1:said}]"

LAYOUT: Final = Layout(
    about="{seen}; {design.confidence:percent} confidence (lower limits only)" + _JOINTLY + ".",
    tables=(
        Table(
            "Epsilon, by each method",
            "statements",
            (
                _SCORE,
                _METHOD,
                Column("used for", "[{standing}]"),
                Column("", "{axis}"),
                Column("at least", "[{lower:figure}][none{lower:unless}]", "lower_reason"),
                Column("best", "{value:value}"),
                Column("mu", "{mu_lower:least_figure}"),
                Column("right", "{judged.right:counted}"),
                Column("guesses", "{judged.guesses:counted}"),
            ),
            caption="Epsilon at delta {design.delta:number}: lower limit, best estimate[, "
            "{common}]; guesses that the method judges.[ ┃ is the claim{drawn:said}.]",
            legend="Epsilon at delta {design.delta:number}[, {common}]; 'best' proves nothing.[ ┃: "
            "claim{claim.epsilon:said}.]",
            short=None,
            picture="intervals",
            of="epsilon",
            axis=("", "claim.epsilon"),
            allowed=("", "the claim"),
        ),
        Table(
            "What was found",
            "statements",
            (_SCORE, _METHOD, Column("guesses", "{judged}")),
            unless=(("judged", (None,)),),
            prose=True,
        ),
        Table(
            "What this audit could have found",
            "claim.power",
            (
                Column("noise", "{mechanism}"),
                Column(
                    "refuted from epsilon",
                    "[{refutable_epsilon:most_figure}][none{refutable_epsilon:unless}]",
                    "refutable_reason",
                ),
                Column("needed", "[{needed:count}][none{needed:unless}]", "needed_reason"),
                Column("guesses", "{needed_guesses:counted}"),
            ),
            caption="If the true epsilon is the number under 'refuted from epsilon', "
            "{claim.power.0.power:percent} of such audits refute the claim. Needed: how many runs "
            "of each kind (or canaries) it takes to refute the claim as often if the true epsilon "
            "is {claim.power.0.true_epsilon:number}.",
        ),
        Table("What it rests on", "rests_on", (Column("", "{message}"),), prose=True),
    ),
    terms=(
        (
            "epsilon",
            (
                "how far a release may move the odds that a record was used: by a factor of at "
                "most e to the power of epsilon. 0: not at all; 1: times 2.7; 5: times 148."
            ),
        ),
        ("delta", "the small probability with which the promise may fail."),
    ),
    cases=(Cases("claim", "epsilon", "claim", "{reason}"),),
    untold="no claim was given to refute",
)
