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
    prior = draw(st.floats(0.01, 0.99))
    share = draw(st.floats(1e-6, 1 - 1e-6))
    baseline = abs(2 * prior - 1)
    match draw(st.sampled_from(["advantage", "accuracy", "eta", "tpr_at_fpr"])):
        case "advantage":
            return target("advantage", baseline + share * (1 - baseline), prior=prior)
        case "accuracy":
            return target("accuracy", (1 + baseline + share * (1 - baseline)) / 2, prior=prior)
        case "eta":
            return target("eta", share * (1 - baseline) / 2, prior=prior)
        case _:
            fpr = draw(st.floats(1e-6, 0.5))
            return target("tpr_at_fpr", fpr + share * (1 - fpr), fpr=fpr)


@given(goal=targets(), delta=st.sampled_from([0.0, 1e-7, 0.01]), adjacency=ADJACENCIES)
def test_each_keeps_the_target_and_the_next_float_does_not(goal, delta, adjacency):
    found = needed(goal, delta=delta, adjacency=adjacency)

    def read(curve):
        return curve if adjacency == "substitution" else two_steps(curve)

    def approximate(epsilon):
        return read(ApproximateDP(epsilon=epsilon, delta=delta))

    def gaussian(mu):
        return read(GaussianDP(mu=mu))

    if found.epsilon is None:
        assert not goal.kept_by(approximate(0.0))
    else:
        assert goal.kept_by(approximate(found.epsilon))
        assert not goal.kept_by(approximate(math.nextafter(found.epsilon, math.inf)))
    assert goal.kept_by(gaussian(found.mu))
    assert not goal.kept_by(gaussian(math.nextafter(found.mu, math.inf)))


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


def test_closed_forms():
    found = needed(target("advantage", 0.1), sensitivity=3.0)
    assert found.epsilon == pytest.approx(2 * math.atanh(0.1), rel=1e-12)
    assert found.mu == pytest.approx(2 * norm.ppf(0.55), rel=1e-9)
    assert found.gaussian_sd == pytest.approx(3 / (2 * norm.ppf(0.55)), rel=1e-9)
    assert found.laplace_scale == pytest.approx(3 / (-2 * math.log(0.9)), rel=1e-12)
    assert (found.epsilon_reason, found.mu_reason) == (None, None)


def test_adding_or_removing_takes_two_steps():
    found = needed(target("advantage", 0.1), adjacency="add-remove")
    assert found.epsilon == pytest.approx(-math.log(0.9), rel=1e-12)  # not artanh(0.1)
    assert found.mu == pytest.approx(norm.ppf(0.55), rel=1e-9)
    assert found.laplace_scale == pytest.approx(1 / -math.log(0.9), rel=1e-12)


@pytest.mark.parametrize("adjacency", ["substitution", "add-remove"])
def test_three_names_for_one_target(adjacency):
    one = needed(target("advantage", 0.1), adjacency=adjacency)
    two = needed(target("accuracy", 0.55), adjacency=adjacency)
    three = needed(target("eta", 0.05), adjacency=adjacency)
    for other in (two, three):
        assert other.epsilon == pytest.approx(one.epsilon, rel=1e-12)
        assert other.mu == pytest.approx(one.mu, rel=1e-12)


def test_a_tpr_at_an_fpr():
    found = needed(target("tpr_at_fpr", 0.02, fpr=0.001))
    assert found.epsilon == pytest.approx(math.log(20), rel=1e-12)
    assert found.mu == pytest.approx(norm.ppf(0.02) - norm.ppf(0.001), rel=1e-9)
    with_delta = needed(target("tpr_at_fpr", 0.02, fpr=0.001), delta=0.01)
    assert with_delta.epsilon == pytest.approx(math.log(10), rel=1e-12)


def test_the_trivial_attacker_is_as_good_up_to_some_epsilon_at_other_priors():
    found = needed(target("advantage", 0.8, prior=0.1))
    assert found.epsilon == pytest.approx(math.log(9), rel=1e-12)
    assert found.laplace_scale == pytest.approx(1 / math.log(9), rel=1e-12)


def test_a_delta_that_is_too_much_leaves_no_epsilon():
    found = needed(target("advantage", 0.1), delta=0.2)
    assert found.epsilon is None
    assert found.epsilon_reason.code == "delta_allows_more"
    assert found.mu is not None


def test_a_target_that_allows_anything():
    found = needed(target("advantage", 1.0))
    assert (found.epsilon, found.mu) == (None, None)
    assert found.epsilon_reason.code == found.mu_reason.code == "any_attacker_allowed"
    assert (found.gaussian_sd, found.laplace_scale) == (0, 0)


@pytest.mark.parametrize("adjacency", ["substitution", "add-remove"])
@pytest.mark.parametrize(
    "goal",
    [
        target("advantage", 0.0),
        target("accuracy", 0.5),
        target("eta", 0.0),
        target("tpr_at_fpr", 0.001, fpr=0.001),
        target("tpr_at_fpr", 0.3, fpr=0.3),
    ],
    ids=lambda goal: f"{goal.quantity}-{goal.value}",
)
def test_a_target_that_allows_nothing_has_no_noise(goal, adjacency):
    found = needed(goal, adjacency=adjacency)
    assert found.epsilon == 0
    assert found.epsilon_reason is None
    assert found.mu is None
    assert found.mu_reason.code == "no_noise_hides"
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
    found = requirement(
        target("eta", 0.1), delta=0.0, adjacency="substitution", sensitivity=1.0, one_number=False
    )
    assert found.laplace_scale is None
    assert found.gaussian_sd > 0
