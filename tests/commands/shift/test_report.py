"""What a report of ``shift`` concludes, and the smallest input that makes each code appear."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.shift import report as conclusion
from mipaudit.model.message import Message
from mipaudit.report.forms import brief_report
from mipaudit.report.messages.records import SHIFT
from mipaudit.report.messages.told import told


def tables(moved, columns=2, rows=500, seed=7):
    random = np.random.default_rng(seed)
    return [
        pd.DataFrame(
            {f"c{at}": random.normal(size=rows) + side * moved for at in range(columns)}
        ).assign(patient=[f"{side}-{row}" for row in range(rows)])
        for side in (0, 1)
    ]


def left_out():
    """Return tables with a column for each reason to leave one out."""
    members, holdout = (
        frame.assign(
            row_id=range(500),
            member=1,
            none=None,
            same="x",
            list=[[1]] * 500,
            number=range(side * 500, side * 500 + 500),
        )
        for side, frame in enumerate(tables(0.0))
    )
    return mipaudit.shift(members.assign(more=1), holdout, ignore="c1")


def single():
    """Return tables of which no score is shown to differ, and one column is."""
    members, holdout = tables(0.0, columns=12, rows=300)
    return mipaudit.shift(members, holdout.assign(c3=holdout["c3"].where(holdout.index > 40)))


AUDITS = {
    lambda: mipaudit.shift(
        *tables(3.0)
    ): "records_told_apart right_told_apart_alone may_explain_a_leak",
    single: "columns_differ right_columns less_may_be_there",
    lambda: mipaudit.shift(*tables(0.0)): (
        "records_not_told_apart right_records_not_shown another_in_every_row"
    ),
    lambda: mipaudit.shift(*tables(3.0), max_blind=0.5): "right_records_above",
    lambda: mipaudit.shift(*tables(0.0), max_blind=0.5): "right_records_within",
    lambda: mipaudit.shift(*tables(0.0), max_blind=0.01): "right_records_open",
    lambda: mipaudit.shift(*tables(0.0), columns="c0"): "not_asked_for",
    left_out: (
        "in_one_table ignored_as_asked says_membership names_a_record not_comparable_values "
        "without_values numbers_apart same_in_all_rows"
    ),
}
MAKES = {code: audit for audit, codes in AUDITS.items() for code in codes.split()}
made = cache(lambda audit: audit())


def within(message):
    """Yield a message and those within it."""
    yield message
    for one in dict(message.values).values():
        if isinstance(one, Message):
            yield from within(one)


def test_every_code_has_an_input():
    assert MAKES.keys() == SHIFT.keys()


@pytest.mark.parametrize("code", MAKES)
def test_the_smallest_input_makes_it_appear(code):
    report = made(MAKES[code])
    said = [report.answer, *conclusion.remarks(report), *(x.why for x in report.design.skipped)]
    found = [part for one in said for part in within(one) if part.code == code]
    assert found
    assert not set(told(found[0])) & set("{}[]")


@pytest.mark.parametrize("moved", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("columns", [1, 30])
def test_not_shown_is_said_only_where_no_line_shows_it(moved, columns):
    report = mipaudit.shift(*tables(moved, columns))
    lower, differing = report.estimates[0].lower, conclusion.differing(report)
    codes = {True: "records_told_apart", False: "columns_differ"}
    code = codes[lower > 0] if lower > 0 or differing else "records_not_told_apart"
    assert report.answer.code == code
    assert (*differing, *conclusion.alike(report)) == report.columns
    assert bool(conclusion.nearest(report)) == (not differing)


@pytest.mark.parametrize(("moved", "limit"), [(0.0, 0.5), (3.0, 0.5), (0.0, 0.01)])
def test_a_verdict_is_about_the_records(moved, limit):
    report = mipaudit.shift(*tables(moved), max_blind=limit)
    assert report.answer.code == f"answer_{report.verdict.status}"
    plainly, (check,) = report.answer.get("plainly"), report.policy
    beside = f"(a coin: 50; the limit: {50 + 50 * limit:g})"
    match report.verdict.status:
        case "not_met":
            assert (moved, plainly.get("lower")) == (3.0, check.lower)
            assert beside in told(plainly)
        case "met":
            assert plainly.get("most").get("upper") == check.upper
            assert told(plainly).endswith(beside)
        case _:
            assert limit == 0.01
    assert "mipaudit help members-and-holdout" in brief_report(report, width=80) or limit == 0.5


def test_copies_between_the_groups_are_no_release():
    members, holdout = tables(0.0)
    report = mipaudit.shift(members, pd.concat([holdout, members.head(5)]), max_blind=0.6)
    assert any(one.code == "exact_copies" for one in report.findings)
    assert report.answer.get("copies") is None
