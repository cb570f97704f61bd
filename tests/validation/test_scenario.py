"""Truths in closed form, from the papers."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism
from mipaudit.validation.law import ladder_of
from mipaudit.validation.laws import law
from mipaudit.validation.scenario import better_side, error_attacks
from mipaudit.validation.scenarios import scenario, scenario_names

PHI = NormalDist().cdf


def value(name, quantity, *, prior=0.5, **where):
    """Return the one truth of this quantity and these attributes."""
    found = [
        truth
        for truth in scenario(name).truths(prior)
        if truth.quantity == quantity and all(getattr(truth, k) == v for k, v in where.items())
    ]
    (truth,) = found
    return truth.value


@pytest.mark.parametrize(("ratio", "advantage"), [(1.5, 0.19358), (3, 0.48433)])
def test_yeom_theorem_3(ratio, advantage):
    name = f"yeom-regression-1-{ratio}"
    likely = "errors more likely of members"
    assert value(name, "tpr_minus_fpr", attackers=likely) == pytest.approx(advantage, abs=5e-6)
    # The optimum, found from the laws without the closed form; absolute errors are ordered.
    for attackers in ("any", "thresholds"):
        assert value(name, "advantage", attackers=attackers) == pytest.approx(advantage, abs=5e-6)
    assert value(f"gauss-scale-{ratio}", "advantage", attackers="any") == pytest.approx(
        advantage, abs=5e-6
    )


def test_yeom_with_the_members_deviation_alone():
    within = "errors within the members' s.d."
    expected = math.erf(1 / math.sqrt(2)) - math.erf(1 / (1.5 * math.sqrt(2)))
    assert value("yeom-regression-2-3", "tpr_minus_fpr", attackers=within) == pytest.approx(
        expected, abs=1e-10
    )
    assert value("yeom-regression-2-3", "tpr", attackers=within) == pytest.approx(
        0.6826894921, abs=1e-9
    )


def test_yeom_auc_and_a_model_that_errs_more_on_members():
    # P(|X| < |Y|) of two normals about 0 is an angle.
    assert value("yeom-regression-1-3", "auc") == pytest.approx(2 / math.pi * math.atan(1 / 3))
    (likely, _) = error_attacks(3.0, 1.0)
    assert likely.tpr - likely.fpr == pytest.approx(0.48433, abs=5e-6)
    assert value("yeom-regression-3-1", "advantage", attackers="any") == pytest.approx(
        0.48433, abs=5e-6
    )
    assert len(error_attacks(1.0, 1.0)) == 1


def test_yeom_theorem_4():
    for bits, keys in ((1, 3), (4, 2), (8, 1)):
        name = f"colluding-{bits}-{keys}"
        expected = 1 - 2.0 ** -(bits * keys)
        assert value(name, "advantage", attackers="any") == pytest.approx(expected, abs=1e-9)
        assert value(name, "advantage", attackers="thresholds") == pytest.approx(expected, abs=1e-9)
        fpr = value(name, "fpr", attackers="the answers match under every key")
        assert fpr == 2.0 ** -(bits * keys)


@pytest.mark.parametrize("groups", [5, 20])
def test_humphries_population(groups):
    name = f"humphries-{groups}"
    assert value(name, "tpr", attackers="a low log-loss") == 1
    assert value(name, "fpr", attackers="a low log-loss") == pytest.approx(1 / groups)
    assert value(name, "advantage", attackers="any") == pytest.approx(1 - 1 / groups, abs=1e-9)
    assert value(name, "advantage", attackers="thresholds") == pytest.approx(
        1 - 1 / groups, abs=1e-9
    )


def test_lecture_theorem_2():
    name = "counting-queries-100-1000-0.01"
    assert value(name, "mu") == pytest.approx(1.0)
    attack = "the sum is at least QUERIES/RECORDS"
    assert value(name, "tpr", attackers=attack) == 0.5
    assert value(name, "fpr", attackers=attack) == pytest.approx(PHI(-1), abs=1e-12)
    assert value(name, "fpr", attackers=attack) <= math.exp(-1 / 2)
    assert value(name, "advantage", attackers="any") == pytest.approx(2 * PHI(0.5) - 1, abs=1e-8)


def test_epsilon_of_the_mechanisms():
    assert value("laplace-2.5", "epsilon", delta=0.0) == pytest.approx(2.5)
    assert value("geometric-0.7", "epsilon", delta=0.0) == pytest.approx(0.7)
    assert value("randomized-response-2", "epsilon", delta=0.0) == pytest.approx(2.0)
    assert value("gauss-shift-1", "epsilon", delta=0.0) is None
    # Balle and Wang: mu = 1 is (4.377, 1e-5).
    assert value("gauss-shift-1", "epsilon", delta=1e-5) == pytest.approx(4.3772, abs=1e-4)
    # 1 - e^((eps - 1)/2) = delta.
    assert value("laplace-1", "epsilon", delta=0.01) == pytest.approx(1 + 2 * math.log(0.99))
    assert value("canaries-gauss-shift-1", "mu") == 1


def test_the_laws_have_the_privacy_profile_that_is_stated():
    for name, curve in (
        ("gauss-shift-1", GaussianDP(mu=1.0)),
        ("laplace-1", LaplaceMechanism(shift=1.0)),
        ("geometric-1", scenario("geometric-1").views[0].curve),
        ("randomized-response-1", scenario("randomized-response-1").views[0].curve),
    ):
        ladder = ladder_of(scenario(name).views[0].law)
        for epsilon in (0.0, 0.3, 0.9):
            delta = np.maximum(ladder.members - math.exp(epsilon) * ladder.holdout, 0).sum()
            assert delta == pytest.approx(curve.profile(epsilon), abs=1e-8), (name, epsilon)
        ratio = ladder.members / np.maximum(ladder.holdout, 1e-300)
        if math.isfinite(curve.loss):
            heavy = ladder.holdout > 1e-7
            assert math.log(ratio[heavy].max()) == pytest.approx(curve.loss, abs=1e-6)


def test_xor_is_blind_on_either_coordinate():
    for prior in (0.5, 0.3):
        blind = [
            truth.value
            for truth in scenario("xor2d-0.6").truths(prior)
            if truth.quantity == "advantage" and truth.sees in {"d1", "d2"}
        ]
        assert blind == pytest.approx([abs(2 * prior - 1)] * 8, abs=1e-9)
    assert value("xor2d-0.6", "advantage", sees="d1, d2") == pytest.approx(0.6)


def test_a_gaussian_plane_is_as_leaky_as_its_diagonal():
    assert value("gauss2d-2", "advantage", sees="d1, d2") == pytest.approx(2 * PHI(1) - 1, abs=1e-8)
    alone = value("gauss2d-2", "advantage", sees="d1", attackers="any")
    assert alone == pytest.approx(2 * PHI(math.sqrt(2) / 2) - 1, abs=1e-8)


def test_groups():
    name = "subgroup-leak"
    leak = 2 * PHI(1) - 1
    assert value(name, "advantage", group="majority", attackers="any") == 0
    assert value(name, "advantage", group="minority", attackers="any") == pytest.approx(
        leak, abs=1e-8
    )
    assert value(name, "advantage", sees="score, group") == pytest.approx(leak / 10, abs=1e-8)
    # Not told apart, the groups hide each other a little.
    overall = value(name, "advantage", sees="score", group=None, attackers="any")
    assert 0.9 * leak / 10 < overall <= leak / 10 + 1e-9


def test_a_shift_of_features_is_no_leak():
    # What the features tell, the score cannot exceed: it is made from them.
    blind = value("covariate-shift-0.5", "blind_advantage")
    assert blind == pytest.approx(2 * PHI(0.25) - 1, abs=2e-4)  # rounding to tenths costs 1e-4
    through = value("covariate-shift-0.5", "advantage", sees="score", attackers="any")
    assert through == pytest.approx(2 * PHI(0.25 / math.sqrt(2)) - 1, abs=2e-4)
    assert through < blind


@pytest.mark.parametrize("name", ["laplace-1", "leaked-shift", "imbalanced"])
@pytest.mark.parametrize("prior", [0.5, 0.1, 0.8])
def test_restated_figures_agree_at_any_prior(name, prior):
    found = {
        truth.quantity: truth.value
        for truth in scenario(name).truths(prior)
        if truth.attackers in {"any", None} and truth.delta is None
    }
    best, base = found["advantage"], abs(2 * prior - 1)
    assert found["baseline"] == pytest.approx(base)
    assert found["excess"] == pytest.approx(best - base, abs=2e-9)
    assert found["eta"] == pytest.approx((best - base) / 2, abs=2e-9)
    assert found["accuracy"] == pytest.approx((1 + best) / 2, abs=2e-9)


def test_the_better_side_is_that_of_the_members():
    assert better_side(law("gauss-shift-1"), 0.01)[0] == "high"
    assert better_side(law("yeom-regression-1-1.5"), 0.1)[0] == "low"
    assert better_side(law("null-gaussian"), 0.1) == ("high", pytest.approx(0.1))


def test_no_leak_has_no_advantage_in_any_view():
    for name in scenario_names():
        found = scenario(name)
        if name.startswith("null-") or name == "constant":
            assert found.views
            for truth in found.truths(0.5):
                if truth.quantity in {"advantage", "excess", "eta", "baseline"}:
                    assert truth.value == 0
