"""Whether members and holdout are told apart by the records alone, in a screenful."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.messages.told import is_serious
from tests.fixtures.briefs import answer, shown


def tables(moved, columns=3, rows=500, seed=7):
    random = np.random.default_rng(seed)
    return [
        pd.DataFrame(
            {
                f"a_column_with_a_long_name_{at}": random.normal(size=rows) + side * moved
                for at in range(columns)
            }
        )
        for side in (0, 1)
    ]


@pytest.mark.parametrize("moved", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("columns", [1, 30])
def test_not_shown_is_said_only_where_no_line_shows_it(moved, columns):
    report = mipaudit.shift(*tables(moved, columns))
    shown(report)
    differs = report.estimates[0].lower > 0 or bool(report.differing())
    assert ("are not shown to differ" in answer(report)) == (not differs)
    assert "No limit was given: no verdict." in answer(report)


@pytest.mark.parametrize(("moved", "limit"), [(0.0, 0.5), (3.0, 0.5), (0.0, 0.01)])
def test_the_verdict_stands_first_and_last(moved, limit):
    report = mipaudit.shift(*tables(moved), max_blind=limit)
    word = {"met": "MET", "not_met": "NOT MET", "inconclusive": "INCONCLUSIVE"}
    status = word[report.verdict.status]
    assert answer(report).startswith(f"{status}: the blind advantage")
    assert shown(report).splitlines()[-1].startswith(f"{status}. ")


def test_a_column_that_tells_all_or_that_was_left_out_is_a_warning():
    members, holdout = tables(0.0)
    members["day"], holdout["day"] = 1.5, 2.5
    members["more"] = 1.0
    report = mipaudit.shift(members, holdout)
    warned = {one.code for one in report.findings if is_serious(one)}
    assert {"telling_column", "column_in_one_table"} <= warned
    assert "! 'day': one column alone tells nearly all" in shown(report)
