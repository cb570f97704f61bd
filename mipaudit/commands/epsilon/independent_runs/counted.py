"""Epsilon from the counts of an attack on independent runs, and curves that counts refute.

The attack was fixed before the runs were counted, and gives an answer on every run. Of the
mechanism a claimed trade-off curve assumes nothing: the claim itself bounds every attacker's
rates.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal

from mipaudit.commands.epsilon.given import AttackTable
from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.commands.epsilon.report import EpsilonStatement, JudgedAttack
from mipaudit.maths.epsilon.attacks import Numerator
from mipaudit.maths.epsilon.conditional import GuessCounts, conditional_lower, usual_slack
from mipaudit.maths.epsilon.rates import clopper_pearson_epsilon, rate_limits
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import TradeOff, refuted_epsilon, refuted_mu
from mipaudit.model.message import Message

_Method = Literal["conditional", "clopper-pearson", "gdp"]
_EITHER: Final[tuple[Numerator, ...]] = ("member", "holdout")


def counts_refute_curve(table: AttackTable, curve: TradeOff, *, confidence: float) -> bool:
    """Tell whether the guesses of an attack that was fixed beforehand contradict ``curve``.

    Args:
        table: the guesses, on at least one run of each kind.
        curve: symmetric.
        confidence: in (0, 1).
    """
    tpr, fpr = rate_limits(*table, alpha=1 - confidence)
    return tpr > curve.tpr(fpr)


def counts_statements(table: AttackTable, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return the limit that decides, and the others beside it."""
    methods: list[_Method] = ["conditional", "clopper-pearson"]
    if asked.assume_gdp:
        methods.insert(0 if asked.method == "gdp" else 2, "gdp")
    return tuple(_statement(table, asked, one, decides=one == methods[0]) for one in methods)


def _statement(
    table: AttackTable, asked: EpsilonOptions, method: _Method, *, decides: bool
) -> EpsilonStatement:
    alpha, delta = 1 - asked.confidence, asked.delta
    numerator: Numerator = "both"
    mu, pure = None, 0.0
    estimate = estimate_from_counts(table, delta=delta)
    if method == "conditional":
        tried = asked.counted_class
        lower, numerator = conditional_from_counts(table, numerator=tried, delta=delta, alpha=alpha)
        pure, _ = conditional_from_counts(table, numerator=tried, delta=0.0, alpha=alpha)
    elif method == "clopper-pearson":
        lower = clopper_pearson_epsilon(*table, delta=delta, alpha=alpha)
        pure = clopper_pearson_epsilon(*table, delta=0.0, alpha=alpha)
    else:
        mu = refuted_mu(*rate_limits(*table, alpha=alpha))
        lower = GaussianDP(mu=mu).epsilon_at(delta)
        estimate = gaussian_estimate(table, delta=delta)
    reason = Message("difference_within_chance")
    if pure > 0:
        reason = Message.of("delta_allows", pure=pure)
    return EpsilonStatement(
        score=None,
        method=method,
        validity="assumes-gdp" if method == "gdp" else "finite-sample",
        decides=decides,
        lower=lower,
        lower_reason=None if lower > 0 else reason,
        estimate=estimate,
        mu_lower=mu,
        confidence=asked.confidence,
        attack=judged_attack(table, numerator),
        guesses=None,
    )


def judged_attack(
    table: AttackTable, numerator: Numerator, *, members_high: bool | None = None
) -> JudgedAttack:
    """Return how the report has an attack that answered on every judged run; None for counts."""
    direction: Literal["high", "low"] | None = None
    if members_high is not None:
        direction = "high" if members_high else "low"
    return JudgedAttack(
        direction=direction,
        numerator=numerator,
        **table._asdict(),
        n_members=table.tp + table.fn,
        n_holdout=table.fp + table.tn,
    )


def conditional_from_counts(
    table: AttackTable, *, numerator: Numerator | Literal["either"], delta: float, alpha: float
) -> tuple[float, Numerator]:
    """Return the lower limit of epsilon, and the class whose right guesses gave it.

    Args:
        table: the guesses, on at least one run of each kind.
        numerator: the guesses that count, settled beforehand; ``either`` tries those of
            *member* and those of *holdout*, each with half of the error.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
    """
    tried: tuple[Numerator, ...] = _EITHER if numerator == "either" else (numerator,)
    found = [(_conditional(table, one, delta, alpha / len(tried)), one) for one in tried]
    return max(found, key=lambda pair: pair[0])


def _conditional(table: AttackTable, numerator: Numerator, delta: float, alpha: float) -> float:
    """Return the limit by the guesses that count, delta exposing the runs among them."""
    members, holdout = table.tp + table.fn, table.fp + table.tn
    said_in, said_out = numerator != "holdout", numerator != "member"
    counts = GuessCounts(
        tp=table.tp * said_in,
        fp=table.fp * said_in,
        tn=table.tn * said_out,
        fn=table.fn * said_out,
        n_members=members,
        n_holdout=holdout,
    )
    exposed = members * said_in + holdout * said_out
    return conditional_lower(counts, usual_slack(exposed, delta, alpha))


def smoothed_rates(table: AttackTable) -> tuple[float, float]:
    """Return TPR and FPR with half a run of each kind added: neither is 0 or 1."""
    tp, fn, fp, tn = table
    return (tp + 0.5) / (tp + fn + 1), (fp + 0.5) / (fp + tn + 1)


def refuting_class(table: AttackTable, delta: float) -> Numerator:
    """Return the class whose inequality refutes the greater epsilon."""
    tpr, fpr = smoothed_rates(table)
    found = (tpr - delta) * (1 - tpr)
    return "member" if found >= (1 - fpr - delta) * fpr else "holdout"


def estimate_from_counts(table: AttackTable, *, delta: float) -> float:
    """Return the plug-in epsilon of the smoothed rates: finite."""
    return refuted_epsilon(*smoothed_rates(table), delta)


def gaussian_estimate(table: AttackTable, *, delta: float) -> float:
    """Return the same for the mechanism of mu-GDP that has these rates."""
    return GaussianDP(mu=refuted_mu(*smoothed_rates(table))).epsilon_at(delta)


def pooled_limit() -> Callable[[int, int, int, int, float, float], float]:
    """Return the conditional limit as a function of right and wrong guesses.

    Its arguments are those of `mipaudit.commands.epsilon.power.CountLimit`. Guesses
    of *member* and of *holdout* count together in the conditional limit, so equally many
    runs of both kinds, with mirrored sets, are one set with twice the runs.
    """
    slack_of = lru_cache(maxsize=64)(usual_slack)

    def limit(tp: int, n_num: int, fp: int, n_den: int, delta: float, alpha: float, /) -> float:
        counts = GuessCounts(tp=tp, fp=fp, tn=0, fn=0, n_members=n_num, n_holdout=n_den)
        return conditional_lower(counts, slack_of(n_num, delta, alpha))

    return limit
