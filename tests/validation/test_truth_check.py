"""Every truth against draws; and a wrong truth is noticed."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mipaudit.validation.law import Ladder, best_union, law_of, normal
from mipaudit.validation.scenarios import scenario, scenario_names
from tests.places import ROOT, load_script

truths = load_script(ROOT / "benchmarks" / "truth_check.py")
ROWS = 200_000
# Splits of a thousand records are slow to draw.
FEWER = {"random-half-mean-1000": 4_000}


@pytest.mark.parametrize("name", scenario_names())
def test_draws_bear_the_truths_out(name):
    checks = truths.check_truths(scenario(name), rows=FEWER.get(name, ROWS), prior=0.5, seed=20)
    off = truths.worst(checks)
    assert off.z < 4.5, off


@pytest.mark.parametrize("name", ["leaked-shift", "gauss-shift-1", "xor2d-0.4", "mace-corrupted"])
def test_at_another_prior_too(name):
    off = truths.worst(truths.check_truths(scenario(name), rows=ROWS, prior=0.2, seed=21))
    assert off.z < 4.5, off


def test_every_kind_of_truth_is_checked():
    checked = {
        check.what.split(",")[0]
        for name in ("gauss-shift-1", "covariate-shift-0.5", "colluding-1-3", "izzo-prop9-8")
        for check in truths.check_truths(scenario(name), rows=2_000, prior=0.5, seed=1)
    }
    assert {"advantage", "excess", "eta", "accuracy", "auc", "epsilon", "mu"} <= checked
    assert {"blind_advantage", "tpr", "fpr", "tpr_minus_fpr", "sigma_1"} <= checked
    assert {"TPR at FPR 0.01", "distribution of members"} <= checked


def test_draws_from_another_law_are_noticed():
    found = scenario("gauss-shift-1")

    def skewed_draw(rng, member):
        """Draw from another law than the one that the truths are made from."""
        return {"score": found.draw(rng, member)["score"] + 0.05 * member}

    skewed = replace(found, draw=skewed_draw)
    checks = {
        check.what: check.z for check in truths.check_truths(skewed, rows=ROWS, prior=0.5, seed=2)
    }
    assert checks["distribution of members"] > 6
    assert checks["auc"] > 6
    assert checks["distribution of holdout"] < 4


def test_a_wrong_epsilon_is_noticed():
    found = scenario("laplace-1")
    (view,) = scenario("laplace-0.5").views
    wrong = replace(found, views=(replace(found.views[0], curve=view.curve),))
    checks = {
        check.what: check.z for check in truths.check_truths(wrong, rows=ROWS, prior=0.5, seed=3)
    }
    assert checks["epsilon, score, delta 0"] > 10


def test_a_wrong_attack_is_noticed():
    found = scenario("humphries-20")
    (view,) = found.views
    attacks = (replace(view.attacks[0], fpr=0.06),)
    wrong = replace(found, views=(replace(view, attacks=attacks),))
    checks = {
        check.what: check.z for check in truths.check_truths(wrong, rows=ROWS, prior=0.5, seed=3)
    }
    assert checks["fpr, a low log-loss, score"] > 8
    assert checks["tpr, a low log-loss, score"] == 0


def test_scores_beyond_the_support_are_an_error():
    law = scenario("two-valued").views[0].law
    counts = truths.RungCounts.empty(scenario_ladder(law))
    with pytest.raises(ValueError, match="support"):
        counts.add(np.array([0.0, 2.0]), np.array([1.0]))


def scenario_ladder(law):
    from mipaudit.validation.law import ladder_of

    return ladder_of(law)


def random_ladder(rng, size):
    return Ladder(
        members=rng.dirichlet(np.ones(size)),
        holdout=rng.dirichlet(np.ones(size)),
        atom=np.ones(size, dtype=bool),
        upper=np.arange(size, dtype=float),
    )


def value_of(ladder, guess, prior):
    rates = truths.oracle_rates(ladder, guess)
    return 1 - 2 * prior + 2 * (prior * rates.tpr - (1 - prior) * rates.fpr)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_attackers_reach_what_the_ladder_says(seed):
    ladder = random_ladder(np.random.default_rng(seed), 9)
    for prior in (0.3, 0.5, 0.8):
        assert value_of(ladder, truths.best_guess(ladder, prior, "any"), prior) == pytest.approx(
            ladder.advantage(prior)
        )
        assert value_of(
            ladder, truths.best_guess(ladder, prior, "thresholds"), prior
        ) == pytest.approx(ladder.advantage_thresholds(prior))
        for k in (1, 2, 4):
            guess = truths.best_guess(ladder, prior, f"intervals-{k}")
            assert value_of(ladder, guess, prior) == pytest.approx(
                ladder.advantage_intervals(prior, k)
            )


@pytest.mark.parametrize("seed", range(20))
def test_best_runs_are_few_and_best(seed):
    gains = np.random.default_rng(seed).normal(size=12)
    for k in (1, 2, 3):
        chosen = truths.best_runs(gains, k)
        runs = int(chosen[0]) + int((np.diff(chosen.astype(int)) == 1).sum())
        assert runs <= k
        assert gains[chosen].sum() == pytest.approx(best_union(gains, k))


def test_counts_fall_on_their_rungs():
    mixed = law_of("mixed", "", normal(), normal())
    ladder = scenario_ladder(mixed)
    scores = np.array([-1e9, -0.5, 0.0, 0.3, 1e9])
    counts = truths.RungCounts.empty(ladder)
    counts.add(scores, scores[:2])
    assert counts.n_members == 5
    assert counts.n_holdout == 2
    assert counts.members[0] == 1
    assert counts.members[-1] == 1
    # Two in a row of the same counts add up.
    counts.add(scores, scores)
    assert counts.n_members == 10


def test_the_auc_of_counts_is_that_of_pairs():
    rng = np.random.default_rng(8)
    law = scenario("ties-shift").views[0].law
    x, y = law.sample(rng, 60, 70)
    counts = truths.RungCounts.empty(scenario_ladder(law))
    counts.add(x, y)
    pairs = [(a > b) + (a == b) / 2 for a, b in product(x, y)]
    found, error = counts.auc()
    assert found == pytest.approx(np.mean(pairs))
    assert 0 < error < 0.2
    assert not math.isnan(error)
