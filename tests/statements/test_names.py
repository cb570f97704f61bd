"""Names from the data, made safe to print."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.statements.printable_names import safe_name


@pytest.mark.parametrize("name", ["score", "conf max", "größe", "分数", "a-b.c/d"])
def test_ordinary_names_stay(name):
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\x1b[2J", r"a\x1b[2J"),
        ("a\nb", r"a\x0ab"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u2028b", r"a\u2028b"),
        ("a\u200bb", r"a\u200bb"),
        ("a\x9bb", r"a\x9bb"),
        ("a\ud800b", r"a\ud800b"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(name, shown):
    assert safe_name(name) == shown


def test_long_names_are_cut():
    assert safe_name("x" * 200) == "x" * 80 + "..."
    assert safe_name("x" * 200, longest=300) == "x" * 200


@given(st.text())
def test_nothing_unprintable_is_left(name):
    shown = safe_name(name)
    assert all(unicodedata.category(char)[0] != "C" for char in shown)
    assert "\u2028" not in shown
    shown.encode()
