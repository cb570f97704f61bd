from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from mipaudit.errors import UsageError
from mipaudit.maths.privacy.accountant import account
from mipaudit.maths.privacy.composition import (
    ApproximatePart,
    Composition,
    DpSgd,
    GaussianPart,
    LaplacePart,
    ResponsePart,
)
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism, RandomizedResponse
from mipaudit.maths.privacy.points_of_curve import substituted

pytest.importorskip("dp_accounting")

RATES = (0.001, 0.01, 0.1, 0.5)


def of(*parts, adjacency="add-remove"):
    return account(Composition(parts=parts), adjacency)


def sgd(noise_multiplier, q, steps, adjacency="add-remove"):
    return of(DpSgd(noise_multiplier=noise_multiplier, q=q, steps=steps), adjacency=adjacency)


@pytest.fixture(scope="module")
def typical():
    return sgd(0.8, 0.01, 10_000)


# Gaussian noise: exact by theory


@pytest.mark.parametrize(
    ("noise", "count"), [(1.0, 1), (5.0, 100), (0.05, 1), (1000.0, 1), (1e4, 9), (30.0, 10**7)]
)
def test_gaussian_releases_from_above(noise, count):
    exact = GaussianDP(mu=math.sqrt(count) / noise)
    found = of(GaussianPart(noise_multiplier=noise, count=count))
    assert found.profile(0) == pytest.approx(exact.profile(0), rel=1e-9)
    for rate in RATES:
        assert found.tpr(rate) >= exact.tpr(rate) * (1 - 1e-9)
        assert found.tpr(rate) == pytest.approx(exact.tpr(rate), rel=1e-6)
    for epsilon in (exact.mu / 3, exact.mu, 2 * exact.mu):
        assert found.profile(epsilon) >= exact.profile(epsilon) * (1 - 1e-9)
        assert found.profile(epsilon) == pytest.approx(exact.profile(epsilon), rel=1e-5)
    assert found.loss == math.inf


def test_gaussian_parts_and_full_batches_are_one():
    parts = (GaussianPart(noise_multiplier=2.0, count=3), DpSgd(noise_multiplier=4.0, q=1, steps=4))
    exact = GaussianDP(mu=1)
    assert of(*parts).profile(0) == pytest.approx(exact.profile(0), rel=1e-9)
    twice = of(*parts, adjacency="substitution")
    assert twice.profile(0) == pytest.approx(GaussianDP(mu=2).profile(0), rel=1e-9)


# DP-SGD


def sampled_twice(noise_multiplier, q, epsilon, *, substitution):
    """Integrate two steps of DP-SGD over a square: a slow twin."""
    x = np.linspace(-9 * noise_multiplier - 1, 9 * noise_multiplier + 1, 3001)
    width = x[1] - x[0]

    def density(shift):
        z = (x - shift) / noise_multiplier
        return np.exp(-z * z / 2) / math.sqrt(2 * math.pi) / noise_multiplier * width

    out = density(0)
    one, other = (1 - q) * out + q * density(1), (1 - q) * out + q * density(-1)
    pairs = [(one, other)] if substitution else [(one, out), (out, one)]
    return max(
        float(np.maximum(np.outer(p, p) - math.exp(epsilon) * np.outer(r, r), 0).sum())
        for p, r in pairs
    )


@pytest.mark.parametrize("adjacency", ["add-remove", "substitution"])
@pytest.mark.parametrize(("noise", "q"), [(0.8, 0.1), (2.0, 0.5)])
def test_two_steps_by_integration(noise, q, adjacency):
    found = sgd(noise, q, 2, adjacency)
    for epsilon in (0, 0.1, 0.5, 1.5):
        exact = sampled_twice(noise, q, epsilon, substitution=adjacency == "substitution")
        assert found.profile(epsilon) >= exact * (1 - 5e-6)
        assert found.profile(epsilon) == pytest.approx(exact, rel=3e-5)


@pytest.mark.parametrize(("noise", "q"), [(1.0, 0.01), (0.01, 0.01), (1000.0, 0.3), (0.3, 1e-6)])
def test_one_step_in_closed_form(noise, q):
    found, plain = sgd(noise, q, 1), GaussianDP(mu=1 / noise)
    assert found.profile(0) == pytest.approx(q * plain.profile(0), rel=1e-6)

    def exact(epsilon):
        return q * plain.profile(math.log1p(math.expm1(epsilon) / q))

    for dot, following in found.epsilon[[1, 2, 10, 11, 1000, 1001]].reshape(3, 2):
        assert found.profile(dot) == pytest.approx(exact(dot), rel=1e-6, abs=1e-15)
        # Between the dots the curve is above.
        between = (dot + following) / 2
        assert found.profile(between) > exact(between) * (1 - 1e-12)


