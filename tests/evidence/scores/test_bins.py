"""Bins of about equal mass."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mipaudit.evidence.scores.evidence import bins_of


@pytest.mark.parametrize(
    ("rows", "starts"),
    [
        ([1] * 32, list(range(0, 32, 2))),
        ([1] * 10, list(range(10))),
        ([30, 1, 1], [0, 1]),
        ([0, 0, 1], [0, 2]),  # nothing lies before the first bin's only mass
        ([1], [0]),
    ],
)
def test_a_cell_is_in_the_bin_of_its_middle(rows, starts):
    counts = SimpleNamespace(trained=np.stack([np.array(rows), np.zeros(len(rows))], axis=1))
    assert bins_of(counts).tolist() == starts
