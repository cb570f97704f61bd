"""The paragraph that is read alone must not be read wrongly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.narrative import summary

SHARED = "The verdict shares the error over its own limits"


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(5)
    member = np.arange(1200) < 600
    scores = {
        name: rng.normal(size=1200) + shift * member for name, shift in (("a", 1), ("b", 0.3))
    }
    frame = pd.DataFrame({"member": member, **scores})
    return mipaudit.estimate(frame, max_advantage=0.4, claimed_epsilon=2)


def said(report, **changes):
    parts = ("design", "estimates", "claims", "policy", "verdict")
    given = {name: getattr(report, name) for name in parts} | changes
    return summary(*given.values())


def test_two_limits_of_one_advantage_are_explained(report):
    assert report.policy[0].status == "inconclusive"
    assert report.policy[0].upper != max(e.upper for e in report.estimates[:5] if e.upper)
    assert SHARED in report.summary

    first = report.estimates[0]
    against = next(e for e in report.estimates if e.attackers == report.policy[0].against)
    same = tuple(
        replace(one, lower=first.lower, upper=against.upper) if one.score == first.score else one
        for one in report.policy
    )
    assert SHARED not in said(report, policy=same)


def test_a_claim_that_is_consistent_is_not_said_to_hold(report):
    assert report.claims[0].status == "consistent"
    assert "is consistent with the scores, which does not prove it." in report.summary


def test_the_gravest_claim_is_told_whichever_score_it_is_of(report):
    strongest, weaker = report.claims
    told = said(report, claims=(strongest, replace(weaker, status="contradicted")))

    assert "The claim of epsilon 2 is contradicted: more leaks than it allows." in told
    assert "consistent" not in told
