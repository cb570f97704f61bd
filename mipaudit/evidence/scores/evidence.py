"""What one score shows about membership: every limit, at any error, from its counts.

Nothing here is a limit yet. A table and a policy share the error differently, so the
suprema and held-out means are computed once and each limit when it is asked for.

The upper limit of a class is the largest of each set's own, on all rows: no row is chosen, and
no seed has a part in it. For all attackers of a discrete score with many values the limit may
be that of a distance between the classes, whose weights the first rows fix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from mipaudit.evidence.scores.averaged_lower import (
    Averaged,
    averaged,
    averaged_blocks,
    averaged_each,
)
from mipaudit.evidence.scores.betting_lower import betting
from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Ints, Places
from mipaudit.maths.binomial import clopper_pearson_upper
from mipaudit.maths.class_limits.area_limits import Area, Auc, area_of, better_side
from mipaudit.maths.class_limits.class_sets import (
    ClassSets,
    interval_sets,
    threshold_sets,
    value_sets,
)
from mipaudit.maths.class_limits.class_upper import noncentrality_upper, noncentrality_weights
from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.maths.class_limits.set_upper import class_upper, class_upper_strict
from mipaudit.maths.class_limits.threshold_limits import OperatingPoint, tpr_at_fpr, tpr_upper
from mipaudit.summaries.rows import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers
    from mipaudit.statements.choices import Side
    from mipaudit.summaries.counts import ScoreCounts


FoundT = TypeVar("FoundT")


def bins_of(counts: ScoreCounts) -> Places:
    """Return the first cell of each of at most 16 bins of about equal burn-in mass."""
    trained = counts.trained.sum(axis=1)
    mass = trained / max(1, int(trained.sum()))
    run = np.minimum((np.cumsum(mass) - mass / 2) * BINS, BINS - 1).astype(np.intp)
    return np.flatnonzero(np.diff(run, prepend=-1))


_FEW_CELLS: Final = 8
_MIDDLE_PRIORS: Final = (0.25, 0.75)
_WEIGHT_BLOCKS: Final = MICRO_BLOCKS // 4
# Shares of the noncentrality limit's error for the mass of values that the burn-in lacks.
_UNSEEN_SHARE: Final = 0.05
BINS: Final = 16
_ONE_CUT: Final = 2
# Beyond so many times as many values as bins it is no chance that there were not fewer.
_HARDLY_MORE: Final = 4
# Audits whose assigned rows are in memory at once.
_LEARN_AT_ONCE: Final = 32
FALSE_POSITIVE_RATES: Final = (0.001, 0.01, 0.1)  # of the tables
CLASSES: Final[tuple[Attackers, ...]] = ("thresholds", "intervals-1", "intervals-4", "bins-16")
_INTERVALS: Final[dict[Attackers, int]] = {"intervals-1": 1, "intervals-4": 4}
_ORDERED: Final[tuple[Attackers, ...]] = ("thresholds", *_INTERVALS)
_GUESSES: Final = "guesses"
_UNIONS: Final = "unions of intervals"


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
    guessing = baseline(prior)
    total = 2 * min(prior, 1 - prior) * limit.total_variation_upper
    return min(1.0, guessing + total + 2 * unseen)


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """The counts of one score, and what they show.

    Attributes:
        score: name of the score column.
        counts: its counts.
        prior: p in (0, 1).
        strict: use finite-sample methods where there are any.
        member_side: the side of the score on which members are guessed; None to
            choose it on all rows.
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
    # Found once, by what was asked; what `replace` makes finds its own.
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False)

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

    @property
    def held_out(self) -> Averaged:
        """Return the held-out guesses of attackers that learn on the past, who learn but once."""
        return self._once(_GUESSES, self._learn)

    def _once(self, asked: Hashable, find: Callable[[], FoundT]) -> FoundT:
        """Return what was found of something, or find it."""
        if asked not in self._known:
            self._known[asked] = find()
        found: FoundT = self._known[asked]
        return found

    def _learn(self) -> Averaged:
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
        return sets_advantage(self.counts.scored, self.prior)

    @cached_property
    def trained_side(self) -> Side:
        """Return the side on which members are guessed, chosen on the burn-in if none is given."""
        if self.member_side is not None:
            return self.member_side
        trained = self.counts.trained
        members, holdout = trained[:, 1], trained[:, 0]
        below = np.cumsum(holdout) - holdout / 2
        wins = float((members * below).sum())
        return "high" if 2 * wins >= float(members.sum()) * float(holdout.sum()) else "low"

    @cached_property
    def one_sided(self) -> Ladder:
        """Return all rows, members on the high side."""
        ladder = self.counts.everyone
        return ladder if self.area[1] == "high" else ladder.reversed()

    def at_prior(self, prior: float) -> Evidence:
        """Return the same counts as evidence at another prior."""
        return replace(self, prior=prior)

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
        sets = self._of_class(attackers)
        return sets.best, sets.n_members, sets.n_holdout

    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha; None where there is none."""
        if attackers == "any" and not self.discrete:
            return None
        if attackers == "bins-16" and not self.divisible:
            return None
        if attackers == "any" and self._by_distance:
            by_distance = _by_noncentrality(self.counts, self.prior, alpha / 2)
            return min(self._own_limits(attackers, alpha / 2), by_distance)
        return self._own_limits(attackers, alpha)

    def _own_limits(self, attackers: Attackers, alpha: float) -> float:
        """Return the largest of each set's own limit, one-sided alpha."""
        found = self._own_limit(attackers, alpha)
        if attackers == "intervals-1":
            # Of both only what holds their sets is known, and grids may turn their order.
            found = min(found, self._own_limit("intervals-4", alpha))
        if attackers in _ORDERED and self.discrete:
            # Where values are few what holds of every set is closer than what tangents show.
            found = min(found, self._own_limit("any", alpha))
        if attackers == "bins-16" and BINS < self.values <= _HARDLY_MORE * BINS:
            # Fewer values seen may be fewer leaks seen, and then all rows would have counted:
            # the rows that chance kept from the cuts must not say less than all do.
            every = self._binned(self.counts.trained + self.counts.scored)
            found = max(found, self._largest(every, alpha=alpha))
        return found

    def _own_limit(self, attackers: Attackers, alpha: float) -> float:
        """Return the limit of a class by itself, computed once: other classes ask for it, too."""
        return self._once(
            (attackers, alpha), lambda: self._largest(self._of_class(attackers), alpha=alpha)
        )

    @property
    def _largest(self) -> Callable[..., float]:
        """Return the form of limits of classes that is asked for."""
        return class_upper_strict if self.strict else class_upper

    @cached_property
    def _by_distance(self) -> bool:
        """Tell whether half the error for all attackers is for the distance of the classes."""
        low, high = _MIDDLE_PRIORS
        many = int(self.counts.single.sum()) > _FEW_CELLS
        return many and low <= self.prior <= high and not self.strict

    @property
    def one_cut(self) -> bool:
        """Tell whether all rows have two values at most, so that a threshold has one cut."""
        return self.values <= _ONE_CUT

    @property
    def few_values(self) -> bool:
        """Tell whether all rows have no more values than bins: any set of them is one of bins."""
        return self.values <= BINS

    @cached_property
    def values(self) -> float:
        """Return how many values all rows have, infinity where cells hold several."""
        ladder = self.counts.everyone
        occupied = int(np.count_nonzero(ladder.members + ladder.holdout))
        return occupied if ladder.exact else math.inf

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

    def side_error(self, alpha: float) -> float:
        """Return the error of a lower limit on one side: half if the side is chosen on its rows."""
        return alpha if self.member_side is not None else alpha / 2

    def tpr(self, fpr: float, alpha: float) -> OperatingPoint:
        """Return TPR at an FPR with its lower limit, one-sided alpha."""
        return tpr_at_fpr(self.one_sided, fpr, alpha=self.side_error(alpha))

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

    def _tpr_uppers(self, fpr: float, alpha: float) -> list[float]:
        """Return the limit at an FPR alone, and those below 1 at lower rates of the tables."""
        rates = (fpr, *(one for one in FALSE_POSITIVE_RATES if one < fpr))
        alone, *before = (self._tpr_upper(one, alpha) for one in rates)
        return [alone, *(one for one in before if one < 1)]

    def _tpr_upper(self, fpr: float, alpha: float) -> float:
        """Return the limit at this FPR by itself: all rows count.

        The better side is one fixed side, so the larger limit needs no sharing of the error.
        """

        def over_sides() -> float:
            ladder = self.counts.everyone
            sides = [ladder, ladder.reversed()] if self.member_side is None else [self.one_sided]
            return max(tpr_upper(side, fpr, alpha=alpha) for side in sides)

        return self._once((fpr, alpha), over_sides)

    def _of_class(self, attackers: Attackers) -> ClassSets:
        """Return where the sets of a class lie on the data."""
        ladder = self.counts.everyone
        if attackers in _INTERVALS:
            unions = self._once(
                _UNIONS, lambda: interval_sets(ladder, self.prior, list(_INTERVALS.values()))
            )
            return unions[list(_INTERVALS).index(attackers)]
        if attackers == "thresholds":
            return self._once(attackers, lambda: threshold_sets(ladder, self.prior))
        if attackers == "bins-16" and not self.few_values:
            return self._once(attackers, lambda: self._binned(self.counts.scored))
        return self._once("any", lambda: value_sets(ladder, self.prior))

    def _binned(self, table: Ints) -> ClassSets:
        """Return where the sets of bins lie on counts by coarse cell, shape (K, 2)."""
        bins = np.add.reduceat(table, bins_of(self.counts), axis=0)
        one = np.ones(len(bins), dtype=bool)
        ladder = Ladder(members=bins[:, 1], holdout=bins[:, 0], single=one)
        return value_sets(ladder, self.prior)

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
            one._known[_GUESSES] = rates  # noqa: SLF001 - as `held_out` keeps it


def sets_advantage(table: Ints, prior: float) -> float:
    """Return sum_j |p P_j - (1-p) Q_j| of a table of shape (K, 2)."""
    share = table / np.maximum(table.sum(axis=0), 1)
    return float(np.abs(prior * share[:, 1] - (1 - prior) * share[:, 0]).sum())
