"""What a score of several numbers shows about membership, from its derived scores.

The same questions as of a single number are asked: the policy, the claims and the table
need no other answers. The lower limit is of one attacker at a time on any of the
derived scores; each upper limit is of the attackers on one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from mipaudit.evidence.scores.averaged_lower import Averaged, averaged_among
from mipaudit.evidence.scores.betting_lower import betting
from mipaudit.evidence.scores.evidence import Evidence, sets_advantage

if TYPE_CHECKING:
    from mipaudit.evidence.vectors.derived_scores import Derivation, Form
    from mipaudit.maths.class_limits.area_limits import Area
    from mipaudit.maths.class_limits.roc_counts import Ladder
    from mipaudit.maths.class_limits.threshold_limits import OperatingPoint
    from mipaudit.model.row import Attackers
    from mipaudit.statements.choices import Side
    from mipaudit.summaries.counts import ScoreCounts

# What an upper limit is asked of: a derived score, and a class of attackers on it.
_CLASSES: Final[dict[Attackers, tuple[Form | None, Attackers]]] = {
    "any": ("joint", "any"),
    "learned": (None, "thresholds"),
    "product-grid": ("product-grid", "any"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorCounts:
    """The counts of a vector's derived scores, the same rows each.

    Attributes:
        derivation: how they were made.
        counts: of each derived score; the fitting rows are in no block.
        width: number of coordinates.
        constant: positions of the coordinates that are the same in all rows.
        infinite: number of infinite values of all coordinates together.
    """

    derivation: Derivation
    counts: tuple[ScoreCounts, ...]
    width: int
    constant: tuple[int, ...]
    infinite: int

    def of(self, form: Form) -> ScoreCounts | None:
        """Return the counts of a derived score of this form, None where there is none."""
        at = self.derivation.index(form)
        return None if at is None else self.counts[at]

    @property
    def learned(self) -> tuple[ScoreCounts, ...]:
        """Return the counts of the learned scores."""
        pairs = zip(self.derivation.derived, self.counts, strict=True)
        return tuple(counts for one, counts in pairs if one.learned)

    @property
    def chosen(self) -> ScoreCounts:
        """Return the counts of the learned score that was chosen on the burn-in."""
        return self.counts[self.derivation.chosen]


@dataclass(frozen=True, kw_only=True, eq=False)
class SeveralScores(Evidence):
    """Scores of the same rows, with one attacker at a time on any of them.

    ``counts`` are those of the score whose classes of attackers have upper limits.

    Attributes:
        together: the counts of all, the same rows each.
        bet_on: the counts of one: bets need one table.
    """

    together: tuple[ScoreCounts, ...]
    bet_on: ScoreCounts

    @property
    def discrete(self) -> bool:
        """Return False: what the scores are made of says more than they do."""
        return False

    def _learn(self) -> Averaged:
        burn_in = self.counts.burn_in
        if self.strict:
            return betting(self.bet_on.blocks, burn_in, self.prior, self._rng(0))
        return averaged_among([one.blocks for one in self.together], burn_in, self.prior)

    @cached_property
    def plugin(self) -> float:
        """Return the largest W_N over the cells of a score: biased upward."""
        return max(sets_advantage(one.scored, self.prior) for one in self.together)


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorEvidence(SeveralScores):
    """The derived scores of a vector, and what they show.

    Attributes:
        vector: their counts.
    """

    vector: VectorCounts

    @property
    def vectorial(self) -> bool:
        """Return True."""
        return True

    @property
    def discrete(self) -> bool:
        """Tell whether all coordinates together have few values, so that 'any' has a limit."""
        return self.vector.of("joint") is not None

    @property
    def classes(self) -> tuple[Attackers, ...]:
        """Return the named classes: thresholds on the learned score, and sets of cells."""
        grid: tuple[Attackers, ...] = ("product-grid",)
        return ("learned", *(grid if self.vector.of("product-grid") is not None else ()))

    @cached_property
    def one_sided(self) -> Ladder:
        """Return the rows outside the burn-in by the learned score, members on the high side."""
        return self._learned.one_sided

    @cached_property
    def area(self) -> tuple[Area, Side]:
        """Return the AUC of the learned score on the rows outside the burn-in."""
        return self._learned.area

    def observed(self, attackers: Attackers) -> tuple[float, int, int]:
        """Return the best observed advantage of a class, and the rows behind it."""
        part, own = self.asked(attackers)
        if part is None:
            raise ValueError(f"a vector score has no attackers of class {attackers}")
        return part.observed(own)

    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha; None where there is none."""
        part, own = self.asked(attackers)
        return None if part is None else part.upper(own, alpha)

    def tpr_upper(self, fpr: float, alpha: float) -> float:
        """Return an upper limit of TPR at an FPR of thresholds on the learned score."""
        return self._learned.tpr_upper(fpr, alpha)

    def tpr_widened(self, fpr: float, alpha: float) -> bool:
        """Tell whether that limit is the one at a lower FPR."""
        return self._learned.tpr_widened(fpr, alpha)

    def tpr(self, fpr: float, alpha: float) -> OperatingPoint:
        """Return TPR at an FPR of thresholds on the learned score, one-sided alpha."""
        return self._learned.tpr(fpr, alpha)

    @cached_property
    def _learned(self) -> Evidence:
        return self._part(self.vector.chosen)

    def asked(self, attackers: Attackers) -> tuple[Evidence | None, Attackers]:
        """Return the evidence of the derived score that a class is about, None for none."""
        if attackers not in _CLASSES:
            return None, attackers
        form, own = _CLASSES[attackers]
        if form is None:
            return self._learned, own
        counts = self.vector.of(form)
        return (None if counts is None else self._part(counts)), own

    def _part(self, counts: ScoreCounts) -> Evidence:
        """Return the evidence of one derived score on the rows that it was not made from."""
        return Evidence(
            score=self.score,
            counts=replace(counts, everyone=counts.evaluated),
            prior=self.prior,
            strict=self.strict,
            member_side="high",
            seed=self.seed,
        )


def vector_evidence(
    score: str, vector: VectorCounts, *, prior: float, strict: bool, seed: int
) -> VectorEvidence:
    """Return the evidence of a vector score.

    Args:
        score: its name.
        vector: its counts.
        prior: p in (0, 1).
        strict: use finite-sample methods where there are any.
        seed: for the draws of the strict methods.
    """
    return VectorEvidence(
        score=score,
        counts=vector.chosen,
        prior=prior,
        strict=strict,
        member_side="high",
        seed=seed,
        together=vector.counts,
        bet_on=vector.counts[vector.derivation.strongest],
        vector=vector,
    )
