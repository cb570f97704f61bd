"""What ``records`` may be asked, and the limits that it judges of those listed."""

import pytest

from mipaudit.commands.records.options import RecordTableOptions

RISK = {"quantity": "risk", "max": 0.5}
ADVANTAGE = {"quantity": "advantage", "max": 0.1}
GROUPS = {"quantity": "difference", "max": 0.1, "group": "*"}


def test_limits_on_records_and_groups_are_judged_and_the_others_counted():
    asked = RecordTableOptions(max_risk=0.9, limits=[RISK, ADVANTAGE, GROUPS])

    assert [(one.quantity, one.max) for one in asked.judged_limits] == [
        ("risk", 0.9),
        ("risk", 0.5),
        ("difference", 0.1),
    ]
    assert asked.limits_elsewhere == 1


@pytest.mark.parametrize(
    ("given", "columns"),
    [("sex, site", ("sex", "site")), (["a,b", "c"], ("a,b", "c")), ([], ()), ("x,x", ("x",))],
)
def test_groups_are_typed_as_a_list_and_given_as_names(given, columns):
    assert RecordTableOptions(by=given).by == columns
