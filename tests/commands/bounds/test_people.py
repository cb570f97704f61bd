"""Guesses about a person: enumerated against every attacker, and there and back."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import norm

from mipaudit import bounds
from mipaudit.maths.privacy.mechanism import GaussianDP, GeometricMechanism, RandomizedResponse
from mipaudit.report.forms import report_text
from mipaudit.report.messages.told import told

_EXACT = 1e-10


def best_success(laws, reference, prior, baseline):
    """Return the most that any attacker gets right who gets ``baseline`` right of the reference.

    A linear programme over all attackers who answer at random: after each output any value with
    any probability, or none.

    Args:
        laws: P(output | value), shape (values, outputs).
        reference: P(output) without the record, shape (outputs,).
        prior: of the values, shape (values,).
        baseline: in [0, 1].
    """
    values, outputs = laws.shape
    gain = (prior[:, None] * laws).ravel()
    known = (prior[:, None] * reference).ravel()
    answers_once = np.tile(np.eye(outputs), values)
    limits = np.vstack([known, answers_once]), np.concatenate([[baseline], np.ones(outputs)])
    exact = {"primal_feasibility_tolerance": _EXACT}
    found = linprog(-gain, *limits, bounds=(0, None), method="highs", options=exact)
    assert found.success
    return -found.fun


def responses(truth, categories):
    other = (1 - truth) / (categories - 1)
    return np.full((categories, categories), other) + np.eye(categories) * (truth - other)


def geometric(scale, values, edge=22):
    """Return P(value + noise = output), the far outputs taken together."""
    noise = np.exp(-np.abs(np.arange(-edge, edge + 1)[None, :] - np.array(values)[:, None]) / scale)
    noise *= np.tanh(0.5 / scale)
    noise[:, 0] += (1 - noise.sum(axis=1)) / 2
    noise[:, -1] += 1 - noise.sum(axis=1)
    return noise


def within(curve, baseline):
    """Return the limit, and room for what the programme's solution is off."""
    return curve.tpr(min(1, baseline + 100 * _EXACT)) + 1e-8


PRIORS = st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda p: sum(p) > 0.1)


RELEASES = st.one_of(
    st.floats(0.05, 0.95).map(
        lambda truth: (responses(truth, 4), RandomizedResponse(truth=truth, categories=4))
    ),
    st.sampled_from([0.4, 1.0, 3.0]).map(
        lambda scale: (
            geometric(scale, (0, 1, 2, 3)),
            GeometricMechanism(scale=scale, sensitivity=3),
        )
    ),
)


@settings(max_examples=150)
@given(prior=PRIORS, baseline=st.floats(0, 1), release=RELEASES)
def test_no_attacker_of_a_response_or_of_geometric_noise_exceeds_it(prior, baseline, release):
    laws, curve = release
    prior = np.array(prior) / sum(prior)
    for reference in laws:
        assert best_success(laws, reference, prior, baseline) <= within(curve, baseline)


def test_some_attacker_reaches_it():
    """Which of three others a person answered, and on which side of the reference a number is."""
    curve = RandomizedResponse(truth=0.6, categories=4)
    laws = responses(0.6, 4)
    for baseline in (0.0, 0.05, curve.rare):
        found = best_success(laws[1:], laws[0], np.full(3, 1 / 3), baseline)
        assert found == pytest.approx(curve.tpr(baseline), abs=1e-9)
    curve = GeometricMechanism(scale=1.0, sensitivity=2)
    low, middle, high = geometric(1.0, (-2, 0, 2))
    for baseline in (0.01, 0.1, 0.3):
        found = best_success(np.array([low, high]), middle, np.array([0.5, 0.5]), baseline)
        assert found == pytest.approx(curve.tpr(baseline), abs=1e-7)


def test_of_gaussian_noise_it_is_the_normal_curve():
    report = bounds(mu=1.2, baseline=(0.0, 1e-9, 0.1, 1.0), adjacency="substitution")
    found = report.attacker.success_at
    assert (found["0"], found["1"]) == (0, 1)
    for baseline in ("1e-9", "0.1"):
        exact = norm.cdf(norm.ppf(float(baseline)) + 1.2)
        assert found[baseline] == pytest.approx(exact, rel=1e-9)


GUARANTEES = [
    *({"epsilon": 1.0, "delta": 1e-5}, {"mu": 1.0}, {"rho": 0.5}, {"rdp": {2.0: 0.1, 8.0: 0.6}}),
    *({"noise_sd": 3.0, "best_of": 3, "drawn": "poisson"}, {"noise_sd": 2.0}, {"scale": 2.0}),
    *({"geometric_scale": 2.0}, {"randomized_response": 0.7}),
    {"counting_queries": {"k": 100, "n": 1000}, "noise_sd": 0.01},
    {"dp_sgd": {"noise_multiplier": 1.0, "q": 0.1, "steps": 20}},
    {"compose": ("gaussian:noise_multiplier=2,count=3",)},
]


@pytest.mark.parametrize("asked", GUARANTEES, ids=str)
def test_every_guarantee_has_it_in_every_reading(asked):
    report = bounds(**asked, baseline=(0.01, 0.3))
    for reading in (report.attacker, *report.other_readings):
        for baseline in (0.01, 0.3):
            success = reading.success_at[str(baseline)]
            assert baseline < success <= 1
        assert reading.success_at["0.01"] == reading.tpr_at_fpr["0.01"]
    limitations = [told(one) for one in report.limitations]
    assert any(
        "average over the values that the attacker thinks possible" in one for one in limitations
    )
    assert "(which of 100 equally likely" in " ".join(report_text(report, width=100).split())


