"""What a calibration found, as the records of a report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.report import (
    CoordinateNoise,
    Measured,
    MeasuredGap,
    MeasuredMoment,
    NoiseCandidate,
)

if TYPE_CHECKING:
    from mipaudit.commands.noise.calibrate.calibration import Calibration
    from mipaudit.commands.noise.calibrate.candidate import Candidate
    from mipaudit.commands.noise.mechanisms.moments import MomentEstimate
    from mipaudit.commands.noise.mechanisms.overlap_gap import GapEstimate
    from mipaudit.reading.sheets.splits import Pairs, Splits

_MOST_LISTED: Final = 1000


def measured_noise(found: Calibration, splits: Splits, pairs: Pairs | None) -> Measured:
    """Return what a calibration found on these tables, for the report."""
    ball = found.demand.ball
    return Measured(
        n_splits=found.n_splits,
        n_coordinates=len(splits.columns),
        n_pairs=0 if pairs is None else len(pairs.one),
        skipped_columns=splits.skipped,
        constant_columns=tuple(splits.columns[at] for at in found.constant[:_MOST_LISTED]),
        error_units=str(found.demand.error_units),
        strict=found.demand.sure,
        clip_radius=None if ball is None else float(ball.radius),
        candidates=tuple(_candidate(c, chosen=c is found.chosen) for c in found.candidates),
        coordinates=_coordinates(found, splits),
    )


def _candidate(candidate: Candidate, *, chosen: bool) -> NoiseCandidate:
    return NoiseCandidate(
        calibration=candidate.calibration,
        mechanism=candidate.mechanism,
        shape=candidate.shape.kind,
        protects=candidate.protects,
        multiplier=candidate.multiplier,
        moment=_moment(candidate.moment),
        gap=None if candidate.gap is None else _gap(candidate.gap),
        scaled_by=candidate.scaled_by,
        scale=candidate.scale,
        guaranteed=candidate.guaranteed,
        total_error=candidate.cost.total,
        rms_norm=candidate.cost.rms_norm,
        expected_norm=candidate.cost.expected_norm,
        chosen=chosen,
    )


def _moment(moment: MomentEstimate) -> MeasuredMoment:
    return MeasuredMoment(
        order=moment.order if math.isfinite(moment.order) else None,
        value=moment.value,
        lower=moment.lower,
        upper=moment.upper,
        estimator=moment.estimator,
        validity=moment.validity,
        confidence=moment.confidence,
        n_splits=moment.n_splits,
    )


def _gap(gap: GapEstimate) -> MeasuredGap:
    return MeasuredGap(
        value=gap.value,
        upper=gap.upper,
        at_most=gap.at_most,
        estimator=gap.estimator,
        validity=gap.validity,
        confidence=gap.confidence,
        n_splits=gap.n_splits,
    )


def _coordinates(found: Calibration, splits: Splits) -> tuple[CoordinateNoise, ...]:
    from mipaudit.commands.noise.mechanisms.shape import coordinate_spreads

    chosen = found.chosen
    if chosen is None or len(splits.columns) > _MOST_LISTED:
        return ()
    spreads = coordinate_spreads(splits.values)
    return tuple(
        CoordinateNoise(column=column, noise_rms=float(rms), spread=float(spread))
        for column, rms, spread in zip(
            splits.columns, chosen.cost.coordinate_rms, spreads, strict=True
        )
    )
