"""Whole records as one discrete score: what bounds every attacker who sees a record.

Where the columns hold few combinations, each combination that the burn-in shows is a
cell, and all others together are one more. The upper limit of a discrete score for all
attackers is then one of the blind advantage, whatever the law of the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.commands.shift.differences.learner import PRIOR
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.statements.verdict import RECORDS
from mipaudit.summaries.cells.vector_cells import MOST_PATTERNS, JointAlphabet, joint_alphabet
from mipaudit.summaries.plan import ColumnPlan, Plan, kept_exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.summaries.tally import ColumnCounts

    Columns = Sequence[NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WholeRecords:
    """How records are counted by their combination of values.

    Attributes:
        alphabet: the combinations of the burn-in.
        plan: of their counts.
    """

    alphabet: JointAlphabet
    plan: Plan

    def score(self, columns: Columns) -> NDArray[np.float64]:
        """Return the number of each row's combination, shape (n,)."""
        return self.alphabet.score(_one_missing(columns))


def whole_records(
    columns: Columns, member: NDArray[np.bool_], *, rows: int, burn_in: int, seed: int
) -> WholeRecords | None:
    """Return how to count whole records; None where they have too many combinations.

    Args:
        columns: of the burn-in, each of shape (n,), NaN where missing.
        member: shape (n,).
        rows: of both tables.
        burn_in: micro-blocks that only train.
        seed: of the row assignment.
    """
    found = joint_alphabet(_one_missing(columns), member, most=MOST_PATTERNS, asked=False)
    if found is None:
        return None
    column = ColumnPlan(cells=found.cells, discrete=True)
    exact = kept_exactly(rows, 1)
    return WholeRecords(
        alphabet=found, plan=Plan(columns=(column,), burn_in=burn_in, seed=seed, exact=exact)
    )


def whole_evidence(counts: ColumnCounts, *, strict: bool, seed: int) -> Evidence:
    """Return the evidence of whole records, for the upper limit of all attackers."""
    return Evidence(
        score=RECORDS, counts=counts, prior=PRIOR, strict=strict, seed=seed, ordered=False
    )


def _one_missing(columns: Columns) -> list[NDArray[np.float64]]:
    """Return the columns with one bit pattern for all that is missing."""
    return [np.where(np.isnan(column), np.nan, column) for column in columns]
