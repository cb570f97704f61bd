from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.bisection import crossing


@given(st.floats(5e-324, 1e5), st.floats(1e-9, 1e5))
def test_the_crossing_is_found_to_the_last_bit(root, start):
    assert crossing(lambda x: x >= root, start=start, limit=1e6) == root
    just_above = math.nextafter(root, math.inf)
    assert crossing(lambda x: x > root, start=start, limit=1e6) == just_above


def test_what_always_holds_holds_from_zero():
    assert crossing(lambda _: True, start=1.0, limit=10.0) == 0


def test_what_never_holds_is_not_reached():
    assert crossing(lambda _: False, start=1.0, limit=10.0) == math.inf


@pytest.mark.parametrize(("root", "found"), [(10.0, 10.0), (10.0000001, math.inf)])
def test_the_limit_itself_is_tried(root, found):
    assert crossing(lambda x: x >= root, start=3.0, limit=10.0) == found


@pytest.mark.parametrize("root", [5e-324, 1e-200, 1e-8, 1.0, 1e13])
def test_it_is_quick(root):
    calls = []
    crossing(lambda x: calls.append(x) or x >= root, start=1.0, limit=1e13)
    assert len(calls) < 1200
    assert len(calls) < 110 or root < 1e-100
