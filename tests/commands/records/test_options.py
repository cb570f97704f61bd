"""What ``records`` may be asked, and the limits that it judges of those listed."""

import pytest

from mipaudit.commands.records.options import RecordsOptions, RecordTableOptions
from mipaudit.errors import UsageError

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


@pytest.mark.parametrize("limit", [0.8, 1.1])
def test_a_limit_that_is_always_or_never_kept_is_refused(limit):
    with pytest.raises(UsageError, match=r"above 0\.8, which blind guessing reaches"):
        RecordTableOptions(prior=0.1, max_risk=limit)


@pytest.mark.parametrize(
    ("output", "form"), [("a.csv", "csv"), ("a.CSV.gz", "csv.gz"), ("a.parquet", "parquet")]
)
def test_the_form_of_the_file_is_that_of_its_name(output, form):
    assert RecordsOptions(output=output).form == form
