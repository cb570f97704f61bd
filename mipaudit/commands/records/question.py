"""The settings of ``records``, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mipaudit.commands.records.risk.cells import LEAST_CELLS, MOST_CELLS
from mipaudit.options.plain_values import number, one_of, optional, require, whole
from mipaudit.options.policy.limits import check_limits, check_on_inconclusive, of_records
from mipaudit.options.policy.waivers import check_waivers
from mipaudit.options.seed_choice import seed_choice
from mipaudit.statements.policy import Limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.statements.policy import OnInconclusive
    from mipaudit.statements.waiver import Waiver
    from mipaudit.summaries.identity.seed import SeedChoice

SmallGroups = Literal["merge", "refuse"]
MOST_TOP: Final = 10_000
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsQuestion:
    """Every setting that changes a number.

    Attributes:
        prior: p in (0, 1).
        confidence: in [0.5, 1).
        discrete: take the score as discrete.
        cells: how many; None for as many as the rows bear.
        min_cell: fewest records of a cell or group that is shown, at least 1.
        tau: in [0, 1).
        fdr: in (0, 1).
        top: how many records to name by their rows, at least 0.
        small_groups: what becomes of groups with fewer than ``min_cell`` of a class.
        population: n training records, or None.
        max_risk: limit in (|2p-1|, 1], or None.
        seed: which one is asked for.
        limits: those listed that concern records or groups.
        waivers: likewise.
        on_inconclusive: what an open answer counts as.
        elsewhere: how many listed limits another command judges.
    """

    prior: float
    confidence: float
    discrete: bool
    cells: int | None
    min_cell: int
    tau: float
    fdr: float
    top: int
    small_groups: SmallGroups
    population: int | None
    max_risk: float | None
    seed: SeedChoice
    limits: tuple[Limit, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    on_inconclusive: OnInconclusive = "review"
    elsewhere: int = 0

    @property
    def every_limit(self) -> tuple[Limit, ...]:
        """Return all limits as one list: that of the setting, then those listed."""
        if self.max_risk is None:
            return self.limits
        return (Limit(quantity="risk", max=self.max_risk), *self.limits)


def check_records(given: Mapping[str, Any]) -> RecordsQuestion:
    """Return the settings.

    Raises:
        UsageError: a value is out of its range.
    """
    prior, confidence = number("prior", given["prior"]), number("confidence", given["confidence"])
    tau, fdr = number("tau", given["tau"]), number("fdr", given["fdr"])
    max_risk = optional("max_risk", given["max_risk"])
    min_cell, top = (whole(name, given[name]) for name in ("min_cell", "top"))
    cells, population = (
        None if given[name] is None else whole(name, given[name])
        for name in ("cells", "member_population")
    )
    require(0 < prior < 1, "prior", "The prior must be above 0 and below 1.")
    require(
        _HALF <= confidence < 1, "confidence", "The confidence must be at least 0.5 and below 1."
    )
    require(0 <= tau < 1, "tau", "tau must be at least 0 and below 1.")
    require(0 < fdr < 1, "fdr", "The false-discovery rate must be above 0 and below 1.")
    require(min_cell >= 1, "min_cell", "min_cell must be at least 1.")
    require(0 <= top <= MOST_TOP, "top", f"top must be from 0 to {MOST_TOP:,}.")
    require(
        cells is None or LEAST_CELLS <= cells <= MOST_CELLS,
        "cells",
        f"The number of cells must be from {LEAST_CELLS} to {MOST_CELLS:,}.",
    )
    require(
        population is None or population >= 1,
        "member_population",
        "The number of training records must be at least 1.",
    )
    one_of("small_groups", given["small_groups"], get_args(SmallGroups))
    require(
        given["small_groups"] != "refuse" or bool(given["by"]),
        "small_groups",
        "Small groups are to be refused, and no groups are told apart.",
        hint="Add --by with the columns that make the groups.",
    )
    _check_limit(max_risk, abs(2 * prior - 1))
    limits = check_limits(given["limits"], prior)
    own = tuple(filter(of_records, limits))
    return RecordsQuestion(
        prior=prior,
        confidence=confidence,
        discrete=bool(given["discrete"]),
        cells=cells,
        min_cell=min_cell,
        tau=tau,
        fdr=fdr,
        top=top,
        small_groups=given["small_groups"],
        population=population,
        max_risk=max_risk,
        seed=seed_choice(given["seed"]),
        limits=own,
        waivers=tuple(filter(of_records, check_waivers(given["waivers"], prior))),
        on_inconclusive=check_on_inconclusive(given["on_inconclusive"]),
        elsewhere=len(limits) - len(own),
    )


def _check_limit(max_risk: float | None, baseline: float) -> None:
    """The largest risk is at least the average one, which nothing makes smaller."""
    require(
        max_risk is None or baseline < max_risk <= 1,
        "max_risk",
        f"The limit on the risk must be above {baseline:g}, which a score that says nothing "
        "reaches at this prior, and at most 1.",
    )
