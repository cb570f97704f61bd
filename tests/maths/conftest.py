from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mipaudit.maths.ladder import Ladder


@pytest.fixture(scope="session")
def ladder_from():
    """Make a ladder from counts; every step single unless told."""

    def make(members, holdout, single=None):
        members = np.asarray(members, dtype=np.int64)
        return Ladder(
            members=members,
            holdout=np.asarray(holdout, dtype=np.int64),
            single=np.ones(members.size, bool) if single is None else np.asarray(single, bool),
        )

    return make


@pytest.fixture(scope="session")
def worst_mechanism():
    """Find how often the worst private mechanism guesses coins right."""
    return _worst_mechanism


def _worst_mechanism(m, fits, v, epsilon, delta, share=0.5):
    """Return the most P(C >= v) of any (epsilon, delta)-private mechanism: a linear programme.

    ``fits`` tells the outputs that it may have: a guess, 0 or 1, or None for each coin.
    """
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    coins = list(itertools.product((0, 1), repeat=m))
    outputs = [one for one in itertools.product((0, 1, None), repeat=m) if fits(one)]
    pairs = [
        (i, coins.index((*s[:k], 1 - s[k], *s[k + 1 :])))
        for i, s in enumerate(coins)
        for k in range(m)
    ]
    n_out, n_law = len(outputs), len(coins) * len(outputs)
    unknowns = n_law + len(pairs) * n_out  # the laws, then the excess of one over another
    gain = np.zeros(unknowns)
    for i, s in enumerate(coins):
        chance = math.prod(share if coin else 1 - share for coin in s)
        for j, guess in enumerate(outputs):
            if sum(g == coin for g, coin in zip(guess, s, strict=True)) >= v:
                gain[i * n_out + j] = -chance
    private = lil_matrix((len(pairs) * (n_out + 1), unknowns))
    allowed = np.zeros(len(pairs) * (n_out + 1))
    for p, (i, k) in enumerate(pairs):
        excess = n_law + p * n_out
        for j in range(n_out):
            row = p * (n_out + 1) + j
            private[row, i * n_out + j] = 1
            private[row, k * n_out + j] = -math.exp(epsilon)
            private[row, excess + j] = -1
        private[p * (n_out + 1) + n_out, excess : excess + n_out] = 1
        allowed[p * (n_out + 1) + n_out] = delta
    total = lil_matrix((len(coins), unknowns))
    for i in range(len(coins)):
        total[i, i * n_out : (i + 1) * n_out] = 1
    best = linprog(
        gain,
        A_ub=private.tocsr(),
        b_ub=allowed,
        A_eq=total.tocsr(),
        b_eq=np.ones(len(coins)),
        method="highs",
    )
    return -best.fun
