"""What comparisons conclude, and the smallest input that makes each code appear."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.compare.queries import report as of_queries
from mipaudit.commands.compare.reports import report as of_reports
from mipaudit.report.messages.reports import COMPARE
from mipaudit.report.messages.told import told
from mipaudit.report.messages.words import more_right_at_least, more_right_at_most
from tests.fixtures.briefs import answer, shown
from tests.fixtures.codes import said, within

SIMPLE = "those who apply one cut-off to the score"


def table(*leaks, rows=1600, seed=4):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    scores = {f"q{at}": random.normal(size=rows) + leak * member for at, leak in enumerate(leaks)}
    return pd.DataFrame({"member": member, **scores})


@cache
def queries(*leaks, limit=None):
    return mipaudit.compare(table(*leaks), baseline=limit and "q0", max_increase=limit)


@cache
def audited(*leaks, seed=5):
    return mipaudit.estimate(table(*leaks, rows=4000, seed=seed))


@cache
def reports(*leaks, limit=None):
    """Compare a report of scores that do not leak with one of scores that do."""
    return mipaudit.compare(audited(0.0, 0.0), audited(*leaks, seed=6), max_increase=limit)


def back():
    return mipaudit.compare(audited(1.5, 0.0, seed=6), audited(0.0, 0.0))


def of_auc(*, grown):
    """Return a comparison in which no advantage surely changed, and one AUC did."""
    report = reports(1.5, 0.0) if grown else back()
    changes = tuple(
        replace(one, lower=None, upper=None) if one.quantity == "advantage" else one
        for one in report.changes
        if one.quantity in {"advantage", "auc"}
    )
    return replace(report, changes=changes)


def together():
    """Return queries of which only two together tell anything."""
    random = np.random.default_rng(2)
    member = random.random(4000) < 0.5
    agree = random.random(4000) < np.where(member, 0.8, 0.2)
    first = random.standard_normal(4000)
    second = np.abs(random.standard_normal(4000)) * np.where(agree, 1, -1) * np.sign(first)
    return mipaudit.compare(pd.DataFrame({"member": member, "a": first, "b": second}))


def several():
    first, second = table(0.0), table(0.0, rows=800).rename(columns={"q0": "q1"})
    return mipaudit.compare(first, second, independent=True)


COMPARED = {
    lambda: queries(0.0, 0.0): (
        "compared right_compared no_query_leaks_more right_no_query_leaks_more no_query_leaks"
    ),
    lambda: queries(0.0, 1.5): (
        "query_leaks_more right_query_leaks_more queries_leak right_queries_leak"
    ),
    lambda: queries(0.0, 0.1, 2.0): "query_leaks_most right_query_leaks_most",
    lambda: queries(0.0, 1.5, limit=0.1): "right_increase_above increase_limit",
    lambda: queries(0.0, 1.5, limit=0.9): "right_increase_within",
    lambda: queries(0.0, 1.5, limit=0.5): "right_increase_open",
    together: "leak_together",
    lambda: reports(1.5, 0.0): "figure_grew right_grew",
    back: "figure_shrank right_shrank",
    lambda: reports(0.0, 0.0): "no_figure_changed right_no_figure_changed files_more_precise",
    lambda: of_auc(grown=True): "right_figures_grew",
    lambda: of_auc(grown=False): "right_figures_shrank",
}
MAKES = {code: made for made, codes in COMPARED.items() for code in codes.split()}
ELSEWHERE = {"one_size", "several_sizes", "limit_lacking", "other_side", "verdict_beside"}
ELSEWHERE |= {"past_verdict", "newest_report", "history_verdicts"}  # of a history


def test_every_code_has_an_input():
    assert {*MAKES, *ELSEWHERE} == COMPARE.keys()


@pytest.mark.parametrize("code", MAKES)
def test_the_smallest_input_makes_it_appear(code):
    assert code in said(MAKES[code]())


def test_sizes_and_reasons_have_sentences():
    assert told(of_queries.sizes(queries(0.0, 0.0))) == "800 members, 800 holdout records"
    assert of_queries.sizes(several()).code == "several_sizes"
    reasons = [one.upper_reason for one in reports(1.5, 0.0).changes if one.upper_reason]
    assert {one.code for one in reasons} == {"limit_lacking", "other_side"}
    assert all(map(told, reasons))


@pytest.mark.parametrize("leaks", [(0, 0), (0, 2), (1, 1), (0, 0.3, 3), (0.1,) * 10, range(12)])
def test_no_query_is_said_to_leak_more_only_where_no_difference_is_certain(leaks):
    report = queries(*leaks)
    codes = said(report)
    certain = [
        one
        for one in report.differences
        if (one.lower is not None and one.lower > 0) or (one.upper is not None and one.upper < 0)
    ]
    assert ("no_query_leaks_more" in codes) == (not certain)
    leaking = any(one.lower is not None and one.lower > 0 for one in report.advantages)
    assert ("queries_leak" in codes) == leaking
    assert "no_query_leaks" not in codes or not leaking
    first = of_queries.lines(report)[0]
    assert (first.query, first.place) == (
        report.ranking[0].query,
        report.ranking[0].highest_place,
    )
    shown(report)


def test_the_one_that_leaks_most_leaks_more_than_the_next_by_the_least_of_the_limits():
    report = queries(0, 1, 4)
    of_class = [one for one in report.differences if one.attackers == report.design.against]
    top = report.ranking[0].query
    least = min(
        abs(one.lower) if one.score == top else abs(one.upper)
        for one in of_class
        if top in {one.score, one.versus}
    )
    found = said(report)["query_leaks_most"]
    assert (found.get("more"), found.get("least")) == (top, least)
    plainly = told(said(report)["right_query_leaks_most"])
    assert f"{SIMPLE} are right at least {more_right_at_least(least)} more times" in plainly


@pytest.mark.parametrize("compared", [queries, reports])
@pytest.mark.parametrize("limit", [0.1, 0.45, 0.9])
def test_a_verdict_is_of_more_right_guesses(compared, limit):
    leaks = (0.0, 1.5) if compared is queries else (1.5, 0.0)
    report = compared(*leaks, limit=limit)
    decides = [one for one in report.policy if one.status == report.verdict.status]
    assert report.answer.code == f"answer_{report.verdict.status}"
    assert answer(report).startswith(report.verdict.status.upper().replace("_", " "))
    plainly, allowed = told(report.answer.get("plainly")), f"(the limit: {50 * limit:g})"
    match report.verdict.status:
        case "not_met":
            least = more_right_at_least(decides[0].lower, (limit,))
            assert f"{SIMPLE} are right at least {least} more times in 100 than" in plainly
            assert plainly.endswith(allowed)
        case "inconclusive":
            assert plainly == "this test neither passes nor fails the release"
        case _:
            most = more_right_at_most(max(one.upper for one in decides), (limit,))
            assert f"{SIMPLE} are right more than {most} more times in 100" in plainly
            assert plainly.endswith(f"{allowed}; of cleverer ones this says nothing")


@pytest.mark.parametrize("leaks", [(0.0, 0.0), (2.5, 0.0), (0.5,)])
def test_no_figure_is_said_to_be_as_before_where_one_surely_changed(leaks):
    report = mipaudit.compare(audited(0.0, 2.5), audited(*leaks, seed=6))
    codes = said(report)
    assert ("no_figure_changed" in codes) == all(one.shown == "open" for one in report.changes)
    assert ("figure_grew" in codes) == any(one.shown == "increase" for one in report.changes)
    alone = [one.score for one in of_reports.unmatched(report)]
    assert alone == (["q1"] if len(leaks) == 1 else [])
    text = shown(report)
    assert ("that are not compared" in text) == bool(alone)
    assert [one.shown for one in of_reports.decisive(report)] == sorted(
        (one.shown for one in of_reports.decisive(report)), key=of_reports._ORDER.index
    )


def test_many_reports_fit():
    found = [audited(at / 4, 0.0, seed=at) for at in range(9)]
    assert "increase" in shown(mipaudit.compare(*found))


def test_each_message_within_is_found():
    assert {one.code for one in within(queries(0.0, 1.5).answer)} == {
        "compared",
        "right_compared",
        "query_leaks_more",
        "right_query_leaks_more",
        "queries_leak",
        "right_queries_leak",
    }
