"""The terms of an audit: every setting that changes its numbers, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mipaudit.evidence.judgement.policy_on_scores import EpsilonClaim
from mipaudit.maths.metrics.metric import Metric  # noqa: TC001 - part of the public type
from mipaudit.maths.metrics.names import LEAST_RECALL
from mipaudit.options.plain_values import number, one_of, optional, pair, require
from mipaudit.options.policy.limits import (
    check_limits,
    check_on_inconclusive,
    limited_metrics,
    of_scores,
)
from mipaudit.options.policy.metrics import check_metrics
from mipaudit.options.policy.waivers import check_waivers
from mipaudit.options.seed_choice import SeedGiven, seed_choice
from mipaudit.statements.claim import Adjacency
from mipaudit.statements.estimate import Against, Side
from mipaudit.statements.policy import Policy
from mipaudit.summaries.identity.seed import SeedChoice  # noqa: TC001 - part of the public type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Method = Literal["prequential", "mace", "kde"]
MemberSide = Literal["auto", "high", "low"]
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Every setting that changes a number of the audit.

    Attributes:
        prior: p in (0, 1).
        confidence: in [0.5, 1).
        strict: finite-sample methods.
        joint: the confidence is that of all rows together.
        method: ``"mace"`` adds the published estimator, ``"kde"`` kernel densities.
        discrete: take every score as discrete.
        member_side: the side on which members are guessed; None to choose it.
        policy: the limits.
        claim: the claim, or None.
        seed: which one is asked for.
        metrics: those asked for and those limited.
        elsewhere: how many listed limits another command judges.
        least_recall: what metrics that need a floor were given.
    """

    prior: float
    confidence: float
    strict: bool
    method: Method
    discrete: bool
    member_side: Side | None
    policy: Policy
    claim: EpsilonClaim | None
    seed: SeedChoice
    metrics: tuple[Metric, ...] = ()
    elsewhere: int = 0
    least_recall: float = LEAST_RECALL
    joint: bool = False


def check_terms(  # noqa: PLR0913 - one keyword for each setting
    *,
    prior: float,
    confidence: float,
    strict: bool,
    method: str,
    discrete: bool,
    member_side: str,
    claimed_epsilon: float | None,
    delta: float,
    adjacency: str | None,
    max_advantage: float | None,
    max_eta: float | None,
    max_tpr_at_fpr: tuple[float, float] | None,
    against: str | None,
    seed: SeedGiven | SeedChoice,
    metric: tuple[str, ...] = (),
    max_metric: tuple[str, ...] = (),
    min_recall: float | None = None,
    limits: Sequence[Mapping[str, Any]] = (),
    waivers: Sequence[Mapping[str, Any]] = (),
    on_inconclusive: str = "review",
    max_copies: int | None = None,
    joint: bool = False,
) -> Terms:
    """Return the terms.

    Raises:
        UsageError: a value is out of its range, or makes no sense beside another.
    """
    prior, confidence, delta = (
        number("prior", prior),
        number("confidence", confidence),
        number("delta", delta),
    )
    claimed_epsilon = optional("claimed_epsilon", claimed_epsilon)
    max_advantage = optional("max_advantage", max_advantage)
    max_eta = optional("max_eta", max_eta)
    require(0 < prior < 1, "prior", "The prior must be above 0 and below 1.")
    require(
        _HALF <= confidence < 1,
        "confidence",
        "The confidence must be at least 0.5 and below 1.",
        "Give a share, such as 0.95.",
    )
    one_of("method", method, get_args(Method))
    one_of("member_side", member_side, get_args(MemberSide))
    require(
        not joint or method == "prequential",
        "joint",
        "Rows of other methods cannot share the error of --joint.",
        "Leave out --joint or --method.",
    )
    max_tpr_at_fpr = pair("max_tpr_at_fpr", max_tpr_at_fpr)
    baseline = abs(2 * prior - 1)
    _check_advantage_limits(max_advantage, max_eta, baseline)
    _check_tpr_limit(max_tpr_at_fpr)
    if against is not None:
        one_of("against", against, get_args(Against))
    least = LEAST_RECALL if min_recall is None else number("min_recall", min_recall)
    metrics, metric_limits = check_metrics(metric, max_metric, least, prior)
    listed = check_limits(limits, prior)
    own, more_metrics = limited_metrics(filter(of_scores, listed), prior, least)
    return Terms(
        prior=prior,
        confidence=confidence,
        strict=strict,
        method=method,  # type: ignore[arg-type]
        discrete=discrete,
        member_side=None if member_side == "auto" else member_side,  # type: ignore[arg-type]
        policy=Policy(
            max_advantage=max_advantage,
            max_eta=max_eta,
            max_tpr_at_fpr=max_tpr_at_fpr,
            against=against,  # type: ignore[arg-type]
            max_metric=tuple(metric_limits.items()),
            limits=own,
            waivers=tuple(filter(of_scores, check_waivers(waivers, prior))),
            on_inconclusive=check_on_inconclusive(on_inconclusive),
            max_copies=_check_copies(max_copies),
        ),
        claim=_claim(claimed_epsilon, delta, adjacency),
        seed=seed_choice(seed, strict=strict),
        metrics=tuple((metrics | more_metrics).values()),
        elsewhere=len(listed) - len(own),
        least_recall=least,
        joint=joint,
    )


