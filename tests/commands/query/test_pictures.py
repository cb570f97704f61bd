"""The pictures of queries: where members and holdout records stand, without any distance."""

import re

import numpy as np
import pandas as pd

import mipaudit


def tables(rng, rows):
    return pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})


def test_copied_members_stand_near():
    rng = np.random.default_rng(1)
    members, holdout = tables(rng, 200), tables(rng, 200)
    released = members.iloc[:100] + 1e-3
    report = mipaudit.query(["nn", "mc"], members=members, holdout=holdout, synthetic=released)

    assert [one.score for one in report.curves] == ["nn", "mc"]
    assert all(one.members + one.holdout >= 10 for each in report.curves for one in each.bins)
    assert sum(one.members for one in report.curves[0].bins) == 200
    assert report.curves[0].bins[0].members > 3 * report.curves[0].bins[0].holdout
    assert "near to far" in report.plot().alt


def test_a_score_that_is_one_for_all_has_no_picture():
    rng = np.random.default_rng(2)
    members, holdout = tables(rng, 40), tables(rng, 40)
    report = mipaudit.query(
        ["mc:1e-9"], members=members, holdout=holdout, synthetic=tables(rng, 40)
    )

    assert len(report.curves[0].bins) == 1
    assert not re.search("<svg", mipaudit.render_report(report, format="html"))
