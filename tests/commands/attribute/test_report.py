"""What guesses of an attribute tell of members, as codes, and a line for each value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.messages.estimate import ATTRIBUTE
from mipaudit.report.messages.told import told
from tests.fixtures.briefs import shown
from tests.fixtures.codes import said


def table(inside, outside, values=3, rows=1500, seed=3):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    truth = random.choice([f"a value with a long name {at}" for at in range(values)], rows)
    right = random.random(rows) < np.where(member, inside, outside)
    return pd.DataFrame(
        {"member": member, "attribute": truth, "guess": np.where(right, truth, "none")}
    )


def of_two(first, second):
    """Return guesses of a common value and of a rarer one, better of members or of others."""
    common, rare = table(*first, values=1, rows=4000), table(*second, values=1)
    return pd.concat(
        [common, rare.assign(attribute="b", guess=np.where(rare.guess == "none", "none", "b"))]
    )


def apart():
    """Return guesses of an attribute whose values are those of one class each."""
    frame = table(0.5, 0.5)
    truth = np.where(frame.member, "m", "h")
    return frame.assign(attribute=truth, guess=np.where(frame.guess == "none", "none", truth))


def shifted():
    """Return guesses as good of members, of whom more have the value that is guessed well."""
    random = np.random.default_rng(0)
    member = np.arange(4000) % 2 == 0
    truth = np.where(random.random(4000) < np.where(member, 0.7, 0.3), "a", "b")
    return pd.DataFrame({"member": member, "attribute": truth, "guess": "a"})


SMALLEST = {
    "guessed_better": lambda: mipaudit.attribute(table(0.8, 0.4)),
    "right_guess_tells": lambda: mipaudit.attribute(shifted()),
    "guessed_worse": lambda: mipaudit.attribute(table(0.4, 0.8)),
    "value_guessed_better": lambda: mipaudit.attribute(of_two((0.45, 0.5), (0.6, 0.5))),
    "value_guessed_worse": lambda: mipaudit.attribute(of_two((0.52, 0.5), (0.4, 0.5))),
    "attribute_in_one_class": lambda: mipaudit.attribute(apart()),
    "not_guessed_better": lambda: mipaudit.attribute(table(0.5, 0.5)),
}


def test_every_code_has_a_smallest_input():
    assert {*SMALLEST} == {*ATTRIBUTE}


@pytest.mark.parametrize("code", SMALLEST)
def test_the_smallest_input_makes_it(code):
    assert [*said(SMALLEST[code]())] == [code]


@pytest.mark.parametrize(("inside", "outside"), [(0.5, 0.5), (0.8, 0.4), (0.4, 0.8), (0.55, 0.5)])
@pytest.mark.parametrize("values", [2, 30])
def test_not_shown_is_said_only_where_no_line_shows_it(inside, outside, values):
    report = mipaudit.attribute(table(inside, outside, values))
    shown(report)
    by = {one.quantity: one for one in report.figures}
    rows = (by["attribute_advantage"], by["membership_advantage"], *report.by_value)
    surely = any(one.lower > 0 or one.upper < 0 for one in rows if one.lower is not None)
    assert (report.answer.code == "not_guessed_better") == (not surely)


@pytest.mark.parametrize(("limit", "word"), [(0.9, "MET, by these"), (0.1, "NOT MET: ")])
def test_the_verdict_stands_first_and_says_of_whom_it_is(limit, word):
    report = mipaudit.attribute(table(0.8, 0.4), max_attribute_advantage=limit)
    assert told(report.answer).startswith(word)


def test_of_two_limits_each_has_a_line():
    report = mipaudit.attribute(table(0.8, 0.4), max_attribute_advantage=0.1, max_advantage=0.9)
    lines = shown(report).splitlines()
    assert any("NOT MET" in line for line in lines[2:])
    assert any("  MET  " in line for line in lines[2:])


def test_guesses_in_other_words_are_a_warning():
    frame = table(0.5, 0.5).assign(guess="something else")
    assert "! No guess is a value of the attribute" in shown(mipaudit.attribute(frame))
