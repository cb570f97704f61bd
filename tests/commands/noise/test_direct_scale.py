from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from mipaudit.commands.noise.mechanism import diagonal_shape, isotropic_shape
from mipaudit.commands.noise.moments import (
    distances_from_median,
    half_distances,
    mean_limits,
    spatial_median,
)
from mipaudit.commands.noise.yardsticks import (
    Shifts,
    estimate_gap,
    least_scale,
    mean_swap,
    reached,
    shift_gaps,
    swap_shifts,
)
from tests.fixtures.noise import swap_pairs
from tests.noise_gaps import gap_left

MECHANISMS = ["laplace", "norm-exponential", "gaussian"]


def aim(at_most=0.1, basis="value", alpha=0.05):
    return at_most, basis, alpha


def shifts(lengths):
    return Shifts(lengths=np.asarray(lengths, dtype=np.float64), estimator="left-out")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_mean_of_h_is_eta_at_the_scale(rng, mechanism, unit):
    lengths = rng.exponential(size=50) * unit
    scale = least_scale(shifts(lengths), mechanism, aim())
    assert shift_gaps(mechanism, lengths / scale).mean() == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("basis", ["approximate", "finite-sample"])
def test_limit_is_met_at_the_scale_and_not_just_below(rng, mechanism, basis):
    sample = shifts(rng.exponential(size=300))
    goal = aim(basis=basis)
    scale = least_scale(sample, mechanism, goal)
    assert reached(goal, sample.gaps(mechanism, scale))
    assert not reached(goal, sample.gaps(mechanism, scale * (1 - 1e-9)))
    assert scale > least_scale(sample, mechanism, aim())
    found = estimate_gap(sample, mechanism, scale, goal, 0.95)
    assert found.value < found.upper <= 0.1 + 1e-12
    assert found.validity == basis


def test_sure_limit_holds_at_every_larger_scale(rng):
    sample, goal = shifts(rng.standard_cauchy(400) ** 2), aim(basis="finite-sample")
    scale = least_scale(sample, "gaussian", goal)
    assert all(reached(goal, sample.gaps("gaussian", scale * 2.0**k)) for k in range(30))
    assert not any(reached(goal, sample.gaps("gaussian", scale * 0.99**k)) for k in range(1, 30))


def test_few_or_equal_shifts_have_no_scale_or_any():
    assert least_scale(shifts(np.ones(20)), "gaussian", aim(basis="finite-sample")) == math.inf
    assert least_scale(shifts(np.zeros(20)), "gaussian", aim()) == 0
    # Most outputs are one and the same: any noise would do, and a little is added.
    rare = np.r_[np.zeros(99), 5.0]
    assert least_scale(shifts(rare), "laplace", aim()) == pytest.approx(0.5)


def test_rare_large_shifts_cost_their_share_only(rng):
    lengths = np.abs(rng.standard_normal(1000))
    plain = least_scale(shifts(lengths), "gaussian", aim())
    lengths[::100] = 1e9
    assert least_scale(shifts(lengths), "gaussian", aim()) < 1.3 * plain


def test_every_record_must_pass_or_their_mean():
    lengths, starts = np.array([1.0, 1.0, 4.0, 4.0, 4.0]), np.array([0, 2])
    mean = Shifts(lengths=lengths, starts=starts, estimator="mean-swap")
    each = Shifts(lengths=lengths, starts=starts, every_record=True, estimator="mean-swap")
    assert least_scale(each, "laplace", aim()) == pytest.approx(4 / (-2 * math.log(0.9)))
    scale = least_scale(mean, "laplace", aim())
    terms = mean.gaps("laplace", scale)
    assert terms == pytest.approx([-math.expm1(-1 / scale / 2), -math.expm1(-4 / scale / 2)])
    assert terms.mean() == pytest.approx(0.1)
    assert estimate_gap(each, "laplace", scale, aim(), 0.95).value == pytest.approx(terms[1])


def halves_of_proposition_9():
    """Return A(S) = 1 / sum of S over the halves of 14 records: one of 3432 is huge."""
    records = [2.0**power for power in range(1, 14)]
    records.append(1 / math.sqrt(math.comb(14, 7)) - sum(2.0**power for power in range(1, 7)))
    halves = list(combinations(range(14), 7))
    return 1 / np.array(records)[np.array(halves)].sum(axis=1)


