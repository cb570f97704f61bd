"""What changed from one report to another, in a screenful."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.fixtures.briefs import answer, shown


def report_on(leaks, rows=2000, seed=5):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    scores = {name: random.normal(size=rows) + leak * member for name, leak in leaks.items()}
    return mipaudit.estimate(pd.DataFrame({"member": member, **scores}))


@pytest.mark.parametrize("leaks", [{"a": 0.0, "b": 0.0}, {"a": 2.5, "b": 0.0}, {"a": 0.5}])
def test_no_figure_is_said_to_be_as_before_where_one_surely_changed(leaks):
    old = report_on({"a": 0.0, "b": 2.5})
    report = mipaudit.compare(old, report_on(leaks, seed=6))
    text = shown(report)
    changed = any(one.shown != "open" for one in report.changes)
    assert ("No figure is shown to have changed" in answer(report)) == (not changed)
    increased = any(one.shown == "increase" for one in report.changes)
    assert ("larger than before" in answer(report)) == increased
    assert ("! Not compared" in text) == ("b" not in leaks)


@pytest.mark.parametrize("limit", [0.05, 0.3, 1.0])
def test_the_verdict_stands_first_and_last(limit):
    old, new = report_on({"a": 0.0}), report_on({"a": 2.0}, seed=6)
    report = mipaudit.compare(old, new, max_increase=limit)
    word = {"met": "MET", "not_met": "NOT MET", "inconclusive": "INCONCLUSIVE"}
    status = word[report.verdict.status]
    assert answer(report).startswith(f"{status}: ")
    assert shown(report).splitlines()[-1].startswith(f"{status}. ")


def test_many_reports_fit():
    found = [report_on({"a score with a long name": at / 4}, seed=at) for at in range(9)]
    assert "increased" in shown(mipaudit.compare(*found))
