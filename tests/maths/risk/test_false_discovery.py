from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.risk.false_discovery import discoveries, error_for_selected

# Benjamini and Hochberg 1995, section 3: fifteen p-values, four rejected at 0.05.
PUBLISHED = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def twin(values, rate):
    """Reject one by one from the largest down."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    kept = 0
    for rank, i in enumerate(order, 1):
        if values[i] <= rank * rate / len(values):
            kept = rank
    cut = values[order[kept - 1]] if kept else -1
    return [value <= cut for value in values]


def test_published_example():
    assert discoveries(np.array(PUBLISHED), 0.05).tolist() == [True] * 4 + [False] * 11


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.5))
def test_slow_twin(values, rate):
    assert discoveries(np.array(values), rate).tolist() == twin(values, rate)


def test_nothing_to_test():
    assert discoveries(np.zeros(0), 0.05).size == 0


def test_selected_intervals_share_the_error():
    assert error_for_selected(0.05, 4, 20) == pytest.approx(0.01)
    assert error_for_selected(0.05, 20, 20) == pytest.approx(0.05)
    assert error_for_selected(0.05, 0, 20) == pytest.approx(0.0025)
