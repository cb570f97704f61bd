"""Two reports value by value."""

from __future__ import annotations

import pytest

from mipaudit.commands.verify.agreement import pairs


def statuses(report, other):
    return {one.place: one.status for one in pairs(report, other, "r")}


def test_equal_documents_agree_leaf_by_leaf():
    document = {"a": [1, 2.5, {"b": None}], "c": "x", "d": {}, "e": []}

    assert set(statuses(document, document).values()) == {"equal"}
    assert len(statuses(document, document)) == 6


@pytest.mark.parametrize(
    ("report", "other", "status"),
    [
        (0.3, 0.1 + 0.2, "near"),
        (0.3, 0.3 + 1e-8, "differs"),
        (1e12, 1e12 * (1 + 1e-10), "near"),
        (20_000_000_000, 20_000_000_001, "differs"),  # counts
        (1, 1.0, "equal"),
        (1, True, "differs"),
        (0, None, "differs"),
        ("met", "not_met", "differs"),
        (None, 0.5, "differs"),
        ([], {}, "differs"),
        ([], [1], "differs"),
    ],
)
def test_each_kind_of_difference(report, other, status):
    found = list(pairs({"x": report}, {"x": other}, "r"))

    assert [one.status for one in found] == [status]


def test_fields_of_one_side_are_told_apart_and_rows_are_no_fields():
    found = statuses({"old": 1, "rows": [1, 2]}, {"new": 2, "rows": [1]})

    assert found == {
        "r.old": "unknown",
        "r.new": "added",
        "r.rows[0]": "equal",
        "r.rows[1]": "differs",
    }
