"""Filters, missing scores and what stands for them, one row per person: what is kept, and said."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit import attack, compare, estimate, records, rejudge, summarize
from mipaudit.data.rows.intake import Spread
from mipaudit.data.words import parse_where
from mipaudit.report.messages.told import told
from mipaudit.report.walk import walk_of
from tests.fixtures.codes import codes, refused
from tests.fixtures.files import opened, save

GAPS = "member,score,loss\n1,1.5,1\n0,,2\n1,-inf,3\n0,0.5,nan\n1,NA,4\n0,2.5,5\n"
LOWEST = float(np.finfo(np.float64).min)


def test_missing_scores_dropped(read, write):
    everything = read(write(GAPS), nan="drop", score_columns=("score", "loss"))
    assert everything.positions == [0, 2, 5]
    assert everything.scores == [[1.5, -math.inf, 2.5], [1.0, 3.0, 5.0]]
    assert everything.findings == ["nan_dropped"]
    with opened(str(write(GAPS)), nan="drop") as source:
        for _ in range(2):
            assert list(source.partitions().rows())
        (finding,) = source.findings()
        # Counted once, also after two passes.
        assert "1 member and 2 holdout records" in told(finding)


def test_missing_scores_as_a_category_below_all_others(read, fails, write):
    everything = read(write(GAPS), nan="category")
    assert everything.positions == [0, 1, 2, 3, 4, 5]
    assert everything.scores[0] == [1.5, -math.inf, LOWEST, 0.5, -math.inf, 2.5]
    assert everything.findings == ["nan_category"]
    # Two scores never become one beside a missing one.
    both = write(f"member,score\n1,\n0,{LOWEST!r}\n1,-inf\n0,0.5\n")
    assert "1 row, first in data row 2" in fails("lowest_scores", both, nan="category").message
    assert read(both, nan="drop").scores[0][:2] == [LOWEST, -math.inf]
    alone = read(write(f"member,score\n1,\n0,{LOWEST!r}\n1,1.5\n0,0.5\n"), nan="category")
    assert alone.scores[0][:2] == [-math.inf, LOWEST]


def test_a_missing_score_is_not_counted_as_infinite(write):
    rows = ["member,score,x"]
    rows += [f"{i % 2},{['', '-inf', 'inf', 'inf', i, i, i, i][i % 8]},{i}" for i in range(400)]
    path = str(write("\n".join(rows) + "\n"))
    reports = [
        *(mipaudit.estimate(path, score_col=[one], nan="category") for one in ("score", "score,x")),
        mipaudit.check(path, nan="category"),
    ]
    for report in reports:
        (said,) = (told(one) for one in report.findings if one.code == "infinite_scores")
        assert "150 " in said


def test_only_rows_that_are_read_count_as_missing(read, fails, write):
    text = "member,g,score\n1,a,1.5\n0,b,\n0,a,2.5\n1,b,3.5\n"
    assert read(write(text), where="g = a").positions == [0, 2]
    assert "in 1 row" in fails("nan_scores", write(text), where="g = b").message


@pytest.mark.parametrize(
    ("where", "positions"),
    [
        *((f"g {sign} a", [0, 2]) for sign in ("=", "==")),
        *(("g=a", [0, 2]), ("g = 'b c'", [1, 3]), ('g = "b c"', [1, 3]), ("n = 1", [0, 1])),
        *(("n = 1.0", [0, 1]), ("x = 0.5", [0, 2]), ("ok = true", [0, 1])),
        *(("ok = FALSE", [2, 3]), ("ok = 0", [2, 3])),
    ],
)
def test_where(read, write, where, positions):
    text = (
        "member,g,n,x,ok,score\n"
        "1,a,1,0.5,true,1.5\n0,b c,1,1.5,true,2.5\n0,a,2,0.5,false,3.5\n1,b c,2,1.5,false,4.5\n"
    )
    everything = read(write(text), where=where)
    assert everything.positions == positions
    assert everything.scores[-1] == [position + 1.5 for position in positions]


def test_where_that_fits_nothing(read, fails, write):
    path = write("member,group,score\n1,3,1.5\n0,3,2.5\n")
    fails("no_rows", path, where="group = 4")
    fails("bad_where", path, where="group = secretive")
    assert "group" in fails("unknown_column", path, where="groop = 3").hint
    fails("empty_class", path, where="score = 1.5", score_columns=("score",))
    everything = read(write("member,x,score\n1,0.5,1.5\n0,0.5,2.5\n"), where="x = 0.5")
    assert everything.names == ["score"]
    assert everything.skipped["x"].code == "role"
    for text in ("", "group", "= 3", "group =", "group = "):
        assert "the form" in refused("bad_where", parse_where, text).message


def people(rows=300, persons=40, seed=2):
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(persons)), int(rng.integers(2)), at + 0.5) for at in range(rows)]


def people_csv(rows):
    return "person,member,score\n" + "".join(f"{p},{m},{s}\n" for p, m, s in rows)


def test_one_row_per_person(read, write):
    rows = people()
    everything = read(write(people_csv(rows)), unit_column="person")
    kept = [rows[position] for position in everything.positions]
    assert sorted(person for person, _, _ in kept) == sorted({person for person, _, _ in rows})
    assert everything.member == [m == 1 for _, m, _ in kept]
    assert everything.scores == [[s for _, _, s in kept]]
    keys = {}
    for (person, _, _), key in zip(kept, everything.keys, strict=True):
        assert keys.setdefault(person, key) == key
    assert len(set(keys.values())) == len(keys)
    assert everything.findings == ["units_in_both_classes", "unit_rows_dropped"]
    assert "score" in everything.names
    assert everything.skipped["person"].code == "role"


def test_choice_of_row_follows_the_seed_and_not_the_score(read, write):
    rows = [(person, person % 2, score) for person, _, score in people()]
    path = write(people_csv(rows))
    first = read(path, unit_column="person", seed=1).positions
    assert read(path, unit_column="person", seed=1).positions == first
    assert read(path, unit_column="person", seed=2).positions != first
    reverse = write(people_csv([(p, m, -s) for p, m, s in rows]), "reverse.csv")
    assert read(reverse, unit_column="person", seed=1).positions == first


def test_choice_of_row_is_fair(write):
    path = str(write("person,member,score\n" + "1,1,0.5\n1,1,1.5\n1,1,2.5\n2,0,1.5\n"))
    counts = np.zeros(3)
    for seed in range(600):
        with opened(path, unit_column="person") as source:
            source.number_rows(seed)
            (place, *_) = [at for rows in source.partitions().rows() for at in rows.kept]
            counts[place] += 1
    # Five standard deviations of a fair draw.
    assert np.abs(counts - 200).max() < 5 * math.sqrt(600 * 2 / 9)


def test_person_whose_row_is_dropped_gets_another(read, write):
    text = "person,member,score\n1,1,\n1,1,0.5\n2,0,1.5\n2,0,NaN\n"
    for seed in range(5):
        everything = read(write(text), unit_column="person", nan="drop", seed=seed)
        assert everything.positions == [1, 2]


def test_missing_person_or_key(fails, write):
    path = write("person,member,score\n1,1,0.5\n,0,1.5\n,0,2.5\n")
    for option in ("unit_column", "key_column"):
        error = fails("missing_key", path, **{option: "person"})
        assert "2 rows, first in data row 2" in error.message
    fails("two_keys", path, unit_column="person", key_column="member")
    fails("unknown_column", path, unit_column="persn")


@pytest.mark.parametrize(("gone", "status"), [((300, 275), "met"), ((90, 0), "inconclusive")])
@pytest.mark.parametrize("members_lack", [True, False])
def test_rows_left_out_of_one_class_alone_meet_nothing(gone, status, members_lack):
    score = np.random.default_rng(8).random(2000)
    first, second = gone if members_lack else gone[::-1]
    score[:first] = score[1000 : 1000 + second] = np.nan
    table = pd.DataFrame({"member": np.arange(2000) < 1000, "score": score})
    for nan, tells in (("drop", status != "met"), ("category", False)):
        report = mipaudit.estimate(table, nan=nan, max_advantage=0.9)
        assert ("missing_tells" in {one.code for one in report.findings}) == tells
        assert report.verdict.status == status or nan == "category"


# --- numbers that stand for missing scores


def said(changes, values=None, ask=mipaudit.check, **options):
    """Return what is said of sentinels among drawn scores, some of them changed."""
    values = np.random.default_rng(1).normal(size=600) if values is None else values.copy()
    values[list(changes)] = list(changes.values())
    table = pd.DataFrame({"member": np.arange(600) % 2 == 0, "score": values})
    report = ask(table, **options)
    return [told(one) for one in report.findings if one.code == "sentinel_values"]


@pytest.mark.parametrize("value", [-999, -99, 9999, 999999, -9999.0])
@pytest.mark.parametrize("ask", [mipaudit.check, mipaudit.estimate])
def test_a_sentinel_is_told(value, ask):
    (text,) = said(dict.fromkeys((3, 8, 20), value), ask=ask)
    assert f"is {int(value)} in 3 rows" in text


def test_two_sentinels_are_told_apart_and_missing_scores_hide_none():
    nines = dict.fromkeys((3, 8, 20), -999)
    assert len(said(nines | dict.fromkeys((9, 11, 13), -9999))) == 2
    for ask, nan in ((mipaudit.check, "drop"), (mipaudit.estimate, "category")):
        assert len(said(nines | {4: np.nan, 5: np.nan}, ask=ask, nan=nan)) == 1


@pytest.mark.parametrize(
    ("changes", "values"),
    [
        *(({}, None), ({3: -999}, None), ({3: -612.0, 8: -612.0}, None)),
        ({3: 9999, 8: 9999}, 5000 * np.random.default_rng(1).normal(size=600)),
        (dict.fromkeys((3, 8, 20), -999), np.arange(600.0) % 7),
        (dict.fromkeys(range(9), np.inf) | {9: -999, 11: -999}, None),
        ({}, np.resize([-99.0, 999.0], 600)),
    ],
    ids=["none", "alone", "unlike", "near", "discrete", "endless", "only"],
)
def test_other_scores_are_no_sentinels(changes, values):
    assert said(changes, values) == []


def test_the_order_of_the_rows_and_how_they_are_cut_change_nothing():
    rng = np.random.default_rng(5)
    for _ in range(200):
        values = rng.choice([-999.0, -99, 99, 1, 2, 3.5, 150, -1200], size=12)
        whole, parts = Spread(), Spread()
        whole.add(values)
        for piece in np.split(rng.permutation(values), sorted(rng.integers(0, 12, 3))):
            one = Spread()
            one.add(piece)
            parts.include(one)
        assert parts.far == whole.far


# --- rows that are stored more coarsely than others, many and few

FEW = np.array([True, False, True, False])


@pytest.fixture
def put(tmp_path):
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


def rounded(report):
    return [told(one) for one in report.findings if one.code == "few_coarse_rows"]


@pytest.mark.parametrize(
    ("at", "coarse"), [(1e5, np.float16), (-1e6, np.float16), (1e300, np.float32)]
)
def test_scores_beyond_a_few_coarse_rows_are_refused(put, at, coarse):
    put("a", **leaking(at=at, scale=abs(at) / 1e4))
    folder = put("b", FEW, score=np.array([1, 2, 1, 2], coarse))
    error = refused("coarse_overflow", estimate, folder, max_advantage=0.1)
    assert "b.parquet" in error.message
    assert "'score'" in error.message
    assert str(int(abs(at)))[:6] not in error.message


@pytest.mark.parametrize(
    ("at", "scale", "coarse"), [(3e4, 1.0, np.float16), (1e9, 4.0, np.float32)]
)
def test_few_coarse_rows_bear_no_met(put, at, scale, coarse):
    folder = put("a", **leaking(at=at, scale=scale))
    assert estimate(folder, max_advantage=0.15).verdict.status == "not_met"
    put("b", FEW, score=np.full(4, at, coarse))
    report = estimate(folder, max_advantage=0.5, against="thresholds")
    again = rejudge(report, max_advantage=0.6)
    summed = estimate(summarize(folder), max_advantage=0.6)
    assert {one.verdict.status for one in (report, again, summed)} == {"inconclusive"}
    assert told(report.verdict.reasons[0]).startswith("scores were rounded")
    (said,) = rounded(report)
    assert "b.parquet" in said
    assert [one.status for one in walk_of(report).cases if one.name == "input"] == ["open"]


def test_a_leak_that_rounding_leaves_is_one_of_the_score(put):
    put("a", **leaking(at=0.0, scale=1.0))
    folder = put("b", FEW, score=np.array([11, 12, 11, 12], np.float16))
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


def test_only_the_column_that_is_stored_coarsely_is_rounded(put):
    member, score = leaking(at=3e4, scale=1.0).values()
    put("a", member, loss=score, nn=score)
    four = np.full(4, 3e4)
    report = estimate(put("b", FEW, loss=four.astype(np.float16), nn=four))
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


def test_coarse_rows_that_cost_nothing_change_nothing(put):
    rng = np.random.default_rng(9)
    member = rng.random(2000) < 0.5
    folder = put("a", member, score=rng.integers(0, 100, 2000).astype(float))
    assert estimate(folder, max_advantage=0.9).verdict.status == "met"
    put("b", FEW, score=np.array([1, 2, 3, 4], np.float16))
    after = estimate(folder, max_advantage=0.9)
    assert (after.verdict.status, rounded(after)) == ("met", [])


def test_every_verdict_is_kept_from_met(put):
    rng = np.random.default_rng(10)
    member = rng.random(4000) < 0.5
    put("a", member, loss=rng.normal(size=4000), conf=rng.normal(size=4000))
    four = np.ones(4, np.float16)
    path = put("b", FEW, loss=four, conf=four)
    for report in (
        compare(path, baseline="loss", max_increase=0.9, against="thresholds"),
        records(path, score_col="loss", limits=[{"quantity": "risk", "max": 0.99}]),
        attack(path, score_col="loss", max_advantage=0.9),
    ):
        assert report.verdict.status == "inconclusive"
