"""Features of two tables: numbers, words, times as days; what is paired, left out, and refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mipaudit
from mipaudit.commands.shift.report import differing
from mipaudit.data.column import column_scores, is_day, moment_of, word_days
from mipaudit.data.formats.cells import column_of
from mipaudit.data.tables.features import open_features
from tests.fixtures.codes import refused

START = datetime(1970, 1, 1)  # noqa: DTZ001 - as stored without a zone
NOON = START + timedelta(days=19_874, hours=12)
NOON_DAY = 19_874.5
TYPES = [
    *((kind, NOON.date(), NOON_DAY - 0.5, "day") for kind in (pa.date32(), pa.date64())),
    *((pa.timestamp(unit), NOON, NOON_DAY, "day") for unit in ("s", "ms", "us", "ns")),
    (pa.timestamp("us", "Asia/Tokyo"), NOON.replace(tzinfo=UTC), NOON_DAY, "zoned"),
    *((kind, time(6), 0.25, "time") for kind in (pa.time32("s"), pa.time64("ns"))),
    *((pa.duration(unit), timedelta(hours=-36), -1.5, "duration") for unit in ("ms", "ns")),
]
CELL = "sarah-connor"


def days_of(array):
    return column_scores(column_of(array))


@pytest.mark.parametrize(("kind", "value", "days", "moment"), TYPES, ids=str)
def test_every_type_of_time_is_in_days(kind, value, days, moment):
    array = pa.array([value, None, value], kind)
    for form in (array, array[1:], array.dictionary_encode()):
        assert days_of(form)[-1] == days
        assert column_of(form).missing.tolist() == [one is None for one in form.to_pylist()]
    assert moment_of(kind) == moment
    assert days_of(array[:0]).shape == (0,)


def test_a_moment_is_the_same_number_in_every_form():
    seconds = np.random.default_rng(1).integers(-(2**33), 2**33, 2000)
    words = [(START + timedelta(seconds=one)).isoformat() for one in seconds.tolist()]
    for unit, scale in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        stored = days_of(pa.array(seconds * scale, pa.int64()).cast(pa.timestamp(unit)))
        np.testing.assert_array_equal(stored, word_days(words))
    far = [date(1, 1, 1), date(9999, 12, 31)]
    found = days_of(pa.array(far, pa.date32()))
    assert found.tolist() == [one.toordinal() - date(1970, 1, 1).toordinal() for one in far]
    late = 19_000 * 86_400 * 10**9
    ticks = pa.array([late, late + 10_000], pa.int64()).cast(pa.timestamp("ns"))
    one, other = days_of(ticks)
    assert one == 19_000 < other


DAYS = ["2024-05-31 ", "2024-05-31T06:00:00.5+02:00", "2024-05-31 06:00"]
NO_DAYS = ["2024-05-31 late", "31.05.2024", "", "2024", "2024-05-31T6"]


@pytest.mark.parametrize("word", [*DAYS, *NO_DAYS, "2024-02-30"])
def test_days_in_text(word):
    assert is_day(word) == (word not in NO_DAYS)
    # The 30th of February has the form alone.
    assert (word_days([word]) is not None) == (word in DAYS)


# --- as features


def features(members, holdout, **request):
    """Return the kinds of features, their values in all rows, and what was passed over."""
    with open_features(members, holdout, **request) as source:
        kinds = {one.name: one.kind for one in source.columns}
        rows = list(source.batches())
        values = [np.concatenate(found) for found in zip(*(r.scores for r in rows), strict=True)]
        return kinds, dict(zip(kinds, values, strict=True)), dict(source.skipped)


def bad(code, *given, work=features, **request):
    """See that no cell is in the error that some work ends in."""
    assert CELL not in str(refused(code, work, *given, **request))


@pytest.fixture
def put(write):
    """Return a function that writes both tables as CSV."""
    return lambda members, holdout: [str(write(members, "m.csv")), str(write(holdout, "h.csv"))]


@pytest.fixture
def tables(put):
    members = "id,age,town,seen,ok\n1,30,x,2024-01-01,true\n2,,y,2024-01-31,false\n"
    holdout = "town,id,seen,ok,age,more\ny,7,2024-02-01,true,2.5,1\n,8,,false,4,1\n"
    return put(members, holdout)


def test_types_are_found_and_columns_paired_by_name(tables):
    kinds, values, skipped = features(*tables)
    assert kinds == {"age": "number", "town": "category", "seen": "date", "ok": "number"}
    assert skipped == {"id": "names_a_record", "more": "in_one_table"}
    age, town, seen, ok = values.values()
    np.testing.assert_array_equal(age, [30, np.nan, 2.5, 4])
    assert town[1] == town[2] != town[0]
    assert np.isnan(town[3])
    np.testing.assert_array_equal(seen[1:] - seen[0], [30, 31, np.nan])
    assert ok.tolist() == [1, 0, 1, 0]
    with open_features(*tables) as source:
        rows = [rows.member for rows in source.batches()]
    assert np.concatenate(rows).tolist() == [True, True, False, False]
    # What is asked for is taken.
    assert {*features(*tables, columns=("town", "id"))[0]} == {"id", "town"}
    assert {*features(*tables, ignore=("more", "age"))[0]} == {"town", "seen", "ok"}


def test_columns_that_number_or_name_the_rows_are_left_out():
    rows = range(30)
    plain = {"number": rows, "x": [row % 3 for row in rows]}
    plain["day"] = [f"2024-01-{row + 1:02}" for row in rows]
    sides = [pd.DataFrame(plain | {"name": [f"{one}{row}" for row in rows]}) for one in "mh"]
    kinds, _, skipped = features(*sides)
    assert ([*kinds], {*skipped}) == (["x", "day"], {"number", "name"})


def test_one_row_for_each_person_and_class(put):
    sides = put("who,x\na,1\na,2\nb,3\n", "who,x\na,4\nc,5\nc,6\n")
    with open_features(*sides, id_col="who") as source:
        source.choose(0)
        rows = list(source.batches())
        assert (source.chosen.dropped_members, source.chosen.dropped_holdout) == (1, 1)
    x = np.concatenate([one.scores[0] for one in rows]).tolist()
    assert np.concatenate([one.member for one in rows]).tolist() == [True, True, False, False]
    assert x[1:3] == [3, 4]


A, OTHER = "a,b\n1,2\n3,4\n", "a,b\n1,2\n5,4\n"


@pytest.mark.parametrize(
    ("code", "members", "holdout", "request_"),
    [
        ("no_common_columns", A, "c,d\n1,2\n", {}),
        *(("no_rows", A, "a,b\n", {}), ("empty_file", A, "", {})),
        *(("mixed_column", A, f"a,b\nx,2\n{last},3\n", {}) for last in ("y", "1")),
        ("no_features", "a,b\n,\n,\n", "a,b\n,\n", {}),
        ("ragged_rows", A, A + "1,2,3\n", {}),
        *(("unknown_column", A, OTHER, {one: ("z",)}) for one in ("columns", "ignore")),
        ("no_features", A, OTHER, {"ignore": ("a", "b")}),
        ("two_roles", A, OTHER, {"columns": ("a",), "ignore": ("a",)}),
        ("two_roles", A, OTHER, {"columns": ("a",), "id_col": "a"}),
        ("mixed_column", "a,p\n1,2\n", "a,p\n1,x\n", {"id_col": "p"}),
        ("missing_id", "a,p\n1,2\n", "a,p\n1,\n", {"id_col": "p"}),
    ],
)
def test_bad_tables(put, code, members, holdout, request_):
    refused(code, mipaudit.shift, *put(members, holdout), **request_)


def test_parts_of_a_table_must_have_the_same_columns(write):
    folder = write("a,b\n1,2\n", "m/a.csv").parent
    write("a\n1\n", "m/b.csv")
    refused("missing_column", features, str(folder), str(write("a,b\n1,2\n", "h.csv")))


def test_all_types_are_features(tmp_path):
    columns = {
        f"c{at}": pa.array([value, None], kind) for at, (kind, value, *_) in enumerate(TYPES)
    }
    columns |= {
        "decimal": pa.array([1, None], pa.decimal128(9, 2)),
        "words": pa.array(["a", None]).dictionary_encode(),
        "numbers": pa.array([7, None]).dictionary_encode(),
    }
    columns |= {"flag": [True, None], "nested": [[1], None], "struct": [{"a": 1}, None]}
    columns["bytes"] = [b"x", None]
    stored = [str(tmp_path / f"{name}.parquet") for name in "mh"]
    for path in stored:
        pq.write_table(pa.table(columns), path)
    for pair in (stored, (pa.table(columns),) * 2):
        kinds, values, skipped = features(*pair)
        for at, (_, _, days, moment) in enumerate(TYPES):
            np.testing.assert_array_equal(values[f"c{at}"], [days, np.nan] * 2)
            assert kinds[f"c{at}"] == ("date" if moment in {"day", "zoned"} else "number")
        told = [kinds[name] for name in ("decimal", "words", "numbers")]
        assert told == ["number", "category", "number"]
        assert {*skipped} == {"nested", "struct", "bytes"}


DAY = pa.array([NOON.date()])
SIX, ONE, NESTED = pa.array([time(6)]), pa.array([1]), pa.array([[1]])
ZONED = pa.array([NOON.replace(tzinfo=UTC)], pa.timestamp("s", "UTC"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((DAY, other) for other in (ZONED, ONE, pa.array([1.5]), pa.array([CELL]), SIX, NESTED)),
        *((SIX, pa.array(["06:00"])), (SIX, pa.array([timedelta(1)])), (ONE, NESTED)),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_refused(one, other):
    for pair in ((one, other), (other, one)):
        for request in ({}, {"columns": ("at",)}):
            sides = [pa.table({"at": side, "x": ONE}) for side in pair]
            bad("mixed_column", *sides, **request)


ENDS = pa.DictionaryArray.from_arrays(pa.array([0, 0, None]), ["2024-05-31", "n/a"])
CSV_DAYS = "at\n2024-05-31 12:00\nNA\n"


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        # A missing column fits everything, and words that no row has do not matter.
        (pa.array([NOON] * 2), pa.nulls(2), [NOON_DAY] * 2 + [np.nan] * 2),
        (ENDS, ENDS, ([NOON_DAY - 0.5] * 2 + [np.nan]) * 2),
        # Days in CSV and in Parquet are one column.
        (CSV_DAYS, pa.array([NOON], pa.timestamp("ms")), [NOON_DAY, np.nan, NOON_DAY]),
    ],
)
def test_what_is_missing_or_of_no_row_does_not_matter(write, one, other, wanted):
    first = str(write(one)) if isinstance(one, str) else pa.table({"at": one})
    kinds, values, _ = features(first, pa.table({"at": other}))
    assert kinds == {"at": "date"}
    np.testing.assert_array_equal(values["at"], wanted)


def test_a_nested_column_that_is_asked_for_is_refused_and_a_day_can_be_an_id():
    both = [pa.table({"at": NESTED, "x": ONE})] * 2
    for role in ({"columns": ("at",)}, {"id_col": "at"}):
        bad("unreadable_column", *both, **role)
    bad("no_features", *[pa.table({"at": [[1], [2]]})] * 2)
    both = [pa.table({"at": DAY, "x": [value]}) for value in (1, 2)]
    kinds, values, _ = features(*both, id_col="at")
    assert kinds == {"x": "number"}
    assert values["x"].tolist() == [1, 2]


def test_text_below_the_days_of_a_large_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("mipaudit.summaries.plan.EXACT_ROWS", 10)
    sides = [str(tmp_path / f"{name}.parquet") for name in "mh"]
    for path in sides:
        pq.write_table(pa.table({"at": ["2024-05-31"] * 5 + [CELL]}), path, row_group_size=5)
    bad("not_a_date", *sides)


def test_shift_finds_a_column_of_times():
    rng = np.random.default_rng(1)

    def drawn(low):
        ticks = pa.array(rng.integers(low, low + 10**6, 300)).cast(pa.timestamp("s"))
        wait = ticks.cast(pa.int64()).cast(pa.duration("s"))
        return pa.table({"at": ticks, "wait": wait, "x": ticks})

    report = mipaudit.shift(drawn(0), drawn(500_000))
    assert {one.column for one in differing(report)} == {"at", "wait", "x"}
    assert {one.aspect for one in report.columns if one.column == "at"} == {"dates"}
    assert b"1970" not in mipaudit.to_json(report)


@pytest.mark.parametrize(
    ("kind", "treated"),
    [(pa.time64("us"), "number"), (pa.duration("s"), "number"), (pa.date32(), "date")],
)
def test_query_takes_times_and_durations(kind, treated):
    rng = np.random.default_rng(2)
    tables = {}
    for role, rows in (("members", 20), ("holdout", 20), ("synthetic", 40)):
        ticks = pa.array(rng.integers(0, 80_000, rows))
        ticks = ticks.cast(pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
        tables[role] = pa.table({"at": ticks, "x": rng.normal(size=rows)})
    report = mipaudit.query("nn", **tables)
    assert {one.column: one.treated for one in report.columns}["at"] == treated
    tables["holdout"] = pa.table({"at": range(20), "x": [0.0] * 20})
    bad("types_differ", "nn", work=mipaudit.query, **tables)
