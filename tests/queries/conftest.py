"""Random records, and figures by the slow obvious way."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.queries.points import Points

SHAPES = [(3, (2, 5, 40)), (0, (3, 4, 5)), (4, ()), (1, (100,))]


def points(rng, n, p, levels, *, digits=2):
    """Heavy-tailed numbers with ties, and codes."""
    numbers = np.round(rng.standard_t(2, size=(n, p)), digits) + 0.0
    codes = [rng.integers(0, count, n) for count in levels]
    none = np.zeros((n, 0), dtype=np.int32)
    return Points(
        numbers=numbers, codes=np.stack(codes, axis=1).astype(np.int32) if codes else none
    )


def slow_distance(metric, columns, left, i, right, j):
    """One pair, in plain Python."""
    apart = [abs(a - b) for a, b in zip(left.numbers[i], right.numbers[j], strict=True)]
    mismatches = sum(a != b for a, b in zip(left.codes[i], right.codes[j], strict=True))
    if metric == "euclidean":
        return (sum(a * a for a in apart) + 2 * mismatches) ** 0.5
    return (sum(apart) + mismatches) / columns


@pytest.fixture
def make():
    return points


@pytest.fixture
def slow():
    return slow_distance


@pytest.fixture(params=SHAPES, ids=str)
def shape(request):
    return request.param
