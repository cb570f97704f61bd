"""The settings of ``attack``, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mipaudit.options.plain_values import number, one_of, optional, require, whole
from mipaudit.options.policy.limits import check_advantage_limit
from mipaudit.options.seed_choice import seed_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.summaries.identity.seed import SeedChoice

MemberSide = Literal["auto", "high", "low"]
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackQuestion:
    """Every setting that changes a number.

    Attributes:
        prior: p in (0, 1).
        confidence: in [0.5, 1).
        member_side: where members score; residuals are low in size for members.
        residuals: the scores are residuals.
        loss_bound: B above 0, or None.
        mean_loss: as published, or None.
        sigma_members: as published, at least 0, or None.
        sigma_holdout: likewise.
        by: columns that name a class of records.
        min_cell: fewest members and holdout records of a class, or behind a mean, that is shown.
        missing_kept: missing scores have a place of their own, below all others.
        max_advantage: the policy's limit, or None.
        seed: which one is asked for.
    """

    prior: float
    confidence: float
    member_side: MemberSide
    residuals: bool
    loss_bound: float | None
    mean_loss: float | None
    sigma_members: float | None
    sigma_holdout: float | None
    by: tuple[str, ...]
    min_cell: int
    missing_kept: bool
    max_advantage: float | None
    seed: SeedChoice

    @property
    def side_known(self) -> bool:
        """Tell whether the side is given, so that no row was used to find it."""
        return self.residuals or self.member_side != "auto"


def check_attack(given: Mapping[str, Any]) -> AttackQuestion:
    """Return the settings.

    Raises:
        UsageError: a value is out of its range, or makes no sense beside another.
    """
    prior, confidence = number("prior", given["prior"]), number("confidence", given["confidence"])
    bound = optional("loss_bound", given["loss_bound"])
    mean = optional("mean_loss", given["mean_loss"])
    sigmas = [optional(name, given[name]) for name in ("sigma_members", "sigma_holdout")]
    min_cell = whole("min_cell", given["min_cell"])
    residuals = bool(given["residuals"])
    limit = optional("max_advantage", given["max_advantage"])
    require(0 < prior < 1, "prior", "The prior must be above 0 and below 1.")
    require(
        _HALF <= confidence < 1, "confidence", "The confidence must be at least 0.5 and below 1."
    )
    check_advantage_limit(limit, abs(2 * prior - 1))
    require(min_cell >= 1, "min_cell", "min_cell must be at least 1.")
    one_of("member_side", given["member_side"], get_args(MemberSide))
    require(
        bound is None or (bound > 0 and math.isfinite(bound)),
        "loss_bound",
        "The bound of the loss must be above 0 and finite.",
    )
    require(
        mean is None or math.isfinite(mean), "mean_loss", "The mean loss must be a finite number."
    )
    for name, sigma in zip(("sigma_members", "sigma_holdout"), sigmas, strict=True):
        require(
            sigma is None or (sigma >= 0 and math.isfinite(sigma)),
            name,
            "A standard error must be at least 0 and finite.",
        )
        require(
            sigma is None or residuals,
            name,
            "A standard error is of residuals.",
            "Add --residuals if the score is label less prediction.",
        )
    require(
        mean is None or not residuals,
        "mean_loss",
        "The mean squared residual is the square of --sigma-members.",
        "Give --sigma-members instead.",
    )
    require(
        not residuals or given["member_side"] == "auto",
        "member_side",
        "Of residuals the size is attacked, which is low for members.",
        "Leave --member-side out.",
    )
    return AttackQuestion(
        prior=prior,
        confidence=confidence,
        member_side=given["member_side"],
        residuals=residuals,
        loss_bound=bound,
        mean_loss=mean,
        sigma_members=sigmas[0],
        sigma_holdout=sigmas[1],
        by=tuple(given["by"]),
        min_cell=min_cell,
        missing_kept=given["nan"] == "category",
        max_advantage=limit,
        seed=seed_choice(given["seed"]),
    )
