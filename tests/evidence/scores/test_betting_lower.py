from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mipaudit.evidence.scores.betting_lower import betting


def draw_blocks(rng, members, holdout, laws):
    blocks = np.zeros((64, len(laws[0]), 2), dtype=np.int64)
    for side, (count, law) in enumerate(((holdout, laws[1]), (members, laws[0]))):
        rows = rng.choice(len(law), count, p=law)
        np.add.at(blocks, (rng.integers(0, 64, count), rows, side), 1)
    return blocks


LEAK = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.25, 0.25, 0.25, 0.25])
ONE = np.array([1.0, 0.0]), np.array([0.5, 0.5])


@pytest.mark.parametrize(
    ("sizes", "prior", "laws"),
    [
        ((60, 60), 0.5, LEAK),
        ((60, 60), 0.5, (LEAK[1], LEAK[1])),
        ((20, 300), 0.1, LEAK),
        ((200, 15), 0.8, LEAK),
        ((40, 40), 0.5, ONE),
        ((150, 150), 0.9, ONE),
    ],
)
def test_coverage(sizes, prior, laws):
    truth = np.abs(prior * laws[0] - (1 - prior) * laws[1]).sum()
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(300):
        found = betting(draw_blocks(rng, *sizes, laws), 20, prior, rng)
        missed += found.lower(0.1) > truth + 1e-12
    assert missed <= stats.binom.ppf(0.999, 300, 0.1)


def test_finds_a_leak():
    rng = np.random.default_rng(1)
    found = betting(draw_blocks(rng, 4000, 4000, LEAK), 7, 0.5, rng)
    assert found.value == pytest.approx(0.3, abs=0.04)
    assert 0.25 < found.lower(0.025) < 0.3
    assert found.lower(0.0025) < found.lower(0.025)


def test_finds_a_leak_of_few_members():
    others = np.full(99, 1 / 99)
    rare = np.append(0.01, 0.99 * others), np.append(0.0, others)
    rng = np.random.default_rng(1)
    limits = [
        betting(draw_blocks(rng, 20_000, 20_000, rare), 7, 0.5, rng).lower(0.025) for _ in range(5)
    ]
    assert 0.006 < np.mean(limits) < 0.01


def test_many_rows_of_the_larger_class_make_up_for_few_of_the_other():
    rng = np.random.default_rng(1)

    def mean_limit(holdout):
        draws = (betting(draw_blocks(rng, 150, holdout, LEAK), 20, 0.5, rng) for _ in range(80))
        return np.mean([found.lower(0.1) for found in draws])

    assert mean_limit(1500) > mean_limit(150) + 0.01


@pytest.mark.parametrize("sizes", [(300, 300), (30, 2000)])
def test_each_row_after_the_burn_in_is_bet_on_once(sizes):
    rng = np.random.default_rng(2)
    blocks = draw_blocks(rng, *sizes, LEAK)
    found = betting(blocks, 20, 0.5, rng)
    assert [found.n_holdout, found.n_members] == blocks[20:].sum(axis=(0, 1)).tolist()
    for one in found.rounds:
        assert one.counts.sum(axis=2).min() > 0


def test_what_comes_later_moves_no_earlier_bet():
    blocks = draw_blocks(np.random.default_rng(3), 400, 400, LEAK)
    other = blocks.copy()
    other[-9:] = other[-9:, ::-1]
    *bets, last = betting(blocks, 10, 0.5, np.random.default_rng(0)).rounds
    *again, changed = betting(other, 10, 0.5, np.random.default_rng(0)).rounds
    for one, two in zip(bets, again, strict=True):
        for name in ("counts", "guesses", "rates", "squares"):
            assert (getattr(one, name) == getattr(two, name)).all()
    assert (last.counts != changed.counts).any()
    assert (last.rates == changed.rates).all()


def test_as_many_rows_as_numpy_deals_and_more():
    blocks = draw_blocks(np.random.default_rng(5), 500, 500, LEAK) * 10**8
    found = betting(blocks, 10, 0.5, np.random.default_rng(0))
    assert {len(one.counts) for one in found.rounds} == {1}
    assert 0 < found.lower(0.025) <= found.value


@pytest.mark.parametrize("sizes", [(0, 0), (0, 40), (1, 1), (2, 3)])
def test_hardly_any_rows(sizes):
    rng = np.random.default_rng(3)
    for _ in range(20):
        found = betting(draw_blocks(rng, *sizes, LEAK), 20, 0.5, rng)
        assert 0 <= found.lower(0.025) <= found.value <= 1
        assert 0 < found.standard_error <= 1
