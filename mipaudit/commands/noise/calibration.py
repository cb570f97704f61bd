"""The least noise that keeps a promise of membership-inference privacy, from split data.

What is considered is a table: each way to scale noise, of each shape and kind. Strict mode shares
its error over the rows of the table, since the choice sees them all.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.measured import MeasuredGap, MeasuredMoment, NoiseCandidate
from mipaudit.commands.noise.mechanism import (
    FULL_SPLITS_PER_COORDINATE,
    NoiseShape,
    diagonal_shape,
    distances_from_median,
    estimate_moment,
    fewest_terms,
    full_shape,
    half_distances,
    is_below,
    isotropic_shape,
    lengths_of,
    mean_distance,
    mean_limits,
    measured_moment,
    noise_cost,
    standard_units,
)
from mipaudit.commands.noise.options import CalibrationKind, NoiseOptions, Protects, ShapeKind
from mipaudit.errors import InputError
from mipaudit.maths.bisection import crossing
from mipaudit.maths.noise_scales import (
    Mechanism,
    allowed_gap,
    paper_scale,
    scale_for_distance,
    scale_for_moment,
)
from mipaudit.model.message import Finding

Array = NDArray[np.float64]
GapEstimator = Literal[
    "left-out",  # shifts from the spatial median of other splits
    "mean-swap",  # shifts of a pair that differs in one exchanged record
    "betting",  # shifts of the second half, or of pairs: the limit holds at every size
]
Basis = Literal["value", "approximate", "finite-sample"]
# Noise is never less than this part of the least shift seen. It binds only where most
# splits gave one and the same output: then any noise would do.
_FLOOR: Final = 0.1
# Beyond so many times the largest shift no limit is worth having.
_FARTHEST: Final = 2.0**60
_FEWEST_TERMS: Final = 2


def shift_gaps(mechanism: Mechanism, ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return h: the most that the total variation of noise and shifted noise can be.

    Exact for ``laplace`` and ``gaussian``; for ``norm-exponential`` noise in more than one
    dimension the bound of mipaudit help methods, section 28.4, remark (a). Each h is increasing
    and concave with h(0) = 0, and at most 1.

    Args:
        mechanism: the kind of noise.
        ratios: lengths of the shifts in units of the scale, at least 0, perhaps infinite.
    """
    match mechanism:
        case "laplace" | "norm-exponential":
            return -np.expm1(-ratios / 2)
        case "gaussian":
            from scipy.special import erf

            return np.asarray(erf(ratios / math.sqrt(8)))
        case _:
            assert_never(mechanism)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shifts:
    """Lengths of random shifts, in the norm of the noise.

    Attributes:
        lengths: (n,) at least 0; those of one record after the other.
        estimator: where the shifts come from.
        starts: (G,) position of the first of each record; None where none are told apart.
        every_record: whether the mean of each record must be small, or that over records.
        fewest: shorter parts have no approximate limit.
    """

    lengths: Array
    estimator: GapEstimator
    starts: NDArray[np.intp] | None = None
    every_record: bool = False
    fewest: int = _FEWEST_TERMS

    @property
    def has_limits(self) -> bool:
        """Whether there are enough shifts for approximate limits."""
        if self.starts is None:
            return self.lengths.size >= self.fewest
        counts = np.diff(np.append(self.starts, self.lengths.size))
        return int(counts.min() if self.every_record else counts.size) >= self.fewest

    def parts(self) -> "tuple[Shifts, ...]":
        """Return shifts such that the mean of each must be small."""
        if self.starts is None or not self.every_record:
            return (self,)
        return tuple(
            Shifts(lengths=one, estimator=self.estimator)
            for one in np.split(self.lengths, self.starts[1:])
        )

    def gaps(self, mechanism: Mechanism, scale: float) -> Array:
        """Return independent terms with the mean that must be small, in [0, 1]."""
        return self.by_record(shift_gaps(mechanism, self.lengths / scale))

    def by_record(self, values: Array) -> Array:
        """Return the mean of each record's values; the values where none are told apart."""
        if self.starts is None:
            return values
        counts = np.diff(np.append(self.starts, values.size))
        return np.asarray(np.add.reduceat(values, self.starts) / counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What the mean of h must not exceed, and how sure that is to be.

    Attributes:
        at_most: in (0, 1).
        basis: ``value``: the sample mean is; ``approximate``: an approximate upper limit
            is (at least ``fewest`` terms); ``finite-sample``: a limit that holds at every
            sample size is.
        alpha: error of the limit in (0, 1).
    """

    at_most: float
    basis: Basis
    alpha: float

    def holds(self, terms: Array) -> bool:
        """Return whether these terms say that the mean is small enough."""
        match self.basis:
            case "finite-sample":
                return is_below(terms, self.at_most, self.alpha)
            case "approximate":
                return mean_limits(terms, self.alpha)[1] <= self.at_most
            case _:
                return float(terms.mean()) <= self.at_most


def least_scale(shifts: Shifts, mechanism: Mechanism, aim: Aim) -> float:
    """Return the infimum s of the scales such that the aim is met at every larger one.

    Why it may look at the data (Bates, Angelopoulos, Lei, Malik and Jordan 2021, Theorem
    1). Let R(s) be the true mean of h(r/s), the largest of any record where each must be
    small. R is continuous and falls to 0, so that a scale is too small, R(s) > at_most,
    exactly below some s*. Let s_1 < s_2 < ... tend to s*, none of them random, and z_k a
    record whose mean at s_k is R(s_k). If the scale found is below s*, it is below some
    s_k, and the limit of the mean of z_k at s_k is at most at_most, though R(s_k) is
    more: this one limit errs. For each k that has a probability of at most alpha; the
    events grow with k, so that their union has too. So no allowance is needed for the
    search over scales, nor for the number of records, all of which must pass.

    With ``finite-sample`` the capital of :mod:`mipaudit.commands.noise.mechanism` grows
    with s, term by term, so that bisection finds the infimum. Other limits may wobble; they are
    followed downwards from where they are proportional to 1/s, in halves.

    Args:
        shifts: their law is that of the shifts to be limited, at least one length.
        mechanism: the kind of noise.
        aim: what is to be reached, for each record with its whole error.

    Returns:
        The scale, at least a tenth of the least positive shift (more noise is as good);
        0 if there is none, infinity if no scale will do.
    """
    size = float(shifts.lengths.max())
    if size == 0:
        return 0.0
    scale = _FLOOR * float(shifts.lengths[shifts.lengths > 0].min()) / size
    # The largest first: for most of the rest its scale is then seen to be enough.
    for part in sorted(shifts.parts(), key=lambda one: -float((one.lengths / size).mean())):
        scale = _raised(scale, part, mechanism, aim, size)
        if scale == math.inf:
            break
    return size * scale


def _raised(scale: float, part: Shifts, mechanism: Mechanism, aim: Aim, size: float) -> float:
    """Return ``scale``, or what this part asks for where that is more; in units of ``size``."""

    def holds(candidate: float) -> bool:
        return candidate >= scale and aim.holds(part.gaps(mechanism, candidate * size))

    # There h is close to its tangent at 0.
    straight = 8 / aim.at_most
    above = [scale]
    while aim.basis != "finite-sample" and above[-1] < straight:
        above.append(2 * above[-1])
    if all(map(holds, above)):
        return scale
    return crossing(holds, start=straight, limit=_FARTHEST)


def estimate_gap(
    shifts: Shifts, mechanism: Mechanism, scale: float, aim: Aim, confidence: float
) -> MeasuredGap:
    """Return the mean of h at a scale, the largest over records where each must be small."""
    parts = [part.gaps(mechanism, scale) for part in shifts.parts()]
    upper: float | None = None
    if aim.basis == "finite-sample":
        upper = aim.at_most
    elif aim.basis == "approximate":
        upper = min(1.0, max(mean_limits(terms, aim.alpha)[1] for terms in parts))
    validity = "not-an-interval" if aim.basis == "value" else aim.basis
    return MeasuredGap(
        value=max(float(terms.mean()) for terms in parts),
        upper=upper,
        at_most=aim.at_most,
        estimator=shifts.estimator,
        validity=validity,
        confidence=confidence,
        n_splits=shifts.lengths.size,
    )


# With fewer pairs of a record its limits are so wide that they say nothing.
FEWEST_PAIRS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwapPairs:
    """Releases in pairs: one trained with a record, one with another in its place.

    Attributes:
        in_side: (P, d) releases with the record.
        out_side: (P, d) releases with a random record from outside in its place, and the
            same training randomness.
        record: (P,) which record, of any type that sorts; None where not known.
    """

    in_side: Array
    out_side: Array
    record: NDArray[Any] | None = None

    @property
    def protects(self) -> tuple[Protects, ...]:
        """Whom a calibration on swaps may be for: the largest and the mean, or the mean alone."""
        return ("average-record",) if self.record is None else ("tested-records", "average-record")


class Splits(NamedTuple):
    """The splits, divided at random.

    Attributes:
        every: (B, d) all rows.
        first: random half of the rows, for shapes and units.
        second: the other rows, for scales of these shapes.
    """

    every: Array
    first: Array
    second: Array

    def points(self, shape: NoiseShape) -> Array:
        """Return the rows that may scale a shape, in its norm."""
        points = self.second if shape.n_splits else self.every
        # Differences first: a small spread about a large number would be lost in the division.
        return shape.whiten(points - points[0])


# What scales noise of a shape, by calibration and whom it protects: a moment or mean distance, and,
# for the direct calibrations, the distances themselves.
Yardsticks: TypeAlias = dict[tuple[CalibrationKind, Protects], tuple[MeasuredMoment, Shifts | None]]


def measure(
    splits: Splits,
    pairs: SwapPairs | None,
    shape: NoiseShape,
    asked: NoiseOptions,
    confidence: float,
    rng: np.random.Generator,
) -> Yardsticks:
    """Return what a shape can be scaled by.

    Args:
        splits: divided.
        pairs: releases before and after one record is exchanged.
        shape: made of the first half, or without data.
        asked: whether limits must hold at every sample size.
        confidence: of each limit; in strict mode its share of the error.
        rng: divides the splits once more.
    """
    found: Yardsticks = {}
    if asked.strict:
        # What the second half says about a centre and a shape of the first half.
        lengths = half_distances(splits.first, splits.second, shape)
        mean = float(lengths.mean())
        moment = measured_moment(mean, None, "other-half", lengths.size, confidence)
        shifts = Shifts(lengths=lengths, estimator="betting")
    else:
        left_out, plain = distances_from_median(splits.points(shape), rng)
        moment = mean_distance(left_out, plain, confidence)
        shifts = Shifts(lengths=left_out, estimator="left-out")
        found["moment", "every-record"] = moment, None
    found["direct", "every-record"] = moment, shifts
    estimator: GapEstimator = "betting" if asked.strict else "mean-swap"
    for each in () if pairs is None else swap_shifts(pairs, shape, estimator):
        whose: Protects = "tested-records" if each.every_record else "average-record"
        moment = mean_swap(each, asked.confidence)
        if not asked.strict:  # a mean distance has no sure limit
            found["swap", whose] = moment, None
        found["direct-swap", whose] = moment, each
    return found


def swap_shifts(pairs: SwapPairs, shape: NoiseShape, estimator: GapEstimator) -> tuple[Shifts, ...]:
    """Return by how much pairs differ: for each record if they are named, and on average.

    Args:
        pairs: independent of each other.
        shape: made without these pairs.
        estimator: what the shifts will be used for.
    """
    lengths = lengths_of(shape.whiten(pairs.in_side - pairs.out_side))
    if pairs.record is None:
        return (Shifts(lengths=lengths, estimator=estimator),)
    _, index, counts = np.unique(pairs.record, return_inverse=True, return_counts=True)
    average = Shifts(
        lengths=lengths[np.argsort(index, kind="stable")],
        estimator=estimator,
        starts=np.cumsum(counts) - counts,
    )
    return replace(average, every_record=True, fewest=FEWEST_PAIRS), average


def mean_swap(shifts: Shifts, confidence: float) -> MeasuredMoment:
    """Estimate E ||theta_in - theta_out|| for the worst or for the average record.

    Limits of the worst allow for the choice (Bonferroni). The average is over the records
    tested, or over the law that the pairs were drawn from where records are not told apart.

    Args:
        shifts: of pairs, from :func:`swap_shifts`.
        confidence: in (0, 1): of both limits together.
    """
    groups = [part.by_record(part.lengths) for part in shifts.parts()]
    value, count = max(float(terms.mean()) for terms in groups), shifts.lengths.size
    share = (1 - confidence) / len(groups)
    limits = None
    if shifts.has_limits:
        lowers, uppers = zip(*(mean_limits(terms, share / 2) for terms in groups), strict=True)
        limits = max(lowers), max(uppers)
    return measured_moment(value, limits, "mean-swap", count, confidence)


_FEWEST_SPLITS: Final = 4
# The coverage of the approximate limits was measured from here on.
_FEW_SPLITS: Final = 20
# A half with fewer says nothing about the shape.
_FEWEST_FOR_SHAPE: Final = 8
# Izzo et al. 2022 prove their theorem for half of the records.
_PAPER_FRACTION: Final = 0.5


class Way(NamedTuple):
    """A row of the table: noise that is considered.

    Attributes:
        calibration: what its scale is made from.
        protects: whose membership.
        shape: which directions may get how much.
        mechanism: the kind of noise.
    """

    calibration: CalibrationKind
    protects: Protects
    shape: ShapeKind
    mechanism: Mechanism


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """Noise that keeps the promise if what it was scaled by is right.

    Attributes:
        noise: what the report says of it.
        way: its row of the table.
        shape: whose norm its scale is in.
        coordinate_rms: (d,) root mean square of the noise on each coordinate.
    """

    noise: NoiseCandidate
    way: Way
    shape: NoiseShape
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
        Way(*one, kind, mechanism)
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
    count, dimension = splits.shape
    order = rng.permutation(count)
    halves = Splits(splits, splits[order[: count // 2]], splits[order[count // 2 :]])
    units = _error_units(halves, asked)
    constant = tuple(np.flatnonzero((splits == splits[0]).all(axis=0)).tolist())
    findings = list(_split_findings(halves, constant, asked))
    if allowed_gap(asked.eta, asked.train_fraction) >= 1:
        return Calibration(candidates=(), chosen=None, constant=constant, findings=tuple(findings))
    if len(constant) == dimension:
        raise InputError(
            "constant_release",
            f"All {count} splits gave the same vector, so that no noise can be"
            " calibrated on them: a release that does not depend on the split needs none,"
            " and one that rarely does may need much.",
            hint="Check that the rows are different random splits.",
        )
    swapped = () if pairs is None else pairs.protects
    first = halves.first
    varying = len(first) if (first != first[0]).any() else 0
    table = ways(asked, varying, dimension, swapped)
    confidence = 1 - _share(asked, table) if asked.strict else asked.confidence
    candidates: list[Candidate] = []
    swaps: list[tuple[Protects, MeasuredMoment]] = []
    for kind in _shape_kinds(varying, dimension, asked):
        shape = _shape(kind, first, units)
        measured = measure(halves, pairs, shape, asked, confidence, rng)
        swaps += [(whose, one) for (of, whose), (one, _) in measured.items() if of == "swap"]
        rows = (one for one in table if one.shape == kind)
        candidates += _scaled(rows, shape, measured, confidence, asked, units)
    if asked.train_fraction == _PAPER_FRACTION:
        shape = isotropic_shape(np.ones(dimension))
        paper = Way("paper", "every-record", "isotropic", "norm-exponential")
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
    return Calibration(
        candidates=tuple(candidates),
        chosen=_choose(candidates, asked, halves, needed),
        constant=constant,
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


def _error_units(splits: Splits, asked: NoiseOptions) -> Array:
    """Return the (d,) units in which the total error counts."""
    units = None
    if asked.error_units == "standardised":
        enough = len(splits.first) >= _FEWEST_FOR_SHAPE
        units = standard_units(splits.first) if enough else None
        units = standard_units(splits.every) if units is None else units
    return np.ones(splits.every.shape[1]) if units is None else units


def _shape(kind: ShapeKind, first: Array, units: Array) -> NoiseShape:
    if kind == "isotropic":
        return isotropic_shape(np.ones(units.size))
    return diagonal_shape(first, units) if kind == "diagonal" else full_shape(first, units)


def _scaled(
    rows: Iterable[Way],
    shape: NoiseShape,
    measured: Yardsticks,
    confidence: float,
    asked: NoiseOptions,
    units: Array,
) -> Iterator[Candidate]:
    """Yield the noise of each row that can be scaled; ``confidence`` is that of a limit."""
    for way in rows:
        moment, shifts = measured[way.calibration, way.protects]
        multiplier, gap = None, None
        if shifts is not None:
            aim = _aim(way, shifts, confidence, asked)
            limited, scale = aim.basis != "value", least_scale(shifts, way.mechanism, aim)
            if 0 < scale < math.inf:
                gap = estimate_gap(shifts, way.mechanism, scale, aim, confidence)
        else:
            multiplier = _multiplier(way, asked)
            upper = moment.upper if asked.scaled_by == "upper" else None
            limited = upper is not None
            scale = multiplier * (moment.value if upper is None else upper)
        if not 0 < scale < math.inf:
            continue
        cost = noise_cost(way.mechanism, scale, shape, units)
        noise = NoiseCandidate(
            **way._asdict(),
            multiplier=multiplier,
            moment=moment,
            gap=gap,
            scaled_by="upper" if limited else "value",
            scale=scale,
            guaranteed=gap is not None and asked.strict,
            total_error=cost.total,
            rms_norm=cost.rms_norm,
            expected_norm=cost.expected_norm,
            chosen=False,
        )
        yield Candidate(noise=noise, way=way, shape=shape, coordinate_rms=cost.coordinate_rms)


def _multiplier(way: Way, asked: NoiseOptions) -> float:
    match way.calibration:
        case "paper":
            return paper_scale(asked.eta, asked.k)
        case "moment":
            return scale_for_moment(way.mechanism, asked.eta, asked.train_fraction)
        case _:
            gap = allowed_gap(asked.eta, asked.train_fraction)
            return scale_for_distance(way.mechanism, gap)


def _aim(way: Way, shifts: Shifts, confidence: float, asked: NoiseOptions) -> Aim:
    # What the mean of h must not exceed: mipaudit help methods, section 28.4, remark (b). For
    # distances from a centre that is eta itself, at every q.
    at_most = asked.eta
    if way.calibration != "direct":
        at_most = allowed_gap(asked.eta, asked.train_fraction)
    if asked.strict:
        return Aim(at_most=at_most, basis="finite-sample", alpha=1 - confidence)
    limited = asked.scaled_by == "upper" and shifts.has_limits
    basis: Basis = "approximate" if limited else "value"
    return Aim(at_most=at_most, basis=basis, alpha=(1 - confidence) / 2)


def _choose(
    candidates: Sequence[Candidate], asked: NoiseOptions, splits: Splits, needed: int
) -> Candidate:
    """Return the allowed candidate of least total error.

    Args:
        candidates: all.
        asked: what is allowed.
        splits: divided.
        needed: splits with which the promise may be kept directly, in strict mode.

    Raises:
        InputError: there is none.
    """
    allowed = [
        one
        for one in candidates
        if asked.may_choose(one.way.calibration, one.way.protects)
        and (one.noise.guaranteed or not asked.strict)
    ]
    if allowed:
        return min(allowed, key=lambda one: one.noise.total_error)
    count = len(splits.every)
    if needed > count:
        raise InputError(
            "too_few_splits_for_eta",
            f"{count} splits are too few for this eta in strict mode: no noise, however large,"
            f" could be shown to be enough. At least {needed} are needed.",
            hint="Give more splits, or allow one kind and shape of noise only: every kind that"
            " is considered takes a share of the error.",
        )
    if needed:
        raise InputError(
            "constant_release",
            f"All of the {len(splits.second)} splits that scale the noise gave the same vector.",
            hint="Check that the rows are different random splits.",
        )
    raise InputError(
        "no_calibration_left",
        f"None of {len(candidates)} calibrations is allowed and can be scaled.",
        hint="Allow the moment calibration (in strict mode: direct) and isotropic noise, or"
        " give more splits and pairs.",
    )


def _split_findings(
    splits: Splits, constant: tuple[int, ...], asked: NoiseOptions
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
    swaps: Sequence[tuple[Protects, MeasuredMoment]], pairs: SwapPairs
) -> Iterator[Finding]:
    """Yield what a reader must know of pairs, by their distances in the norm of each shape."""
    if any(one.value == 0 for _, one in swaps):
        yield Finding("pairs_do_not_differ")
    if pairs.record is None:
        yield Finding("records_not_named")
        return
    yield Finding.of("tested_records_only", records=len(np.unique(pairs.record)))
    worst = [one for whose, one in swaps if whose == "tested-records"]
    if any(one.validity == "not-an-interval" for one in worst):
        yield Finding.of("few_pairs_of_a_record", fewest=FEWEST_PAIRS)
