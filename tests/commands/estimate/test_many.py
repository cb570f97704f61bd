"""Many audits in one table; the slow twin of each row is `estimate` on that audit alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.errors import InputError
from tests.fixtures.codes import findings, refused

ROWS = 240
LABELS = np.arange(ROWS) % 5 < 2


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(3)
    shift = np.linspace(0, 2, 7)[:, None]
    found = rng.normal(size=(7, ROWS)) + shift * LABELS
    found[2] = found[2].round()  # with ties
    found[3, :4] = np.inf, -np.inf, np.inf, np.inf
    return found


def alone(score, member, **asked):
    """Return the report on one audit alone, and its estimates by quantity and attackers."""
    report = mipaudit.estimate(members=score[member], holdout=score[~member], **asked)
    return report, {(one.quantity, one.attackers): one for one in report.estimates}


def agree(row, report, by):
    any_, auc, design = by["advantage", "any"], by["auc", "thresholds"], report.design
    assert row.drop(["against", "findings"]).to_dict() == {
        "members": design.n_members,
        "holdout": design.n_holdout,
        "advantage": any_.value,
        "at_least": any_.lower,
        "at_most": by["advantage", row["against"]].upper,
        "auc": auc.value,
        "auc_at_least": auc.lower,
        "auc_at_most": auc.upper,
        "p_any_difference": by["any_difference", "any"].value,
        "seed": report.provenance.seeds[0].seed,
    }
    assert set(row["findings"].split(", ")) - {""} <= findings(report).keys()


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"seed": 5, "prior": 0.1, "confidence": 0.9},
        {"member_side": "high", "against": "thresholds"},
    ],
)
def test_each_row_is_that_of_the_audit_alone_to_the_bit(scores, asked):
    table = mipaudit.estimate_many(scores, member=LABELS, **asked)
    assert list(table.index) == list(range(7))
    assert table.attrs["seed"] == asked.get("seed")
    against = asked.pop("against", None)
    for score, (_, row) in zip(scores, table.iterrows(), strict=True):
        agree(row, *alone(score, LABELS, **asked))
        assert against in {None, row["against"]}
    assert table["at_least"].is_monotonic_increasing or table["at_least"].iloc[-1] > 0.4


def test_joint_limits_share_the_error(scores):
    table = mipaudit.estimate_many(scores, member=LABELS, joint=True)
    for score, (_, row) in zip(scores, table.iterrows(), strict=True):
        _, by = alone(score, LABELS, confidence=1 - 0.05 / 7)
        assert row["at_least"] == pytest.approx(by["advantage", "any"].lower, abs=1e-12)
        assert row["at_most"] == pytest.approx(by["advantage", row["against"]].upper, abs=1e-12)
        assert row["p_any_difference"] == by["any_difference", "any"].value


def test_a_frame_is_split_by_columns(scores):
    models = np.repeat(list("gfedcba"), ROWS)
    columns = {"score": scores.ravel(), "member": np.tile(LABELS, 7), "model": models}
    frame = pd.DataFrame(columns).sample(frac=1, random_state=1)
    table = mipaudit.estimate_many(frame, by="model")
    flat = mipaudit.estimate_many(scores, member=np.tile(LABELS, (7, 1)).astype(int))
    assert list(table.index) == list("abcdefg")
    assert table.index.name == "model"
    numbers = table.drop(columns="findings").iloc[::-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        numbers, flat.drop(columns="findings"), check_exact=True, check_names=False
    )
    both = frame.assign(half="x")
    split = mipaudit.estimate_many(pa.table(both), by=["half", "model"])
    assert split.index[0] == ("x", "a")


def test_whole_numbers_stay_whole_where_one_is_missing():
    large = 1 << 53
    part = pa.array(np.repeat([large, large + 1, None], 40).tolist(), pa.int64())
    hits = [None, *np.random.default_rng(4).integers(0, 9, 119).tolist()]
    table = pa.table({"hits": hits, "member": np.arange(120) % 2, "part": part})
    found = mipaudit.estimate_many(table, by="part", nan="drop")
    assert found["members"].tolist() == [20, 20, 20]
    assert found.index[:2].tolist() == [large, large + 1]
    first = mipaudit.estimate(table.slice(0, 40).drop_columns(["part"]), nan="drop")
    assert found["advantage"].iloc[0] == first.estimates[0].value
    assert found["against"].tolist() == ["any"] * 3


def test_masked_scores_are_missing(scores):
    masked = np.ma.masked_array(scores, mask=np.tile(np.arange(ROWS) < 20, (7, 1)))
    with pytest.raises(InputError, match=r"Audit 0 of 7.*Missing scores"):
        mipaudit.estimate_many(masked, member=LABELS)
    table = mipaudit.estimate_many(masked, member=LABELS, nan="drop")
    left = mipaudit.estimate_many(scores[:, 20:], member=LABELS[20:])
    assert table["at_least"].tolist() == left["at_least"].tolist()


def test_few_values_are_limited_for_all_attackers_and_small_audits_are_told():
    rng, seen = np.random.default_rng(2), []
    few = rng.integers(0, 3, (2, 400)).astype(float)
    table = mipaudit.estimate_many(few, member=np.arange(400) % 2 == 0)
    assert set(table["against"]) == {"any"}
    assert (table["at_most"] < 1).all()
    small = {"member": np.arange(24) % 2 == 0, "progress": lambda *at: seen.append(at)}
    table = mipaudit.estimate_many(rng.normal(size=(40, 24)), **small)
    assert seen == [(32, 40), (40, 40)]
    assert set(table["findings"]) == {"small_class"}


X = np.arange(40.0).reshape(2, 20)
M = np.arange(20) % 2 == 0
FRAME = pd.DataFrame({"score": X[0], "member": M, "part": np.arange(20) // 10})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"scores": X}, "No membership is given"),
        ({"scores": X, "member": M[:3]}, r"shape \(3,\), and the scores have \(2, 20\)"),
        ({"scores": X, "member": M * 2}, "must be bool, or hold 0 and 1"),
        ({"scores": X, "member": np.ma.masked_array(M, mask=M)}, "must be bool, or hold 0 and 1"),
        ({"scores": [[1, 2], [3]], "member": [0, 1]}, r"shape \(audits, rows\), not \(2,\)"),
        ({"scores": X[0], "member": M}, r"shape \(audits, rows\), not \(20,\)"),
        ({"scores": X, "member": M, "by": "part"}, "no columns to split"),
        ({"scores": FRAME}, "split into audits"),
        ({"scores": FRAME, "by": "prat"}, "no column 'prat'"),
        ({"scores": FRAME, "by": "part", "member": M}, "membership in a column"),
        ({"scores": FRAME[:0], "by": "part"}, "no rows"),
        ({"scores": FRAME.assign(part=[[1]] * 20), "by": "part"}, "cannot be split"),
        ({"scores": FRAME.set_axis(["score", "part", "part"], axis=1), "by": "part"}, "be split"),
        ({"scores": X, "member": M, "against": "learned"}, "several numbers"),
        (
            {"scores": FRAME.assign(score_b=1.5), "by": "part"},
            "Audit 0 of 2.*one score",
        ),
    ],
)
def test_what_does_not_go_together(given, words):
    with pytest.raises(mipaudit.UsageError, match=words):
        mipaudit.estimate_many(**given)


def test_an_error_says_of_which_audit_it_is():
    scores = np.random.default_rng(0).normal(size=(3, 60))
    scores[1] = 4.25
    asked = {"member": np.arange(60) % 2 == 0, "says": "Audit 1 of 3, counted from 0"}
    error = refused("constant_scores", mipaudit.estimate_many, scores, **asked)
    assert "4.25" not in str(error)
    words = {"score": list("abcd") * 30, "member": [True, True, False] * 40, "part": 0}
    asked, labels = {"by": "part", "score_col": "score"}, pd.DataFrame(words)
    with pytest.raises(mipaudit.UsageError, match="have no order"):
        mipaudit.estimate_many(labels, **asked, against="thresholds")
    table = mipaudit.estimate_many(labels, **asked)
    assert np.isnan(table["auc"]).all()
    assert set(table["against"]) == {"any"}
