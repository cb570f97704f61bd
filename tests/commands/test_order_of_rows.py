"""The same rows give the same report: in any order, in any parts, in any form."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mipaudit

ROWS = 700


def table(law):
    """Return rows whose scores have ties within and between the classes, and groups."""
    rng = np.random.default_rng(5)
    member = rng.random(ROWS) < 0.45
    score = rng.normal(size=ROWS) + 0.7 * member
    if law == "few":
        score = rng.integers(0, 6, ROWS) + (member & (rng.random(ROWS) < 0.2))
    elif law == "ties":
        score = score.round(1)
    return pd.DataFrame(
        {
            "member": member,
            "score": score,
            "other": (rng.normal(size=ROWS) - score).round(2),
            "group": rng.choice(["a", "b", "c"], ROWS),
            "person": [f"p{at // 2}" for at in rng.permutation(ROWS)],
            "key": [f"k{at}" for at in rng.permutation(ROWS)],
            "attribute": rng.choice(["x", "y"], ROWS),
            "guess": rng.choice(["x", "y"], ROWS),
        }
    )


BASE = ("member", "score")
# Of each command: what it is asked, and the columns that it is given.
ASKED = {
    "records": ({"max_risk": 0.6, "min_cell": 5}, BASE),
    "records by group": ({"by": ("group",), "min_cell": 5}, (*BASE, "group")),
    "epsilon runs": ({"design": "independent-runs", "delta": 0.01}, BASE),
    "epsilon gdp": (
        {"design": "independent-runs", "method": "gdp", "assume_gdp": True, "delta": 0.01},
        BASE,
    ),
    # Counting is all that rows touch: a share that is stated makes quick limits of the counts.
    "epsilon one run": ({"design": "one-run", "delta": 0.0, "inclusion_rate": 0.45}, BASE),
    "epsilon one model": ({"design": "one-model", "delta": 0.0}, BASE),
    "attack": ({"loss_bound": 9.0, "max_advantage": 0.3}, (*BASE, "other")),
    "attack by class": ({"by": ("group",), "min_cell": 3}, (*BASE, "group")),
    "attribute": ({}, ("member", "attribute", "guess")),
    "attribute of persons": ({"unit_col": "person"}, ("member", "attribute", "guess", "person")),
    "compare": ({"max_increase": 0.2, "baseline": "other"}, (*BASE, "other")),
    "compare keyed": (
        {"key_col": "key", "score_col": ["score", "other"]},
        (*BASE, "other", "key"),
    ),
}


def run(name, data, **more):
    command = getattr(mipaudit, name.split()[0])
    options, _ = ASKED[name]
    if not isinstance(data, tuple):
        data = (data,)
    return command(*data, **{**options, **more}, jobs=1)


def without_origin(report):
    found = json.loads(mipaudit.to_json(report))
    origin = found.pop("provenance")
    return found, origin["seeds"]


def columns_of(name, whole):
    return whole[list(ASKED[name][1])]


def in_another_form(frame, tmp_path, law):
    """Yield the same rows, shuffled, cut up and, for one law, written in every way."""
    rng = np.random.default_rng(8)
    shuffled = frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)
    yield "shuffled", shuffled
    yield "sorted", frame.sort_values(list(frame.columns)).reset_index(drop=True)
    if law == "few":
        return
    shuffled.to_csv(tmp_path / "rows.csv", index=False)
    yield "csv", str(tmp_path / "rows.csv")
    parts = tmp_path / "parts"
    parts.mkdir()
    for at, piece in enumerate(np.array_split(np.arange(len(frame)), 4)):
        shuffled.iloc[piece].to_parquet(parts / f"{9 - at}.parquet", row_group_size=37)
    yield "parts", str(parts)
    shuffled.assign(extra_id=rng.permutation(len(frame))).to_parquet(tmp_path / "ids.parquet")
    yield "ids", str(tmp_path / "ids.parquet")


@pytest.mark.parametrize("law", ["plain", "ties", "few"])
@pytest.mark.parametrize("name", ASKED)
def test_the_same_rows_give_the_same_report(name, law, tmp_path):
    frame = columns_of(name, table(law))
    expected, seeds = without_origin(run(name, frame))
    for form, given in in_another_form(frame, tmp_path, law):
        found, other = without_origin(run(name, given))
        for one in (expected, found):
            one["design"].pop("skipped_columns", None)  # an id that nobody asked for
        assert found == expected, form
        assert other == seeds, form


@pytest.mark.parametrize("name", ASKED)
def test_a_stated_and_a_fresh_seed_are_repeated_by_verify(name, tmp_path):
    frame = columns_of(name, table("ties"))
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    for seed in (None, 3, "fresh"):
        report = run(name, str(path), seed=seed)
        origin = {None: "default", 3: "stated", "fresh": "fresh"}[seed]
        assert report.provenance.seed_origin == origin
        again = mipaudit.verify(report, input=str(path), jobs=1)
        assert again.agrees, (name, seed, [one for one in again.parts if one.status == "differs"])
        # A fresh number, stated later, gives the same report.
        if seed == "fresh":
            stated = run(name, str(path), seed=report.provenance.seed)
            assert without_origin(stated) == without_origin(report)


@pytest.mark.parametrize("name", ["records", "epsilon one model", "attack", "compare"])
def test_another_seed_is_another_draw_and_no_number_is_used_bare(name):
    frame = columns_of(name, table("plain"))
    reports = [run(name, frame, seed=seed) for seed in (None, 0, 1)]
    seeds = [without_origin(one)[1] for one in reports]
    used = {one["seed"] for some in seeds for one in some}
    assert len(used) == sum(map(len, seeds))
    assert not used & {f"{number:016x}" for number in range(2)}
    said = [without_origin(one)[0] for one in reports]
    assert len({json.dumps(one.get("answer") or one["summary"]) for one in said}) > 1


def test_no_seed_moves_the_epsilon_of_many_runs():
    frame = columns_of("epsilon runs", table("plain"))
    reports = [run("epsilon runs", frame, seed=seed) for seed in (None, 0, "fresh")]
    assert len({tuple(limit.lower for limit in one.statements) for one in reports}) == 1


def test_a_column_beside_it_changes_nothing_of_a_score():
    whole = table("ties")
    alone = run("attack", whole[["member", "score"]])
    beside = run("attack", whole[["member", "score", "other"]])
    seeds = [{one.score: one.seed for one in report.provenance.seeds} for report in (alone, beside)]
    assert seeds[0]["score"] == seeds[1]["score"] != seeds[1]["other"]
    first, second = (
        [one.value for one in report.attacks if one.score == "score"] for report in (alone, beside)
    )
    assert first == second


def test_groups_beside_a_score_change_no_record_s_risk():
    frame = table("ties")[["member", "score", "group"]]
    alone = mipaudit.record_table(frame, min_cell=5)
    beside = mipaudit.record_table(frame, min_cell=5, by=("group",))
    assert alone.table.equals(beside.table)


def test_a_record_s_risk_follows_its_score_wherever_its_row_stands():
    """Rows are written in the file's order; equal records have equal risks."""
    frame = table("ties")[["member", "score"]]
    order = np.random.default_rng(3).permutation(ROWS)
    written = [
        mipaudit.record_table(one, min_cell=5).table.to_pandas()
        for one in (frame, frame.iloc[order].reset_index(drop=True))
    ]
    assert list(written[0]["row"]) == list(written[1]["row"]) == list(range(ROWS))
    rest = [one.drop(columns="row") for one in written]
    pd.testing.assert_frame_equal(rest[0].iloc[order].reset_index(drop=True), rest[1])


