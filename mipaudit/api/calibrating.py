"""From random splits to calibrated noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from mipaudit.api.checking import number, require, whole
from mipaudit.api.promise import promise_report
from mipaudit.report.noise import CoordinateNoise, Measured, MeasuredMoment, NoiseCandidate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from mipaudit.api.promise import Promise
    from mipaudit.noise.calibration import Calibration
    from mipaudit.noise.candidate import Candidate
    from mipaudit.noise.clipping import Ball
    from mipaudit.noise.demand import Demand
    from mipaudit.noise.moments import MomentEstimate
    from mipaudit.noise.swap import SwapPairs
    from mipaudit.report.noise import Applied, NoiseReport
    from mipaudit.report.origin import InputFile, Setting
    from mipaudit.tables.pairs import Pairs
    from mipaudit.tables.splits import Splits

_MOST_LISTED: Final = 1000
# What the report says of a promise by itself, the calibration need not repeat.
_SAID: Final = frozenset({"no_noise_needed", "paper_needs_half"})
_ESTIMATED: Final = (
    "The noise rests on moments estimated from random splits, which must be independent of "
    "the released one: no finite table rules out a rare, large output. Only --clip-radius "
    "gives limits that hold at every sample size."
)
_STRICT: Final = (
    "The limit of the moment holds at every sample size if the splits are independent of each "
    "other and of the released one, and the ball was fixed without the data."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibratedSplits:
    """A calibration and the tables that it came from."""

    splits: Splits
    pairs: Pairs | None
    found: Calibration

    def report(
        self,
        promise: Promise,
        given: Mapping[str, Any],
        settings: Sequence[Setting] | None,
        *,
        applied: Applied | None = None,
        inputs: Sequence[InputFile] = (),
        limitations: Sequence[str] = (),
    ) -> NoiseReport:
        """Return the report; ``applied`` and the rest describe a release, if there is one."""
        tables = (self.splits, self.pairs)
        return promise_report(
            promise,
            given=given,
            settings=settings,
            dimension=len(self.splits.columns),
            measured=_measured(self),
            applied=applied,
            inputs=(*(table.source for table in tables if table is not None), *inputs),
            findings=tuple(f for f in self.found.findings if f.code not in _SAID),
            limitations=(
                _ESTIMATED if self.found.demand.ball is None else _STRICT,
                *limitations,
            ),
        )


def calibrate_splits(promise: Promise, given: Mapping[str, Any]) -> CalibratedSplits:
    """Read the tables and calibrate.

    Args:
        promise: what is promised.
        given: every keyword of ``noise``, with splits.

    Raises:
        UsageError: a setting is out of its range.
        InputError: the splits or pairs cannot be used.
    """
    from mipaudit.noise.calibration import calibrate

    splits = _splits(given)
    pairs = _pairs(given, splits)
    demand = _demand(promise, given, len(splits.columns))
    swaps = None if pairs is None else _swap_pairs(pairs)
    found = calibrate(splits.values, demand, generator(given["seed"]), swaps)
    return CalibratedSplits(splits=splits, pairs=pairs, found=found)


def generator(seed: object) -> np.random.Generator:
    """Return what divides the splits: repeatable, with a seed or without."""
    import numpy as np

    if seed is None:
        return np.random.default_rng(0)
    found = whole("seed", seed)
    require(found >= 0, "seed", "The seed must be a whole number of at least 0.")
    return np.random.default_rng(found)


def _splits(given: Mapping[str, Any]) -> Splits:
    from mipaudit.tables.splits import read_splits, splits_of

    read = read_splits if isinstance(given["splits"], str) else splits_of
    return read(given["splits"], columns=given["columns"], ignore=given["ignore"])


def _pairs(given: Mapping[str, Any], splits: Splits) -> Pairs | None:
    if given["pairs"] is None:
        return None
    from mipaudit.tables.pairs import read_pairs

    return read_pairs(given["pairs"], columns=splits.columns if splits.named else ())


def _swap_pairs(pairs: Pairs) -> SwapPairs:
    from mipaudit.noise.swap import SwapPairs

    return SwapPairs(in_side=pairs.one, out_side=pairs.other, record=pairs.records)


def _demand(promise: Promise, given: Mapping[str, Any], dimension: int) -> Demand:
    from mipaudit.noise.demand import Demand

    confidence = number("confidence", given["confidence"])
    require(0 < confidence < 1, "confidence", "The confidence must be above 0 and below 1.")
    chosen = {
        field: frozenset({given[name]})
        for field, name in (
            ("allow", "calibration"),
            ("mechanisms", "mechanism"),
            ("shapes", "shape"),
        )
        if given[name] is not None
    }
    return Demand(
        eta=promise.eta,
        order=promise.k,
        train_fraction=promise.train_fraction,
        confidence=confidence,
        error_units=given["error_units"],
        scaled_by=given["scaled_by"],
        ball=_ball(given, dimension),
        protect=given["protect"],
        **cast("dict[str, Any]", chosen),
    )


def _ball(given: Mapping[str, Any], dimension: int) -> Ball | None:
    if given["clip_radius"] is None:
        require(
            given["clip_centre"] is None,
            "clip_centre",
            "A clip centre has no meaning without a clip radius.",
        )
        return None
    import numpy as np

    from mipaudit.noise.clipping import Ball

    centre = np.zeros(dimension)
    if given["clip_centre"] is not None:
        centre = np.array([number("clip_centre", x) for x in given["clip_centre"]])
    return Ball(centre=centre, radius=number("clip_radius", given["clip_radius"]))


def _measured(calibrated: CalibratedSplits) -> Measured:
    found, splits = calibrated.found, calibrated.splits
    pairs = calibrated.pairs
    ball = found.demand.ball
    return Measured(
        n_splits=found.n_splits,
        n_coordinates=len(splits.columns),
        n_pairs=0 if pairs is None else len(pairs.one),
        skipped_columns=splits.skipped,
        constant_columns=tuple(splits.columns[at] for at in found.constant[:_MOST_LISTED]),
        error_units=str(found.demand.error_units),
        clip_radius=None if ball is None else float(ball.radius),
        candidates=tuple(_candidate(c, chosen=c is found.chosen) for c in found.candidates),
        coordinates=_coordinates(calibrated),
    )


def _candidate(candidate: Candidate, *, chosen: bool) -> NoiseCandidate:
    return NoiseCandidate(
        calibration=candidate.calibration,
        mechanism=candidate.mechanism,
        shape=candidate.shape.kind,
        protects=candidate.protects,
        multiplier=candidate.multiplier,
        moment=_moment(candidate.moment),
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


def _coordinates(calibrated: CalibratedSplits) -> tuple[CoordinateNoise, ...]:
    from mipaudit.noise.shape import coordinate_spreads

    chosen, splits = calibrated.found.chosen, calibrated.splits
    if chosen is None or len(splits.columns) > _MOST_LISTED:
        return ()
    spreads = coordinate_spreads(splits.values)
    return tuple(
        CoordinateNoise(column=column, noise_rms=float(rms), spread=float(spread))
        for column, rms, spread in zip(
            splits.columns, chosen.cost.coordinate_rms, spreads, strict=True
        )
    )
