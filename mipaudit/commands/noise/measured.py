"""What ``noise`` says of splits: parts of its report."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mipaudit.commands.noise.options import CalibrationKind, Protects, ShapeKind  # noqa: TC001 - the codec reads them
from mipaudit.maths.noise_scales import Mechanism  # noqa: TC001


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredMean:
    """A mean over random splits, or over swap pairs, with its limits.

    A moment is of a distance. A gap is how well the noise of a direct calibration hides the move
    of a release: the total variation between the noise and the same noise moved by as much as the
    release; ``direct``: from a fixed centre; ``direct-swap``: from one side of a pair to the other.

    Attributes:
        order: k of a moment; None stands for infinity, and where it is a gap.
        value: best estimate; of a moment in the norm of the noise.
        lower: lower confidence limit, if there is one.
        upper: upper confidence limit, if there is one.
        at_most: what the promise allows of a gap: eta, or eta / min(q, 1-q) for pairs.
        estimator: how the value was made: of a gap ``left-out`` (from the centre of other splits),
            ``mean-swap``, or ``betting`` (a limit that holds at every sample size).
        validity: ``finite-sample``, ``approximate`` or ``not-an-interval``.
        confidence: of the limits.
        n_splits: splits, or pairs, behind it.
    """

    order: float | None = None
    value: float
    lower: float | None = None
    upper: float | None
    at_most: float | None = None
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

    calibration: CalibrationKind
    mechanism: Mechanism
    shape: ShapeKind
    protects: Protects
    multiplier: float | None
    moment: MeasuredMean
    gap: MeasuredMean | None
    scaled_by: str
    scale: float
    guaranteed: bool
    total_error: float
    rms_norm: float
    expected_norm: float
    chosen: bool = False

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
