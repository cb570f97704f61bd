"""What is asked of a calibration."""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.mechanisms.clipping import Ball
from mipaudit.commands.noise.noise_multiples import CalibrationKind, Protects, ShapeKind
from mipaudit.errors import UsageError
from mipaudit.maths.mip import Mechanism

PROVED: Final[frozenset[CalibrationKind]] = frozenset({"moment", "swap", "direct", "direct-swap"})
MECHANISMS: Final[frozenset[Mechanism]] = frozenset({"laplace", "norm-exponential", "gaussian"})
SHAPES: Final[frozenset[ShapeKind]] = frozenset({"isotropic", "diagonal", "full"})
# Its shares must still be told from 0 beside 1.
_LEAST_ERROR: Final = 0.999e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Demand:
    """The promise to be kept, and what may be done to keep it.

    Attributes:
        eta: accuracy allowed above max(q, 1-q), in (0, 1/2).
        order: k of the moment that the published calibration takes, at least 1, perhaps
            infinite.
        train_fraction: q in (0, 1).
        confidence: of the limits, in (0, 1).
        error_units: in which units the total squared error is made least. ``standardised``
            (the default): each coordinate's standard deviation over random splits, which
            is how well the released number was known in the first place; the choice does
            not change when metres become kilometres, and no coordinate drowns because
            another one is large. ``given``: the units of the table, for coordinates of one
            unit whose total error matters (the weights of a model). An array of (d,)
            positive numbers: a unit for each coordinate.
        scaled_by: ``upper`` (the default) multiplies the upper limit of the moment, so that
            few splits cost accuracy and not privacy, and an estimate that is low by chance
            is not preferred for it; ``value`` the best estimate, which is too low in
            about half of all calibrations. Strict mode always takes the limit.
        strict: the scale rests on a limit that holds at every sample size.
        ball: strict mode too, and the release is clipped into this ball, fixed without the
            data: with it the moment and swap calibrations have such limits as well.
        protect: whose membership is hidden. ``tested-records`` admits calibrations for the
            records that the swap pairs exchange, ``average-record`` those that hold on
            average over records.
        allow: calibrations to choose from.
        mechanisms: to consider.
        shapes: to consider.
    """

    eta: float
    order: float = 2.0
    train_fraction: float = 0.5
    confidence: float = 0.95
    error_units: Literal["standardised", "given"] | NDArray[np.float64] = "standardised"
    scaled_by: Literal["upper", "value"] = "upper"
    strict: bool = False
    ball: Ball | None = None
    protect: Protects = "every-record"
    allow: frozenset[CalibrationKind] = PROVED
    mechanisms: frozenset[Mechanism] = MECHANISMS
    shapes: frozenset[ShapeKind] = SHAPES

    @property
    def sure(self) -> bool:
        """Whether every limit must hold at every sample size."""
        return self.strict or self.ball is not None


def check_demand(demand: Demand, dimension: int) -> None:
    """Refuse what only the splits, or several settings together, show to be out of range.

    Raises:
        UsageError: with the accepted range.
    """
    if demand.sure and 1 - demand.confidence < _LEAST_ERROR:
        raise UsageError(
            "confidence_out_of_range", "In strict mode the confidence must be at most 1 - 1e-12."
        )
    if not isinstance(demand.error_units, str):
        _check_positive("error_units", demand.error_units, dimension)
    if demand.strict and demand.ball is None and not demand.allow & {"direct", "direct-swap"}:
        raise UsageError(
            "strict_needs_direct",
            "Without a clip radius only the direct calibrations have limits for strict mode.",
            hint="Allow the calibration direct, or give a clip radius.",
        )
    if demand.ball is not None:
        if demand.ball.centre.shape != (dimension,) or not np.isfinite(demand.ball.centre).all():
            raise UsageError(
                "bad_clip_centre", f"The clip centre must be {dimension} finite numbers."
            )
        _check_positive("clip_radius", demand.ball.radius, dimension)


def _check_positive(name: str, value: float | NDArray[np.float64], dimension: int) -> None:
    numbers = np.asarray(value, dtype=np.float64)
    fits = numbers.shape == (dimension,) or (name == "clip_radius" and numbers.ndim == 0)
    if not fits or not (numbers > 0).all() or not math.isfinite(numbers.max()):
        words = name.replace("_", " ")
        raise UsageError(
            f"bad_{name}", f"The {words} must be finite, above 0, and one for each coordinate."
        )
