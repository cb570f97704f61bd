"""The value of a setting, as JSON has it and as people read it."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.statements.provenance import plain_value, value_words

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=9,
)


@given(VALUES)
def test_json_has_every_value_and_gives_it_back(value):
    plain = plain_value(value)

    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain_value(plain) == plain
    assert isinstance(value_words(plain), str)


@pytest.mark.parametrize(
    ("value", "plain", "words"),
    [
        (None, None, "none"),
        (True, True, "true"),
        ("none", "none", "none"),
        ((0.02, 0.001), [0.02, 0.001], "0.02, 0.001"),
        (("d1,d2", "loss"), ["d1,d2", "loss"], "d1,d2, loss"),
        ((), [], ""),
        (float("inf"), "inf", "inf"),
        ({"q": 0.5}, {"q": 0.5}, "q: 0.5"),
        (np.float64(0.5), 0.5, "0.5"),
        ({"q": np.int64(3)}, {"q": 3}, "q: 3"),
        (date(2026, 11, 23), "2026-11-23", "2026-11-23"),
        ("https://key:secret@host/a.csv?token=1", "https://host/a.csv", "https://host/a.csv"),
    ],
)
def test_a_value_is_plain_and_readable(value, plain, words):
    assert plain_value(value) == plain
    assert value_words(plain) == words
