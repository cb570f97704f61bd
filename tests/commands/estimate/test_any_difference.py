"""A policy that lets nothing show at all: the exact test decides it, and never clears it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy import stats

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.report.messages.told import told

NOTHING = {"quantity": "any_difference", "max": 0}


def classes(shift, size=200, seed=0):
    rng = np.random.default_rng(seed)
    return {"members": rng.normal(shift, 1, size), "holdout": rng.normal(0, 1, size)}


@pytest.fixture(scope="module")
def apart():
    return mipaudit.estimate(**classes(0.8), limits=[NOTHING])


@pytest.fixture(scope="module")
def alike():
    return mipaudit.estimate(**classes(0.0), limits=[NOTHING])


def test_a_difference_is_not_met_and_is_called_membership_or_another(apart):
    (check,) = apart.policy
    assert (check.status, check.limit, check.lower, check.upper) == ("not_met", 0, 1, None)
    assert apart.verdict.status == "not_met"
    assert "membership, or another" in told(apart.answer)
    (case,) = (
        case
        for case in ET.fromstring(  # noqa: S314 - our own
            mipaudit.render_report(apart, format="junit")
        ).iter("testcase")
        if "any difference" in case.attrib["name"]
    )
    assert case.find("failure") is not None


def test_finding_nothing_is_open_and_never_met(alike):
    (check,) = alike.policy
    assert (check.status, check.lower, check.upper) == ("inconclusive", 0, None)
    assert "no proof" in told(check.reason)
    beside = mipaudit.estimate(**classes(0.0), limits=[NOTHING], max_advantage=1.0)
    assert {one.quantity: one.status for one in beside.policy} == {
        "advantage": "met",
        "any_difference": "inconclusive",
    }
    assert beside.verdict.status == "inconclusive"


def test_the_error_is_shared_over_limits_and_scores(apart):
    # The least p-value is 1/1000: 25 shares of 2.5% reach it, 26 do not.
    for many, status in ((25, "not_met"), (26, "inconclusive")):
        report = mipaudit.estimate(**classes(0.8), limits=[NOTHING] * many)
        assert report.verdict.status == status


def test_nothing_is_called_a_difference_more_often_than_the_error():
    runs = 120
    found = sum(
        mipaudit.estimate(**classes(0.0, 60, seed), limits=[NOTHING], confidence=0.6).verdict.status
        == "not_met"
        for seed in range(runs)
    )
    assert stats.binom.sf(found - 1, runs, 0.2) > 1e-4
    assert found > 0


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "html", "junit"])
def test_every_form_has_it(apart, form):
    text = mipaudit.render_report(apart, format=form)
    assert "any_difference" in text or "any difference" in text
    assert mipaudit.from_json(mipaudit.to_json(apart)) == apart


def test_a_stored_report_is_judged_by_its_p_value(apart, alike):
    plain = mipaudit.estimate(**classes(0.8))
    assert mipaudit.rejudge(plain, limits=[NOTHING]).policy == apart.policy
    assert mipaudit.rejudge(apart, limits=[NOTHING]).verdict.status == "not_met"
    assert mipaudit.rejudge(alike, limits=[NOTHING]).verdict.status == "inconclusive"
    two = {name: np.column_stack([one, one[::-1]]) for name, one in classes(0.26).items()}
    report = mipaudit.estimate(**two)
    errors = {row.value for row in report.estimates if row.quantity == "any_difference"}
    again = mipaudit.rejudge(report, limits=[NOTHING])
    expected = "not_met" if min(errors) <= 0.025 / 2 else "inconclusive"
    assert again.verdict.status == expected


def test_it_is_verified(tmp_path):
    path = tmp_path / "scores.csv"
    given = classes(0.8)
    rows = [f"1,{one}" for one in given["members"]] + [f"0,{one}" for one in given["holdout"]]
    path.write_text("\n".join(["member,score", *rows, ""]))
    report = mipaudit.estimate(path, limits=[NOTHING])
    assert report.verdict.status == "not_met"
    assert mipaudit.verify(report, input=path).agrees


def test_a_waiver_and_a_limit_of_one_score():
    waiver = {**NOTHING, "reason": "known", "person": "A", "expires": "2999-12-31"}
    del waiver["max"]
    report = mipaudit.estimate(
        **classes(0.8), limits=[NOTHING], waivers=[waiver], max_advantage=1.0
    )
    assert (report.verdict.status, report.verdict.waived) == ("waived", 1)
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(**classes(0.8), limits=[{**NOTHING, "score": "lost"}])
    assert caught.value.code == "no_such_score"


def test_labels_without_an_order_are_judged():
    import pandas as pd

    rng = np.random.default_rng(0)
    for spread, status in ((60, "inconclusive"), (10, "not_met")):
        words = np.concatenate([rng.integers(0, spread, 300), rng.integers(0, 60, 300)])
        frame = pd.DataFrame({"member": [1] * 300 + [0] * 300, "word": [f"w{n}" for n in words]})
        report = mipaudit.estimate(frame, score_col=["word"], limits=[NOTHING])
        assert report.verdict.status == status
