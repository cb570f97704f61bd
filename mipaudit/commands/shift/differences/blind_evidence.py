"""What the records alone show about membership: the counts of their learned scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from mipaudit.commands.shift.differences.learner import PRIOR
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.exact_blocks import ExactBlocks, exact_blocks
from mipaudit.evidence.scores.prequential import HeldOut, held_out_together
from mipaudit.statements.verdict import RECORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.shift.differences.learner import Learner
    from mipaudit.summaries.tally import ColumnCounts


@dataclass(frozen=True, kw_only=True, eq=False)
class BlindEvidence(Evidence):
    """The counts of the learned scores of records, on the rows that none was made from.

    ``counts`` are those of the chosen score, whose classes of attackers have upper limits.

    Attributes:
        together: the counts of all learned scores, the same rows each.
    """

    together: tuple[ColumnCounts, ...]

    @property
    def discrete(self) -> bool:
        """Return False: a record has more columns than a learned score looks at."""
        return False

    @cached_property
    def held_out(self) -> HeldOut | ExactBlocks:
        """Return the held-out guesses of one attacker at a time on any learned score."""
        if self.strict:
            return exact_blocks(self.counts.blocks, self.counts.burn_in, self.prior, self._rng(0))
        return held_out_together(
            [one.blocks for one in self.together], self.counts.burn_in, self.prior
        )

    @cached_property
    def plugin(self) -> float:
        """Return the largest W_N over the cells of a learned score: biased upward."""
        parts = (replace(self, counts=one, together=()) for one in self.together)
        return max(super(BlindEvidence, one).plugin for one in parts)


def blind_evidence(
    counts: Sequence[ColumnCounts],
    learner: Learner,
    whole: ColumnCounts | None = None,
    *,
    strict: bool,
    seed: int,
) -> BlindEvidence:
    """Return the evidence of the records.

    Args:
        counts: of all rows by each learned score, in the learner's order.
        learner: what made them.
        whole: of all rows by their combination of values, on the same blocks, if these are few:
            attackers may look at that too.
        strict: use finite-sample methods where there are any.
        seed: for the draws of the strict methods.
    """
    found = []
    for one in (*counts, *(() if whole is None else (whole,))):
        blocks = one.blocks.copy()
        blocks[: learner.fit_blocks] = 0
        found.append(replace(one, blocks=blocks, everyone=one.evaluated))
    return BlindEvidence(
        score=RECORDS,
        counts=found[learner.chosen],
        prior=PRIOR,
        strict=strict,
        member_side="high",
        seed=seed,
        together=tuple(found),
    )
