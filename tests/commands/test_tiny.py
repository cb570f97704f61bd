"""A handful of rows: every limit is as wide as it must be, and nothing falls over."""

from __future__ import annotations

import numpy as np
import pytest

import mipaudit


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (3, 1), (5, 200), (1000, 2)])
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_a_handful_of_rows(sizes, strict):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        report = mipaudit.estimate(
            members=rng.normal(size=sizes[0]),
            holdout=rng.integers(0, 3, sizes[1]) + rng.normal(),
            seed=seed,
            strict=strict,
            max_eta=0.01,
            max_tpr_at_fpr=(0.3, 0.1),
            claimed_epsilon=1,
            method="mace",
        )
        assert mipaudit.to_json(report)
        for row in report.estimates:
            if row.validity == "not-an-interval":
                continue
            assert row.lower is None or row.upper is None or row.lower <= row.upper
            if row.quantity == "advantage" and row.attackers == "any":
                assert row.lower < 0.9
