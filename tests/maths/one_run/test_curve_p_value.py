from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mipaudit.maths.bisection import crossing
from mipaudit.maths.normal import cdf, quantile
from mipaudit.maths.one_run.curve_p_value import mu_one_run, one_run_curve_p_value, refutes_curve
from mipaudit.maths.one_run.p_value import SMALLEST_P_VALUE, CanaryCount
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism
from tests.maths.one_run.published import one_run_p_value


def counted(m, r, v):
    return CanaryCount(canaries=m, guesses=r, correct=v, guessed_in=None)


def curve_p(curve, m, r, v):
    return one_run_curve_p_value(curve, counted(m, r, v))


def refuted_twin(mu, m, r, v, tau):
    """Run the published recursion to the end, without stopping early."""
    wrong = [0.0] * v + [tau * (r - v) / m]
    right = [0.0] * v + [tau * v / m]
    for i in range(v - 1, -1, -1):
        x = min(right[i + 1], 1.0)
        wrong[i] = max(wrong[i + 1], cdf(quantile(x) - mu))
        right[i] = right[i + 1] + i / (r - i) * (wrong[i] - wrong[i + 1])
    return right[0] + wrong[0] > r / m


def worst_counts(curve, m, r, v, epsilons):
    """Return the most P(C >= v) that the curve's tangents at ``epsilons`` allow."""
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    unknowns = r + 1 + len(epsilons) * r
    private = lil_matrix((len(epsilons) * (r + 1), unknowns))
    allowed = np.zeros(len(epsilons) * (r + 1))
    for k, epsilon in enumerate(epsilons):
        for j in range(1, r + 1):
            row, excess = k * (r + 1) + j - 1, r + k * r + j
            private[row, j] = j * math.exp(-epsilon)
            private[row, j - 1] = -(r - j + 1)
            private[row, excess] = -math.exp(-epsilon)
            private[k * (r + 1) + r, excess] = 1
        allowed[k * (r + 1) + r] = m * curve.profile(epsilon)
    gain = np.zeros(unknowns)
    gain[v : r + 1] = -1
    total = lil_matrix((1, unknowns))
    total[0, : r + 1] = 1
    return -linprog(
        gain, A_ub=private.tocsr(), b_ub=allowed, A_eq=total.tocsr(), b_eq=[1], method="highs"
    ).fun


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.5, 1.0, 2.0])
def test_the_recursion_against_its_twin(mu):
    for m, r, v in [(10, 5, 5), (100, 40, 33), (1000, 50, 48), (1000, 200, 150), (50, 50, 26)]:
        for tau in (1e-4, 0.01, 0.05, 0.5):
            found = refutes_curve(GaussianDP(mu=mu), counted(m, r, v), alpha=tau)
            assert found == refuted_twin(mu, m, r, v, tau)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1e-4), (2.0, 0.01)])
def test_no_p_value_is_below_that_of_the_worst_private_mechanism(epsilon, delta):
    curve = ApproximateDP(epsilon=epsilon, delta=delta)
    compared = 0
    for m, r in [(1, 1), (10, 10), (100, 20), (1000, 100)]:
        for v in range(1, r + 1):
            least = one_run_p_value(canaries=m, guesses=r, correct=v, epsilon=epsilon, delta=delta)
            assert curve_p(curve, m, r, v) >= least * (1 - 1e-9)
            compared += 1e-6 < least < 1
    assert compared > 10


@pytest.mark.parametrize("numbers", [(30, 12, 11), (200, 20, 18), (40, 40, 28)])
@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_no_p_value_is_below_that_of_the_worst_gaussian_law_of_counts(numbers, mu):
    curve = GaussianDP(mu=mu)
    worst = worst_counts(curve, *numbers, np.linspace(0, 6 * mu + 1, 80))
    # 80 tangents allow a little more than the curve.
    assert 0.99 * worst <= curve_p(curve, *numbers) <= 1.6 * worst


@pytest.mark.parametrize("numbers", [(1000, 100, 80), (1000, 20, 19), (300, 300, 240)])
def test_a_pure_curve_has_the_p_value_of_its_epsilon(numbers):
    # The recursion alone gives 0.0845 at 80 of 100, where 0.0716 is exact.
    m, r, v = numbers
    exact = one_run_p_value(canaries=m, guesses=r, correct=v, epsilon=1.0, delta=0.0)
    assert curve_p(LaplaceMechanism(shift=1.0), *numbers) <= exact * (1 + 1e-9)
    assert curve_p(ApproximateDP(epsilon=1.0, delta=0.0), *numbers) == pytest.approx(exact)


