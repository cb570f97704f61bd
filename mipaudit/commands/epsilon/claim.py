"""A claim beside the data: the verdict, and what the design could have found."""

import math
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from mipaudit.commands.epsilon.independent_runs.counted import pooled_limit
from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.commands.epsilon.power import (
    LARGEST_EPSILON,
    USUAL_POWER,
    Claim,
    CountLimit,
    Detector,
    Mechanism,
    canaries_needed,
    curve_with_epsilon,
    independent_runs_detector,
    one_run_detector,
    runs_needed,
    smallest_refutable_epsilon,
)
from mipaudit.commands.epsilon.report import CanaryGuesses, DetectionPower, EpsilonStatement
from mipaudit.maths.epsilon.rates import clopper_pearson_epsilon
from mipaudit.maths.privacy.tradeoff import TradeOff
from mipaudit.model.message import Message

_MECHANISMS: Final[tuple[Mechanism, ...]] = ("gaussian", "laplace")
_NO_ATTACK: Final = Message("no_attack")
_TWO_DIGITS: Final = 2
# Runs that trying many attacks takes, beside knowing the best (mipaudit help methods).
_SEARCH_COST: Final = 1.8


class _Plan(NamedTuple):
    """How often a design refutes the claim, and the size, and guesses, that it takes."""

    detector: Detector
    needed: Callable[[TradeOff], tuple[int | None, int | None]]


def detection_power(
    asked: EpsilonOptions, statement: EpsilonStatement, *, columns: int
) -> tuple[DetectionPower, ...]:
    """Return the power of a design to refute the claimed epsilon.

    Args:
        asked: with a claimed epsilon and a delta below 1.
        statement: the deciding one: how many runs or canaries were judged.
        columns: score columns that share the error.
    """
    plan = None
    if statement.guesses is not None:
        plan = _one_run(asked, statement.guesses, columns)
    elif statement.attack is not None:
        judged = min(statement.attack.n_members, statement.attack.n_holdout)
        plan = _runs(asked, statement, judged, columns)
    return tuple(_power(asked, mechanism, plan) for mechanism in _MECHANISMS)


def _runs(asked: EpsilonOptions, statement: EpsilonStatement, judged: int, columns: int) -> _Plan:
    """Return the plan of independent runs."""
    limit, kinds = _limit_of(asked, statement)
    # Two classes' right guesses share the error, as counts do by default.
    counted = asked.table is not None
    conditional = asked.method == "conditional"
    both = counted and conditional and asked.counted_class == "either"
    claim = _claim(asked, columns * (2 if both else 1))
    cost = 1.0 if counted else _SEARCH_COST
    worth = max(1, round(kinds * judged / cost))

    def needed(curve: TradeOff) -> tuple[int | None, None]:
        runs = runs_needed(limit, curve, claim)
        return (None if runs is None else _rounded_up(runs * cost / kinds)), None

    return _Plan(independent_runs_detector(limit, claim, n_num=worth, n_den=worth), needed)


def _one_run(asked: EpsilonOptions, made: CanaryGuesses, columns: int) -> _Plan:
    """Return the plan of one run; of totals, with the number of guesses that were made."""
    directions = 1 if asked.direction or asked.totals else 2

    def needed(curve: TradeOff) -> tuple[int | None, int | None]:
        return canaries_needed(curve, _claim(asked, columns * directions)) or (None, None)

    detector = one_run_detector(
        _claim(asked, columns),
        canaries=made.canaries,
        guesses=made.guesses if asked.totals else asked.guesses,
        directions=directions,
    )
    return _Plan(detector, needed)


def _claim(asked: EpsilonOptions, limits: int) -> Claim:
    """Return the claim, at the confidence of one of so many limits."""
    return Claim(asked.claimed_epsilon or 0.0, asked.delta, asked.confidence_of_one(limits))


def _limit_of(
    asked: EpsilonOptions, statement: EpsilonStatement
) -> tuple[CountLimit, Literal[1, 2]]:
    """Return the limit as a function of two counts, and the kinds of runs that it pools.

    Clopper-Pearson's stands for the Gaussian one, which is stronger where it holds.
    """
    if statement.method == "conditional":
        mirrored = asked.table is None or asked.counted_class == "both"
        return pooled_limit(), 2 if mirrored else 1
    return _clopper_pearson, 1


def _clopper_pearson(
    tp: int, n_num: int, fp: int, n_den: int, delta: float, alpha: float, /
) -> float:
    return clopper_pearson_epsilon(tp, n_num - tp, fp, n_den - fp, delta=delta, alpha=alpha)


def _power(asked: EpsilonOptions, mechanism: Mechanism, plan: _Plan | None) -> DetectionPower:
    """Return what is found and what it takes; where either is missing, with its reason."""
    claim = _claim(asked, 1)
    # The true epsilon to plan for, unless it was named.
    true = asked.true_epsilon or 2 * claim.epsilon or 1.0
    found = needed = guesses = None
    reason = unreachable = _NO_ATTACK
    if plan is not None:
        reason = Message.of("none_up_to", most=LARGEST_EPSILON)
        unreachable = Message("no_size_does")
        found = smallest_refutable_epsilon(plan.detector, mechanism, claim)
        curve = curve_with_epsilon(mechanism, epsilon=true, delta=claim.delta)
        if curve is None:
            reason = unreachable = Message("gaussian_without_epsilon")
        else:
            needed, guesses = plan.needed(curve)
    return DetectionPower(
        mechanism=mechanism,
        power=USUAL_POWER,
        refutable_epsilon=found,
        refutable_reason=None if found is not None else reason,
        true_epsilon=true,
        needed=needed,
        needed_guesses=guesses,
        needed_reason=None if needed is not None else unreachable,
    )


def _rounded_up(size: float) -> int:
    """Return a size of two digits that is not smaller."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(size, 1))) - _TWO_DIGITS + 1)
    return math.ceil(size / unit) * unit
