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
from tests.fixtures.codes import codes
from tests.fixtures.files import save

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


@pytest.fixture
def attacked(large, tmp_path):
    """A file in the order that hid the leak from seed 0, whatever the rows."""
    del large
    rows = ordered_for(0, *one_in_ten())
    return str(save(rows, tmp_path / "rows.parquet", row_group_size=1_000))


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
        *((command, {}) for command in ("estimate", "check", "records", "attack")),
        ("epsilon", {"design": "independent-runs"}),
        *(("epsilon", {"design": one, "delta": 0.0}) for one in ("one-run", "one-model")),
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
    other = str(save(whole, tmp_path / "other.parquet", row_group_size=1_000))
    assert seed_in_use(mipaudit.estimate(other, **given)) != seed_in_use(first)


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
    other = str(save(frame, tmp_path / "other.parquet", row_group_size=777))
    text = str(save(frame, tmp_path / "other.csv"))
    halves = {"a": frame.iloc[:2_345], "b": frame.iloc[2_345:]}
    parts = [str(save(half, tmp_path / f"{name}.parquet")) for name, half in halves.items()]
    forms = (attacked, other, text, parts, frame[["score", "member"]])
    seeds = {seed_in_use(mipaudit.estimate(one, hash_inputs=True)) for one in forms}
    assert len(seeds) == 1
    assert seed_in_use(mipaudit.estimate(frame.iloc[::-1], hash_inputs=True)) not in seeds


def test_rows_in_memory_are_hashed_since_that_is_cheap(large):
    del large
    report = mipaudit.estimate(ordered_for(0, *one_in_ten()), max_advantage=0.05)
    assert (report.provenance.seed_origin, report.verdict.status) == ("default", "not_met")


def test_rows_that_are_left_out_by_a_condition_decide_too(attacked, tmp_path):
    frame = pd.read_parquet(attacked).assign(part=np.arange(ROWS) % 3 == 0)
    path = str(save(frame, tmp_path / "where.parquet", row_group_size=500))
    given = {"hash_inputs": True, "score_col": ["score"]}
    whole, part = (mipaudit.estimate(path, where=one, **given) for one in (None, "part = true"))
    assert seed_in_use(whole) != seed_in_use(part)


def test_people_of_a_large_input_are_chosen_by_the_seed_in_use(attacked, tmp_path):
    people = [f"p{at // 2}" for at in np.random.default_rng(1).permutation(ROWS)]
    path = str(save(pd.read_parquet(attacked).assign(person=people), tmp_path / "p.parquet"))
    one, other = (mipaudit.check(path, unit_col="person", seed=seed) for seed in (1, 2))
    assert seed_in_use(one) != seed_in_use(other)
    assert mipaudit.verify(one, input=path).agrees


def test_queries_of_large_inputs_share_one_seed(attacked, tmp_path):
    other = str(save(pd.read_parquet(attacked).iloc[::7], tmp_path / "small.parquet"))
    drawn = [mipaudit.compare(attacked, other) for _ in range(2)]
    assert len(set(map(seed_in_use, drawn))) == 2
    assert {one.provenance.seed_origin for one in drawn} == {"fresh"}
    assert "stated_seed" in codes(mipaudit.compare(attacked, other, seed=3))
    hashed = [mipaudit.compare(attacked, other, hash_inputs=True) for _ in range(2)]
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
