"""What is certain about the order."""

from __future__ import annotations

from dataclasses import replace

from mipaudit.commands.compare.queries.run import surely_more
from mipaudit.model.row import Row

ROW = Row(
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
