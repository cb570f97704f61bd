from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from riskcal import analysis

from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.attack import refuted_epsilon, refuted_mu
from mipaudit.maths.privacy.mechanism import GaussianDP

RATE = st.floats(0, 1)


def test_vectors_of_the_lecture():
    assert refuted_epsilon(0.9, 0.01, 0) == pytest.approx(4.4998, abs=5e-5)
    assert refuted_epsilon(0.05, 0.01, 0) == pytest.approx(1.6094, abs=5e-5)
    # The other side decides where the attack is sure of the holdout records.
    assert refuted_epsilon(0.99, 0.1, 0) == pytest.approx(math.log(90), rel=1e-12)


@given(tpr=RATE, fpr=RATE, delta=st.floats(0, 1))
def test_it_is_the_least_epsilon_whose_region_holds_the_attack(tpr, fpr, delta):
    epsilon = refuted_epsilon(tpr, fpr, delta)
    assert epsilon >= 0
    if math.isinf(epsilon):
        assert ApproximateDP(epsilon=700.0, delta=delta).tpr(fpr) < tpr or 0 in {fpr, 1 - tpr}
        return
    assert ApproximateDP(epsilon=epsilon, delta=delta).tpr(fpr) >= tpr - 1e-12
    if epsilon > 1e-3 and tpr - delta > 1e-9:
        inside = ApproximateDP(epsilon=epsilon * (1 - 1e-6), delta=delta)
        assert inside.tpr(fpr) < tpr + 1e-15


@given(tpr=st.floats(0.002, 0.998), fpr=st.floats(0.002, 0.998), delta=st.sampled_from([0.0, 1e-3]))
def test_agrees_with_riskcal(tpr, fpr, delta):
    witness = analysis.get_epsilon_from_err_rates(delta, fpr, 1 - tpr)
    assert refuted_epsilon(tpr, fpr, delta) == pytest.approx(max(0, witness), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("tpr", "fpr", "delta", "expected"),
    [
        (1, 0, 0, math.inf),
        (0.1, 0, 0, math.inf),
        (1, 0.9, 0, math.inf),
        (1, 0, 1, 0),
        (0.1, 0, 0.1, 0),
        (0, 0, 0, 0),
        (1, 1, 0, 0),
        (0, 1, 0, 0),
        (0.5, 0.5, 0, 0),
    ],
)
def test_ends(tpr, fpr, delta, expected):
    assert refuted_epsilon(tpr, fpr, delta) == expected


@pytest.mark.parametrize(
    ("tpr", "fpr", "expected"),
    [(1, 0, math.inf), (1, 0.5, math.inf), (0.5, 0, math.inf), (0, 0, 0), (1, 1, 0), (0, 1, 0)],
)
def test_ends_of_mu(tpr, fpr, expected):
    assert refuted_mu(tpr, fpr) == expected


@given(tpr=st.floats(1e-300, 1 - 1e-9), fpr=st.floats(1e-300, 1 - 1e-9))
def test_the_least_mu_reaches_the_attack(tpr, fpr):
    mu = refuted_mu(tpr, fpr)
    if tpr <= fpr:
        assert mu == 0
    else:
        assert GaussianDP(mu=mu).tpr(fpr) == pytest.approx(tpr, rel=1e-9)


def test_mu_against_high_precision():
    with mpmath.workdps(40):

        def quantile(p):
            return mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1)

        exact = float(quantile(0.9) - quantile(1e-12))
    assert refuted_mu(0.9, 1e-12) == pytest.approx(exact, rel=1e-12)
