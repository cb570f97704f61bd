"""What was taken for what, in a screenful."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.fixtures.briefs import answer, shown


@pytest.mark.parametrize("scores", [1, 8, 60])
def test_every_column_has_a_line_while_there_is_room(scores):
    random = np.random.default_rng(8)
    columns = {f"a_score_with_a_long_name_{at}": random.normal(size=200) for at in range(scores)}
    frame = pd.DataFrame({"split": np.arange(200) % 2, "id": np.arange(200), **columns})
    report = mipaudit.check(frame, member_col="split", score_col=tuple(columns))
    text = shown(report)
    assert answer(report).startswith("The input can be audited. It holds 100 members")
    assert "told by 'split'" in answer(report)
    lines = [line for line in text.splitlines() if " continuous " in line]
    assert len({line.split()[0] for line in lines}) == len(lines) >= min(scores, 15)
    if scores == 60:
        assert "more: --full" in text
    else:
        assert "Not used: id." in text


def test_a_class_with_few_records_is_a_warning():
    few = mipaudit.check(members=np.arange(9.0), holdout=np.arange(0.5, 30))
    assert "! There are only 9 members" in shown(few)
