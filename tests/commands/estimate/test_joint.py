"""--joint: one error for all rows of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.report.forms import report_text
from mipaudit.report.messages.told import told

RNG = np.random.default_rng(4)
MEMBERS, HOLDOUT = RNG.normal(0.6, 1, 400), RNG.normal(0, 1, 400)


def rows(report):
    return {(e.quantity, e.attackers, e.fpr, e.metric): e for e in report.estimates}


def test_every_limit_has_its_share_of_one_error():
    alone = rows(mipaudit.estimate(members=MEMBERS, holdout=HOLDOUT, confidence=1 - 0.05 / 9))
    report = mipaudit.estimate(members=MEMBERS, holdout=HOLDOUT, joint=True)
    joint = rows(report)
    # Any attacker, four classes, the AUC and three TPRs.
    assert joint.keys() == alone.keys()
    for key, row in joint.items():
        assert row.lower == pytest.approx(alone[key].lower, abs=1e-9)
        assert row.upper == pytest.approx(alone[key].upper, abs=1e-9)
        assert row.confidence == 0.95
    assert report.design.joint
    assert any("holds for all rows together" in told(one) for one in report.limitations)
    assert not any("are not joint" in told(one) for one in report.limitations)


def test_scores_and_metrics_share_it_too():
    two = np.c_[MEMBERS, MEMBERS**2], np.c_[HOLDOUT, HOLDOUT**2]
    given = {"members": two[0], "holdout": two[1], "metric": "ppv"}
    joint = mipaudit.estimate(**given, joint=True)
    plain = mipaudit.estimate(**given, confidence=1 - 0.05 / 14)
    assert [e.lower for e in joint.estimates] == pytest.approx([e.lower for e in plain.estimates])


def test_labels_have_one_row():
    frame = {"member": [True, False] * 150, "score": (["a"] * 9 + ["b"] * 6) * 20}
    given = [
        mipaudit.estimate(pd.DataFrame(frame), score_col=["score"], joint=joint)
        for joint in (False, True)
    ]
    assert given[0].estimates[0].upper == given[1].estimates[0].upper


def test_the_words_and_the_verdict():
    report = mipaudit.estimate(members=MEMBERS, holdout=HOLDOUT, joint=True, max_advantage=0.1)
    plain = mipaudit.estimate(members=MEMBERS, holdout=HOLDOUT, max_advantage=0.1)
    assert report.policy == plain.policy
    shown, other = (" ".join(report_text(one, width=200).split()) for one in (report, plain))
    assert "All limits together hold with 95% confidence." in shown
    assert "different rows are not joint" in other
    assert "not joint" not in shown
    (setting,) = (one for one in report.provenance.settings if one.name == "joint")
    assert setting.value is True


def test_other_methods_cannot_share_it():
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(members=MEMBERS, holdout=HOLDOUT, joint=True, method="kde")
    assert caught.value.code == "joint"
