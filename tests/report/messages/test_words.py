"""Right guesses in 100: never better than the limit that holds, and on its side of others."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from mipaudit.report.messages import words as w

SHARES = st.floats(0, 1, allow_nan=False)


GUESSES = [
    (0.1526, (0.1, 0.0), "57", "58"),
    (0.1, (), "55", "55"),
    (0.0, (), "50", "50"),
    (1.0, (), "100", "100"),
    (0.1526, (0.15,), "57.6", "58"),  # 57.5 is the limit, and 57 would be within it
    (0.0394, (0.04,), "51", "51.97"),  # 52 is the limit
    (0.999, (), "99", "99.95"),  # not always right
    (0.001, (0.0,), "50.05", "51"),  # better than a coin
]
DIFFERENCES = [
    (0.4714, (0.1,), "23", "24"),
    (0.1, (0.1,), "5", "5"),
    (0.0, (), "0", "0"),
    (0.001, (0.05,), "0.05", "1"),  # more than none
    (0.0299, (0.03,), "1", "1.5"),  # within the limit, 1.5
    (0.0301, (0.03,), "1.505", "2"),  # above the limit
]


def test_figures_are_rounded_outward_and_tell_sides():
    for advantage, marks, *shown in GUESSES:
        assert [w.right_at_least(advantage, marks), w.right_at_most(advantage, marks)] == shown
    for difference, marks, *shown in DIFFERENCES:
        found = [w.more_right_at_least(difference, marks), w.more_right_at_most(difference, marks)]
        assert found == shown


@given(SHARES, st.lists(SHARES, max_size=2))
def test_no_figure_flatters(advantage, marks):
    exact = 50 * (1 + Decimal(repr(advantage)))
    least = Decimal(w.right_at_least(advantage, marks))
    most = Decimal(w.right_at_most(advantage, marks))

    assert least <= exact <= most
    for mark in marks:
        other = 50 * (1 + Decimal(f"{mark:.12g}"))
        assert (least > other) == (exact > other)
        assert exact >= other or most < other or most == exact


@given(SHARES, st.lists(SHARES, max_size=2))
def test_no_difference_flatters(difference, marks):
    exact = 50 * Decimal(repr(difference))
    least = Decimal(w.more_right_at_least(difference, marks))
    most = Decimal(w.more_right_at_most(difference, marks))

    assert least <= exact <= most
    assert (least > 0) == (exact > 0)
    for mark in marks:
        other = 50 * Decimal(f"{mark:.12g}")
        assert (least > other) == (exact > other)
        assert exact > other or most <= other


def test_what_was_chosen_is_shown_as_chosen():
    assert w.more_right_exactly(0.15) == "7.5"
    assert w.right_exactly(0.15) == "57.5"
    assert w.right_exactly(abs(2 * 0.6 - 1)) == "60"


def test_at_other_priors_blind_guessing_stands_for_the_coin():
    assert w.compared(0.5, 0.1) == "a coin: 50; the limit: 55"
    assert w.compared(0.1) == "blind guessing: 90"
    assert w.blind_guesser(0.1) == "blind guessing"
    assert "of which half were used" in w.guess_words(0.5)
    assert "with probability 0.1" in w.guess_words(0.1)
    assert "0.8 is blind guessing (right 90 times in 100)" in w.scale_words(0.1)
    assert "0 is as good as a coin (right 50 times in 100)" in w.scale_words(0.5)


def test_classes_of_attackers_are_said_by_what_they_do():
    assert w.simple_kind("thresholds") == "apply one cut-off to the score"
    assert w.simple_kind("intervals-4") == "choose up to four ranges of the score"