def test_many_small_steps_are_gaussian():
    # The central limit theorem of Dong, Roth and Su 2022, Corollary 5.4.
    found = sgd(20.0, 0.001, 10**6)
    mu = 0.001 * math.sqrt(10**6 * math.expm1(1 / 400))
    assert found.profile(0) == pytest.approx(GaussianDP(mu=mu).profile(0), rel=1e-3)
    assert found.tpr(0.01) == pytest.approx(GaussianDP(mu=mu).tpr(0.01), rel=1e-3)


def test_typical_dp_sgd_stays_what_it_was(typical):
    # The extrapolation of dp-accounting's direction "remove" to an interval of 0.
    assert typical.profile(0) == pytest.approx(0.64563554, rel=1e-5)
    assert typical.profile(0) > 0.64563553
    assert typical.tpr(0.001) == pytest.approx(0.119702, rel=1e-4)
    assert typical.tpr(0.01) == pytest.approx(0.331748, rel=1e-4)
    assert typical.epsilon_at(1e-5) == pytest.approx(10.0543, abs=1e-3)
    assert 0 < typical.excess_of_grid < 1e-5
    assert typical.profile(0) - typical.excess_of_grid == pytest.approx(0.64563554, rel=1e-7)


def test_published_epsilons_of_a_dp_adam():
    # Opacus' PRV accountant gives .924 where its Renyi accountant gives .9998, and .0996
    # for .1 (200 of 10,000 records per step, 5,000 steps, delta 1e-5); its margin is .01.
    assert sgd(5.79285, 0.02, 5000).epsilon_at(1e-5) == pytest.approx(0.924 - 0.01, abs=5e-4)
    assert sgd(48.1003, 0.02, 5000).epsilon_at(1e-5) == pytest.approx(0.0996 - 0.01, abs=5e-5)


def test_grows_with_steps_and_sampling_and_falls_with_noise():
    base = sgd(1.0, 0.01, 1000)
    for more in (sgd(1.0, 0.01, 1100), sgd(1.0, 0.011, 1000), sgd(0.95, 0.01, 1000)):
        assert more.profile(0) > base.profile(0)
        assert more.tpr(0.001) > base.tpr(0.001)
        assert more.epsilon_at(1e-5) > base.epsilon_at(1e-5)


def test_substitution_is_between_one_step_and_two(typical):
    direct, twice = sgd(0.8, 0.01, 10_000, "substitution"), substituted(typical)
    assert direct.profile(0) == pytest.approx(0.8531073, rel=1e-5)
    for rate in RATES:
        assert typical.tpr(rate) < direct.tpr(rate) < twice.tpr(rate)
    assert typical.profile(0) < direct.profile(0) < twice.profile(0)


def test_agrees_with_dp_accounting_where_its_roundings_are_small(typical):
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    step = from_gaussian_mechanism(0.8, sampling_prob=0.01, value_discretization_interval=5e-4)
    theirs = step.self_compose(10_000)
    for epsilon in (0, 1.0, 4.0):
        # Their coarser grid is above.
        found = theirs.get_delta_for_epsilon(epsilon)
        assert typical.profile(epsilon) < found
        assert typical.profile(epsilon) == pytest.approx(found, rel=5e-4)
    assert typical.epsilon_at(1e-5) == pytest.approx(theirs.get_epsilon_for_delta(1e-5), rel=1e-4)


@pytest.mark.parametrize("adjacency", ["add-remove", "substitution"])
def test_a_fine_grid_gathers_no_rounding_errors(adjacency, monkeypatch):
    coarse = sgd(1.0, 0.02, 2000, adjacency)
    monkeypatch.setattr("mipaudit.maths.privacy.accountant._BLUR", 0.001)
    fine = sgd(1.0, 0.02, 2000, adjacency)
    assert fine.epsilon[1] < coarse.epsilon[1] / 4
    assert fine.profile(0) < coarse.profile(0)
    assert fine.profile(0) == pytest.approx(coarse.profile(0) - coarse.excess_of_grid, rel=1e-6)


