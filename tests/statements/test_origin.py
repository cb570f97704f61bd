"""The value of a setting as text, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.statements.origin import setting_text, setting_value

NAMES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["none", "true", "a, b", "d1,d2", ",", ", ", " x", "x,", '"q"', "[1]", "{}"]),
)
FLOATS = st.floats(allow_nan=False)
KINDS = {
    "str | None": st.none() | NAMES,
    "bool": st.booleans(),
    "int": st.integers(),
    "float": FLOATS,
    "float | None": st.none() | FLOATS,
    "tuple[float, float] | None": st.none() | st.tuples(FLOATS, FLOATS),
    "int | tuple[int, int] | None": st.none()
    | st.integers()
    | st.tuples(st.integers(), st.integers()),
    "Sequence[str]": st.lists(NAMES, max_size=4).map(tuple),
    "str | Sequence[str]": st.lists(NAMES, max_size=4).map(tuple),
    "Sequence[float]": st.lists(FLOATS, max_size=4).map(tuple),
    "Sequence[int]": st.lists(st.integers(), max_size=4).map(tuple),
    "Mapping[str, float] | None": st.none() | st.dictionaries(NAMES, FLOATS),
    "Sequence[Mapping[str, Any]]": st.lists(
        st.dictionaries(NAMES, st.one_of(st.none(), FLOATS, NAMES)), max_size=3
    ).map(tuple),
    "Sequence[tuple[str, Mapping[str, float]]]": st.lists(
        st.tuples(NAMES, st.dictionaries(NAMES, FLOATS)), max_size=3
    ).map(tuple),
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nothing_is_lost_on_the_way(kind):
    @given(KINDS[kind])
    def holds(value):
        assert setting_value(setting_text(value), kind) == value

    holds()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        ("none", '"none"'),
        (("a", "b"), "a, b"),
        (("d1,d2", "loss"), "d1,d2, loss"),
        (("a, b",), '["a, b"]'),
        ((), ""),
        ("", '""'),
        (0.001, "0.001"),
        (float("inf"), "inf"),
        ({"q": 0.5}, '{"q": 0.5}'),
        (np.float64(0.5), "0.5"),
        ({"q": np.int64(3)}, '{"q": 3}'),
    ],
)
def test_it_stays_readable(value, text):
    assert setting_text(value) == text


@pytest.mark.parametrize(
    ("text", "kind"), [("maybe", "bool"), ("1, x", "Sequence[float]"), ('"', "str")]
)
def test_what_is_no_such_value_is_refused(text, kind):
    with pytest.raises(ValueError):  # noqa: PT011 - the reader adds the words
        setting_value(text, kind)
