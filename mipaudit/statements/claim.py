"""A privacy claim beside the data: what it allows, and whether the data contradict it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.maths.advantage import baseline
from mipaudit.maths.privacy.epsilon_delta import (
    ApproximateDP,
    PublishedBound,
    TwoStepDP,
    advantage_bound,
    published_bounds,
    to_substitution,
)
from mipaudit.model.message import Message

Adjacency = Literal["substitution", "add-remove", "unknown"]
ClaimStatus = Literal["contradicted", "consistent", "vacuous", "not_comparable"]

# The gravest first: one contradicted claim is what the reader must see.
_GRAVITY: Final[tuple[ClaimStatus, ...]] = (
    "contradicted",
    "not_comparable",
    "vacuous",
    "consistent",
)
# A bound that leaves less than this share of the possible excess excludes nothing.
_VACUOUS_SHARE: Final = 0.95
_RESTS_ON: Final = (
    "members and holdout are independent draws from one law, and the claim covers the training of "
    "the released model; a shift between the two groups, or dependent records, can exceed the "
    "bound without refuting the claim, and one trained model alone is no formal test of epsilon"
)
_CONVERSION: Final = (
    "a substitution is a removal and an addition: the exact bound of the two steps, inside "
    "that of 2 epsilon, (1 + e^epsilon) delta"
)


# A claim of (epsilon, delta)-differential privacy, epsilon at least 0 and delta in [0, 1), for some
# adjacency; where that is unknown, both readings are tried.
EpsilonClaim = tuple[float, float, Adjacency]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A privacy claim beside what the data show for one score.

    ``allowed_advantage`` is the bound used for ``status``; ``lower`` is the lower
    limit that was compared with it, at an error shared over all comparisons of the
    verdict; ``conversion`` says how an add-remove claim became a substitution one.
    """

    kind: Literal["epsilon"]
    score: str
    epsilon: float
    delta: float
    adjacency: Adjacency
    allowed_advantage: float | None
    lower: float
    status: ClaimStatus
    reason: Message
    conversion: str | None
    rests_on: str
    bounds: tuple[PublishedBound, ...]
    blind: float | None = None


def gravest_claim(claims: Sequence[Claim]) -> Claim:
    """Return the claim, of one at least, that a reader must see: a contradicted one first."""
    return min(claims, key=lambda claim: _GRAVITY.index(claim.status))


def judge_claim(claim: EpsilonClaim, *, score: str, prior: float, lower: float) -> Claim:
    """Compare the advantage's lower limit with what an epsilon claim allows.

    When the adjacency is unknown, both readings are tried; where they agree, so does
    the answer, otherwise the claim is not comparable.

    Args:
        claim: what is claimed.
        score: name of the score column.
        prior: p in (0, 1).
        lower: lower confidence limit of the advantage, in [|2p-1|, 1].
    """
    epsilon, delta, adjacency = claim
    claimed = ApproximateDP(epsilon=epsilon, delta=delta)
    converted = to_substitution(epsilon, delta)
    tight = advantage_bound(claimed, prior)
    loose = advantage_bound(TwoStepDP(step=claimed), prior)
    used, conversion = (epsilon, delta), None
    if adjacency == "add-remove":
        tight, used, conversion = loose, converted, _CONVERSION
    elif adjacency == "substitution":
        loose = tight
    status, allowed, reason = _compared(tight, loose, lower, prior)
    if adjacency == "unknown" and allowed == loose != tight:
        used = converted
        conversion = f"read as add-remove, the weaker claim: {_CONVERSION}"
    return Claim(
        kind="epsilon",
        score=score,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        allowed_advantage=allowed,
        lower=lower,
        status=status,
        reason=reason,
        conversion=conversion,
        rests_on=_RESTS_ON,
        bounds=(*published_bounds(*used, prior), *_exact(allowed, conversion)),
    )


def _exact(allowed: float | None, conversion: str | None) -> tuple[PublishedBound, ...]:
    """Return the bound of the two steps, which no bound by substitution states."""
    if allowed is None or conversion is None:
        return ()
    return (
        PublishedBound(
            name="two-step",
            advantage=allowed,
            source="Dong, Roth and Su 2022, Theorem 2.14",
            assumes="(epsilon, delta) by adding or removing a record",
        ),
    )


def _compared(
    tight: float, loose: float, lower: float, prior: float
) -> tuple[ClaimStatus, float | None, Message]:
    """Return the answer, the bound that it used for the two readings of a claim, and why."""
    guessing = baseline(prior)
    if lower > loose:
        return "contradicted", loose, Message.of("claim_contradicted", lower=lower, allowed=loose)
    if lower > tight:
        values = {"lower": lower, "by_substitution": tight, "allowed": loose}
        return "not_comparable", None, Message.of("claim_not_comparable", **values)
    if tight - guessing >= _VACUOUS_SHARE * (1 - guessing):
        return "vacuous", tight, Message.of("claim_vacuous", allowed=tight)
    return "consistent", tight, Message.of("claim_consistent", lower=lower, allowed=tight)
