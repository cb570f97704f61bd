"""The paragraph that is read alone must not be read wrongly."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.words import summary
from mipaudit.errors import UsageError
from mipaudit.formats.report_forms import report_as
from mipaudit.report.messages.told import is_serious

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


def test_no_headline_is_silent_on_a_row_that_shows():
    shown = 0
    for number in range(12):
        rng = np.random.default_rng([7, number])
        found = mipaudit.estimate(members=rng.normal(0.3, 1, 300), holdout=rng.normal(0, 1, 300))
        (auc,) = (e for e in found.estimates if e.quantity == "auc")
        points = [e for e in found.estimates if e.fpr and e.lower is not None and e.lower > e.fpr]
        quiet = "does not show that membership leaks" in found.summary
        above = auc.lower > 0.5 or bool(points)
        assert not (quiet and above)
        if above and found.estimates[0].lower <= 0:
            shown += 1
            assert "is not above blind guessing" in found.summary
            assert "It implies a membership advantage of at least" in found.summary
            assert "95% confidence of its own, not jointly with other rows" in found.summary
    assert shown > 2


def test_a_row_that_implies_more_than_the_headline(report):
    first = replace(report.estimates[0], lower=0.01, score=report.design.score_columns[0])
    told = said(report, estimates=(first, *report.estimates[1:]))
    assert "at least 0.0100" in told
    assert "It implies a membership advantage of at least" in told
    strong = replace(first, lower=0.9)
    assert "implies" not in said(report, estimates=(strong, *report.estimates[1:]))


def test_a_row_that_shows_at_a_prior_where_nothing_is_gained(report):
    design = replace(report.design, prior=0.02, baseline=0.96)
    rows = [
        replace(e, lower=0.96) if e.quantity == "advantage" and e.attackers == "any" else e
        for e in report.estimates
    ]
    told = said(report, design=design, estimates=rows)
    assert "its values differ between members and holdout records" in told
    assert "it implies no advantage over blind guessing" in told


def test_a_headline_is_not_silent_on_the_exact_test():
    rng = np.random.default_rng(2)
    found = mipaudit.estimate(members=rng.normal(0, 1.5, 120), holdout=rng.normal(0, 1, 120))
    (row,) = (e for e in found.estimates if e.quantity == "any_difference")
    assert (row.lower, row.upper, row.validity) == (None, None, "finite-sample")
    assert (row.n_members, row.n_holdout) == (120, 120)
    assert row.value <= 0.05
    quiet = tuple(
        replace(e, lower=0.0 if e.quantity == "advantage" else None)
        for e in found.estimates
        if e.lower is not None or e.quantity == "any_difference"
    )
    told = said(found, estimates=quiet)
    assert "But an exact test finds that members and holdout records differ (p = " in told
    assert "membership, or another difference of the groups. How much leaks is open" in told
    large = tuple(replace(e, value=0.4) if e.quantity == row.quantity else e for e in quiet)
    assert "exact test" not in said(found, estimates=large)


def test_the_exact_test_is_over_all_scores():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"member": np.arange(400) < 200, "a": rng.normal(size=400)})
    frame["b"] = frame["a"] ** 3
    found = mipaudit.estimate(frame)
    rows = [e for e in found.estimates if e.quantity == "any_difference"]
    assert len(rows) == 2
    # An increasing map changes no p-value.
    assert rows[0].value == rows[1].value
    small = tuple(replace(e, value=0.02) if e in rows else e for e in found.estimates)
    shut = replace(found.estimates[0], lower=0.0)
    assert "(p = 0.0400, over all scores)" in said(found, estimates=(shut, *small[1:]))
    more = tuple(replace(e, value=0.03) if e in rows else e for e in found.estimates)
    assert "exact test" not in said(found, estimates=(shut, *more[1:]))


PROVED = re.compile(r"finite.sample|\bproved|every sample size", re.IGNORECASE)


def stored(report):
    """Return a report in all of its forms."""
    written = [report_as(report, form) for form in ("html", "markdown", "junit")]
    return "\n".join((mipaudit.to_json(report).decode(), repr(report), *written))


@pytest.mark.parametrize("seed", [7, "fresh", None])
def test_with_a_stated_seed_strict_proves_nothing(seed):
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({"member": np.arange(360) < 160, "a": rng.integers(0, 5, 360)})
    frame["b"] = rng.normal(size=360)
    known = seed == 7
    given = {"strict": True, "seed": seed}
    asked = {"metric": ["ppv", "accuracy"], "max_advantage": 0.3, "claimed_epsilon": 1}
    report = mipaudit.estimate(frame, **asked, **given)
    told = [one for one in report.findings if one.code == "strict_seed"]
    assert [is_serious(one) for one in told] == [True] * known
    assert bool(PROVED.search(stored(report))) is not known
    assert mipaudit.verify(mipaudit.to_json(report), input=frame).agrees
    again = mipaudit.rejudge(report, max_advantage=0.2)
    assert bool(PROVED.search(stored(again))) is not known
    assert "strict_seed" not in {one.code for one in mipaudit.estimate(frame, seed=seed).findings}

    tables = (frame[frame["member"]], frame[~frame["member"]])
    blind = mipaudit.shift(*(one.drop(columns="member") for one in tables), **given)
    assert ("strict_seed" in {one.code for one in blind.findings}) is known
    assert bool(PROVED.search(stored(blind))) is not known
    if known:
        with pytest.raises(UsageError, match="seed that was stated"):
            mipaudit.estimate(frame, blind=blind, strict=True)

    counted = mipaudit.summarize(frame, **({"seed": 7} if known else {}))
    of_counts = mipaudit.estimate(counted, strict=True)
    assert ("strict_seed" in {one.code for one in of_counts.findings}) is known
    assert bool(PROVED.search(stored(of_counts))) is not known
