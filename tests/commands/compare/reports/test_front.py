"""What a page of a comparison of reports says first: how many more guesses are right now."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.statements.text.guesses import more_right_at_least, more_right_at_most
from tests.fixtures.fronts import front_of

SIMPLE = "those who apply one cut-off to the score"


def report_on(leak, seed=1, n=2000):
    random = np.random.default_rng(seed)
    member = np.arange(2 * n) < n
    score = random.normal(size=2 * n) + leak * member
    return mipaudit.estimate(pd.DataFrame({"member": member, "s": score}))


@pytest.fixture(scope="module")
def pair():
    return report_on(0.0), report_on(1.5)


def change_of(report):
    (found,) = [
        one
        for one in report.changes
        if one.quantity == "advantage" and one.attackers == report.design.against
    ]
    return found


@pytest.mark.parametrize("grown", [True, False])
def test_a_change_is_said_in_guesses_with_its_sign(pair, grown):
    report = mipaudit.compare(*pair) if grown else mipaudit.compare(*pair[::-1])
    change = change_of(report)
    least = more_right_at_least(change.lower if grown else -change.upper)
    word = "more" if grown else "fewer"

    assert front_of(report).answer.startswith(
        f"With 's' of '{change.report}' {SIMPLE} are right at least {least} {word} times in 100 "
        f"about whose records were used than with that of '{change.versus}'; of cleverer ones this "
        "says nothing."
    )


def test_nothing_is_claimed_of_reports_alike(pair):
    found = front_of(mipaudit.compare(pair[0], report_on(0.0, seed=2)))
    assert found.answer.startswith("It is not shown that more can be told")


@pytest.mark.parametrize("limit", [0.1, 0.45, 0.9])
def test_a_verdict_is_of_more_right_guesses(pair, limit):
    report = mipaudit.compare(*pair, max_increase=limit)
    (check,) = report.policy
    answer, allowed = front_of(report).answer, f"(the limit: {50 * limit:g})"
    match check.status:
        case "not_met":
            assert limit == 0.1
            least = more_right_at_least(check.lower, (limit,))
            assert f"{SIMPLE} are right at least {least} more times in 100 than" in answer
            assert answer.endswith(f"{allowed}.")
        case "inconclusive":
            assert limit == 0.45
            assert answer == "INCONCLUSIVE: this test neither passes nor fails the release."
        case _:
            assert limit == 0.9
            most = more_right_at_most(check.upper, (limit,))
            assert f"{SIMPLE} are right more than {most} more times in 100" in answer
            assert answer.endswith(f"{allowed}; of cleverer ones this says nothing.")
