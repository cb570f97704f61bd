"""What ``shift`` is asked, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.options.plain_values import number, optional, require
from mipaudit.options.seed_choice import seed_choice

if TYPE_CHECKING:
    from mipaudit.options.seed_choice import SeedGiven
    from mipaudit.summaries.identity.seed import SeedChoice

_LEAST = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftTerms:
    """The settings of a comparison; see `api.shift.shift`."""

    columns: tuple[str, ...]
    ignore: tuple[str, ...]
    id_column: str | None
    confidence: float
    strict: bool
    max_blind: float | None
    seed: SeedChoice


def check_shift_terms(
    *,
    columns: tuple[str, ...],
    ignore: tuple[str, ...],
    id_column: str | None,
    confidence: float,
    strict: bool,
    max_blind: float | None,
    seed: SeedGiven | SeedChoice,
) -> ShiftTerms:
    """Return the terms.

    Raises:
        UsageError: one is out of its range.
    """
    sure = number("confidence", confidence)
    require(_LEAST <= sure < 1, "confidence", "confidence must be at least 0.5 and below 1.")
    most = optional("max_blind", max_blind)
    require(most is None or 0 < most <= 1, "max_blind", "max_blind must be above 0 and at most 1.")
    return ShiftTerms(
        columns=_names(columns),
        ignore=_names(ignore),
        id_column=id_column,
        confidence=sure,
        strict=bool(strict),
        max_blind=most,
        seed=seed_choice(seed, strict=bool(strict)),
    )


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names; each that is given may be a comma list."""
    return tuple(name.strip() for one in given for name in one.split(",") if name.strip())
