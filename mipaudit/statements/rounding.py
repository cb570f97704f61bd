"""Numbers as text: limits rounded outward, so that rounding never flatters."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Final

_FOUR_DECIMALS: Final = Decimal("0.0001")
_TINY: Final = 1e-4
# From here on four decimals say nothing, and the digits would fill a line.
_HUGE: Final = 1e15
# Powers of ten between which a figure is written out.
_SHORTEST: Final = -6
_LONGEST: Final = 11
# More do not fit beside 15 digits before the point in decimal's usual 28.
_MOST_DECIMALS: Final = 13
_SMALLEST_P: Final = 1e-12


def two_digits_up(size: float) -> int:
    """Return a size of two digits that is not smaller: it is a plan, not a measurement."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(size, 1))) - 1)
    return math.ceil(size / unit) * unit


def lower_text(limit: float) -> str:
    """Return a lower limit with four decimals, rounded down: 0.12345 is ``0.1234``."""
    return _rounded(limit, ROUND_FLOOR)


def upper_text(limit: float) -> str:
    """Return an upper limit with four decimals, rounded up: 0.12341 is ``0.1235``."""
    return _rounded(limit, ROUND_CEILING)


def above_text(lower: float, limit: float) -> str:
    """Return a lower limit that is above a policy's, with enough decimals to show it."""
    return _telling(lower, limit, ROUND_FLOOR, lambda shown, most: shown > most)


def within_text(upper: float, limit: float) -> str:
    """Return an upper limit that is within a policy's, with enough decimals to show it."""
    return _telling(upper, limit, ROUND_CEILING, lambda shown, most: shown <= most)


def value_text(value: float) -> str:
    """Return an estimate with four decimals, rounded to the nearest."""
    return _rounded(value, ROUND_HALF_EVEN)


def upper_figure(number: float, *, digits: int = 5) -> str:
    """Return a number that may be tiny or huge, rounded up: 0.00272821 is ``0.0027283``.

    Args:
        number: at least 0 and finite.
        digits: significant digits.
    """
    return _figure(number, digits, ROUND_CEILING)


def lower_figure(number: float, *, digits: int = 5) -> str:
    """Return a number that may be tiny or huge, rounded down."""
    return _figure(number, digits, ROUND_FLOOR)


def count_text(count: int) -> str:
    """Return a count with thousands apart: ``20,000``."""
    return f"{count:,}"


def percent_text(share: float) -> str:
    """Return a share in [0, 1] as a percentage without idle zeros: 0.001 is ``0.1%``."""
    return f"{_plain(Decimal(repr(share)) * 100)}%"


def span_text(lower: float, upper: float, *, percent: bool = False) -> str:
    """Return two limits as a span, rounded outward: ``0.64-0.71``, or ``5.5-16.8%``."""
    scale, step, sign = (100, Decimal("0.1"), "%") if percent else (1, Decimal("0.01"), "")
    first = (Decimal(repr(lower)) * scale).quantize(step, rounding=ROUND_FLOOR)
    last = (Decimal(repr(upper)) * scale).quantize(step, rounding=ROUND_CEILING)
    return f"{first + 0:f}-{last + 0:f}{sign}"


def number_text(number: float) -> str:
    """Return a number that the user chose, as short as it goes: ``0.1``, ``1e-5``."""
    if 0 < abs(number) < _TINY or abs(number) >= _HUGE:
        return f"{number:.12g}".replace("e-0", "e-")
    return _plain(Decimal(repr(number)))


def p_text(p_value: float) -> str:
    """Return a p-value with two digits, as short as it goes: ``0.61``, ``5e-6``."""
    return "below 1e-12" if p_value < _SMALLEST_P else number_text(float(f"{p_value:.2g}"))


def _figure(number: float, digits: int, rounding: str) -> str:
    # Twelve digits are what the arithmetic vouches for: 3794.5600000000004 is 3794.56.
    rounded = Context(prec=digits, rounding=rounding).plus(Decimal(f"{number:.12g}"))
    if not number or _SHORTEST <= rounded.adjusted() <= _LONGEST:
        return _plain(rounded)
    return f"{rounded:e}"


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _telling(
    number: float, limit: float, rounding: str, shows: Callable[[Decimal, Decimal], bool]
) -> str:
    """Round to four decimals, or to as many as show on which side of the limit a number is."""
    exact, most = Decimal(repr(number)), Decimal(repr(limit))
    if abs(number) >= _HUGE or not shows(exact, most):
        return _rounded(number, rounding)
    for decimals in range(4, _MOST_DECIMALS):
        shown = exact.quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
        if shows(shown, most):
            return f"{shown + 0:f}"
    return f"{exact:f}"


def _rounded(number: float, rounding: str) -> str:
    # repr, not the exact binary value: what JSON shows is what gets rounded.
    if abs(number) >= _HUGE:
        return f"{Context(prec=5, rounding=rounding).plus(Decimal(repr(number))):e}"
    rounded = Decimal(repr(number)).quantize(_FOUR_DECIMALS, rounding=rounding)
    return f"{rounded + 0:f}"  # + 0: no minus sign before a zero
