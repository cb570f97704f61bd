from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from mipaudit.errors import UsageError
from mipaudit.validation.law import CELLS, ladder_of
from mipaudit.validation.laws import LAWS, law

PHI = NormalDist().cdf
INVERSE = NormalDist().inv_cdf
EVERY = sorted(LAWS)


def truths(ladder):
    return [
        *(
            value
            for prior in (0.1, 0.5, 0.8)
            for value in (
                ladder.advantage(prior),
                ladder.advantage_thresholds(prior),
                ladder.advantage_intervals(prior, 1),
                ladder.advantage_intervals(prior, 4),
            )
        ),
        ladder.auc(),
        *(ladder.tpr_at_fpr(fpr, side) for fpr in (0.001, 0.01, 0.1) for side in ("high", "low")),
    ]


@pytest.mark.parametrize("name", EVERY)
def test_truths_do_not_depend_on_the_grid(name):
    coarse, fine = (ladder_of(LAWS[name], cells) for cells in (CELLS, 4 * CELLS))
    assert truths(coarse) == pytest.approx(truths(fine), abs=1e-8)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_larger_classes_of_attackers_do_no_worse(name, prior):
    found = LAWS[name]
    chain = [
        abs(2 * prior - 1),
        found.advantage_thresholds(prior),
        found.advantage_intervals(prior, 1),
        found.advantage_intervals(prior, 4),
        found.advantage(prior),
        1.0,
    ]
    assert (np.diff(chain) >= -1e-10).all()  # sums of 10^5 masses are rounded


