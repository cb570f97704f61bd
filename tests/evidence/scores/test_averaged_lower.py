"""Many assignments averaged, against loops over rows, and for coverage where laws are known."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from mipaudit.evidence.scores.assignments import BLOCKS, HALVES, TURNS, assigned, assigned_blocks
from mipaudit.evidence.scores.attacker_families import Lessons, families
from mipaudit.evidence.scores.averaged_lower import (
    averaged,
    averaged_among,
    averaged_blocks,
    averaged_each,
)
from mipaudit.maths.binomial import MeanRate, folded_lower
from mipaudit.summaries.counts import RankedRows
from mipaudit.validation.laws import law


def _ranked(scores, member, seed, *, discrete=False, draws=2):
    order = np.lexsort((member, scores))
    scores, member = scores[order], member[order]
    rank = np.concatenate([[0], np.cumsum(scores[1:] != scores[:-1])])
    blocks = np.random.default_rng(seed).integers(0, 64, (draws, scores.size), dtype=np.uint8)
    return RankedRows(rank=rank, member=member, micro_blocks=blocks, discrete=discrete)


def _drawn(name, n_members, n_holdout, seed, **how):
    rng = np.random.default_rng([seed, n_members, n_holdout])
    members, holdout = law(name).sample(rng, n_members, n_holdout)
    member = np.repeat([True, False], [n_members, n_holdout])
    return _ranked(np.concatenate([members, holdout]), member, seed, **how)


def _lessons(rows, prior=0.5):
    run = assigned(rows, prior)
    return Lessons(counts=run.counts, prior=prior, even=run.even)


def test_every_row_trains_as_often_as_any_other():
    run = assigned(_drawn("gauss-shift-0.5", 150, 90, 1), 0.5)
    cells = run.counts.shape[-1]
    group = run.place // (2 * cells) % (HALVES + BLOCKS)
    for draw in np.split(group, len(group) // TURNS):
        trained = (draw < HALVES).sum(axis=0)
        assert trained.max() - trained.min() <= 1


@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_counts_are_of_the_rows(prior):
    rows = _drawn("two-valued", 80, 50, 2, discrete=True)
    run = assigned(rows, prior)
    for s, counts in enumerate(run.counts):
        again = np.zeros(run.counts.shape, dtype=int).ravel()
        for place in run.place[s]:
            again[place] += 1
        assert (again.reshape(run.counts.shape)[s] == counts).all()
    by_class = run.counts.sum(axis=(1, 3))
    assert (by_class == [50, 80]).all()


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_what_is_counted_of_attackers_is_what_they_guess(discrete, prior):
    name = "zipf-leak-1000" if discrete else "gauss-scale-2"
    lessons = _lessons(_drawn(name, 400, 300, 3, discrete=discrete), prior)
    z, g = (one.ravel() for one in np.indices(lessons.counts.shape[:2]))
    for family in families(lessons):
        for e in range(family.hits.shape[-1]):
            guess = family.values(np.full(z.shape, e), z, g)
            assert (guess >= 0).all()
            assert (guess <= 1).all()
            seen = lessons.counts[z, g].astype(float)
            hits = np.einsum("nk,nck->nc", guess, seen)
            squares = np.einsum("nk,nck->nc", guess**2, seen)
            assert family.hits[z, g, :, e] == pytest.approx(hits, abs=1e-3)
            assert family.squares[z, g, :, e] == pytest.approx(squares, abs=1e-3)


def test_empty_cells_behind_the_last_change_nothing():
    lessons = _lessons(_drawn("zipf-leak-1000", 400, 300, 3, discrete=True))
    cells = lessons.counts.shape[-1]
    behind = [(0, 0)] * 3 + [(0, lessons.whole - cells)]
    padded = Lessons(counts=np.pad(lessons.counts, behind), prior=0.5, even=False)
    assert padded.counts.shape[-1] > cells
    z = np.arange(len(padded.counts))
    for family, again in zip(families(lessons), families(padded), strict=True):
        assert (family.hits == again.hits).all()
        assert (family.squares == again.squares).all()
        for e in range(family.hits.shape[-1]):
            at = np.full(z.shape, e), z, np.full(z.shape, HALVES)
            assert (family.values(*at) == again.values(*at)[:, :cells]).all()


def test_no_attacker_sees_the_block_that_it_is_judged_on():
    lessons = _lessons(_drawn("gauss-shift-1", 300, 300, 4))
    later = lessons.counts.copy()
    block = HALVES + 2
    later[:, block:] = np.random.default_rng(4).permuted(later[:, block:], axis=-1)[..., ::-1]
    other = Lessons(counts=later, prior=0.5, even=True)
    z = np.arange(len(later))
    for family, again in zip(families(lessons), families(other), strict=True):
        for e in range(family.hits.shape[-1]):
            at = np.full(z.shape, e), z, np.full(z.shape, block)
            assert (family.values(*at) == again.values(*at)).all()


def test_many_audits_at_once_are_as_each_alone():
    audits = [
        _drawn("gauss-shift-1", 300, 300, 5),
        _drawn("two-valued", 40, 400, 6, discrete=True),
        _drawn("gauss-shift-0.25", 310, 290, 7),
        _drawn("gauss-scale-2", 30, 30, 8, draws=4),
    ]
    assert averaged_each(audits, 0.5) == [averaged(one, 0.5) for one in audits]


def test_the_limit_is_what_shows_on_either_side_with_the_error():
    tpr, fpr = (MeanRate(value=v, variance=1e-4, squares=1e-9) for v in (0.53, 0.5))
    limit = folded_lower(tpr, fpr, prior=0.5, alpha=0.05)
    shown, error = 0.03, math.sqrt(2e-4)
    tails = norm.sf((shown - limit) / error) + norm.sf((shown + limit) / error)
    assert 0 < limit < shown
    assert tails == pytest.approx(0.05, abs=1e-4)


def test_far_from_chance_the_limit_is_one_sided():
    tpr, fpr = (MeanRate(value=v, variance=1e-4, squares=1e-9) for v in (0.7, 0.3))
    limit = folded_lower(tpr, fpr, prior=0.5, alpha=0.025)
    assert limit == pytest.approx(0.4 - norm.isf(0.025) * math.sqrt(2e-4), abs=1e-4)


def test_where_others_may_gain_as_much_the_error_is_halved():
    tpr, fpr = (MeanRate(value=v, variance=1e-4, squares=1e-9) for v in (0.7, 0.3))
    limit = folded_lower(tpr, fpr, prior=0.5, alpha=0.025, anywhere=True)
    assert limit == pytest.approx(0.4 - norm.isf(0.0125) * math.sqrt(2e-4), abs=1e-4)


def test_no_limit_is_below_the_baseline_or_above_1():
    sure = MeanRate(value=1.0, variance=0.0, squares=1e-3)
    never = MeanRate(value=0.0, variance=0.0, squares=1e-3)
    assert folded_lower(never, sure, prior=0.9, alpha=0.025) == pytest.approx(0.8)
    assert 0.9 < folded_lower(sure, never, prior=0.5, alpha=0.025) <= 1


def test_attackers_who_guess_by_chance_make_no_rate_surer_than_a_fixed_one_does():
    found = averaged(_drawn("null-gaussian", 300, 300, 0, draws=4), 0.5)
    for rate, size in ((found.tpr, found.n_members), (found.fpr, found.n_holdout)):
        # Of sure guesses it would be all of this; soft ones vary less.
        assert rate.variance >= 0.6 * rate.value * (1 - rate.value) / size


_CELLS = [
    ("null-gaussian", 30, 30, 0.5),
    ("null-gaussian", 300, 300, 0.5),
    ("null-discrete-2", 300, 300, 0.5),
    ("null-gaussian", 25, 1000, 0.5),
    ("null-gaussian", 200, 200, 0.1),
    ("gauss-shift-0.25", 100, 100, 0.5),
    ("two-valued", 300, 300, 0.5),
    ("gauss-shift-1", 150, 150, 0.9),
]


@pytest.mark.parametrize(("name", "n_members", "n_holdout", "prior"), _CELLS)
def test_the_limit_holds(name, n_members, n_holdout, prior):
    files, alpha = 300, 0.025
    discrete = name in {"two-valued", "null-discrete-2"}
    audits = [
        _drawn(name, n_members, n_holdout, seed, discrete=discrete, draws=4)
        for seed in range(files)
    ]
    truth = law(name).advantage(prior)
    misses = sum(one.lower(alpha) > truth + 1e-12 for one in averaged_each(audits, prior))
    assert misses <= binom.isf(1e-4, files, alpha)


def test_a_limit_that_is_not_folded_misses_more_often_than_it_may():
    """The control: the score limit by itself, on two values without a leak."""
    files, alpha = 800, 0.025
    audits = [_drawn("null-discrete-2", 1_000, 1_000, seed, discrete=True) for seed in range(files)]
    z = norm.isf(alpha)
    misses = 0
    for one in averaged_each(audits, 0.5):
        slack = math.hypot(one.tpr.falls(z, alpha), one.fpr.rises(z, alpha))
        misses += one.tpr.value - one.fpr.value - slack > 0
    assert misses > binom.isf(0.05, files, alpha)


def _counted(member_shares, holdout_shares, sizes, seed):
    """Return rows counted by micro-block, cell and class."""
    rng = np.random.default_rng(seed)
    sides = [
        rng.multinomial(size, np.tile(shares, 64) / 64).reshape(64, -1)
        for size, shares in zip(sizes, (holdout_shares, member_shares), strict=True)
    ]
    return np.stack(sides, axis=2)


_EVEN = np.full(12, 1 / 12)
_TILTED = np.arange(1, 13) / 78


@pytest.mark.parametrize("burn_in", [7, 20])
@pytest.mark.parametrize("sizes", [(100, 100), (40_000, 40_000)])
def test_counted_rows_stand_for_as_many(burn_in, sizes):
    blocks = _counted(_TILTED, _EVEN, sizes, 1)
    run = assigned_blocks(blocks, burn_in)
    assert run.sizes == sizes
    by_class = run.counts.sum(axis=(1, 3))
    assert (by_class == sizes).all()
    # Few rows in the burn-in are cut points: they train alone, in every order.
    group = run.place // (2 * run.counts.shape[-1]) % (HALVES + BLOCKS)
    block = np.repeat(np.arange(64), group.shape[1] // 64)
    assert (group[:, block < burn_in] < HALVES).all() == (sizes[0] == 100)
    again = np.zeros(run.counts.size)
    np.add.at(again, run.place, np.broadcast_to(run.times, run.place.shape))
    assert (again.reshape(run.counts.shape) == run.counts).all()


def test_blocks_of_counted_rows_are_taken_in_any_order():
    blocks = _counted(_TILTED, _EVEN, (40_000, 40_000), 2)
    turned = np.roll(blocks, 8, axis=0)
    one, other = (averaged_blocks(counts, 7, 0.5) for counts in (blocks, turned))
    assert one.lower(0.025) == pytest.approx(other.lower(0.025), abs=1e-12)


@pytest.mark.parametrize("sizes", [(60, 900), (300, 300), (20_000, 20_000)])
@pytest.mark.parametrize("member", [_EVEN, _TILTED])
def test_the_limit_of_counted_rows_holds(sizes, member):
    files, alpha = 300, 0.025
    truth = np.abs(member - _EVEN).sum() / 2
    misses = sum(
        averaged_blocks(_counted(member, _EVEN, sizes, seed), 16, 0.5).lower(alpha) > truth + 1e-12
        for seed in range(files)
    )
    assert misses <= binom.isf(1e-4, files, alpha)


def test_nothing_held_out_is_the_baseline():
    blocks = np.zeros((64, 4, 2), dtype=np.int64)
    blocks[:20, :, 0] = 3
    blocks[25, 1, 0] = 9
    for prior in (0.2, 0.5, 0.9):
        found = averaged_blocks(blocks, 20, prior)
        assert found.value == found.lower(0.025) == pytest.approx(abs(2 * prior - 1))
        assert found.standard_error == 1


def _of_same_rows(shares, blocks, seed):
    """Return counts of an idle score of the rows of another one."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.multinomial(blocks[..., c].sum(axis=1), shares) for c in (0, 1)], axis=2)


