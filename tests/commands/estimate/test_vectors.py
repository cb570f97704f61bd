"""Scores of several numbers: what a correct audit must find, and must not."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.evidence import derived_scores as candidates
from mipaudit.report.messages.told import told
from mipaudit.validation.laws import VECTOR_LAWS
from tests.fixtures.codes import findings, refused

D100 = ",".join(f"d{i}" for i in range(100))
BOTH = {"score_col": ["d0,d1"]}


@pytest.fixture(autouse=True)
def _no_trees(monkeypatch, request):
    """Leave gradient boosting out: it is slow to start, and others must do without."""
    if "trees" not in request.node.name:
        monkeypatch.setattr(candidates, "fit_boosting", lambda *_, **__: None)


def drawn(name, n, seed=0):
    """Return a frame of a law, half of it members."""
    parts = VECTOR_LAWS[name].sample(np.random.default_rng(seed), n // 2, n - n // 2)
    frame = pd.DataFrame(np.concatenate(parts)).add_prefix("d")
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


@pytest.mark.parametrize("strict", [False, True])
def test_a_leak_that_no_threshold_sees_is_found(strict):
    frame = drawn("plane-xor-0.3", 8000)
    report = mipaudit.estimate(frame, **BOTH, strict=strict)
    row = advantage(report)
    assert (0.17 if strict else 0.2) < row.lower <= 0.3
    assert (row.upper, row.upper_reason.code) == (None, "upper_of_vector_classes")
    assert 0.27 < advantage(report, "product-grid").upper < 0.4
    assert row.validity == ("finite-sample" if strict else "approximate")
    assert (row.method == "betting") == strict
    # Bets need one table, whichever the burn-in and a fresh seed choose; else attackers
    # learn on all of them.
    assert strict or "cells of a product grid" in row.selection
    assert ("chosen on the burn-in, " in row.selection) == strict
    alone = mipaudit.estimate(frame, score_col=["d0", "d1"])
    assert all(e.lower < 0.03 for e in alone.estimates if e.quantity == "advantage" and e.lower)


def test_a_gaussian_plane_is_found_and_the_learned_score_is_the_sum():
    report = mipaudit.estimate(drawn("plane-gauss-1", 8000), **BOTH, max_tpr_at_fpr=(0.2, 0.1))
    assert 0.3 < advantage(report).lower <= 0.38292
    assert 0.35 < advantage(report, "learned").upper < 0.43
    auc = next(e for e in report.estimates if e.quantity == "auc")
    assert (auc.attackers, auc.side) == ("learned", "high")
    assert 0.7 < auc.lower < 0.7602  # that of the sum, which no learned score exceeds
    assert "outside the burn-in" in auc.selection
    (check,) = report.policy
    assert check.status == "not_met"
    assert 0.2 < check.lower < 0.39


def test_one_leaking_coordinate_among_a_hundred_is_found():
    report = mipaudit.estimate(drawn("cube-100-1", 4000), score_col=[D100])
    assert 0.25 < advantage(report).lower <= 0.38292
    assert not [e for e in report.estimates if e.attackers == "product-grid"]


@pytest.mark.parametrize(("name", "columns"), [("null-cube-2", "d0,d1"), ("null-cube-100", D100)])
def test_nothing_is_found_where_nothing_leaks(name, columns):
    found = [
        mipaudit.estimate(drawn(name, 600, seed), score_col=[columns], seed=seed)
        for seed in range(6)
    ]
    # At an error of 0.025 each, two of six err less than once in a hundred runs.
    assert sum(advantage(report).lower > 0 for report in found) <= 1
    assert all(advantage(report, "learned").upper > 0 for report in found)


def test_that_trees_are_used_or_not_is_said(monkeypatch):
    pytest.importorskip("sklearn")
    texts = []
    for _ in range(2):
        report = mipaudit.estimate(drawn("plane-xor-0.3", 1000), **BOTH)
        texts.append(findings(report)["vector_score"])
        monkeypatch.setattr(candidates, "fit_boosting", lambda *_, **__: None)
    assert "gradient boosting (scikit-learn " in texts[0]
    assert "Gradient boosting was not tried" in texts[1]


def test_the_report_names_the_vector_and_shares_the_error():
    frame = drawn("plane-gauss-1", 2000)
    alone = mipaudit.estimate(frame, **BOTH)
    both = mipaudit.estimate(frame, score_col=["d0", "d0, d1"])
    assert alone.design.score_columns == ("d0,d1",)
    assert set(both.design.score_columns) == {"d0", "d0,d1"}
    assert "'d0,d1'" in told(alone.answer)
    assert "d1" not in alone.design.skipped_columns
    assert advantage(both, score="d0,d1").lower < advantage(alone).lower
    assert any("2 scores at once" in told(one) for one in both.limitations)


def test_constant_infinite_and_tied_coordinates():
    frame = drawn("plane-gauss-1", 2000).assign(d2=4.0)
    frame["d3"] = np.where(frame["member"] & (np.arange(2000) % 10 == 0), np.inf, 0.0)
    frame["d1"] = frame["d1"].round(1)
    report = mipaudit.estimate(frame, score_col=["d0,d1,d2,d3"])
    assert "1 of its 4 numbers" in findings(report)["constant_coordinates"]
    assert "100 infinite" in findings(report)["infinite_scores"]
    assert 0.2 < advantage(report).lower < 0.45
    leak = frame["member"] & (np.arange(2000) % 2 == 0)
    frame["d0"] = np.where(leak, -np.inf, np.random.default_rng(0).random(2000))
    assert advantage(mipaudit.estimate(frame, score_col=["d0,d2"])).lower > 0.4


HALF = np.random.default_rng(0).random((500, 2))
ALIKE = pd.DataFrame(np.r_[HALF, HALF]).add_prefix("d").assign(member=np.arange(1000) < 500)
MANY = pd.DataFrame(np.random.default_rng(0).random((90_000, 2))).add_prefix("d")
WIDE = pd.DataFrame(np.zeros((8, 101))).add_prefix("d")
WIDE = WIDE.assign(name=list("abcdefgh"), member=np.arange(8) < 4)
GAPS = drawn("plane-gauss-1", 2000)
GAPS.loc[::20, "d1"] = np.nan


@pytest.mark.parametrize(
    ("frame", "asked", "code"),
    [
        (WIDE, {"score_col": ["d1,d2"]}, "constant_scores"),
        (ALIKE, BOTH, "identical_classes"),
        (GAPS, BOTH, "nan_scores"),
        (MANY.assign(member=MANY.index % 2), {**BOTH, "discrete": True}, "too_many_values"),
        (WIDE, {"score_col": ["d0,d0"]}, "vector_score"),
        (WIDE, {"score_col": ["d0,nowhere"]}, "unknown_column"),
        (WIDE, {"score_col": ["d0,name"]}, "not_a_score"),
        (WIDE, {"score_col": [f"{D100},d100"]}, "vector_score"),
        (
            GAPS,
            {**BOTH, "nan": "drop", "max_advantage": 0.5, "against": "thresholds"},
            "no_such_class",
        ),
        (GAPS, {"score_col": ["d0"], "max_advantage": 0.5, "against": "learned"}, "no_such_class"),
    ],
)
def test_what_cannot_be_audited(frame, asked, code):
    refused(code, mipaudit.estimate, frame, **asked)


@pytest.mark.parametrize(("policy", "rows"), [("category", 2000), ("drop", 1900)])
def test_missing_numbers_follow_the_policy(policy, rows):
    report = mipaudit.estimate(GAPS, **BOTH, nan=policy)
    assert report.design.n_members + report.design.n_holdout == rows
    assert advantage(report).lower > 0.2


def test_discrete_coordinates_have_an_upper_limit_for_all_attackers():
    rng = np.random.default_rng(1)
    member, first = np.arange(6000) < 3000, rng.random(6000) < 0.5
    agree = rng.random(6000) < np.where(member, 0.65, 0.35)
    frame = pd.DataFrame({"a": first, "b": first == agree, "member": member})
    report = mipaudit.estimate(frame, score_col=["a,b"], max_advantage=0.4)
    assert 0.22 < advantage(report).lower <= 0.3 <= advantage(report).upper < 0.37
    (check,) = report.policy
    assert (check.against, check.status) == ("any", "met")


def test_policies_and_claims_are_judged_on_the_vector():
    frame = drawn("plane-xor-0.3", 6000)
    report = mipaudit.estimate(frame, max_advantage=0.1, claimed_epsilon=0.1, **BOTH)
    assert (report.policy[0].status, report.claims[0].score) == ("not_met", "d0,d1")
    kept = mipaudit.estimate(frame, max_advantage=0.5, against="product-grid", **BOTH)
    assert (kept.policy[0].status, kept.policy[0].against) == ("met", "product-grid")


@pytest.mark.parametrize(("prior", "trivial"), [(0.5, 0.0), (0.1, 0.8)])
def test_mace_in_many_bins_shows_its_bias(prior, trivial):
    """It is what it reads above the trivial attacker."""
    frame, seen = drawn("null-cube-2", 3000), []
    asked = {"method": "mace", "prior": prior, "progress": lambda *at: seen.append(at)}
    report = mipaudit.estimate(frame, score_col=["d0,d1", "d0"], **asked)
    assert seen[-1][0] == seen[-1][1]  # it ends where it says
    (row,) = (e for e in report.estimates if "100^2" in e.selection)
    assert row.validity == "not-an-interval"
    text = findings(report)["mace_bias"]
    read = float(text.split("the estimator gives ")[1].split(":")[0])
    assert read == pytest.approx(row.value, abs=0.05)
    assert prior < 0.5 or row.value > 0.5
    if prior < 0.5:
        bias = float(text.split("its bias there is ")[1].removesuffix("."))
        assert f"the right value is {trivial:.4f}" in text
        assert bias == pytest.approx(read - trivial, abs=1e-9)
        assert bias < 0.2


@pytest.mark.parametrize("prior", [0.1, 0.9])
@pytest.mark.parametrize("n", [4, 30])
def test_tiny_files_have_limits_at_any_prior(n, prior):
    report = mipaudit.estimate(drawn("plane-gauss-1", n), **BOTH, prior=prior)
    assert advantage(report).lower >= abs(2 * prior - 1)
    assert advantage(report, "learned").upper <= 1
    json.dumps([e.lower for e in report.estimates], allow_nan=False)


def test_a_column_whose_name_has_a_comma_is_itself():
    frame = drawn("plane-gauss-1", 400).rename(columns={"d0": "d0,d1", "d1": "other"})
    assert advantage(mipaudit.estimate(frame, **BOTH), "thresholds").score == "d0,d1"


@pytest.mark.parametrize("metric", ["accuracy", "am", "ppv", "fbeta:1"])
def test_a_metric_of_a_vector_has_its_classes(metric):
    report = mipaudit.estimate(drawn("plane-gauss-1", 4000), **BOTH, metric=[metric])
    rows = {e.attackers: e for e in report.estimates if e.quantity == "metric"}
    assert set(rows) == {"any", "learned", "product-grid"}
    assert rows["any"].upper is None
    assert rows["any"].lower > 0.5
    for attackers in ("learned", "product-grid"):
        upper = rows[attackers].upper
        assert upper is None if rows[attackers].upper_reason else upper > rows["any"].lower
    # No fitting row is behind a limit.
    assert rows["learned"].n_members == rows["product-grid"].n_members < 2000


def test_vectors_are_typed_shown_and_refused(mipaudit, tmp_path):
    # Too few rows for gradient boosting, which is slow to start.
    frame = drawn("plane-gauss-1", 60)
    frame[["d0", "d1"]] += 4 * frame[["member", "member"]].to_numpy()
    frame.astype({"member": int}).to_csv(tmp_path / "s.csv", index=False)
    shown = mipaudit("estimate", "s.csv", "--score-col", "d0,d1", "--score-col", "d0")
    assert shown.returncode == 0, shown.stderr
    for text in ("  'd0,d1'  any ", "  'd0'     any ", "one threshold on a learned score"):
        assert text in shown.stdout
    for text in ("a grid of cells", "[vector_score]"):
        assert text in shown.stdout
    no_limit = ("--against", "thresholds", "--max-eta", "0.1")
    for words, text in (
        (("estimate", "d0,d3"), "no column 'd3'"),
        (("estimate", "d0,d0"), "more than once"),
        (("estimate", "d0,d1", *no_limit), "no upper limit for attackers 'thresholds'"),
        (("epsilon", "d0,d1", "--design", "one-model"), "this command cannot use"),
    ):
        command, columns, *more = words
        run = mipaudit(command, "s.csv", "--score-col", columns, *more)
        assert (run.returncode, run.stdout) == (2, "")
        assert text in " ".join(run.stderr.split())
