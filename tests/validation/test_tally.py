"""Every stated limit against the truth.

Tests of coverage, Holm's correction, and what they would find.
"""

from __future__ import annotations

import math

import pytest

from mipaudit.validation.estimands.estimand import Interval
from mipaudit.validation.laws import law
from mipaudit.validation.replications import (
    detectable_coverage,
    failures,
    gather,
    joined,
    miss_p_value,
    tally,
)


def said(lower, upper, *, value=None, estimand="advantage", args=(), label=""):
    return [
        Interval(
            estimand=estimand,
            lower=lower,
            upper=upper,
            nominal=0.975,
            value=value,
            args=args,
            label=label or estimand,
        )
    ]


def tallied(cell, files, scenario="two-valued"):
    setting = cell(scenario, replications=len(files))
    return tally(setting, gather(law(scenario), setting.prior, files))


def test_tally_counts_each_side(cell):
    truth = law("two-valued").advantage(0.5)
    lower, upper = tallied(
        cell,
        [
            said(truth, truth, value=truth),
            said(truth + 0.01, 1.0, value=truth + 0.03),
            said(0.0, truth - 0.01),
            said(None, 0.5),
        ],
    )
    assert (lower.side, lower.misses, lower.stated, lower.replications) == ("lower", 1, 3, 4)
    assert (upper.side, upper.misses, upper.stated, upper.replications) == ("upper", 1, 4, 4)
    assert lower.mean_gap == pytest.approx((0 - 0.01 + truth) / 3)
    assert lower.median_gap == pytest.approx(0)
    assert lower.coverage == 0.75
    assert lower.coverage_error == pytest.approx(math.sqrt(0.75 * 0.25 / 4))
    assert lower.mean_width == pytest.approx((1 - truth - 0.01 + truth - 0.01) / 3)
    assert lower.median_width == pytest.approx(truth - 0.01)
    assert lower.bias == pytest.approx(0.015)
    assert (lower.scenario, lower.estimand, lower.label) == ("two-valued", "advantage", "advantage")


def test_false_alarms_are_counted_where_there_is_nothing_to_find(cell):
    files = [said(0.1, 0.5), said(0.0, 0.5), said(0.0, 0.5), said(0.2, 0.5)]
    lower, upper = tallied(cell, files, "null-gaussian")
    assert lower.false_alarms == 0.5
    assert upper.false_alarms is None
    leaking, _ = tallied(cell, files)
    assert leaking.false_alarms is None
    (high,) = tallied(
        cell,
        [said(0.3, None, estimand="tpr_at_fpr", args=(0.1, "high"), label="tpr@0.1")],
        "null-ties",
    )
    assert high.false_alarms == 1.0


def test_truth_may_differ_from_file_to_file(cell):
    files = [
        said(0.4, None, estimand="auc", args=("high",)),
        said(0.4, None, estimand="auc", args=("low",)),
    ]
    (only,) = tallied(cell, files)
    auc = law("two-valued").auc()
    assert auc > 0.5
    assert only.truth == pytest.approx(0.5)
    assert only.mean_gap == pytest.approx(0.1)


def test_parts_of_a_cell_join_to_the_whole(cell):
    files = [said(0.0, 0.1 * k, value=0.0) for k in range(10)]
    found = law("two-valued")
    parts = [gather(found, 0.5, files[:3]), gather(found, 0.5, []), gather(found, 0.5, files[3:])]
    setting = cell(replications=10)
    assert tally(setting, joined(parts)) == tally(setting, gather(found, 0.5, files))


def test_a_side_that_is_never_stated_has_no_row(cell):
    (only,) = tallied(cell, [said(0.4, None, estimand="auc", args=("high",))])
    assert (only.side, only.label, only.mean_width) == ("lower", "auc", None)


def test_an_infinite_limit_has_no_mean(cell):
    (only,) = tallied(cell, [said(None, math.inf)])
    assert (only.misses, only.mean_gap, only.median_gap) == (0, None, None)


@pytest.mark.parametrize(("limits", "why"), [([0.1, 0.2], "same label"), ([math.nan], "NaN")])
def test_nonsense_from_a_method_is_an_error(cell, limits, why):
    intervals = [interval for limit in limits for interval in said(limit, None)]
    with pytest.raises(ValueError, match=why):
        tallied(cell, [intervals])


def tail(n, k, rate):
    return sum(math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(k, n + 1))


def test_p_value_is_the_exact_binomial_tail():
    assert miss_p_value(5, 20, 0.9) == pytest.approx(tail(20, 5, 0.1))
    assert miss_p_value(20, 20, 0.9) == pytest.approx(1e-20)
    assert miss_p_value(0, 1000, 0.975) == 1.0


def test_holm_divides_the_level_among_the_rows_that_remain(row):
    # 38 and 41 misses of 1000 at 2.5%: p-values .0089 and .0019.
    one, two = row(38, label="one"), row(41, label="two")
    assert 0.005 < one.p_value < 0.01
    assert 0.001 < two.p_value < 0.005
    assert failures((one,)) == (one,)
    assert failures((one, row(25))) == ()
    assert failures((one, two)) == (two, one)
    assert failures((two, *[row(25)] * 9)) == ()
    assert failures(()) == ()


@pytest.mark.parametrize(("n", "level"), [(100, 0.01), (100, 1e-4), (30, 1e-3)])
def test_a_detectable_shortfall_is_found_with_its_probability(n, level):
    nominal = 0.975
    enough = next(k for k in range(n + 1) if tail(n, k, 1 - nominal) <= level)
    coverage = detectable_coverage(n, nominal, level)
    assert tail(n, enough, 1 - coverage) == pytest.approx(0.8)
    assert coverage < nominal


def test_too_few_files_find_nothing():
    assert detectable_coverage(2, 0.975, 1e-4) == 0.0
    assert detectable_coverage(4000, 0.975, 1e-5) > detectable_coverage(1000, 0.975, 1e-5) > 0.9
