"""Stored reports in every form, and judged again."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told
from tests.fixtures.codes import refused
from tests.places import REPORTS

SAMPLES = REPORTS
NAMES = sorted(path.stem for path in SAMPLES.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_report_is_written_for_programs_and_drawn_alike_from_whatever_holds_it(name):
    path = SAMPLES / f"{name}.json"
    text = path.read_bytes()

    assert json.loads(mipaudit.render_report(path, format="json"))["schema"] in text.decode()
    assert mipaudit.render_report(path, format="csv").strip()
    drawn = {
        mipaudit.render_report(one, format="markdown")
        for one in (path, text, mipaudit.from_json(text))
    }
    assert len(drawn) == 1


@pytest.mark.parametrize(
    "given", ["absent.json", ".", "a\0b", b"", b"\xff", b"[]", b'{"schema": "mipaudit.report/9"}']
)
def test_what_is_no_report_is_one_error(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError):
        mipaudit.render_report(given)


def test_other_things_are_refused():
    with pytest.raises(UsageError):
        mipaudit.render_report(3)
    with pytest.raises(UsageError):
        mipaudit.render_report(SAMPLES / "check.json", format="pdf")


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(1)
    return mipaudit.estimate(
        members=rng.normal(0.5, 1, 2000),
        holdout=rng.normal(0, 1, 2000),
        max_advantage=0.9,
        metric="ppv",
        min_recall=0.05,
    )


def test_new_limits_take_the_place_of_the_old(report):
    again = mipaudit.rejudge(report, max_eta=0.01)

    assert [check.quantity for check in again.policy] == ["eta"]
    assert again.verdict.status == "not_met"
    assert again.estimates == report.estimates
    assert again.provenance == report.provenance
    assert again.answer.get("reason").get("quantity") == "eta"


def test_the_report_says_how_sure_the_verdict_is(report):
    again = mipaudit.rejudge(
        report, max_advantage=0.9, max_tpr_at_fpr=(0.5, 0.1), max_metric={"ppv": 0.99}
    )

    assert again.rejudged.limits == 3
    assert again.rejudged.confidence == 0.85
    assert "the whole verdict, on 3 limits, holds with 85% confidence" in told(
        again.limitations[-1]
    )
    assert {one.name for one in again.rejudged.settings} >= {"max_advantage", "max_metric"}


def test_a_claim_counts_as_a_limit_and_keeps_its_say():
    path = SAMPLES / "claim.json"

    again = mipaudit.rejudge(path, max_advantage=0.99)

    assert again.rejudged.limits == 2
    assert again.claims == mipaudit.from_json(path.read_bytes()).claims
    assert again.verdict.status == "not_met"  # the claim is contradicted


def test_judging_twice_is_judging_once(report, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    once = mipaudit.rejudge(report, max_advantage=0.2)

    twice = mipaudit.rejudge(mipaudit.rejudge(report, max_eta=0.3), max_advantage=0.2)

    assert twice == once


def test_limits_and_waivers_of_a_policy_file(report):
    waiver = {"quantity": "auc", "reason": "r", "person": "p", "expires": "2999-12-31"}
    limits = [
        {"quantity": "auc", "max": 0.51},
        {"quantity": "advantage", "max": 0.9},
        {"quantity": "risk", "max": 0.9},
    ]

    again = mipaudit.rejudge(report, limits=limits, waivers=[waiver])

    assert (again.verdict.status, again.verdict.waived) == ("waived", 1)
    assert [found.code for found in again.findings if "elsewhere" in found.code]


ELEVEN = [{"quantity": "auc", "max": 0.5 + n / 100} for n in range(1, 12)]
OF_PRIOR = {"quantity": "advantage", "max": 0.9, "prior": 0.1}
NOT_IN_REPORT = [{"max_tpr_at_fpr": (0.5, 0.2)}, {"max_metric": "f1=0.9"}, {"limits": [OF_PRIOR]}]
NOT_IN_REPORT += [
    {**other, "max_advantage": 0.9} for other in ({"prior": 0.1}, {"confidence": 0.99})
]
NOT_IN_REPORT += [{"max_advantage": 0.5, "against": "product-grid"}]


def test_what_cannot_be_judged_is_refused(report):
    refused("no_limit", mipaudit.rejudge, report)
    refused("max_advantage", mipaudit.rejudge, report, max_advantage=2)
    refused("too_many_limits", mipaudit.rejudge, report, limits=ELEVEN)
    for given in NOT_IN_REPORT:
        refused("not_in_report", mipaudit.rejudge, report, **given)
    refused("not_an_estimate", mipaudit.rejudge, SAMPLES / "records.json", max_advantage=0.5)