def _several(member, sizes, seed, idle=(3, 7)):
    """Return counts of a score with these shares in members, then of idle ones."""
    first = _counted(member, _EVEN, sizes, seed)
    others = (_of_same_rows(np.full(k, 1 / k), first, [seed, k]) for k in idle)
    return [first, *others]


def _guesses_by_hand(counts, prior):
    """Each attacker on counts by block, class and cell: its guesses in each block, then whose."""
    lessons = Lessons(counts=counts[None], prior=prior, even=False)
    every, soft = np.arange(len(counts)), []
    for family in families(lessons):
        for e in range(family.hits.shape[-1]):
            guess = family.values(np.full(every.size, e), 0 * every, every)
            soft.append((family.unsure is not None, guess))
    return soft


def _chosen_by_hand(shown, sizes, prior, caution):
    """The attacker with the best past, from what each shows of every block so far."""
    precision = [prior**2 / m + (1 - prior) ** 2 / h for h, m in sizes]
    weight = np.array([1 / one for one in precision]) / sum(1 / one for one in precision)
    gains = []
    for hits, squares in shown:
        rate, square = weight @ (hits / sizes), weight @ (squares / sizes)
        doubt = (square - rate**2 + 0.5 / sizes.sum(axis=0)) / sizes.sum(axis=0)
        gain = prior * rate[1] - (1 - prior) * rate[0]
        gains.append((gain, math.sqrt(prior**2 * doubt[1] + (1 - prior) ** 2 * doubt[0])))
    best = max(range(2, len(gains)), key=lambda e: gains[e][0] - caution * gains[e][1])
    constant = max((0, 1), key=lambda e: gains[e][0])
    return constant if gains[best][0] < gains[constant][0] else best