@pytest.mark.parametrize("name", EVERY)
def test_samples_follow_the_distribution_function(name):
    found, n = LAWS[name], 20_000
    samples = found.sample(np.random.default_rng(5), n, n)
    cuts = np.unique(np.concatenate([np.sort(s)[n // 20 :: n // 20] for s in samples]))
    for sample, mixed in zip(samples, (found.members, found.holdout), strict=True):
        for strictly in (False, True):
            x = np.nextafter(cuts, -np.inf) if strictly else cuts
            share = np.searchsorted(np.sort(sample), x, side="right") / n
            level = mixed.cdf(x)
            assert np.abs(share - level).max() < 5 * 0.5 / math.sqrt(n)
            assert level[share > 0].min(initial=1.0) > 0


@pytest.mark.parametrize("name", EVERY)
def test_samples_have_the_stated_auc(name):
    n = 20_000
    members, holdout = LAWS[name].sample(np.random.default_rng(6), n, n)
    ordered = np.sort(holdout)
    below = np.searchsorted(ordered, members) + np.searchsorted(ordered, members, side="right")
    assert below.mean() / (2 * n) == pytest.approx(LAWS[name].auc(), abs=5 / math.sqrt(6 * n))


@pytest.mark.parametrize("name", EVERY)
def test_masses_sum_to_one_and_samples_are_reproducible(name):
    ladder = ladder_of(LAWS[name])
    assert ladder.members.sum() == pytest.approx(1.0, abs=1e-12)
    assert ladder.holdout.sum() == pytest.approx(1.0, abs=1e-12)
    assert min(ladder.members.min(), ladder.holdout.min()) >= 0.0
    first, again = (LAWS[name].sample(np.random.default_rng(1), 50, 30) for _ in range(2))
    assert [len(scores) for scores in first] == [50, 30]
    assert all((a == b).all() for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("mu", [0.25, 1.0, 2.0])
def test_gauss_shift(mu):
    found = law(f"gauss-shift-{mu:g}")
    for value in (found.advantage(0.5), found.advantage_thresholds(0.5)):
        assert value == pytest.approx(2 * PHI(mu / 2) - 1, abs=1e-8)
    assert found.auc() == pytest.approx(PHI(mu / math.sqrt(2)), abs=1e-8)
    assert found.tpr_at_fpr(0.01) == pytest.approx(PHI(INVERSE(0.01) + mu), abs=1e-8)
    assert found.tpr_at_fpr(0.01, "low") == pytest.approx(PHI(INVERSE(0.01) - mu), abs=1e-8)


def test_gauss_shift_at_another_prior():
    # The best cut is where p P = (1-p) Q: log(9) + 1/2 holdout s.d. above the holdout mean.
    cut = math.log(9) + 0.5
    best = 0.1 * PHI(1 - cut) - 0.9 * PHI(-cut)
    assert law("gauss-shift-1").advantage(0.1) == pytest.approx(0.8 + 2 * best, abs=1e-8)


@pytest.mark.parametrize(("ratio", "advantage"), [(1.5, 0.19358), (3, 0.48433)])
def test_gauss_scale(ratio, advantage):
    # Yeom et al. 2018, Theorem 3.
    cut = ratio * math.sqrt(2 * math.log(ratio) / (ratio**2 - 1))
    exact = math.erf(cut / math.sqrt(2)) - math.erf(cut / (ratio * math.sqrt(2)))
    found = law(f"gauss-scale-{ratio:g}")
    assert exact == pytest.approx(advantage, abs=5e-6)
    assert found.advantage(0.5) == pytest.approx(exact, abs=1e-8)
    assert found.advantage_intervals(0.5, 1) == pytest.approx(exact, abs=1e-8)
    assert found.advantage_thresholds(0.5) == pytest.approx(exact / 2, abs=1e-8)
    assert found.auc() == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_laplace(epsilon):
    found = law(f"laplace-{epsilon:g}")
    assert found.advantage(0.5) == pytest.approx(-math.expm1(-epsilon / 2), abs=1e-8)
    auc = 1 - math.exp(-epsilon) * (2 + epsilon) / 4
    assert found.auc() == pytest.approx(auc, abs=1e-8)


@pytest.mark.parametrize("name", ["geometric-1", "randomized-response-1"])
def test_discrete_mechanisms_reach_the_bound(name):
    assert law(name).advantage(0.5) == pytest.approx(math.tanh(0.5), abs=1e-12)


def test_at_a_low_prior_a_private_mechanism_is_no_better_than_the_baseline():
    assert law("laplace-1").advantage(0.1) == pytest.approx(0.8, abs=1e-12)


def test_heavy_tails():
    assert law("cauchy-shift").advantage(0.5) == pytest.approx(2 / math.pi * math.atan(0.5))
    gap = math.log(3) / 2
    assert law("lognormal-scale").advantage(0.5) == pytest.approx(2 * PHI(gap / 2) - 1, abs=1e-8)
    # Members start 0.2 higher; their density is above from there on.
    assert law("pareto-shift").advantage(0.5) == pytest.approx(1 - 1.2**-1.5, abs=1e-8)


def test_leaks():
    assert law("leaked-atoms").advantage(0.5) == pytest.approx(0.01, abs=1e-8)
    assert law("leaked-atoms").advantage_intervals(0.5, 1) == pytest.approx(0.01, abs=1e-6)
    # A threshold must take half of the bulk, of which members have 1% less.
    at_spike = 0.01 - 0.01 * PHI(-0.5)
    assert law("leaked-atoms").advantage_thresholds(0.5) == pytest.approx(at_spike, abs=1e-8)
    assert law("leaked-shift").advantage(0.5) == pytest.approx(0.01 * (2 * PHI(2) - 1), abs=1e-8)
    assert law("infinite-scores").advantage(0.5) == pytest.approx(0.04, abs=1e-8)
    assert law("multinomial-1000").advantage(0.5) == pytest.approx(0.2, abs=1e-8)
    assert law("two-valued").advantage(0.5) == pytest.approx(0.09)


def test_a_comb_hides_from_intervals():
    comb = law("comb-64")
    assert comb.advantage(0.5) == pytest.approx(0.5)
    assert comb.advantage_intervals(0.5, 1) == pytest.approx(1 / 64)
    assert comb.advantage_intervals(0.5, 4) == pytest.approx(4 / 64)


def test_odd_laws():
    digits = [math.comb(9, k) * (0.6**k * 0.4 ** (9 - k)) for k in range(10)]
    cantor = sum(abs(a - b) for a, b in zip(digits, digits[::-1], strict=True)) / 2
    assert law("cantor").advantage(0.5) == pytest.approx(cantor, abs=1e-12)
    assert law("rare-values").advantage(0.5) == pytest.approx(0.1, abs=1e-12)
    assert law("rare-values").auc() == pytest.approx(0.45, abs=1e-12)
    assert law("missing-value").advantage(0.5) == pytest.approx(0.05, abs=1e-8)
    assert law("nearly-separated").advantage(0.5) == pytest.approx(0.97, abs=1e-12)
    assert law("half-tied").advantage(0.5) == pytest.approx(PHI(0.25) - 0.5, abs=1e-8)
    assert law("even-odds").advantage(0.5) == pytest.approx(8 / 9, abs=1e-8)
    assert law("even-odds").advantage(0.1) == pytest.approx(0.8, abs=1e-8)


def test_extremes():
    assert law("separated").advantage(0.5) == pytest.approx(1.0)
    assert law("separated").tpr_at_fpr(0.001) == pytest.approx(1.0)
    assert law("separated").auc() == pytest.approx(1.0)
    assert law("constant").advantage(0.5) == 0.0
    assert law("constant").auc() == 0.5
    assert law("constant").tpr_at_fpr(0.1) == pytest.approx(0.1)


@pytest.mark.parametrize("name", [name for name in EVERY if name.startswith("null-")])
def test_null_laws_leak_nothing(name):
    for prior in (0.1, 0.5, 0.8):
        assert law(name).advantage(prior) == pytest.approx(abs(2 * prior - 1), abs=1e-12)
    assert law(name).auc() == pytest.approx(0.5)


def test_bins_see_what_their_cut_points_allow():
    found = law("gauss-shift-1")
    assert found.advantage_bins(0.5, [0.5]) == pytest.approx(found.advantage(0.5), abs=1e-8)
    assert found.advantage_bins(0.5, []) == pytest.approx(0.0)
    coarse = PHI(1 / 1) - PHI(0)
    assert found.advantage_bins(0.5, [0.0]) == pytest.approx(coarse)
    assert found.advantage_bins(0.1, [-1.0, 0.0, 3.0]) < found.advantage(0.1)


def test_a_bin_has_its_upper_cut_point_and_not_its_lower():
    spiked = law("infinite-scores")
    largest = np.finfo(np.float64).max
    assert spiked.advantage_bins(0.5, [largest]) == pytest.approx(0.04)
    coin = law("two-valued")
    assert coin.advantage_bins(0.5, [0.0]) == pytest.approx(0.09)
    assert coin.advantage_bins(0.5, [1.0]) == pytest.approx(0.0)


def test_alphabets_hold_every_sample():
    for name in EVERY:
        if law(name).discrete:
            alphabet = np.union1d(law(name).members.atoms()[0], law(name).holdout.atoms()[0])
            members, holdout = law(name).sample(np.random.default_rng(3), 500, 500)
            assert np.isin(np.concatenate([members, holdout]), alphabet).all()
            assert len(alphabet) <= 1000


def test_names_match():
    assert all(found.name == name for name, found in LAWS.items())


def test_unknown_name_lists_the_nearest():
    with pytest.raises(UsageError, match="gauss-shift-1") as caught:
        law("gaus-shift-1")
    assert caught.value.code == "unknown_scenario"
