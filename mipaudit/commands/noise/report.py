"""What ``noise`` returns, prints and writes: the JSON format ``mipaudit.noise/3``.

A report on a promise without splits is made here, too: the noise that it takes, in multiples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.maths.advantage import baseline
from mipaudit.maths.noise_scales import (
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
from mipaudit.model.message import Finding, Message, fields_of
from mipaudit.statements.any_report import AnyReport

if TYPE_CHECKING:
    from mipaudit.commands.noise.measured import Measured, NoiseCandidate
    from mipaudit.commands.noise.options import NoiseOptions
    from mipaudit.statements.provenance import InputFile

CalibrationName = Literal["paper", "moment", "swap", "dp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseCalibration:
    """One way to a promise of eta: the scale of the noise is ``multiplier`` times ``of``.

    Attributes:
        calibration: ``paper`` (Izzo et al. 2022), ``moment`` and ``swap``
            (mipaudit help mip-noise), or ``dp`` (differential privacy at the equivalent epsilon).
        mechanism: ``laplace`` is for one number; ``gaussian`` and the rest for any dimension.
            ``norm-exponential`` has density ~ exp(-||x|| / scale).
        multiplier: None where it is beyond the floats.
        of: what the multiplier multiplies.
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
    scale: float | None
    coordinate_rms: float | None
    expected_norm: float | None
    quieter_than_dp_below: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoiseReport(AnyReport):
    """How much noise a promise of membership-inference privacy needs.

    Attributes:
        eta: no attacker's accuracy is more than this above guessing.
        k: order of the moment of the published calibration; None stands for infinity.
        train_fraction: share of the records in the training set.
        advantage: the most that an attacker may reach.
        equivalent_epsilon: the epsilon of differential privacy that promises the same;
            None where no noise is needed.
        dimension: number of coordinates that the errors are for.
        calibrations: multipliers, side by side.
        measured: what splits say, if there were any.
        entropy: of the noise that was added, if any was: ``operating system``, or ``seed`` for an
            experiment, which protects nobody who could guess the seed.
        rounding: what was done about the last bits of a release, if there was one.
    """

    eta: float
    k: float | None
    train_fraction: float
    advantage: float
    equivalent_epsilon: float | None
    dimension: int
    calibrations: tuple[NoiseCalibration, ...]
    measured: Measured | None = None
    entropy: Literal["operating system", "seed"] | None = None
    rounding: str | None = None


def complete() -> None:
    """Load the type that a report on splits holds, so that annotations can be resolved."""
    from mipaudit.commands.noise.measured import Measured

    globals()[Measured.__name__] = Measured


def answer(report: NoiseReport) -> Message:
    """Return how much noise keeps the promise: for any data, or as the splits measure it."""
    if report.equivalent_epsilon is None:
        return Message("noise_not_needed")
    chosen = chosen_of(report)
    if report.measured is not None and chosen is None:
        return Message("no_noise_keeps")
    if chosen is not None:
        return Message.of(
            "noise_of_splits",
            eta=report.eta,
            **fields_of(chosen, "mechanism", "scale", "calibration", "shape"),
        )
    known = [one for one in report.calibrations if one.calibration == "dp" and one.multiplier]
    least = min(known, key=lambda one: one.multiplier or 0.0)
    return Message.of(
        "noise_for_any_data", eta=report.eta, **fields_of(least, "mechanism", "multiplier", "of")
    )


def remarks(report: NoiseReport) -> Iterator[Message]:
    """Yield what was added, what the chosen noise rests on, or what each calibration needs."""
    chosen, numbers = chosen_of(report), report.dimension
    if report.entropy is not None and report.equivalent_epsilon is None:
        yield Message.of("nothing_added", numbers=numbers)
    elif report.entropy is not None:
        of = {"entropy": report.entropy, "rounding": report.rounding}
        yield Message.of("noise_added", numbers=numbers, **of)
    if chosen is not None:
        yield _grounds(chosen)
    if report.measured is None:
        needs = {one.calibration: one.of for one in report.calibrations}
        yield from (Message.of(f"needs_{name}", of=of) for name, of in needs.items())


def protected(report: NoiseReport) -> Message:
    """Return whom the promise is made to."""
    chosen = chosen_of(report)
    return Message((chosen.protects if chosen is not None else "every-record").replace("-", "_"))


