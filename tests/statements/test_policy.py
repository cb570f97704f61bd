from __future__ import annotations

import pytest

from mipaudit.statements.claim import judge_claim
from mipaudit.statements.policy import Policy, PolicyCheck, check_reason, check_status
from mipaudit.statements.verdict import reach_verdict


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
    return PolicyCheck(
        **{
            "quantity": "advantage",
            "score": "s",
            "limit": 0.1,
            "against": "thresholds",
            "lower": 0.05,
            "upper": 0.2,
            "status": status,
            "reason": f"because it is {status}",
            **settings,
        }
    )


def claim(lower):
    return judge_claim(
        score="s", epsilon=1.0, delta=0.0, adjacency="substitution", prior=0.5, lower=lower
    )


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
    assert verdict.reasons == ("score 's': because it is not_met",)


def test_met_names_its_class():
    assert "one threshold" in check_reason(check("met", upper=0.09))


def test_an_upper_limit_that_does_not_exist_is_said_to():
    text = check_reason(check("inconclusive", against="any", upper=None))
    assert "no upper limit" in text
    assert "for any attacker" in text
    assert "--against" in text


@pytest.mark.parametrize("needed", [None, 12_000])
def test_what_would_settle_it(needed):
    text = check_reason(check("inconclusive", records_to_settle=needed))
    assert ("12,000 records" in text) is (needed is not None)


def test_policy_size():
    assert Policy().size == 0
    assert Policy(max_eta=0.1, max_tpr_at_fpr=(0.1, 0.01), against="any").size == 2