def _by_hand(tables, burn_in, prior, caution):
    """The mean rates and their variances, guess by guess; the burn-in only trains."""
    rates, squares, each, late = np.zeros(2), np.zeros(2), np.zeros((64, 2)), 64 - burn_in
    for turn in range(TURNS):
        step = turn * late // TURNS
        group = [m % 2 for m in range(burn_in)]
        group += [HALVES + (m + step) % late * BLOCKS // late for m in range(late)]
        attackers = []
        for number, blocks in enumerate(tables):
            counts = np.zeros((HALVES + BLOCKS, 2, blocks.shape[1]))
            for m, g in enumerate(group):
                counts[g] += blocks[m].T
            for soft, guess in _guesses_by_hand(counts, prior)[2 * (number > 0) :]:
                hits = np.einsum("gk,gck->gc", guess, counts)
                attackers.append((soft, hits, np.einsum("gk,gck->gc", guess**2, counts)))
        attackers.sort(key=lambda one: one[0])
        sizes = counts.sum(axis=2)
        weights = np.array([(b + 0.5) ** 2 for b in range(BLOCKS)])
        weights /= prior**2 / sizes[HALVES:, 1] + (1 - prior) ** 2 / sizes[HALVES:, 0]
        weights /= weights.sum() * TURNS
        for g, one in enumerate(weights, HALVES):
            shown = [(hits[:g], square[:g]) for _, hits, square in attackers]
            _, hits, square = attackers[_chosen_by_hand(shown, sizes[:g], prior, caution)]
            rates += one * hits[g] / sizes[g]
            squares += one * square[g] / sizes[g]
            each[np.array(group) == g] += one / sizes[g]
    weighed = (tables[0].sum(axis=1) * each**2).sum(axis=0)
    return rates, (squares - rates**2) * weighed, weighed


@pytest.mark.parametrize("prior", [0.3, 0.5])
@pytest.mark.parametrize(("sizes", "caution"), [((300, 300), 0.5), ((2_000, 900), 0.641)])
def test_among_several_scores_is_the_slow_obvious_method(prior, sizes, caution):
    tables = _several(_TILTED, sizes, 4)[::-1]
    found = averaged_among(tables, 13, prior)
    rates, variances, weighed = _by_hand(tables, 13, prior, caution)
    for side, one in enumerate((found.fpr, found.tpr)):
        expected = rates[side], variances[side], weighed[side]
        assert (one.value, one.variance, one.squares) == pytest.approx(expected, abs=1e-9)


def test_a_score_twice_is_the_score_once():
    blocks = _counted(_TILTED, _EVEN, (300, 200), 4)
    assert averaged_among([blocks, blocks], 13, 0.3) == averaged_among([blocks], 13, 0.3)


def test_among_idle_scores_the_leaking_one_is_found():
    tables = _several(_TILTED, (4_000, 4_000), 5, idle=(5, 12, 30))
    alone = averaged_blocks(tables[0], 7, 0.5)
    together = averaged_among(tables[::-1], 7, 0.5)
    assert together.value == pytest.approx(alone.value, abs=0.02)
    assert together.lower(0.025) == pytest.approx(alone.lower(0.025), abs=0.02)


def test_scores_that_were_fitted_on_the_burn_in_are_not_judged_there():
    """A score that knows the burn-in's labels by heart, and no other: the control is judged."""
    blocks = _counted(_EVEN, _EVEN, (20_000, 20_000), 6)
    burned = blocks[:16].sum(axis=1)
    blocks[:16] = 0
    blocks[:16, 0, 0], blocks[:16, 1, 1] = burned.T
    assert averaged_blocks(blocks, 16, 0.5).lower(0.025) > 0.1
    for tables in ([blocks], [blocks, blocks]):
        found = averaged_among(tables, 16, 0.5)
        assert found.lower(0.025) == 0
        assert (found.n_holdout, found.n_members) == tuple(blocks[16:].sum(axis=(0, 1)))


@pytest.mark.parametrize("sizes", [(60, 900), (150, 150), (8_000, 8_000)])
@pytest.mark.parametrize(("member", "prior"), [(_EVEN, 0.5), (_TILTED, 0.5), (_EVEN, 0.1)])
def test_the_limit_among_several_scores_holds(sizes, member, prior):
    files, alpha = 200, 0.025
    truth = np.abs(prior * member - (1 - prior) * _EVEN).sum()
    misses = sum(
        averaged_among(_several(member, sizes, seed), 16, prior).lower(alpha) > truth + 1e-12
        for seed in range(files)
    )
    assert misses <= binom.isf(1e-4, files, alpha)


def test_the_limit_holds_among_scores_that_gain_as_much_and_are_opposed():
    # All are right of a tenth of either class; elsewhere just half of them say 'member'.
    words = np.array([word for word in product((0, 1), repeat=4) if sum(word) == 2])
    files, leak, said = (
        800,
        0.1,
        np.concatenate([np.ones((1, 4), int), np.zeros((1, 4), int), words]),
    )
    rest = np.full(len(words), (1 - leak) / len(words))
    laws = (np.concatenate([[0, leak], rest]), np.concatenate([[leak, 0], rest]))
    halved = folded = 0
    for seed in range(files):
        rng = np.random.default_rng([7, seed])
        rows = [rng.multinomial(2_000, np.tile(one, 64) / 64).reshape(64, -1) for one in laws]
        seen = np.stack(rows, axis=-1)
        tables = [
            np.stack([seen[:, side == value].sum(axis=1) for value in (0, 1)], axis=1)
            for side in said.T
        ]
        found = averaged_among(tables, 12, 0.5)
        halved += found.lower(0.025) > leak + 1e-12
        folded += replace(found, several=False).lower(0.025) > leak + 1e-12
    assert halved <= binom.isf(1e-3, files, 0.025)
    assert folded > halved + 5
