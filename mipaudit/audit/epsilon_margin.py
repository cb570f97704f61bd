"""How cautious the choice of an attack should be, settled on the burn-in rows alone.

Where epsilon is reached by large sets of scores (randomized response, Laplace noise),
small sets that look better only look so, and caution pays; where the ratio of the
classes grows towards the ends (Gaussian noise), it costs. Attacks chosen with one half of
the burn-in are tried on the other half, with each degree of caution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.maths.conditional import GuessCounts
from mipaudit.maths.epsilon_choice import Sizes, choose_attacks, prospect

if TYPE_CHECKING:
    import numpy as np

    from mipaudit.audit.epsilon_split import Split
    from mipaudit.maths.conditional import Slack

_MARGINS: Final = (3.0, 1.4, 0.5)  # in the order of preference
_TRIALS: Final = 4


def settled_margin(split: Split, slack: Slack, rng: np.random.Generator) -> float:
    """Return the margin whose attacks did best on halves of the burn-in that chose none.

    Args:
        split: its judged rows are not looked at, only counted.
        slack: right guesses that do not count, and the error for the rest.
        rng: halves the burn-in.

    Returns:
        One of three; the most cautious where a class has too few rows to be halved.
    """
    judged = split.sizes.judged
    trials = [trial for _ in range(_TRIALS) for trial in split.burn_in.halves(rng)]
    if not trials:
        return _MARGINS[0]
    tried: dict[float, list[GuessCounts]] = {margin: [] for margin in _MARGINS}
    for chooser, other in trials:
        sizes = Sizes(burn_in=chooser.rows, judged=judged)
        attacks = choose_attacks(*chooser.candidates(), sizes, slack, _MARGINS)
        for margin, attack in zip(_MARGINS, attacks, strict=True):
            tried[margin].append(other.seen(attack))
    return max(
        _MARGINS, key=lambda margin: prospect(_added(tried[margin]), judged, slack, trials=_TRIALS)
    )


def _added(tables: list[GuessCounts]) -> GuessCounts:
    return GuessCounts(
        tp=sum(table.tp for table in tables),
        fp=sum(table.fp for table in tables),
        tn=sum(table.tn for table in tables),
        fn=sum(table.fn for table in tables),
        n_members=sum(table.n_members for table in tables),
        n_holdout=sum(table.n_holdout for table in tables),
    )
