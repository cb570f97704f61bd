"""What ``noise`` says of splits, and of a release that it noised: parts of its report."""

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredMoment:
    """A moment or mean distance, estimated from random splits.

    Attributes:
        order: k; None stands for infinity.
        value: best estimate, in the norm of the noise.
        lower: lower confidence limit, if there is one.
        upper: upper confidence limit, if there is one.
        estimator: how the value was made.
        validity: ``approximate`` or ``not-an-interval``.
        confidence: of the limits.
        n_splits: splits, or pairs, behind it.
    """

    order: float | None
    value: float
    lower: float | None
    upper: float | None
    estimator: str
    validity: str
    confidence: float
    n_splits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredGap:
    """How well the noise of a direct calibration hides the move of a release.

    It is the mean, over random splits (or swap pairs), of the total variation between the
    noise and the same noise moved by as much as the release: ``direct``: from a fixed
    centre; ``direct-swap``: from one side of a pair to the other.

    Attributes:
        value: best estimate at the scale of the noise.
        upper: upper confidence limit, if there is one.
        at_most: what the promise allows: eta, or eta / min(q, 1-q) for pairs.
        estimator: ``left-out`` (from the centre of other splits), ``mean-swap``, or
            ``betting`` (a limit that holds at every sample size).
        validity: ``finite-sample``, ``approximate`` or ``not-an-interval``.
        confidence: of the limit.
        n_splits: splits, or pairs, behind it.
    """

    value: float
    upper: float | None
    at_most: float
    estimator: str
    validity: str
    confidence: float
    n_splits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseCandidate:
    """Noise that keeps the promise if its moment, or its mean gap, is right.

    Attributes:
        calibration: ``moment``, ``swap``, ``direct``, ``direct-swap`` or ``paper``.
        mechanism: kind of noise.
        shape: ``isotropic``, ``diagonal`` or ``full``.
        protects: ``every-record``, ``tested-records`` or ``average-record``.
        multiplier: scale for each unit of the moment; None for the direct calibrations.
        moment: in the norm of the shape; for the direct calibrations the mean distance,
            for information: their scale rests on ``gap``.
        gap: for the direct calibrations, what the scale was made from; else None.
        scaled_by: ``upper`` limit or ``value`` of the moment, or of the gap.
        scale: of the noise, in the norm of the shape.
        guaranteed: whether the limit that the scale rests on holds at every sample size.
        total_error: expected sum of squared errors, in the error units.
        rms_norm: root mean square of the Euclidean length of the noise.
        expected_norm: mean Euclidean length of the noise.
        chosen: whether it is the one that is recommended and applied.
    """

    calibration: str
    mechanism: str
    shape: str
    protects: str
    multiplier: float | None
    moment: MeasuredMoment
    gap: MeasuredGap | None
    scaled_by: str
    scale: float
    guaranteed: bool
    total_error: float
    rms_norm: float
    expected_norm: float
    chosen: bool

    @property
    def error(self) -> float:
        """Root of the total error, in the error units."""
        return math.sqrt(self.total_error)

    @property
    def protects_only(self) -> str:
        """Whom it protects, where that is not every record."""
        every = self.protects == "every-record"
        return "" if every else self.protects.replace("-", " ").removesuffix("s")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateNoise:
    """The chosen noise on one coordinate: root mean square, in the units of the release.

    ``spread`` is the coordinate's standard deviation over the splits, for comparison.
    """

    column: str
    noise_rms: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What random splits say about the noise that a release needs.

    Attributes:
        n_splits: rows of the table.
        n_coordinates: numbers in the release.
        n_pairs: swap pairs; 0 without any.
        skipped_columns: columns of the table that are no coordinates.
        constant_columns: coordinates that no split changed.
        error_units: ``standardised`` or ``given``.
        strict: whether the choice rests on limits that hold at every sample size.
        candidates: all calibrations that were considered.
        coordinates: the chosen noise on each coordinate, for up to 1,000 of them.
    """

    n_splits: int
    n_coordinates: int
    n_pairs: int
    skipped_columns: tuple[str, ...]
    constant_columns: tuple[str, ...]
    error_units: str
    strict: bool
    candidates: tuple[NoiseCandidate, ...]
    coordinates: tuple[CoordinateNoise, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What was added to a release.

    Attributes:
        entropy: ``operating system``, or ``seed`` for an experiment, which protects nobody
            who could guess the seed.
        rounding: what was done about the last bits of the numbers.
        n_coordinates: numbers that noise was added to.
    """

    entropy: Literal["operating system", "seed"]
    rounding: str
    n_coordinates: int
