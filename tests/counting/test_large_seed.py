"""Inputs too large to keep: nobody can order their rows for a seed that is known beforehand."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.summaries.plan import burn_in_blocks
from mipaudit.summaries.rows import micro_blocks, position_bytes

ROWS = 6_000


@pytest.fixture
def large(monkeypatch):
    """Take more than 1,000 rows for too many to keep, and any file for too large to hash."""
    monkeypatch.setattr("mipaudit.summaries.plan.EXACT_ROWS", 1_000)
    monkeypatch.setattr("mipaudit.data.files.blob.HASHED_WHOLE", 0)


def one_in_ten():
    """Return rows of which one in ten members has a value that no holdout record has."""
    member = np.arange(ROWS) < ROWS // 2
    score = np.random.default_rng(0).integers(0, 6, ROWS)
    leak = np.arange(ROWS // 20)
    score[leak], score[ROWS // 2 + leak] = 6, 7
    return pd.DataFrame({"member": member, "score": score}), np.r_[leak, ROWS // 2 + leak]


def ordered_for(seed, frame, chosen):
    """Return the rows in an order that lets the chosen ones only train, with this seed."""
    most = burn_in_blocks(ROWS // 2, ROWS // 2)
    trains = micro_blocks(position_bytes(seed, 0, ROWS)) < most
    places = np.r_[np.flatnonzero(trains), np.flatnonzero(~trains)]
    order = np.empty(ROWS, dtype=int)
    order[places] = np.r_[chosen, np.setdiff1d(np.arange(ROWS), chosen)]
    return frame.iloc[order].reset_index(drop=True)


def seed_in_use(report):
    (one,) = {one.seed for one in report.provenance.seeds}
    return int(one, 16)


def codes(report):
    return {one.code for one in report.findings}


@pytest.fixture
def attacked(large, tmp_path):
    """A file in the order that hid the leak from seed 0, whatever the rows."""
    del large
    path = tmp_path / "rows.parquet"
    frame, chosen = one_in_ten()
    ordered_for(0, frame, chosen).to_parquet(path, row_group_size=1_000)
    return str(path)


@pytest.mark.parametrize("more", [{}, {"hash_inputs": True}, {"seed": "fresh"}, {"seed": 0}])
def test_an_order_for_a_public_seed_hides_nothing(attacked, more):
    report = mipaudit.estimate(attacked, max_advantage=0.05, **more)
    assert report.verdict.status == "not_met"
    risky = mipaudit.records(attacked, max_risk=0.5, **more)
    assert risky.verdict.status == "not_met"
    assert seed_in_use(report) != 0


def test_the_old_rule_is_caught(attacked, monkeypatch):
    """With the public seed 0 for positions the same file shows next to nothing."""
    monkeypatch.setattr("mipaudit.summaries.seed.SeedChoice.in_use", lambda *_: 0)
    report = mipaudit.estimate(attacked, max_advantage=0.05)
    assert report.verdict.status != "not_met"
    assert report.estimates[0].lower < 0.01


def test_without_a_digest_the_default_is_drawn_and_recorded(attacked):
    reports = [mipaudit.estimate(attacked) for _ in range(2)]
    assert {one.provenance.seed_origin for one in reports} == {"fresh"}
    assert len({one.provenance.seed for one in reports}) == 2
    assert len(set(map(seed_in_use, reports))) == 2
    assert mipaudit.verify(reports[0], input=attacked).agrees
    assert "stated_seed" not in codes(reports[0])


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("estimate", {}),
        ("check", {}),
        ("records", {}),
        ("epsilon", {"design": "independent-runs"}),
        ("epsilon", {"design": "one-run", "delta": 0.0}),
        ("epsilon", {"design": "one-model", "delta": 0.0}),
        ("attack", {}),
    ],
)
def test_every_command_says_where_the_seed_of_a_large_input_came_from(attacked, command, options):
    call = getattr(mipaudit, command)
    drawn, stated, hashed, _ = every = [
        call(attacked, **options, **more)
        for more in ({}, {"seed": 7}, {"hash_inputs": True}, {"hash_inputs": True, "seed": 7})
    ]
    origins = [one.provenance.seed_origin for one in every]
    assert origins == ["fresh", "stated", "default", "stated"]
    assert [one for one in every if "stated_seed" in codes(one)] == [stated]
    seeds = [seed_in_use(one) for one in every]
    assert len(set(seeds)) == 4
    assert 7 not in {seeds[1], seeds[3]}
    for report in (drawn, hashed):
        assert mipaudit.verify(report, input=attacked).agrees


def test_every_row_decides_where_inputs_are_hashed(attacked, tmp_path):
    """The middle of a file that is changed under the same size and ends draws anew."""
    given = {"hash_inputs": True}
    whole = pd.read_parquet(attacked)
    first = mipaudit.estimate(attacked, **given)
    assert seed_in_use(mipaudit.estimate(attacked, **given)) == seed_in_use(first)
    whole.iloc[[2_000, 2_001]] = whole.iloc[[2_001, 2_000]].to_numpy()
    whole.iloc[2_500, 1] = 9
    other = tmp_path / "other.parquet"
    whole.to_parquet(other, row_group_size=1_000)
    assert seed_in_use(mipaudit.estimate(str(other), **given)) != seed_in_use(first)


def test_a_digest_that_is_made_anyway_decides(attacked, monkeypatch):
    monkeypatch.setattr("mipaudit.data.files.blob.HASHED_WHOLE", 64 << 20)
    reports = [mipaudit.estimate(attacked) for _ in range(2)]
    assert {one.provenance.seed_origin for one in reports} == {"default"}
    one, other = (json.loads(mipaudit.to_json(report)) for report in reports)
    one["provenance"]["created"] = other["provenance"]["created"]
    assert one == other
    stated = mipaudit.estimate(attacked, seed=7)
    assert "stated_seed" not in codes(stated)


def test_how_rows_are_stored_does_not_matter(attacked, tmp_path):
    frame = pd.read_parquet(attacked)
    frame.to_parquet(tmp_path / "other.parquet", row_group_size=777)
    frame.to_csv(tmp_path / "other.csv", index=False)
    frame.iloc[:2_345].to_parquet(tmp_path / "a.parquet")
    frame.iloc[2_345:].to_parquet(tmp_path / "b.parquet")
    parts = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    swapped = frame[["score", "member"]]
    forms = (attacked, str(tmp_path / "other.parquet"), str(tmp_path / "other.csv"), parts, swapped)
    seeds = {seed_in_use(mipaudit.estimate(one, hash_inputs=True)) for one in forms}
    assert len(seeds) == 1
    assert seed_in_use(mipaudit.estimate(frame.iloc[::-1], hash_inputs=True)) not in seeds


def test_rows_in_memory_are_hashed_since_that_is_cheap(large):
    del large
    frame, chosen = one_in_ten()
    reports = [mipaudit.estimate(ordered_for(0, frame, chosen), max_advantage=0.05)] * 2
    assert {one.provenance.seed_origin for one in reports} == {"default"}
    assert len(set(map(seed_in_use, reports))) == 1
    assert reports[0].verdict.status == "not_met"


def test_rows_that_are_left_out_by_a_condition_decide_too(attacked, tmp_path):
    frame = pd.read_parquet(attacked).assign(part=np.arange(ROWS) % 3 == 0)
    path = tmp_path / "where.parquet"
    frame.to_parquet(path, row_group_size=500)
    given = {"hash_inputs": True, "score_col": ["score"]}
    whole = mipaudit.estimate(str(path), **given)
    half = mipaudit.estimate(str(path), where="part = true", **given)
    assert seed_in_use(whole) != seed_in_use(half)


def test_people_of_a_large_input_are_chosen_by_the_seed_in_use(attacked, tmp_path):
    frame = pd.read_parquet(attacked)
    frame["person"] = [f"p{at // 2}" for at in np.random.default_rng(1).permutation(ROWS)]
    path = tmp_path / "people.parquet"
    frame.to_parquet(path)
    means = {seed: mipaudit.check(str(path), unit_col="person", seed=seed) for seed in (1, 2)}
    assert seed_in_use(means[1]) != seed_in_use(means[2])
    assert mipaudit.verify(means[1], input=str(path)).agrees


def test_queries_of_large_inputs_share_one_seed(attacked, tmp_path):
    other = tmp_path / "small.parquet"
    pd.read_parquet(attacked).iloc[::7].to_parquet(other)
    drawn = [mipaudit.compare(attacked, str(other)) for _ in range(2)]
    assert len(set(map(seed_in_use, drawn))) == 2
    assert {one.provenance.seed_origin for one in drawn} == {"fresh"}
    assert "stated_seed" in codes(mipaudit.compare(attacked, str(other), seed=3))
    hashed = [mipaudit.compare(attacked, str(other), hash_inputs=True) for _ in range(2)]
    assert len(set(map(seed_in_use, hashed))) == 1


def test_wide_inputs_are_no_large_ones(monkeypatch):
    """Whether a score is kept depends on the rows alone, in every command that holds them."""
    monkeypatch.setattr("mipaudit.summaries.plan._EXACT_VALUES", 2 * ROWS)
    frame, _ = one_in_ten()
    wide = frame.assign(**{f"score_{at}": frame["score"] ** at for at in (2, 3, 4)})
    one_run = partial(mipaudit.epsilon, design="independent-runs")
    for call in (mipaudit.estimate, mipaudit.attack, one_run):
        alone, beside = (call(data).provenance for data in (frame, wide))
        assert alone.seed_origin == beside.seed_origin == "default"
        assert set(alone.seeds) <= set(beside.seeds)
