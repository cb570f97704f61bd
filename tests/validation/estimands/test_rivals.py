"""What others do: limits that are known, and methods that must be caught."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.validation.estimands.estimand import AuditedFile, best_threshold
from mipaudit.validation.estimands.methods import ALTERNATIVES
from mipaudit.validation.replications import Panel, failures, replicate, tally


def file(member, score, prior=0.5):
    return AuditedFile(member=member, score=score.astype(float), prior=prior, seed=3)


@pytest.fixture
def flags():
    # 90% of members and 20% of holdout at 1, the others at 0: the advantage is 0.7.
    member = np.arange(3000) < 1000
    return file(member, np.where(member, np.arange(3000) % 10 > 0, np.arange(3000) % 5 == 0))


def only(name, audited):
    return ALTERNATIVES[name].interval(audited)


@pytest.mark.parametrize("order", ["shuffled", "sorted", "reversed"])
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_a_run_tells_valid_from_invalid(cell, order, prior):
    setting = cell("null-gaussian", order=order, prior=prior, n=(300, 300), replications=300)
    panel = Panel(estimands=(), alternatives=tuple(ALTERNATIVES))
    rows = tally(setting, replicate(setting, panel, 2, range(300)))
    caught = {row.label for row in failures(rows)}
    valid = {name for name, one in ALTERNATIVES.items() if one.valid}
    assert {row.label for row in rows} == set(ALTERNATIVES)
    assert caught & valid == set()
    if prior == 0.5:  # at a low prior, guessing nobody is as good as anything
        certain = {name for name, one in ALTERNATIVES.items() if one.enough <= 300}
        assert caught >= certain - valid
    assert {row.source for row in rows if row.label in valid} == {"valid"}


def test_a_rival_is_asked_where_its_estimand_has_a_truth(cell):
    panel = Panel(estimands=("epsilon_runs",), alternatives=tuple(ALTERNATIVES))
    setting = cell("leaked-atoms", n=(20, 20), replications=1)
    said = replicate(setting, panel, 0, range(1))
    assert {ALTERNATIVES[name].estimand for name in said} == {
        *("advantage", "advantage_thresholds", "tpr_at_fpr"),
    }


def test_dkw_band_is_two_bands_around_the_best_threshold(flags):
    slack = math.sqrt(math.log(160) / 2000) + math.sqrt(math.log(160) / 4000)
    band = only("other: DKW band, thresholds", flags)
    assert band.lower == pytest.approx(0.7 - slack)
    assert band.upper == pytest.approx(0.7 + slack)
    any_attacker = only("other: DKW band", flags)
    assert (any_attacker.estimand, any_attacker.upper) == ("advantage", None)
    assert any_attacker.lower == band.lower


def test_same_data_threshold_ignores_the_choice(flags):
    # Newcombe's square-and-add of the two Clopper-Pearson limits, each of about 1.96 s.e.
    said = only("common: same-data threshold", flags)
    assert said.lower == pytest.approx(0.7 - 1.96 * math.hypot(0.0095, 0.0089), abs=0.002)
    assert said.upper is None


def test_split_half_is_a_box_of_two_limits(flags):
    chosen = np.random.default_rng([3, 2]).random(3000) < 0.5
    judged, hit = flags.member[~chosen], flags.score[~chosen] == 1
    tpr = clopper_pearson_lower(int((hit & judged).sum()), int(judged.sum()), 0.0125)
    fpr = clopper_pearson_upper(int((hit & ~judged).sum()), int((~judged).sum()), 0.0125)
    assert only("other: split half, Clopper-Pearson", flags).lower == pytest.approx(tpr - fpr)


def test_split_half_without_rows_on_a_side_states_the_baseline():
    said = only(
        "other: split half, Clopper-Pearson", file(np.array([True, False]), np.zeros(2), 0.1)
    )
    assert said.lower == pytest.approx(0.8)


def test_bootstrap_surrounds_the_plugin_and_mace_is_its_band(flags):
    bootstrap = only("common: percentile bootstrap, 20 bins", flags)
    deviation = math.hypot(0.0095, 0.0089)
    assert bootstrap.lower == pytest.approx(0.7 - 1.96 * deviation, abs=0.012)
    assert bootstrap.upper == pytest.approx(0.7 + 1.96 * deviation, abs=0.012)
    band = only("published: MACE band, 100 bins", flags)
    half_width = math.sqrt(2 * math.log(2 / 0.05) / 3000)
    assert (band.lower, band.upper) == pytest.approx((0.7 - half_width, 0.7 + half_width))


def test_infinite_and_constant_scores_are_no_obstacle():
    for score in (np.full(40, np.inf), np.zeros(40), np.repeat([-np.inf, 0, 1, np.inf], 10)):
        audited = file(np.arange(40) % 2 == 0, score)
        for one in ALTERNATIVES.values():
            limits = [x for x in one.limits(audited) if x is not None]
            assert np.isfinite(limits).all()


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.9])
def test_best_threshold_agrees_with_enumeration(prior):
    rng = np.random.default_rng(8)
    for _ in range(20):
        member = np.arange(30) < rng.integers(1, 30)
        score = rng.integers(0, 6, 30).astype(float)
        cut, low_side, tpr, fpr = best_threshold(member, score, prior)
        rules = [rule for cut in (-1, *np.unique(score)) for rule in (score <= cut, score > cut)]
        value = [
            1 - 2 * prior + 2 * (prior * r[member].mean() - (1 - prior) * r[~member].mean())
            for r in rules
        ]
        assert 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr) == pytest.approx(max(value))
        called = (score <= cut) == low_side
        assert (called[member].mean(), called[~member].mean()) == pytest.approx((tpr, fpr))