def test_of_two_directions_that_differ_the_worse_counts():
    """A sampled record's one step: noise against a mixture, both ways round."""
    q, sigma = 0.2, 0.7
    step = {"noise_multiplier": sigma, "q": q, "steps": 1}
    report = bounds(dp_sgd=step, adjacency="add-remove", baseline=(0.01, 0.2, 0.6))
    present = report.other_readings[0]
    cuts = np.linspace(-6, 8, 20_001)
    without = norm.sf(cuts, scale=sigma)
    with_it = (1 - q) * without + q * norm.sf(cuts, loc=1, scale=sigma)
    for baseline, success in present.success_at.items():
        added = np.interp(float(baseline), without[::-1], with_it[::-1])
        removed = np.interp(float(baseline), 1 - with_it, 1 - without)
        assert success >= max(added, removed) - 1e-6
        assert success == pytest.approx(max(added, removed), rel=0.1)


@given(
    baseline=st.floats(1e-9, 0.9),
    share=st.floats(1e-6, 1 - 1e-6),
    delta=st.sampled_from([0.0, 1e-7, 0.01]),
)
@example(baseline=0.5, share=0.03, delta=0.01)
def test_there_and_back(baseline, share, delta):
    limit = baseline + share * (1 - baseline)
    needed = bounds(success=(limit, baseline), delta=delta).needed
    by_substitution, two_steps, present = needed
    assert (two_steps.adjacency, present.adjacency) == ("add-remove", "add-remove")
    assert (by_substitution.epsilon, by_substitution.mu) == (present.epsilon, present.mu)
    if by_substitution.epsilon is None:
        assert delta >= limit - baseline
        return
    for adjacency, reading, one in (
        ("substitution", 0, by_substitution),
        ("add-remove", 0, two_steps),
        ("add-remove", 1, present),
    ):
        if one is two_steps and 2 * delta >= limit - baseline:  # its delta alone allows more
            assert one.epsilon is None
            continue
        kept = bounds(epsilon=one.epsilon, delta=delta, adjacency=adjacency, baseline=baseline)
        allowed = (kept.attacker, *kept.other_readings)[reading]
        (success,) = allowed.success_at.values()
        assert success <= limit
        assert success == pytest.approx(limit, rel=1e-6)


def test_the_epsilon_for_a_success_in_closed_form():
    (needed,) = bounds(success=(0.2, 0.1), delta=0.01, adjacency="substitution").needed
    assert needed.epsilon == pytest.approx(math.log(0.19 / 0.1), rel=1e-12)
    assert needed.mu == pytest.approx(norm.ppf(0.2) - norm.ppf(0.1), rel=1e-9)
    (needed,) = bounds(success=(0.9, 0.5), adjacency="substitution").needed
    assert needed.epsilon == pytest.approx(math.log(0.5 / 0.1), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.1, 1.0, 8.0, 300.0, 1e6])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-5, 0.02, 0.7, 0.999])
def test_the_noise_for_a_guarantee_gives_it_and_hardly_more(epsilon, delta):
    wanted = {"epsilon": epsilon, "delta": delta}
    (needed,) = bounds(gaussian_noise_for=wanted, sensitivity=3.0).needed
    with mpmath.workdps(400):
        mu = mpmath.mpf(3) / mpmath.mpf(needed.gaussian_sd)

        def delta_of(mu):
            near = mpmath.mpf(epsilon) / mu - mu / 2
            first, second = mpmath.ncdf(-near), mpmath.exp(epsilon) * mpmath.ncdf(-near - mu)
            return first - second

        assert delta_of(mu) <= mpmath.mpf(delta)
        assert delta_of(mu * (1 + mpmath.mpf("1e-6"))) > mpmath.mpf(delta)
    assert (needed.epsilon, needed.delta, needed.adjacency) == (epsilon, delta, None)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 1e-5), (10.0, 1e-9)])
def test_the_noise_is_that_of_dp_accounting(epsilon, delta):
    (needed,) = bounds(gaussian_noise_for=f"epsilon={epsilon},delta={delta}").needed
    assert needed.gaussian_sd == pytest.approx(
        gaussian_mechanism.get_sigma_gaussian(epsilon, delta), rel=1e-7
    )
    assert GaussianDP(mu=needed.mu).profile(epsilon) <= delta
    classical = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert epsilon > 1 or needed.gaussian_sd < classical


def test_the_noise_of_averages_counts_them_together():
    queries = {"k": 100, "n": 1000}
    (needed,) = bounds(gaussian_noise_for="epsilon=1,delta=1e-5", counting_queries=queries).needed
    (alone,) = bounds(gaussian_noise_for="epsilon=1,delta=1e-5").needed
    assert needed.gaussian_sd == pytest.approx(alone.gaussian_sd * 10 / 1000, rel=1e-12)
    assert needed.laplace_scale is None


def test_a_person_who_reads_one_sentence_is_told_enough():
    first, second = bounds(epsilon=1.0, baseline=(0.1, 0.37)), bounds(mu=0.0, baseline=0.5)
    text = " ".join(report_text(first, width=100).split())
    assert "which of 10 equally likely diagnoses the person has" in text
    assert "at most 27.183% (one record exchanged) or 73.213% (added or removed)" in text
    assert "from a release in which the person's record is replaced by another" in text
    assert "and is right in 37% of cases from a release" in text
    assert "always say no" in text
    assert "is right in at most 50%" in " ".join(report_text(second, width=100).split())


@pytest.mark.parametrize("epsilon", [1e3, 1e5, 1e6])
def test_no_wanted_guarantee_is_had_without_noise(epsilon):
    """Laplace noise of scale 1/epsilon is pure, and least noise is a little less than that."""
    (needed,) = bounds(gaussian_noise_for=f"epsilon={epsilon},delta=1e-5").needed
    assert 0.99 / epsilon <= needed.laplace_scale <= (1 + 1e-12) / epsilon
