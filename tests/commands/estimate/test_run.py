"""The main job on real and on hard files: what a correct audit must find."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import fields

import numpy as np
import pytest

import mipaudit

TRUTH = {
    "dpaudit_gauss_mu1": 0.38292,
    "dpaudit_laplace_eps1": 0.39347,
    "dpaudit_geometric_count_eps1": 0.46212,
    "dpaudit_rr_binary_eps1": 0.46212,
    "dpaudit_null_no_leak": 0.0,
}


def found(report):
    """Index the estimates by (score, quantity, attackers, fpr)."""
    return {(e.score, e.quantity, e.attackers, e.fpr): e for e in report.estimates}


def advantage(report, score=None, attackers="any"):
    name = score or report.design.score_columns[0]
    return found(report)[name, "advantage", attackers, None]


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", TRUTH)
def test_limits_enclose_a_known_truth_and_are_near(data_dir, name, strict):
    report = mipaudit.estimate(data_dir / f"{name}.parquet", strict=strict)
    assert advantage(report).lower <= TRUTH[name]
    assert advantage(report).lower >= TRUTH[name] - 0.06
    assert TRUTH[name] <= advantage(report, attackers="intervals-4").upper
    for attackers in ("thresholds", "intervals-1"):
        upper = advantage(report, attackers=attackers).upper
        assert TRUTH[name] <= upper <= TRUTH[name] + 0.13


@pytest.mark.parametrize("name", ["dpaudit_rr_binary_eps1", "dpaudit_geometric_count_eps1"])
def test_a_discrete_score_has_an_upper_limit_for_everybody(data_dir, name):
    upper = advantage(mipaudit.estimate(data_dir / f"{name}.parquet")).upper
    assert TRUTH[name] <= upper <= TRUTH[name] + 0.04


def test_nothing_leaks_from_the_null_file(data_dir):
    row = advantage(mipaudit.estimate(data_dir / "dpaudit_null_no_leak.parquet"))
    assert row.lower == 0
    assert row.upper is None
    assert row.upper_reason
    assert row.plugin > 0.1  # biased upward, and labelled so


def test_a_copula_release_leaks_nothing_and_bootstrap_rows_nearly_everything(data_dir):
    private = mipaudit.estimate(data_dir / "synrelease_adult_queries_copula.parquet")
    leaky = mipaudit.estimate(data_dir / "synrelease_adult_queries_bootnoise.parquet")
    assert all(advantage(private, score).lower == 0 for score in private.design.score_columns)
    assert leaky.design.score_columns[0] == "nn_l2"
    assert advantage(leaky).lower > 0.8
    # Members are nearer: low distances.
    assert found(leaky)["nn_l2", "auc", "thresholds", None].side == "low"


def test_lira_is_strong_where_the_loss_is_not(data_dir):
    report = mipaudit.estimate(data_dir / "lira_digits_target0.parquet")
    rows = found(report)
    lira = rows["lira_online", "tpr_at_fpr", "thresholds", 0.01]
    loss = rows["loss", "tpr_at_fpr", "thresholds", 0.01]
    assert lira.value == pytest.approx(0.125, abs=0.02)
    assert loss.value == pytest.approx(0.007, abs=0.01)
    assert lira.lower > loss.upper
    assert report.design.score_columns[0] == "lira_online"
    assert rows["lira_online", "auc", "thresholds", None].value == pytest.approx(0.676, abs=0.02)


def test_a_reversed_direction_is_found(data_dir):
    """Under MemGuard the margin of members is lower, not higher."""
    rows = found(mipaudit.estimate(data_dir / "published_location30_shadow.parquet"))
    margin = rows["margin12_memguard", "auc", "thresholds", None]
    assert margin.side == "low"
    assert margin.value == pytest.approx(1 - 0.3802, abs=0.03)
    assert margin.lower > 0.5
    assert rows["margin12_natural", "auc", "thresholds", None].side == "high"


def test_a_leak_in_both_tails_is_found_without_the_absolute_value(data_dir):
    """Yeom's tree: the signed residual hides from thresholds, not from intervals."""
    report = mipaudit.estimate(data_dir / "yeom_diabetes_tree_d4_split0.csv")
    assert advantage(report).lower > 0.05
    quiet = mipaudit.estimate(data_dir / "yeom_diabetes_ols_split0.csv")
    assert advantage(quiet).lower == 0


def test_a_gan_leaks_more_the_longer_it_was_trained(data_dir):
    rows = found(mipaudit.estimate(data_dir / "gan_jsgan_digits.parquet"))
    lower = [
        rows[f"d_logit_ep{epoch}", "advantage", "any", None].lower for epoch in (25, 600, 1200)
    ]
    assert lower[0] == 0 < lower[1] < lower[2] < 0.58


