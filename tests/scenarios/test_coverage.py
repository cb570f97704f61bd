from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.scenarios.controls import INVALID_LABEL, VALID_LABEL, controls
from mipaudit.scenarios.coverage import Cell, Interval, draw_file, run_cell, run_cells
from mipaudit.scenarios.coverage_table import CoverageTable, failures
from mipaudit.scenarios.coverage_tally import tally, truth_of
from mipaudit.scenarios.laws import law


def cell(name="two-valued", *, order="shuffled", prior=0.5, n=(200, 300), replications=400):
    return Cell(
        law=law(name),
        n_members=n[0],
        n_holdout=n[1],
        prior=prior,
        order=order,
        replications=replications,
    )


def flag_rate(member, score, prior, seed):
    """Clopper-Pearson limits of P(score 1 | member), which is the TPR at FPR 1%."""
    del prior, seed
    n, flagged = int(member.sum()), int(score[member].sum())
    return [
        Interval(
            estimand="tpr_at_fpr",
            estimand_args=(0.01, "high"),
            lower=clopper_pearson_lower(flagged, n, alpha),
            upper=clopper_pearson_upper(flagged, n, alpha),
            nominal=0.975,
            label=label,
        )
        for label, alpha in (("valid", 0.025), ("too short", 0.1))
    ]


