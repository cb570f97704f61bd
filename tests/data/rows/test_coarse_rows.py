"""Rows that are stored more coarsely than others, many and few."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.commands.attack.run import attack
from mipaudit.commands.compare.run import compare
from mipaudit.commands.estimate.run import estimate
from mipaudit.commands.records.run import records
from mipaudit.commands.render.run import rejudge
from mipaudit.commands.summarize.run import summarize
from mipaudit.errors import InputError
from mipaudit.report.messages.told import told
from mipaudit.report.walk import walk_of
from tests.fixtures.files import save


def write(path, member, **columns):
    pq.write_table(pa.table({"member": member, **columns}), path)


def leaking(rows: int, *, at: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return membership and a score whose leak float16 cannot hold."""
    rng = np.random.default_rng(4)
    member = rng.random(rows) < 0.5
    return member, at + scale * (np.where(member, 11.0, 12.0) + rng.normal(0, 0.4, rows))


FEW = np.array([True, False, True, False])


@pytest.mark.parametrize(
    ("at", "coarse"), [(1e5, np.float16), (-1e6, np.float16), (1e300, np.float32)]
)
def test_scores_beyond_a_few_coarse_rows_are_refused(tmp_path, at, coarse):
    member, score = leaking(2000, at=at, scale=abs(at) / 1e4)
    write(tmp_path / "a.parquet", member, score=score)
    write(tmp_path / "b.parquet", FEW, score=np.array([1, 2, 1, 2], coarse))
    with pytest.raises(InputError) as caught:
        estimate(str(tmp_path), max_advantage=0.1)
    assert caught.value.code == "coarse_overflow"
    assert "b.parquet" in caught.value.message
    assert "'score'" in caught.value.message
    assert str(int(abs(at)))[:6] not in caught.value.message


@pytest.mark.parametrize(
    ("at", "scale", "coarse"), [(3e4, 1.0, np.float16), (1e9, 4.0, np.float32)]
)
def test_few_coarse_rows_bear_no_met(tmp_path, at, scale, coarse):
    member, score = leaking(2000, at=at, scale=scale)
    write(tmp_path / "a.parquet", member, score=score)
    assert estimate(str(tmp_path), max_advantage=0.15).verdict.status == "not_met"
    write(tmp_path / "b.parquet", FEW, score=np.array([at, at, at, at], coarse))
    report = estimate(str(tmp_path), max_advantage=0.5, against="thresholds")
    assert report.verdict.status == "inconclusive"
    assert told(report.verdict.reasons[0]).startswith("scores were rounded")
    (finding,) = (one for one in report.findings if one.code == "few_coarse_rows")
    assert "b.parquet" in told(finding)
    assert rejudge(report, max_advantage=0.6).verdict.status == "inconclusive"
    whole = estimate(summarize(str(tmp_path)), max_advantage=0.6)
    assert whole.verdict.status == "inconclusive"
    cases = walk_of(report).cases
    assert [one.status for one in cases if one.name == "input"] == ["open"]


def test_a_leak_that_rounding_leaves_is_one_of_the_score(tmp_path):
    member, score = leaking(2000, at=0.0, scale=1.0)
    write(tmp_path / "a.parquet", member, score=score)
    write(tmp_path / "b.parquet", FEW, score=np.array([11, 12, 11, 12], np.float16))
    assert estimate(str(tmp_path), max_advantage=0.1).verdict.status == "not_met"


@pytest.mark.parametrize("text", [False, True])
def test_scores_stored_more_coarsely_in_one_class_tell_nothing(tmp_path, text):
    drawn = np.random.default_rng(3).normal(size=(2, 300))
    coarse = drawn.astype(np.float32)
    pd.DataFrame({"score": coarse[0]}).to_parquet(tmp_path / "m.parquet")
    holdout = tmp_path / ("h.csv" if text else "h.parquet")
    save(pd.DataFrame({"score": drawn[1]}), holdout)
    found = estimate(members=str(tmp_path / "m.parquet"), holdout=str(holdout))
    alike = estimate(members=coarse[0], holdout=coarse[1])

    assert found.estimates == alike.estimates
    assert found.estimates[0].lower == 0


def test_only_the_column_that_is_stored_coarsely_is_rounded(tmp_path):
    member, score = leaking(2000, at=3e4, scale=1.0)
    write(tmp_path / "a.parquet", member, loss=score, nn=score)
    four = np.full(4, 3e4)
    write(tmp_path / "b.parquet", FEW, loss=four.astype(np.float16), nn=four)
    report = estimate(str(tmp_path))
    rounded = [told(one) for one in report.findings if one.code == "few_coarse_rows"]
    assert len(rounded) == 1
    assert "'loss'" in rounded[0]
    rows = [e for e in report.estimates if e.quantity == "advantage"]
    lower = {e.score: e.lower for e in rows if e.attackers == "any"}
    assert lower["nn"] > lower["loss"] + 0.1


@pytest.mark.parametrize("coarse", ["float16", "float32"])
@pytest.mark.parametrize("members", [100, 1000])
def test_a_class_that_is_stored_coarsely_is_no_leak_and_can_be_met(coarse, members):
    rng = np.random.default_rng(8)
    report = estimate(
        members=rng.normal(size=members).astype(coarse),
        holdout=rng.normal(size=4000),
        max_advantage=0.6,
        against="thresholds",
    )
    assert report.verdict.status == "met"
    codes = {one.code for one in report.findings}
    assert "scores_rounded" in codes
    assert "few_coarse_rows" not in codes


def test_coarse_rows_that_cost_nothing_change_nothing(tmp_path):
    rng = np.random.default_rng(9)
    member = rng.random(2000) < 0.5
    write(tmp_path / "a.parquet", member, score=rng.integers(0, 100, 2000).astype(float))
    before = estimate(str(tmp_path), max_advantage=0.9)
    write(tmp_path / "b.parquet", FEW, score=np.array([1, 2, 3, 4], np.float16))
    after = estimate(str(tmp_path), max_advantage=0.9)
    assert before.verdict.status == after.verdict.status == "met"
    assert "few_coarse_rows" not in {one.code for one in after.findings}


def test_every_verdict_is_kept_from_met(tmp_path):
    rng = np.random.default_rng(10)
    member = rng.random(4000) < 0.5
    columns = {"loss": rng.normal(size=4000), "conf": rng.normal(size=4000)}
    write(tmp_path / "a.parquet", member, **columns)
    four = np.ones(4, np.float16)
    write(tmp_path / "b.parquet", FEW, loss=four, conf=four)
    path = str(tmp_path)
    compared = compare(path, baseline="loss", max_increase=0.9, against="thresholds")
    one = {"score_col": ["loss"]}
    risky = records(path, **one, limits=[{"quantity": "risk", "max": 0.99}])
    attacked = attack(path, **one, max_advantage=0.9)
    for report in (compared, risky, attacked):
        assert report.verdict.status == "inconclusive"
