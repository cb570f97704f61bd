"""What a report of ``shift`` concludes, and the smallest input that makes each code appear."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.shift import report as conclusion
from mipaudit.report.forms import brief_report
from mipaudit.report.messages.records import SHIFT
from mipaudit.report.messages.told import told
from tests.fixtures.codes import findings, said, within


def tables(moved, columns=2, rows=500):
    random = np.random.default_rng(7)
    found = []
    for side in (0, 1):
        frame = pd.DataFrame(random.normal(size=(columns, rows)).T + side * moved).add_prefix("c")
        found.append(frame.assign(patient=[f"{side}-{row}" for row in range(rows)]))
    return found


def left_out():
    """Return tables with a column for each reason to leave one out."""
    constant = {"row_id": range(500), "member": 1, "none": None, "same": "x", "list": [[1]] * 500}
    members, holdout = (
        frame.assign(**constant, number=range(side * 500, side * 500 + 500))
        for side, frame in enumerate(tables(0.0))
    )
    return mipaudit.shift(members.assign(more=1), holdout, ignore="c1")


def single():
    """Return tables of which no score is shown to differ, and one column is."""
    members, holdout = tables(0.0, columns=12, rows=300)
    return mipaudit.shift(members, holdout.assign(c3=holdout["c3"].where(holdout.index > 40)))


AUDITS = {
    lambda: mipaudit.shift(*tables(3.0)): (
        "records_told_apart right_told_apart_alone may_explain_a_leak"
    ),
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


def test_every_code_has_an_input_that_makes_it_appear():
    for audit, codes in AUDITS.items():
        report = audit()
        reasons = {part.code: part for x in report.design.skipped for part in within(x.why)}
        assert said(report).keys() | reasons >= {*codes.split()}
        assert not set("".join(map(told, reasons.values()))) & set("{}[]")
    assert {code for codes in AUDITS.values() for code in codes.split()} == {
        code
        for code in SHIFT
        if not code.endswith(".line")  # the same in fewer words
    }


@pytest.mark.parametrize("moved", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("columns", [1, 30])
def test_not_shown_is_said_only_where_no_line_shows_it(moved, columns):
    report = mipaudit.shift(*tables(moved, columns))
    lower, differing = report.estimates[0].lower, conclusion.differing(report)
    code = "columns_differ" if differing else "records_not_told_apart"
    assert report.answer.code == ("records_told_apart" if lower > 0 else code)
    assert (*differing, *conclusion.alike(report)) == report.columns
    assert bool(conclusion.nearest(report)) == (not differing)


@pytest.mark.parametrize(
    ("moved", "limit", "status"),
    [(0.0, 0.5, "met"), (3.0, 0.5, "not_met"), (0.0, 0.01, "inconclusive")],
)
def test_a_verdict_is_about_the_records(moved, limit, status):
    report = mipaudit.shift(*tables(moved), max_blind=limit)
    plainly, (check,) = report.answer.get("plainly"), report.policy
    assert report.answer.code == f"answer_{status}" == f"answer_{report.verdict.status}"
    beside = f"(a coin: 50; the limit: {50 + 50 * limit:g})"
    assert (beside in told(plainly)) == (status != "inconclusive")
    if status == "not_met":
        assert plainly.get("lower") == check.lower
    elif status == "met":
        assert plainly.get("most").get("upper") == check.upper
        assert told(plainly).endswith(beside)
    shown = " ".join(brief_report(report, width=80).split())
    assert "mipaudit help members-and-holdout" in shown or limit == 0.5


def test_copies_between_the_groups_are_no_release():
    members, holdout = tables(0.0)
    report = mipaudit.shift(members, pd.concat([holdout, members.head(5)]), max_blind=0.6)
    assert "exact_copies" in findings(report)
    assert report.answer.get("copies") is None
