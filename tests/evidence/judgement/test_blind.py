from __future__ import annotations

from dataclasses import replace

import pytest

from mipaudit.evidence.judgement.blind import Allowance, Blind, beside_records, make_allowance
from mipaudit.model.message import Message
from mipaudit.model.row import Check
from mipaudit.report.messages.told import told
from mipaudit.statements.policy import check_status, restatement


def check(lower, upper, limit=0.1, quantity="advantage"):
    return Check(
        quantity=quantity,
        score="s",
        limit=limit,
        against="thresholds",
        lower=lower,
        upper=upper,
        status=check_status(limit, lower, upper),
        reason=Message("undecided"),
        records_to_settle=7,
    )


def judged(plain, prior=0.5, shared=None, **allowance):
    shared = plain if shared is None else shared
    return beside_records(plain, (shared.lower, shared.upper), Allowance(**allowance), prior)


CASES = [
    # What the scores show, what is known of the records, what follows.
    ((0.4, 0.6), {"most": 0.2}, "not_met"),  # (0.4 - 0.2) / 0.8
    ((0.4, 0.6), {"most": 0.35}, "inconclusive"),  # the records may explain it
    ((0.4, 0.6), {"most": None}, "inconclusive"),  # and who knows how much
    ((0.4, 0.6), {"most": 0.2, "asserted": True}, "not_met"),
    ((0.4, 0.05), {"most": 0.35}, "inconclusive"),  # they never help it to be met
    ((0.4, 0.05), {"most": None}, "inconclusive"),
    ((0.0, 0.05), {"most": None}, "met"),  # no difference is shown
    ((0.0, 0.05), {"most": 0.35}, "met"),
    ((0.0, 0.05), {"most": None, "differs": True}, "inconclusive"),  # it can hide a leak
    ((0.0, 0.05), {"most": 0.35, "differs": True}, "inconclusive"),
    ((0.0, 0.05), {"most": 0.02, "differs": True}, "met"),  # (0.05 + 0.02) / 0.98
    ((0.0, 0.05), {"most": 0.06, "asserted": True}, "inconclusive"),
    ((0.0, 0.05), {"most": 0.04, "asserted": True}, "met"),
    ((0.0, 0.05), {"most": 0.0, "asserted": True, "differs": True}, "met"),
    ((0.0, 0.6), {"most": 0.0}, "inconclusive"),
]


@pytest.mark.parametrize(("limits", "known", "status"), CASES)
def test_what_follows_for_records_that_are_alike(limits, known, status):
    found = judged(check(*limits), **known)
    assert found.status == status
    assert found.records_to_settle is None
    assert found.blind == (1.0 if known["most"] is None else known["most"])
    # A stored check can be told to be sound from its limits alone.
    follows = check_status(found.limit, found.lower, found.upper)
    assert follows == status or (status, follows) == ("inconclusive", "met")


def test_not_met_at_all_of_the_error_is_never_met_at_a_share():
    plain, shared = check(0.11, 0.05), check(0.09, 0.05)
    assert (plain.status, shared.status) == ("not_met", "met")
    assert judged(plain, shared=shared, most=0.0).status == "inconclusive"


@pytest.mark.parametrize("quantity", ["excess", "eta", "accuracy"])
def test_other_units_say_the_same(quantity):
    scale, shift = {"excess": (1, -0.4), "eta": (0.5, -0.2), "accuracy": (0.5, 0.5)}[quantity]
    for limits, known, _ in CASES:
        lower, upper = (0.4 + 0.6 * one for one in limits)
        same = judged(check(lower, upper, 0.46), prior=0.7, **known)
        other = check(lower * scale + shift, upper * scale + shift, 0.46 * scale + shift, quantity)
        found = judged(other, prior=0.7, **known)
        assert found.status == same.status
        if same.lower is not None:
            assert found.lower == pytest.approx(same.lower * scale + shift)


