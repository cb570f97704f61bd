"""How much better an attribute is guessed of members than of holdout records.

Yeom, Giacomelli, Fredrikson and Jha 2018, Definition 5: the sum over values t_i of
Pr[t = t_i] (Pr[guess = t_i | member, t_i] - Pr[guess = t_i | holdout, t_i]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.evidence.named_attackers.named_attack import Limits, difference_of_shares
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.means import Term, melded_lower

if TYPE_CHECKING:
    from collections.abc import Sequence

_EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGuesses:
    """How often one value of the attribute was guessed right.

    Attributes:
        right_members: members with the value of whom it was guessed.
        n_members: members with the value.
        right_holdout: holdout records with it of which it was guessed.
        n_holdout: holdout records with it.
    """

    right_members: int
    n_members: int
    right_holdout: int
    n_holdout: int

    def __add__(self, other: ValueGuesses) -> ValueGuesses:
        """Return the counts of both values."""
        return ValueGuesses(
            right_members=self.right_members + other.right_members,
            n_members=self.n_members + other.n_members,
            right_holdout=self.right_holdout + other.right_holdout,
            n_holdout=self.n_holdout + other.n_holdout,
        )

    @property
    def records(self) -> int:
        """Return how many records have the value."""
        return self.n_members + self.n_holdout

    @property
    def complete(self) -> bool:
        """Tell whether both classes have the value."""
        return min(self.n_members, self.n_holdout) > 0


def value_advantage(one: ValueGuesses, alpha: float) -> Limits | None:
    """Return Pr[right | member] - Pr[right | holdout] of one value, two-sided alpha.

    None where a class has no record with the value.
    """
    if not one.complete:
        return None
    lower, upper = difference_of_shares(
        (one.right_members, one.n_members), (one.right_holdout, one.n_holdout), _EVEN, alpha
    )
    return Limits(
        value=one.right_members / one.n_members - one.right_holdout / one.n_holdout,
        lower=lower,
        upper=upper,
    )


def attribute_advantage(values: Sequence[ValueGuesses], alpha: float) -> Limits | None:
    """Return the attribute advantage at the values' shares among all records of the input.

    Given each record's value, the right guesses of a class are independent binomials, so
    melded limits of their weighted sum hold whatever the shares are. Of a value that one class
    lacks, nothing is known there: it adds its whole share to either limit.

    Args:
        values: one for each value of the attribute.
        alpha: two-sided error in (0, 1).

    Returns:
        None where no value is in both classes.
    """
    total = sum(one.records for one in values)
    known = [one for one in values if one.complete]
    if not known:
        return None
    unknown = sum(one.records for one in values if not one.complete) / total
    up, value = [], 0.0
    for one in known:
        share = one.records / total
        up.append(Term(weight=share, successes=one.right_members, trials=one.n_members))
        up.append(Term(weight=-share, successes=one.right_holdout, trials=one.n_holdout))
        value += share * (one.right_members / one.n_members - one.right_holdout / one.n_holdout)
    down = [Term(weight=-t.weight, successes=t.successes, trials=t.trials) for t in up]
    return Limits(
        value=value,
        lower=max(-1.0, melded_lower(up, alpha / 2) - unknown),
        upper=min(1.0, -melded_lower(down, alpha / 2) + unknown),
    )


def membership_advantage(whole: ValueGuesses, prior: float, alpha: float) -> Limits:
    """Return the advantage of calling a record a member when its attribute is guessed right.

    The reduction of Yeom et al. 2018, section 5: an attacker on membership who knows the
    attribute. It is one attacker, so the best one has at least its advantage.

    Args:
        whole: counts of all values together, of both classes.
        prior: p in (0, 1).
        alpha: two-sided error in (0, 1).
    """
    members = whole.right_members, whole.n_members
    holdout = whole.right_holdout, whole.n_holdout
    tpr, fpr = members[0] / members[1], holdout[0] / holdout[1]
    lower, upper = difference_of_shares(members, holdout, prior, alpha)
    value = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)
    return Limits(value=value, lower=lower, upper=upper)


def right_share(right: int, records: int, alpha: float) -> Limits:
    """Return Clopper-Pearson limits of a share of right guesses, two-sided alpha."""
    return Limits(
        value=right / records,
        lower=float(clopper_pearson_lower(float(right), records, alpha / 2)),
        upper=float(clopper_pearson_upper(float(right), records, alpha / 2)),
    )


def surely_shifted(values: Sequence[ValueGuesses], alpha: float) -> int:
    """Return how many values are surely not equally frequent in both classes, jointly.

    Args:
        values: one for each value of the attribute.
        alpha: two-sided error, shared over the values.
    """
    members = sum(one.n_members for one in values)
    holdout = sum(one.n_holdout for one in values)
    found = 0
    for one in values:
        lower, upper = difference_of_shares(
            (one.n_members, members), (one.n_holdout, holdout), _EVEN, alpha / len(values)
        )
        found += lower > 0 or upper < 0
    return found