def test_inputs_may_be_named_in_any_order():
    """One seed comes from all inputs, joined by key, whichever is named first."""
    whole = table("plain")
    first = whole[["member", "score", "key"]]
    second = whole[["member", "other", "key"]].rename(columns={"other": "score"})
    for keyed in ({"key_col": "key"}, {}):
        seeds = {
            report.provenance.seeds
            for report in (
                mipaudit.compare(first, second, score_col=["score"], **keyed),
                mipaudit.compare(second, first, score_col=["score"], **keyed),
            )
        }
        assert len(seeds) == 1


def test_a_person_is_stood_for_by_the_same_record_in_the_report_and_in_the_file():
    frame = table("plain")[["member", "score", "person"]]
    made = mipaudit.record_table(frame, unit_col="person", min_cell=5)
    rows = frame.iloc[made.table["row"].to_numpy()]
    assert not rows.duplicated(["person", "member"]).any()
    assert len(rows) == made.report.design.n_members + made.report.design.n_holdout
    order = np.random.default_rng(4).permutation(ROWS)
    other = mipaudit.record_table(
        frame.iloc[order].reset_index(drop=True), unit_col="person", min_cell=5
    )
    assert without_origin(made.report) == without_origin(other.report)
    chosen = frame.iloc[order].iloc[other.table["row"].to_numpy()]
    assert sorted(map(tuple, rows.to_numpy())) == sorted(map(tuple, chosen.to_numpy()))
