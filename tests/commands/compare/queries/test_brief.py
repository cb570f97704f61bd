"""Which query leaks most, in a screenful."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.fixtures.briefs import answer, shown


def table(leaks, rows=1600, seed=4):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    scores = {
        f"a_long_name_of_a_query_{at}": random.normal(size=rows) + leak * member
        for at, leak in enumerate(leaks)
    }
    return pd.DataFrame({"member": member, **scores})


@pytest.mark.parametrize("leaks", [(0, 0), (0, 2), (1, 1), (0, 0.3, 3), (0.1,) * 10, range(12)])
def test_none_is_said_to_leak_more_only_where_no_difference_is_certain(leaks):
    report = mipaudit.compare(table(leaks))
    text = shown(report)
    certain = [
        one
        for one in report.differences
        if (one.lower is not None and one.lower > 0) or (one.upper is not None and one.upper < 0)
    ]
    assert ("No query is shown to leak more" in answer(report)) == (not certain)
    leaking = any(one.lower is not None and one.lower > 0 for one in report.advantages)
    assert ("None of them is shown to leak" not in answer(report)) or not leaking
    assert ("Membership leaks through" in answer(report)) == leaking
    lines = text.splitlines()
    row = lines[next(at for at, line in enumerate(lines) if line.startswith("  place")) + 1]
    assert row.split()[0].startswith(str(report.ranking[0].highest_place))


def test_the_one_that_leaks_most_leaks_more_than_the_next_by_the_least_of_the_limits():
    report = mipaudit.compare(table((0, 1, 4)))
    of_class = [one for one in report.differences if one.attackers == report.design.against]
    top = report.ranking[0].query
    least = min(
        abs(one.lower) if one.score == top else abs(one.upper)
        for one in of_class
        if top in {one.score, one.versus}
    )
    assert f"leaks most: at least {np.floor(least * 1e4) / 1e4:.4f} more" in answer(report)


@pytest.mark.parametrize("limit", [0.001, 0.5, 0.95])
def test_the_verdict_stands_first_and_last(limit):
    frame = table((0, 0.8, 0.2))
    base = frame.columns[1]
    report = mipaudit.compare(frame, baseline=base, max_increase=limit)
    word = {"met": "MET", "not_met": "NOT MET", "inconclusive": "INCONCLUSIVE"}
    status = word[report.verdict.status]
    assert answer(report).startswith(status)
    assert shown(report).splitlines()[-1].startswith(status)
    if report.verdict.status == "met":
        most = max(one.upper for one in report.policy)
        assert f"{np.ceil(most * 1e4) / 1e4:.4f}" in answer(report)
