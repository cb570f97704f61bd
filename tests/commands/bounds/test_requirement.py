"""The weakest guarantee that keeps a target: there and back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from mipaudit.commands.bounds.requirement import Target, requirement
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, two_steps
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism

ADJACENCIES = st.sampled_from(["substitution", "add-remove"])


def target(quantity, value, *, fpr=None, prior=0.5):
    return Target(quantity=quantity, value=value, fpr=fpr, prior=prior)


def needed(goal, *, delta=0.0, adjacency="substitution", sensitivity=1.0):
    return requirement(goal, delta=delta, adjacency=adjacency, sensitivity=sensitivity)


@st.composite
def targets(draw):
    prior, share = draw(st.floats(0.01, 0.99)), draw(st.floats(1e-6, 1 - 1e-6))
    baseline, fpr = abs(2 * prior - 1), draw(st.floats(1e-6, 0.5))
    quantity, value, more = draw(
        st.sampled_from(
            [
                ("advantage", baseline + share * (1 - baseline), {"prior": prior}),
                ("accuracy", (1 + baseline + share * (1 - baseline)) / 2, {"prior": prior}),
                ("eta", share * (1 - baseline) / 2, {"prior": prior}),
                ("tpr_at_fpr", fpr + share * (1 - fpr), {"fpr": fpr}),
            ]
        )
    )
    return target(quantity, value, **more)


@given(goal=targets(), delta=st.sampled_from([0.0, 1e-7, 0.01]), adjacency=ADJACENCIES)
def test_each_keeps_the_target_and_the_next_float_does_not(goal, delta, adjacency):
    found = needed(goal, delta=delta, adjacency=adjacency)

    def kept(curve):
        return goal.kept_by(curve if adjacency == "substitution" else two_steps(curve))

    def approximate(epsilon):
        return kept(ApproximateDP(epsilon=epsilon, delta=delta))

    if found.epsilon is None:
        assert not approximate(0.0)
    else:
        assert approximate(found.epsilon)
        assert not approximate(math.nextafter(found.epsilon, math.inf))
    assert kept(GaussianDP(mu=found.mu))
    assert not kept(GaussianDP(mu=math.nextafter(found.mu, math.inf)))


@given(goal=targets(), adjacency=ADJACENCIES, sensitivity=st.floats(1e-6, 1e6))
def test_the_noise_keeps_the_target_and_a_little_less_does_not(goal, adjacency, sensitivity):
    found = needed(goal, adjacency=adjacency, sensitivity=sensitivity)
    for scale, mechanism in (
        (found.gaussian_sd, lambda s: GaussianDP(mu=sensitivity / s)),
        (found.laplace_scale, lambda s: LaplaceMechanism(shift=sensitivity / s)),
    ):
        enough, less = mechanism(scale * (1 + 1e-9)), mechanism(scale * (1 - 1e-6))
        if adjacency == "add-remove":
            enough, less = two_steps(enough), two_steps(less)
        assert goal.kept_by(enough)
        # Where the target is that of guessing, what is over may be too small for a float.
        assert not goal.kept_by(less) or goal.quantity == "tpr_at_fpr"


TENTH, RARE = target("advantage", 0.1), target("tpr_at_fpr", 0.02, fpr=0.001)
UNEVEN = target("advantage", 0.8, prior=0.1)
MU = 2 * norm.ppf(0.55)


@pytest.mark.parametrize(
    ("goal", "asked", "wanted"),
    [
        (
            TENTH,
            {"sensitivity": 3.0},
            {
                "epsilon": 2 * math.atanh(0.1),
                "mu": MU,
                "gaussian_sd": 3 / MU,
                "laplace_scale": 3 / (-2 * math.log(0.9)),
            },
        ),
        # Adding or removing takes two steps: not artanh(0.1).
        (
            TENTH,
            {"adjacency": "add-remove"},
            {"epsilon": -math.log(0.9), "mu": MU / 2, "laplace_scale": 1 / -math.log(0.9)},
        ),
        # Three names for one target.
        (target("accuracy", 0.55), {}, {"epsilon": 2 * math.atanh(0.1), "mu": MU}),
        (target("eta", 0.05), {}, {"epsilon": 2 * math.atanh(0.1), "mu": MU}),
        (target("eta", 0.05), {"adjacency": "add-remove"}, {"epsilon": -math.log(0.9)}),
        (RARE, {}, {"epsilon": math.log(20), "mu": norm.ppf(0.02) - norm.ppf(0.001)}),
        (RARE, {"delta": 0.01}, {"epsilon": math.log(10)}),
        # The trivial attacker is as good up to some epsilon at other priors.
        (UNEVEN, {}, {"epsilon": math.log(9), "laplace_scale": 1 / math.log(9)}),
    ],
)
def test_closed_forms(goal, asked, wanted):
    found = needed(goal, **asked)
    for name, value in wanted.items():
        exact = 1e-9 if name in {"mu", "gaussian_sd"} else 1e-12
        assert getattr(found, name) == pytest.approx(value, rel=exact)
    assert (found.epsilon_reason, found.mu_reason) == (None, None)


def test_a_target_that_allows_too_much_or_anything_has_a_reason():
    found = needed(TENTH, delta=0.2)
    assert (found.epsilon, found.epsilon_reason.code) == (None, "delta_allows_more")
    assert found.mu is not None
    found = needed(target("advantage", 1.0))
    assert (found.epsilon, found.mu) == (None, None)
    assert found.epsilon_reason.code == found.mu_reason.code == "any_attacker_allowed"
    assert (found.gaussian_sd, found.laplace_scale) == (0, 0)


@pytest.mark.parametrize("adjacency", ["substitution", "add-remove"])
@pytest.mark.parametrize(
    "goal",
    [
        *(target(name, value) for name, value in (("advantage", 0), ("accuracy", 0.5), ("eta", 0))),
        *(target("tpr_at_fpr", fpr, fpr=fpr) for fpr in (0.001, 0.3)),
    ],
    ids=str,
)
def test_a_target_that_allows_nothing_has_no_noise(goal, adjacency):
    found = needed(goal, adjacency=adjacency)
    assert (found.epsilon, found.epsilon_reason) == (0, None)
    assert (found.mu, found.mu_reason.code) == (None, "no_noise_hides")
    assert (found.gaussian_sd, found.laplace_scale) == (None, None)


def test_a_baseline_may_be_off_by_a_rounding():
    # |2 * 0.35 - 1| is 0.30000000000000004.
    found = needed(target("advantage", 0.3, prior=0.35))
    assert found.epsilon == pytest.approx(math.log(0.65 / 0.35), rel=1e-9)


@pytest.mark.parametrize(
    ("value", "exact"), [(1e-300, 1e-9), (1e-12, 1e-9), (1 - 1e-12, 1e-4), (1 - 2**-53, 0.1)]
)
def test_ends(value, exact):
    for adjacency in ("substitution", "add-remove"):
        found = needed(target("advantage", value), adjacency=adjacency, sensitivity=1e3)
        steps = 1 if adjacency == "substitution" else 2
        assert 0 < found.epsilon < 40
        assert 0 < found.mu < 20
        # Next to 1 an advantage has few digits left of its complement.
        scale = 1e3 * steps / (-2 * math.log1p(-value))
        assert found.laplace_scale == pytest.approx(scale, rel=exact)


def test_noise_beyond_the_floats_is_none():
    found = needed(target("advantage", 1e-12), sensitivity=1e300)
    assert found.mu == pytest.approx(2.5066e-12, rel=1e-4)
    assert (found.gaussian_sd, found.laplace_scale) == (None, None)


def test_laplace_noise_is_for_one_number():
    asked = {"delta": 0.0, "adjacency": "substitution", "sensitivity": 1.0, "one_number": False}
    found = requirement(target("eta", 0.1), **asked)
    assert found.laplace_scale is None
    assert found.gaussian_sd > 0