def _check_copies(given: int | None) -> int | None:
    """Return how many members may be released word for word, None for no limit."""
    if given is None:
        return None
    accepted = "The limit on exact copies must be a whole number, at least 0."
    require(not isinstance(given, bool), "max_copies", accepted)
    found = number("max_copies", given, accepted)
    whole = 0 <= found < float("inf") and found == int(found)
    require(whole, "max_copies", accepted, "For example: 0")
    return int(found)


def _check_advantage_limits(
    max_advantage: float | None, max_eta: float | None, baseline: float
) -> None:
    """A limit at or below what the trivial attacker reaches could never be met."""
    if max_advantage is not None:
        require(
            baseline < max_advantage <= 1,
            "max_advantage",
            f"The limit on the advantage must be above {baseline:g}, which the trivial "
            "attacker reaches at this prior, and at most 1.",
            "At a prior other than 0.5 consider --max-eta.",
        )
    if max_eta is not None:
        highest = (1 - baseline) / 2
        require(
            0 < max_eta <= highest,
            "max_eta",
            f"The limit on eta must be above 0 and at most {highest:g} at this prior.",
        )


def _check_tpr_limit(max_tpr_at_fpr: tuple[float, float] | None) -> None:
    if max_tpr_at_fpr is None:
        return
    tpr, fpr = max_tpr_at_fpr
    require(
        0 < fpr < tpr < 1,
        "max_tpr_at_fpr",
        "The limit on TPR at an FPR must be a TPR above the FPR, both above 0 and below 1.",
        "Random guessing reaches TPR = FPR. Example: 0.02@0.001.",
    )


def _claim(epsilon: float | None, delta: float, adjacency: str | None) -> EpsilonClaim | None:
    if epsilon is None:
        require(
            delta == 0 and adjacency is None,
            "claimed_epsilon",
            "A delta or an adjacency is given without a claimed epsilon.",
            "Add --claimed-epsilon.",
        )
        return None
    require(
        0 <= epsilon < float("inf"),
        "claimed_epsilon",
        "The claimed epsilon must be at least 0 and finite.",
    )
    require(0 <= delta < 1, "delta", "Delta must be at least 0 and below 1.")
    named = adjacency or "unknown"
    one_of("adjacency", named, get_args(Adjacency))
    return EpsilonClaim(epsilon=epsilon, delta=delta, adjacency=named)  # type: ignore[arg-type]
