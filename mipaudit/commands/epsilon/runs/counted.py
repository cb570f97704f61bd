"""Epsilon from the counts of an attack on independent runs, and curves that counts refute.

The attack was fixed before the runs were counted, and gives an answer on every run. Of the
mechanism a claimed trade-off curve assumes nothing: the claim itself bounds every attacker's
rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, assert_never

from mipaudit.commands.epsilon.report import EpsilonStatement, JudgedAttack
from mipaudit.commands.epsilon.runs.split import LEAST_ROWS, divide
from mipaudit.maths.epsilon.conditional import GuessCounts, conditional_lower, usual_slack
from mipaudit.maths.epsilon.rates import (
    choose_threshold,
    clopper_pearson_epsilon,
    curve_criterion,
    gdp_criterion,
    rate_limits,
)
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu
from mipaudit.statements.policy import delta_reason

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.commands.epsilon.given import AttackTable
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.commands.epsilon.report import StatementValidity
    from mipaudit.maths.epsilon.choice import Numerator
    from mipaudit.maths.privacy.tradeoff import TradeOff

_Method = Literal["conditional", "clopper-pearson", "gdp"]
_EITHER: Final[tuple[Numerator, ...]] = ("member", "holdout")


def runs_refute_curve(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    curve: TradeOff,
    *,
    confidence: float,
    rng: np.random.Generator,
    splits: int = 1,
) -> bool:
    """Tell whether the runs contradict that no attacker exceeds ``curve``.

    A random part of the rows chooses a threshold; on the rest the lower limit of its
    TPR is compared with the curve at the upper limit of its FPR.

    Args:
        members: scores of runs with the record, shape (n1,), n1 above 0; no NaN.
        holdout: scores of runs without it, shape (n0,), n0 above 0.
        curve: symmetric, for the neighbours that the runs differ in.
        confidence: in (0, 1).
        rng: settles which rows choose the threshold.
        splits: repeat the split: half of the tests, at half of the error, must refute
            (Rüger 1978).
    """
    if min(members.size, holdout.size) < LEAST_ROWS:
        return False
    needed = (splits + 1) // 2
    alpha = (1 - confidence) * needed / splits
    refuted = sum(_refutes(members, holdout, curve, alpha, rng) for _ in range(splits))
    return refuted >= needed


def counts_refute_curve(
    tp: int, fn: int, fp: int, tn: int, curve: TradeOff, *, confidence: float
) -> bool:
    """Tell whether the guesses of an attack that was fixed beforehand contradict ``curve``.

    Args:
        tp: members guessed to be members.
        fn: members guessed to be holdout; tp + fn above 0.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout; fp + tn above 0.
        curve: symmetric.
        confidence: in (0, 1).
    """
    tpr, fpr = rate_limits(tp, fn, fp, tn, alpha=1 - confidence)
    return tpr > curve.tpr(fpr)


def _refutes(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    curve: TradeOff,
    alpha: float,
    rng: np.random.Generator,
) -> bool:
    split = divide(members, holdout, rng)
    criterion = (
        gdp_criterion(split.sizes, alpha)
        if isinstance(curve, GaussianDP)
        else curve_criterion(split.sizes, alpha, curve)
    )
    attack = choose_threshold(*split.burn_in.candidates(), split.sizes, criterion)
    counts = split.answers(attack)
    return counts_refute_curve(
        counts.tp, counts.fn, counts.fp, counts.tn, curve, confidence=1 - alpha
    )


def counts_statements(table: AttackTable, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return the limit that decides, and the others beside it."""
    chosen: _Method = "gdp" if asked.method == "gdp" else "conditional"
    methods: list[_Method] = ["conditional", "clopper-pearson"]
    if asked.assume_gdp:
        methods.append("gdp")
    ordered = [chosen, *(method for method in methods if method != chosen)]
    return tuple(_statement(table, asked, method, decides=method == chosen) for method in ordered)


def curve_is_refuted_by_counts(table: AttackTable, asked: EpsilonOptions) -> bool:
    """Tell whether the counts refute a claimed mu or trade-off curve, if there is one."""
    curve = asked.tradeoff
    return curve is not None and counts_refute_curve(
        *_four(table), curve, confidence=asked.confidence
    )


def _statement(
    table: AttackTable, asked: EpsilonOptions, method: _Method, *, decides: bool
) -> EpsilonStatement:
    lower, mu, numerator, validity = _limit(table, asked, method, asked.delta)
    pure = 0.0 if method == "gdp" else _limit(table, asked, method, 0.0)[0]
    estimate = _estimate(table, asked.delta, method)
    return EpsilonStatement(
        score=None,
        method=method,
        validity=validity,
        decides=decides,
        lower=lower,
        lower_reason=None if lower > 0 else _why_none(pure),
        estimate=estimate,
        mu_lower=mu,
        confidence=asked.confidence,
        attack=JudgedAttack(
            direction=None,
            numerator=numerator,
            tp=table.tp,
            fp=table.fp,
            tn=table.tn,
            fn=table.fn,
            n_members=table.tp + table.fn,
            n_holdout=table.fp + table.tn,
        ),
        guesses=None,
    )


