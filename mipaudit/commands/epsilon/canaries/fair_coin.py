"""Whether canaries were included as independent fair coins would have it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.rounding import number_text, upper_figure

FAIR_RATE: Final = 0.5
_SUSPICIOUS: Final = 1e-3
# Coins give exactly half less often than this from 255 canaries on.
_RARE_HALF: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FairCoin:
    """How many canaries were included, beside what fair coins do.

    Attributes:
        canaries: how many coins.
        included: how many of them came up heads.
        p_value: exact two-sided p-value of that number.
        findings: what speaks against independent fair coins. They are warnings, not
            errors: a number cannot show how the choice was made.
    """

    canaries: int
    included: int
    p_value: float
    findings: tuple[Finding, ...]

    @property
    def ruled_out(self) -> bool:
        """Tell whether such coins include so many or so few less than once in 1,000 runs."""
        return self.p_value < _SUSPICIOUS


def check_fair_coin(*, canaries: int, included: int, rate: float | None = None) -> FairCoin:
    """Compare the number of canaries included with the binomial law of the coins.

    Args:
        canaries: m, at least 1.
        included: in [0, m].
        rate: the share of the coins if it was stated, in (0, 1); None takes them to be fair.
    """
    from scipy.special import betainc

    share = FAIR_RATE if rate is None else rate
    more = float(betainc(included, canaries - included + 1, share)) if included else 1.0
    fewer = (
        float(betainc(canaries - included, included + 1, 1 - share)) if included < canaries else 1.0
    )
    p_value = min(1.0, 2 * min(more, fewer))
    findings = (*_unlikely(p_value, rate), *_fixed_half(canaries, included))
    return FairCoin(canaries=canaries, included=included, p_value=p_value, findings=findings)


def _unlikely(p_value: float, rate: float | None) -> tuple[Finding, ...]:
    if p_value >= _SUSPICIOUS:
        return ()
    if rate is None:
        text = (
            f"Fair coins include so many or so few canaries with probability "
            f"{upper_figure(p_value, digits=2)}, so nothing is certified. "
            "If independent coins of another share did include them, state it with "
            "--inclusion-rate."
        )
    else:
        text = (
            f"Coins of the stated rate {number_text(rate)} include so many or so few canaries with "
            f"probability {upper_figure(p_value, digits=2)}, so nothing is certified."
        )
    return (Finding(code="inclusion_not_fair", text=text),)


def _fixed_half(canaries: int, included: int) -> tuple[Finding, ...]:
    chance = math.sqrt(2 / (math.pi * canaries))
    if 2 * included != canaries or chance >= _RARE_HALF:
        return ()
    text = (
        "Exactly half of the canaries were included, which fair coins do with probability "
        f"{chance:.2g}. A half of fixed size is not independent coins: guessing some "
        "canaries then tells about the others, and the limit is not valid."
    )
    return (Finding(code="inclusion_exactly_half", text=text),)
