"""Differences of advantage between queries: limits by how the inputs depend on each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.evidence.named_attackers.difference_attackers import block_weights
from mipaudit.maths.class_limits.difference import (
    Encounter,
    Standing,
    challenger_standing,
    independent_lower,
    paired_lower,
    separate_lower,
)
from mipaudit.maths.class_limits.upper import oracle_upper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.evidence.named_attackers.difference_attackers import Challenger
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.class_limits.best_attackers import RivalClass
    from mipaudit.statements.estimate import Attackers

_HOLDOUT, _MEMBER = 0, 1


def encounter(
    counts: NDArray[np.int64] | NDArray[np.float64], single: NDArray[np.bool_], prior: float
) -> Encounter | None:
    """Return rates from counts, both classes averaged over the blocks with common weights.

    Args:
        counts: shape (B, 2, K, 2), by block, challenger's guess, cell of the
            rival's score and class (holdout, member).
        single: bool, shape (K,).
        prior: p in (0, 1).

    Returns:
        None where no block has both classes.
    """
    totals = counts.sum(axis=(1, 2))
    usable = (totals > 0).all(axis=1)
    if not usable.any():
        return None
    counts, totals = counts[usable], totals[usable]
    weight = block_weights(totals, prior)
    weight = (weight / weight.sum())[:, None]
    rates = np.einsum("bc,bakc->cak", weight / totals, counts.astype(np.float64))
    sizes = 1 / (weight**2 / totals).sum(axis=0)
    return Encounter(
        rates=rates,
        single=single,
        n_members=float(sizes[_MEMBER]),
        n_holdout=float(sizes[_HOLDOUT]),
        prior=prior,
    )


def in_bins(found: Encounter, bins: NDArray[np.intp]) -> Encounter:
    """Return an encounter with a rival that sees only in which bin a score is.

    Args:
        found: with the score's cells.
        bins: the bin of each cell, increasing, shape (K,).
    """
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    return replace(
        found,
        rates=np.add.reduceat(found.rates, starts, axis=2),
        single=np.ones(starts.size, dtype=bool),
    )


def same_rows_lower(found: Encounter | None, attackers: Attackers, alpha: float) -> float | None:
    """Return the paired limit of challenger minus the best of a class; None without rows."""
    if found is None:
        return None
    return paired_lower(found, rival_class(attackers), alpha)


def rival_class(attackers: Attackers) -> RivalClass:
    """Return the class as the search knows it: of bins, any set of them."""
    match attackers:
        case "thresholds" | "intervals-1" | "intervals-4":
            return attackers
        case _:
            return "any"


def apart_lower(
    challenger: Challenger,
    rival: Evidence,
    attackers: Attackers,
    alpha: float,
    *,
    independent: bool,
) -> float | None:
    """Return a lower limit of a difference between two inputs whose rows are not matched.

    Args:
        challenger: of the first query, learned within the class.
        rival: the second query.
        attackers: the class.
        alpha: one-sided error in (0, 1).
        independent: whether the inputs hold different records; otherwise anything goes.

    Returns:
        None where a limit does not exist.
    """
    held = challenger.held_out
    if min(held.n_members, held.n_holdout) <= 0:
        return None
    prior = rival.prior
    if not independent:
        upper = rival.upper(attackers, alpha / 2)
        return (
            None
            if upper is None
            else separate_lower(challenger.hopeful.lower(alpha / 2), upper, prior)
        )
    # Not `rival.upper`: the root of squares needs a limit that is centred on the value.
    observed, n_members, n_holdout = rival.observed(attackers)
    upper = oracle_upper(observed, n_members, n_holdout, prior=prior, alpha=alpha)
    mine = challenger_standing(
        held.tpr, held.fpr, held.n_members, held.n_holdout, prior=prior, alpha=alpha
    )
    return independent_lower(
        mine, Standing(value=observed, slack=max(0.0, upper - observed)), prior
    )
