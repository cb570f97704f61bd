"""What each query says."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.query.options import parse_queries
from mipaudit.commands.query.points import Geometry, Points, released_rows
from mipaudit.commands.query.scores import Scoring, density_ratio, synthetic_odds
from mipaudit.errors import UsageError
from mipaudit.summaries.seed import DEFAULT_SEED, SeedChoice


def line(values):
    """Records of one number."""
    numbers = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return Points(numbers=numbers, codes=np.zeros((len(numbers), 0), dtype=np.int32))


def scored(words, records, synthetic, reference=None):
    return Scoring(
        records=line(records),
        synthetic=line(synthetic),
        reference=None if reference is None else line(reference),
        geometry=Geometry(metric="euclidean", levels=(), columns=1),
        memory=1 << 30,
        seed=DEFAULT_SEED,
    ).run(parse_queries(words))


def test_distances_on_a_line():
    found = scored(["nn", "kth:2", "kth:3", "lnr", "lnr:3"], [0.0, 10.0, 4.0], [1.0, 3.0, 10.0])

    assert found.columns["nn"].tolist() == [1.0, 0.0, 1.0]
    assert found.columns["kth_2"].tolist() == [3.0, 7.0, 3.0]
    assert found.columns["kth_3"].tolist() == [10.0, 9.0, 6.0]
    assert found.columns["lnr"].tolist() == pytest.approx([1 / 3, 0.0, 1 / 3])
    assert found.columns["lnr_3"].tolist() == pytest.approx([0.1, 0.0, 1 / 6])


def test_equation_18_on_a_line():
    found = scored(["mc:2", "share:2", "mc"], [0.0, 10.0], [1.0, 2.0, 9.5, 10.0])

    # Distances within 2: 1 and 2; and 0.5 and 0, which counts as 1e-6.
    expected = [-(np.log(1) + np.log(2)) / 4, -(np.log(0.5) + np.log(1e-6)) / 4]
    assert found.columns["mc_2"].tolist() == pytest.approx(expected)
    assert found.columns["share_2"].tolist() == [0.5, 0.5]
    assert found.radii == {"mc_2": 2.0, "share_2": 2.0, "mc": 0.5}
    assert found.columns["mc"].tolist() == pytest.approx([0.0, expected[1]])


def test_the_median_heuristic_takes_all_records_alike():
    records, synthetic = [0.0, 1.0, 2.0, 5.0], [0.5]

    swapped = scored(["mc"], records[::-1], synthetic)

    assert scored(["mc"], records, synthetic).radii == swapped.radii == {"mc": 1.0}


def test_density_ratio_of_two_normal_laws():
    rng = np.random.default_rng(0)
    synthetic, reference = rng.normal(1, 1, (20_000, 1)), rng.normal(0, 1, (20_000, 1))
    ratio = density_ratio(synthetic, reference, components=6)
    at = np.linspace(-1, 2, 13)

    # A kernel of width h widens both laws to variance 1 + h^2.
    variance = 1 + (20_000**-0.2 * reference.std()) ** 2
    expected = (at - 0.5) / variance
    np.testing.assert_allclose(ratio(at[:, None]), expected, atol=0.12)


def test_equal_tables_have_a_density_ratio_of_one():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 1))

    ratio = density_ratio(table, table, components=2)

    np.testing.assert_allclose(ratio(np.array([[-40.0], [0.0], [40.0]])), 0.0, atol=1e-9)


def test_the_density_is_finite_far_away():
    rng = np.random.default_rng(0)
    ratio = density_ratio(rng.normal(size=(50, 1)), rng.normal(size=(60, 1)), components=1)

    assert np.isfinite(ratio(np.array([[1e6], [-1e6]]))).all()


def test_the_classifier_tells_what_is_synthetic():
    rng = np.random.default_rng(0)
    synthetic, reference = rng.normal(2, 1, (2000, 1)), rng.normal(0, 1, (2000, 1))

    judge, _ = synthetic_odds(synthetic, reference, rng=rng)
    scores = judge(np.array([[-1.0], [1.0], [3.0]]))

    assert scores[0] < scores[1] < scores[2]
    # The true log odds are 2 (x - 1).
    assert scores[0] < -1.5
    assert scores[2] > 1.5
    assert abs(scores[1]) < 0.8


def test_the_words_of_queries():
    found = parse_queries(["nn", "kth", "kth:7", "lnr", "mc", "mc:0.25", "density:3", "classifier"])

    assert [one.column for one in found] == [
        *("nn", "kth_5", "kth_7", "lnr", "mc", "mc_0.25", "density_3", "classifier")
    ]
    assert [one.side for one in found] == ["low"] * 4 + ["high"] * 4
    assert found[5].radius == 0.25


@pytest.mark.parametrize(
    "words",
    [
        *([], ["nearest"], ["nn", "nn"], ["nn:2"], ["kth:0"], ["kth:x"], ["kth:1001"], ["lnr:1"]),
        *(["mc:0"], ["mc:-1"], ["mc:nan"], ["mc:inf"], ["mc:"], ["kth:"], ["kth", "kth:5"]),
        ["classifier:2"],
    ],
)
def test_words_that_are_no_query(words):
    with pytest.raises(UsageError) as caught:
        parse_queries(words)

    assert caught.value.code == "query"
    assert caught.value.hint


def test_radii_that_differ_little_have_columns_of_their_own():
    found = parse_queries(["mc:0.1234567", "mc:0.12345678", "share:1e-6", "share:2"])

    assert [one.column for one in found] == [
        *("mc_0.1234567", "mc_0.12345678", "share_1e-06", "share_2")
    ]


def test_a_density_is_the_same_wherever_its_record_stands():
    """A matrix product rounds a row by its place in a block: members stand elsewhere."""
    rng = np.random.default_rng(0)
    synthetic, reference = rng.normal(size=(20_000, 20)), rng.normal(size=(500, 20))
    ratio = density_ratio(synthetic, reference, components=20)
    one = rng.normal(size=20)
    found = set()
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
    rng, levels = np.random.default_rng(81), (3,)
    tables = [make(rng, n, 2, levels, digits=1) for n in (400, 900, 800)]

    def asked(order_of, seed=DEFAULT_SEED):
        orders = [order_of(len(table)) for table in tables]
        records, synthetic, reference = (
            table.take(order) for table, order in zip(tables, orders, strict=True)
        )
        found = Scoring(
            records=records,
            synthetic=synthetic,
            reference=reference,
            geometry=Geometry(metric="euclidean", levels=levels, columns=3),
            memory=1 << 30,
            seed=seed,
        ).run(parse_queries([kind]))
        scores = np.empty(len(records))
        scores[orders[0]] = found.columns[kind]
        return scores, found.drawn

    first, seed = asked(np.arange)
    for _ in range(3):
        again, same = asked(rng.permutation)
        assert np.array_equal(first, again)
        assert seed == same
    other, _ = asked(np.arange, SeedChoice(origin="stated", number=0))
    assert np.array_equal(first, other) == (kind == "mc")


def test_the_seed_of_a_draw_depends_on_what_is_drawn_from(make):
    rng = np.random.default_rng(82)
    synthetic, reference = make(rng, 50, 2, (3,)), make(rng, 40, 2, (3,))
    given = (
        (synthetic, reference),
        (reference, synthetic),
        (synthetic, None),
        (synthetic.take(slice(1, None)), reference),
    )
    found = [released_rows(*pair, DEFAULT_SEED) for pair in given]

    assert len({seed for *_, seed in found}) == 4
    assert len(found[2][1]) == 0
    for given, kept in zip((synthetic, reference), found[0], strict=False):
        assert np.array_equal(np.sort(given.numbers, axis=0), np.sort(kept.numbers, axis=0))