def miss_probability(side, alpha, n=200, rate=0.1):
    """The exact chance of a Clopper-Pearson miss: the binomial tail that is within alpha."""
    mass = [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    tails = np.cumsum(mass if side == "upper" else mass[::-1])
    return tails[tails <= alpha].max()


def test_a_valid_interval_passes_and_one_too_short_is_caught():
    table = CoverageTable(rows=run_cell(cell(replications=1500), flag_rate, seed=1))
    by = {(found.label, found.side): found for found in table.rows}
    assert len(by) == 4
    assert {found.label for found in failures(table)} == {"too short"}
    for side in ("lower", "upper"):
        for label, alpha in (("valid", 0.025), ("too short", 0.1)):
            miss = miss_probability(side, alpha)
            error = math.sqrt(miss * (1 - miss) / 1500)
            assert by[label, side].coverage == pytest.approx(1 - miss, abs=4 * error)
        assert by["valid", side].truth == pytest.approx(0.1)
    assert by["valid", "lower"].mean_width == pytest.approx(0.085, abs=0.01)


@pytest.mark.parametrize("order", ["shuffled", "sorted", "reversed"])
def test_controls_tell_valid_from_invalid(order):
    rows = run_cell(cell("null-gaussian", order=order, replications=300), controls, seed=2)
    caught = failures(CoverageTable(rows=rows))
    assert {found.label for found in rows} == {VALID_LABEL, INVALID_LABEL}
    assert [(found.label, found.side) for found in caught] == [(INVALID_LABEL, "lower")]


def test_control_finds_the_best_threshold():
    # 90% of members and 20% of holdout at 1, the others at 0: the advantage is 0.7.
    member = np.arange(3000) < 1000
    score = np.where(member, np.arange(3000) % 10 > 0, np.arange(3000) % 5 == 0).astype(float)
    valid, invalid = controls(member, score, 0.5, 0)
    slack = math.sqrt(math.log(160) / 2000) + math.sqrt(math.log(160) / 4000)
    assert valid.lower == pytest.approx(0.7 - slack)
    assert valid.upper == pytest.approx(0.7 + slack)
    # Newcombe's square-and-add of the two Clopper-Pearson limits, each of about 1.96 s.e.
    assert invalid.lower == pytest.approx(0.7 - 1.96 * math.hypot(0.0095, 0.0089), abs=0.002)
    assert invalid.upper is None


def test_the_table_does_not_depend_on_the_number_of_processes():
    cells = [cell("null-ties", replications=9), cell("gauss-shift-1", prior=0.1, replications=3)]
    alone = run_cells(cells, controls, seed=3, jobs=1)
    assert alone == run_cells(cells, controls, seed=3, jobs=2)
    assert alone != run_cells(cells, controls, seed=4, jobs=1)
    assert {found.replications for found in alone.rows} == {9, 3}


def test_each_replication_has_its_own_file_and_seed():
    seen = []

    def spy(member, score, prior, seed):
        seen.append((score.sum(), seed, prior, int(member.sum()), len(member)))
        return []

    assert run_cell(cell("gauss-shift-1", replications=5), spy, seed=0) == ()
    assert len({sums for sums, *_ in seen}) == len({seed for _, seed, *_ in seen}) == 5
    assert {rest for _, _, *rest in map(tuple, seen) for rest in [tuple(rest)]} == {(0.5, 200, 500)}


def test_cells_of_one_run_share_no_random_numbers():
    seeds = []

    def spy(member, score, prior, seed):
        del member, score, prior
        seeds.append(seed)
        return []

    for setting in (
        cell(),
        cell(prior=0.1),
        cell(order="sorted"),
        cell("constant"),
        cell(n=(9, 9)),
    ):
        run_cell(replace(setting, replications=2), spy, seed=0)
    assert len(set(seeds)) == 10


def test_orders_of_rows_hold_the_same_records():
    files = {
        order: draw_file(cell("infinite-scores", order=order), np.random.default_rng(7))
        for order in ("shuffled", "sorted", "reversed")
    }
    member, score = files["sorted"]
    assert (score[1:] >= score[:-1]).all()
    assert (files["reversed"][1] == score[::-1]).all()
    assert (files["reversed"][0] == member[::-1]).all()
    assert sorted(zip(*files["shuffled"], strict=True)) == sorted(zip(member, score, strict=True))
    changes = (np.diff(files["shuffled"][0].astype(int)) != 0).sum()
    assert changes > 150


def test_tally_counts_each_side():
    truth = law("two-valued").advantage(0.5)

    def said(lower, upper):
        return [Interval(estimand="advantage", lower=lower, upper=upper, nominal=0.975)]

    rows = tally(
        cell(replications=4),
        [
            said(truth, truth),
            said(truth + 0.01, 1.0),
            said(0.0, truth - 0.01),
            said(None, 0.5),
        ],
    )
    lower, upper = rows
    assert (lower.side, lower.misses, lower.stated, lower.replications) == ("lower", 1, 3, 4)
    assert (upper.side, upper.misses, upper.stated, upper.replications) == ("upper", 1, 4, 4)
    assert lower.mean_gap == pytest.approx((0 - 0.01 + truth) / 3)
    assert lower.coverage == 0.75
    assert lower.mean_width == pytest.approx((1 - truth - 0.01 + truth - 0.01) / 3)


def test_a_side_that_is_never_stated_has_no_row():
    said = [Interval(estimand="auc", lower=0.4, upper=None, nominal=0.975)]
    (only,) = tally(cell(replications=1), [said])
    assert (only.side, only.label, only.mean_width) == ("lower", "auc", None)


def test_an_infinite_limit_has_no_mean():
    said = [Interval(estimand="auc", lower=None, upper=math.inf, nominal=0.975)]
    (only,) = tally(cell(replications=1), [said])
    assert (only.misses, only.mean_gap) == (0, None)


@pytest.mark.parametrize(
    ("limits", "why"),
    [([0.1, 0.2], "same label"), ([math.nan], "NaN")],
)
def test_nonsense_from_a_method_is_an_error(limits, why):
    said = [Interval(estimand="auc", lower=x, upper=None, nominal=0.975) for x in limits]
    with pytest.raises(ValueError, match=why):
        tally(cell(replications=1), [said])


@pytest.mark.parametrize(
    ("estimand", "args", "truth", "label"),
    [
        ("advantage", (), 0.5, "advantage"),
        ("advantage_thresholds", (), 1 / 64, "advantage_thresholds"),
        ("advantage_intervals", (4,), 4 / 64, "advantage_intervals(4)"),
        ("advantage_bins", (1 / 64, 2 / 64), 1 / 64, "advantage_bins"),
        ("tpr_at_fpr", (0.5 / 64, "low"), 1.5 / 64, "tpr_at_fpr(0.0078125, low)"),
    ],
)
def test_truth_and_label_of_every_estimand(estimand, args, truth, label):
    said = Interval(estimand=estimand, estimand_args=args, lower=0, upper=1, nominal=0.975)
    assert truth_of(law("comb-64"), said, 0.5) == pytest.approx(truth, abs=1e-8)
    assert said.row_label == label


def test_wrong_arguments_are_an_error():
    said = Interval(estimand="tpr_at_fpr", lower=0.1, upper=None, nominal=0.975)
    with pytest.raises(ValueError, match="tpr_at_fpr"):
        truth_of(law("two-valued"), said, 0.5)