def test_agrees_with_riskcal(typical):
    analysis = pytest.importorskip("riskcal.analysis")
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    step = from_gaussian_mechanism(0.8, sampling_prob=0.01, value_discretization_interval=1e-3)
    theirs = step.self_compose(10_000)
    advantage = analysis.get_advantage_from_pld(theirs)
    assert typical.profile(0) == pytest.approx(advantage, rel=3e-4)
    rates = np.array([0.01, 0.1, 0.5, 0.9])
    misses = analysis.get_beta_from_pld(theirs, rates)
    assert [typical.fnr(rate) for rate in rates] == pytest.approx(misses.tolist(), rel=1e-3)


@pytest.mark.parametrize(
    ("noise", "q", "steps"),
    [
        (0.01, 0.01, 1000),
        (1000.0, 1e-3, 10**7),
        (0.8, 1e-9, 10**5),
        (1.0, 0.999999, 10),
        (1.0, 1, 1),
    ],
)
@pytest.mark.parametrize("adjacency", ["add-remove", "substitution"])
def test_the_ends_of_the_range_give_curves(noise, q, steps, adjacency, capfd):
    curve = sgd(noise, q, steps, adjacency)
    assert np.isfinite(curve.delta).all()
    assert (np.diff(curve.delta) <= 0).all()
    assert 0 < curve.profile(0) <= 1
    assert 0.001 < curve.tpr(0.001) <= curve.tpr(0.01) <= 1
    assert 0 <= curve.excess_of_grid <= curve.profile(0)
    assert capfd.readouterr() == ("", "")


# Other mechanisms


@pytest.mark.parametrize("categories", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 5.0])
def test_one_randomized_response_in_closed_form(epsilon, categories):
    truth = math.exp(epsilon) / (math.exp(epsilon) + categories - 1)
    exact = RandomizedResponse(truth=truth, categories=categories)
    found = of(ResponsePart(truth=truth, categories=categories), adjacency="substitution")
    assert found.loss == pytest.approx(epsilon, rel=1e-9)
    for at in (0, 0.5 * epsilon, 0.99 * epsilon, 1.01 * epsilon):
        assert found.profile(at) == pytest.approx(exact.profile(at), rel=1e-9, abs=1e-16)
    for rate in RATES:
        assert found.tpr(rate) == pytest.approx(exact.tpr(rate), rel=1e-9)


def test_randomized_responses_by_enumeration():
    truth, categories, count = 0.6, 3, 4
    lie = (1 - truth) / (categories - 1)
    answers = [(truth, lie), (lie, truth), (lie, lie)]
    found = of(
        ResponsePart(truth=truth, categories=categories, count=count), adjacency="substitution"
    )
    for epsilon in (0, 0.7, 1.0, 2.5, 4.0):
        exact = sum(
            max(
                0, math.prod(p for p, _ in seen) - math.exp(epsilon) * math.prod(q for _, q in seen)
            )
            for seen in product(answers, repeat=count)
        )
        assert found.profile(epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-15)
    assert found.excess_of_grid == 0


