"""Numbers as text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.audit.figures import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
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
