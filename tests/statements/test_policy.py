"""Limits, claims, waivers, and the verdict over them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP, advantage_bound
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check, Waiver
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.claim import judge_claim
from mipaudit.statements.policy import Policy, check_reason, check_status
from mipaudit.statements.provenance import as_of
from mipaudit.statements.verdict import (
    SITES_MISSING,
    Verdict,
    beside_verdict,
    covers,
    decide,
    reach_verdict,
    settled,
)

TODAY = datetime(2026, 6, 30, tzinfo=UTC)
OPEN, MET, NOT_MET = "inconclusive", "met", "not_met"
STATUSES = [(0.11, 0.2, NOT_MET), (0.1, 0.2, OPEN), (0.05, 0.1, MET), (0.05, 0.100001, OPEN)]
STATUSES += [(0.05, None, OPEN), (None, 0.09, MET), (None, None, OPEN)]
# A leak that the class does not see: the lower limit speaks for any attacker.
STATUSES += [(0.15, 0.09, NOT_MET)]


@pytest.mark.parametrize(("lower", "upper", "status"), STATUSES)
def test_status(lower, upper, status):
    assert check_status(0.1, lower, upper) == status


# At p = 1/2: by substitution epsilon 1 allows tanh(1/2), by add-remove 1 - 1/e.
TIGHT, LOOSE = 0.462117, 0.632121


def claimed(lower, adjacency="substitution", epsilon=1.0, delta=0.0, prior=0.5):
    claim = (epsilon, delta, adjacency)
    return judge_claim(claim, score="s", prior=prior, lower=lower)


CLAIMS = [
    (0.46, "substitution", "consistent", TIGHT),
    (0.47, "substitution", "contradicted", TIGHT),
    (0.47, "add-remove", "consistent", LOOSE),
    (0.64, "add-remove", "contradicted", LOOSE),
    (0.46, "unknown", "consistent", TIGHT),
    (0.47, "unknown", "not_comparable", None),
    (0.64, "unknown", "contradicted", LOOSE),
]


@pytest.mark.parametrize(("lower", "adjacency", "status", "allowed"), CLAIMS)
def test_a_claim_is_compared_with_what_it_allows(lower, adjacency, status, allowed):
    claim = claimed(lower, adjacency)
    assert (claim.status, claim.lower) == (status, lower)
    assert claim.allowed_advantage == pytest.approx(allowed, abs=1e-6)
    assert "independent" in claim.rests_on


def test_equal_is_no_contradiction_and_a_bound_near_one_is_vacuous():
    bound = advantage_bound(ApproximateDP(epsilon=1.0, delta=0.0), 0.5)
    assert claimed(bound).status == "consistent"
    assert [claimed(0.9, epsilon=one).status for one in (5.0, 10.0, 50.0)] == ["vacuous"] * 3
    # At p = 0.1 the baseline is 0.8: a bound of 0.96 leaves a fifth of what remains.
    claim = claimed(0.8, epsilon=4.0, prior=0.1)
    share = (claim.allowed_advantage - 0.8) / 0.2
    assert (claim.status == "vacuous") is (share >= 0.95)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.7])
def test_the_conversion_is_named_and_used(prior):
    claim = claimed(abs(2 * prior - 1), "add-remove", 0.5, 1e-5, prior)
    step = ApproximateDP(epsilon=0.5, delta=1e-5)
    assert "removal and an addition" in claim.conversion
    assert claim.allowed_advantage == advantage_bound(TwoStepDP(step=step), prior)
    assert (claim.bounds[-1].name, claim.bounds[-1].advantage) == (
        "two-step",
        claim.allowed_advantage,
    )
    assert claimed(abs(2 * prior - 1), "substitution", 0.5, 1e-5, prior).conversion is None


ONE = {"quantity": "advantage", "limit": 0.1, "against": "thresholds", "lower": 0.05, "upper": 0.2}
AUC = {"quantity": "auc", "limit": 0.6, "lower": 0.5, "upper": 0.7}


def check(status, **settings):
    stated = {"score": "s", "reason": Message("best_advantage"), **ONE, **settings}
    return Check(status=status, **stated)


VERDICTS = [
    ([], [], "no_policy"),
    ([], [0.1], "no_policy"),
    ([], [0.6], NOT_MET),
    ([MET], [], MET),
    ([MET], [0.1], MET),
    ([MET], [0.6], NOT_MET),
    ([MET, OPEN], [], OPEN),
    ([OPEN, NOT_MET, MET], [], NOT_MET),
    ([OPEN], [0.6], NOT_MET),
    ([MET, MET], [0.1, 0.6], NOT_MET),
]


@pytest.mark.parametrize(("checks", "claims", "status"), VERDICTS)
def test_verdict(checks, claims, status):
    verdict = reach_verdict([check(one) for one in checks], [claimed(lower) for lower in claims])
    assert verdict.status == status
    assert verdict.reasons


def test_only_what_decided_is_a_reason_for_not_met():
    verdict = reach_verdict([check(MET), check(NOT_MET), check(OPEN)], [])
    assert verdict.reasons == (Message.of("of_score", score="s", reason=check(NOT_MET).reason),)


def test_a_reason_names_its_class_a_limit_that_there_is_not_and_what_would_settle_it():
    assert "one threshold" in told(check_reason(check(MET, upper=0.09)))
    text = told(check_reason(check(OPEN, against="any", upper=None)))
    for part in ("no 'at most' can be given for the best attackers", "`against`"):
        assert part in text
    for needed in (None, 12_000):
        text = told(check_reason(check(OPEN, records_to_settle=needed)))
        assert ("12,000 records" in text) is (needed is not None)


def waiver(**settings):
    found = {"quantity": "auc", "reason": "known", "person": "A. Person", "expires": "2026-12-31"}
    return Waiver(**{**found, **settings})


COVERED = [({}, True), ({"score": "s"}, True), ({"score": "t"}, False), ({"fpr": 0.1}, False)]
COVERED += [({"quantity": "eta"}, False), ({"group": "*"}, False)]


def test_a_waiver_covers_what_it_names_and_groups_are_named_or_all():
    for settings, covered in COVERED:
        assert covers(waiver(**settings), check(NOT_MET, **AUC)) is covered
    for group, covered in ((None, False), ("*", True), ("a=1", True)):
        assert covers(waiver(group=group), check(NOT_MET, **AUC, group="a=1")) is covered


def decided(statuses, *waivers, on_inconclusive="review", incomplete=False):
    """Judge checks, each of which is a status or a check, on the day of the tests."""
    checks = [check(one, **AUC) if isinstance(one, str) else one for one in statuses]
    policy = Policy(waivers=waivers, on_inconclusive=on_inconclusive)
    with as_of(TODAY):
        return decide(policy, checks, (), None, incomplete=incomplete)


@pytest.mark.parametrize("status", [NOT_MET, OPEN])
def test_a_waived_check_is_a_verdict_of_its_own_and_is_told(status):
    found = decided([status, MET], waiver())
    assert (found.remarks, found.checks[0].status) == ((), status)
    assert (found.verdict.status, found.verdict.waived) == ("waived", 1)
    said = f"; {status.replace('_', ' ')}, accepted by A. Person until 2026-12-31, reason: known"
    assert told(found.verdict.reasons[0]).endswith(said)


WORST = [
    ([MET], False, "waived"),
    ([MET, OPEN], False, OPEN),
    ([OPEN, NOT_MET], False, NOT_MET),
    ([], False, "waived"),
    ([], True, OPEN),
    ([NOT_MET], True, NOT_MET),
]


@pytest.mark.parametrize(("others", "incomplete", "status"), WORST)
def test_the_worst_of_the_limits_decides(others, incomplete, status):
    checks = [check(NOT_MET, **AUC, score="t"), *others]
    verdict = decided(checks, waiver(score="t"), incomplete=incomplete).verdict
    assert (verdict.status, verdict.waived) == (status, 1)
    assert not [one for one in verdict.reasons if told(one).endswith("are kept")]


def test_of_two_waived_limits_the_worse_is_named_first():
    first, second = map(told, decided([OPEN, NOT_MET], waiver()).verdict.reasons)
    assert ("not met, accepted" in first, "inconclusive, accepted" in second) == (True, True)


def test_a_waiver_holds_on_its_last_day_and_an_expired_one_fails_and_says_so():
    for status in (NOT_MET, OPEN):
        expired = waiver(expires="2026-06-29")
        verdict = decided([status], expired, on_inconclusive="pass").verdict
        assert (verdict.status, verdict.waived) == (NOT_MET, 0)
        assert "the waiver by A. Person expired after 2026-06-29" in told(verdict.reasons[0])
    assert decided([NOT_MET], waiver(expires="2026-06-30")).checks[0].waived is not None
    # One that holds goes before an expired one.
    (one,) = decided([NOT_MET], waiver(expires="2020-01-01"), waiver(person="B")).checks
    assert (one.expired, one.waived.person) == (None, "B")


def test_what_is_met_is_not_waived_and_a_waiver_of_nothing_is_a_finding():
    found = decided([MET], waiver(expires="2020-01-01"))
    assert found.checks == (check(MET, **AUC),)
    assert [f.code for f in found.remarks] == ["waiver_not_needed"]
    found = decided([NOT_MET], waiver(score="t"))
    assert [(f.code, is_serious(f)) for f in found.remarks] == [("waiver_unmatched", True)]
    assert found.verdict.status == NOT_MET


@pytest.mark.parametrize(
    ("choice", "said"), [("review", None), ("pass", "passes"), ("fail", "fails")]
)
def test_what_an_open_answer_counts_as_does_not_change_it(choice, said):
    verdict = reach_verdict([check(OPEN, **AUC)], (), choice)
    assert verdict.status == OPEN
    beside = beside_verdict(verdict, ())
    assert (beside and [*beside.values]) == (said and [said])


def test_a_missing_site_comes_first_in_an_open_verdict():
    missing = Finding(SITES_MISSING)
    for status in (OPEN, MET):
        reached = Verdict(status=status, reasons=(Message("increase"),))
        found = settled(reached, [missing])
        assert found.status == OPEN
        assert settled(found, [missing]) == found
        assert settled(reached, []) == reached
    found = settled(Verdict(status=OPEN, reasons=(Message("increase"),)), [missing])
    assert told(found.reasons[0]).startswith("some sites that chose the score ranges are missing")
    assert found.reasons[1:] == (Message("increase"),)
