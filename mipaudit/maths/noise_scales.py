"""Noise for membership-inference privacy (MIP): which scale leaves which eta.

Setting (Izzo et al. 2022, Definition 1): the training set is a uniformly random
fraction q of n records, a release is a vector theta computed from it, and theta + X
is published. eta-MIP: for every record, nobody tells "in" from "out" with accuracy
above max(q, 1-q) + eta. That accuracy is at most max(q, 1-q) + min(q, 1-q) TV, where
TV is the total variation between the published vector with the record in and out.

The scales below come from one argument, proved in mipaudit help methods: couple the two
outputs, bound TV for a fixed shift, and average by Jensen's inequality. They replace
Izzo et al. 2022, Theorem 7, which asks for much more noise.
"""

from __future__ import annotations

import math
from typing import Final, Literal, assert_never

from mipaudit.maths.bisection import crossing
from mipaudit.maths.normal import central_quantile
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import prior_loss

Mechanism = Literal["laplace", "norm-exponential", "gaussian"]

# Izzo et al. 2022: the constant of Theorem 7, and that of Corollary 8 for k >= 2.
_PAPER_CONSTANT: Final = 7.5
_PAPER_CONSTANT_FROM_2: Final = 6.16
# From this dimension on the series of the chi mean is exact to rounding, while the
# difference of two lgammas loses digits: it is wrong by 2e-9 at 10^7, by 2e-4 at 10^12.
_CHI_SERIES_FROM: Final = 1_000


def equivalent_epsilon(eta: float, train_fraction: float = 0.5) -> float:
    """Return the epsilon of differential privacy by substitution that allows exactly ``eta``.

    At q = 1/2 this is ln((1 + 2 eta) / (1 - 2 eta)) (Izzo et al. 2022, Theorem 4, solved
    for epsilon). At other q an attacker who may guess at the prior does not gain until
    epsilon exceeds |ln((1-q)/q)|.

    Args:
        eta: in (0, min(q, 1-q)).
        train_fraction: q in (0, 1).
    """
    gap = allowed_gap(eta, train_fraction)
    needed = prior_loss(train_fraction)
    return needed + math.log1p(gap * math.exp(-needed)) - math.log1p(-gap)


def equivalent_mu(eta: float, train_fraction: float = 0.5) -> float:
    """Return the mu of Gaussian differential privacy that allows exactly ``eta``.

    Args and conditions as for :func:`equivalent_epsilon`.
    """
    gap = allowed_gap(eta, train_fraction)
    if train_fraction == 1 / 2:
        return 2 * central_quantile(gap)
    needed = prior_loss(train_fraction)
    return crossing(lambda mu: GaussianDP(mu=mu).profile(needed) >= gap, start=1.0, limit=1e5)


def allowed_eta(epsilon: float) -> float:
    """Return the eta that epsilon-differential privacy by substitution guarantees.

    Izzo et al. 2022, Theorem 4: 1 / (1 + e^-epsilon) - 1/2.
    """
    return math.tanh(epsilon / 2) / 2


def allowed_gap(eta: float, train_fraction: float) -> float:
    """Return the total variation between "in" and "out" that ``eta`` leaves room for.

    At 1 or above, a release without noise is already eta-MIP: guessing the more likely
    answer is that good.
    """
    return eta / min(train_fraction, 1 - train_fraction)


def scale_for_distance(mechanism: Mechanism, gap: float) -> float:
    """Return the scale of the noise for each unit of expected distance D.

    D = E ||theta_in - theta_out|| under any coupling of the two. The scale is b for
    ``laplace`` (one number; density ~ exp(-|x|/b)) and for ``norm-exponential`` (any
    dimension and norm; density ~ exp(-||x||/b)), and the standard deviation of each
    coordinate for ``gaussian`` (any dimension, Euclidean norm).

    Args:
        mechanism: the kind of noise.
        gap: the total variation to be left, in (0, 1).

    Returns:
        A positive number: TV is at most ``gap`` where the scale is D times that.
    """
    match mechanism:
        case "laplace":
            return 1 / (-2 * math.log1p(-gap))
        case "norm-exponential":
            return 1 / (2 * math.atanh(gap))
        case "gaussian":
            return 1 / (2 * central_quantile(gap))
        case _:
            assert_never(mechanism)


def scale_for_moment(mechanism: Mechanism, eta: float, train_fraction: float) -> float:
    """Return the scale of the noise for each unit of sigma_1 = E ||theta - m||.

    About any centre m: E ||theta_in - theta_out|| <= sigma_1 / min(q, 1-q), whatever
    the record. As sigma_1 <= sigma_k for k >= 1, any higher moment serves as well.

    Args:
        mechanism: the kind of noise.
        eta: in (0, min(q, 1-q)).
        train_fraction: q in (0, 1).
    """
    rarer = min(train_fraction, 1 - train_fraction)
    return scale_for_distance(mechanism, allowed_gap(eta, train_fraction)) / rarer


def paper_scale(eta: float, k: float) -> float:
    """Return the published scale b for each unit of sigma_k: (6.16 / eta)^(1 + 2/k).

    Izzo et al. 2022, Corollary 8 (k at least 2; below, the 7.5 of Theorem 7), for
    q = 1/2 and noise of density ~ exp(-||x||/b).

    Args:
        eta: in (0, 1/2).
        k: order of the moment, at least 1; may be infinite.

    Returns:
        A positive number, infinite where it is beyond the floats.
    """
    constant = _PAPER_CONSTANT_FROM_2 if k >= 2 else _PAPER_CONSTANT  # noqa: PLR2004
    try:
        return float((constant / eta) ** (1 + 2 / k))
    except OverflowError:
        return math.inf


def expected_norm(mechanism: Mechanism, dimension: int) -> float:
    """Return E ||X|| (Euclidean) of the noise at scale 1 in ``dimension`` coordinates.

    ``laplace`` is for one coordinate.
    """
    match mechanism:
        case "laplace" | "norm-exponential":
            return float(dimension)
        case "gaussian":
            return _chi_mean(dimension)
        case _:
            assert_never(mechanism)


def coordinate_error(mechanism: Mechanism, dimension: int) -> float:
    """Return the root mean square of one coordinate of the noise at scale 1.

    The norm-exponential noise in the Euclidean norm has a radius of law Gamma(d, b), so
    E ||X||^2 = d (d+1) b^2; for d = 1 it is Laplace noise.
    """
    match mechanism:
        case "laplace" | "norm-exponential":
            return math.sqrt(dimension + 1)
        case "gaussian":
            return 1.0
        case _:
            assert_never(mechanism)


def _chi_mean(dimension: int) -> float:
    """Return sqrt(2) Gamma((d+1)/2) / Gamma(d/2), the mean of a chi with d degrees of freedom."""
    if dimension < _CHI_SERIES_FROM:
        return math.sqrt(2) * math.exp(
            math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2)
        )
    part = 1 / (4 * dimension)
    return math.sqrt(dimension) * (1 - part + part**2 / 2 + 5 * part**3 / 2)
