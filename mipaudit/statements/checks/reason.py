"""What decided about a limit, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.statements.text.rounding import (
    above_text,
    lower_figure,
    lower_text,
    number_text,
    upper_text,
    within_text,
)

if TYPE_CHECKING:
    from mipaudit.statements.policy import CheckStatus


def limit_reason(
    status: CheckStatus,
    name: str,
    limit: float,
    limits: tuple[float | None, float | None],
    *,
    among: str = "",
    unknown: str = "has no limits",
) -> str:
    """Return what a status rests on.

    Args:
        status: of the limit.
        name: of what is limited, to begin a sentence with.
        limit: the largest value that is accepted.
        limits: the lower and the upper one.
        among: the attackers that it holds for, where ``name`` does not say.
        unknown: what is said where there are no limits.
    """
    lower, upper = limits
    most = number_text(limit)
    whom = f" {among}" if among else ""
    if status == "not_met" and lower is not None:
        return f"{name} is at least {above_text(lower, limit)}{whom}, above the limit of {most}"
    if status == "met" and upper is not None:
        return f"{name} is at most {within_text(upper, limit)}{whom}, within the limit of {most}"
    at_least = "" if lower is None else f" is at least {lower_text(lower)}"
    at_most = "" if upper is None else f" is at most {upper_text(upper)}"
    known = " and".join(part for part in (at_least, at_most) if part)
    return f"{name}{known or f' {unknown}'}{whom}; the limit is {most}"


def delta_reason(pure: float) -> str:
    """Return why right guesses that refute at delta 0 refute nothing; ``pure`` is that limit."""
    return (
        "delta allows that many right guesses; at delta 0 they would refute every epsilon below "
        f"{lower_figure(pure)}"
    )
