"""What each query says."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.query.options import parse_queries
from mipaudit.commands.query.points import Geometry, Points, released_rows
from mipaudit.commands.query.scores import ask, density_ratio, synthetic_odds
from mipaudit.summaries.seed import DEFAULT_SEED, SeedChoice


def asked(words, records, synthetic, reference=None, *, levels=(), columns=1, seed=DEFAULT_SEED):
    space = Geometry(metric="euclidean", levels=levels, columns=columns)
    tables = records, synthetic, reference
    return ask(parse_queries(words), *tables, space, memory=1 << 30, seed=seed)


def on_a_line(words, *tables):
    """Ask queries of records of one number."""
    numbers = [np.asarray(one, dtype=np.float64).reshape(-1, 1) for one in tables]
    codes = [np.zeros((len(one), 0), dtype=np.int32) for one in numbers]
    points = [Points(numbers=n, codes=c) for n, c in zip(numbers, codes, strict=True)]
    return asked(words, *points)


def test_distances_on_a_line():
    words = ["nn", "kth:2", "kth:3", "lnr", "lnr:3"]
    found = on_a_line(words, [0.0, 10.0, 4.0], [1.0, 3.0, 10.0])[0]
    assert {name: found[name].tolist() for name in found} == {
        "nn": [1.0, 0.0, 1.0],
        "kth_2": [3.0, 7.0, 3.0],
        "kth_3": [10.0, 9.0, 6.0],
        "lnr": pytest.approx([1 / 3, 0.0, 1 / 3]),
        "lnr_3": pytest.approx([0.1, 0.0, 1 / 6]),
    }


def test_equation_18_on_a_line():
    found = on_a_line(["mc:2", "share:2", "mc"], [0.0, 10.0], [1.0, 2.0, 9.5, 10.0])
    # Distances within 2: 1 and 2; and 0.5 and 0, which counts as 1e-6.
    expected = [-(np.log(1) + np.log(2)) / 4, -(np.log(0.5) + np.log(1e-6)) / 4]
    assert found[0]["mc_2"].tolist() == pytest.approx(expected)
    assert found[0]["share_2"].tolist() == [0.5, 0.5]
    assert found[1] == {"mc_2": 2.0, "share_2": 2.0, "mc": 0.5}
    assert found[0]["mc"].tolist() == pytest.approx([0.0, expected[1]])
    # The median heuristic takes all records alike.
    records = [0.0, 1.0, 2.0, 5.0]
    radii = [on_a_line(["mc"], one, [0.5])[1] for one in (records, records[::-1])]
    assert radii == [{"mc": 1.0}] * 2


def test_density_ratio_of_two_normal_laws():
    rng = np.random.default_rng(0)
    synthetic, reference = rng.normal(1, 1, (20_000, 1)), rng.normal(0, 1, (20_000, 1))
    ratio = density_ratio(synthetic, reference, components=6)
    at = np.linspace(-1, 2, 13)
    # A kernel of width h widens both laws to variance 1 + h^2.
    variance = 1 + (20_000**-0.2 * reference.std()) ** 2
    np.testing.assert_allclose(ratio(at[:, None]), (at - 0.5) / variance, atol=0.12)
    # Far away it is finite, and of equal tables 1.
    far = np.array([[1e6], [-1e6], [-40.0], [0.0], [40.0]])
    assert np.isfinite(density_ratio(synthetic[:50], reference[:60], components=1)(far)).all()
    same = density_ratio(synthetic[:500], synthetic[:500], components=2)
    np.testing.assert_allclose(same(far[2:]), 0.0, atol=1e-9)


def test_the_classifier_tells_what_is_synthetic():
    rng = np.random.default_rng(0)
    synthetic, reference = rng.normal(2, 1, (2000, 1)), rng.normal(0, 1, (2000, 1))
    judge, _ = synthetic_odds(synthetic, reference, rng=rng)
    low, middle, high = judge(np.array([[-1.0], [1.0], [3.0]]))
    # The true log odds are 2 (x - 1).
    assert (low < -1.5, abs(middle) < 0.8, high > 1.5) == (True, True, True)


def test_a_density_is_the_same_wherever_its_record_stands():
    """A matrix product rounds a row by its place in a block: members stand elsewhere."""
    rng = np.random.default_rng(0)
    synthetic, reference = rng.normal(size=(20_000, 20)), rng.normal(size=(500, 20))
    ratio = density_ratio(synthetic, reference, components=20)
    one, found = rng.normal(size=20), set()
    for size in (1, 2, 3, 7, 13, 31, 209, 211):
        others = rng.normal(size=(size, 20))
        for at in (0, size // 2, size - 1):
            others[at] = one
            found.add(ratio(others)[at])
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["density", "classifier", "mc"])
def test_no_order_of_the_tables_chooses_a_score(make, monkeypatch, kind):
    # So few rows are taken that who is drawn matters.
    monkeypatch.setattr("mipaudit.commands.query.scores.MOST_ROWS", 300)
    rng = np.random.default_rng(81)
    tables = [make(rng, n, 2, (3,), digits=1) for n in (400, 900, 800)]

    def of(order_of, seed=DEFAULT_SEED):
        orders = [order_of(len(table)) for table in tables]
        turned = [table.take(order) for table, order in zip(tables, orders, strict=True)]
        found = asked([kind], *turned, levels=(3,), columns=3, seed=seed)
        scores = np.empty(400)
        scores[orders[0]] = found[0][kind]
        return scores, found[-1]

    first, seed = of(np.arange)
    for _ in range(3):
        again, same = of(rng.permutation)
        assert np.array_equal(first, again)
        assert seed == same
    other, _ = of(np.arange, SeedChoice(origin="stated", number=0))
    assert np.array_equal(first, other) == (kind == "mc")


def test_the_seed_of_a_draw_depends_on_what_is_drawn_from(make):
    rng = np.random.default_rng(82)
    synthetic, reference = make(rng, 50, 2, (3,)), make(rng, 40, 2, (3,))
    found = [
        released_rows(*pair, DEFAULT_SEED)
        for pair in (
            (synthetic, reference),
            (reference, synthetic),
            (synthetic, None),
            (synthetic.take(slice(1, None)), reference),
        )
    ]
    assert len({seed for *_, seed in found}) == 4
    assert len(found[2][1]) == 0
    for given, kept in zip((synthetic, reference), found[0], strict=False):
        assert np.array_equal(np.sort(given.numbers, axis=0), np.sort(kept.numbers, axis=0))
