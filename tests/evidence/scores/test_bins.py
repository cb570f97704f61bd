"""Bins of about equal mass."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.evidence.scores.evidence import equal_mass_starts


@pytest.mark.parametrize(
    ("mass", "count", "starts"),
    [
        ([0.25] * 4, 2, [0, 2]),
        ([0.1] * 10, 16, list(range(10))),
        ([0.7, 0.1, 0.1, 0.1], 2, [0, 1]),
        ([0.0, 0.0, 1.0], 4, [0, 2]),  # nothing lies before the first bin's only mass
        ([1.0], 16, [0]),
    ],
)
def test_a_cell_is_in_the_bin_of_its_middle(mass, count, starts):
    assert equal_mass_starts(np.array(mass), count).tolist() == starts
