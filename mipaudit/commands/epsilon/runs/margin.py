"""How cautious the choice of an attack should be, settled on the burn-in rows alone.

Where epsilon is reached by large sets of scores (randomized response, Laplace noise),
small sets that look better only look so, and caution pays; where the ratio of the
classes grows towards the ends (Gaussian noise), it costs. Attacks chosen with one half of
the burn-in are tried on the other half, with each degree of caution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.maths.epsilon.choice import Sizes, choose_attacks, prospect
from mipaudit.maths.epsilon.conditional import GuessCounts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from mipaudit.commands.epsilon.runs.split import Split
    from mipaudit.maths.epsilon.choice import Numerator
    from mipaudit.maths.epsilon.conditional import Slack

_MARGINS: Final = (3.0, 1.4, 0.5)  # in the order of preference
_TRIALS: Final = 4


def settled_margin(
    split: Split, usual: Mapping[Numerator, Slack], rng: np.random.Generator
) -> float:
    """Return the margin whose attacks did best on halves of the burn-in that chose none.

    Args:
        split: its judged rows are not looked at, only counted.
        usual: right guesses that do not count, and the error for the rest, by numerator.
        rng: halves the burn-in.

    Returns:
        One of three; the most cautious where a class has too few rows to be halved.
    """
    judged = split.sizes.judged
    trials = [trial for _ in range(_TRIALS) for trial in split.burn_in.halves(rng)]
    if not trials:
        return _MARGINS[0]
    tried: dict[float, list[GuessCounts]] = {margin: [] for margin in _MARGINS}
    beyond = dict.fromkeys(_MARGINS, 0.0)
    for chooser, other in trials:
        sizes = Sizes(burn_in=chooser.rows, judged=judged)
        attacks = choose_attacks(*chooser.candidates(), sizes, usual, _MARGINS)
        for margin, attack in zip(_MARGINS, attacks, strict=True):
            tried[margin].append(other.seen(attack))
            beyond[margin] += usual[attack.numerator].guesses / len(trials)

    def found(margin: float) -> float:
        seen, alpha = _added(tried[margin]), usual["both"].alpha
        return prospect(seen, judged, beyond=beyond[margin], alpha=alpha, trials=_TRIALS)

    return max(_MARGINS, key=found)


def _added(tables: list[GuessCounts]) -> GuessCounts:
    return GuessCounts(
        tp=sum(table.tp for table in tables),
        fp=sum(table.fp for table in tables),
        tn=sum(table.tn for table in tables),
        fn=sum(table.fn for table in tables),
        n_members=sum(table.n_members for table in tables),
        n_holdout=sum(table.n_holdout for table in tables),
    )
