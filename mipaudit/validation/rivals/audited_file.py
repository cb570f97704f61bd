"""One drawn file, and all that is computed from it once for several methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.bounds.refutation import Counts, Refutation, refutation
from mipaudit.evidence.scores.evidence import BINS, Evidence
from mipaudit.evidence.scores.rows import ErrorShare, score_estimates
from mipaudit.summaries.grids.mace_bins import equal_width_counts
from mipaudit.summaries.identity.content import canonical_scores
from mipaudit.summaries.identity.seed import DEFAULT_SEED, SeedChoice
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally
from mipaudit.validation.rivals.threshold import BestThreshold, best_threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.statements.estimate import Attackers, Estimate, Quantity
    from mipaudit.summaries.rows import Rows

CONFIDENCE: Final = 0.95
EQUAL_WIDTH_BINS: Final = 100
# An attack that was fixed before any file was drawn: "member" where the score is above.
ATTACK_CUT: Final = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedFile:
    """A file of scores in memory, as ``estimate`` would read it.

    Attributes:
        member: bool, shape (n,).
        score: float64, shape (n,).
        prior: p in (0, 1).
        seed: of the file; a strict audit takes it as its fresh seed, any other lets the scores
            decide.
        strict: whether the finite-sample methods are asked for.
        discrete: whether the score is said to have few values, all known.
        number: of the file in its cell.
    """

    member: NDArray[np.bool_]
    score: NDArray[np.float64]
    prior: float
    seed: int
    strict: bool = False
    discrete: bool = False
    number: int = 0

    def stated(self, quantity: Quantity, attackers: Attackers) -> list[Estimate]:
        """Return what ``estimate`` prints of a quantity against a class of attackers."""
        return [
            estimate
            for estimate in self.estimates
            if (estimate.quantity, estimate.attackers) == (quantity, attackers)
        ]

    @cached_property
    def estimates(self) -> list[Estimate]:
        """Every row that ``estimate`` prints of the file, at 95% confidence."""
        return score_estimates(self._audit[0], ErrorShare(confidence=CONFIDENCE, columns=1))

    @property
    def evidence(self) -> Evidence:
        """What the file shows of its score."""
        return self._audit[0]

    @property
    def cell_edges(self) -> NDArray[np.float64]:
        """The cut points of the score's cells."""
        return self._audit[1]

    @cached_property
    def bin_edges(self) -> tuple[float, ...]:
        """The cut points of the bins that the class ``bins-16`` is limited to."""
        evidence, edges = self._audit
        return tuple(edges[evidence.bin_ends(BINS)].tolist())

    @cached_property
    def refuted(self) -> Refutation:
        """What ``bounds`` says of the counts of the attack at `ATTACK_CUT`."""
        called = self.score > ATTACK_CUT
        tp, fp = int((called & self.member).sum()), int((called & ~self.member).sum())
        counts = Counts(tp=tp, fn=self.n_members - tp, fp=fp, tn=self.n_holdout - fp)
        return refutation(
            tpr=tp / self.n_members,
            fpr=fp / self.n_holdout,
            delta=0.0,
            counts=counts,
            confidence=CONFIDENCE,
        )

    @cached_property
    def best_threshold(self) -> BestThreshold:
        """The threshold that does best on the file itself."""
        return best_threshold(self.member, self.score, self.prior)

    @cached_property
    def equal_width(self) -> NDArray[np.int64]:
        """Counts in 100 bins of equal width, shape (100, 2), (holdout, member)."""
        finite = self.score[np.isfinite(self.score)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        return equal_width_counts(self.score, self.member, low, high, EQUAL_WIDTH_BINS)

    @cached_property
    def n_members(self) -> int:
        """Members in the file."""
        return int(self.member.sum())

    @property
    def n_holdout(self) -> int:
        """Holdout records in the file."""
        return self.member.size - self.n_members

    @property
    def choice(self) -> SeedChoice:
        """The seed that is asked for."""
        return SeedChoice(origin="fresh", number=self.seed) if self.strict else DEFAULT_SEED

    @cached_property
    def in_order(self) -> tuple[Rows, int]:
        """The rows in their canonical order, and the seed in use for them."""
        rows, content = canonical_scores(self.score, self.member)
        return rows, self.choice.in_use(content)

    @cached_property
    def _audit(self) -> tuple[Evidence, NDArray[np.float64]]:
        rows, seed = self.in_order
        sample = BurnInSample(1, seed)
        sample.add(rows)
        sample.settle()
        plan = make_plan(sample, ["float"], prior=self.prior, discrete=self.discrete, seed=seed)
        tally = Tally(plan)
        tally.add(rows)
        (counts,) = tally.counts()
        evidence = Evidence(
            score="score", counts=counts, prior=self.prior, strict=self.strict, seed=seed
        )
        return evidence, plan.columns[0].cells.edges
