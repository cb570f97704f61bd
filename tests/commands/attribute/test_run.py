import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told


def guesses(n=3000, inside=0.8, outside=0.5, seed=0):
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    truth = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    right = rng.random(n) < np.where(member, inside, outside)
    return pd.DataFrame(
        {"member": member, "attribute": truth, "guess": np.where(right, truth, "none")}
    )


def figures(report):
    return {one.quantity: one for one in report.figures}


def test_the_advantage_and_the_reduction_are_found():
    frame = guesses()
    report = mipaudit.attribute(frame)
    found = figures(report)
    right = (frame["attribute"] == frame["guess"]).to_numpy()
    member = frame["member"].to_numpy()
    reduction = right[member].mean() - right[~member].mean()
    assert found["membership_advantage"].value == pytest.approx(reduction)
    assert found["right_of_members"].value == pytest.approx(right[member].mean())
    by_hand = sum(
        share * (right[member & rows].mean() - right[~member & rows].mean())
        for value, share in frame["attribute"].value_counts(normalize=True).items()
        for rows in [(frame["attribute"] == value).to_numpy()]
    )
    assert found["attribute_advantage"].value == pytest.approx(by_hand)
    assert found["attribute_advantage"].lower < 0.3 < found["attribute_advantage"].upper


def test_every_value_has_limits_that_hold_together():
    report = mipaudit.attribute(guesses())
    assert {one.group for one in report.by_value} == {"a", "b", "c"}
    alone = mipaudit.attribute(guesses(), where="attribute = b")
    (one,) = alone.by_value
    beside = next(value for value in report.by_value if value.group == "b")
    assert beside.value == pytest.approx(one.value)
    assert beside.upper - beside.lower > one.upper - one.lower


def test_guesses_that_gain_nothing_show_nothing():
    report = mipaudit.attribute(guesses(inside=0.5))
    assert figures(report)["attribute_advantage"].lower <= 0
    assert report.answer.code == "not_guessed_better"
    assert not report.findings


def test_numbers_and_their_texts_are_the_same_value():
    frame = guesses()
    codes = {"a": 1, "b": 2, "c": 3, "none": 9}
    numbers = frame.assign(
        attribute=frame["attribute"].map(codes).astype(float),
        guess=frame["guess"].map(codes).astype(str),
    )
    assert figures(mipaudit.attribute(numbers)) == figures(mipaudit.attribute(frame))


def test_missing_cells_are_counted_and_said():
    frame = guesses()
    frame.loc[:9, "attribute"] = None
    frame.loc[10:29, "guess"] = None
    report = mipaudit.attribute(frame)
    found = {one.code: told(one) for one in report.findings}
    assert "10 records" in found["attribute_missing"]
    assert "20 records" in found["guess_missing"]
    assert report.design.n_members + report.design.n_holdout == len(frame) - 10


def test_a_missing_guess_is_never_right_not_even_of_the_word():
    frame = guesses()
    frame["attribute"] = "missing"
    frame["guess"] = None
    frame.loc[0, "guess"] = "missing"
    assert figures(mipaudit.attribute(frame))["right_of_members"].value < 0.01


def test_other_words_in_the_guesses_are_pointed_out():
    frame = guesses()
    report = mipaudit.attribute(frame.assign(guess=frame["guess"].str.upper()))
    assert "no_guess_matches" in {one.code for one in report.findings}


def test_an_attribute_that_differs_between_the_classes_is_pointed_out():
    frame = guesses()
    frame.loc[frame["member"], "attribute"] = "a"
    assert "attribute_shifted" in {one.code for one in mipaudit.attribute(frame).findings}


def test_rare_values_are_taken_together():
    frame = guesses()
    frame.loc[:11, "attribute"] = [f"rare{i}" for i in range(12)]
    report = mipaudit.attribute(frame)
    assert report.by_value[-1].group == "other"
    assert report.by_value[-1].selection == "rare values"
    assert report.design.n_values == 15


def test_a_value_that_is_called_other_is_not_taken_for_the_rare_ones():
    frame = guesses().replace("a", "other")
    frame.loc[:11, "attribute"] = [f"rare{i}" for i in range(12)]
    own, rare = (one for one in mipaudit.attribute(frame).by_value if one.group == "other")
    assert (own.selection, rare.selection) == ("", "rare values")
    count = int((frame["attribute"] == "other").sum())
    assert own.n_members + own.n_holdout == count
    assert rare.n_members + rare.n_holdout == 12


def test_wrong_columns_are_named_by_their_option():
    for wrong, option in (
        ({"attribute_col": "x"}, "--attribute-col"),
        ({"guess_col": "x"}, "--guess-col"),
    ):
        with pytest.raises(InputError) as caught:
            mipaudit.attribute(guesses(), **wrong)
        assert caught.value.message.startswith(option)
    with pytest.raises(UsageError):
        mipaudit.attribute(guesses(), guess_col="attribute")
    frame = guesses().assign(attribute=[f"v{i}" for i in range(3000)])
    with pytest.raises(InputError) as caught:
        mipaudit.attribute(frame)
    assert caught.value.code == "too_many_groups"
    assert "--by" not in caught.value.message
