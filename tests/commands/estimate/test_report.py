"""Which answer an audit has in which situation, as a code with its numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.report import lines, open_limits, remarks
from mipaudit.errors import UsageError
from mipaudit.report.forms import brief_report, report_as
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.messages.words import right_at_least
from mipaudit.statements.rounding import lower_text, upper_text
from tests.fixtures.leaks import beside_records, coins, table, with_rows


def codes(report):
    """Return the codes of the remarks."""
    return {one.code for one in remarks(report)}


def plainly(report):
    """Return the answer in right guesses, as the top of a page has it."""
    page = report_as(report, "html")
    return re.search(r'<p class="answer">(.*?)</p>', page, re.DOTALL)[1].replace("&#39;", "'")


def advantages(report):
    return [one for one in report.estimates if one.quantity == "advantage"]


# What is found where nothing was asked for.


def test_no_answer_is_silent_on_a_row_that_shows():
    shown = set()
    for number in range(12):
        rng = np.random.default_rng([7, number])
        found = mipaudit.estimate(members=rng.normal(0.3, 1, 300), holdout=rng.normal(0, 1, 300))
        (auc,) = (one for one in found.estimates if one.quantity == "auc")
        points = [one for one in found.estimates if one.fpr and (one.lower or 0.0) > one.fpr]
        above = auc.lower > 0.5 or bool(points)
        assert not (above and found.answer.code == "no_leak")
        if above and found.estimates[0].lower <= 0:
            shown.add(found.answer.code)
            assert found.answer.get("plainly").get("but").code == "but_above_chance"
    assert shown <= {"auc_above_chance", "tpr_above_chance"}
    assert shown


def test_a_row_that_shows_at_a_prior_where_nothing_is_gained():
    report = mipaudit.estimate(table(1.0), prior=0.02)
    assert report.answer.code in {"auc_above_chance", "tpr_above_chance"}
    assert report.estimates[0].lower <= report.design.baseline


def test_the_exact_test_is_over_all_scores():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"member": np.arange(400) < 200, "a": rng.normal(size=400)})
    found = mipaudit.estimate(frame.assign(b=frame["a"] ** 3))
    first, second = (one for one in found.estimates if one.quantity == "any_difference")
    assert first.value == second.value  # an increasing map changes no p-value
    shut = with_rows(found, "advantage", lower=0.0)
    small, large = (with_rows(shut, "any_difference", value=one) for one in (0.02, 0.03))
    assert (small.answer.code, small.answer.get("p")) == ("differ_by_test", 0.04)
    assert "difference_p" in codes(small)
    assert large.answer.code == "no_leak"
    assert "no_difference_p" in codes(large)


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("method", ["prequential", "kde"])
def test_at_most_is_never_that_of_an_estimator_without_limits(prior, method):
    report = mipaudit.estimate(table(0.0, rows=1000, seed=10), prior=prior, method=method)
    widest = max(
        one.upper
        for one in advantages(report)
        # That of the score with noise is of another release.
        if one.upper and one.validity != "not-an-interval" and one.attackers != "noised-query"
    )
    assert report.answer.get("upper") == widest
    assert report.answer.get("against") != "any"
    assert report.answer.get("baseline") == (pytest.approx(0.6) if prior != 0.5 else None)
    assert f"at most {upper_text(widest)}" in told(report.answer)


def test_at_most_is_the_largest_of_all_scores():
    report = mipaudit.estimate(table(0.0, 0.0, 0.0))
    assert report.answer.get("upper") == max(one.upper or 0.0 for one in advantages(report))


@pytest.mark.parametrize(
    ("values", "given", "code"),
    [
        ("two", {}, "leaks_beyond_records"),
        ("two", {"blind_bound": 0.1}, "leaks_beyond_records"),
        ("many", {}, "told_apart"),
        ("many", {"blind_bound": 0.9}, "told_apart"),
    ],
)
def test_what_the_records_may_explain_is_not_called_a_leak(values, given, code):
    report = beside_records(values, **given)
    answer, beyond = report.answer, report.blind.excess[0].lower
    assert answer.code == code
    assert answer.get("plainly").code == f"right_{code}"
    assert (beyond > 0) == (code == "leaks_beyond_records")
    if beyond > 0:
        assert answer.get("lower") == answer.get("plainly").get("lower") == beyond
        assert (
            answer.get("asserted") == answer.get("plainly").get("asserted") == (bool(given) or None)
        )
        assert f"right at least {right_at_least(beyond, (0.0,))} times" in plainly(report)


def test_the_gravest_claim_is_told_whichever_score_it_is_of():
    report = mipaudit.estimate(table(0.3, 0.0), claimed_epsilon=2)
    assert report.answer.code == "answer_consistent"
    assert "this does not prove the claim" in told(report.answer)
    assert " MET" not in report_as(report, "markdown")
    strongest, weaker = report.claims
    worse = replace(report, claims=(strongest, replace(weaker, status="not_comparable")))
    assert worse.answer.code == "answer_not_comparable"
    broken = mipaudit.estimate(table(0.0, 2.0), claimed_epsilon=0.1)
    assert broken.answer.code == "answer_not_met"
    assert told(broken.answer).startswith("NOT MET: 's1': the advantage is at least")


# How a verdict is told.


def test_what_is_not_met_is_said_in_guesses_with_what_the_limit_allows():
    report = mipaudit.estimate(table(2.0, 0.0), max_advantage=0.1)
    (check, other) = report.policy
    found = report.answer.get("plainly")
    assert (found.code, found.get("score"), found.get("lower")) == (
        "right_above",
        "s0",
        check.lower,
    )
    assert (report.answer.get("alike"), report.answer.get("limits")) == (1, 2)
    assert other.status != "not_met"
    least = right_at_least(check.lower, (0.1, 0.0))
    assert f"right at least {least} times in 100 (a coin: 50; the limit: 55)" in plainly(report)


def test_what_is_met_names_who_is_meant():
    report = mipaudit.estimate(table(0.0, rows=4000), max_advantage=0.3)
    found = report.answer.get("plainly")
    assert (found.code, found.get("against")) == ("right_within_kind", "intervals-4")
    assert "cleverer" in plainly(report)
    assert "To pass does not prove that nothing leaks." in report_as(report, "html")
    nobody = mipaudit.estimate(coins(8000), max_advantage=0.2)
    assert nobody.answer.get("plainly").code == "right_within"
    assert "cleverer" not in plainly(nobody)


def test_an_open_verdict_says_between_what_and_never_at_least_nothing():
    report = mipaudit.estimate(table(0.0, rows=120), max_advantage=0.05)
    assert report.answer.get("plainly").code == "right_open"
    assert "0.0000" not in plainly(report)
    above = mipaudit.estimate(table(0.6, rows=800), max_advantage=0.25).answer.get("plainly")
    assert (above.code, above.get("most").code) == ("right_open_above", "right_most_kind")


@pytest.mark.parametrize("given", [{"max_tpr_at_fpr": (0.02, 0.01)}, {"max_metric": ["ppv=0.6"]}])
def test_a_limit_on_something_else_keeps_the_words_of_the_terminal(given):
    report = mipaudit.estimate(table(1.0), **given)
    assert report.answer.get("plainly") is None
    assert told(report.answer) in plainly(report)


def test_at_another_prior_blind_guessing_is_not_a_coin():
    report = mipaudit.estimate(table(1.0), prior=0.2, max_eta=0.01)
    assert "(blind guessing: 80; the limit: 81)" in plainly(report)
    assert "coin" not in plainly(report)


def test_what_is_met_is_said_by_what_is_closest_to_its_limit():
    report = mipaudit.estimate(
        table(0.5, rows=4000), max_advantage=0.9, max_tpr_at_fpr=(0.12, 0.01)
    )
    assert report.answer.code == "answer_met"
    assert report.answer.get("reason").get("quantity") == "tpr_at_fpr"


@pytest.mark.parametrize("until", ["2999-01-01", "2020-01-01"])
def test_a_waiver_is_never_missing(until):
    waiver = {"quantity": "advantage", "reason": "a test", "person": "A", "expires": until}
    report = mipaudit.estimate(table(2.0), max_advantage=0.1, max_eta=0.49, waivers=[waiver])
    ended = until < "2900"
    assert report.answer.code == ("answer_not_met" if ended else "answer_waived")
    assert report.answer.get("waived") == (None if ended else 1)
    said = "; the waiver by A expired after 2020-01-01" if ended else ", with 1 waiver: "
    assert said in " ".join(brief_report(report, width=80).split())


@pytest.mark.parametrize("how", ["pass", "fail"])
def test_what_a_policy_makes_of_an_open_answer_is_said(how):
    report = mipaudit.estimate(table(0.0), max_advantage=0.05, on_inconclusive=how)
    assert report.answer.get({"pass": "passes", "fail": "fails"}[how]) is True
    assert report.answer.code == "answer_inconclusive"


# Remarks, and lines beside the answer.


def test_two_limits_of_one_advantage_are_explained():
    report = mipaudit.estimate(table(1.0, 0.3, rows=1200), max_advantage=0.4, claimed_epsilon=2)
    (first, *_), check = advantages(report), report.policy[0]
    assert "verdict_shares_error" in codes(report)
    against = next(one for one in advantages(report) if one.attackers == check.against)
    same = (replace(check, lower=first.lower, upper=against.upper), *report.policy[2:])
    assert "verdict_shares_error" not in codes(replace(report, policy=same))


@pytest.mark.parametrize("leaks", [(0.9, 0.2), (0.0, 0.1, 0.7, 0.3, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("given", [{}, {"max_advantage": 0.04}, {"confidence": 0.9}])
def test_where_scores_share_the_error_their_figure_says_so(leaks, given):
    frame = table(*leaks, rows=1000, seed=10)
    report = mipaudit.estimate(frame, **given)
    alone = mipaudit.estimate(frame, score_col=report.design.score_columns[0], **given)
    (row,) = (one for one in advantages(alone) if one.attackers == "any")
    said = f"shared by {len(leaks)} scores; alone {lower_text(row.lower)}"
    assert said in " ".join(brief_report(report, width=80).split())
    assert "shared by" not in brief_report(alone, width=80)
    assert alone.design.alone is None


def test_limits_of_one_score_share_its_error_too():
    report = mipaudit.estimate(table(0.9), max_advantage=0.9, max_eta=0.45)
    (shared,) = (one for one in remarks(report) if one.code == "error_shared")
    assert (shared.get("sharing"), shared.get("among")) == (2, "limits")


def test_records_that_settle_some_limits_are_not_said_to_settle_all():
    report = mipaudit.estimate(table(0.4, 0.3, 0.2, rows=2000), max_advantage=0.2)
    first, *rest = report.policy
    assert report.verdict.status == first.status == "inconclusive"
    some = replace(report, policy=(replace(first, records_to_settle=None), *rest))
    assert "records_settle_each" in codes(report)
    (found,) = (one for one in remarks(some) if one.code == "records_settle_some")
    assert 0 < found.get("settled") < found.get("limits") <= 3
    # Where the limits have lines of their own each has its number of records there.
    several = mipaudit.estimate(
        table(0.4, 0.3, rows=2000), max_advantage=0.2, max_tpr_at_fpr=(0.03, 0.01)
    )
    assert {one.records_to_settle for one in open_limits(several)} >= {
        one.records_to_settle for one in several.policy if one.status == "inconclusive"
    }


@pytest.mark.parametrize("limit", [0.05, 0.2])
@pytest.mark.parametrize("leaks", [(0.9,), (0.9, 0.6, 0.3)])
def test_every_limit_that_is_not_kept_has_a_line_the_gravest_first(limit, leaks):
    report = mipaudit.estimate(
        table(*leaks, rows=2000), max_advantage=limit, max_tpr_at_fpr=(0.03, 0.01), max_eta=0.4
    )
    failing = [one for one in report.policy if one.status != "met"]
    assert len(open_limits(report)) == len(failing) > 1
    assert {id(one) for one in open_limits(report)} == {id(one) for one in failing}
    statuses = [one.status for one in open_limits(report)]
    assert statuses == sorted(statuses, key=["not_met", "inconclusive"].index)


def test_of_limits_that_are_all_met_each_is_shown_at_the_score_that_comes_closest():
    report = mipaudit.estimate(
        table(0.5, 0.1, rows=4000), max_advantage=0.9, max_tpr_at_fpr=(0.2, 0.01)
    )
    assert report.verdict.status == "met"
    for quantity in ("advantage", "tpr_at_fpr"):
        (line,) = (one for one in open_limits(report) if one.quantity == quantity)
        assert line.upper == max(one.upper for one in report.policy if one.quantity == quantity)


def test_one_limit_that_the_scores_are_drawn_beside_is_not_listed_again():
    report = mipaudit.estimate(table(0.9, 0.6), max_advantage=0.05)
    assert open_limits(report) == ()
    assert [(one.lower, one.upper) for one in lines(report)] == [
        (one.lower, one.upper) for one in report.policy
    ]


@pytest.mark.parametrize("leak", [0.0, 0.3, 1.2])
@pytest.mark.parametrize("rows", [100, 1000])
def test_auc_and_tpr_stand_between_their_limits_and_never_alone(leak, rows):
    report = mipaudit.estimate(table(leak, rows=rows))
    (line,) = lines(report)
    for span, quantity, fpr in ((line.auc, "auc", None), (line.tpr, "tpr_at_fpr", 0.01)):
        (row,) = (one for one in report.estimates if (one.quantity, one.fpr) == (quantity, fpr))
        if span is None:
            assert row.lower is row.upper is None
        else:
            assert span == (row.lower or 0.0, 1.0 if row.upper is None else row.upper)


# What is said of copies, of the second test, and of a seed that was stated.


def test_copies_stand_first_on_every_answer(tmp_path):
    frame = table(0.0).assign(exact_copy=np.arange(400) % 80 == 0)
    found, judged, limited = (
        mipaudit.estimate(frame, **given)
        for given in ({}, {"max_advantage": 0.1}, {"max_advantage": 0.1, "max_copies": 0})
    )
    assert found.answer.code == "no_leak"
    assert found.answer.get("copied") is judged.answer.get("copies") is True
    assert limited.answer.get("reason").code == "copies_above_limit"
    for report in (found, judged, limited):
        assert "word for word" in report_as(report, "html").partition("</nav>")[0]
        assert "5 of 200 members" in brief_report(report, width=80)


@pytest.mark.parametrize("given", [{}, {"max_advantage": 0.05}])
def test_a_second_test_that_disagrees_is_at_the_top_of_a_page(given):
    report = mipaudit.estimate(table(0.0, rows=120), **given)
    tested = with_rows(report, "any_difference", value=0.001)
    top = report_as(tested, "html").partition("</nav>")[0].partition("<header>")[2]
    assert "p = 0.0010" in top
    assert "difference_p" in codes(tested)


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
