"""Filters, missing scores, one row per person: what is kept, and that it is said."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest
from mipaudit.data.words import parse_where
from mipaudit.errors import UsageError
from mipaudit.report.messages.told import told

GAPS = "member,score,loss\n1,1.5,1\n0,,2\n1,-inf,3\n0,0.5,nan\n1,NA,4\n0,2.5,5\n"


def test_missing_scores_dropped(read, write):
    everything = read(write(GAPS), nan="drop", score_columns=("score", "loss"))
    assert everything.positions == [0, 2, 5]
    assert everything.scores == [[1.5, -math.inf, 2.5], [1.0, 3.0, 5.0]]
    assert everything.findings == ["nan_dropped"]
    with open_input(str(write(GAPS)), None, None, ReadRequest(nan="drop")) as source:
        for _ in range(2):
            assert list(source.partitions().rows())
        (finding,) = source.findings()
        # Counted once, also after two passes.
        assert "1 members and 2 holdout records" in told(finding)


def test_missing_scores_as_a_category_below_all_others(read, write):
    everything = read(write(GAPS), nan="category")
    score = everything.scores[0]
    assert everything.positions == [0, 1, 2, 3, 4, 5]
    assert score[1] == score[4] == -math.inf
    assert score[2] == np.finfo(np.float64).min
    assert (score[0], score[3], score[5]) == (1.5, 0.5, 2.5)
    assert everything.findings == ["nan_category"]


def test_two_scores_never_become_one_beside_a_missing_one(read, fails, write):
    lowest = repr(float(np.finfo(np.float64).min))
    both = write(f"member,score\n1,\n0,{lowest}\n1,-inf\n0,0.5\n")
    assert "1 row, first in data row 2" in fails("lowest_scores", both, nan="category").message
    assert read(both, nan="drop").scores[0][:2] == [float(lowest), -math.inf]
    alone = read(write(f"member,score\n1,\n0,{lowest}\n1,1.5\n0,0.5\n"), nan="category")
    assert alone.scores[0][:2] == [-math.inf, float(lowest)]


def test_a_missing_score_is_not_counted_as_infinite(write):
    rows = ["member,score,x"]
    rows += [f"{i % 2},{['', '-inf', 'inf', 'inf', i, i, i, i][i % 8]},{i}" for i in range(800)]
    path = str(write("\n".join(rows) + "\n"))
    for columns in (["score"], ["score,x"]):
        report = mipaudit.estimate(path, score_col=columns, nan="category")
        texts = {finding.code: told(finding) for finding in report.findings}
        assert "300 " in texts["infinite_scores"]
    texts = {f.code: told(f) for f in mipaudit.check(path, nan="category").findings}
    assert "300 " in texts["infinite_scores"]


def test_only_rows_that_are_read_count_as_missing(read, fails, write):
    text = "member,g,score\n1,a,1.5\n0,b,\n0,a,2.5\n1,b,3.5\n"
    assert read(write(text), where="g = a").positions == [0, 2]
    assert "in 1 row" in fails("nan_scores", write(text), where="g = b").message


@pytest.mark.parametrize(
    ("where", "positions"),
    [
        ("g = a", [0, 2]),
        ("g=a", [0, 2]),
        ("g == a", [0, 2]),
        ("g = 'b c'", [1, 3]),
        ('g = "b c"', [1, 3]),
        ("n = 1", [0, 1]),
        ("n = 1.0", [0, 1]),
        ("x = 0.5", [0, 2]),
        ("ok = true", [0, 1]),
        ("ok = FALSE", [2, 3]),
        ("ok = 0", [2, 3]),
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


@pytest.mark.parametrize("text", ["", "group", "= 3", "group =", "group = "])
def test_where_that_cannot_be_read(text):
    with pytest.raises(UsageError, match="expected"):
        parse_where(text)


def people(rows=300, persons=40, seed=2):
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(persons)), int(rng.integers(2)), at + 0.5) for at in range(rows)]


def people_of_one_class(rows=300, persons=40):
    return [(person, person % 2, score) for person, _, score in people(rows, persons)]


def people_csv(rows):
    return "person,member,score\n" + "".join(f"{p},{m},{s}\n" for p, m, s in rows)


def test_one_row_per_person(read, write):
    rows = people()
    everything = read(write(people_csv(rows)), unit_column="person")
    kept = [rows[position] for position in everything.positions]
    pairs = [(person, member) for person, member, _ in kept]
    assert sorted(person for person, _ in pairs) == sorted({person for person, _, _ in rows})
    assert everything.member == [m == 1 for _, m, _ in kept]
    assert everything.scores == [[s for _, _, s in kept]]
    keys = {}
    for (person, _), key in zip(pairs, everything.keys, strict=True):
        assert keys.setdefault(person, key) == key
    assert len(set(keys.values())) == len(keys)
    assert everything.findings == ["units_in_both_classes", "unit_rows_dropped"]
    assert "score" in everything.names
    assert everything.skipped["person"].code == "role"


def test_choice_of_row_follows_the_seed_and_not_the_score(read, write):
    rows = people_of_one_class()
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
        with open_input(path, None, None, ReadRequest(unit_column="person")) as source:
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
    rng = np.random.default_rng(8)
    score = rng.random(2000)
    first, second = gone if members_lack else gone[::-1]
    score[:first] = score[1000 : 1000 + second] = np.nan
    table = pd.DataFrame({"member": np.arange(2000) < 1000, "score": score})
    report = mipaudit.estimate(table, nan="drop", max_advantage=0.9)
    assert report.verdict.status == status
    assert ("missing_tells" in {one.code for one in report.findings}) == (status != "met")
    if status != "met":
        leak = mipaudit.estimate(table, nan="category", max_advantage=0.9)
        assert "missing_tells" not in {one.code for one in leak.findings}
