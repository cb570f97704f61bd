"""The guarantee itself: the best attacker's exact accuracy, over every training set.

Nothing is sampled. All subsets of a small data set are trained on, and the accuracy of
the best attacker against the noised output, 1/2 + 1/2 integral |q f_in - (1-q) f_out|,
is computed from the densities. docs/explanation/methods.md quotes several of the figures.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, optimize, special

from mipaudit.maths.noise_scales import (
    allowed_gap,
    equivalent_epsilon,
    paper_scale,
    scale_for_distance,
    scale_for_moment,
)

MECHANISMS = ("laplace", "norm-exponential", "gaussian")
ETAS = (0.02, 0.1, 0.3, 0.49)
RECORDS = np.array([-2.1, -0.7, 0.1, 0.4, 1.3, 3.9, -0.2, 0.9])


@dataclass(frozen=True, slots=True, kw_only=True)
class Releases:
    """What an algorithm returns for every training set of one size.

    Attributes:
        outputs: one row per training set, one column per coordinate.
        members: one row per training set, one column per record: whether it is in.
    """

    outputs: np.ndarray
    members: np.ndarray

    @property
    def fraction(self):
        return self.members[0].mean()

    @property
    def baseline(self):
        return max(self.fraction, 1 - self.fraction)

    def signed_law(self):
        """Weights q P_in - (1-q) P_out: a row per training set, a column per record."""
        inside = self.members / self.members.sum(axis=0)
        outside = ~self.members / (~self.members).sum(axis=0)
        return self.fraction * inside - (1 - self.fraction) * outside

    def moment(self, order=1):
        """sigma_k in the Euclidean norm; about the median for k = 1, else about the mean."""
        centre = (np.median if order == 1 else np.mean)(self.outputs, axis=0)
        distances = np.linalg.norm(self.outputs - centre, axis=1)
        if order == math.inf:
            return distances.max()
        return (distances**order).mean() ** (1 / order)

    def swap_distances(self):
        """Every distance to the output with one record exchanged, by the record that left."""
        row_of = {tuple(row): index for index, row in enumerate(self.members.tolist())}
        found = [[] for _ in self.members[0]]
        for index, row in enumerate(self.members.tolist()):
            inside = np.array(row)
            for left, came in itertools.product(np.flatnonzero(inside), np.flatnonzero(~inside)):
                swapped = row.copy()
                swapped[left], swapped[came] = False, True
                other = self.outputs[row_of[tuple(swapped)]]
                found[left].append(np.linalg.norm(self.outputs[index] - other))
        return np.array(found)


def releases(count, size, algorithm):
    """Train on every subset of ``size`` of ``count`` records."""
    subsets = list(itertools.combinations(range(count), size))
    members = np.zeros((len(subsets), count), dtype=bool)
    for row, subset in zip(members, subsets, strict=True):
        row[list(subset)] = True
    outputs = np.array([np.atleast_1d(algorithm(subset)) for subset in subsets], dtype=float)
    return Releases(outputs=outputs, members=members)


def mean_of(subset):
    return RECORDS[list(subset)].mean()


def above_zero(subset):
    return float(mean_of(subset) > 0.4)


def tells_record_0(subset):
    return 1.0 if 0 in subset else -1.0


def is_the_first_half(subset):
    return float(subset == tuple(range(len(subset))))


ALGORITHMS = (mean_of, above_zero, tells_record_0, is_the_first_half)
SIZES = ((6, 3), (6, 2), (8, 4), (8, 6))


# --- The best attacker, in one dimension -------------------------------------------------


def laplace_accuracies(law, outputs, scale):
    """The best accuracy for each column of signed weights, exact between neighbours.

    Between two neighbouring outputs the signed density is (A e^-t + C e^(t-h)) / 2, which
    changes its sign at most once, at a point with a closed form.
    """
    order = np.argsort(outputs, kind="stable")
    weights, steps = law[order], np.diff(outputs[order]) / scale
    left, right = weights.copy(), weights.copy()
    for row, step in enumerate(steps):
        left[row + 1] += math.exp(-step) * left[row]
    for row in range(len(steps) - 1, -1, -1):
        right[row] += math.exp(-steps[row]) * right[row + 1]
    above, below, h = left[:-1], right[1:], steps[:, None]

    def mass(t):
        return (-above * np.expm1(-t) + below * (np.exp(t - h) - np.exp(-h))) / 2

    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.clip((np.log(-above / below) + h) / 2, 0, h)
    crossing = np.where(above * below < 0, crossing, h)
    between = np.abs(mass(crossing)) + np.abs(mass(h) - mass(crossing))
    total = between.sum(axis=0) + (np.abs(right[0]) + np.abs(left[-1])) / 2
    return (1 + total) / 2


def gaussian_accuracies(law, outputs, scale):
    """The best accuracy for each column of signed weights.

    The signed density is followed on a fine grid. Its integral between two of its zeros is a
    difference of normal distribution functions, at which an error in a zero is squared.
    """
    values, rows = np.unique(outputs, return_inverse=True)
    weights = np.zeros((values.size, law.shape[1]))
    np.add.at(weights, rows, law)
    count = int((values[-1] - values[0]) / scale * 40) + 800
    grid = np.linspace(values[0] - 10 * scale, values[-1] + 10 * scale, count)
    signed = np.exp(-(((grid[:, None] - values) / scale) ** 2) / 2) @ weights
    return np.array(
        [_accuracy_between_zeros(grid, signed[:, z], values, weights[:, z], scale) for z in
         range(law.shape[1])]
    )  # fmt: skip


def _accuracy_between_zeros(grid, signed, values, weights, scale):
    before = np.flatnonzero(signed[:-1] * signed[1:] < 0)
    share = signed[before] / (signed[before] - signed[before + 1])
    zeros = grid[before] + share * (grid[before + 1] - grid[before])
    exact = np.flatnonzero(signed == 0)
    edges = np.sort(np.concatenate([[-np.inf], zeros, grid[exact], [np.inf]]))
    cumulative = special.ndtr((edges[:, None] - values) / scale) @ weights
    return (1 + np.abs(np.diff(cumulative)).sum()) / 2


def accuracies(mechanism, released, scale):
    best = gaussian_accuracies if mechanism == "gaussian" else laplace_accuracies
    return best(released.signed_law(), released.outputs[:, 0], scale)


# --- The best attacker, in two dimensions ------------------------------------------------


def plane_accuracies(mechanism, released, scale, points=240, records=slice(None)):
    """The best accuracy for each record, by the midpoint rule on a square grid."""
    reach = 7.0 if mechanism == "gaussian" else 14.0
    values, rows = np.unique(released.outputs, axis=0, return_inverse=True)
    axes = [midpoints(column, reach * scale, points) for column in values.T]
    across, along = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    radius = np.hypot(across - values[:, :1], along - values[:, 1:]) / scale
    shape = np.exp(-(radius**2) / 2) if mechanism == "gaussian" else np.exp(-radius)
    # Both laws have the constant 1 / (2 pi scale^2): Gamma(2) is 1.
    shape *= math.prod(axis[1] - axis[0] for axis in axes) / (2 * math.pi * scale**2)
    # The grid misses next to nothing, or the comparison would prove nothing.
    assert shape.sum(axis=1) == pytest.approx(1, abs=1e-3)
    law = released.signed_law()[:, records]
    weights = np.zeros((len(values), law.shape[1]))
    np.add.at(weights, rows.ravel(), law)
    return (1 + np.abs(weights.T @ shape).sum(axis=1)) / 2


def midpoints(column, margin, count):
    """Midpoints of equal cells; the middle of the column is the edge of a cell."""
    edges = np.linspace(column.min() - margin, column.max() + margin, 2 * count + 1)
    return edges[1::2]


# --- Calibrations ------------------------------------------------------------------------


def calibrated_scale(calibration, mechanism, released, eta):
    """The scale that one of the calibrations asks for."""
    multiplier = scale_for_distance(mechanism, allowed_gap(eta, released.fraction))
    match calibration:
        case "moment":
            return released.moment() * scale_for_moment(mechanism, eta, released.fraction)
        case "swap":
            return released.swap_distances().mean(axis=1).max() * multiplier
        case "dp":
            return released.swap_distances().max() * multiplier
        case _:
            order = float(calibration.removeprefix("paper-"))
            return paper_scale(eta, order) * released.moment(order)


def etas_for(released):
    """The etas of a half, in proportion to what there is to hide."""
    return [2 * eta * min(released.fraction, 1 - released.fraction) for eta in ETAS]


@pytest.mark.parametrize("calibration", ["moment", "swap", "dp"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_attacker_exceeds_eta(calibration, mechanism, algorithm):
    for count, size in SIZES:
        released = releases(count, size, algorithm)
        for eta in etas_for(released):
            scale = calibrated_scale(calibration, mechanism, released, eta)
            best = accuracies(mechanism, released, scale)
            assert best.min() >= released.baseline - 1e-12
            assert best.max() <= released.baseline + eta + 1e-12


@pytest.mark.parametrize("order", ["2", "4", "inf"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_attacker_exceeds_eta_with_the_published_noise(order, algorithm):
    for count in (6, 8):
        released = releases(count, count // 2, algorithm)
        for eta in ETAS:
            scale = calibrated_scale(f"paper-{order}", "norm-exponential", released, eta)
            assert accuracies("norm-exponential", released, scale).max() <= 0.5 + eta / 6


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_records_own_swap_distance_protects_it(mechanism, algorithm):
    for count, size in SIZES:
        released = releases(count, size, algorithm)
        own = released.swap_distances().mean(axis=1)
        eta = 0.2 * min(released.fraction, 1 - released.fraction)
        multiplier = scale_for_distance(mechanism, allowed_gap(eta, released.fraction))
        for record in np.flatnonzero(own):
            best = accuracies(mechanism, released, own[record] * multiplier)
            assert best[record] <= released.baseline + eta + 1e-12
        # And noise for the mean distance protects the records on average.
        best = accuracies(mechanism, released, own.mean() * multiplier)
        assert best.mean() <= released.baseline + eta + 1e-12


@pytest.mark.parametrize(
    ("calibration", "mechanism", "scale", "reached"),
    [
        ("paper-2", "norm-exponential", 2334.7, 0.5001),
        ("dp", "norm-exponential", 3.699, 0.5603),
        ("dp", "gaussian", 2.960, 0.5656),
        ("moment", "laplace", 2.330, 0.5904),
        ("moment", "gaussian", 2.053, 0.5934),
        ("swap", "laplace", 2.209, 0.5946),
        ("swap", "gaussian", 1.945, 0.5983),
    ],
)
def test_the_mean_of_four_of_eight_records_in_numbers(calibration, mechanism, scale, reached):
    released = releases(8, 4, mean_of)
    found = calibrated_scale(calibration, mechanism, released, 0.1)
    assert found == pytest.approx(scale, rel=3e-4)
    assert accuracies(mechanism, released, found).max() == pytest.approx(reached, abs=5.1e-5)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_swap_never_asks_for_more_than_the_others(algorithm):
    for count, size in SIZES:
        released = releases(count, size, algorithm)
        swap = released.swap_distances()
        rarer = min(released.fraction, 1 - released.fraction)
        assert swap.mean(axis=1).max() <= swap.max()
        assert swap.mean(axis=1).max() <= released.moment() / rarer + 1e-12
        assert released.moment() <= released.moment(2) <= released.moment(4) + 1e-12
        assert released.moment(4) <= released.moment(math.inf) + 1e-12


# --- Where the limit is reached ----------------------------------------------------------


@pytest.mark.parametrize("calibration", ["moment", "swap", "dp"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("count", [6, 8])
def test_a_release_that_tells_one_record_reaches_eta(calibration, mechanism, eta, count):
    released = releases(count, count // 2, tells_record_0)
    scale = calibrated_scale(calibration, mechanism, released, eta)
    assert accuracies(mechanism, released, scale)[0] == pytest.approx(0.5 + eta, abs=1e-9)
    # So no smaller multiplier serves every release.
    assert accuracies(mechanism, released, 0.999 * scale)[0] > 0.5 + eta + 1e-6


def test_the_bound_for_any_norm_leaves_a_little_in_one_dimension():
    released = releases(6, 3, tells_record_0)
    for eta, reached in ((0.02, 0.519615), (0.1, 0.591752), (0.3, 0.75)):
        scale = calibrated_scale("moment", "norm-exponential", released, eta)
        best = accuracies("norm-exponential", released, scale)[0]
        assert best == pytest.approx(reached, abs=1e-6)
        # 1 - e^(-artanh 2 eta), in closed form.
        assert best == pytest.approx(1 - math.sqrt((1 - 2 * eta) / (1 + 2 * eta)) / 2, abs=1e-12)


@pytest.mark.parametrize(("mechanism", "reached"), [("laplace", 0.6700), ("gaussian", 0.7016)])
def test_with_a_third_of_the_records_the_limit_is_not_reached(mechanism, reached):
    released = releases(6, 2, tells_record_0)
    scale = calibrated_scale("swap", mechanism, released, 0.1)
    best = accuracies(mechanism, released, scale)[0]
    assert best == pytest.approx(reached, abs=5e-5)
    assert 2 / 3 <= best < 2 / 3 + 0.1


def test_with_a_third_of_the_records_pure_differential_privacy_can_need_less():
    # epsilon allows accuracy e^epsilon / (1 + e^epsilon), if that beats the constant guess.
    released = releases(6, 2, tells_record_0)
    limit = 2 / 3 + 0.1
    scale = 2 / math.log(limit / (1 - limit))
    assert scale < calibrated_scale("swap", "norm-exponential", released, 0.1)
    assert accuracies("laplace", released, scale).max() <= limit
    # At one half there is one epsilon for both.
    half = releases(6, 3, tells_record_0)
    assert calibrated_scale("dp", "norm-exponential", half, 0.1) == pytest.approx(
        2 / equivalent_epsilon(0.1), rel=1e-12
    )


# --- Before Jensen's inequality ----------------------------------------------------------


def gap_of_shift(mechanism, lengths):
    """The TV of one shifted pair, for lengths in units of the scale."""
    match mechanism:
        case "laplace":
            return -np.expm1(-lengths / 2)
        case "norm-exponential":
            return np.tanh(lengths / 2)
        case _:
            return special.erf(lengths / math.sqrt(8))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("scale", [0.05, 0.5, 2.0, 10.0])
def test_the_mean_bound_over_outputs_limits_eta_without_any_moment(mechanism, algorithm, scale):
    for count, size in SIZES:
        released = releases(count, size, algorithm)
        gain = accuracies(mechanism, released, scale) - released.baseline
        from_centre = np.abs(released.outputs[:, 0] - np.median(released.outputs))
        assert gain.max() <= gap_of_shift(mechanism, from_centre / scale).mean() + 1e-12
        rarer = min(released.fraction, 1 - released.fraction)
        swapped = gap_of_shift(mechanism, released.swap_distances() / scale).mean(axis=1)
        assert (gain <= rarer * swapped + 1e-12).all()


def test_without_jensen_a_rare_outlier_costs_its_probability_only():
    released = proposition_9(14)
    from_centre = np.abs(released.outputs[:, 0] - np.median(released.outputs))
    scale = optimize.brentq(
        lambda scale: gap_of_shift("laplace", from_centre / scale).mean() - 0.1, 1e-5, 1.0
    )
    assert scale == pytest.approx(0.00055, rel=2e-3)
    best = accuracies("laplace", released, scale).max()
    assert best == pytest.approx(0.5866, abs=5e-5)
    # A hundred and forty times less noise than by sigma_1.
    assert calibrated_scale("moment", "laplace", released, 0.1) > 140 * scale


# --- Two dimensions ----------------------------------------------------------------------


def mean_of_two(subset):
    rows = list(subset)
    return np.array([RECORDS[rows].mean(), RECORDS[::-1][rows].mean() * 0.5])


def tells_record_0_twice(subset):
    return tells_record_0(subset) * np.array([0.6, 0.8])


@pytest.mark.parametrize("calibration", ["moment", "swap", "dp"])
@pytest.mark.parametrize("mechanism", ["norm-exponential", "gaussian"])
@pytest.mark.parametrize("algorithm", [mean_of_two, tells_record_0_twice])
@pytest.mark.parametrize("size", [3, 2])
def test_no_attacker_exceeds_eta_in_the_plane(calibration, mechanism, algorithm, size):
    released = releases(6, size, algorithm)
    for eta in etas_for(released)[1:3]:
        scale = calibrated_scale(calibration, mechanism, released, eta)
        # The grid adds at most its own error.
        best = plane_accuracies(mechanism, released, scale)
        assert best.max() <= released.baseline + eta + 5e-4


def test_gaussian_noise_reaches_eta_in_the_plane():
    released = releases(6, 3, lambda subset: (tells_record_0(subset), 0.0))
    scale = calibrated_scale("moment", "gaussian", released, 0.1)
    best = plane_accuracies("gaussian", released, scale, points=1500, records=[0])
    assert best[0] == pytest.approx(0.6, abs=2e-6)


@pytest.mark.parametrize("order", [1, 2, np.inf])
@pytest.mark.parametrize("shift", [(0.3, 0.0), (0.5, 0.5), (1.0, -2.0), (0.0, 6.0)])
def test_every_norm_keeps_the_bound_of_one_dimension(order, shift):
    # 1 - TV is the integral of e^-max(||x + v/2||, ||x - v/2||), and the maximum is at
    # most ||x|| + ||v|| / 2: TV <= 1 - e^(-||v||/2), which is below tanh(||v|| / 2).
    axis = midpoints(np.zeros(1), 22.0, 1100)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    half = np.array(shift) / 2
    laws = [np.exp(-np.linalg.norm(points + sign * half, ord=order, axis=1)) for sign in (1, -1)]
    gap = np.abs(laws[0] - laws[1]).sum() / (laws[0].sum() + laws[1].sum())
    length = np.linalg.norm(shift, ord=order)
    assert gap <= -math.expm1(-length / 2) + 1e-4
    assert -math.expm1(-length / 2) < math.tanh(length / 2)


def test_noise_on_a_grid_reaches_the_bound_for_any_norm():
    # P(k) ~ e^(-|k| / b) on the integers, against itself one step on.
    for scale in (0.3, 1.0, 4.0):
        steps = np.arange(-4000, 4001)
        law = np.exp(-np.abs(steps) / scale)
        gap = np.abs(np.diff(law, prepend=0.0, append=0.0)).sum() / law.sum() / 2
        assert gap == pytest.approx(math.tanh(1 / (2 * scale)), rel=1e-12)


# --- Proposition 9 -----------------------------------------------------------------------


def proposition_9(count):
    """1 / sum over a set of powers of two and one number that nearly cancels half of them.

    One training set alone adds up to nearly nothing: its output is the root of their
    number, every other's is small.
    """
    half = count // 2
    powers = [2.0**power for power in range(1, count)]
    smallest = 1 / math.sqrt(math.comb(count, half))
    last = -math.fsum(powers[: half - 1])

    def inverse_sum(subset):
        known = math.fsum(powers[i] for i in subset if i < count - 1)
        return 1 / (known + (last + smallest if count - 1 in subset else 0.0))

    return releases(count, half, inverse_sum)


@pytest.mark.parametrize("count", [8, 10, 12, 14])
def test_proposition_9(count):
    released = proposition_9(count)
    training_sets = math.comb(count, count // 2)
    assert released.moment(2) == pytest.approx(1, abs=0.01)
    assert np.ptp(released.outputs) == pytest.approx(math.sqrt(training_sets), rel=2e-3)
    assert released.moment() < 1.2 / math.sqrt(training_sets)
    for eta in (0.05, 0.1, 0.3):
        for calibration in ("moment", "paper-2"):
            scale = calibrated_scale(calibration, "laplace", released, eta)
            assert accuracies("laplace", released, scale).max() <= 0.5 + eta


def test_proposition_9_of_fourteen_records_in_numbers():
    released = proposition_9(14)
    assert released.moment(2) == pytest.approx(1.0, abs=5e-4)
    assert released.moment() == pytest.approx(0.01723, abs=5e-6)
    sensitivity = released.swap_distances().max()
    assert sensitivity == pytest.approx(58.583, abs=5e-4)
    scales = {
        "paper": paper_scale(0.1, 2) * released.moment(2),
        "dp": sensitivity / equivalent_epsilon(0.1),
        "moment": calibrated_scale("moment", "laplace", released, 0.1),
        "swap": calibrated_scale("swap", "laplace", released, 0.1),
    }
    reached = {name: accuracies("laplace", released, scale).max() for name, scale in scales.items()}
    assert scales == pytest.approx(
        {"paper": 3794.0, "dp": 144.48, "moment": 0.07723, "swap": 0.07723}, rel=1e-4
    )
    assert reached == pytest.approx(
        {"paper": 0.500002, "dp": 0.500054, "moment": 0.501197, "swap": 0.501197}, abs=1e-6
    )
    # The last record is in exactly where the output is above the median: D = 2 sigma_1.
    assert scales["swap"] == pytest.approx(scales["moment"], rel=1e-9)
    # What the least Laplace noise for this one release would be.
    least = optimize.brentq(
        lambda scale: accuracies("laplace", released, scale).max() - 0.6, 1e-4, 1e-3, rtol=1e-4
    )
    assert least == pytest.approx(0.000448, abs=1e-6)


# --- Corollary 8's sampler ---------------------------------------------------------------


def corollary_8_noise(rng, dimension, scale, size):
    """The published sampler, wrong for more than one dimension: never to be used.

    The sphere is that of the norm sqrt(mean of squares), in which (1, ..., 1) has length 1.
    """
    direction = rng.standard_normal((size, dimension))
    direction /= np.sqrt((direction**2).mean(axis=1, keepdims=True))
    return direction * rng.laplace(scale=scale, size=(size, 1))


def corollary_8_gain(dimension, scale):
    """Accuracy above 1/2 of the sign of the mean coordinate, against +-(1, ..., 1).

    It is P(|r u| < 1) / 2 with u the mean of the direction, a coordinate of the unit
    sphere. Given u, that is (1 - e^(-1 / (scale |u|))) / 2.
    """
    constant = math.exp(math.lgamma(dimension / 2) - math.lgamma((dimension - 1) / 2))
    root = math.sqrt(dimension)

    def integrand(t):
        law = math.exp((dimension - 3) / 2 * math.log1p(-t * t / dimension))
        return -math.expm1(-root / (scale * t)) * law

    end = min(40.0, root)
    points = [point for point in (1e-3, 0.01, 0.1, 1.0, 5.0) if point < end]
    area, _ = integrate.quad(integrand, 1e-12, end * (1 - 1e-12), points=points, limit=400)
    return constant / math.sqrt(math.pi) / root * area


@pytest.mark.parametrize("dimension", [5, 50])
def test_the_gain_against_corollary_8_is_that_of_drawn_noise(dimension):
    noise = corollary_8_noise(np.random.default_rng(8), dimension, 8.0, 60_000)
    right = (1 + noise.mean(axis=1) > 0).mean()
    assert right - 0.5 == pytest.approx(corollary_8_gain(dimension, 8.0), abs=0.008)


@pytest.mark.parametrize(
    ("dimension", "gain"),
    [(10**2, 0.0067), (10**3, 0.0175), (10**4, 0.0435), (10**5, 0.1002), (10**6, 0.2062)],
)
def test_the_sampler_of_corollary_8_breaks_its_promise_in_many_dimensions(dimension, gain):
    # eta = 0.1 and k = 2: sigma_k is 1, for every coordinate and for the whole vector.
    found = corollary_8_gain(dimension, paper_scale(0.1, 2))
    assert found == pytest.approx(gain, abs=5e-5)
    assert (found > 0.1) == (dimension >= 10**5)


def test_the_right_radius_keeps_the_promise_in_many_dimensions():
    # Gamma(d) in place of the Laplace radius: P(|r u| < 1) / 2, from seeded radii.
    rng = np.random.default_rng(9)
    dimension, size = 10**6, 400_000
    first = rng.standard_normal(size)
    unit = first / np.sqrt(first**2 + rng.chisquare(dimension - 1, size))
    wrong = np.abs(rng.laplace(scale=paper_scale(0.1, 2), size=size) * unit)
    assert (wrong < 1).mean() / 2 == pytest.approx(0.2062, abs=0.002)
    right = np.abs(rng.gamma(dimension, scale=paper_scale(0.1, 2), size=size) * unit)
    assert (right < 1).mean() / 2 < 1e-4
    # Ours, in the same norm: a thousandth of the noise, and still within eta.
    ours = np.abs(
        rng.gamma(dimension, scale=scale_for_moment("norm-exponential", 0.1, 0.5), size=size) * unit
    )
    assert (ours < 1).mean() / 2 < 0.1


# --- Composition -------------------------------------------------------------------------


def exact_eta(count, size, release, record):
    """Eta of a release without noise, as a fraction: half of the total variation."""
    inside, outside = Counter(), Counter()
    for subset in itertools.combinations(range(count), size):
        (inside if record in subset else outside)[release(frozenset(subset))] += 1
    total_in, total_out = sum(inside.values()), sum(outside.values())
    gap = sum(
        abs(Fraction(inside[value], total_in) - Fraction(outside[value], total_out))
        for value in inside.keys() | outside.keys()
    )
    return gap / 4


WATCHED = frozenset(range(6))
TARGET = 6


def parity(subset):
    return len(subset & WATCHED) % 2


def parity_with_target(subset):
    return len(subset & (WATCHED | {TARGET})) % 2


def both_parities(subset):
    return parity(subset), parity_with_target(subset)


def test_two_releases_of_almost_no_eta_disclose_a_record_together():
    alone = [
        {exact_eta(12, 6, release, record) for record in range(12)}
        for release in (parity, parity_with_target)
    ]
    assert alone[0] == {Fraction(0)}
    assert max(alone[1]) == Fraction(1, 66)
    assert float(max(alone[1])) == pytest.approx(0.0151515, abs=5e-8)
    assert exact_eta(12, 6, both_parities, TARGET) == Fraction(1, 2)


@pytest.mark.parametrize("calibration", ["moment", "swap"])
def test_the_etas_of_two_calibrated_releases_add(calibration):
    # The same two parities, each with Gaussian noise of its own, fixed beforehand.
    parities = [
        releases(12, 6, lambda subset, release=release: release(frozenset(subset)))
        for release in (parity, parity_with_target)
    ]
    scales = [calibrated_scale(calibration, "gaussian", one, 0.1) for one in parities]
    # In units of its own noise each coordinate has the noise of a plane.
    outputs = np.hstack([one.outputs / scale for one, scale in zip(parities, scales, strict=True)])
    joint = Releases(outputs=outputs, members=parities[0].members)
    best = plane_accuracies("gaussian", joint, 1.0)
    assert best.max() == best[TARGET] > 0.5
    assert best.max() <= 0.5 + 0.2
