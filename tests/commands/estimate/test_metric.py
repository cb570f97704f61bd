"""Metrics in the Python API and on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import UsageError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(1.5, 1, 400), rng.normal(size=400)])
    return pd.DataFrame({"member": np.arange(800) < 400, "score": score})


def test_rows_checks_and_findings(frame):
    report = mipaudit.estimate(
        frame, metric=["f1", "tpr"], max_metric={"am": 0.6, "f1": 0.99}, prior=0.4
    )
    rows = [e for e in report.estimates if e.quantity == "metric"]
    assert {row.metric for row in rows} == {"f1", "tpr", "am"}
    assert [(c.metric, c.status) for c in report.policy] == [("am", "not_met"), ("f1", "met")]
    assert report.verdict.status == "not_met"
    assert "trivial_metric" in {f.code for f in report.findings}
    settings = {s.name: s.value for s in report.provenance.settings}
    assert settings["metric"] == ["f1", "tpr"]
    assert settings["max_metric"] == ["am=0.6", "f1=0.99"]


def test_mace_adds_algorithm_2(frame):
    report = mipaudit.estimate(frame, metric="am", method="mace")
    (row,) = [
        e for e in report.estimates if e.quantity == "metric" and e.validity == "not-an-interval"
    ]
    assert "Algorithm 2" in row.method


def test_error_is_shared_over_the_columns(frame):
    two = frame.assign(loss=frame["score"] * 2 + 1)
    (one,) = [e for e in mipaudit.estimate(frame, metric="f1").estimates if _main(e)]
    both = [e for e in mipaudit.estimate(two, metric="f1").estimates if _main(e)]
    assert len(both) == 2
    assert all(row.lower < one.lower for row in both)


def _main(row):
    return row.quantity == "metric" and row.attackers == "any"


@pytest.mark.parametrize(
    "wrong",
    [
        {"metric": "precision"},
        {"metric": 3},
        {"max_metric": {"ppv": 0.4}},  # the trivial attacker has 0.5
        {"max_metric": {"ppv": 0.5}},
        {"max_metric": {"ppv": 1.0}},
        {"max_metric": {"ppv": "x"}},
        {"max_metric": ["f1=0.8", "f1=0.9"]},
        {"max_metric": "tpr=0.9"},
        {"min_recall": 0},
    ],
)
def test_wrong_settings_are_refused(frame, wrong):
    with pytest.raises(UsageError):
        mipaudit.estimate(frame, **wrong)


def test_a_least_recall_that_nothing_needs_is_said(frame):
    def codes(**settings):
        return {f.code for f in mipaudit.estimate(frame, **settings).findings}

    assert "min_recall_unused" in codes(min_recall=0.1)
    assert "min_recall_unused" in codes(metric="f1", min_recall=0.1)
    assert "min_recall_unused" not in codes(metric=["f1", "ppv"], min_recall=0.1)
    assert "min_recall_unused" not in codes(metric="f1")


def test_a_limit_on_a_trivial_metric_is_refused_for_what_it_is(frame):
    with pytest.raises(UsageError, match="guesses the same of everybody"):
        mipaudit.estimate(frame, max_metric="tpr=0.5")


def test_a_low_prior_brings_advice(frame):
    report = mipaudit.estimate(frame, prior=0.01)
    assert "prior_hides_leaks" in {f.code for f in report.findings}
    report = mipaudit.estimate(frame, prior=0.1, claimed_epsilon=1, adjacency="substitution")
    assert "prior_excludes_attackers" in {f.code for f in report.findings}
