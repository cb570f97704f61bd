from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.commands.bounds.readings import (
    BY_PRESENCE,
    BY_SUBSTITUTION,
    BY_TWO_STEPS,
    Stated,
    allowance,
    bounds_of,
    guarantee,
    readings,
)
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism

PURE = ApproximateDP(epsilon=1.0, delta=0.0)


def stated(curve, *, delta, adjacency=None, kind="approximate-dp"):
    parameters = {"epsilon": getattr(curve, "epsilon", 0.0), "delta": delta}
    return guarantee(Stated(kind, parameters, curve, adjacency), delta)


def bounds(curve, *, delta=0.0, prior=0.5, adjacency=None, kind="approximate-dp"):
    description = stated(curve, delta=delta, adjacency=adjacency, kind=kind)
    game, first = readings(Stated(kind, {}, curve, adjacency))[0]
    allowed = allowance(first, game=game, prior=prior, recall_floor=0.01)
    return {bound.name: bound for bound in bounds_of(description, first, allowed)}


@pytest.mark.parametrize(
    ("adjacency", "games"),
    [
        (None, [BY_SUBSTITUTION, BY_TWO_STEPS]),
        ("substitution", [BY_SUBSTITUTION]),
        ("add-remove", [BY_TWO_STEPS, BY_PRESENCE]),
    ],
)
def test_readings(adjacency, games):
    found = readings(Stated("approximate-dp", {}, PURE, adjacency))
    assert [game for game, _ in found] == games
    for game, curve in found:
        assert curve == (TwoStepDP(step=PURE) if game == BY_TWO_STEPS else PURE)


def test_a_curve_by_substitution_that_is_known_better_is_used():
    better = GaussianDP(mu=1.2)
    found = Stated("gaussian-dp", {}, GaussianDP(mu=1.0), "add-remove", better)
    assert readings(found)[0][1] is better


def test_an_assumed_adjacency_is_said_to_be():
    assumed = stated(PURE, delta=0.0)
    assert (assumed.adjacency_assumed, assumed.adjacency) == (True, "substitution")
    assert not stated(PURE, delta=0.0, adjacency="add-remove").adjacency_assumed


def test_no_epsilon_has_a_reason():
    found = stated(GaussianDP(mu=1.0), delta=0.0, kind="gaussian-dp")
    assert (found.epsilon, found.epsilon_reason.code) == (None, "unbounded_at_delta")
    found = stated(GaussianDP(mu=1.0), delta=1e-5, kind="gaussian-dp")
    assert found.epsilon == pytest.approx(4.3772, abs=1e-4)
    assert found.epsilon_reason is None


def test_closed_forms_at_epsilon_one():
    found = bounds(PURE)
    half = math.tanh(0.5)
    assert half == pytest.approx(0.4621, abs=5e-5)
    expected = {
        "yeom": 1.0,  # e - 1
        "erlingsson": 1 - math.exp(-1),
        "mace": half,
        "izzo": 2 * (1 / (1 + math.exp(-1)) - 0.5),
        "humphries": half,
        "trade-off curve": half,
    }
    assert {name: bound.advantage for name, bound in found.items()} == pytest.approx(expected)
    tight = {name for name, bound in found.items() if bound.tight}
    assert tight == {"mace", "izzo", "humphries", "trade-off curve"}
    assert all(bound.source and bound.assumes for bound in found.values())


def test_the_bound_of_mace_is_loose_at_other_priors():
    found = bounds(PURE, prior=0.1)
    assert list(found) == ["mace", "humphries", "trade-off curve"]
    assert found["mace"].advantage == pytest.approx(0.92, abs=0.005)
    assert found["trade-off curve"].advantage == pytest.approx(0.8)
    assert not found["mace"].tight


def test_small_bounds_keep_their_digits():
    found = bounds(ApproximateDP(epsilon=3e-9, delta=1e-12), delta=1e-12)
    assert found["erlingsson"].advantage == pytest.approx(3e-9 - 4.5e-18 + 1e-12, rel=1e-9)
    assert found["humphries"].advantage == pytest.approx(1.5e-9 + 1e-12, rel=1e-9)


def test_the_published_bounds_see_an_add_remove_claim_through_the_usual_conversion():
    found = bounds(ApproximateDP(epsilon=1.0, delta=1e-5), delta=1e-5, adjacency="add-remove")
    delta = (1 + math.e) * 1e-5
    usual = (math.expm1(2) + 2 * delta) / (math.exp(2) + 1)
    assert found["humphries"].advantage == pytest.approx(usual, rel=1e-12)
    assert found["trade-off curve"].advantage == pytest.approx(1 - math.exp(-1), abs=1e-4)
    assert not found["humphries"].tight


@given(
    curve=st.one_of(
        st.builds(ApproximateDP, epsilon=st.floats(0, 20), delta=st.sampled_from([0.0, 1e-5, 0.1])),
        st.builds(GaussianDP, mu=st.floats(0, 8)),
        st.builds(LaplaceMechanism, shift=st.floats(0, 20)),
    ),
    prior=st.sampled_from([0.03, 0.5, 0.8]),
    adjacency=st.sampled_from([None, "substitution", "add-remove"]),
)
def test_no_published_bound_is_below_the_curve(curve, prior, adjacency):
    approximate = isinstance(curve, ApproximateDP)
    kind, delta = ("approximate-dp", curve.delta) if approximate else ("gaussian-dp", 1e-5)
    found = bounds(curve, delta=delta, prior=prior, adjacency=adjacency, kind=kind)
    exact = found["trade-off curve"].advantage
    assert all(exact * (1 - 1e-9) <= bound.advantage <= 1 for bound in found.values())
    assert all(bound.tight == (bound.advantage <= exact * (1 + 1e-12)) for bound in found.values())
