"""Attacks that are settled by the scores and the sizes of the classes alone."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.epsilon.attacks import guess_counts, planned_attacks, planned_cuts

SIZES = [(1, 1), (2, 5), (20, 20), (20, 300), (3000, 3000), (250, 25_000), (25_000, 25_000)]


def drawn(sizes, seed=0, rounded=None):
    rng = np.random.default_rng([61, seed, *sizes])
    members, holdout = rng.normal(0.7, 1, sizes[0]), rng.normal(size=sizes[1])
    if rounded is not None:
        members, holdout = members.round(rounded), holdout.round(rounded)
    return np.sort(members), np.sort(holdout)


def together(members, holdout):
    return np.sort(np.concatenate([members, holdout]))


@pytest.mark.parametrize("plan", [planned_attacks, planned_cuts])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("rounded", [None, 1, 0])
def test_shares_are_no_more_than_the_error(plan, sizes, rounded):
    ordered = together(*drawn(sizes, rounded=rounded))
    found = plan(ordered, sizes)
    assert bool(found) == (ordered[0] < ordered[-1])
    assert sum(one.share for one in found) <= 1 + 1e-12
    assert all(one.share > 0 and one.ways for one in found)
    assert len({(one.above, one.below) for one in found}) == len(found) <= 110


@pytest.mark.parametrize("plan", [planned_attacks, planned_cuts])
def test_labels_are_not_looked_at(plan):
    members, holdout = drawn((400, 400), rounded=1)
    ordered = together(members, holdout)
    shuffled = np.random.default_rng(3).permutation(ordered)
    assert plan(ordered, (400, 400)) == plan(together(shuffled[:400], shuffled[400:]), (400, 400))
    # Nor the values: only which are equal, and their order.
    assert plan(np.exp(ordered), (400, 400)) == plan(ordered, (400, 400))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("rounded", [None, 0])
def test_sets_share_no_row_and_cut_no_tie(sizes, rounded):
    ordered = together(*drawn(sizes, rounded=rounded))
    for one in planned_attacks(ordered, sizes):
        assert 0 < one.above + one.below <= ordered.size
        assert max(one.above, one.below) < ordered.size
        for place in (ordered.size - one.above, one.below):
            assert place in {0, ordered.size} or ordered[place - 1] < ordered[place]


@pytest.mark.parametrize("sizes", [(30, 30), (20, 300)])
@pytest.mark.parametrize("rounded", [None, 1, 0])
def test_guesses_are_counted_as_one_by_one(sizes, rounded):
    members, holdout = drawn(sizes, rounded=rounded)
    ordered = together(members, holdout)
    for one in planned_attacks(ordered, sizes):
        counts = guess_counts(one, ordered, members, holdout)
        upper = ordered[ordered.size - one.above] if one.above else np.inf
        lower = ordered[one.below - 1] if one.below else -np.inf
        assert counts.tp == sum(score >= upper for score in members)
        assert counts.fp == sum(score >= upper for score in holdout)
        assert counts.fn == sum(score <= lower for score in members)
        assert counts.tn == sum(score <= lower for score in holdout)
        back = counts.reversed.reversed
        assert back == counts
        assert counts.reversed.correct == counts.wrong


def test_equal_classes_have_each_set_once_and_both_ways():
    ordered = together(*drawn((500, 500)))
    found = planned_attacks(ordered, (500, 500))
    both = [one for one in found if one.above and one.below]
    assert all(one.above == one.below and one.ways == (True, False) for one in both)
    assert both[0].above == 470
    assert sum(one.share for one in both) == pytest.approx(0.75)
    assert [one.share for one in both] == sorted((one.share for one in both), reverse=True)


def test_a_mirrored_score_has_mirrored_sets():
    ordered = together(*drawn((60, 400)))
    found = {
        (a.above, a.below, a.ways, round(a.share, 12)) for a in planned_attacks(ordered, (60, 400))
    }
    mirrored = planned_attacks(-ordered[::-1], (60, 400))
    turned = {
        (a.below, a.above, tuple(not way for way in reversed(a.ways)), round(a.share, 12))
        for a in mirrored
    }
    assert {one[:2] for one in found} == {one[:2] for one in turned}
    assert found == turned


def test_cuts_of_a_mirrored_score_are_mirrored():
    ordered = together(*drawn((60, 400)))
    found = {one.above: one.share for one in planned_cuts(ordered, (60, 400))}
    mirrored = {ordered.size - above: share for above, share in found.items()}
    assert mirrored == pytest.approx(found)


def test_two_values_are_one_attack_of_both_kinds():
    ordered = np.repeat([0.0, 1.0], [420, 380])
    found = {(one.above, one.below): one for one in planned_attacks(ordered, (400, 400))}
    assert set(found) == {(380, 420), (380, 0), (0, 420)}
    assert found[380, 420].share == pytest.approx(0.75)
    assert sum(one.share for one in found.values()) == pytest.approx(1)


def test_equal_scores_leave_no_attack():
    assert planned_attacks(np.full(50, 3.0), (20, 30)) == ()
    assert planned_cuts(np.full(50, 3.0), (20, 30)) == ()


def test_infinite_scores_are_ordinary_values():
    ordered = np.repeat([-np.inf, 0.5, np.inf], [100, 200, 100])
    assert (100, 100) in {(one.above, one.below) for one in planned_attacks(ordered, (200, 200))}