def test_proposition_9_needs_the_documented_scales():
    outputs = halves_of_proposition_9()
    lengths = np.abs(outputs - np.median(outputs))
    assert lengths.mean() == pytest.approx(0.01723, abs=1e-5)
    assert least_scale(shifts(lengths), "laplace", aim()) == pytest.approx(0.00055, abs=1e-6)
    assert least_scale(shifts(lengths), "gaussian", aim()) == pytest.approx(0.000506, abs=1e-6)


def with_rare(rng, law, share, size):
    """Return draws of a law, moved by a million with a small probability."""

    def draw(count, dimension):
        points = law(rng, (count, dimension))
        points[rng.random(count) < share] += size
        return points

    return draw


def nasty_laws(rng):
    outputs = halves_of_proposition_9()

    def normal(g, shape):
        return g.standard_normal(shape)

    return {
        "two points": with_rare(rng, lambda _, shape: np.zeros(shape), 0.12, 1e6),
        "rare": with_rare(rng, normal, 0.05, 1e6),
        "at the edge": with_rare(rng, normal, 0.105, 1e6),
        "cauchy": lambda count, dimension: rng.standard_cauchy((count, dimension)),
        "proposition 9": lambda count, dimension: rng.choice(outputs, (count, dimension)),
    }


@pytest.mark.parametrize("dimension", [1, 5])
@pytest.mark.parametrize("name", ["two points", "rare", "at the edge", "cauchy", "proposition 9"])
def test_strict_scale_is_rarely_too_small(rng, name, dimension):
    """The guarantee: P(E h > eta) <= alpha, given whatever the first half made of m and F."""
    draw, runs, eta, alpha = nasty_laws(rng)[name], 400, 0.1, 0.05
    law = draw(10_000, dimension)
    misses = unbounded = 0
    for _ in range(runs):
        first, second = draw(60, dimension), draw(90, dimension)
        shape = isotropic_shape(np.ones(dimension))
        if dimension > 1:
            shape = diagonal_shape(first, np.ones(dimension))
        lengths = half_distances(first, second, shape)
        goal = aim(eta, "finite-sample", alpha)
        scale = least_scale(shifts(lengths), "gaussian", goal)
        unbounded += scale == math.inf
        if scale < math.inf:
            origin = np.median(first, axis=0)
            centre = spatial_median(shape.whiten(first - origin))
            true = np.linalg.norm(shape.whiten(law - origin) - centre, axis=1)
            gaps = shift_gaps("gaussian", true / scale) if scale > 0 else (true > 0) * 1.0
            misses += gaps.mean() > eta + 1e-3
    assert misses <= stats.binom.isf(1e-4, runs, alpha)
    # The test is not empty: scales are found.
    assert unbounded < runs * 0.98


@pytest.mark.parametrize("name", ["normal", "exponential", "t3", "cauchy", "rare"])
@pytest.mark.parametrize(("size", "share"), [(20, 0.05), (100, 0.06), (500, 0.06)])
def test_approximate_scale_misses_as_often_as_documented(rng, name, size, share):
    def rare(shape):
        return rng.standard_normal(shape) * np.where(rng.random(shape) < 0.03, 1e4, 1)

    draws = {"normal": rng.standard_normal, "cauchy": rng.standard_cauchy, "rare": rare}
    draws["exponential"] = lambda shape: rng.exponential(size=shape)
    draws["t3"] = lambda shape: rng.standard_t(3, shape)
    draw, eta, runs = draws[name], 0.2, 120
    law = draw((100_000, 1))
    true = np.abs(law - np.median(law))
    needed = brentq(lambda s: shift_gaps("gaussian", true / s).mean() - eta, 1e-3, 1e5)
    # Twenty outputs often show none of a rare kind.
    share = {"rare": 0.3, "cauchy": 0.15}.get(name, share) if size == 20 else share
    misses = 0
    for _ in range(runs):
        sample = distances_from_median(draw((size, 1)), rng)[0]
        scale = least_scale(shifts(sample), "gaussian", aim(eta, "approximate", 0.025))
        misses += scale < needed
    assert misses <= stats.binom.isf(1e-4, runs, share)


