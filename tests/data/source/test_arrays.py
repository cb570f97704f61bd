"""Arrays, series and frames: what is asked of them is honoured or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.commands.check.options import CheckOptions
from mipaudit.data.opening import ReadRequest, open_input
from mipaudit.errors import InputError, UsageError

MEMBERS = np.random.default_rng(1).normal(size=80) + 1
HOLDOUT = np.random.default_rng(2).normal(size=90)


def check(members: Any = MEMBERS, holdout: Any = HOLDOUT, **options: Any) -> Any:
    return mipaudit.check(members=members, holdout=holdout, **options)


def codes(report: Any) -> set[str]:
    return {finding.code for finding in report.findings}


def test_arrays(drained):
    source = open_input(None, np.array([1, 2, 3]), [0.5, np.inf], ReadRequest())
    everything = drained(source)
    assert (everything.names, everything.kinds) == (["score"], ["float"])
    assert everything.member == [True] * 3 + [False] * 2
    assert everything.scores == [[1.0, 2.0, 3.0, 0.5, np.inf]]
    assert source.member_column is None
    assert [item.rows for item in source.inputs()] == [3, 2]
    several = open_input(None, np.ones((2, 2)), np.zeros((3, 2)), ReadRequest())
    assert drained(several).names == ["score_0", "score_1"]
    assert check(pd.Series(MEMBERS), pl.Series(HOLDOUT)).design.score_columns == ("score",)


@pytest.mark.parametrize(
    "option", ["score_col", "member_col", "member_value", "where", "unit_col", "key_col"]
)
def test_arrays_have_no_columns(option):
    value = "a = 1" if option == "where" else "a"
    with pytest.raises(UsageError) as caught:
        check(**{option: value})
    assert caught.value.code == "not_for_arrays"
    assert option in caught.value.message


@pytest.mark.parametrize(
    ("code", "members", "holdout"),
    [
        ("empty_class", [], [1.0]),
        ("empty_class", [1.0], []),
        ("bad_array", ["a"], [1.0]),
        ("bad_array", np.zeros((2, 2, 2)), [1.0]),
        ("bad_array", np.float64(1), [1.0]),
        ("bad_array", [[1.0, 2.0], [3.0]], HOLDOUT),
        ("bad_array", MEMBERS, [[1.0], [[2.0]]]),
        ("columns_differ", np.zeros((3, 1)), np.zeros((3, 2))),
        ("columns_differ", np.zeros((3, 2)), np.zeros((3, 1))),
        ("nan_scores", [1.0, np.nan], [1.0]),
        ("large_integers", np.array([2**60, 1]), np.array([1, 2])),
        ("mixed_inputs", pd.DataFrame({"score": MEMBERS}), HOLDOUT),
    ],
)
def test_arrays_that_cannot_be_audited(code, members, holdout):
    with pytest.raises((InputError, UsageError)) as caught:
        check(members, holdout)
    assert caught.value.code == code


GAPS = np.arange(MEMBERS.size) < 3


@pytest.mark.parametrize(
    "members", [np.where(GAPS, np.nan, MEMBERS), np.ma.masked_array(MEMBERS, mask=GAPS)]
)
def test_missing_scores_of_arrays_follow_the_policy(members):
    with pytest.raises(InputError, match="in 3 rows"):
        check(members)
    dropped, kept = check(members, nan="drop"), check(members, nan="category")
    assert (dropped.design.n_members, kept.design.n_members) == (77, 80)
    assert "nan_dropped" in codes(dropped)
    assert "nan_category" in codes(kept)


def test_a_masked_matrix_hides_values_column_by_column():
    members = np.ma.masked_array(np.c_[MEMBERS, MEMBERS], mask=False)
    members[4, 1] = np.ma.masked
    with pytest.raises(InputError, match="'score_1' in 1 row, first in data row 5"):
        check(members, np.c_[HOLDOUT, HOLDOUT])


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
        with pytest.raises(InputError) as caught:
            open_input(frame, None, None, ReadRequest())
        assert "topsecret" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_pandas_index_is_no_score(drained):
    frame = pd.DataFrame({"score": [0.5, 1.5], "member": [True, False]}, index=pd.Index([7.5, 8.5]))
    with open_input(frame, None, None, ReadRequest()) as source:
        assert drained(source).names == ["score"]


def test_types_that_differ_between_arrays_are_found():
    assert "scores_rounded" in codes(check(MEMBERS.astype(np.float32)))
    assert "types_differ" in codes(check(np.arange(MEMBERS.size)))
    assert not {"scores_rounded", "types_differ"} & codes(check())


def test_an_unknown_nan_policy_is_refused():
    data = pd.DataFrame({"score": MEMBERS, "member": [True, False] * 40})
    for given in ({"data": data}, {"members": MEMBERS, "holdout": HOLDOUT}):
        with pytest.raises(UsageError) as caught:
            mipaudit.check(**given, nan="ignore")
        assert caught.value.code == "nan"


def test_one_string_is_one_name():
    assert CheckOptions(score_col="score").score_col == ("score",)
    assert CheckOptions(score_col=["a", "b"]).score_col == ("a", "b")
