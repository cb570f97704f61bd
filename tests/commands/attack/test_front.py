"""What a page of ``attack`` says first: right guesses, rounded outward, and of whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mipaudit
from mipaudit.commands.attack.page import ADVERSARIES
from mipaudit.statements.text.guesses import right_at_least, right_at_most
from tests.commands.attack.test_brief import columns, table
from tests.fixtures.fronts import front_of


@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_what_is_shown_is_said_in_guesses(prior):
    report = mipaudit.attack(table(2.0, 2), score_col=columns(2), prior=prior)
    most = max(report.together, key=lambda one: one.lower)
    least = right_at_least(most.lower, (abs(2 * prior - 1),))
    blind = "a coin: 50" if prior == 0.5 else "blind guessing: 80"

    found = front_of(report)

    assert found.answer.startswith(f"Whoever sees the score '{most.score}' can guess whose")
    assert f"right at least {least} times in 100 ({blind})." in found.answer
    assert found.answer.endswith("this page neither passes nor fails the release.")


def test_without_the_joint_limit_the_confidence_is_its_own():
    report = replace(mipaudit.attack(table(2.0), score_col=columns(1)), together=())
    assert "a coin: 50; at a confidence of its own)" in front_of(report).answer


def test_nothing_shown_is_no_praise():
    report = mipaudit.attack(table(0.0, seed=5), score_col=columns(1))
    found = front_of(report)
    assert found.answer.startswith("It is not shown that anybody who sees the scores")
    assert found.mood == "plain"


@pytest.mark.parametrize("limit", [0.1, 0.95])
def test_a_verdict_names_the_attack_or_that_others_are_not_meant(limit):
    report = mipaudit.attack(table(2.0), score_col=columns(1), max_advantage=limit)
    found, marks = front_of(report), (limit, 0.0)
    right = f"(a coin: 50; the limit: {50 + 50 * limit:g})"
    if limit < 0.5:
        first = next(one for one in report.policy if one.status == "not_met")
        who = f"the attack '{ADVERSARIES[first.subject]}' on '{first.score}'"
        least = right_at_least(first.lower, marks)
        assert found.answer == f"NOT MET: {who} is right at least {least} times in 100 {right}."
        assert found.mood == "bad"
    else:
        most = right_at_most(max(one.upper for one in report.policy), marks)
        assert found.answer == (
            f"MET, by these attacks alone: none of them is right more than {most} times in 100 "
            f"{right}. For other attacks this test rules nothing out."
        )
        assert found.also[0].startswith("Whoever sees the score")


def test_an_open_verdict_passes_nothing():
    report = mipaudit.attack(table(0.3), score_col=columns(1), max_advantage=0.12)
    assert report.verdict.status == "inconclusive"
    found = front_of(report)
    assert found.answer == "INCONCLUSIVE: this test neither passes nor fails the release."
    assert found.also
