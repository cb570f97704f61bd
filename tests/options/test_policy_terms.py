from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.options.checked_limits import check_limits, check_waivers
from tests.fixtures.codes import refused

LIMIT = {"quantity": "advantage", "max": 0.5}
WAIVER = {"quantity": "auc", "reason": "known", "person": "A", "expires": "2999-12-31"}


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    return {"members": rng.normal(1, 1, 600), "holdout": rng.normal(0, 1, 600)}


TPR, AUC = {"quantity": "tpr_at_fpr", "max": 0.5}, {"quantity": "auc", "max": 0.6}
DIFFERENCE = {"quantity": "any_difference", "max": 0}
# What is no limit, by what is said of it.
NO_LIMITS = {
    "lacks the key 'quantity'": [{"max": 0.5}],
    "lacks the key 'max'": [{"quantity": "eta"}, {"quantity": "any_difference"}],
    "Did you mean 'advantage'": [{**LIMIT, "quantity": "advantag"}],
    "Did you mean 'against'": [{**LIMIT, "agianst": "any"}],
    "must be a number": [{**LIMIT, "max": one} for one in (True, float("nan"))]
    + [{**DIFFERENCE, "max": "0"}],
    "above 0": [{**LIMIT, "max": 0.0}],
    "at most 1": [{**LIMIT, "max": 1.1}],
    "above 0.6": [{**LIMIT, "prior": 0.2}],
    "above 0 and below 1": [{**LIMIT, "prior": 1}],
    "'fpr' can only be used with": [{**LIMIT, "fpr": 0.1}, {**DIFFERENCE, "fpr": 0.1}],
    "needs 'fpr'": [TPR],
    "above 0.1": [{**TPR, "max": 0.05, "fpr": 0.1}],
    "needs 'metric', its name": [{"quantity": "metric", "max": 0.5}],
    "above 0.5": [{**AUC, "max": 0.5}],
    "another prior": [{**AUC, "prior": 0.2}, {**DIFFERENCE, "prior": 0.2}],
    "cannot be chosen": [
        {**AUC, "against": "any"},
        *({**DIFFERENCE, "against": one} for one in ("any", "thresholds")),
    ],
    "needs 'group'": [{"quantity": "difference", "max": 0.1}],
    "within a group": [
        {"quantity": "risk", "max": 0.9, "group": "a=1"},
        {**DIFFERENCE, "group": "a=1"},
    ],
    "must be a text": [{**LIMIT, "score": 3}],
    "must be 0": [{**DIFFERENCE, "max": one} for one in (0.05, -1)],
    "'metric' (its name)": [{**DIFFERENCE, "metric": "f1"}],
}
DAYS = ("soon", 20270101, "20270101", "2027-W05", "2027-02-30")
NO_WAIVERS = {
    "must be a day": [{**WAIVER, "expires": day} for day in DAYS],
    "must not be empty": [{**WAIVER, "reason": "\u200b-"}, {**WAIVER, "person": " "}],
    "must be a text": [{**WAIVER, "person": 3}],
    "names must be exact": [{**WAIVER, "score": one} for one in ("lo*", "los?")],
    "lacks the key 'expires'": [{key: WAIVER[key] for key in ("quantity", "reason", "person")}],
    "Did you mean 'expires'": [{**WAIVER, "expiry": 1}],
    "above 0 and below 1": [
        {**WAIVER, "quantity": "tpr_at_fpr", "fpr": fpr} for fpr in (0, -0.5, 1)
    ],
}


@pytest.mark.parametrize("said", NO_LIMITS)
def test_limits_that_make_no_sense_are_refused(said):
    for given in NO_LIMITS[said]:
        with pytest.raises(UsageError, match="Limit 2") as caught:
            check_limits([LIMIT, given], 0.5)
        assert (caught.value.code, said in str(caught.value)) == ("limits", True)


@pytest.mark.parametrize("said", NO_WAIVERS)
def test_waivers_that_make_no_sense_are_refused(said):
    for given in NO_WAIVERS[said]:
        with pytest.raises(UsageError, match="Waiver 2") as caught:
            check_waivers([WAIVER, given], 0.5)
        assert said in str(caught.value)


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
    limits = [{**LIMIT, "score": "lost"}]
    assert "lost" in str(refused("no_such_score", mipaudit.estimate, **classes, limits=limits))


def test_limits_of_records_are_left_to_records(classes):
    risk = {"quantity": "risk", "max": 0.9}
    report = mipaudit.estimate(**classes, limits=[risk])
    assert report.verdict.status == "no_policy"
    assert "limits_elsewhere" in {one.code for one in report.findings}
    (check,) = mipaudit.records(**classes, limits=[risk]).policy
    assert check.quantity == "risk"


@pytest.fixture(scope="module")
def grouped():
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
    limits = [{**LIMIT, "group": group}]
    refused("no_such_group", mipaudit.records, grouped, by=by, limits=limits)


def test_dates_and_odd_forms(classes):
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
