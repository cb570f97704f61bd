from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mipaudit.commands.noise.calibration import SwapPairs, mean_swap, swap_shifts
from mipaudit.commands.noise.mechanism import isotropic_shape, mean_limits


def estimate_swap_distance(pairs, confidence=0.95, shape=None):
    """Return the estimates: of the largest over records if they are named, and of the mean."""
    shape = shape or isotropic_shape(np.ones(pairs.in_side.shape[1]))
    return [mean_swap(one, confidence) for one in swap_shifts(pairs, shape, "mean-swap")]


def make_pairs(rng, sizes, repeats, *, named=True):
    """Return pairs whose mean distance is the size of their record."""
    record = np.repeat(np.arange(len(sizes)), repeats)
    order = rng.permutation(record.size)
    angle = rng.uniform(0, 2 * np.pi, record.size)
    length = np.asarray(sizes)[record] * rng.exponential(size=record.size)
    in_side = rng.standard_normal((record.size, 2)) * 100
    out_side = in_side + length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    names = np.array([f"r{number:03d}" for number in record])
    return SwapPairs(
        in_side=in_side[order], out_side=out_side[order], record=names[order] if named else None
    )


def slow_means(pairs):
    found = {}
    for a, b, record in zip(pairs.in_side, pairs.out_side, pairs.record, strict=True):
        found.setdefault(record, []).append(np.sqrt(((a - b) ** 2).sum()))
    return np.array([np.mean(lengths) for lengths in found.values()])


def test_distances_are_means_by_record(rng):
    pairs = make_pairs(rng, [1, 2, 5], [10, 20, 9])
    found = estimate_swap_distance(pairs)
    assert found[0].value == pytest.approx(slow_means(pairs).max())
    assert found[-1].value == pytest.approx(slow_means(pairs).mean())


def test_limits_of_the_largest_are_shared_by_the_records(rng):
    pairs = make_pairs(rng, [1, 2, 5], 10)
    lengths = np.linalg.norm(pairs.in_side - pairs.out_side, axis=1)
    by_record = [lengths[pairs.record == name] for name in np.unique(pairs.record)]
    found = estimate_swap_distance(pairs, 0.9)[0]
    limits = np.array([mean_limits(terms, 0.05 / 3) for terms in by_record])
    assert (found.lower, found.upper) == pytest.approx(tuple(limits.max(axis=0)))


def test_records_without_names_have_an_average_only(rng):
    pairs = make_pairs(rng, [1, 2, 5], 10, named=False)
    found = estimate_swap_distance(pairs)
    assert len(found) == 1
    lengths = np.linalg.norm(pairs.in_side - pairs.out_side, axis=1)
    assert found[-1].value == pytest.approx(lengths.mean())
    assert found[-1].n_splits == 30


def test_few_pairs_of_a_record_leave_its_limits_open(rng):
    found = estimate_swap_distance(make_pairs(rng, [1, 2], [30, 7]))
    assert (found[0].lower, found[0].upper) == (None, None)
    assert found[0].validity == "not-an-interval"
    assert found[-1].upper is not None


def test_limits_cover_the_largest_distance(rng):
    runs = 200
    sizes = [3, 3, 3, 2, 1]
    found = [estimate_swap_distance(make_pairs(rng, sizes, 40))[0] for _ in range(runs)]
    assert sum(estimate.upper < 3 for estimate in found) <= stats.binom.isf(1e-3, runs, 0.025)
    assert sum(estimate.lower > 3 for estimate in found) <= stats.binom.isf(1e-3, runs, 0.025)
    # The choice of the largest makes the estimate high, never low on average.
    assert 3 < np.mean([estimate.value for estimate in found]) < 4


def test_distance_is_in_the_norm_of_the_shape(rng):
    pairs = make_pairs(rng, [1, 2, 5], 10)
    shape = isotropic_shape(np.full(2, 4.0))
    plain, shaped = estimate_swap_distance(pairs), estimate_swap_distance(pairs, shape=shape)
    assert shaped[0].value == pytest.approx(plain[0].value / 4)


def test_equal_sides_have_no_distance():
    same = np.ones((9, 2))
    found = estimate_swap_distance(SwapPairs(in_side=same, out_side=same))
    assert found[-1].value == 0
