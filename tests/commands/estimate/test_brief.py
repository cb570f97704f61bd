"""What the answer of an audit may not hide, and whom it speaks for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.formats.documents import brief_report
from mipaudit.statements.text.rounding import lower_text, upper_text
from tests.fixtures.briefs import answer, shown


def table(leaks=(0.0,), rows=1000, seed=10):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    return pd.DataFrame(
        {
            "member": member,
            **{f"s{at}": random.normal(size=rows) + one * member for at, one in enumerate(leaks)},
        }
    )


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("method", ["prequential", "kde"])
def test_at_most_is_never_that_of_an_estimator_without_limits(prior, method):
    report = mipaudit.estimate(table(), prior=prior, method=method)
    assert "for any attacker" not in answer(report)
    widest = max(
        one.upper
        for one in report.estimates
        if one.quantity == "advantage" and one.upper and one.validity != "not-an-interval"
    )
    assert f"at most {np.ceil(widest * 1e4) / 1e4:.4f}" in answer(report)
    if prior != 0.5:
        assert "(blind guessing: 0.6000)" in answer(report)


def test_at_most_is_the_largest_of_all_scores():
    report = mipaudit.estimate(table((0.0, 0.0, 0.0)))
    widest = max(one.upper for one in report.estimates if one.quantity == "advantage" and one.upper)
    assert f"at most {np.ceil(widest * 1e4) / 1e4:.4f}" in answer(report)


def test_copies_stand_in_the_answer_where_no_score_shows_a_leak():
    frame = table().assign(exact_copy=np.arange(1000) < 5)
    assert answer(mipaudit.estimate(frame)).startswith("Exact copies stand in the release.")


def test_a_metric_that_was_asked_for_has_a_line():
    text = shown(mipaudit.estimate(table((0.5, 1.0)), metric=("ppv", "f1")), height=24)
    assert [line.split()[1] for line in text.splitlines() if "ppv" in line or "f1" in line] == [
        *("ppv", "f1") * 2
    ]


def test_what_is_met_is_said_by_what_is_closest_to_its_limit():
    report = mipaudit.estimate(
        table((0.5,), rows=4000), max_advantage=0.9, max_tpr_at_fpr=(0.12, 0.01)
    )
    assert report.verdict.status == "met"
    assert answer(report).startswith("MET (2 of 2 limits): TPR at FPR 0.01 is at most")
    assert shown(report).splitlines()[-1].startswith("MET (2 of 2 limits). ")


@pytest.mark.parametrize("until", ["2999-01-01", "2020-01-01"])
def test_a_waiver_is_told_first_and_last(until):
    waiver = {"quantity": "advantage", "reason": "a test", "person": "A", "expires": until}
    report = mipaudit.estimate(table((2.0,)), max_advantage=0.1, max_eta=0.49, waivers=[waiver])
    last = shown(report).split("\n\n")[-1]
    if until > "2900":
        assert ", with 1 waiver: " in answer(report)
        assert ", with 1 waiver. " in last
    else:
        assert answer(report).startswith("NOT MET")
        assert "waiver by A expired" in answer(report)


def test_the_figures_beside_a_verdict_are_those_that_it_rests_on():
    random = np.random.default_rng(4)
    member = np.repeat([True, False], 500)
    columns = {f"score_{at}": random.normal(member * at / 3) for at in range(3)}
    report = mipaudit.estimate(pd.DataFrame({"member": member, **columns}), max_advantage=0.2)
    text = brief_report(report, width=80)
    for check in report.policy:
        (row,) = [line for line in text.splitlines() if line.startswith(f"  {check.score} ")]
        assert f" {lower_text(check.lower)} " in row
        assert f" {upper_text(check.upper)} " in row
