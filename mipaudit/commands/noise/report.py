"""What ``noise`` returns, prints and writes: the JSON format ``mipaudit.noise/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mipaudit.maths.noise_scales import Mechanism
from mipaudit.statements.reports.any_report import AnyReport

if TYPE_CHECKING:
    # Without splits it has none of these, and making a dataclass takes time. `complete` puts
    # them here for the codec and the schema.
    from mipaudit.commands.noise.measured import Applied, Measured


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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoiseReport(AnyReport):
    """How much noise a promise of membership-inference privacy takes.

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
        applied: what was added, if anything.
    """

    eta: float
    k: float | None
    train_fraction: float
    advantage: float
    equivalent_epsilon: float | None
    dimension: int
    calibrations: tuple[NoiseCalibration, ...]
    measured: Measured | None
    applied: Applied | None


def complete() -> None:
    """Load every type that a report may hold, so that its annotations can be resolved."""
    from mipaudit.commands.noise.measured import Applied, Measured
    from mipaudit.model.message import Finding

    globals().update({kind.__name__: kind for kind in (Applied, Finding, Measured)})
