"""What a report of ``attack`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import (
    ADVANTAGE_WORDS,
    ATTACKERS,
    AXIS,
    CHECK,
    LIMIT_NUMBER,
    LIMIT_WORDS,
    LIMITS,
    SCORE,
    SCORES_GIVEN,
    SHORT_LIMITS,
    SHORT_SCORE,
    SIZES,
    STATUS,
    UNKEPT,
    WHY,
    Cases,
    Column,
    Layout,
    Table,
)

_ATTACK: Final = Column("attack", "{attackers:attacker}")
_NONE: Final = (None,)

LAYOUT: Final = Layout(
    about=(
        "{design.n_members:members}, {design.n_holdout:holdout}, {design.confidence:percent} "
        "confidence; advantage of blind guessing: {design.baseline:best}."
    ),
    tables=(
        Table(
            "The best attacker, and each named attack",
            "lines",
            (Column("attacker", "{attackers:attacker}"), SHORT_SCORE, AXIS, *SHORT_LIMITS),
            caption=(
                "Advantage, from [{guessing:best} (blind guessing)][0 (none){guessing:unless}] to "
                "1 (sure). Each line's confidence is for that line alone. The best attacker is "
                "that of mipaudit estimate.[ ┃ is the limit{drawn:said}.]"
            ),
            legend="Advantage ([{guessing:best}][0{guessing:unless}]: guessing). Confidence: for "
            "each line alone.[ ┃: limit{drawn:said}.]",
            short=None,
            whole=False,
            picture="intervals",
            axis=("design.baseline", "shown_limit"),
        ),
        Table(
            "The limits of the policy, and what was found",
            "policy",
            (Column("attack", "{against}"), SCORE, STATUS, LIMIT_NUMBER, *CHECK, WHY),
            prose=True,
            marked=UNKEPT,
        ),
        Table("The best attacker: advantage", "optimum", (SCORE, ATTACKERS, *LIMITS)),
        Table(
            "All limits together: advantage of any attacker",
            "together",
            (SCORE, Column("rests on", "{method:attacker}"), Column("at least", "{lower:lower}")),
            note="For each score, the largest lower limit of the best attacker and of the named "
            "ones. These limits hold for all attackers and scores at once.",
        ),
        Table(
            "What each named attack achieves: advantage",
            "strongest",
            (
                SCORE,
                _ATTACK,
                *LIMITS,
                Column("judged on", "[{n_members:count} + {n_holdout:count}]"),
            ),
        ),
        Table(
            "How each attack guesses",
            "strongest",
            (
                SCORE,
                _ATTACK,
                Column("TPR", "{also.tpr.value:value}"),
                Column("FPR", "{also.fpr.value:value}"),
                Column("same rows", "{also.same_rows.value:value}"),
                Column("formula", "{also.predicted.value:value}"),
            ),
            beside="details",
            unless=(("value", _NONE),),
        ),
        Table(
            "How much more the best attacker has",
            "strongest",
            (
                SCORE,
                _ATTACK,
                Column("at least more", "{also.shortfall.lower:lower}"),
                Column("at most more", "{also.shortfall.upper:upper}"),
                Column("of attackers with", "{also.shortfall.versus:attackers}"),
            ),
            beside="details",
            unless=(("value", _NONE),),
            prose=True,
            note="'At least more': what the best of all attackers has more than the attack, at "
            "least. 'At most more': the same, but at most, of the best attacker of the class in "
            "the last column.",
        ),
        Table(
            "Whose attacks these are",
            "attacks",
            (_ATTACK, Column("published in", "{method}"), Column("it knows", "{attackers:knows}")),
            prose=True,
            note="[The mean score of members was given, not learned.{mean_given:said}]",
        ),
        Table(
            "The attack with a threshold for each class, within each class",
            "groups",
            (Column("class", "{group}"), SCORE, *SIZES, *LIMITS),
            note="{design.confidence:percent} confidence for all classes together.",
        ),
        Table(
            "Generalization gap: mean [squared "
            "residual{design.residuals:said}][score{design.residuals:unless}], one class minus the "
            "other",
            "gaps",
            (
                SCORE,
                Column("classes", "{method}"),
                Column("at least", "{lower:lower}", "lower_reason"),
                Column("best estimate", "{value:value}"),
                Column("at most", "{upper:upper}"),
            ),
            note="[Scores below 0 count as 0, and those above {design.loss_bound:number} as that.]",
        ),
    ),
    terms=(
        *LIMIT_WORDS,
        (
            "best attacker",
            "'Any attacker', at their best with the score: no attack on it alone is better.",
        ),
        ("member if", "{design.sides:names}, of {design.score_columns:names}"),
        (
            "judged on",
            "members and holdout records; an attack that learns uses other records for that.",
        ),
        *ADVANTAGE_WORDS,
        (
            "each pair of limits",
            "holds with {design.confidence:percent} confidence over all scores.",
        ),
    ),
    cases=(Cases("policy", "{score}", "{against} {limit:number}", "{reason}"),),
    beside=SCORES_GIVEN,
)
