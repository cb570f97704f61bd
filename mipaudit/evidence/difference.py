"""Differences of advantage between queries: limits by how the inputs depend on each other.

Challengers learn within a class, in many assignments of the rows to blocks. A limit of a
difference needs what each row adds to their mean, not only how they fared: they are judged
beside another query's on the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.assignments import (
    HOLDOUT,
    MEMBER,
    Assigned,
    assigned,
    assigned_among,
    assigned_blocks,
)
from mipaudit.evidence.scores.averaged_lower import Averaged, Shares, shares_among, shares_of
from mipaudit.evidence.scores.evidence import Evidence, bins_of
from mipaudit.maths.advantage import advantage, baseline
from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.maths.class_limits.class_upper import oracle_upper
from mipaudit.maths.class_limits.difference import (
    Encounter,
    Shared,
    Standing,
    independent_lower,
    paired_lower,
    separate_lower,
)
from mipaudit.summaries.challenger_counts import Guesses, RowGuesses, TabledGuesses, whole_guesses
from mipaudit.summaries.rows import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.maths.class_limits.class_sets import RivalClass
    from mipaudit.model.row import Attackers
    from mipaudit.summaries.counts import RankedRows, ScoreCounts

# The part of the error at which a challenger must gain, or the constant guess stands for it.
_DOUBT: Final = 0.2
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Challenger:
    """Attackers that learned on one score, or on several, and are fixed before they are judged.

    Attributes:
        rates: how they fared.
        guesses: what they make of each row.
    """

    rates: Averaged
    guesses: Guesses

    def gains(self, alpha: float) -> bool:
        """Tell whether they surely gain, at a part of the error of a limit that they enter.

        Where next to nothing leaks they may have been lucky, or their opposite, and only add
        to the spread: the constant guess, which has none, takes their place and the rest of
        the error.
        """
        return self.rates.lower(alpha * _DOUBT) > baseline(self.rates.prior)

    def error(self, alpha: float) -> float:
        """Return the error of the limit of the challenger, or of the constant guess."""
        return alpha if self.gains(alpha) else alpha * (1 - _DOUBT)

    def standing(self, alpha: float) -> Standing:
        """Return the advantage of who enters a limit, with the slack to its lower limit."""
        rates, p = self.rates, self.rates.prior
        if not self.gains(alpha):
            return Standing(value=baseline(p), slack=0.0)
        z = NormalDist().inv_cdf(1 - alpha)
        falls, rises = rates.tpr.falls(z, alpha), rates.fpr.rises(z, alpha)
        return Standing(
            value=advantage(rates.tpr.value, rates.fpr.value, p),
            slack=2 * math.hypot(p * falls, (1 - p) * rises),
        )


def class_challengers(
    counts: ScoreCounts,
    classes: Iterable[Attackers],
    prior: float,
    *,
    column: int = 0,
    rows: RankedRows | None = None,
) -> dict[Attackers, Challenger]:
    """Return the attackers of some classes that learn on one score.

    Args:
        counts: of the score.
        classes: ``any`` or named ones.
        prior: p in (0, 1).
        column: of the score among those whose rows are counted.
        rows: the rows in memory, in order of the score; None where they are only counted.
    """
    ranked = counts.ranked if rows is None else rows
    if ranked is None:
        run = assigned_blocks(counts.blocks, counts.burn_in)
    else:
        run = assigned(ranked, prior)
    every = np.arange(counts.single.size)
    found: dict[Attackers, Challenger] = {}
    for attackers in classes:
        if attackers == "bins-16":  # which the burn-in cut
            starts = bins_of(counts)
            bins = assigned_blocks(np.add.reduceat(counts.blocks, starts, axis=1), counts.burn_in)
            cells = np.searchsorted(starts, every, side="right") - 1
            found[attackers] = _on_cells(bins, cells, prior, attackers, column)
        elif ranked is None:
            found[attackers] = _on_cells(run, every, prior, attackers, column)
        else:
            (shares,) = shares_of([run], prior, attackers)
            guesses = _by_row(shares, run, ranked.order)
            found[attackers] = Challenger(rates=shares.rates, guesses=guesses)
    return found


def fitted_challenger(counts: ScoreCounts, prior: float) -> Challenger:
    """Return the attackers on one score that are judged on no row of the burn-in."""
    (run,) = assigned_among([counts.blocks], counts.burn_in)
    return _on_cells(run, np.arange(counts.single.size), prior, "any", 0)


def _on_cells(
    run: Assigned, cells: Places, prior: float, attackers: Attackers, column: int
) -> Challenger:
    """Return the attackers on counted rows.

    Args:
        run: the rows.
        cells: the cell that the attackers saw of each coarse cell of the score.
        prior: p in (0, 1).
        attackers: their class.
        column: of the score.
    """
    (shares,) = shares_of([run], prior, attackers)
    added = shares.added[0].reshape(MICRO_BLOCKS, 2, -1)[..., cells]
    return Challenger(rates=shares.rates, guesses=_tabled((added,), shares, ((column,),)))


def joint_challenger(
    tables: Sequence[Ints],
    grids: Sequence[Places],
    counts: ScoreCounts,
    prior: float,
    pair: tuple[int, int],
) -> Challenger:
    """Return the attackers who see two scores, on either one or on a grid of both.

    Args:
        tables: counts by micro-block, cell and class: of both scores, and of the grids.
        grids: for each grid, the cell of it that holds each cell of the finest one.
        counts: of one of the scores.
        prior: p in (0, 1).
        pair: columns of the two scores.
    """
    shares = shares_among(tables, counts.burn_in, prior)
    first, second, *gridded = (
        one.reshape(MICRO_BLOCKS, 2, -1)[..., : table.shape[1]]
        for one, table in zip(shares.added, tables, strict=True)
    )
    finest = np.sum([one[..., at] for one, at in zip(gridded, grids, strict=True)], axis=0)
    guesses = _tabled((first, second, finest), shares, ((pair[0],), (pair[1],), pair))
    return Challenger(rates=shares.rates, guesses=guesses)


def _tabled(
    added: Sequence[Floats], shares: Shares, columns: tuple[tuple[int, ...], ...]
) -> TabledGuesses:
    """Return guesses of counted rows, by micro-block, class and cell of each table."""
    # Whatever its cell, a row of a micro-block and class has one weight.
    counted = shares.counted.reshape(MICRO_BLOCKS, 2, -1)[..., :1]
    sides = [
        [whole_guesses(one[:, side], counted[:, side]) for one in added]
        for side in (HOLDOUT, MEMBER)
    ]
    weights = np.stack([one[0][1][:, 0] for one in sides], axis=1)
    tables = [np.stack([part for part, _ in one], axis=1) for one in zip(*sides, strict=True)]
    return TabledGuesses(weights=weights, guessed=tuple(tables), columns=columns)


def _by_row(shares: Shares, run: Assigned, order: Places | None) -> RowGuesses:
    """Return guesses of rows in memory, which the order sorts by the score."""
    weights, guessed = (np.empty(run.member.size, dtype=np.int32) for _ in range(2))
    for side in (run.member, ~run.member):
        at = np.flatnonzero(side)
        places = at if order is None else order[at]
        guessed[places], weights[places] = whole_guesses(shares.added[0][at], shares.counted[at])
    return RowGuesses(weights=weights, guessed=guessed)


def encounter(
    sums: NDArray[Any], squared: NDArray[Any], single: Bools, rates: Averaged
) -> Encounter | None:
    """Return how a challenger and the cells of a rival's score meet.

    Args:
        sums: over the rows, by cell of the rival's score, as `MeetingCounts.sums`.
        squared: as `MeetingCounts.squares`.
        single: bool, shape (K,).
        rates: of the challenger.

    Returns:
        None where a class has no rows.
    """
    total = sums[0].sum(axis=1)
    if min(total) <= 0:
        return None
    each = total[:, None].astype(np.float64)
    weight, guessed = (one / each for one in sums[:2])
    squares, products = (one / each**2 for one in sums[2:])
    return Encounter(
        rates=np.stack([weight - guessed, guessed], axis=1),
        single=single,
        n_members=rates.n_members,
        n_holdout=rates.n_holdout,
        prior=rates.prior,
        shared=Shared(
            squares=np.stack([squares - products, products], axis=1),
            guessed=squared / each[:, 0] ** 2,
        ),
    )


def of_constant(found: Encounter) -> Encounter:
    """Return how the constant guess, in place of the challenger, meets the rival's score."""
    guess = int(found.prior > _HALF)
    assert found.shared is not None  # noqa: S101 - of a challenger

    def all_there(by_guess: Floats) -> Floats:
        moved = np.zeros_like(by_guess)
        moved[:, guess] = by_guess.sum(axis=1)
        return moved

    squares = all_there(found.shared.squares)
    shared = Shared(squares=squares, guessed=squares[:, 1].sum(axis=1))
    return replace(found, rates=all_there(found.rates), shared=shared)


