"""Where a report came from: when, with what, and the values of its settings."""

from __future__ import annotations

import json
import re
import sys
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.statements.provenance import plain_value, provenance, value_words
from tests.fixtures.codes import refused

MADE = {"seed": 7, "inputs": (), "settings": ()}


def test_the_time_is_utc_to_the_second_or_that_of_the_environment(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", provenance(**MADE).created)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert provenance(**MADE).created == "1970-01-02T00:00:00Z"
    for epoch in ("soon", "1e9", "9" * 30):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        refused("source_date_epoch", provenance, **MADE)


def test_only_libraries_that_ran_are_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    libraries = provenance(**MADE).libraries
    assert libraries["numpy"] == np.__version__
    assert not {"polars", "rich"} & {*libraries}


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


ADDRESS = "https://key:secret@host/a.csv?token=1"
# A value, as JSON has it, and as people read it.
READ = [(None, None, "none"), (True, True, "true"), ("none", "none", "none"), ((), [], "")]
READ += [((0.02, 0.001), [0.02, 0.001], "0.02, 0.001"), (float("inf"), "inf", "inf")]
READ += [(("d1,d2", "loss"), ["d1,d2", "loss"], "d1,d2, loss"), ({"q": 0.5}, {"q": 0.5}, "q: 0.5")]
READ += [(np.float64(0.5), 0.5, "0.5"), ({"q": np.int64(3)}, {"q": 3}, "q: 3")]
READ += [(date(2026, 11, 23), "2026-11-23", "2026-11-23"), (ADDRESS, *["https://host/a.csv"] * 2)]


@pytest.mark.parametrize(("value", "plain", "words"), READ)
def test_a_value_is_plain_and_readable(value, plain, words):
    assert plain_value(value) == plain
    assert value_words(plain) == words
