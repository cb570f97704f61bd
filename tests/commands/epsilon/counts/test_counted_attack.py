"""The conditional limit of a table of counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from mipaudit.commands.epsilon.counts.counted_attack import (
    conditional_from_counts,
    estimate_from_counts,
    pooled_limit,
    smoothed_rates,
)


@pytest.mark.parametrize("numerator", ["either", "member", "holdout", "both"])
@pytest.mark.parametrize("sizes", [(30, 30), (20, 60)])
def test_randomized_response_is_rarely_found_worse_than_it_is(numerator, sizes):
    epsilon, alpha = 1.0, 0.1
    right = math.e / (1 + math.e)
    error = 0.0
    for tp in range(sizes[0] + 1):
        for tn in range(sizes[1] + 1):
            lower, _ = conditional_from_counts(
                tp, sizes[0] - tp, sizes[1] - tn, tn, numerator=numerator, delta=0.0, alpha=alpha
            )
            if lower > epsilon:
                error += binom.pmf(tp, sizes[0], right) * binom.pmf(tn, sizes[1], right)
    assert 0.005 < error <= alpha


def test_either_takes_the_better_class_at_half_the_error():
    counts = (60, 40, 1, 99)
    found, numerator = conditional_from_counts(*counts, numerator="either", delta=0.0, alpha=0.05)
    halves = {
        one: conditional_from_counts(*counts, numerator=one, delta=0.0, alpha=0.025)[0]
        for one in ("member", "holdout")
    }
    assert numerator == "member"
    assert found == halves["member"] > halves["holdout"]


def test_what_delta_explains_does_not_count():
    counts = (60, 940, 0, 1000)
    limits = [
        conditional_from_counts(*counts, numerator="member", delta=delta, alpha=0.05)[0]
        for delta in (0.0, 1e-5, 0.01, 0.03, 0.06, 0.5, 1.0)
    ]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] > 2.5
    assert limits[-1] == limits[-2] == 0


def test_estimates_are_finite_and_near_the_plug_in():
    assert estimate_from_counts(10, 0, 0, 10, delta=0.0) == pytest.approx(math.log(21))
    assert estimate_from_counts(900, 100, 100, 900, delta=0.0) == pytest.approx(2.197, abs=0.01)
    assert smoothed_rates(0, 0, 0, 1) == (0.5, 0.25)


def test_mirrored_sets_of_equal_classes_pool():
    limit = pooled_limit()
    for right in np.arange(90, 100):
        both, _ = conditional_from_counts(
            right, 100 - right, 100 - right, right, numerator="both", delta=1e-4, alpha=0.05
        )
        pooled = limit(2 * right, 200, 200 - 2 * right, 200, 1e-4, 0.05)
        assert pooled == pytest.approx(both, abs=1e-12)
