from __future__ import annotations

import pytest

from mipaudit.maths.privacy.approximate import ApproximateDP, TwoStepDP
from mipaudit.maths.privacy.concentrated import ZeroConcentrated
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.maths.privacy.substitution import two_steps

STEP = ApproximateDP(epsilon=1.0, delta=0.01)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (STEP, TwoStepDP(step=STEP)),
        (GaussianDP(mu=0.7), GaussianDP(mu=1.4)),
        (LaplaceMechanism(shift=0.7), LaplaceMechanism(shift=1.4)),
        (
            GeometricMechanism(scale=2.0, sensitivity=3),
            GeometricMechanism(scale=2.0, sensitivity=6),
        ),
        (ZeroConcentrated(rho=0.7), ZeroConcentrated(rho=2.8)),
    ],
)
def test_two_steps(one, two):
    assert two_steps(one) == two


@pytest.mark.parametrize(
    "curve",
    [
        STEP,
        GaussianDP(mu=0.7),
        LaplaceMechanism(shift=0.7),
        GeometricMechanism(scale=2.0, sensitivity=3),
        ZeroConcentrated(rho=0.2),
    ],
)
@pytest.mark.parametrize("fpr", [1e-6, 0.01, 0.3, 0.8])
def test_two_steps_are_within_the_curve_composed_with_itself(curve, fpr):
    assert curve.tpr(fpr) <= two_steps(curve).tpr(fpr)
    if not isinstance(curve, ZeroConcentrated):  # 4 rho knows less than the curve
        assert two_steps(curve).tpr(fpr) <= curve.tpr(curve.tpr(fpr)) + 1e-15


def test_a_curve_that_is_stated_by_substitution_only_is_refused():
    with pytest.raises(TypeError, match="RandomizedResponse"):
        two_steps(RandomizedResponse(truth=0.7, categories=2))
