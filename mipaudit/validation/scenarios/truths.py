"""What is true of a score: every figure that ``estimate`` prints, from the laws alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.validation.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.laws.law_on_rungs import Side
    from mipaudit.validation.scenarios.view import View

FPRS: Final = (0.001, 0.01, 0.1)
DELTAS: Final = (0.0, 1e-5, 1e-3, 1e-2)
INTERVALS: Final = (1, 4)
UNLIMITED: Final = "the privacy loss has no limit"
# What the ladder vouches for; more digits would differ between machines.
_DECIMALS: Final = 9


def truths_of(view: View, prior: float) -> Iterator[Truth]:
    """Yield what is true of a view."""
    best = view.law.advantage(prior)
    yield _advantage(view, best, "any")
    if view.quantity != "advantage":
        return
    if view.ordered:
        yield _advantage(view, view.law.advantage_thresholds(prior), "thresholds")
        for k in INTERVALS:
            yield _advantage(view, view.law.advantage_intervals(prior, k), f"intervals-{k}")
    yield from _restated(view, best, prior)
    if view.ordered:
        yield Truth(quantity="auc", value=tidy(view.law.auc()), sees=view.sees, group=view.group)
        yield from _operating_points(view)
    if view.curve is not None:
        yield from mechanism_truths(view.curve, view.sees)
    yield from _attacks(view)


def mechanism_truths(curve: TradeOff, sees: str) -> Iterator[Truth]:
    """Yield epsilon at each delta, and mu where there is one."""
    for delta in DELTAS:
        epsilon = curve.epsilon_at(delta)
        known = math.isfinite(epsilon)
        yield Truth(
            quantity="epsilon",
            value=tidy(epsilon) if known else None,
            value_reason=None if known else UNLIMITED,
            sees=sees,
            delta=delta,
            source="trade-off curve of the mechanism",
        )
    if isinstance(curve, GaussianDP):
        yield Truth(quantity="mu", value=tidy(curve.mu), sees=sees)


def better_side(law: Law, fpr: float) -> tuple[Side, float]:
    """Return the side on which a threshold has more true positives at an FPR, and how many."""
    high, low = law.tpr_at_fpr(fpr, "high"), law.tpr_at_fpr(fpr, "low")
    return ("low", low) if tidy(low) > tidy(high) else ("high", high)


def tidy(value: float) -> float:
    """Return a value without the digits that nothing vouches for."""
    return round(float(value), _DECIMALS) + 0.0  # no minus sign before a zero


def _advantage(view: View, value: float, attackers: str) -> Truth:
    return Truth(
        quantity=view.quantity,
        value=tidy(value),
        sees=view.sees,
        attackers=attackers,
        group=view.group,
    )


def _restated(view: View, best: float, prior: float) -> Iterator[Truth]:
    """Yield the best attacker's advantage in other terms."""
    baseline = abs(2 * prior - 1)
    for quantity, value in (
        ("baseline", baseline),
        ("excess", best - baseline),
        ("eta", (best - baseline) / 2),
        ("accuracy", (1 + best) / 2),
    ):
        attackers = None if quantity == "baseline" else "any"
        yield Truth(
            quantity=quantity,
            value=tidy(value),
            sees=view.sees,
            attackers=attackers,
            group=view.group,
        )


def _operating_points(view: View) -> Iterator[Truth]:
    for fpr in FPRS:
        side, tpr = better_side(view.law, fpr)
        yield Truth(
            quantity="tpr_at_fpr",
            value=tidy(tpr),
            sees=view.sees,
            attackers="thresholds",
            group=view.group,
            fpr=fpr,
            side=side,
        )


def _attacks(view: View) -> Iterator[Truth]:
    for attack in view.attacks:
        for quantity, value in (
            ("tpr", attack.tpr),
            ("fpr", attack.fpr),
            ("tpr_minus_fpr", attack.tpr - attack.fpr),
        ):
            yield Truth(
                quantity=quantity,
                value=float(f"{value:.12g}"),  # a closed form: 2^-40 is not 0
                sees=view.sees,
                attackers=attack.name,
                source=attack.source,
            )
