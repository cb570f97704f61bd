from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from mipaudit.maths.chance.permutation import _cells, _least, difference_p_value
from mipaudit.maths.class_limits.roc_counts import Ladder, exact_ladder


def p_values(draw, sizes, files=200, **settings):
    """p-values of files in which nothing differs but what ``draw`` makes differ."""
    rng = np.random.default_rng(1)
    return np.array(
        [
            difference_p_value(
                exact_ladder(draw(rng, sizes[0], 1), draw(rng, sizes[1], 0)), seed=[n], **settings
            )
            for n in range(files)
        ]
    )


NULLS = {
    "continuous": lambda rng, n, _: rng.normal(size=n),
    "ties": lambda rng, n, _: rng.integers(0, 4, n).astype(float),
    "two values": lambda rng, n, _: (rng.random(n) < 0.1).astype(float),
    "heavy": lambda rng, n, _: rng.standard_cauchy(n),
}


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("law", NULLS)
@pytest.mark.parametrize("sizes", [(20, 20), (8, 300), (300, 300)])
def test_uniform_or_above_where_nothing_differs(law, sizes, ordered):
    found = p_values(NULLS[law], sizes, ordered=ordered)
    for level in (0.01, 0.05, 0.1, 0.3, 0.7):
        below = int((found <= level + 1e-12).sum())
        assert stats.binom.sf(below - 1, found.size, level) > 1e-4


def test_uniform_over_every_labelling_of_one_file():
    """Exact by enumeration: of all labellings, a share of at most t has a p-value up to t."""
    scores = np.array([0.0, 0, 1, 2, 2, 2, 3, 4, 5])
    found = []
    for chosen in combinations(range(9), 4):
        member = np.isin(np.arange(9), chosen)
        ladder = exact_ladder(scores[member], scores[~member])
        found += [difference_p_value(ladder, seed=[seed, *chosen]) for seed in range(3)]
    found = np.array(found)
    for level in (0.05, 0.1, 0.2, 0.5):
        assert (found <= level).mean() <= level + 3 * np.sqrt(level / found.size)
    # Not powerless either: the extreme labellings are told.
    extreme = exact_ladder(scores[5:], scores[:5])
    assert difference_p_value(extreme, seed=[0]) < 0.15


@pytest.mark.parametrize(
    ("leak", "power"),
    [
        (lambda rng, n, member: rng.normal(0.3 * member, 1, n), 0.85),
        (lambda rng, n, member: rng.normal(0, 1 + 0.3 * member, n), 0.85),
        (lambda rng, n, m: np.where(rng.random(n) < 0.05 * m, 9, rng.normal(size=n)), 0.7),
        (lambda rng, n, m: (rng.integers(0, 40, n) * 2 + m * (rng.random(n) < 0.8)) % 80.0, 0.9),
    ],
    ids=["shift", "scale", "tail", "many modes"],
)
def test_power_at_300_and_300(leak, power):
    assert (p_values(leak, (300, 300), files=80) <= 0.05).mean() > power


def test_cells_do_not_know_the_labels():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=700).round(1)
    member = rng.random(700) < 0.3
    _, pooled = _cells(exact_ladder(scores[member], scores[~member]))
    _, again = _cells(exact_ladder(scores[~member], scores[member]))
    np.testing.assert_array_equal(pooled, again)
    members, total = _cells(exact_ladder(np.arange(3000.0), np.arange(3000.0) + 0.5))
    assert total.sum() == 6000
    assert members.sum() == 3000
    assert total.size == 40


def test_the_direction_does_not_matter():
    rng = np.random.default_rng(3)
    ladder = exact_ladder(rng.normal(0.2, 1, 90), rng.normal(size=140))
    swapped = Ladder(members=ladder.holdout, holdout=ladder.members, single=ladder.single)
    here, there, turned = (
        _least(one[0][None], one[1], ordered=True)[0]
        for one in map(_cells, (ladder, swapped, ladder.reversed()))
    )
    assert here == pytest.approx(there)
    # Steps that end at the middle of a cell turn to the other side.
    assert here == pytest.approx(turned, rel=0.2)


def test_nothing_to_tell(ladder_from):
    assert difference_p_value(ladder_from([9], [7]), seed=[0]) == 1
    assert difference_p_value(ladder_from([9, 3], [0, 0]), seed=[0]) == 1
    assert difference_p_value(ladder_from([1, 0], [0, 1]), seed=[0]) == 1


def test_many_rows_cost_no_more(ladder_from):
    half = 4 * 10**8
    same = ladder_from([half // 2, half // 2], [half // 2, half // 2])
    assert difference_p_value(same, seed=[0]) == 1
    moved = ladder_from([half // 2 + 10**5, half // 2 - 10**5], [half // 2, half // 2])
    assert difference_p_value(moved, seed=[0]) == 0.001
