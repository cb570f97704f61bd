"""The attribute advantage and its reduction to membership, as ``attribute`` states them.

Each record of a file is given a value of an attribute by chance, whatever its class, and the
guess of it is right where the score is above the value's cut: so members and holdout records
are guessed right at rates that the law of the score knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attribute.guesses import (
    ValueGuesses,
    attribute_advantage,
    membership_advantage,
)
from mipaudit.evidence.named_attackers.named_attack import Limits, weighed
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile
from mipaudit.validation.estimands.estimand import DEAR, Args, Estimand, Interval

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law

# Values of the attribute: the score above which each is guessed, and how often it occurs.
CUTS: Final = (0.5, 0.0, 1.5, -0.5)
SHARES: Final = (0.6, 0.3, 0.08, 0.02)
_ALPHA: Final = 1 - CONFIDENCE
_STREAM: Final = 7  # of the values, apart from all other random numbers


class AttributeAdvantage(Estimand):
    """Definition 5 of Yeom et al.; ``args`` are the values' shares in the file."""

    name = "attribute_advantage"
    meaning = "attribute advantage of guesses (attribute)"
    usual = DEAR
    takes = ((float,) * len(CUTS),)

    def _value(self, law: Law, prior: float, *shares: float) -> float:  # noqa: ARG002
        right, wrong = _rates(law)
        return float(np.array(shares) @ (right - wrong))

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits of the file's guesses."""
        values = _guesses(audited)
        found = attribute_advantage([one for one in values if one.records], _ALPHA)
        if found is not None:
            shares = tuple(one.records / audited.member.size for one in values)
            yield _interval(self, found, shares)


class AttributeMembership(Estimand):
    """The advantage of calling a record a member where its attribute was guessed right."""

    name = "attribute_membership"
    meaning = "membership advantage of right guesses (attribute)"
    usual = DEAR

    def _value(self, law: Law, prior: float) -> float:
        right, wrong = _rates(law)
        shares = np.array(SHARES)
        return weighed(float(shares @ right), float(shares @ wrong), prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits of the file's guesses."""
        first, *others = _guesses(audited)
        whole = sum(others, start=first)
        yield _interval(self, membership_advantage(whole, audited.prior, _ALPHA), ())


def _interval(estimand: Estimand, found: Limits, args: Args) -> Interval:
    return estimand.interval(
        found.lower, found.upper, value=found.value, args=args, label=estimand.name
    )


def _rates(law: Law) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(guessed right) by value, of members and of holdout records."""
    cuts = np.array(CUTS)
    return 1 - law.members.cdf(cuts), 1 - law.holdout.cdf(cuts)


def _guesses(audited: AuditedFile) -> list[ValueGuesses]:
    """Return the counts of right guesses by value."""
    rng = np.random.default_rng([audited.seed % 2**63, _STREAM])
    value = rng.choice(len(CUTS), audited.member.size, p=SHARES)
    right = audited.score > np.array(CUTS)[value]
    found = []
    for one in range(len(CUTS)):
        mine, theirs = (value == one) & audited.member, (value == one) & ~audited.member
        found.append(
            ValueGuesses(
                right_members=int(np.count_nonzero(right & mine)),
                n_members=int(np.count_nonzero(mine)),
                right_holdout=int(np.count_nonzero(right & theirs)),
                n_holdout=int(np.count_nonzero(theirs)),
            )
        )
    return found
