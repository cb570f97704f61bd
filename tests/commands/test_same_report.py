"""The same scores give the same report: any order, parts, format, storage and ids beside them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.messages.told import told
from tests.fixtures.codes import refused


def body(report):
    """Return all that a report says but for its provenance, byte by byte."""
    fields = json.loads(mipaudit.to_json(report))
    del fields["provenance"]
    return json.dumps(fields)


def taken(frame, settings):
    """Return the frame without persons where none is asked for: repeated ids are refused."""
    return frame if "unit_col" in settings else frame.drop(columns="person", errors="ignore")


def seeds(report):
    return {one.score: one.seed for one in report.provenance.seeds}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(11)
    n = 900
    member = rng.random(n) < 0.45
    person = rng.integers(0, 250, n)
    return pd.DataFrame(
        {
            "member": np.where(person % 2 == 0, 1, 0),
            "score": np.round(rng.normal(0.4 * (person % 2 == 0), 1), 1),
            "smooth": rng.normal(0.3 * member, 1).astype(np.float32).astype(np.float64),
            "gaps": np.where(rng.random(n) < 0.05, np.nan, np.round(rng.normal(size=n), 2)),
            "tag": rng.choice(["low", "middle", "high"], n),
            "x": rng.normal(0.2 * (person % 2 == 0), 1, n),
            "y": np.round(rng.normal(size=n), 1),
            "person": [f"P{one}" for one in person],
            "row_id": rng.permutation(n),
        }
    )


KINDS = {
    "ties": {"score_col": ("score",)},
    "several": {"score_col": ("score", "smooth"), "max_advantage": 0.4},
    "strict": {"score_col": ("score",), "strict": True, "seed": 5},
    "labels": {"score_col": ("tag",)},
    "missing": {"score_col": ("gaps", "score"), "nan": "category"},
    "dropped": {"score_col": ("gaps", "score"), "nan": "drop"},
    "vector": {"score_col": ("x,y",)},
    "vector and label": {"score_col": ("x,y", "tag"), "method": "mace"},
    "kernels": {"score_col": ("smooth",), "method": "kde"},
    "keys": {"score_col": ("score", "tag"), "key_col": "row_id"},
    "units": {"score_col": ("score", "x,y"), "unit_col": "person"},
    "units and labels": {"score_col": ("tag",), "unit_col": "person"},
    "means of units": {"score_col": ("score",), "unit_col": "person", "unit_rows": "mean"},
    "filtered": {"score_col": ("smooth",), "where": "tag = low"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_any_order_parts_and_format(frame, tmp_path, kind):
    settings = KINDS[kind]
    frame = taken(frame, settings)
    wanted = body(mipaudit.estimate(frame, **settings))
    rng = np.random.default_rng(1)
    shuffled = frame.sample(frac=1, random_state=2)  # its index goes along, as a column
    parts = tmp_path / "parts"
    parts.mkdir()
    cut = rng.permutation(len(frame))
    for number, rows in enumerate(np.array_split(cut, 5)):
        frame.iloc[rows].to_parquet(parts / f"{number}.parquet", row_group_size=50, index=False)
    shuffled.to_csv(tmp_path / "scores.csv", index=False)
    others = [
        shuffled,
        parts,
        tmp_path / "scores.csv",
        frame.iloc[::-1].assign(extra_id=range(900)),
    ]
    for other in others:
        assert body(mipaudit.estimate(other, **settings)) == wanted


@pytest.mark.parametrize("kind", ["ties", "several"])
def test_storage_and_arrays(frame, kind):
    names = list(KINDS[kind]["score_col"])
    kept = frame[["member", *names]].copy()
    kept[names] = kept[names].astype(np.float32).astype(np.float64)
    wanted = mipaudit.estimate(kept, **KINDS[kind])
    narrow = kept.astype(dict.fromkeys(names, np.float32))
    assert body(mipaudit.estimate(narrow, **KINDS[kind])) == body(wanted)
    sides = [kept.loc[kept.member == side, names].to_numpy() for side in (1, 0)]
    arrays = mipaudit.estimate(members=sides[0][::-1], holdout=sides[1])
    assert sorted(seeds(arrays).values()) == sorted(seeds(wanted).values())


@pytest.mark.parametrize("kind", ["ties", "missing", "units", "vector"])
def test_check_says_the_same(frame, kind):
    settings = {k: v for k, v in KINDS[kind].items() if k not in {"strict", "max_advantage"}}
    frame = taken(frame, settings)
    wanted = body(mipaudit.check(frame, **settings))
    assert body(mipaudit.check(frame.sample(frac=1, random_state=3), **settings)) == wanted


def test_a_column_beside_a_score_changes_none_of_its_numbers(frame):
    """Else a column of junk were a free new draw for all others."""
    frame = taken(frame, {})
    alone = mipaudit.estimate(frame, score_col=("score",), confidence=0.975)
    junk = frame.assign(junk=np.random.default_rng(5).normal(size=len(frame)))
    beside = mipaudit.estimate(junk, score_col=("junk", "score"), confidence=0.95)

    def numbers(report):
        return [
            (e.quantity, e.attackers, e.value, e.plugin, e.lower, e.upper)
            for e in report.estimates
            if e.score == "score"
        ]

    # Two columns share the error of 5%: each has what one alone has at 97.5%.
    assert seeds(beside)["score"] == seeds(alone)["score"]
    assert numbers(beside) == numbers(alone)


def test_an_increasing_map_of_the_scores_keeps_the_seed(frame):
    frame = taken(frame, {})
    before = mipaudit.estimate(frame, score_col=("score",))
    after = mipaudit.estimate(frame.assign(score=np.exp(frame.score)), score_col=("score",))
    assert list(seeds(before).values()) == list(seeds(after).values())
    assert [e.lower for e in before.estimates] == [e.lower for e in after.estimates]


def test_two_rows_that_change_places_are_another_file(frame):
    frame = taken(frame, {})
    other = frame.copy()
    at = [int(np.flatnonzero(frame.member == side)[0]) for side in (1, 0)]
    other.loc[at, "smooth"] = frame.loc[at[::-1], "smooth"].to_numpy()
    found = [mipaudit.estimate(one, score_col=("smooth",)) for one in (frame, other)]
    assert seeds(found[0]) != seeds(found[1])


def test_another_name_of_one_person_is_another_draw(frame):
    other = frame.assign(person=frame.person.replace("P7", "P700"))
    settings = {"score_col": ("score",), "unit_col": "person"}
    found = [mipaudit.estimate(one, **settings) for one in (frame, other)]
    assert seeds(found[0]) != seeds(found[1])


def test_a_fresh_seed_is_drawn_for_each_run_and_recorded(frame):
    frame = taken(frame, {})
    settings = {"score_col": ("score",)}
    first, second = (mipaudit.estimate(frame, seed="fresh", **settings) for _ in range(2))
    assert first.provenance.seed_origin == "fresh"
    assert first.provenance.seed != second.provenance.seed
    again = mipaudit.estimate(frame, seed=first.provenance.seed, **settings)
    assert body(again) == body(first)
    assert again.provenance.seed_origin == "stated"


def test_strict_takes_a_fresh_seed_and_only_then_says_proved(frame):
    frame = taken(frame, {})
    settings = {"score_col": ("score",), "strict": True}
    fresh, stated = (
        mipaudit.estimate(frame, **settings),
        mipaudit.estimate(frame, seed=0, **settings),
    )
    assert fresh.provenance.seed_origin == "fresh"
    assert any(
        "proved for a seed that is drawn at random" in told(one) for one in fresh.limitations
    )
    assert stated.provenance.seed_origin == "stated"
    said = " ".join(told(one).replace("are not proved at every", "") for one in stated.limitations)
    assert "proved" not in said


def test_what_is_no_seed(frame):
    for seed in (-1, 1.5, "FRESH", "", True, b"1", [1]):
        for run in (mipaudit.estimate, mipaudit.check):
            refused("seed", run, frame, score_col=("score",), seed=seed)


def test_many_columns_are_kept_in_several_passes(frame, monkeypatch):
    """How a score is counted depends on the number of rows, and on no other column."""
    settings = {"score_col": ("score", "smooth", "x", "tag"), "method": "mace"}
    rows = taken(frame, settings)
    wanted = mipaudit.estimate(rows, **settings)
    monkeypatch.setattr("mipaudit.summaries.plan._EXACT_VALUES", 2 * len(frame))
    for other in (rows, rows.sample(frac=1, random_state=8)):
        found = mipaudit.estimate(other, **settings)
        assert body(found) == body(wanted)
        assert seeds(found) == seeds(wanted)
    units = {"score_col": ("score", "smooth", "tag"), "unit_col": "person"}
    found = mipaudit.estimate(frame, **units)
    monkeypatch.undo()
    assert body(found) == body(mipaudit.estimate(frame, **units))


COMMANDS = {
    "records": (mipaudit.records, {"score_col": ["score"], "by": ["site"]}),
    "attack": (mipaudit.attack, {"by": ["site"]}),
    "compare": (mipaudit.compare, {}),
    "epsilon": (mipaudit.epsilon, {"design": "one-model"}),
    "check": (mipaudit.check, {}),
    "estimate": (mipaudit.estimate, {}),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_columns_in_any_order_and_those_that_nobody_asked_for(command):
    run, settings = COMMANDS[command]
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "member": np.arange(160) % 2,
            "site": rng.choice(["", "north", "7"], 160),
            "score": rng.normal(size=160),
            "conf": rng.normal(size=160).round(1),
        }
    )
    if command == "records":
        table = table.drop(columns="conf")
    wanted = body(run(table, **settings))
    beside = table.assign(person=range(160), note="a")
    assert body(run(beside, **settings)) == wanted
    if command == "estimate":
        assert body(run(beside[beside.columns[::-1]], **settings)) == wanted


def test_an_id_is_the_same_person_as_text_as_number_and_in_a_part_with_letters(tmp_path):
    rng = np.random.default_rng(4)
    ids = [*range(-3, 57)] * 2
    table = pd.DataFrame({"member": 1, "score": rng.normal(size=120), "who": ids})
    table["member"] = (table["who"] % 2).astype(int)
    settings = {"unit_col": "who", "unit_rows": "mean", "score_col": ["score"]}
    wanted = body(mipaudit.estimate(table, **settings))
    text = table.assign(who=table["who"].astype(str))
    assert body(mipaudit.estimate(text, **settings)) == wanted
    lettered = pd.concat(
        [text, pd.DataFrame({"member": [0, 1], "score": [0.1, 0.2], "who": ["a", "007"]})]
    )
    table[:60].to_parquet(tmp_path / "1.parquet", index=False)
    lettered[60:].to_parquet(tmp_path / "2.parquet", index=False)
    assert body(mipaudit.estimate(tmp_path, **settings)) == body(
        mipaudit.estimate(lettered, **settings)
    )
    assert mipaudit.estimate(lettered, **settings).design.n_members == 31


def test_an_empty_cell_is_the_same_in_a_file_without_types(tmp_path):
    rng = np.random.default_rng(4)
    guesses = rng.choice(["", "x", "y"], 200)
    table = pd.DataFrame(
        {"member": np.arange(200) % 2, "attribute": rng.choice(["x", "y"], 200), "guess": guesses}
    )
    table.to_csv(tmp_path / "guesses.csv", index=False)
    assert body(mipaudit.attribute(table)) == body(mipaudit.attribute(tmp_path / "guesses.csv"))
