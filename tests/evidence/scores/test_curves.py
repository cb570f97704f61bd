"""What a score's figures are read off."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.evidence.scores.curves import score_curves


@pytest.mark.parametrize("records", [*range(10, 60), 199, 200, 201, 1000])
def test_bins_are_about_equal_and_never_small(evidence_from, records):
    rng = np.random.default_rng(records)
    members = rng.normal(size=records // 2)
    found = score_curves(evidence_from(members, rng.normal(size=records - records // 2)), 0.025)
    sizes = [one.members + one.holdout for one in found.bins]
    assert sum(one.members for one in found.bins) == members.size
    assert sum(sizes) == records
    # Distinct scores: as many bins of a twentieth, or of ten, as there is room for.
    least = max(10, records // 20)
    assert set(sizes[:-1]) <= {least, least + 1}
    assert least <= sizes[-1] < least + 10


def test_equal_scores_are_in_one_bin(evidence_from):
    members, holdout = np.repeat([1.0, 2.0], [13, 30]), np.repeat([1.0, 3.0], [2, 40])
    found = score_curves(evidence_from(members, holdout), 0.025)
    assert [(one.members, one.holdout) for one in found.bins] == [(13, 2), (30, 0), (0, 40)]
