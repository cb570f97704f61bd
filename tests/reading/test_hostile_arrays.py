"""Arrays and pairs of frames: what is asked of them is honoured or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.commands.check.options import CheckOptions
from mipaudit.errors import InputError, UsageError

_MEMBERS = np.random.default_rng(1).normal(size=80) + 1
_HOLDOUT = np.random.default_rng(2).normal(size=90)


def _check(members: Any = _MEMBERS, holdout: Any = _HOLDOUT, **options: Any) -> Any:
    return mipaudit.check(members=members, holdout=holdout, **options)


def _codes(report: Any) -> list[str]:
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    "option",
    [
        {"score_col": ["a"]},
        {"member_col": "a"},
        {"member_value": "1"},
        {"where": "a = 1"},
        {"unit_col": "a"},
        {"key_col": "a"},
    ],
)
def test_arrays_have_no_columns(option):
    with pytest.raises(UsageError) as caught:
        _check(**option)
    assert caught.value.code == "not_for_arrays"
    assert next(iter(option)) in caught.value.message


@pytest.mark.parametrize(
    ("members", "holdout", "code"),
    [
        (np.ones((5, 2)), np.ones((5, 3)), "columns_differ"),
        ([[1.0, 2.0], [3.0]], _HOLDOUT, "bad_array"),
        (_MEMBERS, [[1.0], [[2.0]]], "bad_array"),
        (np.array([2**60, 1]), np.array([1, 2]), "large_integers"),
    ],
)
def test_arrays_that_do_not_fit(members, holdout, code):
    with pytest.raises(InputError) as caught:
        _check(members, holdout)
    assert caught.value.code == code


@pytest.mark.parametrize("masked", [False, True])
def test_missing_scores_of_arrays_follow_the_policy(masked):
    gaps = np.arange(_MEMBERS.size) < 3
    members: Any = np.where(gaps, np.nan, _MEMBERS)
    if masked:
        members = np.ma.masked_array(_MEMBERS, mask=gaps)
    with pytest.raises(InputError, match="in 3 rows"):
        _check(members)
    dropped, kept = _check(members, nan="drop"), _check(members, nan="category")
    assert (dropped.design.n_members, kept.design.n_members) == (77, 80)
    assert "nan_dropped" in _codes(dropped)
    assert "nan_category" in _codes(kept)


def test_a_masked_matrix_hides_values_column_by_column():
    members = np.ma.masked_array(np.c_[_MEMBERS, _MEMBERS], mask=False)
    members[4, 1] = np.ma.masked
    with pytest.raises(InputError, match="'score_1' in 1 row, first in data row 5"):
        _check(members, np.c_[_HOLDOUT, _HOLDOUT])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_both_classes_are_paired_by_name(frame):
    members = frame({"loss": _MEMBERS, "conf": -_MEMBERS, "g": ["a", "b"] * 40})
    holdout = frame({"conf": -_HOLDOUT, "loss": _HOLDOUT, "g": ["a", "b"] * 45})
    report = _check(members, holdout)
    assert report.design.score_columns == ("loss", "conf")
    assert (report.design.n_members, report.design.n_holdout) == (80, 90)
    half = _check(members, holdout, where="g = a", score_col=["conf"])
    assert half.design.score_columns == ("conf",)
    assert (half.design.n_members, half.design.n_holdout) == (40, 45)
    assert mipaudit.estimate(members=members, holdout=holdout).design.n_members == 80


def test_series_are_arrays():
    report = _check(pd.Series(_MEMBERS), pl.Series(_HOLDOUT))
    assert report.design.score_columns == ("score",)


def test_a_frame_and_an_array_do_not_mix():
    with pytest.raises(UsageError) as caught:
        _check(pd.DataFrame({"score": _MEMBERS}), _HOLDOUT)
    assert caught.value.code == "mixed_inputs"


def test_types_that_differ_between_arrays_are_found():
    assert "scores_rounded" in _codes(_check(_MEMBERS.astype(np.float32)))
    assert "types_differ" in _codes(_check(np.arange(_MEMBERS.size)))
    assert not {"scores_rounded", "types_differ"} & set(_codes(_check()))


@pytest.mark.parametrize("frame", [False, True])
def test_an_unknown_nan_policy_is_refused(frame):
    data = pd.DataFrame({"score": _MEMBERS, "member": [True, False] * 40})
    given: dict[str, Any] = {"data": data} if frame else {"members": _MEMBERS, "holdout": _HOLDOUT}
    with pytest.raises(UsageError) as caught:
        mipaudit.check(**given, nan="ignore")  # type: ignore[arg-type]
    assert caught.value.code == "nan"


def test_one_string_is_one_name():
    assert CheckOptions(score_col="score").score_col == ("score",)
    assert CheckOptions(score_col=["a", "b"]).score_col == ("a", "b")


@pytest.mark.parametrize("text", [False, True])
def test_scores_stored_more_coarsely_in_one_class_tell_nothing(tmp_path, text):
    drawn = np.random.default_rng(3).normal(size=(2, 300))
    coarse = drawn.astype(np.float32)
    pd.DataFrame({"score": coarse[0]}).to_parquet(tmp_path / "m.parquet")
    holdout = tmp_path / ("h.csv" if text else "h.parquet")
    if text:
        holdout.write_text("score\n" + "\n".join(map(repr, drawn[1].tolist())) + "\n")
    else:
        pd.DataFrame({"score": drawn[1]}).to_parquet(holdout)

    found = mipaudit.estimate(members=str(tmp_path / "m.parquet"), holdout=str(holdout))
    alike = mipaudit.estimate(members=coarse[0], holdout=coarse[1])

    assert found.estimates == alike.estimates
    assert found.estimates[0].lower == 0
