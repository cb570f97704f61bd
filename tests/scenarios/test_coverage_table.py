from __future__ import annotations

import json
import math

import pytest

from mipaudit.scenarios.coverage_table import CoverageRow, CoverageTable, failures


def row(misses, *, replications=1000, nominal=0.975, label="x"):
    return CoverageRow(
        law="null-gaussian",
        n_members=10,
        n_holdout=20,
        prior=0.5,
        order="shuffled",
        label=label,
        side="lower",
        nominal=nominal,
        replications=replications,
        stated=replications,
        misses=misses,
        truth=0.25,
        mean_gap=0.125,
        mean_width=None,
    )


def test_p_value_is_the_exact_binomial_tail():
    exact = sum(math.comb(20, k) * 0.1**k * 0.9 ** (20 - k) for k in range(5, 21))
    assert row(5, replications=20, nominal=0.9).p_value == pytest.approx(exact)
    assert row(20, replications=20, nominal=0.9).p_value == pytest.approx(1e-20)
    assert row(0).p_value == 1.0


def test_holm_divides_the_level_among_the_rows_that_remain():
    # 38 and 41 misses of 1000 at 2.5%: p-values .0089 and .0019.
    one, two = row(38, label="one"), row(41, label="two")
    assert 0.005 < one.p_value < 0.01
    assert 0.001 < two.p_value < 0.005
    assert failures(CoverageTable(rows=(one,))) == (one,)
    assert failures(CoverageTable(rows=(one, row(25)))) == ()
    assert failures(CoverageTable(rows=(one, two))) == (two, one)
    assert failures(CoverageTable(rows=(two, *[row(25)] * 9))) == ()
    assert failures(CoverageTable(rows=())) == ()


def test_markdown_and_json_hold_every_row():
    table = CoverageTable(rows=(row(25, label="a|b"), row(0)))
    head, rule, first, second = table.markdown().splitlines()
    assert head.count("|") == rule.count("|") == second.count("|")
    assert "a\\|b" in first
    assert "0.9750 | 25 | 1000" in first
    assert "| 0.1250 | - | 0.5" in first
    parsed = json.loads(table.json())
    assert [found["coverage"] for found in parsed] == [0.975, 1.0]
    assert parsed[0]["p_value"] == pytest.approx(table.rows[0].p_value)
    assert parsed[1]["mean_width"] is None
