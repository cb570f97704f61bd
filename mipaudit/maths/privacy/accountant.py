"""The privacy of DP-SGD and of compositions, by privacy loss distributions.

The mechanisms and their composition are dp-accounting's (the extra ``accounting``), with
one repair. Only losses above 0 are read off a mechanism's profile; those below follow
from the other direction, P(loss = -x) = e^-x Q(loss = x). Read off as well, as
dp-accounting does, they are differences of numbers near 1, and over many steps on a fine
grid the rounding errors add up to visible probability (an advantage of .8555 for .8532
after 10,000 steps). Its accountant also counts a repeated randomized response once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, assert_never

import numpy as np

from mipaudit.errors import UsageError
from mipaudit.maths.privacy.composition import (
    LARGEST_EPSILON,
    Adjacency,
    ApproximatePart,
    Composition,
    DpSgd,
    GaussianPart,
    LaplacePart,
    Part,
    ResponsePart,
)
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP
from mipaudit.maths.privacy.loss_grid import (
    Half,
    Losses,
    accountant,
    half_of_atom,
    half_of_profile,
    mirrored,
)
from mipaudit.maths.privacy.mechanism import RandomizedResponse
from mipaudit.maths.privacy.points_of_curve import Accounted

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff

# The slowest fall by a doubling that is told from none.
_SLOWEST: Final = 1.1
# The deviation that rounding may add to the total loss, against that loss and against 1.
_BLUR: Final = 0.005
# Cells for the losses of one step: a fine look at rare large losses; time; the floats.
_FEWEST_CELLS: Final = 20_000
_MOST_CELLS: Final = 250_000
_NOISE: Final = 1e5
_ROUGH_CELLS: Final = 200
# Two-sided room for the total loss on a rough grid.
_DEVIATIONS: Final = 40.0
# Cells for the total loss: under 300 MiB at the peak; and how often to look for their number.
_MOST_TOTAL_CELLS: Final = 2**20
_LOOKS: Final = 4


def account(composition: Composition, adjacency: Adjacency = "add-remove") -> Accounted:
    """Return the trade-off curve of all parts together: an upper limit of any attacker.

    By substitution, noise hides twice the shift, DP-SGD has its own worst case (one
    record's gradient against its opposite), and a part stated for adding or removing a
    record is taken twice. Parts with only Gaussian noise, or only one kind of (epsilon,
    delta) or randomized response, are exact to 1e-5 and 1e-9; see ``excess_of_grid``.

    Args:
        composition: the parts; their order does not matter.
        adjacency: the neighbours that the attacker is to tell apart.

    Raises:
        MissingExtraError: ``accounting_missing``: dp-accounting is not installed.
        UsageError: ``adjacency_mismatch``: a part protects by substitution only and the
            neighbours are by add or remove.
    """
    # Loose ends of tails overflow, underflow and divide by 0 on their way to 0.
    with np.errstate(all="ignore"):
        uses = _uses(composition.parts, adjacency)
        if not uses:
            return Accounted(epsilon=np.zeros(1), delta=np.zeros(1), loss=0.0)
        interval, rounded = _interval(uses)
        curve = _curve(uses, interval)
        if not rounded:
            return curve
        coarser = [_curve(uses, factor * interval).profile(0) for factor in (2, 4)]
        excess = _extrapolated(curve.profile(0), *coarser)
        return replace(curve, excess_of_grid=excess)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """One mechanism as the grid sees it.

    Attributes:
        halves: the losses above 0 of both directions, for an interval of the grid.
        reach: the largest loss on the grid.
        spread: about the standard deviation of the loss.
        loss: the largest possible loss; may be infinite.
        count: how often it is used.
        atom: the only loss above 0, where there is just one.
    """

    halves: Callable[[float], tuple[Half, Half]]
    reach: float
    spread: float
    loss: float
    count: int
    atom: float | None = None


def _uses(parts: tuple[Part, ...], adjacency: Adjacency) -> tuple[_Use, ...]:
    """Return the mechanisms; all plain Gaussian noise together is one of them."""
    noise = 0.0
    uses = []
    for part in parts:
        match part:
            case GaussianPart():
                noise += part.count / part.noise_multiplier**2
            case DpSgd(q=1):
                noise += part.steps / part.noise_multiplier**2
            case DpSgd():
                uses.append(_sampled(part, adjacency))
            case LaplacePart():
                uses.append(_laplace(part, adjacency))
            case ApproximatePart() | ResponsePart():
                uses.append(_atom(part, adjacency))
            case _:
                assert_never(part)
    if noise > 0:
        uses.append(_gaussian(math.sqrt(noise), adjacency))
    return tuple(use for use in uses if use.loss > 0)


def _sampled(part: DpSgd, adjacency: Adjacency) -> _Use:
    mechanisms = accountant().privacy_loss_mechanism
    sides = mechanisms.AdjacencyType
    directions = [sides.REPLACE] if adjacency == "substitution" else [sides.REMOVE, sides.ADD]
    # The root of the chi-squared divergence: the deviation of losses that are small.
    spread = part.q * math.sqrt(math.expm1(min(part.noise_multiplier**-2, LARGEST_EPSILON)))
    return _noisy(
        [
            mechanisms.GaussianPrivacyLoss(
                part.noise_multiplier, sampling_prob=part.q, adjacency_type=direction
            )
            for direction in directions
        ],
        spread=spread * _shift(adjacency),
        count=part.steps,
    )


def _gaussian(mu: float, adjacency: Adjacency) -> _Use:
    mechanisms = accountant().privacy_loss_mechanism
    mu *= _shift(adjacency)
    return _noisy([mechanisms.GaussianPrivacyLoss(1 / mu)], spread=mu, count=1)


def _noisy(directions: list[Any], *, spread: float, count: int) -> _Use:
    """Return the use of Gaussian noise, from dp-accounting's mechanism for each direction."""
    reaches = [side.connect_dots_bounds().epsilon_upper for side in directions]

    def halves(interval: float) -> tuple[Half, Half]:
        both = [
            half_of_profile(side.get_delta_for_epsilon, reach, interval)
            for side, reach in zip(directions, reaches, strict=True)
        ]
        return both[0], both[-1]

    return _Use(halves=halves, reach=max(reaches), spread=spread, loss=math.inf, count=count)


def _laplace(part: LaplacePart, adjacency: Adjacency) -> _Use:
    shift = _shift(adjacency) / part.noise_multiplier

    def halves(interval: float) -> tuple[Half, Half]:
        half = half_of_profile(
            lambda epsilons: -np.expm1(np.minimum(0, (epsilons - shift) / 2)), shift, interval
        )
        return half, half

    return _Use(halves=halves, reach=shift, spread=shift, loss=part.count * shift, count=part.count)


def _atom(part: ApproximatePart | ResponsePart, adjacency: Adjacency) -> _Use:
    """Return the use of a mechanism whose losses are 0, one number, its opposite, or endless."""
    loss, curve = _atomic_curve(part, adjacency)
    endless = curve.profile(loss)
    # delta(0) = endless + mass (1 - e^-loss).
    mass = (curve.profile(0) - endless) / -math.expm1(-loss) if loss > 0 else 0.0

    def halves(interval: float) -> tuple[Half, Half]:
        half = half_of_atom(loss, mass, endless, interval)
        return half, half

    return _Use(
        halves=halves,
        reach=loss,
        spread=loss * math.sqrt(mass),
        loss=part.count * loss if endless == 0 else math.inf,
        count=part.count,
        atom=loss,
    )


def _atomic_curve(
    part: ApproximatePart | ResponsePart, adjacency: Adjacency
) -> tuple[float, TradeOff]:
    """Return the loss and the curve, for the neighbours asked for."""
    stated = "substitution" if isinstance(part, ResponsePart) else part.adjacency
    if stated == "substitution" and adjacency == "add-remove":
        raise UsageError(
            "adjacency_mismatch",
            "One part hides only that a record is replaced, not that one is added or removed.",
            "Use adjacency substitution.",
        )
    if isinstance(part, ResponsePart):
        response = RandomizedResponse(truth=part.truth, categories=part.categories)
        return response.loss, response
    step = ApproximateDP(epsilon=part.epsilon, delta=part.delta)
    if stated == adjacency:
        return part.epsilon, step
    return 2 * part.epsilon, TwoStepDP(step=step)


def _shift(adjacency: Adjacency) -> int:
    """Return how far noise must hide, in sensitivities to adding or removing a record."""
    return 2 if adjacency == "substitution" else 1


def _interval(uses: tuple[_Use, ...]) -> tuple[float, bool]:
    """Return the interval of the grid, and whether it rounds any loss.

    Connecting the dots spreads each loss by at most half an interval: after n steps, by a
    deviation of about interval sqrt(n / 6). That is kept small against the deviation of
    the total loss and against 1, as far as memory and the floats allow.
    """
    reaches = [use.reach for use in uses if use.reach > 0]
    if not reaches:
        return 1.0, False
    atoms = {use.atom for use in uses}
    if atoms == {reaches[0]} and _affordable(uses, reaches[0]) == reaches[0]:
        return reaches[0], False
    steps, spread = sum(use.count for use in uses), _spread(uses)
    wanted = min(_BLUR * min(1.0, spread) * math.sqrt(6 / steps), max(reaches) / _FEWEST_CELLS)
    # Below this the profile's own rounding, 1e-16, shows in the differences between dots.
    finest = max(reach / min(_MOST_CELLS, _NOISE * math.sqrt(reach)) for reach in reaches)
    return _affordable(uses, max(wanted, finest)), True


def _affordable(uses: tuple[_Use, ...], wanted: float) -> float:
    """Return the least interval from ``wanted`` on that keeps the total loss in memory."""
    rough = max(use.reach for use in uses) / _ROUGH_CELLS
    interval = max(wanted, rough, _DEVIATIONS * _spread(uses) / _MOST_TOTAL_CELLS)
    # A rough grid overstates how far the total reaches; a finer one corrects that.
    for _ in range(_LOOKS):
        width = max(total.top - min(total.lower, 0) for total in _totals(uses, interval))
        finer = max(wanted, interval * width / _MOST_TOTAL_CELLS)
        if not finer < interval / 2:
            return max(finer, wanted)
        interval = finer
        if finer == wanted:
            break
    return interval


def _spread(uses: tuple[_Use, ...]) -> float:
    """Return about the standard deviation of the total loss."""
    return math.sqrt(sum(use.count * min(use.spread, use.reach) ** 2 for use in uses))


def _extrapolated(value: float, twice: float, four_times: float) -> float:
    """Return how much a value would fall with the interval, judged by twice and four times it.

    It falls with a power of the interval: its square, unless the losses are finer than that.
    """
    first, second = twice - value, four_times - twice
    if not first > 0:
        return 0.0
    return min(value, first / (min(max(second / first, _SLOWEST), 4) - 1))


def _totals(uses: tuple[_Use, ...], interval: float) -> tuple[Losses, ...]:
    """Return the losses of everything together, in both directions or in the only one."""
    pairs = [use.halves(interval) for use in uses]
    symmetric = all(own is other for own, other in pairs)
    directions = [pairs] if symmetric else [pairs, [(other, own) for own, other in pairs]]
    return tuple(
        reduce(
            Losses.plus,
            (
                mirrored(own, other, interval).power(use.count)
                for use, (own, other) in zip(uses, direction, strict=True)
            ),
        )
        for direction in directions
    )


def _curve(uses: tuple[_Use, ...], interval: float) -> Accounted:
    """Return the curve above both directions, at every point of the grid."""
    profiles = [total.deltas(interval) for total in _totals(uses, interval)]
    delta = np.zeros(max(profile.size for profile in profiles))
    for profile in profiles:
        delta[: profile.size] = np.maximum(delta[: profile.size], profile)
        delta[profile.size :] = np.maximum(delta[profile.size :], profile[-1])
    epsilon = np.arange(delta.size, dtype=np.float64) * interval
    loss = sum(use.loss for use in uses)
    if math.isfinite(loss):
        inside = epsilon < loss
        epsilon, delta = np.append(epsilon[inside], loss), np.append(delta[inside], 0.0)
    return Accounted(epsilon=epsilon, delta=delta, loss=loss)
