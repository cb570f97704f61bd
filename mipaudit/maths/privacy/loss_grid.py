"""Distributions of privacy losses on a grid, and their composition by FFT.

A mechanism's privacy profile is read at the multiples of an interval only ("connect the
dots", Doroshenko et al. 2022): the curve through these dots overstates every delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mipaudit.errors import MissingExtraError
from mipaudit.maths.arrays import Floats

# What a composition cuts off its tails, and counts as an endless loss.
_TAIL: Final = 1e-18
# So many steps are composed at a time: the tails' limits are tuned to the length of one step.
_AT_A_TIME: Final = 4096
# loss / interval is a whole number up to this where it should be one.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Half:
    """The losses above 0 of one direction.

    Attributes:
        masses: probability of the losses 1, 2, ... intervals; shape (k,).
        endless: probability of an infinite loss.
    """

    masses: Floats
    endless: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses:
    """A distribution of privacy losses.

    Attributes:
        lower: the first loss, in intervals.
        masses: probability of ``lower``, ``lower`` + 1, ... intervals; shape (k,).
        endless: probability of an infinite loss; with ``masses``, 1 (or 1e-15 more).
    """

    lower: int
    masses: Floats
    endless: float

    @property
    def top(self) -> int:
        """The largest finite loss, in intervals."""
        return self.lower + self.masses.size - 1

    def power(self, count: int) -> Losses:
        """Return the losses of ``count`` independent uses together."""
        if count == 1:
            return self
        if count <= _AT_A_TIME:
            return self._at_once(count)
        root = math.isqrt(count)
        whole, rest = divmod(count, root)
        many = self.power(root).power(whole)
        return many.plus(self.power(rest)) if rest else many

    def plus(self, other: Losses) -> Losses:
        """Return the losses of two independent uses together."""
        from scipy.signal import fftconvolve

        endless = self.endless + other.endless - self.endless * other.endless
        masses = fftconvolve(self.masses, other.masses)
        return _normal(self.lower + other.lower, masses, endless)

    def deltas(self, interval: float) -> Floats:
        """Return delta at 0, 1, ... intervals up to the top: sums of positive terms only."""
        from scipy.signal import lfilter

        last = max(self.top, 0)
        masses = np.zeros(last + 1)
        start = max(self.lower, 0)
        masses[start:] = self.masses[start - self.lower :] if self.top >= 0 else 0.0
        beyond = np.cumsum(masses[::-1])
        # D_i = sum over k > i of p_k (1 - e^-(k-i)h) = e^-h D_(i+1) + (1 - e^-h) P(loss > i).
        step = -math.expm1(-interval)
        shifted = np.concatenate(([0.0], beyond[:-1]))
        finite: Floats = lfilter([step], [1.0, -math.exp(-interval)], shifted)[::-1]
        return np.minimum(self.endless + finite, 1.0)

    def _at_once(self, count: int) -> Losses:
        common = accountant().common
        offset, masses = common.self_convolve(self.masses, count, _TAIL)
        endless = -math.expm1(count * math.log1p(-self.endless))
        return _normal(self.lower * count + offset, np.asarray(masses), endless)


def half_of_profile(profile: Callable[[Floats], Floats], reach: float, interval: float) -> Half:
    """Return the losses of a mechanism from its privacy profile.

    Args:
        profile: delta at many epsilons of 0 or more, falling.
        reach: the largest loss worth keeping; what is beyond becomes endless.
        interval: of the grid.
    """
    dots = np.arange(math.ceil(reach / interval) + 1, dtype=np.float64) * interval
    deltas = np.minimum.accumulate(np.clip(profile(dots), 0, 1))
    falls = deltas[:-1] - deltas[1:]
    masses = falls / -math.expm1(-interval)
    masses[:-1] -= falls[1:] * (math.exp(-interval) / -math.expm1(-interval))
    return Half(masses=np.maximum(masses, 0), endless=float(deltas[-1]))


def half_of_atom(loss: float, mass: float, endless: float, interval: float) -> Half:
    """Return a single loss above 0 on the grid, split between its two neighbours.

    The split keeps the mass in both directions: Q is e^-loss P.
    """
    above = max(1, math.ceil(loss / interval - _ROUNDING))
    masses = np.zeros(above)
    # Where e^-loss is between e^-(above h) and e^-((above - 1) h); nothing overflows.
    short = max(0.0, above * interval - loss)
    lower = math.exp(short - interval) * math.expm1(-short) / math.expm1(-interval)
    masses[-1] = mass * (1 - lower)
    if above > 1:
        masses[-2] = mass * lower
    return Half(masses=masses, endless=endless)


def mirrored(own: Half, other: Half, interval: float) -> Losses:
    """Return all losses of one direction from the positive ones of both.

    P(loss = -x) = e^-x Q(loss = x), and what is left has a loss of 0.
    """
    depth = np.arange(1, other.masses.size + 1) * interval
    negative = (other.masses * np.exp(-depth))[::-1]
    rest = 1 - own.endless - math.fsum(own.masses) - math.fsum(negative)
    masses = np.concatenate((negative, [max(0.0, rest)], own.masses))
    return Losses(lower=-negative.size, masses=masses, endless=own.endless)


def accountant() -> Any:  # noqa: ANN401 - a module without types
    """Return dp-accounting's package of privacy loss distributions.

    Raises:
        MissingExtraError: ``accounting_missing``: it is not installed.
    """
    try:
        import dp_accounting.pld.common
        import dp_accounting.pld.privacy_loss_mechanism
    except ImportError:
        raise MissingExtraError(
            "accounting_missing",
            "DP-SGD and compositions need the library dp-accounting, which is not installed.",
            hint='Try: pip install "mipaudit[accounting]"',
        ) from None
    return dp_accounting.pld


def _normal(lower: int, masses: Floats, endless: float) -> Losses:
    """Put right what the FFT rounds: no negative mass, and a total of 1."""
    masses = np.maximum(masses, 0)
    total = math.fsum(masses)
    if total > 0:
        masses *= (1 - endless) / total
    return Losses(lower=lower, masses=masses, endless=min(1.0, endless + _TAIL))
