"""The report on a promise of membership-inference privacy: the noise it takes, in multiples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.report import NoiseCalibration, NoiseReport
from mipaudit.maths.advantage import baseline
from mipaudit.maths.noise_scales import (
    allowed_gap,
    coordinate_error,
    equivalent_epsilon,
    equivalent_mu,
    expected_norm,
    paper_scale,
    scale_for_distance,
    scale_for_moment,
)
from mipaudit.model.message import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.noise.measured import Applied, Measured
    from mipaudit.commands.noise.options import NoiseOptions
    from mipaudit.commands.noise.report import CalibrationName
    from mipaudit.maths.noise_scales import Mechanism
    from mipaudit.model.message import Finding
    from mipaudit.statements.sources import InputFile

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
LIMITATIONS: Final = (
    Message("noise_on_average"),
    Message("noise_does_not_compose"),
    Message("noise_of_these_records"),
)


def promise_report(
    asked: NoiseOptions,
    *,
    dimension: int | None = None,
    measured: Measured | None = None,
    applied: Applied | None = None,
    inputs: Sequence[InputFile] = (),
    findings: Sequence[Finding] = (),
    limitations: Sequence[Message] = (),
) -> NoiseReport:
    """Return the report: the multipliers, and what was measured and applied, if anything."""
    from mipaudit.statements.provenance import provenance

    eta, q = asked.eta, asked.train_fraction
    gap = allowed_gap(eta, q)
    dimension = dimension or asked.dimension or 1
    return NoiseReport(
        command="noise",
        eta=eta,
        k=_finite(asked.k),
        train_fraction=q,
        advantage=min(1.0, baseline(q) + 2 * eta),
        equivalent_epsilon=equivalent_epsilon(eta, q) if gap < 1 else None,
        dimension=dimension,
        calibrations=noise_calibrations(asked, dimension),
        measured=measured,
        applied=applied,
        findings=(*_findings(gap, q), *findings),
        limitations=(*LIMITATIONS, *limitations),
        provenance=provenance(seed=asked.seed, inputs=inputs, settings=asked.recorded()),
    )


def _findings(gap: float, train_fraction: float) -> tuple[Finding, ...]:
    if gap >= 1:
        code = "no_noise_needed"
    elif train_fraction != _HALF:
        code = "paper_needs_half"
    else:
        return ()
    # Most answers have none, and a data class takes time.
    from mipaudit.model.message import Finding

    return (Finding(code),)


def noise_calibrations(asked: NoiseOptions, dimension: int) -> tuple[NoiseCalibration, ...]:
    """Return every calibration for a promise; none if the promise needs no noise.

    Args:
        asked: the promise, and what is known of the release.
        dimension: numbers in the release, at least 1.
    """
    if allowed_gap(asked.eta, asked.train_fraction) >= 1:
        return ()
    return tuple(_calibrations(asked, dimension))


def _calibrations(asked: NoiseOptions, dimension: int) -> Iterator[NoiseCalibration]:
    eta, k, q = asked.eta, asked.k, asked.train_fraction
    mechanisms = _MECHANISMS if dimension == 1 else _MECHANISMS[1:]
    # By their epsilon, and Gaussian noise by its exact trade-off curve.
    private = 1 / equivalent_epsilon(eta, q)
    of_sensitivity: dict[Mechanism, float] = dict.fromkeys(mechanisms, private)
    of_sensitivity["gaussian"] = 1 / equivalent_mu(eta, q)

    def row(
        calibration: CalibrationName,
        mechanism: Mechanism,
        multiplier: float,
        of: str,
        given: float | None,
    ) -> NoiseCalibration:
        scale = None if given is None else _finite(multiplier * given)
        return NoiseCalibration(
            calibration=calibration,
            mechanism=mechanism,
            multiplier=_finite(multiplier),
            of=of,
            needs=_NEEDS[calibration],
            scale=scale,
            coordinate_rms=_times(scale, coordinate_error(mechanism, dimension)),
            expected_norm=_times(scale, expected_norm(mechanism, dimension)),
            quieter_than_dp_below=None
            if calibration == "dp"
            else of_sensitivity[mechanism] / multiplier,
        )

    if q == _HALF:
        of = f"sigma_{'inf' if math.isinf(k) else f'{k:g}'}"
        yield row("paper", "norm-exponential", paper_scale(eta, k), of, asked.moment)
    for name in mechanisms:
        yield row("moment", name, scale_for_moment(name, eta, q), "sigma_1", asked.moment)
    for name in mechanisms:
        multiplier = scale_for_distance(name, allowed_gap(eta, q))
        yield row("swap", name, multiplier, "swap distance", asked.swap_distance)
    for name in mechanisms:
        yield row("dp", name, of_sensitivity[name], "sensitivity", asked.sensitivity)


def _times(scale: float | None, error: float) -> float | None:
    return None if scale is None else _finite(scale * error)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
