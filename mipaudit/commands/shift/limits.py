"""What the records alone show about membership, and the limits of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.learner import PRIOR, Learner
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.evidence.vectors import SeveralScores
from mipaudit.model.message import Message
from mipaudit.model.row import Row
from mipaudit.statements.verdict import RECORDS

if TYPE_CHECKING:
    from mipaudit.commands.shift.options import ShiftOptions
    from mipaudit.commands.shift.survey import ColumnTest
    from mipaudit.summaries.counts import ScoreCounts


# The one-sided errors at which a difference is looked for, the largest first.
_ERRORS: Final = tuple(
    sorted(
        {0.125 / 2**step for step in range(21)} | {0.025 / 2**step for step in range(16)},
        reverse=True,
    )
)
_NO_UPPER: Final = Message("upper_of_record_classes")
_ALL_EXPLAINED: Final = Message("few_for_combinations")


def blind_evidence(
    counts: Sequence[ScoreCounts],
    learner: Learner,
    whole: ScoreCounts | None = None,
    *,
    strict: bool,
    seed: int,
) -> SeveralScores:
    """Return the evidence of the records.

    Args:
        counts: of all rows by each learned score, in the learner's order.
        learner: what made them.
        whole: of all rows by their combination of values, on the same blocks, if these are few:
            attackers may look at that too.
        strict: use finite-sample methods where there are any.
        seed: for the draws of the strict methods.
    """
    found = [
        replace(one.without_blocks(learner.fit_blocks), everyone=one.evaluated)
        for one in (*counts, *(() if whole is None else (whole,)))
    ]
    return SeveralScores(
        score=RECORDS,
        counts=found[learner.chosen],
        prior=PRIOR,
        strict=strict,
        member_side="high",
        seed=seed,
        together=tuple(found),
        bet_on=found[learner.chosen],
    )


def whole_evidence(counts: ScoreCounts, *, strict: bool, seed: int) -> Evidence:
    """Return the evidence of whole records: their upper limit holds for all attackers."""
    return Evidence(
        score=RECORDS, counts=counts, prior=PRIOR, strict=strict, seed=seed, ordered=False
    )


def blind_estimates(
    evidence: SeveralScores | None, whole: Evidence | None, asked: ShiftOptions
) -> list[Row]:
    """Return the rows of the table: any attacker first, then the classes on what was learned.

    Args:
        evidence: of the learned scores; None where nothing was learned.
        whole: of whole records, which limit every attacker; None where they have too many
            combinations of values.
        asked: of the comparison.
    """
    if evidence is None:
        return [_nothing_learned(asked)]
    upper, why = None, _NO_UPPER
    if whole is not None:
        error = (1 - asked.confidence) / 2
        limit = whole.upper("any", error)
        upper = None if limit is None else max(limit, evidence.lower(error))
        why = _ALL_EXPLAINED
    limited = upper is not None and upper < 1
    share = ErrorShare(confidence=asked.confidence, columns=1)
    first, *classes = advantage_estimates(evidence, share)
    return [
        replace(first, upper=upper if limited else None, upper_reason=None if limited else why),
        *(replace(one, selection=f"learned on the burn-in; {_counted(one)}") for one in classes),
    ]


def shown_at(evidence: SeveralScores | None, tests: Sequence[ColumnTest]) -> float | None:
    """Return the smallest one-sided error at which a difference is shown; None at none.

    Args:
        evidence: of the learned scores; None where nothing was learned.
        tests: of all columns, whose adjusted p-values are two-sided errors.
    """
    found = [one.adjusted / 2 for one in tests]
    if evidence is not None:
        found += [error for error in _ERRORS if evidence.lower(error) > 0]
    least = min(found, default=1.0)
    return least if least <= _ERRORS[0] else None


def _counted(row: Row) -> str:
    if row.attackers == "bins-16":
        return "16 cells of equal mass cut on the burn-in, the other rows counted"
    return "the rows outside the burn-in counted"


def _nothing_learned(asked: ShiftOptions) -> Row:
    """Return the row of tables of which the burn-in shows no differing column."""
    return Row(
        quantity="advantage",
        score=RECORDS,
        method="prequential",
        attackers="any",
        value=0.0,
        lower=0.0,
        upper=None,
        upper_reason=Message("nothing_learned"),
        confidence=asked.confidence,
        selection="nothing was learned on the burn-in",
        validity="finite-sample",
        n_members=0,
        n_holdout=0,
    )
