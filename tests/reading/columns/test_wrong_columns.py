"""What is said where the column that is named, or found, is not the one that was meant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mipaudit import InputError, check

ROWS = 60
FRAME = pd.DataFrame({"member": [0, 1] * (ROWS // 2), "score": np.arange(ROWS) / 64})


def refused(frame, **asked):
    with pytest.raises(InputError) as found:
        check(frame, **asked)
    return found.value


def test_a_score_named_as_membership_is_told_from_it():
    found = refused(FRAME.assign(loss=FRAME.score * 3), member_col="loss")

    assert found.code == "many_labels"
    assert "It may be a score. Membership is 1 and 0, true and false" in found.hint
    assert "Named like membership: member; name it with --member-col." in found.hint


def test_too_many_words_are_no_score():
    found = refused(FRAME.assign(member=["train", "test", "other"] * (ROWS // 3)))

    assert found.hint.startswith("Say with --member-value which one means member")
    assert "may be a score" not in found.hint


def test_labels_that_say_nothing_name_those_that_do():
    found = refused(FRAME.assign(member=FRAME.member + 1))

    assert found.code == "unknown_labels"
    assert "in and out, member and holdout, train and test" in found.hint


@pytest.mark.parametrize(
    ("score", "why"), [(["5%"] * ROWS, "score (text)"), ([None] * ROWS, "score (no values)")]
)
def test_why_a_column_is_no_score_is_said(score, why):
    found = refused(FRAME.assign(score=score))

    assert found.code == "no_score_column"
    assert why in found.hint
    assert "member (named like a membership column)" in found.hint
    assert "5%" not in str(found)


def test_the_only_score_is_not_both():
    assert "score (has another role)" in refused(FRAME, member_col="score").hint


def test_names_that_may_be_a_record_are_not_repeated():
    frame = pd.DataFrame({"PATIENT00001": ["x"] * ROWS, "member": FRAME.member})

    assert "PATIENT" not in str(refused(frame))
