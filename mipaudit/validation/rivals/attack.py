"""A named attack of the literature, whose rates have a closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.maths.normal import cdf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Guess "member" where the score lies in [low, high].

    Attributes:
        name: what it does, in a few words.
        source: where it comes from.
        tpr: share of the members that it calls members.
        fpr: share of the holdout records that it calls members.
        low: least score that it calls a member's.
        high: greatest such score.
    """

    name: str
    source: str
    tpr: float
    fpr: float
    low: float = -math.inf
    high: float = math.inf

    def guesses(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return where it says "member"."""
        return (self.low <= scores) & (scores <= self.high)


def equal_densities(member_sd: float, holdout_sd: float) -> float:
    """Return the error at which two normal densities about 0 cross (Yeom et al., equation 4)."""
    ratio = holdout_sd / member_sd
    return holdout_sd * math.sqrt(2 * math.log(ratio) / (ratio * ratio - 1))


def error_attacks(member_sd: float, holdout_sd: float) -> tuple[Attack, ...]:
    """Return the attacks on normal errors: both s.d. known, and only the members' (3.2, 3.3)."""
    attacks = []
    if member_sd != holdout_sd:
        edge = equal_densities(member_sd, holdout_sd)
        inside = within(edge, member_sd), within(edge, holdout_sd)
        overfitted = member_sd < holdout_sd
        tpr, fpr = inside if overfitted else (1 - inside[0], 1 - inside[1])
        attacks.append(
            Attack(
                name="errors more likely of members",
                source="Yeom et al. 2018, Theorem 3",
                tpr=tpr,
                fpr=fpr,
                low=-math.inf if overfitted else edge,
                high=edge if overfitted else math.inf,
            )
        )
    attacks.append(
        Attack(
            name="errors within the members' s.d.",
            source="Yeom et al. 2018, 3.3",
            tpr=within(member_sd, member_sd),
            fpr=within(member_sd, holdout_sd),
            high=member_sd,
        )
    )
    return tuple(attacks)


def log_loss_attack(groups: float) -> Attack:
    """Return the attack on log-losses; the paper's cap 2(1-1/m)-1 takes 1-1/m for an accuracy."""
    return Attack(
        name="a low log-loss",
        source="Humphries et al. 2023, 5.4 (there with 2(1-1/m)-1: an accuracy's advantage)",
        tpr=1.0,
        fpr=1 / groups,
        high=1.0,
    )


def colluding_attack(bits: float, keys: float) -> Attack:
    """Return the adversary that shares the keys with the training algorithm."""
    return Attack(
        name="the answers match under every key",
        source="Yeom et al. 2018, Theorem 4, with distinct records (mu = 0)",
        tpr=1.0,
        fpr=0.5 ** (bits * keys),
        low=keys,
    )


def averaging_attack(queries: float, records: float, noise_sd: float) -> Attack:
    """Return the attack that compares the sum of all answers with k/n."""
    mu = math.sqrt(queries) / records / noise_sd
    return Attack(
        name="the sum is at least QUERIES/RECORDS",
        source="Tramer, lecture notes, Theorem 2",
        tpr=0.5,
        fpr=cdf(-mu),
        low=queries / records,
    )


def within(limit: float, sd: float) -> float:
    """Return P(|error| <= limit) of a normal error about 0."""
    return math.erf(limit / (sd * math.sqrt(2)))
