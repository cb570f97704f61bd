"""What a page of a comparison of queries says first: how many more guesses are right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.statements.text.guesses import more_right_at_least, more_right_at_most, right_at_least
from tests.fixtures.fronts import front_of

NEITHER = "No limit was set, so this page neither passes nor fails the release."
SIMPLE = "those who apply one cut-off to the score"


def table(*leaks, rows=3000, seed=1):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    columns = {f"q{at}": random.normal(size=rows) + one * member for at, one in enumerate(leaks)}
    return pd.DataFrame({"member": member, **columns})


def test_the_query_that_leaks_most_is_said_in_guesses():
    report = mipaudit.compare(table(2.0, 0.0, 0.1))
    rows = [one for one in report.differences if one.attackers == report.design.against]
    least = min(one.lower for one in rows if one.score == "q0")

    found = front_of(report)

    assert found.answer == (
        f"With the query 'q0' {SIMPLE} are right at least {more_right_at_least(least)} more times "
        "in 100 about whose records were used than with any other of these queries; of cleverer "
        f"ones this says nothing. {NEITHER}"
    )
    (leak,) = found.also
    lower = max(one.lower for one in report.advantages if one.attackers == "any")
    assert "With 1 of 3 queries somebody surely guesses better than by chance: with 'q0' " in leak
    assert f"right at least {right_at_least(lower, (0.0,))} times in 100 (a coin: 50)." in leak


def test_of_queries_alike_nothing_is_claimed():
    found = front_of(mipaudit.compare(table(0.0, 0.0)))
    assert found.answer.startswith("It is not shown that one of these queries tells more")
    assert found.also == ()


@pytest.mark.parametrize("limit", [0.1, 0.4, 0.9])
def test_a_verdict_is_of_more_right_guesses(limit):
    report = mipaudit.compare(table(1.2, 0.0), baseline="q1", max_increase=limit)
    (check,) = report.policy
    found = front_of(report)
    allowed = f"(the limit: {50 * limit:g})"
    match check.status:
        case "not_met":
            assert limit == 0.1
            least = more_right_at_least(check.lower, (limit,))
            assert found.answer == (
                f"NOT MET: with the query 'q0' {SIMPLE} are right at least {least} more times in "
                f"100 than with 'q1' {allowed}."
            )
        case "inconclusive":
            assert limit == 0.4
            assert found.answer.endswith("this test neither passes nor fails the release.")
            assert found.also[0].startswith("With the query 'q0'")
        case _:
            assert limit == 0.9
            most = more_right_at_most(check.upper, (limit,))
            assert found.answer == (
                f"MET: with none of the queries {SIMPLE} are right more than {most} more times in "
                f"100 than with 'q1' {allowed}; of cleverer ones this says nothing."
            )
    assert (
        dict(found.facts)["limit"]
        == f"right at most {50 * limit:g} more times in 100 than with 'q1'"
    )
