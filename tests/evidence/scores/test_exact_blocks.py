from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mipaudit.evidence.scores.exact_blocks import ExactBlocks, exact_blocks, trial_count


@pytest.mark.parametrize(
    ("sizes", "prior", "expected"), [((400, 400), 0.5, 731), ((45, 4500), 0.1, 323)]
)
def test_trial_vectors(sizes, prior, expected):
    assert trial_count(*sizes, prior) == expected


def test_limit_vector():
    found = ExactBlocks(correct=430, trials=731, prior=0.5)
    assert found.lower(0.025) == pytest.approx(0.103155, abs=1e-6)
    assert found.value == pytest.approx(2 * 430 / 731 - 1)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (1, 1), (10, 3), (60, 200), (3, 900)])
def test_trial_count_by_scan(sizes, prior):
    def exhausted(trials):
        members, holdout = sizes
        law = stats.binom(trials, prior)
        return law.sf(members) + law.cdf(trials - holdout - 1)

    fits = [t for t in range(sum(sizes) + 1) if exhausted(t) <= 0.01]
    assert trial_count(*sizes, prior) == max(fits)


def draw_blocks(rng, members, holdout, laws):
    blocks = np.zeros((64, len(laws[0]), 2), dtype=np.int64)
    for side, (count, law) in enumerate(((holdout, laws[1]), (members, laws[0]))):
        rows = rng.choice(len(law), count, p=law)
        np.add.at(blocks, (rng.integers(0, 64, count), rows, side), 1)
    return blocks


LEAK = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.25, 0.25, 0.25, 0.25])


@pytest.mark.parametrize(
    ("sizes", "prior", "laws"),
    [
        ((60, 60), 0.5, LEAK),
        ((60, 60), 0.5, (LEAK[1], LEAK[1])),
        ((20, 300), 0.1, LEAK),
        ((200, 15), 0.8, LEAK),
        ((40, 40), 0.5, (np.array([1.0, 0.0]), np.array([0.5, 0.5]))),
    ],
)
def test_coverage(sizes, prior, laws):
    truth = np.abs(prior * laws[0] - (1 - prior) * laws[1]).sum()
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(300):
        found = exact_blocks(draw_blocks(rng, *sizes, laws), 20, prior, rng)
        missed += found.lower(0.1) > truth + 1e-12
        assert found.correct <= found.trials
    assert missed <= stats.binom.ppf(0.999, 300, 0.1)


def test_finds_a_leak():
    rng = np.random.default_rng(1)
    found = exact_blocks(draw_blocks(rng, 4000, 4000, LEAK), 7, 0.5, rng)
    assert found.value == pytest.approx(0.3, abs=0.04)
    assert 0.25 < found.lower(0.025) < 0.3


def test_the_number_of_trials_knows_neither_labels_nor_scores():
    rng = np.random.default_rng(2)
    blocks = draw_blocks(rng, 300, 300, LEAK)
    shuffled = blocks[:, ::-1, :]
    runs = [
        exact_blocks(table, 10, 0.5, np.random.default_rng(seed))
        for table in (blocks, shuffled)
        for seed in range(5)
    ]
    assert {run.trials for run in runs} == {runs[0].trials}


@pytest.mark.parametrize("sizes", [(0, 0), (0, 40), (1, 1), (2, 3)])
def test_hardly_any_rows(sizes):
    rng = np.random.default_rng(3)
    for _ in range(20):
        found = exact_blocks(draw_blocks(rng, *sizes, LEAK), 20, 0.5, rng)
        assert 0 <= found.lower(0.025) <= found.value <= 1
        assert 0 < found.standard_error <= 1