@pytest.mark.parametrize("shift", [0.3, 2.0])
def test_gap_bounds_norm_exponential_noise_in_the_plane(shift):
    axis = np.linspace(-25, 25, 1001)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    cell = (axis[1] - axis[0]) ** 2 / (2 * math.pi)
    ours, moved = np.exp(-np.hypot(x, y)), np.exp(-np.hypot(x - shift, y))
    bound = shift_gaps("norm-exponential", np.array([shift]))[0]
    assert bound / 2 < np.maximum(ours - moved, 0).sum() * cell <= bound


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_gap_goes_from_none_to_all(mechanism):
    ratios = np.array([0.0, 1e-12, 1.0, 5.0, 1e300, math.inf])
    gaps = shift_gaps(mechanism, ratios)
    assert (np.diff(gaps[:4]) > 0).all()
    assert list(gaps[[0, 4, 5]]) == [0, 1, 1]
    slope = {"gaussian": 1 / math.sqrt(2 * math.pi)}.get(mechanism, 0.5)
    assert gaps[1] == pytest.approx(slope * 1e-12, rel=1e-6)
    for ratio in (0.01, 0.4, 1.0, 3.0, 9.0) * (mechanism != "norm-exponential"):
        exact = gap_left(mechanism, ratio)
        assert shift_gaps(mechanism, np.array([ratio]))[0] == pytest.approx(exact, rel=1e-12)


def estimate_swap_distance(pairs, confidence=0.95, shape=None):
    """Return the estimates: of the largest over records if they are named, and of the mean."""
    shape = shape or isotropic_shape(np.ones(pairs[0].shape[1]))
    return [mean_swap(one, confidence) for one in swap_shifts(pairs, shape, "mean-swap")]


def make_pairs(rng, sizes, repeats):
    """Return pairs whose mean distance is the size of their record."""
    record = np.repeat(np.arange(len(sizes)), repeats)
    order = rng.permutation(record.size)
    angle = rng.uniform(0, 2 * np.pi, record.size)
    length = np.asarray(sizes)[record] * rng.exponential(size=record.size)
    in_side = rng.standard_normal((record.size, 2)) * 100
    out_side = in_side + length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    names = np.array([f"r{number:03d}" for number in record])
    return swap_pairs(in_side[order], out_side[order], names[order])


def by_record(pairs):
    lengths = np.linalg.norm(pairs[0] - pairs[1], axis=1)
    return [lengths[pairs[2] == name] for name in np.unique(pairs[2])]


def test_distances_are_means_by_record_in_the_norm_of_the_shape(rng):
    pairs = make_pairs(rng, [1, 2, 5], [10, 20, 9])
    means = [lengths.mean() for lengths in by_record(pairs)]
    shape = isotropic_shape(np.full(2, 4.0))
    for more, unit in (({}, 1), ({"shape": shape}, 4)):
        found = [one.value * unit for one in estimate_swap_distance(pairs, **more)]
        assert found == pytest.approx([max(means), np.mean(means)])


def test_limits_of_the_largest_are_shared_by_the_records(rng):
    pairs = make_pairs(rng, [1, 2, 5], 10)
    found = estimate_swap_distance(pairs, 0.9)[0]
    limits = np.array([mean_limits(terms, 0.05 / 3) for terms in by_record(pairs)])
    assert (found.lower, found.upper) == pytest.approx(tuple(limits.max(axis=0)))
    # Records without names have an average only.
    nameless = swap_pairs(*pairs[:2])
    (found,) = estimate_swap_distance(nameless)
    mean = np.linalg.norm(pairs[0] - pairs[1], axis=1).mean()
    assert (found.value, found.n_splits) == (pytest.approx(mean), 30)


def test_few_pairs_of_a_record_leave_its_limits_open(rng):
    found = estimate_swap_distance(make_pairs(rng, [1, 2], [30, 7]))
    assert (found[0].lower, found[0].upper) == (None, None)
    assert found[0].validity == "not-an-interval"
    assert found[-1].upper is not None
    # Equal sides have no distance.
    assert estimate_swap_distance(swap_pairs(np.ones((9, 2)), np.ones((9, 2))))[-1].value == 0


def test_limits_cover_the_largest_distance(rng):
    runs = 200
    sizes = [3, 3, 3, 2, 1]
    found = [estimate_swap_distance(make_pairs(rng, sizes, 40))[0] for _ in range(runs)]
    assert sum(estimate.upper < 3 for estimate in found) <= stats.binom.isf(1e-3, runs, 0.025)
    assert sum(estimate.lower > 3 for estimate in found) <= stats.binom.isf(1e-3, runs, 0.025)
    # The choice of the largest makes the estimate high, never low on average.
    assert 3 < np.mean([estimate.value for estimate in found]) < 4
