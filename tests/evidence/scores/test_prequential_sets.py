""""""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.evidence.scores.prequential_sets import attacker_sets, equal_mass_starts, fit, pool

MERGED = (4, 8, 16, 32, 64, 128, 256)
WINDOWS = (0.01, 0.03, 0.1)
# Order of the attackers when there are too few cells to merge.
ALL_OR_NONE, PREFIX, SUFFIX, INTERVAL, OUTSIDE, SIGN = slice(0, 2), 2, 3, 4, 5, 6
GAINS = st.lists(st.integers(-5, 5), min_size=2, max_size=4)


def test_common_weights_vector():
    sizes = np.array([[95, 10], [110, 12], [95, 8]])
    weight = 1 / (0.25 / sizes).sum(axis=1)
    found = pool(np.array([[30.0, 6], [28, 8], [31, 5]]), sizes, 0.5, weight)
    assert found.tpr == pytest.approx(0.633245, abs=1e-6)
    assert found.fpr == pytest.approx(0.294319, abs=1e-6)
    assert found.n_members == pytest.approx(29.9973, abs=1e-4)
    assert found.n_holdout == pytest.approx(297.054, abs=1e-3)


def attackers_by_hand(table, mass, prior):
    """All sets fitted to one table of (holdout, member) counts, cell by cell."""
    cells = range(len(table))
    n2 = max(sum(h for h, _ in table), 1)
    n1 = max(sum(m for _, m in table), 1)
    gains = [prior * m / n1 - (1 - prior) * h / n2 for h, m in table]
    errors = [
        math.sqrt(
            prior**2 * (m / n1) * (1 - m / n1) / n1
            + (1 - prior) ** 2 * (h / n2) * (1 - h / n2) / n2
        )
        for h, m in table
    ]
    majority = prior > 0.5

    def best(candidates):
        # The first of the best, in the order in which the candidates are made.
        return max(candidates, key=lambda s: round(sum(gains[c] for c in s), 12))

    everything = set(cells)
    prefixes = [set(range(cut)) for cut in range(1, len(table) + 1)]
    suffixes = [set(range(cut, len(table))) for cut in range(1, len(table) + 1)]
    spans = [set(range(a, b + 1)) for b in cells for a in range(b + 1)]
    found = [
        everything if majority else set(),
        set() if majority else everything,
        best(prefixes),
        best(suffixes),
        best(spans),
        best([everything - span for span in spans]),
    ]
    for count in MERGED:
        if count < len(table):
            run, below = [], 0.0
            for cell in cells:
                run.append(min(int((below + mass[cell] / 2) * count), count - 1))
                below += mass[cell]
            totals = {r: sum(g for g, q in zip(gains, run, strict=True) if q == r) for r in run}
            found.append({c for c in cells if totals[run[c]] > 0})
    found.append({c for c in cells if gains[c] > 0})
    found.extend(
        {c for c in cells if (gains[c] > 0 if abs(gains[c]) > scale * errors[c] else majority)}
        for scale in (0.5, 1.0, 2.0)
    )
    middles = [sum(mass[:cell]) + mass[cell] / 2 for cell in cells]
    for half in WINDOWS:
        near = [
            [c for c in cells if abs(middles[c] - middles[cell]) <= half + 1e-12] for cell in cells
        ]
        once = [sum(gains[c] for c in near[cell]) for cell in cells]
        found.append({cell for cell in cells if sum(once[c] for c in near[cell]) > 1e-12})
    return found


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.7])
@pytest.mark.parametrize(("cells", "rows"), [(3, 70), (7, 1300), (20, 2000)])
def test_is_the_slow_obvious_method(cells, rows, prior):
    rng = np.random.default_rng(cells)
    tables = rng.multinomial(rows, rng.dirichlet(np.ones(2 * cells)), 4).reshape(4, cells, 2)
    mass = tables[0].sum(axis=1) / rows
    for table, sets in zip(tables, fit(tables, mass, prior), strict=True):
        expected = attackers_by_hand([tuple(cell) for cell in table.tolist()], mass, prior)
        assert [set(np.flatnonzero(one)) for one in sets] == expected


def sets_of(gains, prior=0.5, errors=None):
    gains = np.asarray(gains, dtype=float)[None]
    errors = np.zeros_like(gains) if errors is None else np.asarray(errors, float)[None]
    return attacker_sets(gains, errors, np.full(gains.size, 1 / gains.size), prior)[0]


def runs(chosen):
    return sum(now and not before for before, now in itertools.pairwise([False, *chosen]))


