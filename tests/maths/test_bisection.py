from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.bisection import crossing, reach


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


@given(st.lists(st.floats(0, 10), min_size=1, max_size=4), st.floats(0, 0.9), st.floats(0.01, 0.1))
def test_no_gap_is_stepped_over_however_narrow(gaps, slack, tolerance):
    def holds(low, high):  # sure only of pieces that end well before a gap
        return not any(low <= gap <= high + slack * (high - low) for gap in gaps)

    found = reach(holds, limit=8.0, tolerance=tolerance)
    first = min([8.0, *gaps])
    assert found <= first
    assert first - found <= 4 * tolerance
    assert found == first == 8.0 or found < 8.0


def test_all_of_it_is_reached_where_nothing_stands_in_the_way():
    assert reach(lambda _low, _high: True, limit=3.0, tolerance=0.1) == 3.0
    assert reach(lambda _low, _high: False, limit=3.0, tolerance=0.1) == 0
    assert reach(lambda _low, _high: True, limit=0.0, tolerance=0.1) == 0
