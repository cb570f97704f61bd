"""What a comparison of queries shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import (
    ADVANTAGE_WORDS,
    ATTACKERS,
    AXIS,
    CHANGE,
    CHANGE_CHECK,
    LIMIT_NUMBER,
    LIMIT_WORDS,
    LIMITS,
    SCORES_GIVEN,
    SHORT_CHANGE,
    SHORT_LIMITS,
    STATUS,
    UNKEPT,
    WHY,
    Cases,
    Column,
    Layout,
    Table,
)

_QUERY: Final = Column("query", "{score}")
_DIFFERENCE: Final = Column("difference", "{score:short} - {versus:short}")
_AT_LEAST, _BEST, _ = LIMITS
_RANKED: Final = (Column("query", "{query:short}"), AXIS, *SHORT_LIMITS)
_ADVANTAGE: Final = (
    "Advantage, from [{guessing:best} (blind guessing)][0 (none){guessing:unless}] to 1 (sure). "
    "'At least' holds for some attacker, as in mipaudit estimate, but can differ a little. "
)

LAYOUT: Final = Layout(
    about=(
        "{n_queries:count} queries, {sizes}, {design.confidence:percent} confidence[; advantage "
        "of blind guessing: {guessing:best}]."
    ),
    tables=(
        Table(
            "The queries, the largest best estimate first",
            "ranking",
            (Column("place", "{highest_place:count}[-{down_to:count}]"), *_RANKED),
            words=3,
            caption=_ADVANTAGE + "Best, 'at most' and place (1 leaks most) are "
            "{design.against:class}.",
            legend="Place 1 leaks most. Place, best and at most are for "
            "{design.against:attackers}.",
            short=None,
            picture="intervals",
            axis=("design.trivial", ""),
            when="every_pair",
        ),
        Table(
            "The queries, the largest best estimate first",
            "ranking",
            _RANKED,
            words=2,
            caption=_ADVANTAGE + "Best and 'at most' are {design.against:class}. The order of the "
            "lines is that of the best estimates, and not certain.",
            legend="Advantage, 0 to 1. Best, at most: for {design.against:attackers}.",
            short=None,
            picture="intervals",
            axis=("design.trivial", ""),
            when="design.baseline",
        ),
        Table(
            "How much more the first leaks",
            "own_differences",
            (_DIFFERENCE, *SHORT_CHANGE),
            caption="How much more the first leaks than the second, {design.against:class}.",
            legend="How much more the first leaks (below 0: less), for {design.against:attackers}.",
            short=None,
            whole=False,
            picture="intervals",
            of="difference of advantage",
            axis=("", "shown_limit"),
        ),
        Table(
            "How much more than the baseline each query may leak, and what was found",
            "policy",
            (_QUERY, LIMIT_NUMBER, STATUS, *CHANGE_CHECK, WHY),
            words=3,
            prose=True,
            marked=UNKEPT,
        ),
        Table(
            "What is certain about the order",
            "ranking",
            (Column("query", "{query}"), Column("leaks more than", "{leaks_more_than:names}")),
            unless=(("leaks_more_than", ((),)),),
            prose=True,
        ),
        Table(
            "Advantage of each query, each row over all queries",
            "advantages",
            (_QUERY, ATTACKERS, *LIMITS),
        ),
        Table(
            "Difference of advantage, the best attacker of the class on either query",
            "differences",
            (_DIFFERENCE, ATTACKERS, *CHANGE),
            note=(
                "{design.confidence:percent} confidence for each class, over all pairs "
                "({design.pairs:count})."
            ),
        ),
        Table(
            "The largest advantage among queries of the same rows, any attacker",
            "best_of",
            (
                Column("how", "{selection:text}"),
                Column("limits are", "{validity}"),
                _AT_LEAST,
                _BEST,
            ),
        ),
        Table(
            "Two scores seen together, any attacker",
            "together",
            (Column("scores", "{score}"), _AT_LEAST, _BEST),
        ),
        Table(
            "How much more two scores reveal together than either of them alone",
            "gains",
            (
                Column("scores", "{score}"),
                Column("attackers on one", "{attackers:attackers}"),
                _AT_LEAST,
                _BEST,
            ),
        ),
    ),
    terms=(
        ("place", "a range where the order is not certain at the confidence; 1 leaks most."),
        *LIMIT_WORDS,
        *ADVANTAGE_WORDS,
    ),
    cases=(Cases("policy", "{score}", "increase over {versus} {limit:number}", "{reason}"),),
    beside=SCORES_GIVEN,
)
