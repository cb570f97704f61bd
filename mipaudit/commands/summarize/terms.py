"""The terms of a summary: every setting that changes what it holds, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.options.plain_values import number, require, whole
from mipaudit.options.seed_choice import seed_choice

if TYPE_CHECKING:
    from mipaudit.options.seed_choice import SeedGiven

_LEAST_BOUND: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTerms:
    """Every setting that changes what a summary holds.

    Attributes:
        prior: p in (0, 1).
        discrete: take every score as discrete.
        seed: what was stated, at least 0; None where the site draws its own.
        first_row: position of the input's first row in the whole.
        keyed: rows are told apart by a key, not by their position.
        least: fewest records of a count, or None.
    """

    prior: float
    discrete: bool
    seed: int | None
    first_row: int
    keyed: bool
    least: int | None


def check_summary_terms(
    *,
    prior: float,
    discrete: bool,
    seed: SeedGiven,
    first_row: int | None,
    keyed: bool,
    min_cell: int | None,
    cuts: bool,
    cuts_only: bool,
) -> SummaryTerms:
    """Return the terms.

    Args:
        prior: as in `SummaryTerms`, and so the others below.
        discrete: likewise.
        seed: likewise.
        first_row: None for 0.
        keyed: likewise.
        min_cell: None for no bound.
        cuts: whether cuts are given.
        cuts_only: whether cuts are asked for.

    Raises:
        UsageError: a value is out of its range, or makes no sense beside another.
    """
    prior = number("prior", prior)
    require(0 < prior < 1, "prior", "The prior must be above 0 and below 1.")
    chosen = seed_choice(seed)
    require(
        not (cuts and cuts_only),
        "cuts_only",
        "Cuts are given, and cuts are asked for.",
        "Leave out --cuts-only to count by the cuts.",
    )
    require(
        not (keyed and first_row is not None),
        "first_row",
        "Keys tell rows apart already: a first row says nothing beside them.",
        "Leave out --first-row, or --key-col.",
    )
    start = 0 if first_row is None else whole("first_row", first_row)
    require(start >= 0, "first_row", "The first row must be a whole number of at least 0.")
    require(
        min_cell is None or not cuts,
        "min_cell",
        "The cuts say already how small a count may be.",
        "Give --min-cell where the cuts are made.",
    )
    least = None if min_cell is None else whole("min_cell", min_cell)
    require(
        least is None or least >= _LEAST_BOUND,
        "min_cell",
        f"The fewest records of a count must be a whole number of at least {_LEAST_BOUND}.",
    )
    return SummaryTerms(
        prior=prior,
        discrete=discrete,
        seed=chosen.number if chosen.origin == "stated" else None,
        first_row=start,
        keyed=keyed,
        least=least,
    )
