"""The least noise that keeps a promise of membership-inference privacy, from split data.

What is considered is a table: each way to scale noise, of each shape and kind. Strict mode shares
its error over the rows of the table, since the choice sees them all.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from mipaudit.commands.noise.measured import MeasuredMean, NoiseCandidate
from mipaudit.commands.noise.mechanism import (
    FULL_SPLITS_PER_COORDINATE,
    NoiseShape,
    diagonal_shape,
    full_shape,
    isotropic_shape,
    noise_cost,
    standard_units,
)
from mipaudit.commands.noise.moments import estimate_moment, fewest_terms
from mipaudit.commands.noise.options import CalibrationKind, NoiseOptions, Protects, ShapeKind
from mipaudit.commands.noise.yardsticks import (
    FEWEST_PAIRS,
    Aim,
    Shifts,
    Splits,
    SwapPairs,
    Yardsticks,
    estimate_gap,
    least_scale,
    measure,
    protectable,
)
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Floats
from mipaudit.maths.noise_scales import (
    Mechanism,
    allowed_gap,
    paper_scale,
    scale_for_distance,
    scale_for_moment,
)
from mipaudit.model.message import Finding

_FEWEST_SPLITS: Final = 4
# The coverage of the approximate limits was measured from here on.
_FEW_SPLITS: Final = 20
# A half with fewer says nothing about the shape.
_FEWEST_FOR_SHAPE: Final = 8
# Izzo et al. 2022 prove their theorem for half of the records.
_PAPER_FRACTION: Final = 0.5


# A row of the table: noise that is considered. What its scale is made from, whose membership it
# protects, which directions may get how much, and the kind of noise.
Way: TypeAlias = tuple[CalibrationKind, Protects, ShapeKind, Mechanism]
# Noise that keeps the promise if what it was scaled by is right, as the report has it, and the
# shape whose norm its scale is in.
Candidate: TypeAlias = tuple[NoiseCandidate, NoiseShape]


def ways(
    asked: NoiseOptions, n_first: int, dimension: int, swapped: Sequence[Protects] = ()
) -> tuple[Way, ...]:
    """Return the table of what is considered, in a fixed order.

    In strict mode that is only what may be chosen and has a limit that holds at every sample
    size. The published calibration is no row: it is for comparison.

    Args:
        asked: the promise, and what may be done to keep it.
        n_first: splits that vary, to learn a shape from.
        dimension: number of coordinates.
        swapped: records that a calibration on swaps may be for.
    """
    every: list[tuple[CalibrationKind, Protects]]
    every = [("moment", "every-record"), ("direct", "every-record")]
    for whose in swapped:
        every += [("swap", whose), ("direct-swap", whose)]
    if asked.strict:
        sure = {"direct", "direct-swap"}
        every = [one for one in every if one[0] in sure and asked.may_choose(*one)]
    return tuple(
        (*one, kind, mechanism)
        for kind in _shape_kinds(n_first, dimension, asked)
        for one in every
        for mechanism in _mechanisms(kind, dimension, asked)
    )


def fewest_splits(
    asked: NoiseOptions, n_splits: int, dimension: int, swapped: Sequence[Protects] = ()
) -> int:
    """Return how many splits, at least ``n_splits``, may keep the promise directly.

    With fewer, the limit is above eta even if none of the second half differs from
    the centre: no noise is then enough. More splits allow more shapes, which take a
    share.
    """
    needed = 0
    while n_splits > needed:
        needed = n_splits
        alpha = _share(asked, ways(asked, needed // 2, dimension, swapped))
        n_splits = max(needed, 2 * fewest_terms(asked.eta, alpha) - 1)
    return needed


def _shape_kinds(n_first: int, dimension: int, asked: NoiseOptions) -> tuple[ShapeKind, ...]:
    """Return the shapes to be tried, where so many splits that vary are there to learn from."""
    needed: dict[ShapeKind, int] = {"isotropic": 0}
    if dimension > 1:  # noise of one coordinate has no shape
        needed["diagonal"] = _FEWEST_FOR_SHAPE
        needed["full"] = max(_FEWEST_FOR_SHAPE, FULL_SPLITS_PER_COORDINATE * dimension)
    return tuple(
        kind for kind, count in needed.items() if asked.shape in {None, kind} and n_first >= count
    )


def _mechanisms(kind: ShapeKind, dimension: int, asked: NoiseOptions) -> tuple[Mechanism, ...]:
    """Return the mechanisms worth considering for a shape.

    In one dimension norm-exponential noise is Laplace noise, which needs a smaller scale;
    in more than one its radius makes it larger than Gaussian noise by a factor of about
    sqrt(d), so that a full covariance would be wasted on it.
    """
    every: tuple[Mechanism, ...] = ("gaussian", "norm-exponential")
    if dimension == 1:
        every = ("gaussian", "laplace")
    if kind == "full":
        every = ("gaussian",)
    return tuple(mechanism for mechanism in every if asked.mechanism in {None, mechanism})


def _share(asked: NoiseOptions, table: Sequence[Way]) -> float:
    """Return the error of one limit of strict mode (Bonferroni)."""
    return (1 - asked.confidence) / max(1, len(table))


def calibrate(
    splits: Floats, asked: NoiseOptions, rng: np.random.Generator, pairs: SwapPairs | None = None
) -> tuple[list[Candidate], Candidate | None, list[int], list[Finding]]:
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
        All that were considered, in a fixed order; the one of least total error in the error units
        among those that are allowed; the positions of the coordinates that are constant over the
        splits; what the reader must know. Where no noise is needed there are no candidates.

    Raises:
        InputError: the splits cannot be used, or none of the allowed calibrations can.
    """
    _check_tables(splits, pairs)
    count, dimension = splits.shape
    order = rng.permutation(count)
    halves = Splits(splits, splits[order[: count // 2]], splits[order[count // 2 :]])
    units = _error_units(halves, asked)
    constant = np.flatnonzero((splits == splits[0]).all(axis=0)).tolist()
    findings = list(_split_findings(halves, constant, asked))
    if allowed_gap(asked.eta, asked.train_fraction) >= 1:
        return [], None, constant, findings
    if len(constant) == dimension:
        raise InputError(
            "constant_release",
            f"All {count} splits gave the same vector, so no noise can be calibrated on them. A "
            "release that never depends on the split needs no noise. One that rarely does may need "
            "much noise.",
            "Check that the rows are different random splits.",
        )
    swapped, first = protectable(pairs), halves.first
    varying = len(first) if (first != first[0]).any() else 0
    table = ways(asked, varying, dimension, swapped)
    confidence = 1 - _share(asked, table) if asked.strict else asked.confidence
    candidates: list[Candidate] = []
    swaps: list[tuple[Protects, MeasuredMean]] = []
    for kind in _shape_kinds(varying, dimension, asked):
        shape = _shape(kind, first, units)
        measured = measure(halves, pairs, shape, asked, confidence, rng)
        swaps += [(whose, one) for (of, whose), (one, _) in measured.items() if of == "swap"]
        rows = (one for one in table if one[2] == kind)
        candidates += _scaled(rows, shape, measured, confidence, asked, units)
    if asked.train_fraction == _PAPER_FRACTION:
        shape = isotropic_shape(np.ones(dimension))
        paper: Way = ("paper", "every-record", "isotropic", "norm-exponential")
        moment = estimate_moment(halves.points(shape), asked.k, rng, asked.confidence)
        of_paper: Yardsticks = {paper[:2]: (moment, None)}
        candidates += _scaled([paper], shape, of_paper, asked.confidence, asked, units)
    repeated = count - len(np.unique(splits, axis=0))
    if repeated:
        findings.append(Finding.of("repeated_splits", repeated=repeated, splits=count))
    needed = 0
    if asked.strict and asked.may_choose("direct", "every-record"):
        needed = fewest_splits(asked, count, dimension, swapped)
        if needed > count:
            findings.append(Finding.of("direct_needs_splits", needed=needed, splits=count))
    findings += () if pairs is None else _pair_findings(swaps, pairs)
    at = _choose([one for one, _ in candidates], asked, halves, needed)
    noise, shape = candidates[at]
    candidates[at] = chosen = replace(noise, chosen=True), shape
    return candidates, chosen, constant, findings


def _check_tables(splits: Floats, pairs: SwapPairs | None) -> None:
    """Refuse tables of too few rows, and pairs of other coordinates."""
    if len(splits) < _FEWEST_SPLITS:
        raise InputError(
            "too_few_splits",
            f"The number of splits is {len(splits)}; at least {_FEWEST_SPLITS} are needed.",
            "Run the release on more random splits: 100 or more give useful limits.",
        )
    if pairs is None:
        return
    count, dimension = pairs[0].shape
    if dimension != splits.shape[1]:
        raise InputError(
            "pairs_do_not_match",
            f"Both sides of every pair must have the {splits.shape[1]} coordinates of the splits.",
        )
    if count < 2:  # noqa: PLR2004 - a spread needs two
        raise InputError("too_few_pairs", f"The number of pairs is {count}; at least 2 are needed.")


def _error_units(splits: Splits, asked: NoiseOptions) -> Floats:
    """Return the (d,) units in which the total error counts."""
    units = None
    if asked.error_units == "standardised":
        enough = len(splits.first) >= _FEWEST_FOR_SHAPE
        units = standard_units(splits.first) if enough else None
        units = standard_units(splits.every) if units is None else units
    return np.ones(splits.every.shape[1]) if units is None else units


def _shape(kind: ShapeKind, first: Floats, units: Floats) -> NoiseShape:
    if kind == "isotropic":
        return isotropic_shape(np.ones(units.size))
    return diagonal_shape(first, units) if kind == "diagonal" else full_shape(first, units)


def _scaled(
    rows: Iterable[Way],
    shape: NoiseShape,
    measured: Yardsticks,
    confidence: float,
    asked: NoiseOptions,
    units: Floats,
) -> Iterator[Candidate]:
    """Yield the noise of each row that can be scaled; ``confidence`` is that of a limit."""
    for way in rows:
        calibration, protects, kind, mechanism = way
        moment, shifts = measured[calibration, protects]
        multiplier, gap = None, None
        if shifts is not None:
            aim = _aim(calibration, shifts, confidence, asked)
            limited, scale = aim[1] != "value", least_scale(shifts, mechanism, aim)
            if 0 < scale < math.inf:
                gap = estimate_gap(shifts, mechanism, scale, aim, confidence)
        else:
            multiplier = _multiplier(calibration, mechanism, asked)
            upper = moment.upper if asked.scaled_by == "upper" else None
            limited = upper is not None
            scale = multiplier * (moment.value if upper is None else upper)
        if not 0 < scale < math.inf:
            continue
        total, rms_norm, expected_norm = noise_cost(mechanism, scale, shape, units)
        noise = NoiseCandidate(
            calibration=calibration,
            mechanism=mechanism,
            shape=kind,
            protects=protects,
            multiplier=multiplier,
            moment=moment,
            gap=gap,
            scaled_by="upper" if limited else "value",
            scale=scale,
            guaranteed=gap is not None and asked.strict,
            total_error=total,
            rms_norm=rms_norm,
            expected_norm=expected_norm,
        )
        yield noise, shape


def _multiplier(calibration: CalibrationKind, mechanism: Mechanism, asked: NoiseOptions) -> float:
    if calibration == "paper":
        return paper_scale(asked.eta, asked.k)
    if calibration == "moment":
        return scale_for_moment(mechanism, asked.eta, asked.train_fraction)
    return scale_for_distance(mechanism, allowed_gap(asked.eta, asked.train_fraction))


def _aim(
    calibration: CalibrationKind, shifts: Shifts, confidence: float, asked: NoiseOptions
) -> Aim:
    # What the mean of h must not exceed: mipaudit help methods, section 28.4, remark (b). For
    # distances from a centre that is eta itself, at every q.
    at_most = asked.eta
    if calibration != "direct":
        at_most = allowed_gap(asked.eta, asked.train_fraction)
    if asked.strict:
        return at_most, "finite-sample", 1 - confidence
    limited = asked.scaled_by == "upper" and shifts.has_limits
    return at_most, "approximate" if limited else "value", (1 - confidence) / 2


def _choose(
    candidates: Sequence[NoiseCandidate], asked: NoiseOptions, splits: Splits, needed: int
) -> int:
    """Return the place of the allowed candidate of least total error.

    Args:
        candidates: all.
        asked: what is allowed.
        splits: divided.
        needed: splits with which the promise may be kept directly, in strict mode.

    Raises:
        InputError: there is none.
    """
    allowed = [
        at
        for at, one in enumerate(candidates)
        if asked.may_choose(one.calibration, one.protects) and (one.guaranteed or not asked.strict)
    ]
    if allowed:
        return min(allowed, key=lambda at: candidates[at].total_error)
    count = len(splits.every)
    if needed > count:
        raise InputError(
            "too_few_splits_for_eta",
            f"In strict mode this eta needs {needed} splits, and {count} are given: no amount "
            "of noise could be shown to be enough.",
            "Give more splits, or allow only one kind and shape of noise: all share the error.",
        )
    if needed:
        raise InputError(
            "constant_release",
            f"All of the {len(splits.second)} splits that scale the noise gave the same vector.",
            "Check that the rows are different random splits.",
        )
    raise InputError(
        "no_calibration_left",
        f"Each of the {len(candidates)} calibrations is excluded, or cannot be scaled.",
        "Allow the moment calibration (in strict mode: direct) and isotropic noise, or"
        " give more splits and pairs.",
    )


def _split_findings(
    splits: Splits, constant: Sequence[int], asked: NoiseOptions
) -> Iterator[Finding]:
    """Yield what a reader must know of the splits alone."""
    count, width = splits.every.shape
    halves = 2 * len(splits.first)
    if count < _FEW_SPLITS:
        yield Finding.of("few_splits", splits=count)
    if constant:
        of = {"constant": len(constant), "width": width, "splits": count}
        yield Finding.of("constant_coordinates", case="splits", **of)
    if count < width:
        yield Finding.of("fewer_splits_than_coordinates", splits=count, width=width)
    needed = 2 * FULL_SPLITS_PER_COORDINATE * width
    if count >= width > 1 and halves < needed and asked.shape in {None, "full"}:
        yield Finding.of("full_shape_needs_splits", needed=needed, splits=count)
    if width > 1 and halves < 2 * _FEWEST_FOR_SHAPE:
        yield Finding.of("shapes_need_splits", needed=2 * _FEWEST_FOR_SHAPE, splits=count)


def _pair_findings(
    swaps: Sequence[tuple[Protects, MeasuredMean]], pairs: SwapPairs
) -> Iterator[Finding]:
    """Yield what a reader must know of pairs, by their distances in the norm of each shape."""
    if any(one.value == 0 for _, one in swaps):
        yield Finding("pairs_do_not_differ")
    records = pairs[2]
    if records is None:
        yield Finding("records_not_named")
        return
    yield Finding.of("tested_records_only", records=len(np.unique(records)))
    worst = [one for whose, one in swaps if whose == "tested-records"]
    if any(one.validity == "not-an-interval" for one in worst):
        yield Finding.of("few_pairs_of_a_record", fewest=FEWEST_PAIRS)
