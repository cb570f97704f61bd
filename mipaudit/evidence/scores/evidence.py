"""What one score shows about membership: every limit, at any error, from its counts.

Nothing here is a limit yet. A table and a policy share the error differently, so the
suprema and held-out means are computed once and each limit when it is asked for.

For all attackers of a discrete score the upper limit is the better of two. Both use only rows
outside the burn-in, because the burn-in's values are the cells and its number of values decides
how the error is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.averaged_lower import (
    Averaged,
    averaged,
    averaged_blocks,
    averaged_each,
)
from mipaudit.evidence.scores.betting_lower import betting
from mipaudit.evidence.scores.prequential_sets import equal_mass_starts
from mipaudit.maths.binomial import clopper_pearson_upper
from mipaudit.maths.class_limits.area_limits import Area, Auc, area_of, better_side
from mipaudit.maths.class_limits.best_attackers import best_ordered, best_sets
from mipaudit.maths.class_limits.class_upper import (
    noncentrality_upper,
    noncentrality_weights,
    oracle_upper,
    oracle_upper_strict,
)
from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.maths.class_limits.threshold_limits import OperatingPoint, tpr_at_fpr, tpr_upper
from mipaudit.maths.draws import LateGenerator, in_proportion, proportional_sizes, thin
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.statements.choices import Side
    from mipaudit.statements.estimate import Attackers
    from mipaudit.summaries.kept_counts import ScoreCounts

_FEW_CELLS: Final = 8
_MIDDLE_PRIORS: Final = (0.25, 0.75)
_WEIGHT_BLOCKS: Final = MICRO_BLOCKS // 4
# Shares of the noncentrality limit's error for the mass of values that the burn-in lacks.
_UNSEEN_SHARE: Final = 0.05
BINS: Final = 16
# Audits whose assigned rows are in memory at once.
_LEARN_AT_ONCE: Final = 32
FALSE_POSITIVE_RATES: Final = (0.001, 0.01, 0.1)  # of the tables
CLASSES: Final[tuple[Attackers, ...]] = ("thresholds", "intervals-1", "intervals-4", "bins-16")
_ORDERED: Final[tuple[Attackers, ...]] = ("thresholds", "intervals-1", "intervals-4")
_INTERVALS: Final = (1, 4)


def discrete_upper(counts: ScoreCounts, prior: float, alpha: float) -> float:
    """Return an upper limit of the advantage over all attackers, one-sided alpha.

    With few values, or a prior far from 1/2, the oracle limit on W_N alone; otherwise
    the smaller of that and the noncentrality limit, at half the error each.

    Args:
        counts: of a discrete score.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).
    """
    both = int(counts.single.sum()) > _FEW_CELLS and _MIDDLE_PRIORS[0] <= prior <= _MIDDLE_PRIORS[1]
    share = alpha / 2 if both else alpha
    ladder = counts.evaluated
    by_oracle = oracle_upper(
        best_sets(ladder, prior), ladder.n_members, ladder.n_holdout, prior=prior, alpha=share
    )
    return min(by_oracle, _by_noncentrality(counts, prior, share)) if both else by_oracle


def _by_noncentrality(counts: ScoreCounts, prior: float, alpha: float) -> float:
    """Return the limit from the weighted chi-square distance, values unseen set apart.

    Total variation over the burn-in's values misses what happens among the values that
    it lacks: at most twice the smaller weighted mass of those.
    """
    first = max(counts.burn_in, _WEIGHT_BLOCKS)
    pooled = counts.blocks[:first].sum(axis=(0, 2))
    late = counts.blocks[first:].sum(axis=0)
    holdout, members = late[:, 0], late[:, 1]
    n_members, n_holdout = int(members.sum()), int(holdout.sum())
    if min(n_members, n_holdout) < 2:  # noqa: PLR2004 - a variance needs two
        return 1.0
    known = counts.single
    unseen_members, unseen_holdout = int(members[~known].sum()), int(holdout[~known].sum())
    limit = noncentrality_upper(
        np.append(members[known], unseen_members),
        np.append(holdout[known], unseen_holdout),
        noncentrality_weights(np.append(pooled[known], pooled[~known].sum())),
        alpha=alpha * (1 - 2 * _UNSEEN_SHARE),
    )
    error = alpha * _UNSEEN_SHARE
    unseen = min(
        prior * float(clopper_pearson_upper(unseen_members, n_members, error)),
        (1 - prior) * float(clopper_pearson_upper(unseen_holdout, n_holdout, error)),
    )
    baseline = abs(1 - 2 * prior)
    total = 2 * min(prior, 1 - prior) * limit.total_variation_upper
    return min(1.0, baseline + total + 2 * unseen)


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """The counts of one score, and what they show.

    Attributes:
        score: name of the score column.
        counts: its counts.
        prior: p in (0, 1).
        strict: use finite-sample methods where there are any.
        member_side: the side of the score on which members are guessed; None to
            choose it: for the TPR on the burn-in, whose rows then do not count, for the
            AUC on all rows.
        seed: for the draws of the strict methods.
        ordered: whether a larger score means anything; labels have no order.
    """

    score: str
    counts: ScoreCounts
    prior: float
    strict: bool = False
    member_side: Side | None = None
    seed: int = 0
    ordered: bool = True
    _observed: dict[Attackers, tuple[float, int, int]] = field(default_factory=dict)
    _starts: dict[int, NDArray[np.intp]] = field(default_factory=dict)

    @property
    def vectorial(self) -> bool:
        """Tell whether the score has several numbers: `vector_evidence.VectorEvidence`."""
        return False

    @property
    def discrete(self) -> bool:
        """Tell whether an upper limit for all attackers exists."""
        return self.counts.discrete

    @property
    def divisible(self) -> bool:
        """Tell whether the burn-in could cut 16 bins; a discrete score has its values."""
        return self.discrete or self.counts.single.size >= BINS

    @property
    def classes(self) -> tuple[Attackers, ...]:
        """Return the named classes that make sense for the score, as the report lists them."""
        return CLASSES if self.ordered else ()

    @cached_property
    def held_out(self) -> Averaged:
        """Return the held-out guesses of attackers that learn on the past."""
        blocks, burn_in = self.counts.blocks, self.counts.burn_in
        if self.strict:
            return betting(blocks, burn_in, self.prior, self._rng(0))
        if self.counts.ranked is not None:
            return averaged(self.counts.ranked, self.prior)
        return averaged_blocks(blocks, burn_in, self.prior)

    @property
    def judged(self) -> tuple[int, int]:
        """Return the rows that the held-out guesses are of: holdout, members."""
        return self.held_out.n_holdout, self.held_out.n_members

    @cached_property
    def plugin(self) -> float:
        """Return W_N over the burn-in's cells on the rows outside it: biased upward."""
        return _sets_advantage(self.counts.scored, self.prior)

    @cached_property
    def side(self) -> Side:
        """Return the side of the score on which members are guessed."""
        if self.member_side is not None:
            return self.member_side
        trained = self.counts.trained
        members, holdout = trained[:, 1], trained[:, 0]
        below = np.cumsum(holdout) - holdout / 2
        wins = float((members * below).sum())
        return "high" if 2 * wins >= float(members.sum()) * float(holdout.sum()) else "low"

    @cached_property
    def one_sided(self) -> Ladder:
        """Return the rows that the TPR at an FPR may use, members on the high side."""
        fixed = self.member_side is not None
        ladder = self.counts.everyone if fixed else self.counts.evaluated
        return ladder if self.side == "high" else ladder.reversed()

    def at_prior(self, prior: float) -> Evidence:
        """Return the same counts as evidence at another prior."""
        return replace(self, prior=prior, _observed={})

    def asked(self, attackers: Attackers) -> tuple[Evidence | None, Attackers]:
        """Return whose evidence a class of attackers is about, and what it is called there.

        A vector score has its classes on scores derived from it; None where it has no such
        class.
        """
        return self, attackers

    def lower(self, alpha: float) -> float:
        """Return the lower limit of the advantage for any attacker, one-sided alpha."""
        return self.held_out.lower(alpha)

    def observed(self, attackers: Attackers) -> tuple[float, int, int]:
        """Return the best observed advantage of a class, and the rows behind it."""
        if attackers not in self._observed:
            self._observe(attackers)
        return self._observed[attackers]

    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha; None where there is none."""
        if attackers == "any":
            if not self.discrete:
                return None
            if not self.strict:
                return discrete_upper(self.counts, self.prior, alpha)
        if attackers == "bins-16" and not self.divisible:
            return None
        value, n_members, n_holdout = self.observed(attackers)
        if not self.strict:
            return oracle_upper(value, n_members, n_holdout, prior=self.prior, alpha=alpha)
        if in_proportion(n_members, n_holdout, self.prior):
            return oracle_upper_strict(value, n_members, n_holdout, prior=self.prior, alpha=alpha)
        return _bounded_differences(value, n_members, n_holdout, self.prior, alpha)

    @cached_property
    def area(self) -> tuple[Area, Side]:
        """Return the AUC of all rows on the given side, else on the better one."""
        high = area_of(self.counts.everyone)
        better: Side = "high" if high.value >= 0.5 else "low"  # noqa: PLR2004
        side = self.member_side or better
        return (high if side == "high" else high.turned()), side

    def auc(self, alpha: float) -> Auc:
        """Return the AUC with two limits, one-sided alpha each.

        Of a side that was searched the limits are those of the better side: the lower one is
        that of the side found, or 1/2, and the upper one does not take the side as known.
        """
        area, _ = self.area
        return area.limits(alpha) if self.member_side is not None else better_side(area, alpha)

    def tpr(self, fpr: float, alpha: float) -> OperatingPoint:
        """Return TPR at an FPR with its lower limit, one-sided alpha."""
        return tpr_at_fpr(self.one_sided, fpr, alpha=alpha, rng=LateGenerator([self.seed, 2]))

    def tpr_upper(self, fpr: float, alpha: float) -> float:
        """Return an upper limit of TPR at an FPR over both sides, one-sided alpha.

        TPR does not fall as FPR rises, and neither does its limit: what would is as wide as
        at the lower rates of the tables. To narrow those instead would be to choose the least
        of limits that hold one by one.
        """
        return max(self._tpr_uppers(fpr, alpha))

    def tpr_widened(self, fpr: float, alpha: float) -> bool:
        """Tell whether the upper limit of TPR at an FPR is that at a lower one."""
        alone, *before = self._tpr_uppers(fpr, alpha)
        return any(one > alone for one in before)

    @cached_property
    def _tpr_limits(self) -> dict[tuple[float, float], float]:
        return {}

    def _tpr_uppers(self, fpr: float, alpha: float) -> list[float]:
        """Return the limit at an FPR alone, and those below 1 at lower rates of the tables."""
        rates = (fpr, *(one for one in FALSE_POSITIVE_RATES if one < fpr))
        alone, *before = (self._tpr_upper(one, alpha) for one in rates)
        return [alone, *(one for one in before if one < 1)]

    def _tpr_upper(self, fpr: float, alpha: float) -> float:
        """Return the limit at this FPR by itself: all rows count.

        The better side is one fixed side, so the larger limit needs no sharing of the error.
        """
        known = self._tpr_limits
        if (fpr, alpha) not in known:
            ladder = self.counts.everyone
            sides = [ladder, ladder.reversed()] if self.member_side is None else [self.one_sided]
            known[fpr, alpha] = max(
                tpr_upper(side, fpr, alpha=alpha, rng=LateGenerator([self.seed, 3]))
                for side in sides
            )
        return known[fpr, alpha]

    def bin_ends(self, bins: int) -> NDArray[np.intp]:
        """Return the last cell of each of at most ``bins`` equal-mass bins but the last."""
        return self._bin_starts(bins)[1:] - 1

    def _observe(self, attackers: Attackers) -> None:
        if attackers == "bins-16":
            merged = np.add.reduceat(self.counts.scored, self._bin_starts(BINS), axis=0)
            table = self._proportional(merged)
            n_holdout, n_members = (int(n) for n in table.sum(axis=0))
            found = (_sets_advantage(table, self.prior), n_members, n_holdout)
            self._observed[attackers] = found
            return
        ladder = self.counts.evaluated if attackers == "any" else self.counts.everyone
        if self.strict:
            table = np.stack([ladder.holdout, ladder.members], axis=1)
            table = self._proportional(table)
            ladder = Ladder(members=table[:, 1], holdout=table[:, 0], single=ladder.single)
        sizes = ladder.n_members, ladder.n_holdout
        if attackers == "any":
            self._observed[attackers] = (best_sets(ladder, self.prior), *sizes)
            return
        suprema = best_ordered(ladder, self.prior, _INTERVALS)
        self._observed.update(
            {name: (value, *sizes) for name, value in zip(_ORDERED, suprema, strict=True)}
        )

    def _bin_starts(self, bins: int) -> NDArray[np.intp]:
        """Return the first cell of each of at most ``bins`` runs of equal burn-in mass."""
        if bins not in self._starts:
            mass = self.counts.trained.sum(axis=1)
            self._starts[bins] = equal_mass_starts(mass / max(1, int(mass.sum())), bins)
        return self._starts[bins]

    def _proportional(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Drop rows of a (K, 2) table at random until the classes stand as the prior does.

        The strict upper limits are proved for that proportion only. Where it costs
        too many rows, the table stays, and a wider limit is used.
        """
        if not self.strict:
            return table
        n_holdout, n_members = (int(n) for n in table.sum(axis=0))
        sizes = proportional_sizes(n_members, n_holdout, self.prior)
        if sizes is None:
            return table
        rng = self._rng(1)
        return np.stack(
            [thin(table[:, 0], sizes[1], rng), thin(table[:, 1], sizes[0], rng)], axis=1
        )

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, stream])


