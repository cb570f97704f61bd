"""How much better an attribute is guessed of members, in a screenful."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.fixtures.briefs import answer, shown


def table(inside, outside, values=3, rows=1500, seed=3):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    truth = random.choice([f"a value with a long name {at}" for at in range(values)], rows)
    right = random.random(rows) < np.where(member, inside, outside)
    return pd.DataFrame(
        {"member": member, "attribute": truth, "guess": np.where(right, truth, "none")}
    )


@pytest.mark.parametrize(("inside", "outside"), [(0.5, 0.5), (0.8, 0.4), (0.4, 0.8), (0.55, 0.5)])
@pytest.mark.parametrize("values", [2, 30])
def test_not_shown_is_said_only_where_no_line_shows_it(inside, outside, values):
    report = mipaudit.attribute(table(inside, outside, values))
    shown(report)
    by = {one.quantity: one for one in report.figures}
    rows = (by["attribute_advantage"], by["membership_advantage"], *report.by_value)
    surely = any(one.lower > 0 or one.upper < 0 for one in rows if one.lower is not None)
    assert ("is not shown" in answer(report)) == (not surely)


@pytest.mark.parametrize(("limit", "word"), [(0.9, "MET, by these"), (0.1, "NOT MET: ")])
def test_the_verdict_stands_first_and_says_of_whom_it_is(limit, word):
    report = mipaudit.attribute(table(0.8, 0.4), max_attribute_advantage=limit)
    assert answer(report).startswith(word)
    assert shown(report).splitlines()[-1].startswith(word.rstrip(": "))


def test_guesses_in_other_words_are_a_warning():
    frame = table(0.5, 0.5).assign(guess="something else")
    assert "! No guess is a value of the attribute" in shown(mipaudit.attribute(frame))
