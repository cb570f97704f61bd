"""Whether limits cover less than they promise, and how small a shortfall would be found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.validation.report import CoverageRow

LEVEL: Final = 0.01
POWER: Final = 0.8


def miss_p_value(misses: int, replications: int, nominal: float) -> float:
    """Return P(at least so many misses) if the coverage is exactly nominal."""
    if misses == 0:
        return 1.0
    from scipy.special import betainc

    return float(betainc(misses, replications - misses + 1, 1 - nominal))


def failures(rows: Sequence[CoverageRow], level: float = LEVEL) -> tuple[CoverageRow, ...]:
    """Return the rows whose coverage is below nominal, by Holm's step-down test.

    Each row is tested exactly (binomial); the chance that a table of valid limits
    has any failure is at most ``level``.

    Args:
        rows: all that were run; leaving some out makes the level untrue.
        level: familywise error in (0, 1).

    Returns:
        The least likely first.
    """
    ordered = sorted(rows, key=lambda row: row.p_value)
    for rank, row in enumerate(ordered):
        if row.p_value > level / (len(ordered) - rank):
            return tuple(ordered[:rank])
    return tuple(ordered)


def detectable_coverage(replications: int, nominal: float, level: float) -> float:
    """Return the greatest true coverage that a test finds too low with probability `POWER`.

    Args:
        replications: files drawn.
        nominal: promised coverage in (0, 1).
        level: of the test of one row; Holm's strictest is the table's over its rows.

    Returns:
        Below nominal; 0 where no number of misses would be enough.
    """
    from scipy.special import betaincinv

    fewest = _fewest_misses(replications, nominal, level)
    if fewest is None:
        return 0.0
    return 1 - float(betaincinv(fewest, replications - fewest + 1, POWER))


def _fewest_misses(replications: int, nominal: float, level: float) -> int | None:
    """Return the fewest misses that are significant, by bisection."""
    if miss_p_value(replications, replications, nominal) > level:
        return None
    low, high = 0, replications  # not enough, enough
    while high - low > 1:
        middle = (low + high) // 2
        if miss_p_value(middle, replications, nominal) <= level:
            high = middle
        else:
            low = middle
    return high