def learn_together(audits: Sequence[Evidence]) -> None:
    """Let the attackers of many audits at one prior learn at once.

    What each learns is what it would alone, for less than one after the other.
    """
    few = [one for one in audits if not one.strict and one.counts.ranked is not None]
    for start in range(0, len(few), _LEARN_AT_ONCE):
        some = few[start : start + _LEARN_AT_ONCE]
        rows = [one.counts.ranked for one in some]
        found = averaged_each([one for one in rows if one is not None], some[0].prior)
        for one, rates in zip(some, found, strict=True):
            one.__dict__["held_out"] = rates  # what the property keeps


def _sets_advantage(table: NDArray[np.int64], prior: float) -> float:
    """Return sum_j |p P_j - (1-p) Q_j| of a table of shape (K, 2)."""
    share = table / np.maximum(table.sum(axis=0), 1)
    return float(np.abs(prior * share[:, 1] - (1 - prior) * share[:, 0]).sum())


def _bounded_differences(
    value: float, n_members: int, n_holdout: int, prior: float, alpha: float
) -> float:
    """Return the upper limit by McDiarmid's inequality, for a fixed set of any sizes."""
    if min(n_members, n_holdout) <= 0:
        return 1.0
    spread = prior**2 / n_members + (1 - prior) ** 2 / n_holdout
    return min(1.0, value + 2 * float(np.sqrt(np.log(1 / alpha) / 2 * spread)))
