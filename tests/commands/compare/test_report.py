"""What comparisons conclude, and the smallest input that makes each code appear."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.compare.queries import report as of_queries
from mipaudit.commands.compare.queries.run import surely_more
from mipaudit.commands.compare.reports import report as of_reports
from mipaudit.model.row import Row
from mipaudit.report.messages.reports import COMPARE
from mipaudit.report.messages.told import told
from mipaudit.report.messages.words import more_right_at_least, more_right_at_most
from tests.fixtures.briefs import answer, shown
from tests.fixtures.codes import said
from tests.fixtures.leaks import table

SIMPLE = "for attackers with one threshold"


@cache
def queries(*leaks, limit=None):
    many = len(leaks) > 6
    given = table(*leaks, rows=400 if many else 1600, seed=4)
    return mipaudit.compare(given, baseline="s0" if limit or many else None, max_increase=limit)


@cache
def audited(*leaks, seed=5):
    return mipaudit.estimate(table(*leaks, rows=4000, seed=seed))


@cache
def reports(*leaks, limit=None):
    """Compare a report of scores that do not leak with one of scores that do."""
    return mipaudit.compare(audited(0.0, 0.0), audited(*leaks, seed=6), max_increase=limit)


@cache
def back():
    return mipaudit.compare(audited(1.5, 0.0, seed=6), audited(0.0, 0.0))


def of_auc(report):
    """Return a comparison in which no advantage surely changed, and one AUC did."""
    changes = tuple(
        replace(one, lower=None, upper=None) if one.quantity == "advantage" else one
        for one in report.changes
        if one.quantity in {"advantage", "auc"}
    )
    return replace(report, changes=changes)


@cache
def together():
    """Return queries of which only two together tell anything."""
    random = np.random.default_rng(2)
    member = random.random(4000) < 0.5
    agree = random.random(4000) < np.where(member, 0.8, 0.2)
    first, second = random.standard_normal((2, 4000))
    second = np.abs(second) * np.where(agree, 1, -1) * np.sign(first)
    return mipaudit.compare(pd.DataFrame({"member": member, "a": first, "b": second}))


COMPARED = {
    lambda: queries(0.0, 0.0): (
        "compared right_compared no_query_leaks_more right_no_query_leaks_more no_query_leaks"
    ),
    lambda: queries(0.0, 1.5): (
        "compared right_compared query_leaks_more right_query_leaks_more queries_leak "
        "right_queries_leak"
    ),
    lambda: queries(0.0, 0.1, 2.0): "query_leaks_most right_query_leaks_most",
    lambda: queries(0.0, 1.5, limit=0.1): "right_increase_above increase_limit",
    lambda: queries(0.0, 1.5, limit=0.9): "right_increase_within",
    lambda: queries(0.0, 1.5, limit=0.5): "right_undecided",
    together: "leak_together",
    lambda: reports(1.5, 0.0): "figure_grew right_grew",
    back: "figure_shrank right_shrank",
    lambda: reports(0.0, 0.0): "no_figure_changed right_no_figure_changed files_more_precise",
    lambda: of_auc(reports(1.5, 0.0)): "right_figures_grew",
    lambda: of_auc(back()): "right_figures_shrank",
}
ELSEWHERE = {"one_size", "several_sizes", "limit_lacking", "other_side", "verdict_beside"}
ELSEWHERE |= {"past_verdict", "newest_report", "history_verdicts"}  # of a history


def test_every_code_has_an_input():
    for make, codes in COMPARED.items():
        assert {*said(make())} >= {*codes.split()}
    every = {code for codes in COMPARED.values() for code in codes.split()}
    assert every | ELSEWHERE == COMPARE.keys() | {"right_undecided"}


def test_a_leak_that_only_both_scores_show():
    (joint,), gains = together().together, {x.attackers: x.lower for x in together().gains}
    assert joint.lower > 0.5  # of 0.6
    assert gains["thresholds"] > 0.35
    assert gains["bins-16"] > 0.3
    assert all(abs(one.value) < 0.1 for one in together().differences)


def test_sizes_and_reasons_have_sentences():
    first = table(0.0), table(0.0, rows=800).rename(columns={"s0": "s1"})
    several = mipaudit.compare(*first, independent=True)
    assert told(of_queries.sizes(queries(0.0, 0.0))) == "800 members, 800 holdout records"
    assert of_queries.sizes(several).code == "several_sizes"
    reasons = [one.upper_reason for one in reports(1.5, 0.0).changes if one.upper_reason]
    assert {one.code for one in reasons} == {"limit_lacking", "other_side"}
    assert all(map(told, reasons))


@pytest.mark.parametrize("leaks", [(0, 0), (0, 2), (1, 1), (0, 0.3, 3), (0.1,) * 10, range(12)])
def test_no_query_is_said_to_leak_more_only_where_no_difference_is_certain(leaks):
    report = queries(*leaks)
    certain = any((x.lower or 0) > 0 or (x.upper or 0) < 0 for x in report.differences)
    leaking = any((one.lower or 0) > 0 for one in report.advantages)
    assert ("no_query_leaks_more" in said(report)) == (not certain)
    assert ("queries_leak" in said(report)) == leaking
    assert "no_query_leaks" not in said(report) or not leaking
    shown(report)


def test_the_one_that_leaks_most_leaks_more_than_the_next_by_the_least_of_the_limits():
    report = queries(0, 1, 4)
    top = report.ranking[0].query
    least = min(
        abs(one.lower) if one.score == top else abs(one.upper)
        for one in report.differences
        if one.attackers == report.design.against and top in {one.score, one.versus}
    )
    found = said(report)["query_leaks_most"]
    assert (found.get("more"), found.get("least")) == (top, least)
    plainly = told(said(report)["right_query_leaks_most"])
    assert f"{SIMPLE}, at least {more_right_at_least(least)} more right guesses per 100" in plainly


def test_certain_orders_are_those_whose_limits_exclude_none():
    words, sizes = ("method", "selection"), ("n_members", "n_holdout")
    row = Row(
        quantity="difference",
        score="a",
        versus="b",
        attackers="thresholds",
        value=0.0,
        lower=0.1,
        upper=0.3,
        confidence=0.95,
        validity="approximate",
        **dict.fromkeys(words, ""),
        **dict.fromkeys(sizes, 1),
    )
    rows = [
        row,
        replace(row, score="c", lower=-0.2, upper=-0.1),
        replace(row, score="d", lower=-0.2, upper=0.1),
        replace(row, score="e", attackers="bins-16"),
        replace(row, score="f", lower=None, upper=None),
    ]
    assert surely_more(rows, "thresholds") == {("a", "b"), ("b", "c"), ("a", "c")}


@pytest.mark.parametrize("compared", [queries, reports])
@pytest.mark.parametrize("limit", [0.1, 0.45, 0.9])
def test_a_verdict_is_of_more_right_guesses(compared, limit):
    report = compared(*((0.0, 1.5) if compared is queries else (1.5, 0.0)), limit=limit)
    decides = [one for one in report.policy if one.status == report.verdict.status]
    assert report.answer.code == f"answer_{report.verdict.status}"
    assert answer(report).startswith(report.verdict.status.upper().replace("_", " "))
    plainly, allowed = told(report.answer.get("plainly")), f"(the limit: {50 * limit:g})"
    match report.verdict.status:
        case "not_met":
            least = more_right_at_least(decides[0].lower, (limit,))
            assert f"{SIMPLE}, at least {least} more right guesses per 100" in plainly
            assert plainly.endswith(allowed)
        case "inconclusive":
            assert plainly == "this test neither passes nor fails the release"
        case _:
            most = more_right_at_most(max(one.upper for one in decides), (limit,))
            assert f"more than {most} more right guesses per 100" in plainly
            assert plainly.endswith(f"{allowed}; other attackers were not compared")


@pytest.mark.parametrize("leaks", [(0.0, 0.0), (2.5, 0.0), (0.5,)])
def test_no_figure_is_said_to_be_as_before_where_one_surely_changed(leaks):
    report = mipaudit.compare(audited(0.0, 2.5), audited(*leaks, seed=6))
    codes = said(report)
    assert ("no_figure_changed" in codes) == all(one.shown == "open" for one in report.changes)
    assert ("figure_grew" in codes) == any(one.shown == "increase" for one in report.changes)
    alone = [one.score for one in of_reports.unmatched(report)]
    assert alone == (["s1"] if len(leaks) == 1 else [])
    assert ("(not compared)" in shown(report)) == bool(alone)
    orders = [of_reports._ORDER.index(one.shown) for one in of_reports.decisive(report)]
    assert orders == sorted(orders)


def test_many_reports_fit():
    found = [audited(at / 4, 0.0, seed=at) for at in range(9)]
    assert "increase" in shown(mipaudit.compare(*found))