@pytest.mark.parametrize(
    ("name", "claim", "status", "code"),
    [
        ("humphries_adult_cluster_eps1", (1.0, 1e-5, "substitution"), "contradicted", "not_met"),
        ("humphries_adult_cluster_eps1", (1.0, 1e-5, None), "contradicted", "not_met"),
        ("humphries_synth20_noniid_eps0.5", (0.5, 1e-5, "add-remove"), "contradicted", "not_met"),
        ("humphries_adult_iid_nonpriv", (1.0, 1e-5, "substitution"), "consistent", "no_policy"),
        ("humphries_adult_iid_nonpriv", (10.0, 1e-5, "substitution"), "vacuous", "no_policy"),
        ("dpaudit_onerun_wb_eps1", (1.0, 1e-5, "add-remove"), "consistent", "no_policy"),
        ("dpaudit_laplace_eps1", (1.0, 0.0, "substitution"), "consistent", "no_policy"),
        ("dpaudit_laplace_eps1", (0.5, 0.0, "substitution"), "contradicted", "not_met"),
    ],
)
def test_claims_beside_the_data(data_dir, name, claim, status, code):
    epsilon, delta, adjacency = claim
    report = mipaudit.estimate(
        data_dir / f"{name}.parquet", claimed_epsilon=epsilon, delta=delta, adjacency=adjacency
    )
    assert {one.status for one in report.claims} == {status}
    assert report.verdict.status == code
    assert all("independent" in one.rests_on for one in report.claims)


@pytest.mark.parametrize(
    ("limit", "status"), [(0.2, "not_met"), (0.39, "inconclusive"), (0.6, "met")]
)
def test_policy(data_dir, limit, status):
    report = mipaudit.estimate(data_dir / "dpaudit_gauss_mu1.parquet", max_advantage=limit)
    assert report.verdict.status == status
    (check,) = report.policy
    assert check.status == status
    # The widest of the classes decides for a continuous score.
    uppers = [e.upper for e in report.estimates if e.quantity == "advantage" and e.upper]
    assert check.upper == pytest.approx(max(uppers))


def without_provenance(report):
    return {f.name: getattr(report, f.name) for f in fields(report) if f.name != "provenance"}


