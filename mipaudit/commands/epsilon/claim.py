"""A claim beside the data: the verdict, and what the design could have found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.commands.epsilon.canaries.power import canaries_needed, one_run_detector
from mipaudit.commands.epsilon.power import (
    LARGEST_EPSILON,
    USUAL_POWER,
    Mechanism,
    independent_runs_detector,
    runs_needed,
    smallest_refutable_epsilon,
)
from mipaudit.commands.epsilon.report import DetectionPower
from mipaudit.commands.epsilon.runs.counted import pooled_limit
from mipaudit.maths.epsilon.rates import clopper_pearson_epsilon

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.commands.epsilon.power import CountLimit, Detector
    from mipaudit.commands.epsilon.report import EpsilonStatement

_MECHANISMS: Final[tuple[Mechanism, ...]] = ("gaussian", "laplace")
_GAUSSIAN_AT_ZERO: Final = "Gaussian noise has no epsilon at delta 0"
_TOO_FEW: Final = "a class is too small to be both searched and judged"
_TWO_DIGITS: Final = 2
# Runs that searching for the attack takes, beside knowing it: measured, docs/epsilon.md.
_SEARCH_COST: Final = 2.0


def planned_epsilon(asked: EpsilonOptions) -> float:
    """Return the true epsilon to plan for: twice the claim, or 1, unless it was named."""
    if asked.true_epsilon is not None:
        return asked.true_epsilon
    return 2 * (asked.claimed_epsilon or 0) or 1.0


def runs_power(
    asked: EpsilonOptions,
    statement: EpsilonStatement,
    *,
    n_members: int,
    n_holdout: int,
    columns: int,
) -> tuple[DetectionPower, ...]:
    """Return the power of independent runs to refute the claimed epsilon.

    Args:
        asked: with a claimed epsilon and a delta below 1.
        statement: the deciding one: how many runs were judged.
        n_members: runs with the record.
        n_holdout: runs without it.
        columns: score columns that share the error.
    """
    attack = statement.attack
    if attack is None:
        nothing = None, (None, None), (_TOO_FEW, _TOO_FEW)
        return tuple(_described(asked, mechanism, *nothing) for mechanism in _MECHANISMS)
    limit, kinds = _limit_of(asked, statement)
    confidence = asked.confidence_of_one(columns * (2 if _tries_both(asked) else 1))
    judged = min(attack.n_members, attack.n_holdout)
    cost = 1.0 if asked.table is not None else _SEARCH_COST
    worth = max(1, round(kinds * judged / cost))
    claimed = asked.claimed_epsilon or 0.0
    detector = independent_runs_detector(
        limit,
        n_num=worth,
        n_den=worth,
        claimed=claimed,
        delta=asked.delta,
        confidence=confidence,
    )
    share = judged / min(n_members, n_holdout)
    true = planned_epsilon(asked)

    def needed(mechanism: Mechanism) -> tuple[int | None, None]:
        runs = runs_needed(
            limit,
            mechanism,
            claimed=claimed,
            true=true,
            delta=asked.delta,
            confidence=confidence,
        )
        return (None if runs is None else _rounded_up(runs * cost / kinds / share)), None

    return tuple(_power(asked, kind, detector, needed(kind)) for kind in _MECHANISMS)


def one_run_power(
    asked: EpsilonOptions, *, canaries: int, guesses: int | None, columns: int
) -> tuple[DetectionPower, ...]:
    """Return the power of one run to refute the claimed epsilon.

    Args:
        asked: with a claimed epsilon and a delta below 1.
        canaries: m.
        guesses: their number where only totals are known; else the question's count.
        columns: score columns that share the error.
    """
    directions = 1 if asked.direction or asked.totals else 2
    claimed = asked.claimed_epsilon or 0.0
    detector = one_run_detector(
        canaries=canaries,
        guesses=guesses or asked.guesses,
        claimed=claimed,
        delta=asked.delta,
        confidence=asked.confidence_of_one(columns),
        directions=directions,
    )
    true = planned_epsilon(asked)

    def needed(mechanism: Mechanism) -> tuple[int | None, int | None]:
        size = canaries_needed(
            mechanism,
            claimed=claimed,
            true=true,
            delta=asked.delta,
            confidence=asked.confidence_of_one(columns * directions),
        )
        return (None, None) if size is None else (size.canaries, size.guesses)

    return tuple(_power(asked, kind, detector, needed(kind)) for kind in _MECHANISMS)


def _limit_of(
    asked: EpsilonOptions, statement: EpsilonStatement
) -> tuple[CountLimit, Literal[1, 2]]:
    """Return the limit as a function of two counts, and the kinds of runs that it pools.

    Clopper-Pearson's stands for all but the conditional one. It is a little weaker than they
    are: measured, bands and grid refute at epsilons 5-15% below those that it gives.
    """
    if statement.method == "conditional":
        mirrored = asked.table is None or asked.counted_class == "both"
        return pooled_limit(), 2 if mirrored else 1
    return _clopper_pearson, 1


def _clopper_pearson(
    tp: int, n_num: int, fp: int, n_den: int, delta: float, alpha: float, /
) -> float:
    return clopper_pearson_epsilon(tp, n_num - tp, fp, n_den - fp, delta=delta, alpha=alpha)


def _tries_both(asked: EpsilonOptions) -> bool:
    """Tell whether two classes' right guesses share the error, as counts do by default."""
    conditional = asked.method == "conditional"
    return asked.table is not None and conditional and asked.counted_class == "either"


def _power(
    asked: EpsilonOptions,
    mechanism: Mechanism,
    detector: Detector,
    needed: tuple[int | None, int | None],
) -> DetectionPower:
    found = smallest_refutable_epsilon(
        detector, mechanism, claimed=asked.claimed_epsilon or 0.0, delta=asked.delta
    )
    reason = f"none up to {LARGEST_EPSILON:g}"
    unreachable = "no size that was tried does"
    if mechanism == "gaussian" and asked.delta == 0:
        reason = unreachable = _GAUSSIAN_AT_ZERO
    return _described(asked, mechanism, found, needed, (reason, unreachable))


def _described(
    asked: EpsilonOptions,
    mechanism: Mechanism,
    found: float | None,
    needed: tuple[int | None, int | None],
    reasons: tuple[str, str],
) -> DetectionPower:
    """Return what was found and what it takes; where either is missing, with its reason."""
    return DetectionPower(
        mechanism=mechanism,
        power=USUAL_POWER,
        refutable_epsilon=found,
        refutable_reason=None if found is not None else reasons[0],
        true_epsilon=planned_epsilon(asked),
        needed=needed[0],
        needed_guesses=needed[1],
        needed_reason=None if needed[0] is not None else reasons[1],
    )


def _rounded_up(size: float) -> int:
    """Return a size of two digits that is not smaller."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(size, 1))) - _TWO_DIGITS + 1)
    return math.ceil(size / unit) * unit