def test_a_metric_is_never_not_met():
    plain = replace(check(0.9, 0.95), quantity="metric", metric="ppv")
    for known in ({"most": 0.0}, {"most": 0.1, "asserted": True}):
        found = judged(plain, **known)
        assert (found.status, found.lower) == ("inconclusive", None)
    kept = replace(check(0.5, 0.55, 0.6), quantity="metric", metric="ppv")
    assert judged(kept, most=None).status == "met"
    assert judged(kept, most=0.1, asserted=True).status == "inconclusive"
    assert judged(kept, most=None, differs=True).status == "inconclusive"


def test_the_bounds_that_are_named_would_settle_it():
    """What a reason says of --blind-bound is what then happens."""
    accused = judged(check(0.4, 0.6), most=None)
    assert "if that is less than 0.3333, the limit is not met" in told(accused.reason)
    assert judged(check(0.4, 0.6), most=0.3332, asserted=True).status == "not_met"
    assert judged(check(0.4, 0.6), most=0.3334, asserted=True).status == "inconclusive"
    cleared = judged(check(0.0, 0.05), most=None, differs=True)
    assert "if that is 0.0454 or less, the limit is met" in told(cleared.reason)
    assert judged(check(0.0, 0.05), most=0.0454, asserted=True).status == "met"
    assert judged(check(0.0, 0.05), most=0.0456, asserted=True).status == "inconclusive"
    # A bound that the records contradict is not proposed.
    assert "`blind_bound`" not in told(judged(check(0.4, 0.6), most=None, least=0.34).reason)
    hidden = judged(check(0.0, 0.05), most=None, differs=True, least=0.1)
    assert "`blind_bound`" not in told(hidden.reason)


@pytest.mark.parametrize("quantity", ["advantage", "excess", "eta", "accuracy"])
def test_the_bounds_that_are_named_are_the_same_in_every_unit(quantity):
    scale, shift = restatement(quantity, 0.7)

    def reason(lower, upper, limit, **known):
        units = [one * scale + shift for one in (lower, upper, limit)]
        return told(judged(check(*units, quantity), prior=0.7, most=None, **known).reason)

    # Just below (0.64 - 0.46) / (1 - 0.46) and (0.46 - 0.43) / (1 + 0.46).
    assert "if that is less than 0.3333, the limit is not met" in reason(0.64, 0.76, 0.46)
    assert "if that is 0.0205 or less, the limit is met" in reason(0.4, 0.43, 0.46, differs=True)


def test_what_is_left_of_a_limit_is_said():
    left = told(judged(check(0.371, 0.6, 0.3), most=0.2).reason)  # (0.371 - 0.2) / 0.8
    shared = "for members and holdout records that cannot be told apart without the release"
    assert f"may explain 0.2000; {shared} the figure is at least 0.2137" in left


def blind(**changes):
    settings = {
        "n_members": 5,
        "n_holdout": 6,
        "confidence": 0.975,
        "lower": 0.0,
        "value": 0.0,
        "upper": 0.2,
        "attackers": "thresholds",
        "everyone": 0.1,
    }
    return Blind(**{**settings, **changes})


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.97])
def test_the_audit_pays_for_the_limit_of_the_records(confidence):
    error = (1 - confidence) / 2
    allowance, left = make_allowance(blind(), error)
    assert allowance.most == 0.1
    assert left + 0.0125 == pytest.approx(error)


def test_an_assertion_takes_no_error():
    allowance, left = make_allowance(blind(bound=0.07), 0.025)
    assert (allowance.most, allowance.asserted, left) == (0.07, True, 0.025)


def test_a_limit_for_a_class_is_none():
    """Whoever looks in another way may tell more."""
    allowance, left = make_allowance(blind(everyone=None), 0.025)
    assert (allowance.most, left) == (None, 0.025)


def test_a_difference_is_shown_at_the_error_of_the_audit():
    assert not blind().differs(0.025)
    assert blind(lower=0.001).differs(0.025)
    assert blind(shown_at=0.01).differs(0.025)
    assert not blind(shown_at=0.01).differs(0.005)
