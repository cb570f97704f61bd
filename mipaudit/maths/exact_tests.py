"""Exact tests of what chance alone would do, valid at every sample size, with ties.

Of a cell: given how many rows it holds, the number of members among them is hypergeometric if
membership has nothing to do with the cell. That is the permutation test, in closed form.

Of rows that may be copies: of n independent rows of any law let f_r be the number of values that
occur r times. Its mean is C(n, r) sum (1 - p)^n (p / (1 - p))^r over the values, and the sums are
moments of a positive measure: by Cauchy and Schwarz E f_(r-1) E f_(r+1) >= rho_r (E f_r)^2 for
r >= 2, with rho_r = r (n - r) / ((r + 1) (n - r + 1)). Ties of a coarse, saturated or discrete
score obey it. Rows that were copied do not: in a file that was written twice nothing occurs once
or three times.

Of the two classes along one score: if membership tells nothing, every way to hand out the labels
over the rows is as likely as the one that was seen. Which rows share a cell does not depend on
labels, so what is drawn is the members in each cell: a multivariate hypergeometric law, at the
same cost for 10^3 and for 10^8 rows. A p-value from such draws is exact (Pitman 1937; Phipson and
Smyth 2010 on the +1).

Of counts in two groups, by ranks: if labels are exchangeable the p-value (1 + #) / (1 + B) is
valid whatever the law of the counts. Ties make the permutation of labels a draw of how many of
each distinct count get one label, which is multivariate hypergeometric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from mipaudit.maths.class_limits.roc_counts import Ladder


Counts = NDArray[np.int64]

_TERMS: Final = 64
# Logarithms of factorials of 10^9 are good to a few parts in 10^6: never to our favour.
_ROUNDING: Final = 1 + 1e-5
# Twice the logarithm of the ratio of likelihoods: a chance of 10^-9 if f_r is Poisson.
IMPOSSIBLE: Final = 36.0
_FEWEST: Final = 8
# Draws of the first stage, and those with which more of them exceed than it lets pass.
DRAWS: Final = (99, 999)
_PASSING: Final = 9
# What the sampler of the hypergeometric law can count.
MOST_ROWS: Final = 10**9 - 1
# Shares of all rows at which cells end: 32 of one size, finer at both ends.
_TAIL: Final = (1 / 512, 1 / 256, 1 / 128, 1 / 64)
_EVEN: Final = 32
_COARSE: Final = 16
# Shares at either end whose members are counted.
_ENDS: Final = (1 / 64, 1 / 32)
ROW_DRAWS: Final = 999
# Counts above are one level: few draws of many levels cost as much as many of few.
_LEVELS: Final = 256


def independence_p(inside: Counts, cell: Counts, members: int, rows: int) -> Floats:
    """Return the two-sided p-value of each cell: twice the smaller tail, at most 1.

    The first 64 terms of a tail are added up; the rest is bounded from above by a
    geometric sum, since the ratios of the terms fall. So a small sample's p-value is
    exact, and a large one's never too small.

    Args:
        inside: members in each cell, any shape.
        cell: rows in each cell, of the same shape.
        members: members in all.
        rows: rows in all.
    """
    inside, cell = np.broadcast_arrays(np.asarray(inside, np.int64), np.asarray(cell, np.int64))
    above = _upper_tail(inside, cell, members, rows)
    # The holdout records of the cell: as many more as members are fewer.
    below = _upper_tail(cell - inside, cell, rows - members, rows)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(above, below)))


def _upper_tail(seen: Counts, cell: Counts, marked: int, rows: int) -> Floats:
    """Return an upper limit, nearly always the value, of the chance of so many or more."""
    x, k = seen.astype(np.float64), cell.astype(np.float64)
    m, n = float(marked), float(rows)
    term = np.exp(
        _log_choose(np.asarray(m), x)
        + _log_choose(np.asarray(n - m), k - x)
        - _log_choose(np.asarray(n), k)
    )
    total = np.zeros_like(x)
    for step in range(_TERMS):
        total += term
        if not term.any():
            break  # of small cells, after a few terms
        at = x + step
        ratio = (m - at) * (k - at) / ((at + 1) * (n - m - k + at + 1))
        term = term * np.maximum(ratio, 0.0)
    at = x + _TERMS
    ratio = np.maximum((m - at) * (k - at) / ((at + 1) * (n - m - k + at + 1)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(term > 0, np.where(ratio < 1, term / (1 - ratio), 1.0), 0.0)
    return np.asarray(np.minimum(1.0, (total + rest) * _ROUNDING))


def larger_share_p(inside: int, members: int, beside: int, others: int) -> float:
    """Return Fisher's one-sided p-value of the share of one class being the larger, in [0, 1].

    Args:
        inside: marked among ``members``, in [0, members].
        members: rows of the one class, at least 1.
        beside: marked among ``others``, in [0, others].
        others: rows of the other class, at least 1.
    """
    marked, rows = inside + beside, members + others
    # Further off than that are less than e^-800: the terms at hand are a few thousand.
    mean, reach = marked * members / rows, 40 * (math.sqrt(marked) + 1)
    first = max(inside, marked - others, math.ceil(mean - reach))
    x = np.arange(first, min(marked, members, math.floor(mean + reach)) + 1, dtype=np.float64)

    of_all = _log_choose(np.asarray(rows), np.asarray(marked))
    drawn = _log_choose(np.asarray(members), x) + _log_choose(np.asarray(others), marked - x)
    return min(1.0, float(np.exp(drawn - of_all).sum()))


def _log_choose(n: NDArray[Any], k: NDArray[Any]) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted for their number (Holm 1979), whatever their dependence.

    Args:
        p_values: in [0, 1], shape (m,).

    Returns:
        Shape (m,): rejecting what is at most alpha errs at all with probability alpha.
    """
    order = np.argsort(p_values, kind="stable")
    left = np.arange(p_values.size, 0, -1)
    adjusted = np.empty(p_values.size)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * left))
    return adjusted


