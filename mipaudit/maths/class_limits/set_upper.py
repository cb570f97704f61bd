"""Upper limits of one set of scores that was fixed beforehand, and of a whole class of them.

*One set* flags members at the rate T and holdout records at the rate F; its advantage is
V = 1 - 2p + 2 (p T - (1-p) F). Any function u of the observed rates that is below V with a
probability of at most alpha, whatever T and F are, is an upper limit of it. Two are known that
rise with the observed T and fall with the observed F:

- the *score form*, V + 2 hypot(p r(T), (1-p) r(1-F)) with r the rise of one rate (`Rise`):
  close where flags are rare, or where p is not 1/2;
- `oracle_upper`, of V alone: close where V is large.

Neither is finite-sample, and nor is the lesser of the two, which is what is used: by enumeration
over sizes from 1 to 1,500, priors from .01 to .97 and errors from .0025 to .05 its misses are at
most 1.04 times nominal at .025 and less where both classes have 3 rows or more; at .05 with the
smaller class far below its prior 1.13 at 6 rows, 1.11 at 10, 1.07 at 20 (beside 1,000).

*A class* C of sets that was fixed before the rows: U = max(|2p-1|, sup over C of u(A)) is an
upper limit of sup over C of V(A) at the same alpha. Proof: if A* has the largest V, then
{V(A*) <= u(A*)} lies in {V(A*) <= U}; where the supremum is not attained, take sets whose V tend
to it. No union bound, and no condition on p or the sizes. The lesser of two *class* limits would
share the error; the lesser of two forms for each set does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.maths.advantage import advantage, baseline
from mipaudit.maths.arrays import Floats, Places
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.class_limits.class_upper import oracle_upper, oracle_upper_strict

if TYPE_CHECKING:
    from mipaudit.maths.class_limits.class_sets import ClassSets


# What a score limit lacks where hardly a row errs: found by enumeration.
_CORNER: Final = 1.06
_MIDDLE_PRIORS: Final = (0.25, 0.75)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """How far the rate of one class may lie above the rate w short of 1 that was seen.

    r(w) = a w + z sqrt(w/n + c w^2) is the score limit of a rate of 1 - w with a skewness as
    large as the rate allows; it is concave. From ``corner`` down the limit 1 - w + r(w) of the
    rate itself would fall, and stays what it is at the corner, so that a set which flags more
    members never has a smaller limit.

    Attributes:
        z: normal deviate of the error.
        rows: n, of the class.
        straight: a.
        squared: c.
        corner: where r falls as fast as the rate rises.
        peak: where r is largest.
    """

    z: float
    rows: int
    straight: float
    squared: float
    corner: float
    peak: float

    @classmethod
    def of(cls, rows: int, alpha: float) -> Self:
        """Return the rise for a class of so many rows, at least one, one-sided alpha."""
        from scipy.special import ndtri

        z = -float(ndtri(alpha))
        skew = max(1.0, _CORNER * math.log(1 / alpha) / z**2) / (2 * rows)
        straight, squared = skew * z * z, (skew * z) ** 2 - 1 / rows
        # r' = 1 and r' = 0 are quadratic equations.
        rest = (1 - straight) ** 2 - squared * z * z
        corner = 1.0
        if straight < 1 and rest > 0:
            corner = z * z / (2 * rows * rest * (1 + (1 - straight) / math.sqrt(rest)))
        peak = 1.0
        if squared < 0:
            root = math.sqrt(straight**2 - squared * z * z)
            peak = (1 + straight / root) / (-2 * rows * squared)
        return cls(
            z=z,
            rows=rows,
            straight=straight,
            squared=squared,
            corner=min(corner, 1.0),
            peak=min(peak, 1.0),
        )

    def most(self, low: Floats, high: Floats) -> Floats:
        """Return the largest rise between two rates short of 1, each in [0, 1]."""
        short = np.minimum(np.maximum(low, self.peak), high)
        at = np.maximum(short, self.corner)
        root = np.sqrt(np.maximum(at / self.rows + self.squared * at * at, 0.0))
        return np.asarray(self.straight * at + self.z * root + np.minimum(short - at, 0.0))


def class_upper(sets: ClassSets, *, alpha: float) -> float:
    """Return an upper limit of the best advantage in a class, one-sided alpha.

    Args:
        sets: where the sets of the class lie on all rows; the class was fixed before them.
        alpha: in (0, 1).

    Returns:
        A limit in [|2p-1|, 1]; 1 without a row of either class.
    """
    sizes, prior = (sets.n_members, sets.n_holdout), sets.prior
    if min(sizes) <= 0:
        return 1.0
    tpr, fpr = sets.tpr, sets.fpr
    members = prior * Rise.of(sizes[0], alpha).most(1 - tpr[1], 1 - tpr[0])
    holdout = (1 - prior) * Rise.of(sizes[1], alpha).most(fpr[0], fpr[1])
    by_score = sets.advantage + 2 * np.hypot(members, holdout)

    @lru_cache(maxsize=64)
    def by_oracle(advantage: float) -> float:
        return oracle_upper(advantage, *sizes, prior=prior, alpha=alpha)

    limit = _largest_of_lesser(by_score, sets.advantage, by_oracle)
    return min(1.0, max(baseline(prior), limit))


def _largest_of_lesser(
    limits: Floats, advantages: Floats, rising: Callable[[float], float]
) -> float:
    """Return the largest of min(limit, rising(advantage)), in few calls of ``rising``.

    The largest limit among sets of at least some advantage falls with it, ``rising`` rises:
    where they cross is found by bisection.
    """
    first = int(limits.argmax())
    if rising(float(advantages[first])) >= limits[first]:
        return float(limits[first])
    order = np.argsort(advantages, kind="stable")
    advantages = advantages[order]
    most = np.maximum.accumulate(limits[order][::-1])[::-1]
    low, high = -1, advantages.size
    while high - low > 1:
        middle = (low + high) // 2
        if rising(float(advantages[middle])) >= most[middle]:
            high = middle
        else:
            low = middle
    found = [rising(float(advantages[low]))] if low >= 0 else []
    found += [float(most[high])] if high < advantages.size else []
    return max(found)


def class_upper_strict(sets: ClassSets, *, alpha: float) -> float:
    """Return the finite-sample form of `class_upper`: no miss is above alpha at any size.

    Of each set the advantage at two Clopper-Pearson limits, of T and F, with half the error
    each. Or, where p is near 1/2 and near the share s of members among the rows,
    `oracle_upper_strict` at the prior s, for which it is proved, and 2|p-s| more: so far apart
    an advantage at p and at s can be. Which of them follows from p and the sizes.

    Args:
        sets: as for `class_upper`.
        alpha: in (0, 1).
    """
    sizes, prior = (sets.n_members, sets.n_holdout), sets.prior
    if min(sizes) <= 0:
        return 1.0
    share = sizes[0] / sum(sizes)
    if _near(prior, share, sizes, alpha):
        end = int(share > prior)
        seen = sets.advantage + 2 * (share - prior) * (sets.tpr[end] + sets.fpr[end] - 1)
        limit = oracle_upper_strict(float(seen.max()), *sizes, prior=share, alpha=alpha)
        limit += 2 * abs(prior - share)
    else:
        limit = _largest_of_two_rates(sets, alpha / 2)
    return min(1.0, max(baseline(prior), limit))


def _largest_of_two_rates(sets: ClassSets, alpha: float) -> float:
    """Return the largest advantage at limits of T and F, each with this error.

    Of a box the limits are those at its best corner, and no more than the largest advantage in
    it and as far beyond as Hoeffding's inequality lets both go.
    """
    n1, n2, prior = sets.n_members, sets.n_holdout, sets.prior
    beyond = prior / math.sqrt(n1) + (1 - prior) / math.sqrt(n2)
    most = sets.advantage + 2 * beyond * math.sqrt(-math.log(alpha) / 2)

    def limits(boxes: Places) -> Floats:
        highest = clopper_pearson_upper(sets.tpr[1, boxes] * n1, n1, alpha)
        lowest = clopper_pearson_lower(sets.fpr[0, boxes] * n2, n2, alpha)
        corner = advantage(np.asarray(highest), np.asarray(lowest), prior)
        return np.asarray(np.minimum(corner, most[boxes]))

    first = limits(np.array([most.argmax()]))[0]
    return float(np.max(limits(np.flatnonzero(most > first)), initial=first))


def _near(prior: float, share: float, sizes: tuple[int, int], alpha: float) -> bool:
    """Tell whether the limit at the share of members is closer where both rates are 1/2."""
    from scipy.special import ndtri

    together = 2 * abs(prior - share) - float(ndtri(alpha)) / math.sqrt(sum(sizes))
    each = prior / math.sqrt(sizes[0]) + (1 - prior) / math.sqrt(sizes[1])
    low, high = _MIDDLE_PRIORS
    return low <= prior <= high and together <= -float(ndtri(alpha / 2)) * each
