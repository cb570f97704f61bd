"""Scores of several numbers: what a correct audit must find, and must not."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence import derived_scores as candidates
from mipaudit.report.messages.told import told
from mipaudit.validation.laws import VECTOR_LAWS

D100 = ",".join(f"d{i}" for i in range(100))


@pytest.fixture
def _no_trees(monkeypatch):
    """Leave gradient boosting out: it is slow to start, and others must do without."""
    monkeypatch.setattr(candidates, "fit_boosting", lambda *_, **__: None)


def drawn(name, n, seed=0):
    """Return a frame of a law, half of it members."""
    members, holdout = VECTOR_LAWS[name].sample(np.random.default_rng(seed), n // 2, n - n // 2)
    frame = pd.DataFrame(np.concatenate([members, holdout]))
    frame.columns = [f"d{i}" for i in range(frame.shape[1])]
    frame["member"] = np.arange(n) < n // 2
    return frame


def advantage(report, attackers="any", score=None):
    (row,) = (
        e
        for e in report.estimates
        if (e.quantity, e.attackers, e.validity == "not-an-interval")
        == ("advantage", attackers, False)
        and score in {None, e.score}
    )
    return row


@pytest.mark.usefixtures("_no_trees")
@pytest.mark.parametrize("strict", [False, True])
def test_a_leak_that_no_threshold_sees_is_found(strict):
    report = mipaudit.estimate(drawn("plane-xor-0.3", 8000), score_col=["d0,d1"], strict=strict)
    assert (0.17 if strict else 0.2) < advantage(report).lower <= 0.3
    assert advantage(report).upper is None
    assert advantage(report).upper_reason.code == "upper_of_vector_classes"
    assert 0.27 < advantage(report, "product-grid").upper < 0.4
    assert advantage(report).validity == ("finite-sample" if strict else "approximate")
    assert (advantage(report).method == "betting") == strict
    # Bets need one table, whichever the burn-in and a fresh seed choose; else attackers
    # learn on all of them.
    assert strict or "cells of a product grid" in advantage(report).selection
    assert ("chosen on the burn-in, " in advantage(report).selection) == strict
    alone = mipaudit.estimate(drawn("plane-xor-0.3", 8000), score_col=["d0", "d1"])
    assert all(e.lower < 0.03 for e in alone.estimates if e.quantity == "advantage" and e.lower)


@pytest.mark.usefixtures("_no_trees")
def test_a_gaussian_plane_is_found_and_the_learned_score_is_the_sum():
    report = mipaudit.estimate(drawn("plane-gauss-1", 8000), score_col=["d0,d1"])
    assert 0.3 < advantage(report).lower <= 0.38292
    assert 0.35 < advantage(report, "learned").upper < 0.43
    auc = next(e for e in report.estimates if e.quantity == "auc")
    assert (auc.attackers, auc.side) == ("learned", "high")
    assert 0.7 < auc.lower < 0.7602  # that of the sum, which no learned score exceeds
    assert "outside the burn-in" in auc.selection


@pytest.mark.usefixtures("_no_trees")
def test_one_leaking_coordinate_among_a_hundred_is_found():
    report = mipaudit.estimate(drawn("cube-100-1", 4000), score_col=[D100])
    assert 0.25 < advantage(report).lower <= 0.38292
    assert not [e for e in report.estimates if e.attackers == "product-grid"]


@pytest.mark.usefixtures("_no_trees")
@pytest.mark.parametrize("name", ["null-cube-2", "null-cube-100"])
def test_nothing_is_found_where_nothing_leaks(name):
    columns = D100 if name.endswith("100") else "d0,d1"
    found = [
        mipaudit.estimate(drawn(name, 600, seed), score_col=[columns], seed=seed)
        for seed in range(6)
    ]
    # At an error of 0.025 each, two of six err less than once in a hundred runs.
    assert sum(advantage(report).lower > 0 for report in found) <= 1
    assert all(advantage(report, "learned").upper > 0 for report in found)


def test_gradient_boosting_is_said_to_be_used_or_not(monkeypatch):
    pytest.importorskip("sklearn")
    frame = drawn("plane-xor-0.3", 1000)
    texts = []
    for _ in range(2):
        report = mipaudit.estimate(frame, score_col=["d0,d1"])
        texts.append(next(told(f) for f in report.findings if f.code == "vector_score"))
        monkeypatch.setattr(candidates, "fit_boosting", lambda *_, **__: None)
    assert "gradient boosting (scikit-learn " in texts[0]
    assert "Gradient boosting was not tried" in texts[1]


@pytest.mark.usefixtures("_no_trees")
def test_the_report_names_the_vector_and_shares_the_error():
    frame = drawn("plane-gauss-1", 2000)
    alone = mipaudit.estimate(frame, score_col=["d0,d1"])
    both = mipaudit.estimate(frame, score_col=["d0", " d0, d1 ".strip()])
    assert alone.design.score_columns == ("d0,d1",)
    assert set(both.design.score_columns) == {"d0", "d0,d1"}
    assert "'d0,d1'" in told(alone.answer)
    assert "d1" not in alone.design.skipped_columns
    assert advantage(both, score="d0,d1").lower < advantage(alone).lower
    assert any("2 score columns" in told(one) for one in both.limitations)


@pytest.mark.usefixtures("_no_trees")
def test_constant_infinite_and_tied_coordinates():
    frame = drawn("plane-gauss-1", 2000)
    frame["d2"] = 4.0
    frame["d3"] = np.where(frame["member"] & (np.arange(2000) % 10 == 0), np.inf, 0.0)
    frame["d1"] = frame["d1"].round(1)
    report = mipaudit.estimate(frame, score_col=["d0,d1,d2,d3"])
    codes = {finding.code: told(finding) for finding in report.findings}
    assert "1 of its 4 coordinates" in codes["constant_coordinates"]
    assert "100 infinite" in codes["infinite_scores"]
    assert 0.2 < advantage(report).lower < 0.45


@pytest.mark.usefixtures("_no_trees")
def test_an_infinite_leak_is_found_and_constant_vectors_are_refused():
    n = 2000
    member = np.arange(n) < n // 2
    leak = np.where(member & (np.arange(n) % 2 == 0), -np.inf, np.random.default_rng(0).random(n))
    frame = pd.DataFrame({"a": leak, "b": 1.0, "c": 2.0, "member": member})
    assert advantage(mipaudit.estimate(frame, score_col=["a,b"])).lower > 0.4
    with pytest.raises(InputError) as caught:
        mipaudit.estimate(frame, score_col=["b,c"])
    assert caught.value.code == "constant_scores"


@pytest.mark.usefixtures("_no_trees")
def test_identical_classes_are_refused():
    half = np.random.default_rng(0).random((500, 2))
    frame = pd.DataFrame(np.concatenate([half, half]), columns=["a", "b"])
    frame["member"] = np.arange(1000) < 500
    with pytest.raises(InputError) as caught:
        mipaudit.estimate(frame, score_col=["a,b"])
    assert caught.value.code == "identical_classes"


@pytest.mark.usefixtures("_no_trees")
def test_missing_numbers_follow_the_policy():
    frame = drawn("plane-gauss-1", 2000)
    frame.loc[::20, "d1"] = np.nan
    with pytest.raises(InputError):
        mipaudit.estimate(frame, score_col=["d0,d1"])
    for policy, rows in (("category", 2000), ("drop", 1900)):
        report = mipaudit.estimate(frame, score_col=["d0,d1"], nan=policy)
        assert report.design.n_members + report.design.n_holdout == rows
        assert advantage(report).lower > 0.2


@pytest.mark.usefixtures("_no_trees")
def test_discrete_coordinates_have_an_upper_limit_for_all_attackers():
    rng = np.random.default_rng(1)
    member = np.arange(6000) < 3000
    first = rng.random(6000) < 0.5
    agree = rng.random(6000) < np.where(member, 0.65, 0.35)
    frame = pd.DataFrame({"a": first, "b": first == agree, "member": member})
    report = mipaudit.estimate(frame, score_col=["a,b"], max_advantage=0.4)
    assert advantage(report).lower <= 0.3 <= advantage(report).upper
    assert advantage(report).lower > 0.22
    assert advantage(report).upper < 0.37
    (check,) = report.policy
    assert (check.against, check.status) == ("any", "met")


@pytest.mark.usefixtures("_no_trees")
def test_discrete_vectors_may_not_have_too_many_combinations():
    frame = pd.DataFrame(np.random.default_rng(0).random((90_000, 2)), columns=["a", "b"])
    frame["member"] = np.arange(90_000) % 2 == 0
    with pytest.raises(InputError) as caught:
        mipaudit.estimate(frame, score_col=["a,b"], discrete=True)
    assert caught.value.code == "too_many_values"


@pytest.mark.usefixtures("_no_trees")
def test_policies_and_claims_are_judged_on_the_vector():
    frame = drawn("plane-xor-0.3", 6000)
    given = {"score_col": ["d0,d1"]}
    report = mipaudit.estimate(frame, max_advantage=0.1, claimed_epsilon=0.1, **given)
    assert report.policy[0].status == "not_met"
    assert report.claims[0].score == "d0,d1"
    kept = mipaudit.estimate(frame, max_advantage=0.5, against="product-grid", **given)
    assert (kept.policy[0].status, kept.policy[0].against) == ("met", "product-grid")
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(frame, max_advantage=0.5, against="thresholds", **given)
    assert caught.value.code == "no_such_class"
    with pytest.raises(UsageError):
        mipaudit.estimate(frame, score_col=["d0"], max_advantage=0.5, against="learned")


@pytest.mark.usefixtures("_no_trees")
def test_a_policy_on_tpr_is_judged_on_the_learned_score():
    report = mipaudit.estimate(
        drawn("plane-gauss-1", 4000), score_col=["d0,d1"], max_tpr_at_fpr=(0.2, 0.1)
    )
    (check,) = report.policy
    assert check.status == "not_met"
    assert 0.2 < check.lower < 0.39


@pytest.mark.usefixtures("_no_trees")
def test_mace_in_many_bins_shows_its_bias():
    report = mipaudit.estimate(drawn("null-cube-2", 3000), score_col=["d0,d1"], method="mace")
    (row,) = (e for e in report.estimates if e.validity == "not-an-interval")
    assert "100^2" in row.selection
    assert row.value > 0.5
    text = next(told(f) for f in report.findings if f.code == "mace_bias")
    read = float(text.split("it reads ")[1].split(":")[0])
    assert read == pytest.approx(row.value, abs=0.05)


@pytest.mark.usefixtures("_no_trees")
def test_the_bias_of_mace_is_what_it_reads_above_the_trivial_attacker():
    frame = drawn("null-cube-2", 3000)
    report = mipaudit.estimate(frame, score_col=["d0,d1"], method="mace", prior=0.1)
    text = next(told(f) for f in report.findings if f.code == "mace_bias")
    read = float(text.split("it reads ")[1].split(":")[0])
    bias = float(text.split("its bias is ")[1].removesuffix("."))
    assert "blind guessing has 0.8000" in text
    assert bias == pytest.approx(read - 0.8, abs=1e-9)
    assert bias < 0.2


@pytest.mark.usefixtures("_no_trees")
@pytest.mark.parametrize("prior", [0.1, 0.9])
@pytest.mark.parametrize("n", [4, 30])
def test_tiny_files_have_limits_at_any_prior(n, prior):
    frame = drawn("plane-gauss-1", n)
    report = mipaudit.estimate(frame, score_col=["d0,d1"], prior=prior)
    assert advantage(report).lower >= abs(2 * prior - 1)
    assert advantage(report, "learned").upper <= 1
    json.dumps([e.lower for e in report.estimates], allow_nan=False)


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ("d0,d0", "vector_score"),
        ("d0,nowhere", "unknown_column"),
        ("d0,name", "not_a_score"),
        (",".join(f"d{i}" for i in range(101)), "vector_score"),
    ],
)
def test_wrong_lists_are_refused(columns, code):
    frame = pd.DataFrame(np.zeros((8, 101)), columns=[f"d{i}" for i in range(101)])
    frame["name"] = list("abcdefgh")
    frame["member"] = np.arange(8) < 4
    with pytest.raises((InputError, UsageError)) as caught:
        mipaudit.estimate(frame, score_col=[columns])
    assert caught.value.code == code


def test_a_column_whose_name_has_a_comma_is_itself():
    frame = drawn("plane-gauss-1", 400).rename(columns={"d0": "d0,d1", "d1": "other"})
    report = mipaudit.estimate(frame, score_col=["d0,d1"])
    assert advantage(report, "thresholds").score == "d0,d1"


@pytest.mark.usefixtures("_no_trees")
def test_progress_ends_where_it_says():
    seen = []
    frame = drawn("plane-gauss-1", 500)
    mipaudit.estimate(
        frame,
        score_col=["d0,d1", "d0"],
        method="mace",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1][0] == seen[-1][1]
