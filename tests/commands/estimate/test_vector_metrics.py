"""Metrics other than the advantage, of scores of several numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.evidence import derived_scores as candidates
from mipaudit.validation.laws import VECTOR_LAWS


@pytest.mark.parametrize("metric", ["accuracy", "am", "ppv", "fbeta:1"])
def test_a_metric_of_a_vector_has_its_classes(metric, monkeypatch):
    monkeypatch.setattr(candidates, "fit_boosting", lambda *_, **__: None)
    drawn = VECTOR_LAWS["plane-gauss-1"].sample(np.random.default_rng(0), 2000, 2000)
    frame = pd.DataFrame(np.concatenate(drawn), columns=["a", "b"])
    frame["member"] = np.arange(4000) < 2000
    report = mipaudit.estimate(frame, score_col=["a,b"], metric=[metric])
    rows = {e.attackers: e for e in report.estimates if e.quantity == "metric"}
    assert set(rows) == {"any", "learned", "product-grid"}
    assert rows["any"].upper is None
    assert rows["any"].lower > 0.5
    for attackers in ("learned", "product-grid"):
        upper = rows[attackers].upper
        assert upper is None if rows[attackers].upper_reason else upper > rows["any"].lower
    # No fitting row is behind a limit.
    assert rows["learned"].n_members < 2000
    assert rows["learned"].n_members == rows["product-grid"].n_members