def test_tangents_of_a_gaussian_curve_say_more_of_many_guesses_than_the_recursion():
    # 0.0589 by the recursion alone.
    assert curve_p(GaussianDP(mu=0.5), 1000, 1000, 762) == pytest.approx(0.0563, abs=1e-4)


def test_p_values_fall_with_right_guesses_and_rise_with_the_curve():
    by_count = [curve_p(GaussianDP(mu=0.5), 1000, 100, v) for v in range(101)]
    assert by_count[0] == 1
    assert all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(by_count))
    by_mu = [curve_p(GaussianDP(mu=mu), 1000, 100, 80) for mu in (0, 0.2, 0.4, 0.8, 1.6)]
    assert by_mu == sorted(by_mu)
    assert by_mu[0] == SMALLEST_P_VALUE
    assert by_mu[-1] == 1


def test_mu_is_where_the_p_value_passes_alpha():
    mu = mu_one_run(counted(1000, 100, 84), alpha=0.05)
    assert curve_p(GaussianDP(mu=0.999 * mu), 1000, 100, 84) < 0.05
    assert curve_p(GaussianDP(mu=1.001 * mu), 1000, 100, 84) > 0.05
    assert mu_one_run(counted(1000, 100, 50), alpha=0.05) == 0


def test_a_gaussian_mechanism_is_measured_more_closely_than_any_mechanism_can_be():
    # Ten thousand canaries at mu = 1: 474 of 500 right is what to expect.
    mu = mu_one_run(counted(10_000, 500, 474), alpha=0.05)
    assert mu == pytest.approx(0.8148, abs=1e-4)
    assert GaussianDP(mu=mu).epsilon_at(1e-5) == pytest.approx(3.459, abs=1e-3)
    assert GaussianDP(mu=1.0).epsilon_at(1e-5) == pytest.approx(4.377, abs=1e-3)


def test_any_family_of_curves_can_be_assumed():
    def refuted(shift):
        curve = LaplaceMechanism(shift=shift)
        return refutes_curve(curve, counted(1000, 500, 400), alpha=0.05)

    least = crossing(lambda shift: not refuted(shift), start=1.0, limit=1e3)
    assert 0 < least < 2
    assert refuted(0.99 * least)


def test_a_million_guesses():
    mu = mu_one_run(counted(10**6, 10**6, 10**6), alpha=0.05)
    assert 3 < mu < 5
    assert 0 < mu_one_run(counted(10**6, 10**6, 600_000), alpha=0.05) < 0.51


@pytest.mark.parametrize(("m", "mu"), [(100, 1.0), (1000, 0.5), (1000, 2.0)])
@pytest.mark.parametrize("r", [50, 100, 200])
def test_gaussian_mechanisms_are_refuted_no_more_often_than_alpha(m, mu, r):
    r = min(r, m)
    rng = np.random.default_rng(m + r)
    runs = 1000
    included = rng.random((runs, m)) < 0.5
    order = np.argsort(rng.normal(size=(runs, m)) + mu * included, axis=1)
    ranked = np.take_along_axis(included, order, axis=1)
    right = ranked[:, m - r // 2 :].sum(axis=1) + (~ranked[:, : r // 2]).sum(axis=1)
    rejected = {
        int(v): refutes_curve(GaussianDP(mu=mu), counted(m, r, int(v)), alpha=0.05)
        for v in np.unique(right)
    }
    rate = np.mean([rejected[int(v)] for v in right])
    assert rate <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("guessed_in", [0, 60])
def test_guesses_of_one_kind_are_those_of_both_among_half_as_many(guessed_in):
    # Fair coins let half of the canaries be guessed rightly so, and half of them wrongly.
    for right in (40, 50, 57, 60):
        count = CanaryCount(canaries=1000, guesses=60, correct=right, guessed_in=guessed_in)
        found = mu_one_run(count, alpha=0.05)
        assert 0 < found == pytest.approx(mu_one_run(counted(500, 60, right), alpha=0.05))
