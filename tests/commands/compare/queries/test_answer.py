"""What is certain about the order, and the verdict on increases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mipaudit.commands.compare.increase import IncreaseCheck
from mipaudit.commands.compare.queries.answer import increase_verdict, surely_more
from mipaudit.model.message import Message
from mipaudit.statements.estimate import Estimate

ROW = Estimate(
    quantity="difference",
    score="a",
    versus="b",
    method="",
    attackers="thresholds",
    value=0.0,
    lower=0.1,
    upper=0.3,
    confidence=0.95,
    selection="",
    validity="approximate",
    n_members=1,
    n_holdout=1,
)
CHECK = IncreaseCheck(
    score="a",
    versus="b",
    limit=0.1,
    against="thresholds",
    lower=0.0,
    upper=0.05,
    status="met",
    reason=Message("undecided"),
)


def test_certain_orders_are_those_whose_limits_exclude_none():
    rows = [
        ROW,
        replace(ROW, score="c", lower=-0.2, upper=-0.1),
        replace(ROW, score="d", lower=-0.2, upper=0.1),
        replace(ROW, score="e", attackers="bins-16"),
        replace(ROW, score="f", lower=None, upper=None),
    ]
    found = surely_more(rows, "thresholds")
    assert found == {("a", "b"), ("b", "c"), ("a", "c")}


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ((), "no_policy"),
        (("met", "met"), "met"),
        (("met", "inconclusive"), "inconclusive"),
        (("inconclusive", "not_met"), "not_met"),
    ],
)
def test_the_gravest_check_decides(statuses, verdict):
    checks = [replace(CHECK, status=one) for one in statuses]
    assert increase_verdict(checks).status == verdict