def in_bins(found: Encounter, bins: Places) -> Encounter:
    """Return an encounter with a rival that sees only in which bin a score is.

    Args:
        found: with the score's cells.
        bins: the bin of each cell, increasing, shape (K,).
    """
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    assert found.shared is not None  # noqa: S101 - of a challenger
    squares = np.add.reduceat(found.shared.squares, starts, axis=2)
    return replace(
        found,
        rates=np.add.reduceat(found.rates, starts, axis=2),
        single=np.ones(starts.size, dtype=bool),
        shared=replace(found.shared, squares=squares),
    )


def same_rows_lower(
    challenger: Challenger, found: Encounter | None, attackers: Attackers, alpha: float
) -> float | None:
    """Return the paired limit of challenger minus the best of a class; None without rows."""
    if found is None:
        return None
    entering = found if challenger.gains(alpha) else of_constant(found)
    return paired_lower(entering, rival_class(attackers), challenger.error(alpha))


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
    rates, error = challenger.rates, challenger.error(alpha)
    if min(rates.n_members, rates.n_holdout) <= 0:
        return None
    if not independent:
        upper = rival.upper(attackers, error)
        if upper is None:
            return None
        lower = rates.lower(error) if challenger.gains(alpha) else baseline(rates.prior)
        return separate_lower(lower, upper, rates.prior)
    # Not `rival.upper`: the root of squares needs a limit that is centred on the value.
    observed, n_members, n_holdout = rival.observed(attackers)
    upper = oracle_upper(observed, n_members, n_holdout, prior=rates.prior, alpha=error)
    return independent_lower(
        challenger.standing(alpha),
        Standing(value=observed, slack=max(0.0, upper - observed)),
        rates.prior,
    )
