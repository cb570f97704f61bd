"""The terms of a comparison: every setting that changes its numbers, checked."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from mipaudit.options.plain_values import number, one_of, optional, require
from mipaudit.options.seed_choice import seed_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.options.seed_choice import SeedGiven
    from mipaudit.summaries.identity.seed import SeedChoice

CompareAgainst = Literal["any", "thresholds", "intervals-1", "intervals-4", "bins-16"]
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareTerms:
    """What is asked of the queries, checked.

    Attributes:
        prior: p in (0, 1).
        confidence: in [0.5, 1).
        discrete: take every score as discrete.
        seed: which one is asked for.
        baseline: name of the query that the others are compared with, or None.
        max_increase: the policy's limit, or None.
        against: the class of the ranking and the policy; None for the default.
        independent: different inputs hold different records.
    """

    prior: float
    confidence: float
    discrete: bool
    seed: SeedChoice
    baseline: str | None
    max_increase: float | None
    against: CompareAgainst | None
    independent: bool


# What says how scores are read and judged, with what it is unless given.
_OF_SCORES: Final[Mapping[str, object]] = MappingProxyType(
    {
        "score_columns": (),
        "member_column": None,
        "member_value": None,
        "where": None,
        "unit_column": None,
        "unit_rows": None,
        "rows_are": None,
        "key_column": None,
        "nan": "error",
        "prior": 0.5,
        "confidence": 0.95,
        "discrete": False,
        "independent": False,
        "seed": None,
    }
)


def refuse_terms_of_scores(given: Mapping[str, object]) -> None:
    """Refuse what only score files have a use for.

    Raises:
        UsageError: such a setting was given beside reports.
    """
    for name, default in _OF_SCORES.items():
        value = given[name]
        same = tuple(value) == default if isinstance(value, list) else value == default
        require(
            same,
            name,
            f"The setting {name} does not apply to reports, which hold their own.",
            "Leave it out. It is set when a report is made.",
        )


def check_compare_terms(
    *,
    prior: float,
    confidence: float,
    discrete: bool,
    independent: bool,
    baseline: str | None,
    max_increase: float | None,
    against: str | None,
    seed: SeedGiven,
) -> CompareTerms:
    """Return the terms.

    Raises:
        UsageError: a value is out of its range, or makes no sense beside another.
    """
    prior, confidence = number("prior", prior), number("confidence", confidence)
    max_increase = optional("max_increase", max_increase)
    require(0 < prior < 1, "prior", "The prior must be above 0 and below 1.")
    require(
        _HALF <= confidence < 1, "confidence", "The confidence must be at least 0.5 and below 1."
    )
    if max_increase is not None:
        room = 1 - abs(2 * prior - 1)
        require(
            0 <= max_increase <= room,
            "max_increase",
            f"The limit on the increase must be at least 0 and at most {room:g} at this prior.",
        )
        require(
            baseline is not None,
            "max_increase",
            "A limit on the increase needs a query to compare the others with.",
            "Add --baseline NAME.",
        )
    if against is not None:
        one_of("against", against, get_args(CompareAgainst))
    return CompareTerms(
        prior=prior,
        confidence=confidence,
        discrete=discrete,
        seed=seed_choice(seed),
        baseline=baseline,
        max_increase=max_increase,
        against=against,  # type: ignore[arg-type]
        independent=independent,
    )
