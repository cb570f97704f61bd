"""The same records give the same comparison: in any order, in any parts, in any form."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.evidence.derived_scores import vector_burn_in_blocks
from mipaudit.summaries.rows import micro_blocks, position_bytes
from tests.fixtures.codes import findings, refused

ROWS = 120


def table(seed, rows=ROWS, *, more=0.0):
    """Return records of every kind, with ties, missing cells, copies, zeros of both signs."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=rows).round(1) + more
    score[rng.random(rows) < 0.1] = np.nan
    day = pd.Timestamp("2024-02-01") + pd.to_timedelta(rng.integers(0, 40, rows), unit="D")
    frame = pd.DataFrame(
        {
            "score": score,
            "count": rng.integers(0, 9, rows),
            "ward": rng.choice(["a", "b", "", "long stay"], rows),
            "day": day.strftime("%Y-%m-%d"),
            "person": [f"p{at // 2}" for at in rng.permutation(rows)],
        }
    )
    frame.loc[5:9] = frame.loc[0:4].to_numpy()
    frame["ward"] = frame["ward"].replace("", None)
    return frame


def found(report):
    kept = json.loads(mipaudit.to_json(report))
    origin = kept.pop("provenance")
    return kept, origin["seeds"]


def shuffled(frame, seed):
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def run(members, holdout, **more):
    return mipaudit.shift(members, holdout, jobs=1, **{"ignore": ["person"], **more})


PERSONS = {"id_col": "person", "ignore": []}


@pytest.mark.parametrize("more", [{}, {"strict": True, "seed": 3}, PERSONS, {"columns": ["ward"]}])
def test_no_order_part_or_format_changes_a_number(tmp_path, more):
    more = {**more, **({"ignore": []} if "columns" in more else {})}
    members, holdout = table(1, more=0.8), table(2)
    first = found(run(members, holdout, **more))
    for seed in (1, 2):
        again = shuffled(members, seed), shuffled(holdout, seed + 9)
        assert found(run(*again, **more)) == first
    by_score = [one.sort_values(["score", "ward"], ascending=False) for one in (members, holdout)]
    members, holdout = (one.reset_index(drop=True) for one in by_score)
    for side, frame in (("m", members), ("h", holdout)):
        (tmp_path / side).mkdir()
        frame[50:].to_csv(tmp_path / side / "a.csv", index=False)
        frame[:50].to_csv(tmp_path / side / "b.csv", index=False)
        frame.to_parquet(tmp_path / f"{side}.parquet", row_group_size=17)
    paths = str(tmp_path / "m"), str(tmp_path / "h")
    assert found(run(*paths, **more)) == first
    assert found(run(f"{paths[0]}.parquet", f"{paths[1]}.parquet", **more)) == first


def test_values_of_features_and_what_is_stated_change_the_seed_and_nothing_else_does():
    members, holdout = table(1, more=0.8), table(2)
    first = found(run(members, holdout))
    named = [
        frame.assign(person=[f"{side}-{at}" for at in range(ROWS)])
        for side, frame in enumerate((members, holdout))
    ]
    assert found(run(*named)) == first
    used = {run(members, holdout, seed=seed).provenance.seeds for seed in (None, 0, 1)}
    members.loc[7, "score"] += 1e-12
    assert len(used | {run(members, holdout).provenance.seeds}) == 4


def test_the_seed_is_recorded_and_a_fresh_one_is_verified():
    members, holdout = table(1), table(2)
    plain, fresh = run(members, holdout), run(members, holdout, seed="fresh")
    strict = run(members, holdout, strict=True)
    origins = [one.provenance.seed_origin for one in (plain, fresh, strict)]
    assert origins == ["default", "fresh", "fresh"]
    assert fresh.provenance.seed != run(members, holdout, seed="fresh").provenance.seed
    for report in (plain, fresh):
        again = mipaudit.verify(report, members=shuffled(members, 4), holdout=shuffled(holdout, 5))
        assert again.verified
    stated = run(members, holdout, seed=fresh.provenance.seed)
    assert found(stated) == found(fresh)