def chosen_of(report: NoiseReport) -> NoiseCandidate | None:
    """Return the calibration that is recommended and applied, if splits were measured."""
    candidates = () if report.measured is None else report.measured.candidates
    return next((one for one in candidates if one.chosen), None)


def _grounds(chosen: NoiseCandidate) -> Message:
    """Return what the scale of the chosen noise rests on."""
    basis = chosen.gap or chosen.moment
    number = f"number_{basis.validity if chosen.scaled_by == 'upper' else 'value'}"
    swap = "swap_" if "swap" in chosen.calibration else ""
    return Message.of(
        f"scale_of_{swap}{'moment' if chosen.gap is None else 'move'}",
        number=Message.of(number, confidence=basis.confidence),
        n_splits=basis.n_splits,
        multiplier=chosen.multiplier,
        at_most=None if chosen.gap is None else chosen.gap.at_most,
    )


def guessing(report: NoiseReport) -> float:
    """Return the accuracy of guessing without the release."""
    return max(report.train_fraction, 1 - report.train_fraction)


def accuracy(report: NoiseReport) -> float:
    """Return the most that an attacker may reach."""
    return min(1.0, guessing(report) + report.eta)


def multipliers(report: NoiseReport) -> tuple[NoiseCalibration, ...]:
    """Return the calibrations, where no splits say more."""
    return report.calibrations if report.measured is None else ()


def given_units(report: NoiseReport) -> bool:
    """Tell whether errors are in the units of the table, and not of each number's spread."""
    return report.measured is not None and report.measured.error_units == "given"


_HALF: Final = 0.5
_MECHANISMS: Final[tuple[Mechanism, ...]] = ("laplace", "norm-exponential", "gaussian")
LIMITATIONS: Final = (
    Message("noise_on_average"),
    Message("noise_does_not_compose"),
    Message("noise_of_these_records"),
)


def promise_report(
    asked: NoiseOptions, *, dimension: int | None = None, inputs: Sequence[InputFile] = ()
) -> NoiseReport:
    """Return the report on a promise: the multipliers, with nothing measured and nothing added."""
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
        findings=_findings(gap, q),
        limitations=LIMITATIONS,
        provenance=provenance(seed=asked.seed, inputs=inputs, settings=asked.recorded()),
    )


def _findings(gap: float, train_fraction: float) -> tuple[Finding, ...]:
    if gap >= 1:
        code = "no_noise_needed"
    elif train_fraction != _HALF:
        code = "paper_needs_half"
    else:
        return ()
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
    """Yield the calibrations side by side, each kind of noise by itself."""
    eta, k, q = asked.eta, asked.k, asked.train_fraction
    mechanisms = _MECHANISMS if dimension == 1 else _MECHANISMS[1:]
    # By their epsilon, and Gaussian noise by its exact trade-off curve.
    private = dict.fromkeys(mechanisms, 1 / equivalent_epsilon(eta, q))
    private["gaussian"] = 1 / equivalent_mu(eta, q)
    # Calibration, mechanism, multiplier, of what, and how large that is.
    ways: list[tuple[CalibrationName, Mechanism, float, str, float | None]] = []
    if q == _HALF:
        of = f"sigma_{'inf' if math.isinf(k) else f'{k:g}'}"
        ways.append(("paper", "norm-exponential", paper_scale(eta, k), of, asked.moment))
    ways += [
        ("moment", one, scale_for_moment(one, eta, q), "sigma_1", asked.moment)
        for one in mechanisms
    ]
    gap = allowed_gap(eta, q)
    ways += [
        ("swap", one, scale_for_distance(one, gap), "swap distance", asked.swap_distance)
        for one in mechanisms
    ]
    ways += [("dp", one, private[one], "sensitivity", asked.sensitivity) for one in mechanisms]
    for calibration, mechanism, multiplier, of, given in ways:
        known = None if given is None else _finite(multiplier * given)
        yield NoiseCalibration(
            calibration=calibration,
            mechanism=mechanism,
            multiplier=_finite(multiplier),
            of=of,
            scale=known,
            coordinate_rms=_times(known, coordinate_error(mechanism, dimension)),
            expected_norm=_times(known, expected_norm(mechanism, dimension)),
            quieter_than_dp_below=None if calibration == "dp" else private[mechanism] / multiplier,
        )


def _times(scale: float | None, error: float) -> float | None:
    return None if scale is None else _finite(scale * error)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
