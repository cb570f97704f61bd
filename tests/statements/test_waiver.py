from __future__ import annotations

from datetime import date

import pytest

from mipaudit.statements.checks.waived import covers, waive, waiver_note
from mipaudit.statements.policy import PolicyCheck
from mipaudit.statements.verdict import reach_verdict, verdict_note
from mipaudit.statements.waiver import Waiver

TODAY = date(2026, 6, 30)


def check(status, **settings):
    found = {
        "quantity": "auc",
        "score": "s",
        "limit": 0.6,
        "against": "thresholds",
        "lower": 0.5,
        "upper": 0.7,
        "status": status,
        "reason": f"because it is {status}",
        **settings,
    }
    return PolicyCheck(**found)


def waiver(**settings):
    found = {"quantity": "auc", "reason": "known", "person": "A. Person", "expires": "2026-12-31"}
    return Waiver(**{**found, **settings})


@pytest.mark.parametrize(
    ("settings", "covered"),
    [
        ({}, True),
        ({"score": "s"}, True),
        ({"score": "t"}, False),
        ({"quantity": "eta"}, False),
        ({"fpr": 0.1}, False),
        ({"group": "*"}, False),
    ],
)
def test_a_waiver_covers_what_it_names(settings, covered):
    assert covers(waiver(**settings), check("not_met")) is covered


@pytest.mark.parametrize(("group", "covered"), [(None, False), ("*", True), ("a=1", True)])
def test_groups_are_named_or_all(group, covered):
    assert covers(waiver(group=group), check("not_met", group="a=1")) is covered


@pytest.mark.parametrize("status", ["not_met", "inconclusive"])
def test_a_waived_check_does_not_decide_and_is_told(status):
    waived = waive([check(status), check("met")], [waiver()], TODAY)
    verdict = reach_verdict(waived.checks, ())
    assert waived.findings == ()
    assert waived.checks[0].status == status
    assert (verdict.status, verdict.waived) == ("met", 1)
    assert verdict_note(verdict) == ", with 1 waiver"
    assert "waived by A. Person until 2026-12-31: known" in verdict.reasons[-1]


@pytest.mark.parametrize("status", ["not_met", "inconclusive"])
def test_an_expired_waiver_fails_and_says_so(status):
    waived = waive([check(status)], [waiver(expires="2026-06-29")], TODAY)
    verdict = reach_verdict(waived.checks, (), "pass")
    assert (verdict.status, verdict.waived) == ("not_met", 0)
    assert "the waiver by A. Person expired after 2026-06-29" in verdict.reasons[0]


def test_a_waiver_holds_on_its_last_day():
    (one,) = waive([check("not_met")], [waiver(expires="2026-06-30")], TODAY).checks
    assert one.waived is not None


def test_a_waiver_that_holds_goes_before_an_expired_one():
    both = [waiver(expires="2020-01-01"), waiver(person="B")]
    (one,) = waive([check("not_met")], both, TODAY).checks
    assert one.expired is None
    assert "waived by B" in waiver_note(one)


def test_what_is_met_is_not_waived():
    waived = waive([check("met")], [waiver(expires="2020-01-01")], TODAY)
    assert waived.checks == (check("met"),)
    assert [f.code for f in waived.findings] == ["waiver_not_needed"]


def test_a_waiver_of_nothing_is_a_finding():
    waived = waive([check("not_met")], [waiver(score="t")], TODAY)
    assert [f.code for f in waived.findings] == ["waiver_unmatched"]
    assert reach_verdict(waived.checks, ()).status == "not_met"


@pytest.mark.parametrize(
    ("choice", "said"), [("review", ""), ("pass", "lets pass"), ("fail", "counts as a failure")]
)
def test_what_an_open_answer_counts_as_does_not_change_it(choice, said):
    verdict = reach_verdict([check("inconclusive")], (), choice)
    assert verdict.status == "inconclusive"
    assert said in verdict_note(verdict)
