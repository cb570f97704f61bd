from __future__ import annotations

import numpy as np
import pytest

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.options.checked_limits import check_limits, check_waivers

LIMIT = {"quantity": "advantage", "max": 0.5}
WAIVER = {"quantity": "auc", "reason": "known", "person": "A", "expires": "2999-12-31"}


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    return {"members": rng.normal(1, 1, 600), "holdout": rng.normal(0, 1, 600)}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max": 0.5}, "lacks the key 'quantity'"),
        ({"quantity": "eta"}, "lacks the key 'max'"),
        ({**LIMIT, "quantity": "advantag"}, "Did you mean 'advantage'"),
        ({**LIMIT, "agianst": "any"}, "Did you mean 'against'"),
        ({**LIMIT, "max": True}, "must be a number"),
        ({**LIMIT, "max": float("nan")}, "must be a number"),
        ({**LIMIT, "max": 0.0}, "above 0"),
        ({**LIMIT, "max": 1.1}, "at most 1"),
        ({**LIMIT, "prior": 0.2}, "above 0.6"),
        ({**LIMIT, "prior": 1}, "above 0 and below 1"),
        ({**LIMIT, "fpr": 0.1}, "'fpr' goes with"),
        ({"quantity": "tpr_at_fpr", "max": 0.5}, "needs 'fpr'"),
        ({"quantity": "tpr_at_fpr", "max": 0.05, "fpr": 0.1}, "above 0.1"),
        ({"quantity": "metric", "max": 0.5}, "needs 'metric', its name"),
        ({"quantity": "auc", "max": 0.5}, "above 0.5"),
        ({"quantity": "auc", "max": 0.6, "prior": 0.2}, "another prior"),
        ({"quantity": "auc", "max": 0.6, "against": "any"}, "cannot be chosen"),
        ({"quantity": "difference", "max": 0.1}, "needs 'group'"),
        ({"quantity": "risk", "max": 0.9, "group": "a=1"}, "within a group"),
        ({**LIMIT, "score": 3}, "must be a text"),
        ({"quantity": "any_difference"}, "lacks the key 'max'"),
        ({"quantity": "any_difference", "max": 0.05}, "must be 0"),
        ({"quantity": "any_difference", "max": -1}, "must be 0"),
        ({"quantity": "any_difference", "max": "0"}, "must be a number"),
        ({"quantity": "any_difference", "max": 0, "prior": 0.2}, "another prior"),
        ({"quantity": "any_difference", "max": 0, "against": "any"}, "cannot be chosen"),
        ({"quantity": "any_difference", "max": 0, "against": "thresholds"}, "cannot be chosen"),
        ({"quantity": "any_difference", "max": 0, "fpr": 0.1}, "'fpr' goes with"),
        ({"quantity": "any_difference", "max": 0, "metric": "f1"}, "'metric' (its name)"),
        ({"quantity": "any_difference", "max": 0, "group": "a=1"}, "within a group"),
    ],
)
def test_limits_that_make_no_sense_are_refused(given, said):
    with pytest.raises(UsageError) as caught:
        check_limits([LIMIT, given], 0.5)
    assert caught.value.code == "limits"
    assert said in str(caught.value)
    assert "Limit 2" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({**WAIVER, "expires": "soon"}, "must be a day"),
        ({**WAIVER, "expires": 20270101}, "must be a day"),
        ({**WAIVER, "expires": "20270101"}, "must be a day"),
        ({**WAIVER, "expires": "2027-W05"}, "must be a day"),
        ({**WAIVER, "expires": "2027-02-30"}, "must be a day"),
        ({**WAIVER, "reason": "\u200b-"}, "must say something"),
        ({**WAIVER, "person": " "}, "must say something"),
        ({**WAIVER, "person": 3}, "must be a text"),
        ({**WAIVER, "score": "lo*"}, "names are exact"),
        ({**WAIVER, "score": "los?"}, "names are exact"),
        ({key: WAIVER[key] for key in ("quantity", "reason", "person")}, "lacks the key 'expires'"),
        ({**WAIVER, "expiry": 1}, "Did you mean 'expires'"),
        ({**WAIVER, "quantity": "tpr_at_fpr", "fpr": 0}, "above 0 and below 1"),
        ({**WAIVER, "quantity": "tpr_at_fpr", "fpr": -0.5}, "above 0 and below 1"),
        ({**WAIVER, "quantity": "tpr_at_fpr", "fpr": 1}, "above 0 and below 1"),
    ],
)
def test_waivers_that_make_no_sense_are_refused(given, said):
    with pytest.raises(UsageError) as caught:
        check_waivers([WAIVER, given], 0.5)
    assert said in str(caught.value)
    assert "Waiver 2" in str(caught.value)


