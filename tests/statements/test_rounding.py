"""Numbers as text, and names from the data made safe to print."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from mipaudit.statements import rounding
from mipaudit.statements.printable_names import safe_name

ROUNDED = {"lower": rounding.lower_text, "value": rounding.value_text, "upper": rounding.upper_text}


@given(st.floats(-1, 1))
def test_limits_are_rounded_outward_and_by_less_than_a_unit(limit):
    exact = Fraction(repr(limit))
    assert 0 <= exact - Fraction(rounding.lower_text(limit)) < Fraction(1, 10000)
    assert 0 <= Fraction(rounding.upper_text(limit)) - exact < Fraction(1, 10000)


@given(st.integers(-10000, 10000))
def test_four_decimals_are_left_alone(units):
    assert len({shown(units / 10000) for shown in ROUNDED.values()}) == 1


EXAMPLES = {
    0.12345: "0.1234 0.1234 0.1235",
    0.3: "0.3000 0.3000 0.3000",
    1e-9: "0.0000 0.0000 0.0001",
    -1e-9: "-0.0001 0.0000 0.0000",
    1.0: "1.0000 1.0000 1.0000",
}
FIGURES = {0.0: "0 0", 1.0: "1 1", 1e-6: "0.000001 0.000001", 1e12: "1e+12 1e+12"}
FIGURES |= {0.00272821: "0.0027282 0.0027283", 3794.5600000000004: "3794.5 3794.6"}
FIGURES |= {1.23456789e-7: "1.2345e-7 1.2346e-7", 5e-324: "4.9406e-324 4.9407e-324"}
FIGURES |= {123456789.0: "123450000 123460000", 1.5e300: "1.5e+300 1.5e+300"}
FIGURES |= {0.99999999: "0.99999 1"}
OTHERS = {
    rounding.count_text: {1234567: "1,234,567"},
    rounding.percent_text: {0.001: "0.1%", 0.01: "1%", 0.1: "10%", 0.95: "95%", 1.0: "100%"},
    rounding.number_text: {0.1: "0.1", 1.0: "1", 10.0: "10", 0.0: "0", 1e-5: "1e-5", 1e-3: "0.001"},
}


def test_examples():
    for number, shown in EXAMPLES.items():
        assert " ".join(of(number) for of in ROUNDED.values()) == shown
    for number, shown in FIGURES.items():
        assert f"{rounding.lower_figure(number)} {rounding.upper_figure(number)}" == shown
    for shown, examples in OTHERS.items():
        assert {number: shown(number) for number in examples} == examples
    for figure in (rounding.lower_figure, rounding.upper_figure):
        assert figure(3794.5600000000004, digits=8) == "3794.56"


@given(st.floats(1e-300, 1e300), st.integers(2, 9))
def test_figures_are_rounded_outward_and_by_less_than_a_unit(number, digits):
    # Twelve digits are what the arithmetic vouches for.
    exact = Fraction(f"{number:.12g}")
    lower = Fraction(rounding.lower_figure(number, digits=digits))
    upper = Fraction(rounding.upper_figure(number, digits=digits))
    assert lower <= exact <= upper
    assert upper - lower <= exact / 10 ** (digits - 1)


ABOVE = [(0.1234567, 0.1, "0.1234"), (0.10003, 0.1, "0.10003"), (0.00007, 0.00005, "0.00007")]
ABOVE += [(0.1000000000000001, 0.1, "0.1000000000000001"), (0.05, 0.1, "0.0500")]
WITHIN = [(0.09999, 0.1, "0.1000"), (0.00003, 0.00005, "0.00003")]
WITHIN += [(0.12344, 0.12345, "0.12344"), (0.2, 0.1, "0.2000")]


def test_a_limit_shows_on_which_side_of_the_policys_it_is():
    for text, examples in ((rounding.above_text, ABOVE), (rounding.within_text, WITHIN)):
        for number, limit, shown in examples:
            assert text(number, limit) == shown


ORDINARY = ["score", "conf max", "größe", "分数", "a-b.c/d"]
OBEYED = [("\x1b[2J", r"\x1b[2J"), ("\n", r"\x0a"), ("\u202e", r"\u202e"), ("\u2028", r"\u2028")]
OBEYED += [("\u200b", r"\u200b"), ("\x9b", r"\x9b"), ("\ud800", r"\ud800")]
OBEYED += [("\U000e0041", r"\U000e0041")]


def test_ordinary_names_stay_and_what_a_terminal_would_obey_is_escaped():
    for name, shown in [*zip(ORDINARY, ORDINARY, strict=True), *OBEYED]:
        assert safe_name(f"a{name}b") == f"a{shown}b"
    assert safe_name("x" * 200) == "x" * 80 + "..."
    assert safe_name("x" * 200, longest=300) == "x" * 200


@given(st.text())
def test_nothing_unprintable_is_left(name):
    shown = safe_name(name)
    assert all(unicodedata.category(char)[0] != "C" for char in shown)
    assert "\u2028" not in shown
    shown.encode()