@pytest.fixture(scope="module")
def frame():
    """Two scores with ties, atoms and infinities, in no order."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    member = rng.random(9000) < 0.45
    score = rng.normal(size=9000) + 0.6 * member
    score[rng.random(9000) < 0.03] = np.inf
    loss = np.round(rng.exponential(1 + 0.3 * member), 1)
    return pa.table({"member": member, "score": score, "loss": loss})


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "cells"])
def test_row_groups_and_threads_change_nothing(frame, tmp_path, monkeypatch, exact, strict):
    import pyarrow.parquet as pq

    if not exact:
        monkeypatch.setattr("mipaudit.summaries.plan.EXACT_ROWS", 1000)
    settings = {"max_advantage": 0.4, "claimed_epsilon": 1.0, "strict": strict, "seed": 0}
    path = tmp_path / "scores.parquet"
    reports = []
    for rows, jobs in ((9000, 1), (9000, 3), (1000, 1), (700, 2), (137, 4)):
        pq.write_table(frame, path, row_group_size=rows)
        reports.append(mipaudit.estimate(path, jobs=jobs, **settings))
    assert all(r.estimates for r in reports)
    for report in reports[1:]:
        assert without_provenance(report) == without_provenance(reports[0])


def test_seed_changes_the_blocks_and_little_else(frame):
    here, there = (mipaudit.estimate(frame, seed=seed) for seed in (0, 1))
    assert advantage(here).lower != advantage(there).lower
    assert advantage(here).lower == pytest.approx(advantage(there).lower, abs=0.03)
    # All rows count for thresholds, whatever the blocks.
    for name in ("score", "loss"):
        assert (
            advantage(here, name, "thresholds").upper == advantage(there, name, "thresholds").upper
        )


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("prior", [0.1, 0.5])
@pytest.mark.parametrize("sizes", [(15, 12), (9, 1000), (1000, 10), (200, 300)])
def test_small_and_lopsided_classes(sizes, prior, strict):
    rng = np.random.default_rng(sum(sizes))
    report = mipaudit.estimate(
        members=rng.normal(0.5, 1, sizes[0]),
        holdout=rng.normal(0, 1, sizes[1]),
        prior=prior,
        strict=strict,
        max_eta=0.05,
        max_tpr_at_fpr=(0.4, 0.1),
    )
    baseline = abs(2 * prior - 1)
    for row in report.estimates:
        low = {"advantage": baseline, "accuracy": max(prior, 1 - prior)}.get(row.quantity, 0.0)
        for number in (row.lower, row.value, row.upper):
            assert number is None or (math.isfinite(number) and low - 1e-9 <= number <= 1)
    assert json.loads(mipaudit.to_json(report))["verdict"]["status"] == report.verdict.status
    small = {f.code for f in report.findings} & {"small_class"}
    assert bool(small) is (min(sizes) < 20)


def test_confidence_is_shared_over_the_columns():
    rng = np.random.default_rng(0)
    members, holdout = rng.normal(1, 1, (500, 1)), rng.normal(0, 1, (500, 1))
    alone = mipaudit.estimate(members=members, holdout=holdout)
    noise = rng.normal(size=(500, 3))
    four = mipaudit.estimate(
        members=np.hstack([members, noise]), holdout=np.hstack([holdout, noise[::-1] + 0.01])
    )
    strongest = four.design.score_columns[0]
    assert advantage(four, strongest).lower < advantage(alone).lower
    assert advantage(four, strongest).value == advantage(alone).value
    wide, narrow = (advantage(r, s, "thresholds") for r, s in ((four, strongest), (alone, None)))
    assert wide.upper > narrow.upper
    # Four columns at 95% are one at 98.75%.
    single = mipaudit.estimate(members=members, holdout=holdout, confidence=0.9875)
    assert advantage(single).lower == pytest.approx(advantage(four, strongest).lower)


def test_mace_is_added_and_decides_nothing(data_dir):
    path = data_dir / "dpaudit_null_no_leak.parquet"
    plain = mipaudit.estimate(path, max_advantage=0.2)
    with_mace = mipaudit.estimate(path, max_advantage=0.2, method="mace")
    extra = [e for e in with_mace.estimates if e not in plain.estimates]
    assert [e.validity for e in extra] == ["not-an-interval"]
    assert with_mace.policy == plain.policy
    assert with_mace.verdict == plain.verdict
    assert sum(c.n_members for c in with_mace.mace_cells) == 4000
    assert extra[0].value > 0.02


MEMBERS, HOLDOUT = np.linspace(0, 1, 50), np.linspace(0.1, 1.2, 50)


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ((np.ones(50), np.ones(40)), "constant_scores"),
        ((MEMBERS, MEMBERS[::-1]), "identical_classes"),
        ((np.empty(0), HOLDOUT), "empty_class"),
        ((MEMBERS, np.append(HOLDOUT, np.nan)), "nan_scores"),
    ],
)
def test_inputs_that_cannot_be_audited(arrays, code):
    with pytest.raises(mipaudit.InputError) as caught:
        mipaudit.estimate(members=arrays[0], holdout=arrays[1])
    assert caught.value.code == code
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"max_advantage": 0.0}, "max_advantage"),
        ({"max_advantage": 1.1}, "max_advantage"),
        ({"max_advantage": 0.8, "prior": 0.1}, "max_advantage"),
        ({"max_eta": 0.0}, "max_eta"),
        ({"max_eta": 0.11, "prior": 0.1}, "max_eta"),
        ({"max_tpr_at_fpr": (0.01, 0.02)}, "max_tpr_at_fpr"),
        ({"max_tpr_at_fpr": (0.5, 0.0)}, "max_tpr_at_fpr"),
        ({"delta": 1e-5}, "delta"),
        ({"adjacency": "add-remove"}, "adjacency"),
    ],
)
def test_settings_out_of_range(settings, code):
    with pytest.raises(mipaudit.UsageError) as caught:
        mipaudit.estimate(members=MEMBERS, holdout=HOLDOUT, **settings)
    assert caught.value.code == code


def test_a_constant_column_among_others_is_a_finding():
    rng = np.random.default_rng(0)
    scores = [np.column_stack([np.ones(90), rng.normal(shift, 1, 90)]) for shift in (0.5, 0)]
    report = mipaudit.estimate(members=scores[0], holdout=scores[1])
    assert "constant_column" in {finding.code for finding in report.findings}
    assert len(report.design.score_columns) == 2
    flat = [e for e in report.estimates if e.score == report.design.score_columns[-1]]
    assert advantage(report, flat[0].score).lower == 0


def test_limits_are_narrower_at_lower_confidence(data_dir):
    path = data_dir / "dpaudit_gauss_mu1.parquet"
    reports = [mipaudit.estimate(path, confidence=c) for c in (0.5, 0.8, 0.95, 0.999)]
    lower = [advantage(r).lower for r in reports]
    upper = [advantage(r, attackers="thresholds").upper for r in reports]
    assert all(a > b for a, b in itertools.pairwise(lower))
    assert all(a < b for a, b in itertools.pairwise(upper))


def test_a_report_holds_no_array_of_the_data(data_dir):
    report = mipaudit.estimate(data_dir / "yeom_diabetes_ols_split0.csv")
    text = mipaudit.to_json(report).decode()
    residuals = np.loadtxt(
        data_dir / "yeom_diabetes_ols_split0.csv", delimiter=",", skiprows=1, usecols=-1, dtype=str
    )
    assert not [value for value in residuals if len(value) > 6 and value in text]
    assert report.design.n_members == 221
