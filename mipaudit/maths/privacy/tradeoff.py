"""What a privacy guarantee allows an attacker, read off its trade-off curve, and back.

A guarantee bounds the ROC of every attacker who must tell two neighbouring inputs
apart from the output. The bounding curve is symmetric and concave (Dong, Roth and Su
2022), and two readings of it give everything else: the most true positives at a
false-positive rate, and the privacy profile delta(epsilon). Back are the weakest guarantee that
keeps every attacker within a limit, and those that an attack's rates rule out.

Standard library only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from mipaudit.maths.bisection import crossing
from mipaudit.maths.normal import quantile

# No guarantee that can be stated needs more: mu is at most 1e6, so epsilon about 5e11.
_LARGEST_EPSILON: Final = 1e13
# From here on 1 - recall keeps twelve digits of the recall.
_ORDINARY_RECALL: Final = 1e-3
# Below it the quotient of the prior's shares may leave the floats.
_SMALL_PRIOR: Final = 0.1
# e to this power is a float.
_LARGEST_POWER: Final = 700.0
_LARGEST: Final = 1e5
# A parameter this small is none: what is left of it is rounding.
_NOTHING: Final = 1e-300


class TradeOff(ABC):
    """A symmetric trade-off curve: what no attacker can exceed."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Tell whether two curves are of one kind, with the same numbers."""
        if not isinstance(other, TradeOff) or type(self) is not type(other):
            return False
        return self._numbers() == other._numbers()

    def __hash__(self) -> int:
        """Return a hash of the numbers."""
        return hash(self._numbers())

    def __repr__(self) -> str:
        """Return the curve as it is made."""
        numbers = zip(self.__slots__, self._numbers(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={one!r}' for name, one in numbers)})"

    def _numbers(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    @property
    @abstractmethod
    def loss(self) -> float:
        """The largest privacy loss: the least epsilon with delta(epsilon) = 0, or infinity."""

    @abstractmethod
    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon) = sup_A P(A) - e^epsilon Q(A), in [0, 1].

        Args:
            epsilon: at least 0.
        """

    @abstractmethod
    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate in [0, 1]."""

    @abstractmethod
    def fnr(self, fpr: float) -> float:
        """Return 1 - tpr(fpr), as accurate where it is tiny as ``tpr`` is where that is."""

    def epsilon_at(self, delta: float) -> float:
        """Return the least epsilon with delta(epsilon) <= ``delta`` in [0, 1], or infinity."""
        if delta <= 0:
            return self.loss
        return crossing(
            lambda epsilon: self.profile(epsilon) <= delta, start=1.0, limit=_LARGEST_EPSILON
        )

    def excess(self, prior: float) -> float:
        """Return the advantage beyond the trivial attacker's |2p-1|, at a prior p in (0, 1).

        sum |p P - (1-p) Q| = |2p-1| + 2 m delta(|ln((1-p)/p)|) with m = min(p, 1-p): the
        best attacker of a weighted game sits on the privacy profile.
        """
        return 2 * min(prior, 1 - prior) * self.profile(prior_loss(prior))

    def posterior_limit(self, prior: float) -> float:
        """Return the most that any output can make membership certain, in [p, 1].

        1 where the privacy loss has no limit: then some outputs give a record away.
        """
        return prior / (prior + (1 - prior) * math.exp(-self.loss))

    def precision(self, prior: float, recall: float) -> float:
        """Return the most that an answer "member" can be trusted (PPV), in [p, 1].

        The ROC is concave, so precision is greatest at the least recall allowed.

        Args:
            prior: p in (0, 1).
            recall: the least true-positive rate of the attacker, in (0, 1].
        """
        if recall >= _ORDINARY_RECALL:
            # A symmetric trade-off curve is its own inverse.
            false_positives = self.fnr(1 - recall)
        else:
            false_positives = crossing(lambda fpr: self.tpr(fpr) >= recall, start=recall, limit=1.0)
        if false_positives == 0:
            return 1.0
        # Shares of shares: a product of small ones would leave the floats.
        return 1 / (1 + (1 - prior) / prior * (false_positives / recall))


def prior_loss(prior: float) -> float:
    """Return |ln((1-p)/p)|, the privacy loss beyond which the best guess changes."""
    lesser = min(prior, 1 - prior)  # keeps a prior next to 1 exact
    if lesser < _SMALL_PRIOR:
        return math.log1p(-lesser) - math.log(lesser)
    return math.log1p((1 - 2 * lesser) / lesser)  # and this one next to 1/2


def scaled(share: float, loss: float) -> float:
    """Return ``share`` e^loss for a share up to e^-loss, so that nothing overflows."""
    if loss < _LARGEST_POWER:
        return share * math.exp(loss)
    return math.exp(math.log(share) + loss) if share > 0 else 0.0


def exp(x: float) -> float:
    """Return e^x, infinity where it overflows."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def largest_within(
    curve: Callable[[float], TradeOff], within: Callable[[TradeOff], bool]
) -> float | None:
    """Return the largest parameter whose guarantee keeps within a limit.

    Args:
        curve: the guarantee for a parameter that weakens as it grows: epsilon, mu.
        within: whether a guarantee keeps the limit.

    Returns:
        A parameter that keeps it, to the last bit; None if not even 0 does; infinity if
        all do.
    """
    first_beyond = crossing(lambda x: not within(curve(x)), start=1.0, limit=_LARGEST)
    if first_beyond == 0:
        return None
    if math.isinf(first_beyond):
        return first_beyond
    return math.nextafter(first_beyond, 0.0) if first_beyond > _NOTHING else 0.0


def refuted_epsilon(tpr: float, fpr: float, delta: float) -> float:
    """Return the least epsilon at ``delta`` that is consistent with an attack's rates.

    TPR <= e^epsilon FPR + delta and TNR <= e^epsilon FNR + delta hold for every attack
    (Kairouz, Oh and Viswanath 2015, Theorem 2.1), so no smaller epsilon can be true.

    Args:
        tpr: true-positive rate in [0, 1].
        fpr: false-positive rate in [0, 1].
        delta: in [0, 1].

    Returns:
        At least 0; infinite where a rate of errors is 0 and more than delta is found.
    """
    return max(0.0, _log_ratio(tpr - delta, fpr), _log_ratio(1 - fpr - delta, 1 - tpr))


def refuted_mu(tpr: float, fpr: float) -> float:
    """Return the least mu-GDP that is consistent with an attack's rates; may be infinite."""
    if tpr <= fpr:
        return 0.0
    return quantile(tpr) - quantile(fpr)


def _log_ratio(found: float, mistaken: float) -> float:
    if found <= 0:
        return -math.inf
    return math.inf if mistaken == 0 else math.log(found / mistaken)