LEAK = 1_000


def hidden(seed):
    """Return tables in an order that lets those who give themselves away only train.

    One in five has a value of its class alone; the order is right for positions and this seed.
    """
    trains = micro_blocks(position_bytes(seed, 0, 2 * LEAK)) < vector_burn_in_blocks(LEAK, LEAK)
    rng = np.random.default_rng(3)
    tables = []
    for side, places in enumerate((trains[:LEAK], trains[LEAK:])):
        values = rng.integers(0, 6, LEAK)
        values[np.flatnonzero(places)[: LEAK // 5]] = 6 + side
        tables.append(pd.DataFrame({"value": values}))
    return tables


def test_no_order_hides_who_gives_themselves_away():
    for more in ({}, {"seed": 0}):
        assert mipaudit.shift(*hidden(0), **more).estimates[0].lower > 0.02


@pytest.mark.parametrize("stated", [None, 0])
def test_of_large_tables_no_public_seed_is_used(monkeypatch, tmp_path, stated):
    monkeypatch.setattr("mipaudit.summaries.plan.EXACT_ROWS", 500)
    monkeypatch.setattr("mipaudit.data.files.blob.HASHED_WHOLE", 0)
    paths = [str(tmp_path / name) for name in ("m.parquet", "h.parquet")]
    for frame, path in zip(hidden(0), paths, strict=True):
        frame.to_parquet(path)
    report = mipaudit.shift(*paths, seed=stated)
    assert report.estimates[0].lower > 0.02
    said = "stated_seed" in findings(report)
    assert (report.provenance.seed_origin, said) == (
        ("fresh", False) if stated is None else ("stated", True)
    )
    hashed = mipaudit.shift(*paths, seed=stated, hash_inputs=True)
    assert hashed.provenance.seed_origin == ("default" if stated is None else "stated")
    assert found(hashed) == found(mipaudit.shift(*paths, seed=stated, hash_inputs=True))
    assert found(hashed) == found(mipaudit.shift(*map(pd.read_parquet, paths), seed=stated))


def test_the_old_rule_is_caught(monkeypatch):
    """With rows told apart by position and the public seed 0, the same order hides them."""
    monkeypatch.setattr("mipaudit.summaries.plan.EXACT_ROWS", 500)
    monkeypatch.setattr("mipaudit.summaries.seed.SeedChoice.in_use", lambda *_: 0)
    assert mipaudit.shift(*hidden(0)).estimates[0].lower < 0.01


def test_a_columns_kind_does_not_follow_from_the_order(tmp_path):
    """Counters, names of records, and days with one cell that is none, the last by far."""
    rows, tables = 3 * ROWS, []
    for side in range(2):
        days = ["2024-05-31"] * (rows - 1) + ["unknown"]
        names = [f"{side}-{at}" for at in range(rows)]
        often = [*names[:-1], names[0]]
        one = {"a": table(side, rows)["count"], "number": range(rows), "when": days}
        tables.append(pd.DataFrame({**one, "name": names, "often": often}))
    first = found(mipaudit.shift(*tables, jobs=1))
    assert {one["column"] for one in first[0]["design"]["features"]} == {"a", "when", "often"}
    again = [shuffled(one, 6) for one in tables]
    assert found(mipaudit.shift(*again, jobs=1)) == first
    for side, frame in zip("mh", again, strict=True):
        frame.to_parquet(tmp_path / f"{side}.parquet", row_group_size=40)
    paths = [str(tmp_path / f"{side}.parquet") for side in "mh"]
    assert found(mipaudit.shift(*paths, jobs=1)) == first


def test_a_missing_person_is_refused():
    members = table(1)
    members.loc[3, "person"] = None
    refused("missing_id", mipaudit.shift, members, table(2), id_col="person")
