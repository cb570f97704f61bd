"""Numbers as text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.statements.rounding import (
    above_text,
    count_text,
    lower_figure,
    lower_text,
    number_text,
    percent_text,
    upper_figure,
    upper_text,
    value_text,
    within_text,
)


@given(st.floats(-1, 1))
def test_limits_are_rounded_outward_and_by_less_than_a_unit(limit):
    exact = Fraction(repr(limit))

    assert 0 <= exact - Fraction(lower_text(limit)) < Fraction(1, 10000)
    assert 0 <= Fraction(upper_text(limit)) - exact < Fraction(1, 10000)


@given(st.integers(-10000, 10000))
def test_four_decimals_are_left_alone(units):
    limit = units / 10000

    assert lower_text(limit) == value_text(limit) == upper_text(limit)


@pytest.mark.parametrize(
    ("number", "lower", "value", "upper"),
    [
        (0.12345, "0.1234", "0.1234", "0.1235"),
        (0.3, "0.3000", "0.3000", "0.3000"),
        (1e-9, "0.0000", "0.0000", "0.0001"),
        (-1e-9, "-0.0001", "0.0000", "0.0000"),
        (1.0, "1.0000", "1.0000", "1.0000"),
    ],
)
def test_examples(number, lower, value, upper):
    assert (lower_text(number), value_text(number), upper_text(number)) == (lower, value, upper)


def test_counts_and_shares():
    assert count_text(1234567) == "1,234,567"
    assert [percent_text(share) for share in (0.001, 0.01, 0.1, 0.95, 1.0)] == [
        "0.1%",
        "1%",
        "10%",
        "95%",
        "100%",
    ]
    assert [number_text(x) for x in (0.1, 1.0, 10.0, 0.0, 1e-5, 0.001)] == [
        "0.1",
        "1",
        "10",
        "0",
        "1e-5",
        "0.001",
    ]


@given(st.floats(1e-300, 1e300), st.integers(2, 9))
def test_figures_are_rounded_outward_and_by_less_than_a_unit(number, digits):
    # Twelve digits are what the arithmetic vouches for.
    exact = Fraction(f"{number:.12g}")
    lower = Fraction(lower_figure(number, digits=digits))
    upper = Fraction(upper_figure(number, digits=digits))

    assert lower <= exact <= upper
    assert upper - lower <= exact / 10 ** (digits - 1)


@pytest.mark.parametrize(
    ("number", "lower", "upper"),
    [
        (0.0, "0", "0"),
        (1.0, "1", "1"),
        (0.00272821, "0.0027282", "0.0027283"),
        (3794.5600000000004, "3794.5", "3794.6"),
        (1e-6, "0.000001", "0.000001"),
        (1.23456789e-7, "1.2345e-7", "1.2346e-7"),
        (5e-324, "4.9406e-324", "4.9407e-324"),
        (123456789.0, "123450000", "123460000"),
        (1e12, "1e+12", "1e+12"),
        (1.5e300, "1.5e+300", "1.5e+300"),
        (0.99999999, "0.99999", "1"),
    ],
)
def test_figures(number, lower, upper):
    assert (lower_figure(number), upper_figure(number)) == (lower, upper)


def test_more_digits_on_demand():
    assert lower_figure(3794.5600000000004, digits=8) == "3794.56"
    assert upper_figure(3794.5600000000004, digits=8) == "3794.56"


@pytest.mark.parametrize(
    ("text", "number", "limit", "shown"),
    [
        (above_text, 0.1234567, 0.1, "0.1234"),
        (above_text, 0.10003, 0.1, "0.10003"),
        (above_text, 0.00007, 0.00005, "0.00007"),
        (above_text, 0.1000000000000001, 0.1, "0.1000000000000001"),
        (above_text, 0.05, 0.1, "0.0500"),
        (within_text, 0.09999, 0.1, "0.1000"),
        (within_text, 0.00003, 0.00005, "0.00003"),
        (within_text, 0.12344, 0.12345, "0.12344"),
        (within_text, 0.2, 0.1, "0.2000"),
    ],
)
def test_a_limit_shows_on_which_side_of_the_policys_it_is(text, number, limit, shown):
    assert text(number, limit) == shown