def copied(counts: Ints, rows: int, tight: Bools | None = None) -> int:
    """Return how many values were copied for all that chance can do; 0 for none.

    A value may be any function of a row that is chosen beforehand, such as its rounded score.
    Scores that were spread evenly, as ranks are, fill the cells of a rounding evenly, too, and
    were not copied: ``tight`` tells them apart.

    Args:
        counts: how often each value occurs, of all values or of those that a hash chose.
        rows: n, at least 2.
        tight: whether the rows of a value are closer than they would be by chance; values that
            occur equally often count where half of them are. Default: all are.
    """
    found = np.bincount(counts)
    close = found if tight is None else np.bincount(counts[tight], minlength=found.size)
    seen = [int(r) for r in np.flatnonzero((found >= _FEWEST) & (2 * close >= found)) if r > 1]
    worst = 0
    for r in seen:
        above = int(found[r + 1]) if r + 1 < found.size else 0
        rho = r * (rows - r) / ((r + 1) * (rows - r + 1))
        if deficit(int(found[r - 1]), int(found[r]), above, rho) > IMPOSSIBLE:
            worst += int(found[r])
    return worst


def deficit(below: int, middle: int, above: int, rho: float) -> float:
    """Return G of the hypothesis that E below x E above >= rho (E middle)^2, 0 where it holds.

    On the border the likeliest means are (below + t, middle - 2 t, above + t).

    Args:
        below: values that occur r - 1 times.
        middle: r times.
        above: r + 1 times.
        rho: in (0, 1).
    """
    if below * above >= rho * middle**2:
        return 0.0
    # (below + t)(above + t) = rho (middle - 2 t)^2, the root in (0, middle / 2].
    a, b, c = 1 - 4 * rho, below + above + 4 * rho * middle, below * above - rho * middle**2
    t = -2 * c / (b + math.sqrt(max(b * b - 4 * a * c, 0.0)))
    pairs = ((below, below + t), (middle, middle - 2 * t), (above, above + t))
    return 2 * sum(seen * math.log(seen / mean) for seen, mean in pairs if seen and mean > 0)


