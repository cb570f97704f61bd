from __future__ import annotations

import pytest

from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP, advantage_bound
from mipaudit.statements.claim import EpsilonClaim, judge_claim

# At p = 1/2: by substitution epsilon 1 allows tanh(1/2), by add-remove 1 - 1/e.
TIGHT, LOOSE = 0.462117, 0.632121


def judged(lower, adjacency, epsilon=1.0, delta=0.0, prior=0.5):
    claim = EpsilonClaim(epsilon=epsilon, delta=delta, adjacency=adjacency)
    return judge_claim(claim, score="s", prior=prior, lower=lower)


@pytest.mark.parametrize(
    ("lower", "adjacency", "status", "allowed"),
    [
        (0.46, "substitution", "consistent", TIGHT),
        (0.47, "substitution", "contradicted", TIGHT),
        (0.47, "add-remove", "consistent", LOOSE),
        (0.64, "add-remove", "contradicted", LOOSE),
        (0.46, "unknown", "consistent", TIGHT),
        (0.47, "unknown", "not_comparable", None),
        (0.64, "unknown", "contradicted", LOOSE),
    ],
)
def test_statuses(lower, adjacency, status, allowed):
    claim = judged(lower, adjacency)
    assert claim.status == status
    assert claim.allowed_advantage == pytest.approx(allowed, abs=1e-6)
    assert claim.lower == lower
    assert "independent" in claim.rests_on


def test_equal_is_no_contradiction():
    bound = advantage_bound(ApproximateDP(epsilon=1.0, delta=0.0), 0.5)
    assert judged(bound, "substitution").status == "consistent"


@pytest.mark.parametrize("epsilon", [5.0, 10.0, 50.0])
def test_a_bound_near_one_is_vacuous(epsilon):
    assert judged(0.9, "substitution", epsilon).status == "vacuous"


def test_vacuous_is_relative_to_what_the_baseline_leaves():
    # At p = 0.1 the baseline is 0.8: a bound of 0.96 leaves a fifth of what remains.
    claim = judged(0.8, "substitution", 4.0, prior=0.1)
    share = (claim.allowed_advantage - 0.8) / 0.2
    assert (claim.status == "vacuous") is (share >= 0.95)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.7])
def test_the_conversion_is_named_and_used(prior):
    claim = judged(abs(2 * prior - 1), "add-remove", 0.5, 1e-5, prior)
    step = ApproximateDP(epsilon=0.5, delta=1e-5)
    assert "removal and an addition" in claim.conversion
    assert claim.allowed_advantage == advantage_bound(TwoStepDP(step=step), prior)
    assert claim.bounds[-1].name == "two-step"
    assert judged(abs(2 * prior - 1), "substitution", 0.5, 1e-5, prior).conversion is None
    assert claim.bounds[-1].advantage == claim.allowed_advantage