@settings(max_examples=200)
@given(gains=GAINS)
def test_each_attacker_is_the_best_of_its_kind(gains):
    sets = sets_of(gains)
    totals = sets @ np.array(gains, dtype=float)
    size = len(gains)
    assert totals[PREFIX] == max(sum(gains[:cut]) for cut in range(1, size + 1))
    assert totals[SUFFIX] == max(sum(gains[cut:]) for cut in range(1, size + 1))
    pairs = list(itertools.combinations_with_replacement(range(size), 2))
    assert totals[INTERVAL] == max(sum(gains[a : b + 1]) for a, b in pairs)
    assert totals[OUTSIDE] == max(sum(gains[:a]) + sum(gains[b + 1 :]) for a, b in pairs)
    assert totals[SIGN] == sum(gain for gain in gains if gain > 0)
    assert runs(sets[PREFIX]) <= 1
    assert runs(sets[INTERVAL]) == 1
    assert runs(~sets[OUTSIDE]) == 1


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
def test_the_trivial_attackers_come_first(prior):
    constant = sets_of([1.0, -2.0, 3.0], prior)[ALL_OR_NONE]
    assert constant.all(axis=1).sum() == 1
    assert (~constant).all(axis=1).sum() == 1


@pytest.mark.parametrize("prior", [0.1, 0.9])
def test_doubtful_cells_go_to_the_majority(prior):
    gains, errors = [0.1, 0.9, -0.1, -5.0], [1.0, 1.0, 1.0, 1.0]
    half, one, two = sets_of(gains, prior, errors)[-6:-3]
    doubt = prior > 0.5
    assert half.tolist() == [doubt, True, doubt, False]
    assert one.tolist() == two.tolist() == [doubt, doubt, doubt, False]


def test_merged_cells_follow_the_sign_of_their_sum():
    gains = np.tile([3.0, -2.0, -2.0, 2.0], 4)
    sets = attacker_sets(gains[None], np.zeros((1, 16)), np.full(16, 1 / 16), 0.5)[0]
    merged = sets[6]  # four runs of four cells: each sums to 1
    assert merged.all()
    merged = sets[7]  # eight runs of two: 1, 0, 1, 0
    assert merged.tolist() == [True, True, False, False] * 4


def test_training_sets_do_not_mix():
    rng = np.random.default_rng(0)
    gains, errors = rng.normal(size=(5, 40)), rng.random((5, 40))
    mass = rng.dirichlet(np.ones(40))
    together = attacker_sets(gains, errors, mass, 0.5)
    for one in range(5):
        alone = attacker_sets(gains[one : one + 1], errors[one : one + 1], mass, 0.5)[0]
        np.testing.assert_array_equal(together[one], alone)


@pytest.mark.parametrize("cells", [5, 9, 300])
def test_merged_sets_one_run_at_a_time(cells):
    """All runs are summed in one call: it must not matter."""
    rng = np.random.default_rng(1)
    gains, mass = rng.normal(size=(3, cells)), rng.dirichlet(np.ones(cells))
    sets = attacker_sets(gains, np.zeros_like(gains), mass, 0.5)
    counts = [count for count in (4, 8, 16, 32, 64, 128, 256) if count < cells]
    for index, count in enumerate(counts, 6):
        starts = equal_mass_starts(mass, count)
        expected = np.concatenate(
            [
                np.repeat(gains[:, a:b].sum(axis=1, keepdims=True) > 0, b - a, axis=1)
                for a, b in itertools.pairwise([*starts, cells])
            ],
            axis=1,
        )
        np.testing.assert_array_equal(sets[:, index], expected)


def smoothed_by_hand(gains, mass, half):
    """Triangular windows in cumulative mass, cell by cell."""
    middles = [sum(mass[:cell]) + mass[cell] / 2 for cell in range(len(mass))]
    near = [[c for c, there in enumerate(middles) if abs(there - here) <= half] for here in middles]
    once = [sum(gains[c] for c in cells) for cells in near]
    return [sum(once[c] for c in cells) > 0 for cells in near]


@pytest.mark.parametrize("cells", [4, 60, 333])
def test_smoothed_attackers_are_signs_of_moving_sums(cells):
    rng = np.random.default_rng(2)
    gains, mass = rng.normal(size=cells), rng.dirichlet(np.ones(cells))
    sets = attacker_sets(gains[None], np.zeros((1, cells)), mass, 0.5)[0]
    for index, half in zip((-3, -2, -1), (0.01, 0.03, 0.1), strict=True):
        assert sets[index].tolist() == smoothed_by_hand(gains, mass, half)


def test_a_value_that_many_records_share_is_not_smoothed():
    mass = np.array([0.1, 0.1, 0.3, 0.1, 0.1, 0.3])
    gains = np.array([1.0, 1.0, -0.5, 1.0, 1.0, -0.5])
    sets = attacker_sets(gains[None], np.zeros((1, 6)), mass, 0.5)[0]
    assert sets[-1].tolist() == [True, True, False, True, True, False]


def test_smoothing_finds_the_waves_below_the_noise():
    """Weak and smooth: the raw sign errs in a third of the cells, the smoothed one rarely."""
    rng = np.random.default_rng(3)
    cells = 400
    truth = np.sin(2 * np.pi * 3 * (np.arange(cells) + 0.5) / cells)
    gains = truth + rng.normal(scale=2.0, size=cells)
    sets = attacker_sets(gains[None], np.ones((1, cells)), np.full(cells, 1 / cells), 0.5)[0]
    wrong = [np.mean(one != (truth > 0)) for one in (sets[-7], sets[-2])]
    assert wrong[0] > 0.25
    assert wrong[1] < 0.1