def _why_none(pure: float) -> str:
    return delta_reason(pure) if pure > 0 else "the difference that was found is within chance"


def _estimate(table: AttackTable, delta: float, method: _Method) -> float:
    if method == "gdp":
        mu = refuted_mu(*smoothed_rates(*_four(table)))
        return GaussianDP(mu=mu).epsilon_at(delta)
    return estimate_from_counts(*_four(table), delta=delta)


def _limit(
    table: AttackTable, asked: EpsilonOptions, method: _Method, delta: float
) -> tuple[float, float | None, Literal["member", "holdout", "both"], StatementValidity]:
    """Return the limit, the limit of mu, the class that counts and what it is worth."""
    four, alpha = _four(table), 1 - asked.confidence
    match method:
        case "conditional":
            lower, numerator = conditional_from_counts(
                *four, numerator=asked.counted_class, delta=delta, alpha=alpha
            )
            return lower, None, numerator, "finite-sample"
        case "clopper-pearson":
            lower = clopper_pearson_epsilon(*four, delta=delta, alpha=alpha)
            return lower, None, "both", "finite-sample"
        case "gdp":
            mu = refuted_mu(*rate_limits(*_four(table), alpha=1 - asked.confidence))
            return GaussianDP(mu=mu).epsilon_at(delta), mu, "both", "assumes-gdp"
        case _:
            assert_never(method)


def _four(table: AttackTable) -> tuple[int, int, int, int]:
    return table.tp, table.fn, table.fp, table.tn


def conditional_from_counts(
    tp: int,
    fn: int,
    fp: int,
    tn: int,
    *,
    numerator: Numerator | Literal["either"],
    delta: float,
    alpha: float,
) -> tuple[float, Numerator]:
    """Return the lower limit of epsilon, and the class whose right guesses gave it.

    Args:
        tp: members guessed to be members.
        fn: members guessed to be holdout; tp + fn above 0.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout; fp + tn above 0.
        numerator: the guesses that count, settled beforehand; ``either`` tries those of
            *member* and those of *holdout*, each with half of the error.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
    """
    tried: tuple[Numerator, ...] = _EITHER if numerator == "either" else (numerator,)
    found = [
        (conditional_lower(counts, usual_slack(exposed, delta, alpha / len(tried))), one)
        for one in tried
        for counts, exposed in [_counted(tp, fn, fp, tn, one)]
    ]
    return max(found, key=lambda pair: pair[0])


def estimate_from_counts(tp: int, fn: int, fp: int, tn: int, *, delta: float) -> float:
    """Return the plug-in epsilon of the smoothed rates: finite."""
    return refuted_epsilon(*smoothed_rates(tp, fn, fp, tn), delta)


def smoothed_rates(tp: int, fn: int, fp: int, tn: int) -> tuple[float, float]:
    """Return TPR and FPR with half a run of each kind added: neither is 0 or 1."""
    return (tp + 0.5) / (tp + fn + 1), (fp + 0.5) / (fp + tn + 1)


def pooled_limit() -> Callable[[int, int, int, int, float, float], float]:
    """Return the conditional limit as a function of right and wrong guesses.

    Its arguments are those of `mipaudit.commands.epsilon.power.CountLimit`. Guesses
    of *member* and of *holdout* count together in the conditional limit, so equally many
    runs of both kinds, with mirrored sets, are one set with twice the runs.
    """
    from functools import lru_cache

    slack_of = lru_cache(maxsize=64)(usual_slack)

    def limit(tp: int, n_num: int, fp: int, n_den: int, delta: float, alpha: float, /) -> float:
        counts = GuessCounts(tp=tp, fp=fp, tn=0, fn=0, n_members=n_num, n_holdout=n_den)
        return conditional_lower(counts, slack_of(n_num, delta, alpha))

    return limit


def _counted(tp: int, fn: int, fp: int, tn: int, numerator: Numerator) -> tuple[GuessCounts, int]:
    """Return the guesses that count, and how many runs delta may expose among them."""
    members, holdout = tp + fn, fp + tn
    in_counts, out_counts = numerator != "holdout", numerator != "member"
    counts = GuessCounts(
        tp=tp if in_counts else 0,
        fp=fp if in_counts else 0,
        tn=tn if out_counts else 0,
        fn=fn if out_counts else 0,
        n_members=members,
        n_holdout=holdout,
    )
    return counts, members * in_counts + holdout * out_counts
