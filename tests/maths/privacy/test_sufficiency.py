from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism
from mipaudit.maths.privacy.sufficiency import largest_within


def pure(epsilon):
    return ApproximateDP(epsilon=epsilon, delta=0.0)


def gaussian(mu):
    return GaussianDP(mu=mu)


def laplace(shift):
    return LaplaceMechanism(shift=shift)


@given(st.floats(1e-12, 1 - 1e-6), st.sampled_from([pure, gaussian, laplace]))
def test_the_largest_keeps_the_limit_and_the_next_float_does_not(limit, family):
    largest = largest_within(family, lambda curve: curve.profile(0.0) <= limit)
    assert family(largest).profile(0.0) <= limit
    assert family(math.nextafter(largest, math.inf)).profile(0.0) > limit


@pytest.mark.parametrize("limit", [1e-300, 1e-9, 0.1, 0.9])
def test_closed_forms(limit):
    def within(curve):
        return curve.profile(0.0) <= limit

    assert largest_within(pure, within) == pytest.approx(2 * math.atanh(limit), rel=1e-12)
    assert largest_within(laplace, within) == pytest.approx(-2 * math.log1p(-limit), rel=1e-12)


def test_none_if_not_even_zero_will_do():
    assert largest_within(lambda e: ApproximateDP(epsilon=e, delta=0.1), within=narrow) is None


def test_zero_if_only_zero_will_do():
    assert largest_within(gaussian, lambda curve: curve.profile(0.0) == 0) == 0


def test_infinity_if_anything_will_do():
    assert largest_within(gaussian, lambda _: True) == math.inf


def narrow(curve):
    return curve.profile(0.0) <= 0.05
