"""How much noise each known calibration asks for, as multiples of what it must know."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mipaudit.maths.mip import (
    Mechanism,
    allowed_gap,
    coordinate_error,
    equivalent_epsilon,
    equivalent_mu,
    expected_norm,
    paper_scale,
    scale_for_distance,
    scale_for_moment,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CalibrationName = Literal["paper", "moment", "swap", "dp"]
_HALF: Final = 0.5
_NEEDS: Final = {
    "paper": "the k-th root of the k-th central moment of the release over random training sets, "
    "half of the records in each; for k = 2, its root mean square distance from its mean",
    "moment": "the mean distance of the release from a fixed point, any point, over random "
    "training sets; sigma of a higher order is larger and serves as well",
    "swap": "the mean distance that the release moves when one record is exchanged for another; "
    "the largest over records protects every record",
    "dp": "the most that any exchange of one record can move the release, for any data",
}
_MECHANISMS: Final[tuple[Mechanism, ...]] = ("laplace", "norm-exponential", "gaussian")
CalibrationKind = Literal["moment", "swap", "direct", "direct-swap", "paper"]
ShapeKind = Literal["isotropic", "diagonal", "full"]
Protects = Literal["every-record", "tested-records", "average-record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseCalibration:
    """One way to a promise of eta: the scale of the noise is ``multiplier`` times ``of``.

    Attributes:
        calibration: ``paper`` (Izzo et al. 2022), ``moment`` and ``swap`` (docs/mip-noise.md),
            or ``dp`` (differential privacy at the equivalent epsilon).
        mechanism: ``laplace`` is for one number; ``gaussian`` and the rest for any dimension.
            ``norm-exponential`` has density ~ exp(-||x|| / scale).
        multiplier: None where it is beyond the floats.
        of: what the multiplier multiplies.
        needs: what must be known for it.
        scale: multiplier times the number given for ``of``; None where none was given.
        coordinate_rms: root mean square of one coordinate of the noise; None without a scale.
        expected_norm: mean Euclidean length of the noise; None without a scale.
        quieter_than_dp_below: this noise is less than that of differential privacy with the
            same mechanism where ``of`` is below this many sensitivities; None for ``dp``.
    """

    calibration: CalibrationName
    mechanism: Mechanism
    multiplier: float | None
    of: str
    needs: str
    scale: float | None
    coordinate_rms: float | None
    expected_norm: float | None
    quieter_than_dp_below: float | None


class Known(NamedTuple):
    """What is known of a release; None where it is not.

    Attributes:
        moment: sigma_k, the k-th root of the k-th central moment, in the norm of the noise.
        swap_distance: mean move when one record is exchanged.
        sensitivity: largest move when one record is exchanged.
        dimension: number of coordinates, at least 1.
    """

    moment: float | None
    swap_distance: float | None
    sensitivity: float | None
    dimension: int


def noise_calibrations(
    *, eta: float, k: float, train_fraction: float, known: Known
) -> tuple[NoiseCalibration, ...]:
    """Return every calibration for a promise; none if the promise needs no noise.

    Args:
        eta: in (0, 1/2).
        k: order of the moment, at least 1; may be infinite.
        train_fraction: q in (0, 1).
        known: what is known of the release.
    """
    gap = allowed_gap(eta, train_fraction)
    if gap >= 1:
        return ()
    return tuple(_all(eta, k, train_fraction, gap, known))


def _all(
    eta: float, k: float, train_fraction: float, gap: float, known: Known
) -> Iterator[NoiseCalibration]:
    mechanisms = _MECHANISMS if known.dimension == 1 else _MECHANISMS[1:]
    sigma_k = f"sigma_{'inf' if math.isinf(k) else f'{k:g}'}"
    of_sensitivity = {name: _dp_multiplier(name, eta, train_fraction) for name in mechanisms}
    if train_fraction == _HALF:
        yield _row("paper", "norm-exponential", paper_scale(eta, k), sigma_k, known, of_sensitivity)
    for name in mechanisms:
        multiplier = scale_for_moment(name, eta, train_fraction)
        yield _row("moment", name, multiplier, "sigma_1", known, of_sensitivity)
    for name in mechanisms:
        multiplier = scale_for_distance(name, gap)
        yield _row("swap", name, multiplier, "swap distance", known, of_sensitivity)
    for name in mechanisms:
        yield _row("dp", name, of_sensitivity[name], "sensitivity", known, of_sensitivity)


def _dp_multiplier(mechanism: Mechanism, eta: float, train_fraction: float) -> float:
    """Return the scale for each unit of sensitivity that differential privacy asks for.

    Laplace and norm-exponential noise by their epsilon; Gaussian noise by its exact
    trade-off curve.
    """
    if mechanism == "gaussian":
        return 1 / equivalent_mu(eta, train_fraction)
    return 1 / equivalent_epsilon(eta, train_fraction)


def _row(
    calibration: CalibrationName,
    mechanism: Mechanism,
    multiplier: float,
    of: str,
    known: Known,
    of_sensitivity: dict[Mechanism, float],
) -> NoiseCalibration:
    given = {
        "paper": known.moment,
        "moment": known.moment,
        "swap": known.swap_distance,
        "dp": known.sensitivity,
    }[calibration]
    scale = None if given is None else _finite(multiplier * given)
    return NoiseCalibration(
        calibration=calibration,
        mechanism=mechanism,
        multiplier=_finite(multiplier),
        of=of,
        needs=_NEEDS[calibration],
        scale=scale,
        coordinate_rms=_times(scale, coordinate_error(mechanism, known.dimension)),
        expected_norm=_times(scale, expected_norm(mechanism, known.dimension)),
        quieter_than_dp_below=None
        if calibration == "dp"
        else of_sensitivity[mechanism] / multiplier,
    )


def _times(scale: float | None, error: float) -> float | None:
    return None if scale is None else _finite(scale * error)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