def sequence_bits(codes: Ints) -> float:
    """Return how many bits a sequence takes that is told to somebody who knows its law.

    The shorter of two codes (Krichevsky and Trofimov 1981): of independent symbols, and of
    symbols that each depend on the one before. Two independent sequences are equal with a
    chance of about two to the power of minus that.

    Args:
        codes: integers from 0, shape (n,).
    """
    if codes.size < 2:  # noqa: PLR2004 - a pair is needed for the second code
        return 0.0
    symbols = int(codes.max()) + 1
    pairs, counts = np.unique(codes[:-1] * symbols + codes[1:], return_counts=True)
    after = np.split(counts, np.flatnonzero(np.diff(pairs // symbols)) + 1)
    chained = sum(_code_length(one, symbols) for one in after)
    return min(_code_length(np.bincount(codes), symbols), chained)


def _code_length(counts: Ints, symbols: int) -> float:
    from scipy.special import gammaln

    seen = counts[counts > 0]
    total = gammaln(symbols / 2) - gammaln(seen.sum() + symbols / 2)
    nats = -(total + (gammaln(seen + 0.5) - gammaln(0.5)).sum())
    return float(nats / math.log(2))


def difference_p_value(ladder: Ladder, *, seed: Sequence[int], ordered: bool = True) -> float:
    """Return a p-value of 'membership tells nothing about this score'.

    The observed statistic is the least of the approximate p-values of several tests: ranks
    (Wilcoxon), scale (Mood), both tails (Savage, and the members among the last 1/64 and
    1/32 of all rows) and chi-squared on 16 and on up to 40 cells. The draws make it exact.
    In the first stage 99 labellings are drawn. Where more than 9 do as well, the p-value is
    (1 + those) / 100; else 999 are drawn.

    Args:
        ladder: counts along the score; its steps must not depend on the labels of the rows
            that it counts. At most ``MOST_ROWS`` rows.
        seed: of the draws.
        ordered: whether a larger score means anything; else chi-squared alone.

    Returns:
        p in (0, 1]; below any t with probability at most t where nothing differs.
    """
    members, pooled = _cells(ladder)
    if pooled.size < 2 or not 0 < ladder.n_members < int(pooled.sum()):  # noqa: PLR2004
        return 1.0
    rng = np.random.default_rng(list(seed))
    observed = _least(members[None], pooled, ordered=ordered)[0]
    exceeding = drawn = 0
    for draws in DRAWS:
        labelled = rng.multivariate_hypergeometric(
            pooled, ladder.n_members, size=draws - drawn, method="marginals"
        )
        # Equal statistics differ in their last digits.
        found = _least(labelled, pooled, ordered=ordered) <= observed * (1 + 1e-9)
        exceeding += int(np.count_nonzero(found))
        drawn = draws
        if exceeding > _PASSING:
            break
    return (1 + exceeding) / (1 + drawn)


def _cells(ladder: Ladder) -> tuple[Ints, Ints]:
    """Return members and all rows of cells cut at fixed shares of all rows."""
    pooled = ladder.members + ladder.holdout
    below = pooled.cumsum()
    rows = int(below[-1])
    ends = np.array([*_TAIL, *(np.arange(1, _EVEN) / _EVEN), *(1 - share for share in _TAIL[::-1])])
    # A step is in the cell that holds its middle row; doubled, to stay with whole numbers.
    middle = 2 * below - pooled
    last = np.searchsorted(middle, np.ceil(2 * rows * ends).astype(np.int64)) - 1
    last = np.append(last, pooled.size - 1)
    members, everyone = (
        np.diff(np.where(last < 0, 0, sums[last]), prepend=0)
        for sums in (ladder.members.cumsum(), below)
    )
    occupied = everyone > 0
    return members[occupied], everyone[occupied]


def _least(members: Ints, pooled: Ints, *, ordered: bool) -> Floats:
    """Return the least approximate p-value of the tests for each row of ``members``."""
    from scipy.special import ndtr

    deviates = [_chi_squared(members, pooled)]
    if ordered:
        rows = pooled.sum()
        rank = (pooled.cumsum() - pooled / 2) / rows
        coarse = np.unique((rank * _COARSE).astype(np.intp), return_index=True)[1]
        deviates.append(
            _chi_squared(np.add.reduceat(members, coarse, axis=1), np.add.reduceat(pooled, coarse))
        )
        ends = [end for share in _ENDS for end in (rank < share, rank > 1 - share)]
        scores = np.stack([rank, (rank - 0.5) ** 2, -np.log(rank), -np.log1p(-rank), *ends])
        linear = np.abs(_standardised(members, pooled, scores))
        # Two-sided: as far out as a one-sided deviate of half the p-value would be.
        two_sided = 2 * ndtr(-linear)
        one_sided = ndtr(-np.stack(deviates, axis=1))
        return np.asarray(np.concatenate([two_sided, one_sided], axis=1).min(axis=1))
    return np.asarray(ndtr(-deviates[0]))


def _standardised(members: Ints, pooled: Ints, scores: Floats) -> Floats:
    """Return linear rank statistics less their mean, in standard deviations over labellings."""
    rows, drawn = int(pooled.sum()), members.sum(axis=1)[:, None]
    mean = scores @ pooled / rows
    centred = scores - mean[:, None]
    spread = (centred**2) @ pooled
    deviation = np.sqrt(spread * drawn * (rows - drawn) / (rows * (rows - 1.0)))
    total = members @ centred.T
    return np.asarray(np.divide(total, deviation, out=np.zeros_like(total), where=deviation > 0))


def _chi_squared(members: Ints, pooled: Ints) -> Floats:
    """Return a normal deviate of chi-squared (Wilson and Hilferty 1931); 0 for one cell."""
    freedom = pooled.size - 1
    if freedom == 0:
        return np.zeros(len(members))
    rows, drawn = int(pooled.sum()), members.sum(axis=1)[:, None]
    expected = pooled * (drawn / rows)
    statistic = ((members - expected) ** 2 / expected).sum(axis=1) / (1 - drawn[:, 0] / rows)
    scale = 2 / (9 * freedom)
    return np.asarray((np.cbrt(statistic / freedom) - (1 - scale)) / np.sqrt(scale))


def counts_alike(first: Ints, second: Ints, rng: np.random.Generator) -> float:
    """Return the p-value of the hypothesis that both groups have counts of the same law.

    The statistic is the larger of Wilcoxon's rank sum and of that of the distances from the
    middle rank, both standardized: it sees a shift and a difference in spread.

    Args:
        first: counts of one group, shape (n,), n at least 0.
        second: counts of the other, shape (m,).
        rng: draws the labels.
    """
    if not first.size or not second.size:
        return 1.0
    _, level = np.unique(np.concatenate((first, second)), return_inverse=True)
    level = np.minimum(level, _LEVELS - 1)
    everyone = np.bincount(level)
    if everyone.size == 1:
        return 1.0
    seen = np.bincount(level[: first.size], minlength=everyone.size)
    drawn = rng.multivariate_hypergeometric(
        everyone, first.size, size=ROW_DRAWS, method="marginals"
    )
    weights = _scores(everyone, first.size)
    found = np.abs(np.vstack((seen, drawn)) @ weights).max(axis=1)
    # Equal statistics are equal but for rounding.
    return float((1 + np.count_nonzero(found[1:] >= found[0] * (1 - 1e-9))) / (1 + ROW_DRAWS))


def _scores(everyone: Ints, drawn: int) -> Floats:
    """Return the weight of every level in both statistics, centred and scaled, shape (L, 2)."""
    total = int(everyone.sum())
    ends = np.cumsum(everyone)
    middle = (ends - everyone / 2) / total - 1 / 2
    weights = np.column_stack((middle, np.abs(middle)))
    weights -= everyone @ weights / total
    spread = np.sqrt(everyone @ weights**2 * drawn * (total - drawn) / total**2)
    scaled: Floats = weights / np.where(spread > 0, spread, np.inf)
    return scaled