def test_randomized_response_says_nothing_of_adding_a_record():
    with pytest.raises(UsageError) as caught:
        of(ResponsePart(truth=0.7))
    assert caught.value.code == "adjacency_mismatch"


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (0.5, 1e-3), (0.0, 0.01), (3.0, 0.2)])
def test_approximate_parts_compose_to_the_optimum(epsilon, delta, count):
    # Kairouz, Oh and Viswanath 2015, Theorem 3.3, for a homogeneous composition.
    found = of(ApproximatePart(epsilon=epsilon, delta=delta, count=count))
    for wins in range(count // 2 + 1):
        at = (count - 2 * wins) * epsilon
        inner = (
            sum(
                math.comb(count, i) * (math.exp((count - i) * epsilon) - math.exp(at + i * epsilon))
                for i in range(wins)
            )
            / (1 + math.exp(epsilon)) ** count
        )
        exact = 1 - (1 - delta) ** count * (1 - inner)
        assert found.profile(at) == pytest.approx(exact, rel=1e-9, abs=1e-14)
    assert found.loss == (count * epsilon if delta == 0 else math.inf)


def test_an_approximate_part_by_substitution_goes_twice_through_its_curve():
    part = ApproximatePart(epsilon=1.0, delta=1e-5)
    exact = TwoStepDP(step=ApproximateDP(epsilon=1.0, delta=1e-5))
    found = of(part, adjacency="substitution")
    for epsilon in (0, 0.5, 1.0, 1.7, 2.0, 5.0):
        assert found.profile(epsilon) == pytest.approx(exact.profile(epsilon), rel=1e-9)
    stated = of(
        ApproximatePart(epsilon=1.0, delta=1e-5, adjacency="substitution"), adjacency="substitution"
    )
    assert stated.profile(0) == pytest.approx(of(part).profile(0), rel=1e-12)


def test_an_approximate_part_by_substitution_says_nothing_of_adding_a_record():
    with pytest.raises(UsageError, match="hides only that a record is replaced"):
        of(ApproximatePart(epsilon=1.0, adjacency="substitution"))


@pytest.mark.parametrize(("noise", "adjacency"), [(0.5, "add-remove"), (1.0, "substitution")])
def test_one_laplace_release(noise, adjacency):
    found, exact = (
        of(LaplacePart(noise_multiplier=noise), adjacency=adjacency),
        LaplaceMechanism(shift=2),
    )
    assert found.loss == 2
    for epsilon in (0, 0.5, 1.9, 2.0):
        assert found.profile(epsilon) == pytest.approx(exact.profile(epsilon), rel=1e-9)
    for rate in RATES:
        assert found.tpr(rate) == pytest.approx(exact.tpr(rate), rel=1e-8)


def test_laplace_releases_agree_with_dp_accounting():
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    theirs = from_laplace_mechanism(3.0, value_discretization_interval=1e-3).self_compose(20)
    found = of(LaplacePart(noise_multiplier=3.0, count=20))
    for epsilon in (0.0, 1.0, 3.0):
        assert found.profile(epsilon) == pytest.approx(
            theirs.get_delta_for_epsilon(epsilon), rel=5e-5
        )
    assert found.loss == pytest.approx(20 / 3)
    assert found.profile(20 / 3 + 1e-9) == 0


def test_a_mixture_agrees_with_dp_accounting():
    from dp_accounting.pld import privacy_loss_distribution as pld
    from dp_accounting.pld.common import DifferentialPrivacyParameters

    grid = {"value_discretization_interval": 1e-3}
    theirs = pld.from_gaussian_mechanism(2.0, **grid)
    theirs = theirs.compose(pld.from_laplace_mechanism(3.0, **grid).self_compose(4))
    theirs = theirs.compose(
        pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, **grid).self_compose(1000)
    )
    claim = DifferentialPrivacyParameters(0.1, 1e-6)
    theirs = theirs.compose(pld.from_privacy_parameters(claim, **grid).self_compose(3))
    found = of(
        GaussianPart(noise_multiplier=2.0),
        LaplacePart(noise_multiplier=3.0, count=4),
        DpSgd(noise_multiplier=1.0, q=0.01, steps=1000),
        ApproximatePart(epsilon=0.1, delta=1e-6, count=3),
    )
    for epsilon in (0.0, 1.0, 2.0):
        assert found.profile(epsilon) == pytest.approx(
            theirs.get_delta_for_epsilon(epsilon), rel=5e-3
        )
    assert found.delta[-1] == pytest.approx(3e-6, rel=1e-4)


def test_the_order_of_parts_does_not_matter():
    parts = [
        LaplacePart(noise_multiplier=2.0),
        ApproximatePart(epsilon=0.3),
        DpSgd(noise_multiplier=1.0, q=0.1, steps=3),
    ]
    assert of(*parts).profile(0.2) == pytest.approx(of(*parts[::-1]).profile(0.2), rel=1e-12)


def test_a_part_that_releases_nothing():
    empty = of(ApproximatePart(epsilon=0.0))
    assert (empty.profile(0), empty.loss, empty.tpr(0.2)) == pytest.approx((0, 0, 0.2))
    found = of(ApproximatePart(epsilon=0.0), ApproximatePart(epsilon=1.0))
    assert found.profile(0) == pytest.approx(math.tanh(0.5), rel=1e-12)


def test_ten_million_uses_end_in_time():
    certain = of(ResponsePart(truth=0.75, count=10**7), adjacency="substitution")
    assert certain.profile(0) == pytest.approx(1, abs=1e-12)
    small = of(ApproximatePart(epsilon=1e-4, count=10**7))
    assert small.profile(0) == pytest.approx(0.1256329, rel=1e-5)
