"""Differences of advantage between queries: limits by how the inputs depend on each other.

A limit of a difference needs the attackers themselves, those that learn within a class and which
of them was used on each block, not only how they fared: they are judged beside another query's
on the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.evidence import BINS, Evidence
from mipaudit.evidence.scores.prequential_sets import (
    EVALUATION_BLOCKS,
    HeldOut,
    Trials,
    equal_mass_starts,
    pool,
    trials,
)
from mipaudit.maths.class_limits.class_upper import oracle_upper
from mipaudit.maths.class_limits.difference import (
    Encounter,
    Standing,
    challenger_standing,
    independent_lower,
    paired_lower,
    separate_lower,
)
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.maths.class_limits.best_attackers import RivalClass
    from mipaudit.statements.estimate import Attackers
    from mipaudit.summaries.kept_counts import ScoreCounts

_HOLDOUT, _MEMBER = 0, 1
# The order of `scores.prequential_sets.attacker_sets`: two constants, prefix, suffix, an interval
# and the complement of one, then signs on 4 and on 8 runs (at most four intervals).
_CONSTANT_OR_THRESHOLD: Final = 4
_ONE_INTERVAL: Final = 6
_FOUR_INTERVALS: Final = 8
_RUNS_OF_FOUR: Final = 8
_SURELY: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Challenger:
    """The attackers that were used, one for each evaluation block.

    Attributes:
        table: index of the table (the score, or a grid) that each is on, shape (15,).
        sets: for each block the cells guessed 'member', bool arrays of that table's size.
        held_out: how they fared.
        hopeful: how those fared that had simply gained most so far: the better estimate
            where little leaks.
    """

    table: NDArray[np.intp]
    sets: tuple[NDArray[np.bool_], ...]
    held_out: HeldOut
    hopeful: HeldOut


def evaluation_groups(burn_in: int) -> NDArray[np.intp]:
    """Return the evaluation block of each micro-block, shape (64,); -1 in the burn-in."""
    group = np.full(MICRO_BLOCKS, -1)
    late = np.arange(burn_in, MICRO_BLOCKS)
    group[late] = (late - burn_in) * EVALUATION_BLOCKS // late.size
    return group


def bins_of(counts: ScoreCounts) -> NDArray[np.intp]:
    """Return the first cell of each of at most 16 bins of equal burn-in mass."""
    mass = counts.trained.sum(axis=1)
    return equal_mass_starts(mass / max(1, int(mass.sum())), BINS)


def class_challenger(counts: ScoreCounts, attackers: Attackers, prior: float) -> Challenger:
    """Return the attackers of a class that learn on the past of one score.

    Args:
        counts: of the score.
        attackers: ``any`` or one of the named classes.
        prior: p in (0, 1).
    """
    if attackers == "bins-16":
        starts = bins_of(counts)
        merged = np.add.reduceat(counts.blocks, starts, axis=1)
        found = challenger([trials(merged, counts.burn_in, prior)], prior)
        widths = np.diff(starts, append=counts.blocks.shape[1])
        return replace(found, sets=tuple(np.repeat(one, widths) for one in found.sets))
    run = trials(counts.blocks, counts.burn_in, prior)
    kept = _within(attackers, run.sets.shape[2], run.sets.shape[1])
    return challenger([Trials(sets=run.sets[:, :kept], scored=run.scored, seeds=run.seeds)], prior)


def _within(attackers: Attackers, cells: int, everyone: int) -> int:
    """Return how many of the attackers, in their order, belong to a class."""
    match attackers:
        case "thresholds":
            return _CONSTANT_OR_THRESHOLD
        case "intervals-1":
            return _ONE_INTERVAL
        case "intervals-4":
            # The signs on 8 runs are there where there are more cells than that.
            return _FOUR_INTERVALS if cells > _RUNS_OF_FOUR else _ONE_INTERVAL
        case _:
            return everyone


def challenger(runs: Sequence[Trials], prior: float) -> Challenger:
    """Return, for each block, the attacker on whichever table had done best so far.

    As `scores.prequential_sets.held_out_together`, but keeping who was chosen.

    Args:
        runs: of the *same rows*, one for each table.
        prior: p in (0, 1).
    """
    totals = runs[0].scored.sum(axis=1)
    usable = (totals > 0).all(axis=1)
    weight = np.where(usable, block_weights(totals, prior), 0.0)[:, None]
    hits = [np.einsum("bek,bkc->bec", run.sets, run.scored.astype(np.float64)) for run in runs]
    rates = np.concatenate(hits, axis=1) / np.maximum(totals, 1)[:, None, :]
    seeds = runs[0].seeds
    gained, error = _gained(rates, totals, weight, prior)
    best, likely = (
        payoff[seeds - 1 : -1].argmax(axis=1) for payoff in (gained - _SURELY * error, gained)
    )
    ends = np.cumsum([one.shape[1] for one in hits])
    table = np.searchsorted(ends, best, side="right")
    first = np.append(0, ends)[table]
    blocks = np.arange(seeds, totals.shape[0])
    # Copies: a view would keep every attacker of the run in memory.
    sets = tuple(
        runs[t].sets[block, who - start].copy()
        for t, block, who, start in zip(table, blocks, best, first, strict=True)
    )
    scored = blocks[usable[blocks]]
    everyone = np.concatenate(hits, axis=1)
    held_out, hopeful = (
        pool(everyone[blocks, chosen][scored - seeds], totals[scored], prior)
        for chosen in (best, likely)
    )
    return Challenger(table=table, sets=sets, held_out=held_out, hopeful=hopeful)


def _gained(
    rates: NDArray[np.float64],
    totals: NDArray[np.int64],
    weight: NDArray[np.float64],
    prior: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what each attacker has gained so far, and its standard error, shape (B, E).

    Beside a rival, an attacker that merely was lucky costs twice: it gains nothing, and it
    disagrees with the rival at random. So those are used that have surely gained; the
    constant attackers have no error.
    """
    gains = prior * rates[..., _MEMBER] - (1 - prior) * rates[..., _HOLDOUT]
    shares = np.array([(1 - prior) ** 2, prior**2]) / np.maximum(totals, 1)
    variance = (shares[:, None, :] * rates * (1 - rates)).sum(axis=2)
    error = np.sqrt(np.cumsum(weight**2 * variance, axis=0))
    return np.cumsum(weight * gains, axis=0), error


def block_weights(totals: NDArray[np.int64], prior: float) -> NDArray[np.float64]:
    """Return the precision of each block, common to both classes, from its (B, 2) totals."""
    sizes = np.maximum(totals, 1)
    variance = prior**2 / sizes[:, _MEMBER] + (1 - prior) ** 2 / sizes[:, _HOLDOUT]
    return np.asarray(1 / variance)


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
        upper = rival.upper(attackers, alpha)
        if upper is None:
            return None
        return separate_lower(challenger.hopeful.lower(alpha), upper, prior)
    # Not `rival.upper`: the root of squares needs a limit that is centred on the value.
    observed, n_members, n_holdout = rival.observed(attackers)
    upper = oracle_upper(observed, n_members, n_holdout, prior=prior, alpha=alpha)
    mine = challenger_standing(
        held.tpr, held.fpr, held.n_members, held.n_holdout, prior=prior, alpha=alpha
    )
    return independent_lower(
        mine, Standing(value=observed, slack=max(0.0, upper - observed)), prior
    )
