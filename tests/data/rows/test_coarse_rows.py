"""Rows that are stored more coarsely than others, many and few."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mipaudit import attack, compare, estimate, records, rejudge, summarize
from mipaudit.report.messages.told import told
from mipaudit.report.walk import walk_of
from tests.fixtures.files import refused, save

FEW = np.array([True, False, True, False])


@pytest.fixture
def write(tmp_path):
    """Return a function that adds a part to a folder, whose path it returns."""

    def part(name, member, **columns):
        save(pd.DataFrame({"member": member, **columns}), tmp_path / f"{name}.parquet")
        return str(tmp_path)

    return part


def leaking(*, at, scale, rows=2000):
    """Return membership and a score whose leak float16 cannot hold."""
    rng = np.random.default_rng(4)
    member = rng.random(rows) < 0.5
    score = at + scale * (np.where(member, 11.0, 12.0) + rng.normal(0, 0.4, rows))
    return {"member": member, "score": score}


def codes(report):
    return {one.code for one in report.findings}


def rounded(report):
    return [told(one) for one in report.findings if one.code == "few_coarse_rows"]


@pytest.mark.parametrize(
    ("at", "coarse"), [(1e5, np.float16), (-1e6, np.float16), (1e300, np.float32)]
)
def test_scores_beyond_a_few_coarse_rows_are_refused(write, at, coarse):
    write("a", **leaking(at=at, scale=abs(at) / 1e4))
    folder = write("b", FEW, score=np.array([1, 2, 1, 2], coarse))
    error = refused("coarse_overflow", estimate, folder, max_advantage=0.1)
    assert "b.parquet" in error.message
    assert "'score'" in error.message
    assert str(int(abs(at)))[:6] not in error.message


@pytest.mark.parametrize(
    ("at", "scale", "coarse"), [(3e4, 1.0, np.float16), (1e9, 4.0, np.float32)]
)
def test_few_coarse_rows_bear_no_met(write, at, scale, coarse):
    folder = write("a", **leaking(at=at, scale=scale))
    assert estimate(folder, max_advantage=0.15).verdict.status == "not_met"
    write("b", FEW, score=np.full(4, at, coarse))
    report = estimate(folder, max_advantage=0.5, against="thresholds")
    again = rejudge(report, max_advantage=0.6)
    summed = estimate(summarize(folder), max_advantage=0.6)
    assert {one.verdict.status for one in (report, again, summed)} == {"inconclusive"}
    assert told(report.verdict.reasons[0]).startswith("scores were rounded")
    (said,) = rounded(report)
    assert "b.parquet" in said
    assert [one.status for one in walk_of(report).cases if one.name == "input"] == ["open"]


def test_a_leak_that_rounding_leaves_is_one_of_the_score(write):
    write("a", **leaking(at=0.0, scale=1.0))
    folder = write("b", FEW, score=np.array([11, 12, 11, 12], np.float16))
    assert estimate(folder, max_advantage=0.1).verdict.status == "not_met"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_scores_stored_more_coarsely_in_one_class_tell_nothing(tmp_path, form):
    drawn = np.random.default_rng(3).normal(size=(2, 300))
    coarse = drawn.astype(np.float32)
    members = save(pd.DataFrame({"score": coarse[0]}), tmp_path / "m.parquet")
    holdout = save(pd.DataFrame({"score": drawn[1]}), tmp_path / f"h.{form}")
    found = estimate(members=str(members), holdout=str(holdout))
    assert found.estimates == estimate(members=coarse[0], holdout=coarse[1]).estimates
    assert found.estimates[0].lower == 0


def test_only_the_column_that_is_stored_coarsely_is_rounded(write):
    member, score = leaking(at=3e4, scale=1.0).values()
    write("a", member, loss=score, nn=score)
    four = np.full(4, 3e4)
    report = estimate(write("b", FEW, loss=four.astype(np.float16), nn=four))
    (said,) = rounded(report)
    assert "'loss'" in said
    rows = [e for e in report.estimates if (e.quantity, e.attackers) == ("advantage", "any")]
    lower = {e.score: e.lower for e in rows}
    assert lower["nn"] > lower["loss"] + 0.1


@pytest.mark.parametrize("coarse", ["float16", "float32"])
@pytest.mark.parametrize("members", [100, 1000])
def test_a_class_that_is_stored_coarsely_is_no_leak_and_can_be_met(coarse, members):
    rng = np.random.default_rng(8)
    sides = rng.normal(size=members).astype(coarse), rng.normal(size=4000)
    asked = {"max_advantage": 0.6, "against": "thresholds"}
    report = estimate(members=sides[0], holdout=sides[1], **asked)
    assert report.verdict.status == "met"
    assert "scores_rounded" in codes(report)
    assert rounded(report) == []


def test_coarse_rows_that_cost_nothing_change_nothing(write):
    rng = np.random.default_rng(9)
    member = rng.random(2000) < 0.5
    folder = write("a", member, score=rng.integers(0, 100, 2000).astype(float))
    assert estimate(folder, max_advantage=0.9).verdict.status == "met"
    write("b", FEW, score=np.array([1, 2, 3, 4], np.float16))
    after = estimate(folder, max_advantage=0.9)
    assert (after.verdict.status, rounded(after)) == ("met", [])


def test_every_verdict_is_kept_from_met(write):
    rng = np.random.default_rng(10)
    member = rng.random(4000) < 0.5
    write("a", member, loss=rng.normal(size=4000), conf=rng.normal(size=4000))
    four = np.ones(4, np.float16)
    path = write("b", FEW, loss=four, conf=four)
    for report in (
        compare(path, baseline="loss", max_increase=0.9, against="thresholds"),
        records(path, score_col="loss", limits=[{"quantity": "risk", "max": 0.99}]),
        attack(path, score_col="loss", max_advantage=0.9),
    ):
        assert report.verdict.status == "inconclusive"