def test_the_prior_of_the_audit_is_no_other_prior():
    (limit,) = check_limits([{"quantity": "auc", "max": 0.6, "prior": 0.5}], 0.5)
    assert limit.prior is None


def test_names_of_metrics_are_tidied_and_judged(classes):
    report = mipaudit.estimate(
        **classes,
        limits=[{"quantity": "metric", "metric": "F1", "max": 0.99}],
        waivers=[{**WAIVER, "quantity": "metric", "metric": " F1"}],
    )
    (check,) = report.policy
    assert check.metric == "f1"
    assert any(row.metric == "f1" for row in report.estimates)


def test_a_score_that_is_not_there_is_an_error(classes):
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(**classes, limits=[{**LIMIT, "score": "lost"}])
    assert caught.value.code == "no_such_score"
    assert "lost" in str(caught.value)


def test_limits_of_records_are_left_to_records(classes):
    risk = {"quantity": "risk", "max": 0.9}
    report = mipaudit.estimate(**classes, limits=[risk])
    assert report.verdict.status == "no_policy"
    assert "limits_elsewhere" in {one.code for one in report.findings}
    (check,) = mipaudit.records(**classes, limits=[risk]).policy
    assert check.quantity == "risk"


@pytest.fixture(scope="module")
def grouped():
    import pandas as pd

    rng = np.random.default_rng(3)
    size = 3000
    member, sex = np.repeat([True, False], size), rng.integers(0, 2, 2 * size)
    score = rng.normal(0, 1, 2 * size) + member * sex
    return pd.DataFrame({"member": member, "loss": score, "sex": np.where(sex, "f", "m")})


def test_groups_have_limits(grouped):
    report = mipaudit.records(
        grouped,
        by=["sex"],
        max_risk=0.95,
        limits=[
            {"quantity": "difference", "max": 0.2, "group": "*"},
            {"quantity": "advantage", "max": 0.3, "group": "sex=m"},
        ],
    )
    found = {(check.quantity, check.group): check for check in report.policy}
    assert found["difference", "sex=f"].status == "not_met"
    assert found["difference", "sex=m"].status == "met"
    assert found["advantage", "sex=m"].status == "met"
    # The error is shared: the row of the table, with all of it, is nearer to the estimate.
    row = next(e for e in report.estimates if (e.quantity, e.group) == ("difference", "sex=f"))
    assert found["difference", "sex=f"].lower < row.lower
    assert found["difference", "sex=f"].upper == row.upper


@pytest.mark.parametrize(("by", "group"), [((), "sex=m"), (("sex",), "sex=x"), ((), "*")])
def test_groups_that_are_not_told_apart_are_an_error(grouped, by, group):
    with pytest.raises(UsageError) as caught:
        mipaudit.records(grouped, by=by, limits=[{**LIMIT, "group": group}])
    assert caught.value.code == "no_such_group"


def test_dates_and_odd_forms(classes):
    from datetime import date

    waivers = [{**WAIVER, "expires": date(2999, 1, 1)}]
    report = mipaudit.estimate(
        **classes, limits=[{"quantity": "auc", "max": 0.51}], waivers=waivers
    )
    assert (report.verdict.status, report.verdict.waived) == ("waived", 1)
    for bad in ("auc", {"quantity": "auc"}, [1], 3):
        with pytest.raises(UsageError):
            mipaudit.estimate(**classes, limits=bad)


def test_the_error_is_held_over_many_limits(classes):
    # Many limits, one share each: a verdict over them is wrong no more often than one is.
    one = mipaudit.estimate(**classes, limits=[LIMIT]).policy[0]
    many = mipaudit.estimate(**classes, limits=[LIMIT] * 10).policy[0]
    assert many.lower < one.lower
    assert many.upper == one.upper
