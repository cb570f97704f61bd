"""Guesses of an attribute: how much better they are of members, what is said of it, and refused."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import mipaudit
from mipaudit.commands.attribute.run import (
    ValueGuesses,
    attribute_advantage,
    membership_advantage,
    right_share,
    surely_shifted,
)
from mipaudit.evidence.named_attack import difference_of_shares
from mipaudit.report.messages.estimate import ATTRIBUTE
from mipaudit.report.messages.told import told
from tests.fixtures.briefs import shown
from tests.fixtures.codes import findings, refused, said


def guesses(inside=0.8, outside=0.5, values="abc", rows=3000, seed=3):
    rng = np.random.default_rng(seed)
    member, truth = np.arange(rows) % 2 == 0, rng.choice(list(values), rows)
    right = rng.random(rows) < np.where(member, inside, outside)
    guess = np.where(right, truth, "none")
    return pd.DataFrame({"member": member, "attribute": truth, "guess": guess})


def figures(frame, **asked):
    return {one.quantity: one for one in mipaudit.attribute(frame, **asked).figures}


def test_definition_5_weighs_each_value_by_its_share():
    found = attribute_advantage([ValueGuesses(30, 40, 20, 60), ValueGuesses(10, 50, 10, 50)], 0.05)
    # Pr[t] (Pr[right | member, t] - Pr[right | holdout, t]), both values half of the records.
    assert found.value == pytest.approx(0.5 * (30 / 40 - 20 / 60) + 0.5 * (10 / 50 - 10 / 50))
    assert found.lower < found.value < found.upper
    one = attribute_advantage([ValueGuesses(30, 40, 20, 60)], 0.1)
    assert (one.lower, one.upper) == difference_of_shares((30, 40), (20, 60), 0.5, 0.1)


def test_of_a_value_that_a_class_lacks_nothing_is_known():
    known, lacking = ValueGuesses(30, 40, 20, 40), ValueGuesses(5, 20, 0, 0)
    found, alone = attribute_advantage([known, lacking], 0.05), attribute_advantage([known], 0.05)
    assert found.lower == pytest.approx(0.8 * alone.lower - 0.2, abs=1e-4)
    assert found.upper == pytest.approx(0.8 * alone.upper + 0.2, abs=1e-4)
    assert attribute_advantage([lacking, ValueGuesses(0, 0, 1, 2)], 0.05) is None
    assert attribute_advantage([lacking], 0.05) is None


@pytest.mark.parametrize(("prior", "value"), [(0.5, 0.2), (0.1, 0.8 + 0.2 * 0.8 - 1.8 * 0.6)])
def test_the_reduction_is_one_attacker_on_membership(prior, value):
    found = membership_advantage(ValueGuesses(80, 100, 60, 100), prior, 0.05)
    assert found.value == pytest.approx(value)


def test_shares_have_clopper_pearson_limits():
    ends = binomtest(7, 20).proportion_ci(0.95, method="exact")
    found = right_share(7, 20, 0.05)
    assert (found.lower, found.upper) == pytest.approx((ends.low, ends.high))


@pytest.mark.parametrize(("holdout", "shifted"), [((300, 700), 2), ((490, 510), 0)])
def test_a_shift_of_the_attribute_is_found_and_none_where_there_is_none(holdout, shifted):
    assert surely_shifted([ValueGuesses(0, 500, 0, rows) for rows in holdout], 0.01) == shifted


@pytest.mark.parametrize("values", [2, 6])
@pytest.mark.parametrize("size", [40, 400])
def test_the_attribute_advantage_is_covered(values, size):
    rng = np.random.default_rng([values, size])
    law = 1 / np.arange(1, values + 1)
    right, runs, alpha, missed = rng.random((2, values)), 300, 0.1, np.zeros(2)
    for _ in range(runs):
        n = rng.multinomial(size, law / law.sum(), 2)
        hits = rng.binomial(n, right)
        counts = [ValueGuesses(*one) for one in np.stack([hits, n], axis=1).reshape(4, -1).T]
        found = attribute_advantage(counts, alpha)
        truth = float(n.sum(axis=0) / n.sum() @ (right[0] - right[1]))
        missed += found.lower > truth, found.upper < truth
    assert max(missed) / runs <= alpha / 2 + 3 * math.sqrt(alpha / 2 * (1 - alpha / 2) / runs)


def test_the_advantage_and_the_reduction_are_those_by_hand():
    frame = guesses()
    found = figures(frame)
    right = frame["attribute"] == frame["guess"]
    by = {side: right[frame["member"] == side] for side in (True, False)}
    rates = {side: one.groupby(frame["attribute"]).mean() for side, one in by.items()}
    inside, outside = by[True].mean(), by[False].mean()
    shares = frame["attribute"].value_counts(normalize=True)
    assert found["membership_advantage"].value == pytest.approx(inside - outside)
    assert found["right_of_members"].value == pytest.approx(inside)
    by_hand = ((rates[True] - rates[False]) * shares).sum()
    assert found["attribute_advantage"].value == pytest.approx(by_hand)
    assert found["attribute_advantage"].lower < 0.3 < found["attribute_advantage"].upper


def test_every_value_has_limits_that_hold_together():
    report = mipaudit.attribute(guesses())
    assert {one.group for one in report.by_value} == {"a", "b", "c"}
    (one,) = mipaudit.attribute(guesses(), where="attribute = b").by_value
    beside = next(value for value in report.by_value if value.group == "b")
    assert beside.value == pytest.approx(one.value)
    assert beside.upper - beside.lower > one.upper - one.lower


def test_numbers_and_their_texts_are_the_same_value():
    frame, codes = guesses(), {"a": 1, "b": 2, "c": 3, "none": 9}
    numbers = frame.assign(
        attribute=frame["attribute"].map(codes).astype(float),
        guess=frame["guess"].map(codes).astype(str),
    )
    assert figures(numbers) == figures(frame)


def test_a_missing_guess_is_never_right_not_even_of_the_word():
    frame = guesses().assign(attribute="missing", guess=None)
    frame.loc[0, "guess"] = "missing"
    assert figures(frame)["right_of_members"].value < 0.01


@pytest.mark.parametrize(
    ("cells", "value", "codes", "words"),
    [
        ((slice(9), "attribute"), None, "attribute_missing", "10 records"),
        ((slice(19), "guess"), None, "guess_missing", "20 records"),
        (
            (slice(None), "guess"),
            "A",
            "no_guess_matches",
            "No guess equals a value of the attribute",
        ),
        ((slice(None, None, 2), "attribute"), "a", "attribute_shifted groups_merged", ""),
        ((slice(0), []), None, "", ""),
    ],
)
def test_what_is_missing_or_odd_is_pointed_out(cells, value, codes, words):
    frame = guesses(0.5, 0.5)
    frame.loc[cells] = value
    report = mipaudit.attribute(frame)
    assert {*findings(report)} == {*codes.split()}
    assert words in "".join(findings(report).values())
    assert report.design.n_members + report.design.n_holdout == 3000 - 10 * (words[:2] == "10")
    assert ("! No guess equals a value of the attribute" in shown(report)) == words.startswith("No")


def test_rare_values_are_taken_together_beside_one_that_is_called_other():
    frame = guesses(values=("other", "b", "c"))
    frame.loc[:11, "attribute"] = [f"rare{at}" for at in range(12)]
    report = mipaudit.attribute(frame)
    own, rare = (one for one in report.by_value if one.group == "other")
    assert (own.selection, rare.selection, report.design.n_values) == ("", "rare values", 15)
    assert report.by_value[-1] == rare
    assert own.n_members + own.n_holdout == (frame["attribute"] == "other").sum()
    assert rare.n_members + rare.n_holdout == 12


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ({"attribute_col": "x"}, "unknown_column", "--attribute-col"),
        ({"guess_col": "x"}, "unknown_column", "--guess-col"),
        ({"guess_col": "attribute"}, "two_roles", ""),
        ({"max_attribute_advantage": 0.0}, "max_attribute_advantage", ""),
        ({"max_advantage": 0.5, "prior": 0.1}, "max_advantage", ""),
        ({"attribute_col": "row"}, "too_many_groups", ""),
    ],
)
def test_what_cannot_be_asked(asked, code, words):
    frame = guesses().assign(row=[f"v{at}" for at in range(3000)])
    error = refused(code, mipaudit.attribute, frame, **asked)
    assert error.message.startswith(words)
    assert "--by" not in error.message


# What is answered, and whether limits are kept.


def of_two(first, second):
    """Return guesses of a common value and of a rarer one, better of members or of others."""
    return pd.concat([guesses(*first, "a", rows=4000), guesses(*second, "b", rows=1500)])


def of_one_class_each():
    """Return guesses of an attribute whose values are those of one class each."""
    frame = guesses(0.5, 0.5)
    truth = np.where(frame.member, "m", "h")
    return frame.assign(attribute=truth, guess=np.where(frame.guess == "none", "none", truth))


def shifted():
    """Return guesses as good of members, of whom more have the value that is guessed well."""
    random, member = np.random.default_rng(0), np.arange(4000) % 2 == 0
    truth = np.where(random.random(4000) < np.where(member, 0.7, 0.3), "a", "b")
    return pd.DataFrame({"member": member, "attribute": truth, "guess": "a"})


SMALLEST = {
    "guessed_better": lambda: guesses(0.8, 0.4),
    "right_guess_tells": shifted,
    "guessed_worse": lambda: guesses(0.4, 0.8),
    "value_guessed_better": lambda: of_two((0.45, 0.5), (0.6, 0.5)),
    "value_guessed_worse": lambda: of_two((0.52, 0.5), (0.4, 0.5)),
    "attribute_in_one_class": of_one_class_each,
    "not_guessed_better": lambda: guesses(0.5, 0.5),
}


def test_every_code_has_a_smallest_input():
    assert {code: [*said(mipaudit.attribute(make()))] for code, make in SMALLEST.items()} == {
        code: [code] for code in ATTRIBUTE
    }


@pytest.mark.parametrize(("inside", "outside"), [(0.5, 0.5), (0.8, 0.4), (0.4, 0.8), (0.55, 0.5)])
@pytest.mark.parametrize("values", [2, 30])
def test_not_shown_is_said_only_where_no_line_shows_it(inside, outside, values):
    names = [f"a value with a long name {at}" for at in range(values)]
    report = mipaudit.attribute(guesses(inside, outside, names, rows=1500))
    shown(report)
    by = {one.quantity: one for one in report.figures}
    rows = (by["attribute_advantage"], by["membership_advantage"], *report.by_value)
    surely = any(one.lower > 0 or one.upper < 0 for one in rows if one.lower is not None)
    assert (report.answer.code == "not_guessed_better") == (not surely)


LED = {"met": "MET for these", "not_met": "NOT MET: ", "inconclusive": "INCONCLUSIVE"}


NAMES = ("max_attribute_advantage", "max_advantage")


@pytest.mark.parametrize(
    ("name", "make", "status"),
    [
        *((name, lambda: guesses(0.4, 0.4), "met") for name in NAMES),
        *((name, lambda: guesses(0.7, 0.4), "not_met") for name in NAMES),
        *((name, lambda: guesses(0.5, 0.4), "inconclusive") for name in NAMES),
        (NAMES[0], of_one_class_each, "inconclusive"),
    ],
)
def test_guesses_are_judged_on_limits(name, make, status):
    report = mipaudit.attribute(make(), **{name: 0.1})
    (check,) = report.policy
    figure = next(one for one in report.figures if one.quantity == check.quantity)
    assert (check.lower, check.upper) == (figure.lower, figure.upper)
    assert (report.answer.get("alone") is True) == (status == "met")
    assert told(report.answer).startswith(LED[report.verdict.status])
    assert report.verdict.status == status


def test_two_limits_on_guesses_share_the_error_and_each_has_a_line():
    asked = {"max_advantage": 0.1, "max_attribute_advantage": 0.9}
    frame = guesses(0.8, 0.4)
    (alone,) = mipaudit.attribute(frame, max_advantage=0.1).policy
    report = mipaudit.attribute(frame, **asked)
    assert report.policy[1].lower < alone.lower
    assert report.policy[1].upper == pytest.approx(alone.upper)
    lines = shown(report).splitlines()[2:]
    assert any("NOT MET" in line for line in lines)
    assert any("  MET  " in line for line in lines)
