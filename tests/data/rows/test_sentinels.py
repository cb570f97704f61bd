"""Numbers that stand for missing scores are told, and only those."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.data.rows.intake import Spread
from mipaudit.report.messages.told import told

ROWS = 600


def scores(seed=1):
    return np.random.default_rng(seed).normal(size=ROWS)


def said(values, ask=mipaudit.check, **options):
    member = np.arange(len(values)) % 2 == 0
    report = ask(pa.table({"member": member, "score": values}), **options)
    return [told(one) for one in report.findings if one.code == "sentinel_values"]


@pytest.mark.parametrize("value", [-999, -99, 9999, 999999, -9999.0])
@pytest.mark.parametrize("ask", [mipaudit.check, mipaudit.estimate])
def test_a_sentinel_is_told(value, ask):
    values = scores()
    values[[3, 8, 20]] = value
    (text,) = said(values, ask)
    assert f"is {int(value)} in 3 rows" in text


def test_two_sentinels_are_told_apart():
    values = scores()
    values[[3, 8]], values[[9, 11, 13]] = -999, -9999
    assert len(said(values)) == 2


ORDINARY = {
    "none": (scores(), {}),
    "alone": (scores(), {3: -999}),
    "unlike": (scores(), {3: -612.0, 8: -612.0}),
    "near": (scores() * 5000, {3: 9999, 8: 9999}),
    "discrete": (np.arange(ROWS, dtype=float) % 7, {3: -999, 8: -999, 20: -999}),
    "endless": (scores(), dict.fromkeys(range(9), np.inf) | {9: -999, 11: -999}),
    "only": (np.resize([-99.0, 999.0], ROWS), {}),
}


@pytest.mark.parametrize("case", ORDINARY)
def test_other_scores_are_not(case):
    values, changes = ORDINARY[case]
    values[list(changes)] = list(changes.values())
    assert said(values) == []


def test_the_order_of_the_rows_and_how_they_are_cut_change_nothing():
    rng = np.random.default_rng(5)
    for _ in range(200):
        values = rng.choice([-999.0, -99, 99, 1, 2, 3.5, 150, -1200], size=12)
        whole, parts = Spread(), Spread()
        whole.add(values)
        for piece in np.split(rng.permutation(values), sorted(rng.integers(0, 12, 3))):
            one = Spread()
            one.add(piece)
            parts.include(one)
        assert parts.far == whole.far


def test_missing_scores_are_no_sentinels_and_do_not_hide_them():
    values = scores()
    values[[3, 8, 20]], values[[4, 5]] = -999, np.nan
    assert len(said(values, nan="drop")) == 1
    assert len(said(values, mipaudit.estimate, nan="category")) == 1
