"""Challengers within a class, what they make of each row, and who enters a limit for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mipaudit.commands.compare.queries.cohort import compared as joined
from mipaudit.evidence.difference import class_challengers, fitted_challenger, of_constant
from mipaudit.evidence.scores.assignments import assigned
from mipaudit.evidence.scores.attacker_families import Lessons, families
from mipaudit.maths.binomial import MeanRate
from mipaudit.validation.estimands.together import compared_columns

CLASSES = ("thresholds", "intervals-1", "intervals-4", "bins-16", "any")


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(5)
    member = rng.random(3000) < 0.5
    return member, [rng.standard_normal(3000) + shift * member for shift in (1.0, 0.4)]


@pytest.fixture(scope="module")
def counted(columns):
    member, scores = columns
    return compared_columns(member, scores, prior=0.5, seed=2, pairs=[(0, 1)])


@pytest.mark.parametrize(
    ("attackers", "turns"), [("thresholds", 1), ("intervals-1", 2), ("intervals-4", 8)]
)
def test_attackers_stay_within_their_class(counted, attackers, turns):
    evidence = counted.evidence
    run = assigned(evidence[1].counts.ranked, 0.5)
    lessons = Lessons(counts=run.counts[:8], prior=0.5, even=True, among=attackers)
    seen = 0
    for family in families(lessons):
        assert family.unsure is None
        every = np.indices((family.hits.shape[-1], 8, 8)).reshape(3, -1)
        values = family.values(*every)
        assert set(np.unique(values)) <= {0.0, 1.0}
        changes = np.count_nonzero(np.diff(values, axis=1), axis=1)
        assert changes.max() <= turns
        hits = np.einsum("ngk,nk->ng", run.counts[every[1], every[2]], values)
        np.testing.assert_array_equal(family.hits[every[1], every[2], :, every[0]], hits)
        seen = max(seen, changes.max())
    assert seen > turns // 2


def test_bins_are_taken_whole(counted):
    evidence = counted.evidence
    counts = evidence[0].counts
    (guesses,) = class_challengers(counts, ["bins-16"], 0.5)["bins-16"].guesses.guessed
    assert guesses.shape == (64, 2, counts.blocks.shape[1])
    assert np.count_nonzero((np.diff(guesses, axis=2) != 0).any(axis=(0, 1))) <= 15


@pytest.mark.parametrize("kept", [True, False])
def test_what_each_row_adds_makes_the_rates(columns, counted, kept):
    member, _ = columns
    cohort, evidence = counted, counted.evidence
    counts = evidence[0].counts if kept else replace(evidence[0].counts, ranked=None)
    found = class_challengers(counts, CLASSES, 0.5)
    for one in found.values():
        table = getattr(one.guesses, "guessed", None)
        for side, rate in ((0, one.rates.fpr), (1, one.rates.tpr)):
            if isinstance(table, tuple):
                rows = counts.blocks[:, :, side]
                part, whole = (
                    (table[0][:, side] * rows).sum(),
                    (one.guesses.weights[:, side] * rows.sum(axis=1)).sum(),
                )
            else:
                # In the order of the score, where no order of the batch is given.
                at = counts.ranked.member == bool(side)
                part, whole = table[at].sum(), one.guesses.weights[at].sum()
            assert part / whole == pytest.approx(rate.value, abs=1e-4)
    assert cohort.challengers[0, "thresholds"].guesses.guessed.size == member.size
    assert 0.3 < found["thresholds"].rates.value <= found["any"].rates.value + 0.05


def test_rows_of_a_batch_get_what_is_theirs(columns, counted):
    member, scores = columns
    cohort = counted
    guesses = cohort.challengers[0, "thresholds"].guesses
    share = guesses.guessed / guesses.weights
    # Who judges by a threshold takes the higher score, whatever the order of the batch.
    high, low = scores[0] > 1.5, scores[0] < -0.5
    assert share[high].min() == 1
    assert share[low].max() == 0
    each = [guesses.weights[member == side].mean() for side in (True, False)]
    assert each[0] == pytest.approx(each[1], rel=0.2)


def test_the_burn_in_of_a_fitted_score_is_never_judged(counted):
    evidence = counted.evidence
    counts = evidence[0].counts
    weights = fitted_challenger(counts, 0.5).guesses.weights
    assert not weights[: counts.burn_in].any()
    assert weights[counts.burn_in :].all()
    everywhere = class_challengers(replace(counts, ranked=None), ["bins-16"], 0.5)["bins-16"]
    assert everywhere.guesses.weights.all()


def rates_of(challenger, value):
    one = MeanRate(value=0.5 + value / 2, variance=1e-4, squares=1e-3)
    rates = replace(challenger.rates, tpr=one, fpr=one._replace(value=0.5 - value / 2))
    return replace(challenger, rates=rates)


def test_who_gained_too_little_is_replaced_by_the_constant_guess(counted):
    cohort = counted
    found = cohort.challengers[0, "thresholds"]
    lucky, sure = rates_of(found, 0.035), rates_of(found, 0.06)
    # Above the baseline at the whole error, but not at a fifth of it.
    assert lucky.rates.lower(0.025) > 0
    assert not lucky.gains(0.025)
    assert (lucky.error(0.025), sure.error(0.025)) == pytest.approx((0.02, 0.025))
    assert (lucky.standing(0.025).value, lucky.standing(0.025).slack) == (0, 0)
    assert sure.standing(0.025).value == pytest.approx(0.06)
    assert sure.standing(0.025).slack > 0.025


@pytest.mark.parametrize("prior", [0.3, 0.7])
def test_the_constant_guess_is_that_of_the_majority(columns, prior):
    member, scores = columns
    cohort = compared_columns(member, scores, prior=prior, seed=2, pairs=[(0, 1)])
    found = of_constant(next(iter(cohort.meetings.values()))[0])
    assert found.rates[:, int(prior > 0.5)].sum(axis=1) == pytest.approx([1, 1])
    assert found.rates[:, int(prior <= 0.5)].sum() == 0
    assert found.shared.guessed == pytest.approx(found.shared.squares[:, 1].sum(axis=1))


@pytest.mark.parametrize("independent", [True, False])
def test_a_query_without_a_leak_stands_at_the_baseline_beside_another(independent):
    rng = np.random.default_rng(8)
    member = rng.random(2000) < 0.5
    draws = [rng.standard_normal(2000), rng.standard_normal(2000) + member]
    found = [
        compared_columns(member, [one], prior=0.5, seed=1, pairs=[], first=number)
        for number, one in enumerate(draws)
    ]
    compared = joined(found, independent=independent)
    upper = compared.evidence[1].upper("thresholds", 0.02)
    assert compared.lower(0, 1, "thresholds", 0.025) == pytest.approx(-upper)
    assert 0.25 < compared.lower(1, 0, "thresholds", 0.025) < 0.4


@pytest.mark.parametrize("alpha", [0.025, 0.0025])
def test_limits_cover_where_the_better_rival_is_one_of_two(alpha):
    # Two values: the rival is not the best of many, and the error is used.
    rng = np.random.default_rng(3)
    files, wrong = 150, 0
    for file in range(files):
        member = np.repeat([True, False], 100)
        chance = rng.random((2, 200))
        scores = [chance[0] < np.where(member, 0.9, 0.1), chance[1] < np.where(member, 0.6, 0.02)]
        compared = compared_columns(
            member, [one.astype(float) for one in scores], prior=0.5, seed=file, pairs=[(0, 1)]
        )
        wrong += compared.lower(0, 1, "thresholds", alpha) > 0.22
        wrong += compared.upper(0, 1, "thresholds", alpha) < 0.22
    # Twice 150 limits: more than 15 of them at .025 have a chance of one in 200.
    assert wrong <= (15 if alpha > 0.01 else 4)
