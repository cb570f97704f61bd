"""Whether rows can be independent draws, told by how often their values repeat.

Of n independent rows of any law let f_r be the number of values that occur r times. Its mean is
C(n, r) sum (1 - p)^n (p / (1 - p))^r over the values, and the sums are moments of a positive
measure: by Cauchy and Schwarz E f_(r-1) E f_(r+1) >= rho_r (E f_r)^2 for r >= 2, with
rho_r = r (n - r) / ((r + 1) (n - r + 1)). Ties of a coarse, saturated or discrete score obey it.
Rows that were copied do not: in a file that was written twice nothing occurs once or three times.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Twice the logarithm of the ratio of likelihoods: a chance of 10^-9 if f_r is Poisson.
IMPOSSIBLE: Final = 36.0
_FEWEST: Final = 8


def copied(counts: NDArray[np.int64], rows: int, tight: NDArray[np.bool_] | None = None) -> int:
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


def sequence_bits(codes: NDArray[np.int64]) -> float:
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


def _code_length(counts: NDArray[np.int64], symbols: int) -> float:
    from scipy.special import gammaln

    seen = counts[counts > 0]
    total = gammaln(symbols / 2) - gammaln(seen.sum() + symbols / 2)
    nats = -(total + (gammaln(seen + 0.5) - gammaln(0.5)).sum())
    return float(nats / math.log(2))
