"""Arrays, series and frames: what is asked of them is honoured or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.commands.check.options import CheckOptions
from tests.fixtures.files import drain, opened, refused

MEMBERS = np.random.default_rng(1).normal(size=80) + 1
HOLDOUT = np.random.default_rng(2).normal(size=90)


def check(members=MEMBERS, holdout=HOLDOUT, **options):
    return mipaudit.check(members=members, holdout=holdout, **options)


def codes(report):
    return {finding.code for finding in report.findings}


def test_arrays():
    source = opened(None, np.array([1, 2, 3]), [0.5, np.inf])
    everything = drain(source)
    assert (everything.names, everything.kinds) == (["score"], ["float"])
    assert everything.member == [True] * 3 + [False] * 2
    assert everything.scores == [[1.0, 2.0, 3.0, 0.5, np.inf]]
    assert source.member_column is None
    assert [item.rows for item in source.inputs()] == [3, 2]
    several = opened(None, np.ones((2, 2)), np.zeros((3, 2)))
    assert drain(several).names == ["score_0", "score_1"]
    assert check(pd.Series(MEMBERS), pl.Series(HOLDOUT)).design.score_columns == ("score",)


@pytest.mark.parametrize(
    "option", ["score_col", "member_col", "member_value", "where", "unit_col", "key_col"]
)
def test_arrays_have_no_columns(option):
    asked = {option: "a = 1" if option == "where" else "a"}
    assert option in refused("not_for_arrays", check, **asked).message


@pytest.mark.parametrize(
    ("code", "members", "holdout"),
    [
        *(("empty_class", [], [1.0]), ("empty_class", [1.0], []), ("bad_array", ["a"], [1.0])),
        ("bad_array", np.zeros((2, 2, 2)), [1.0]),
        ("bad_array", np.float64(1), [1.0]),
        ("bad_array", [[1.0, 2.0], [3.0]], HOLDOUT),
        ("bad_array", MEMBERS, [[1.0], [[2.0]]]),
        *(("columns_differ", np.zeros((3, n)), np.zeros((3, 3 - n))) for n in (1, 2)),
        ("nan_scores", [1.0, np.nan], [1.0]),
        ("large_integers", np.array([2**60, 1]), np.array([1, 2])),
        ("mixed_inputs", pd.DataFrame({"score": MEMBERS}), HOLDOUT),
    ],
)
def test_arrays_that_cannot_be_audited(code, members, holdout):
    refused(code, check, members, holdout)


GAPS = np.arange(MEMBERS.size) < 3


@pytest.mark.parametrize(
    "members", [np.where(GAPS, np.nan, MEMBERS), np.ma.masked_array(MEMBERS, mask=GAPS)]
)
def test_missing_scores_of_arrays_follow_the_policy(members):
    assert "in 3 rows" in refused("nan_scores", check, members).message
    for nan, size, finding in (("drop", 77, "nan_dropped"), ("category", 80, "nan_category")):
        report = check(members, nan=nan)
        assert report.design.n_members == size
        assert finding in codes(report)
    data = pd.DataFrame({"score": MEMBERS, "member": [True, False] * 40})
    refused("nan", check, members, nan="ignore")
    refused("nan", mipaudit.check, data, nan="ignore")


def test_a_masked_matrix_hides_values_column_by_column():
    members = np.ma.masked_array(np.c_[MEMBERS, MEMBERS], mask=False)
    members[4, 1] = np.ma.masked
    error = refused("nan_scores", check, members, np.c_[HOLDOUT, HOLDOUT])
    assert "'score_1' in 1 row, first in data row 5" in error.message


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_both_classes_are_paired_by_name(frame):
    members = frame({"loss": MEMBERS, "conf": -MEMBERS, "g": ["a", "b"] * 40})
    holdout = frame({"conf": -HOLDOUT, "loss": HOLDOUT, "g": ["a", "b"] * 45})
    report = check(members, holdout)
    assert report.design.score_columns == ("loss", "conf")
    assert (report.design.n_members, report.design.n_holdout) == (80, 90)
    half = check(members, holdout, where="g = a", score_col=["conf"])
    assert half.design.score_columns == ("conf",)
    assert (half.design.n_members, half.design.n_holdout) == (40, 45)
    assert mipaudit.estimate(members=members, holdout=holdout).design.n_members == 80


def test_frames_that_cannot_be_read():
    mixed = pd.DataFrame({"score": [1, "topsecret", 2.5], "member": [1, 0, 1]})
    for frame in (object(), [1, 2], mixed, pd.DataFrame({"score": []})):
        assert "topsecret" not in str(refused(None, opened, frame))


def test_pandas_index_is_no_score():
    frame = pd.DataFrame({"score": [0.5, 1.5], "member": [True, False]}, index=pd.Index([7.5, 8.5]))
    with opened(frame) as source:
        assert drain(source).names == ["score"]


def test_types_that_differ_between_arrays_are_found():
    assert "scores_rounded" in codes(check(MEMBERS.astype(np.float32)))
    assert "types_differ" in codes(check(np.arange(MEMBERS.size)))
    assert not {"scores_rounded", "types_differ"} & codes(check())


def test_one_string_is_one_name():
    assert CheckOptions(score_col="score").score_col == ("score",)
    assert CheckOptions(score_col=["a", "b"]).score_col == ("a", "b")
