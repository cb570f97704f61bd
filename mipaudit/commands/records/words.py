"""What a report on records says in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
)
from mipaudit.statements.verdict import SKIPPED, judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.records.report import GroupRisk, RecordsDesign
    from mipaudit.statements.estimate import Estimate
    from mipaudit.statements.verdict import Verdict

_AVERAGE: Final = (
    "The score is continuous: each risk is the average risk of the records in a cell, and single "
    "records of a cell can be exposed more, or less. No method can limit the risk of a single "
    "value of a continuous score from above."
)
_VALUES: Final = (
    "Each value of the score that is frequent enough is a cell; rarer values share one with their "
    "neighbours, and its risk is their average: a single rare value can be exposed more, or less."
)
_BURN_IN: Final = (
    "The records that chose the cells are in no count; they have the risk of their cell."
)
_POINTWISE: Final = (
    "Limits named pointwise hold for one cell at a time: among many cells some will miss."
)
_LIST: Final = (
    "The list bounds the expected share of cells listed wrongly, not that of records, "
    "and takes the counts of different cells to be independent or nearly so."
)
_GROUPS: Final = (
    "A difference is that of one attack, the same threshold for everybody; the best attacks on "
    "two groups may differ more, or less. Each quantity holds jointly over the groups; different "
    "quantities are not joint."
)
_POPULATION: Final = (
    "The risk concerns these training records: the members are taken to be a sample of them, "
    "drawn without replacement."
)
_APPROXIMATE: Final = (
    "The limits are approximate where class sizes are fixed; their coverage is in the "
    "documentation."
)
_ALIKE: Final = (
    "Members and holdout records are taken to be independent draws, and alike but for "
    "membership. If they differ in other ways, the risk includes that difference."
)
_ONE_QUERY: Final = (
    "The limits concern this score of this release. Another query, or an attacker who "
    "sees more than the score, may learn more."
)


def records_summary(
    design: RecordsDesign,
    largest: Estimate,
    *,
    listed: tuple[int, int],
    groups: Sequence[GroupRisk],
    verdict: Verdict,
    incomplete: bool = False,
) -> str:
    """Return what was measured, how sure, and what is exposed."""
    rows = f"{count_text(design.n_members)} members and {count_text(design.n_holdout)} holdout"
    name = f"'{safe_name(design.score_column)}'"
    kind = "value" if design.discrete else "cell of the score"
    measured = (
        f"From {rows} records in {count_text(design.cells)} cells of the score {name}: with "
        f"{percent_text(design.confidence)} confidence the most exposed {kind} has a risk of at "
        f"least {lower_text(largest.lower or 0.0)}, and no cell a risk above "
        f"{upper_text(1.0 if largest.upper is None else largest.upper)} (a score that says "
        f"nothing: {number_text(design.baseline)})."
    )
    parts = [
        SKIPPED if incomplete else "",
        measured,
        _listed(design, *listed),
        _grouped(groups),
        judged(verdict),
    ]
    return " ".join(part for part in parts if part)


def _listed(design: RecordsDesign, members: int, holdout: int) -> str:
    tau, rate = number_text(design.tau), percent_text(design.fdr)
    if not members + holdout:
        return f"No cell is shown to have a risk above {tau}."
    return (
        f"{count_text(members)} members and {count_text(holdout)} holdout records are in cells "
        f"listed with a risk above {tau} (false-discovery rate {rate})."
    )


def _grouped(groups: Sequence[GroupRisk]) -> str:
    differing = [group for group in groups if group.differs != "not shown"]
    if not groups:
        return ""
    if not differing:
        return f"Of {len(groups)} groups none is shown to differ from the rest."
    higher = sum(group.differs == "higher" for group in differing)
    lower = len(differing) - higher
    return (
        f"Of {len(groups)} groups, one attack does surely better in {higher} than in the rest, "
        f"and worse in {lower}."
    )


def records_limitations(design: RecordsDesign) -> tuple[str, ...]:
    """Return what the numbers do not show."""
    return (
        _VALUES if design.discrete else _AVERAGE,
        _BURN_IN,
        _POINTWISE,
        _LIST,
        *([_GROUPS] if design.group_columns else []),
        *([_POPULATION] if design.member_population is not None else []),
        _APPROXIMATE,
        _ONE_QUERY,
        _ALIKE,
    )


def risk_reason(
    status: str,
    limit: float,
    limits: tuple[float, float],
    settle: int | None,
    *,
    single: bool,
    uncounted: int,
) -> str:
    """Say in one sentence what decided the limit on the largest risk.

    Args:
        status: met, not_met or inconclusive.
        limit: of the policy.
        limits: lower and upper limit of the largest risk.
        settle: records in all that would settle it, or None.
        single: whether each cell holds a single value, so that its risk is the value's own.
        uncounted: records in cells without a counted record.
    """
    cells = "value" if single else "cell of records"
    lower, upper = limits
    match status:
        case "not_met":
            return (
                f"the largest risk is at least {lower_text(lower)}, above the limit of "
                f"{number_text(limit)}"
            )
        case "met":
            return (
                f"the risk of every {cells} is at most {upper_text(upper)}, within the limit of "
                f"{number_text(limit)}"
            )
        case _ if uncounted:
            return (
                f"the largest risk is at least {lower_text(lower)}, and "
                f"{count_text(uncounted)} records are in cells without a counted record, so "
                f"that nothing limits their risk from above; the limit is {number_text(limit)}"
            )
        case _:
            more = (
                "the best estimate is too close to the limit to promise that more records settle it"
                if settle is None
                else f"about {count_text(settle)} records in all would settle it"
            )
            return (
                f"the largest risk is at least {lower_text(lower)} and that of every {cells} at "
                f"most {upper_text(upper)}; the limit is {number_text(limit)}: {more}"
            )
