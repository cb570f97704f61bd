"""What a page of ``shift`` says first: how often a record alone gives away its group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.statements.text.guesses import right_at_least, right_at_most
from tests.fixtures.fronts import front_of

COUNTED = "What an audit of the release finds on these records may be this difference, in whole"


def tables(shift, rows=1000, seed=3):
    random = np.random.default_rng(seed)
    return [
        pd.DataFrame({"age": random.normal(size=rows) + one, "kind": random.integers(3, size=rows)})
        for one in (0.0, shift)
    ]


def test_records_that_differ_are_said_in_guesses():
    report = mipaudit.shift(*tables(1.0))
    least = right_at_least(report.estimates[0].lower, (0.0,))
    found = front_of(report)
    assert f"be right at least {least} times in 100 (a coin: 50). {COUNTED}" in found.answer
    assert found.mood == "bad"


def test_records_alike_have_a_limit_that_names_its_attackers():
    report = mipaudit.shift(*tables(0.0))
    answer = front_of(report).answer
    uppers = [right_at_most(one.upper) for one in report.estimates if one.upper is not None]
    assert answer.startswith("It is not shown that the two groups of records differ: those who")
    assert any(f"right at most {most} times in 100" in answer for most in uppers)
    assert answer.endswith("of cleverer ones this says nothing.")


@pytest.mark.parametrize(("shift", "limit"), [(1.0, 0.05), (0.0, 0.05), (0.0, 0.6)])
def test_a_verdict_is_about_the_records(shift, limit):
    report = mipaudit.shift(*tables(shift), max_blind=limit)
    (check,) = report.policy
    found = front_of(report)
    beside = f"(a coin: 50; the limit: {50 + 50 * limit:g})"
    match check.status:
        case "not_met":
            assert shift
            least = right_at_least(check.lower, (limit, 0.0))
            assert f"right at least {least} times in 100 {beside}." in found.answer
            assert found.also[0].startswith(COUNTED)
        case "inconclusive":
            assert (shift, limit) == (0.0, 0.05)
            assert "does not tell whether the groups are as alike" in found.answer
        case _:
            assert limit == 0.6
            most = right_at_most(check.upper, (limit, 0.0))
            assert f"right at most {most} times in 100 {beside}" in found.answer


def test_copies_between_the_groups_are_no_release():
    members, holdout = tables(0.0)
    report = mipaudit.shift(members, pd.concat([holdout, members.head(5)]), max_blind=0.6)
    assert any(one.code == "exact_copies" for one in report.findings)
    assert "released word for word" not in front_of(report).answer
