"""How many records would settle a comparison with a limit that is open."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.scores.averaged_lower import averaged
from mipaudit.summaries.rows import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.evidence.scores.averaged_lower import Averaged
    from mipaudit.evidence.scores.evidence import Evidence

# The number promised must settle 80% of fresh runs. The sampling error of the estimate
# that it is computed from is spent in two places: it shortens the distance to the
# limit, and it is what a fresh run may fall short by.
_CAUTION: Final = 0.65
# Nearer to the limit than this, in standard errors, a fresh run's estimate may as well lie on
# the other side, and the number would be without bound.
_NEAREST: Final = 1.0
_PLAN_SEED: Final = 18
_POWER_DEVIATE: Final = 1.0
_LARGEST_GAP: Final = 0.9
_MOST_TIMES: Final = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where an open comparison stands.

    Attributes:
        limit: what the quantity is compared with.
        value: best estimate.
        lower: lower confidence limit, or None.
        upper: upper confidence limit, or None.
        error: standard error of the estimates.
        records: number of records behind them.
        least: records that are needed in any case.
    """

    limit: float
    value: float
    lower: float | None
    upper: float | None
    error: float
    records: int
    least: int = 0


def records_to_settle(standing: Standing) -> int | None:
    """Return the number of records at which a limit is expected to pass the comparison.

    Both limits close in on the estimate as the root of the number of records.

    Returns:
        The smaller number of the two directions, or None where the estimate is within a
        standard error of the limit or the number is beyond reason.
    """
    ways = []
    if standing.lower is not None:
        ways.append((standing.value - standing.limit, standing.value - standing.lower))
    if standing.upper is not None:
        # No limit passes 1, so near 1 gaps are pressed together and shrink more slowly.
        gap = math.atanh(min(standing.upper - standing.value, _LARGEST_GAP))
        ways.append((standing.limit - standing.value, gap))
    times = [
        ((gap + _POWER_DEVIATE * standing.error) / (distance - _CAUTION * standing.error)) ** 2
        for distance, gap in ways
        if distance > _NEAREST * standing.error
    ]
    reachable = [max(1.0, t) for t in times if t <= _MOST_TIMES]
    if not reachable:
        return None
    return max(standing.least, _round_up(standing.records * min(reachable)))


def _round_up(records: float) -> int:
    """Round up to two significant digits: the number is a plan, not a measurement."""
    step = int(10 ** max(0, math.floor(math.log10(records)) - 1))
    return math.ceil(records / step) * step


def planned_by(evidence: Evidence) -> Averaged:
    """Return the held-out guesses that a plan rests on, which no seed moves.

    A plan divides by how far the estimate is from the limit, so what the draws of the blocks
    move the estimate by would move the number manyfold. It decides nothing: it may rest on
    draws that are the same for the same scores. Where only counts are kept there are no others.
    """
    rows = None if evidence.vectorial or evidence.strict else evidence.counts.ranked
    if rows is None:
        return evidence.held_out
    order = np.lexsort((rows.member, rows.rank))
    draws = np.random.default_rng(_PLAN_SEED).integers(
        MICRO_BLOCKS, size=rows.micro_blocks.shape, dtype=np.uint8
    )
    steady = replace(rows, rank=rows.rank[order], member=rows.member[order], micro_blocks=draws)
    return averaged(steady, evidence.prior)


def records_of(evidence: Evidence) -> int:
    """Return the number of records of both classes."""
    everyone = evidence.counts.everyone
    return everyone.n_members + everyone.n_holdout
