"""Epsilon from the counts of an attack on independent runs that was fixed beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from mipaudit.commands.epsilon.counts.counted_attack import (
    conditional_from_counts,
    estimate_from_counts,
    smoothed_rates,
)
from mipaudit.commands.epsilon.report import EpsilonStatement, JudgedAttack
from mipaudit.commands.epsilon.runs.curve_refutation import counts_refute_curve
from mipaudit.maths.epsilon.rates import clopper_pearson_epsilon, credible_epsilon, rate_limits
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import refuted_mu
from mipaudit.statements.policy import delta_reason

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.counts.totals import AttackTable
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.commands.epsilon.report import StatementValidity

_Method = Literal["conditional", "clopper-pearson", "bayes", "gdp"]


def counts_statements(table: AttackTable, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return the limit that decides, and the others beside it."""
    chosen = _deciding(asked)
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


def _deciding(asked: EpsilonOptions) -> _Method:
    match asked.method:
        case "bayes" | "gdp":
            return asked.method
        case "split-cp":
            return "clopper-pearson"
        case _:
            return "conditional"


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
        case "bayes":
            lower = credible_epsilon(*four, delta=delta, alpha=alpha)
            return lower, None, "both", "credible"
        case "gdp":
            mu = refuted_mu(*rate_limits(*_four(table), alpha=1 - asked.confidence))
            return GaussianDP(mu=mu).epsilon_at(delta), mu, "both", "assumes-gdp"
        case _:
            assert_never(method)


def _four(table: AttackTable) -> tuple[int, int, int, int]:
    return table.tp, table.fn, table.fp, table.tn
