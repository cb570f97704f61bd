"""Limits, waivers, and the verdict over them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mipaudit.model.message import Message
from mipaudit.model.row import Check, Waiver
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.claim import EpsilonClaim, judge_claim
from mipaudit.statements.policy import Policy, check_reason, check_status
from mipaudit.statements.provenance import as_of
from mipaudit.statements.verdict import beside_verdict, covers, decide, reach_verdict

TODAY = datetime(2026, 6, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("lower", "upper", "status"),
    [
        (0.11, 0.2, "not_met"),
        (0.1, 0.2, "inconclusive"),
        (0.05, 0.1, "met"),
        (0.05, 0.100001, "inconclusive"),
        (0.05, None, "inconclusive"),
        (None, 0.09, "met"),
        (None, None, "inconclusive"),
        # A leak that the class does not see: the lower limit speaks for any attacker.
        (0.15, 0.09, "not_met"),
    ],
)
def test_status(lower, upper, status):
    assert check_status(0.1, lower, upper) == status


def check(status, **settings):
    return Check(
        **{
            "quantity": "advantage",
            "score": "s",
            "limit": 0.1,
            "against": "thresholds",
            "lower": 0.05,
            "upper": 0.2,
            "status": status,
            "reason": Message("best_advantage"),
            **settings,
        }
    )


def claim(lower):
    claimed = EpsilonClaim(epsilon=1.0, delta=0.0, adjacency="substitution")
    return judge_claim(claimed, score="s", prior=0.5, lower=lower)


@pytest.mark.parametrize(
    ("checks", "claims", "status"),
    [
        ([], [], "no_policy"),
        ([], [0.1], "no_policy"),
        ([], [0.6], "not_met"),
        (["met"], [], "met"),
        (["met"], [0.1], "met"),
        (["met"], [0.6], "not_met"),
        (["met", "inconclusive"], [], "inconclusive"),
        (["inconclusive", "not_met", "met"], [], "not_met"),
        (["inconclusive"], [0.6], "not_met"),
        (["met", "met"], [0.1, 0.6], "not_met"),
    ],
)
def test_verdict(checks, claims, status):
    verdict = reach_verdict([check(one) for one in checks], [claim(lower) for lower in claims])
    assert verdict.status == status
    assert verdict.reasons


def test_only_what_decided_is_a_reason_for_not_met():
    verdict = reach_verdict([check("met"), check("not_met"), check("inconclusive")], [])
    assert verdict.reasons == (Message.of("of_score", score="s", reason=check("not_met").reason),)


def test_met_names_its_class():
    assert "one threshold" in told(check_reason(check("met", upper=0.09)))


def test_an_upper_limit_that_does_not_exist_is_said_to():
    text = told(check_reason(check("inconclusive", against="any", upper=None)))
    assert "no upper limit" in text
    assert "for any attacker" in text
    assert "`against`" in text


@pytest.mark.parametrize("needed", [None, 12_000])
def test_what_would_settle_it(needed):
    text = told(check_reason(check("inconclusive", records_to_settle=needed)))
    assert ("12,000 records" in text) is (needed is not None)


def check_of_waiver(status, **settings):
    return check(
        status, **{"quantity": "auc", "limit": 0.6, "lower": 0.5, "upper": 0.7, **settings}
    )


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
    assert covers(waiver(**settings), check_of_waiver("not_met")) is covered


@pytest.mark.parametrize(("group", "covered"), [(None, False), ("*", True), ("a=1", True)])
def test_groups_are_named_or_all(group, covered):
    assert covers(waiver(group=group), check_of_waiver("not_met", group="a=1")) is covered


def decided(statuses, *waivers, on_inconclusive="review", incomplete=False):
    """Judge checks, each of which is a status or a check, on the day of the tests."""
    checks = [check_of_waiver(one) if isinstance(one, str) else one for one in statuses]
    policy = Policy(waivers=waivers, on_inconclusive=on_inconclusive)
    with as_of(TODAY):
        return decide(policy, checks, (), None, incomplete=incomplete)


@pytest.mark.parametrize("status", ["not_met", "inconclusive"])
def test_a_waived_check_is_a_verdict_of_its_own_and_is_told(status):
    found = decided([status, "met"], waiver())
    verdict = found.verdict
    assert found.remarks == ()
    assert found.checks[0].status == status
    assert (verdict.status, verdict.waived) == ("waived", 1)
    said = status.replace("_", " ")
    assert told(verdict.reasons[0]).endswith(
        f"; {said}, accepted by A. Person until 2026-12-31: known"
    )


@pytest.mark.parametrize(
    ("others", "incomplete", "status"),
    [
        (["met"], False, "waived"),
        (["met", "inconclusive"], False, "inconclusive"),
        (["inconclusive", "not_met"], False, "not_met"),
        ([], False, "waived"),
        ([], True, "inconclusive"),
        (["not_met"], True, "not_met"),
    ],
)
def test_the_worst_of_the_limits_decides(others, incomplete, status):
    checks = [check_of_waiver("not_met", score="t"), *others]
    verdict = decided(checks, waiver(score="t"), incomplete=incomplete).verdict
    assert (verdict.status, verdict.waived) == (status, 1)
    assert not [one for one in verdict.reasons if told(one).endswith("are kept")]


def test_of_two_waived_limits_the_worse_is_named_first():
    first, second = map(told, decided(["inconclusive", "not_met"], waiver()).verdict.reasons)
    assert ("not met, accepted" in first, "inconclusive, accepted" in second) == (True, True)


@pytest.mark.parametrize("status", ["not_met", "inconclusive"])
def test_an_expired_waiver_fails_and_says_so(status):
    expired = waiver(expires="2026-06-29")
    verdict = decided([status], expired, on_inconclusive="pass").verdict
    assert (verdict.status, verdict.waived) == ("not_met", 0)
    assert "the waiver by A. Person expired after 2026-06-29" in told(verdict.reasons[0])


def test_a_waiver_holds_on_its_last_day():
    (one,) = decided(["not_met"], waiver(expires="2026-06-30")).checks
    assert one.waived is not None


def test_a_waiver_that_holds_goes_before_an_expired_one():
    both = waiver(expires="2020-01-01"), waiver(person="B")
    (one,) = decided(["not_met"], *both).checks
    assert one.expired is None
    assert one.waived.person == "B"


def test_what_is_met_is_not_waived():
    found = decided(["met"], waiver(expires="2020-01-01"))
    assert found.checks == (check_of_waiver("met"),)
    assert [f.code for f in found.remarks] == ["waiver_not_needed"]


def test_a_waiver_of_nothing_is_a_finding():
    found = decided(["not_met"], waiver(score="t"))
    assert [(f.code, is_serious(f)) for f in found.remarks] == [("waiver_unmatched", True)]
    assert found.verdict.status == "not_met"


@pytest.mark.parametrize(
    ("choice", "said"), [("review", None), ("pass", "passes"), ("fail", "fails")]
)
def test_what_an_open_answer_counts_as_does_not_change_it(choice, said):
    verdict = reach_verdict([check_of_waiver("inconclusive")], (), choice)
    assert verdict.status == "inconclusive"
    beside = beside_verdict(verdict, ())
    assert (beside and [*beside.values]) == (said and [said])
