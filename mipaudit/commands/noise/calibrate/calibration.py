"""The least noise that keeps a promise of membership-inference privacy, from split data.

Each way of adding enough noise, the choice between them, what to say where none is left, and
what a reader must know.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.direct_scale import (
    Aim,
    Basis,
    Shifts,
    estimate_gap,
    least_scale,
)
from mipaudit.commands.noise.calibrate.measurement import (
    FEWEST_FOR_SHAPE,
    FEWEST_PAIRS,
    SwapPairs,
    Workbench,
    Yardstick,
    measure,
    mechanisms_for,
    prepare,
)
from mipaudit.commands.noise.measured import MeasuredGap, NoiseCandidate
from mipaudit.commands.noise.mechanisms.shape import FULL_SPLITS_PER_COORDINATE, noise_cost
from mipaudit.commands.noise.options import NoiseOptions
from mipaudit.errors import InputError
from mipaudit.maths import noise_scales
from mipaudit.maths.noise_scales import Mechanism, allowed_gap
from mipaudit.statements.estimate import Finding

Array = NDArray[np.float64]


_FEWEST_SPLITS: Final = 4
# The coverage of the approximate limits was measured from here on.
_FEW_SPLITS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """Noise that keeps the promise if what it was scaled by is right.

    Attributes:
        noise: what the report says of it.
        mechanism: the kind of noise.
        yardstick: what it was scaled by.
        coordinate_rms: (d,) root mean square of the noise on each coordinate.
    """

    noise: NoiseCandidate
    mechanism: Mechanism
    yardstick: Yardstick
    coordinate_rms: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """What the splits say about noise.

    Attributes:
        candidates: all that were considered, in a fixed order; none where no noise is needed.
        chosen: the one of least total error in the error units among those that are allowed;
            None only where no noise is needed.
        constant: positions of the coordinates that are constant over the splits.
        findings: what the reader must know.
    """

    candidates: tuple[Candidate, ...]
    chosen: Candidate | None
    constant: tuple[int, ...]
    findings: tuple[Finding, ...]


def calibrate(
    splits: Array, asked: NoiseOptions, rng: np.random.Generator, pairs: SwapPairs | None = None
) -> Calibration:
    """Find the noise of least error that makes a release eta-MIP.

    Isotropic noise is scaled on all splits. Other shapes are made from one random half and
    scaled on the other one. In strict mode all scales are from one half, only calibrations
    that may be chosen are considered (and the published one, for comparison), and every
    limit is taken at its share of the error (Bonferroni over all limits computed), because
    the choice looks at them.

    Args:
        splits: (B, d) finite numbers: the vector that would be released, computed on B
            random splits that are independent of each other and of the split behind the
            actual release. B at least 4.
        asked: the promise, and what may be done to keep it.
        rng: draws the halves.
        pairs: releases before and after one record is exchanged.

    Returns:
        The candidates and the choice.

    Raises:
        InputError: the splits cannot be used, or none of the allowed calibrations can.
    """
    _check_tables(splits, pairs)
    bench = prepare(splits, asked, rng, pairs)
    needed = allowed_gap(asked.eta, asked.train_fraction) < 1
    yardsticks: list[Yardstick] = []
    if needed:
        _refuse_constant(bench)
        yardsticks = list(measure(bench, rng))
    candidates = tuple(_candidates(yardsticks, bench))
    findings = list(_split_findings(bench))
    if needed:
        findings += _findings(bench, yardsticks)
    return Calibration(
        candidates=candidates,
        chosen=_choose(candidates, bench) if needed else None,
        constant=bench.constant,
        findings=tuple(findings),
    )


def _check_tables(splits: Array, pairs: SwapPairs | None) -> None:
    if len(splits) < _FEWEST_SPLITS:
        raise InputError(
            "too_few_splits",
            f"The table has {len(splits)} splits; at least {_FEWEST_SPLITS} are needed.",
            hint="Run the release on more random splits: 100 or more give useful limits.",
        )
    if pairs is None:
        return
    count, dimension = pairs.in_side.shape
    if dimension != splits.shape[1]:
        raise InputError(
            "pairs_do_not_match",
            f"Both sides of every pair must have the {splits.shape[1]} coordinates of the splits.",
        )
    if count < 2:  # noqa: PLR2004 - a spread needs two
        raise InputError("too_few_pairs", f"There are {count} pairs; at least 2 are needed.")


def _refuse_constant(bench: Workbench) -> None:
    """Refuse splits without variation."""
    if len(bench.constant) == bench.splits.shape[1]:
        raise InputError(
            "constant_release",
            f"All {len(bench.splits)} splits gave the same vector, so that no noise can be"
            " calibrated on them: a release that does not depend on the split needs none,"
            " and one that rarely does may need much.",
            hint="Check that the rows are different random splits.",
        )


def _candidates(yardsticks: list[Yardstick], bench: Workbench) -> Iterator[Candidate]:
    for row in yardsticks:
        mechanisms = mechanisms_for(row.shape.kind, row.shape.units.size, bench.asked)
        if row.calibration == "paper":
            mechanisms = ("norm-exponential",)
        for mechanism in mechanisms:
            scaled = _scaled(row, mechanism, bench.asked)
            if 0 < scaled.scale < math.inf:
                yield _candidate(row, mechanism, scaled, bench.error_units)


class _Scaled(NamedTuple):
    """A scale and what it came from."""

    scale: float
    by_limit: bool
    guaranteed: bool = False
    multiplier: float | None = None
    gap: MeasuredGap | None = None


def _scaled(row: Yardstick, mechanism: Mechanism, asked: NoiseOptions) -> _Scaled:
    if row.shifts is not None:
        return _directly(row, row.shifts, mechanism, asked)
    multiplier = _multiplier(row, mechanism, asked)
    upper = row.moment.upper if asked.scaled_by == "upper" else None
    scale = multiplier * (row.moment.value if upper is None else upper)
    return _Scaled(scale, by_limit=upper is not None, multiplier=multiplier)


def _multiplier(row: Yardstick, mechanism: Mechanism, asked: NoiseOptions) -> float:
    if row.calibration == "paper":
        return noise_scales.paper_scale(asked.eta, asked.k)
    if row.calibration == "moment":
        return noise_scales.scale_for_moment(mechanism, asked.eta, asked.train_fraction)
    return noise_scales.scale_for_distance(mechanism, allowed_gap(asked.eta, asked.train_fraction))


def _directly(row: Yardstick, shifts: Shifts, mechanism: Mechanism, asked: NoiseOptions) -> _Scaled:
    # What the mean of h must not exceed: mipaudit help methods, section 28.4, remark (b). For
    # distances from a centre that is eta itself, at every q.
    at_most = asked.eta
    if row.calibration != "direct":
        at_most = allowed_gap(asked.eta, asked.train_fraction)
    basis: Basis = "finite-sample"
    if not asked.strict:
        limited = asked.scaled_by == "upper" and shifts.has_limits
        basis = "approximate" if limited else "value"
    alpha = (1 - row.confidence) / (1 if asked.strict else 2)
    aim = Aim(at_most=at_most, basis=basis, alpha=alpha)
    scale = least_scale(shifts, mechanism, aim)
    gap = None
    if 0 < scale < math.inf:
        gap = estimate_gap(shifts, mechanism, scale, aim, row.confidence)
    return _Scaled(scale, basis != "value", asked.strict, gap=gap)


def _candidate(
    row: Yardstick, mechanism: Mechanism, scaled: _Scaled, error_units: Array
) -> Candidate:
    cost = noise_cost(mechanism, scaled.scale, row.shape, error_units)
    noise = NoiseCandidate(
        calibration=row.calibration,
        mechanism=mechanism,
        shape=row.shape.kind,
        protects=row.protects,
        multiplier=scaled.multiplier,
        moment=row.moment,
        gap=scaled.gap,
        scaled_by="upper" if scaled.by_limit else "value",
        scale=scaled.scale,
        guaranteed=scaled.guaranteed,
        total_error=cost.total,
        rms_norm=cost.rms_norm,
        expected_norm=cost.expected_norm,
        chosen=False,
    )
    return Candidate(
        noise=noise, mechanism=mechanism, yardstick=row, coordinate_rms=cost.coordinate_rms
    )


def _choose(candidates: tuple[Candidate, ...], bench: Workbench) -> Candidate:
    """Return the allowed candidate of least total error.

    Raises:
        InputError: there is none.
    """
    asked = bench.asked
    allowed = [
        one
        for one in candidates
        if asked.may_choose(one.yardstick.calibration, one.yardstick.protects)
        and (one.noise.guaranteed or not asked.strict)
    ]
    if allowed:
        return min(allowed, key=lambda one: one.noise.total_error)
    if asked.strict and asked.may_choose("direct", "every-record"):
        raise _no_direct(bench)
    raise InputError(
        "no_calibration_left",
        f"None of {len(candidates)} calibrations is allowed and can be scaled.",
        hint="Allow the moment calibration (in strict mode: direct) and isotropic noise, or"
        " give more splits and pairs.",
    )


def _no_direct(bench: Workbench) -> InputError:
    count = len(bench.splits)
    needed = bench.share.fewest_splits(count)
    if needed > count:
        return InputError(
            "too_few_splits_for_eta",
            f"{count} splits are too few for this eta in strict mode: no noise, however large,"
            f" could be shown to be enough. At least {needed} are needed.",
            hint="Give more splits, or allow one kind and shape of noise only: every kind that"
            " is considered takes a share of the error.",
        )
    return InputError(
        "constant_release",
        f"All of the {len(bench.second)} splits that scale the noise gave the same vector.",
        hint="Check that the rows are different random splits.",
    )


def _split_findings(bench: Workbench) -> Iterator[Finding]:
    """Yield what a reader must know of the splits alone."""
    count, dimension = bench.splits.shape
    halves = 2 * len(bench.first)
    if count < _FEW_SPLITS:
        yield Finding.of("few_splits", splits=count)
    if bench.constant:
        yield Finding.of(
            "constant_coordinates",
            case="splits",
            constant=len(bench.constant),
            width=dimension,
            splits=count,
        )
    if count < dimension:
        yield Finding.of("fewer_splits_than_coordinates", splits=count, width=dimension)
    needed = 2 * FULL_SPLITS_PER_COORDINATE * dimension
    if count >= dimension > 1 and halves < needed and bench.asked.shape in {None, "full"}:
        yield Finding.of("full_shape_needs_splits", needed=needed, splits=count)
    if dimension > 1 and halves < 2 * FEWEST_FOR_SHAPE:
        yield Finding.of("shapes_need_splits", needed=2 * FEWEST_FOR_SHAPE, splits=count)


def _findings(bench: Workbench, yardsticks: list[Yardstick]) -> Iterator[Finding]:
    """Yield what a reader must know of the calibration."""
    count, dimension = bench.splits.shape
    repeated = count - len(np.unique(bench.splits, axis=0))
    if repeated and len(bench.constant) < dimension:
        yield Finding.of("repeated_splits", repeated=repeated, splits=count)
    if bench.asked.strict and bench.asked.may_choose("direct", "every-record"):
        needed = bench.share.fewest_splits(count)
        if needed > count:
            yield Finding.of("direct_needs_splits", needed=needed, splits=count)
    if bench.pairs is not None:
        yield from _pair_findings(yardsticks, bench.pairs)


def _pair_findings(yardsticks: list[Yardstick], pairs: SwapPairs) -> Iterator[Finding]:
    swaps = [row for row in yardsticks if row.calibration == "swap"]
    if any(row.moment.value == 0 for row in swaps):
        yield Finding("pairs_do_not_differ")
    if pairs.record is None:
        yield Finding("records_not_named")
        return
    records = len(np.unique(pairs.record))
    yield Finding.of("tested_records_only", records=records)
    worst = [row for row in swaps if row.protects == "tested-records"]
    if any(row.moment.validity == "not-an-interval" for row in worst):
        yield Finding.of("few_pairs_of_a_record", fewest=FEWEST_PAIRS)
