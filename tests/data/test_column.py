"""Columns as arrays: times as days, hashes of identities, and the store between the passes."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mipaudit
from mipaudit.commands.shift.report import differing
from mipaudit.data.column import (
    ChunkStore,
    Column,
    Vocabulary,
    column_hashes,
    column_missing,
    column_scores,
    compact_column,
    is_day,
    mix64,
    moment_of,
    word_days,
    words64,
)
from mipaudit.data.formats.arrow import column_of
from mipaudit.data.tables.features import open_features
from mipaudit.errors import InputError

START = datetime(1970, 1, 1)  # noqa: DTZ001 - as stored without a zone
NOON = START + timedelta(days=19_874, hours=12)
NOON_DAY = 19_874.5
TYPES = [
    (pa.date32(), NOON.date(), NOON_DAY - 0.5, "day"),
    (pa.date64(), NOON.date(), NOON_DAY - 0.5, "day"),
    *((pa.timestamp(unit), NOON, NOON_DAY, "day") for unit in ("s", "ms", "us", "ns")),
    (pa.timestamp("us", "Asia/Tokyo"), NOON.replace(tzinfo=UTC), NOON_DAY, "zoned"),
    (pa.time32("s"), time(6), 0.25, "time"),
    (pa.time64("ns"), time(6), 0.25, "time"),
    (pa.duration("ms"), timedelta(hours=-36), -1.5, "duration"),
    (pa.duration("ns"), timedelta(hours=-36), -1.5, "duration"),
]
CELL = "sarah-connor"


def read(array):
    return column_of(array)


def days_of(array):
    return column_scores(read(array))


@pytest.mark.parametrize(("kind", "value", "days", "moment"), TYPES, ids=str)
def test_every_type_of_time_is_in_days(kind, value, days, moment):
    array = pa.array([value, None, value], kind)
    for form in (array, array[1:], array.dictionary_encode()):
        found = read(form)
        assert days_of(form)[-1] == days
        assert found.missing.tolist() == [one is None for one in form.to_pylist()]
    assert moment_of(kind) == moment
    assert days_of(array[:0]).shape == (0,)


def test_a_moment_is_the_same_number_in_every_form():
    rng = np.random.default_rng(1)
    seconds = rng.integers(-(2**33), 2**33, 2000)
    stored = [
        days_of(pa.array(seconds * scale, pa.int64()).cast(pa.timestamp(unit)))
        for unit, scale in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))
    ]
    words = [(START + timedelta(seconds=one)).isoformat() for one in seconds.tolist()]
    stored.append(word_days(words))
    for one in stored[1:]:
        np.testing.assert_array_equal(one, stored[0])


def test_nanoseconds_and_far_years_lose_no_day():
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


def table(**columns):
    return pa.table(columns)


def refused(work, *given, **request):
    """Return the code of the error that some work ends in, which shows no cell."""
    with pytest.raises(InputError) as caught:
        work(*given, **request)
    assert CELL not in str(caught.value)
    return caught.value.code


def features(members, holdout, **request):
    with open_features(members, holdout, **request) as source:
        kinds = {one.name: one.kind for one in source.columns}
        rows = list(source.batches())
        values = [np.concatenate(found) for found in zip(*(r.scores for r in rows), strict=True)]
        return kinds, dict(zip(kinds, values, strict=True)), dict(source.skipped)


def test_all_of_them_are_features(tmp_path):
    columns = {
        f"c{at}": pa.array([value, None], kind) for at, (kind, value, *_) in enumerate(TYPES)
    }
    columns |= {
        "decimal": pa.array([1, None], pa.decimal128(9, 2)),
        "words": pa.array(["a", None]).dictionary_encode(),
        "numbers": pa.array([7, None]).dictionary_encode(),
        "flag": pa.array([True, None]),
        "nested": pa.array([[1], None]),
        "struct": pa.array([{"a": 1}, None]),
        "bytes": pa.array([b"x", None]),
    }
    for name in "mh":
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    stored = [str(tmp_path / f"{name}.parquet") for name in "mh"]
    for pair in (stored, (pa.table(columns),) * 2):
        kinds, values, skipped = features(*pair)
        for at, (_, _, days, moment) in enumerate(TYPES):
            np.testing.assert_array_equal(values[f"c{at}"], [days, np.nan] * 2)
            assert kinds[f"c{at}"] == ("date" if moment in {"day", "zoned"} else "number")
        told = [kinds[name] for name in ("decimal", "words", "numbers")]
        assert told == ["number", "category", "number"]
        assert set(skipped) == {"nested", "struct", "bytes"}


def test_days_in_csv_and_in_parquet_are_one_column(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("at,x\n2024-05-31 12:00,1\n,2\n", encoding="utf-8")
    stored = pa.table({"at": pa.array([NOON], pa.timestamp("ms")), "x": [3]})
    kinds, values, _ = features(str(path), stored)
    assert kinds["at"] == "date"
    np.testing.assert_array_equal(values["at"], [NOON_DAY, np.nan, NOON_DAY])


DAY = pa.array([NOON.date()])
MIXED = [
    (DAY, pa.array([NOON.replace(tzinfo=UTC)], pa.timestamp("s", "UTC"))),
    (DAY, pa.array([1])),
    (DAY, pa.array([1.5])),
    (DAY, pa.array([CELL])),
    (DAY, pa.array([time(6)])),
    (pa.array([time(6)]), pa.array(["06:00"])),
    (pa.array([time(6)]), pa.array([timedelta(1)])),
    (DAY, pa.array([[1]])),
    (pa.array([1]), pa.array([[1]])),
]


@pytest.mark.parametrize(("one", "other"), MIXED, ids=[str(at) for at in range(len(MIXED))])
def test_what_does_not_fit_together_is_refused(one, other):
    for pair in ((one, other), (other, one)):
        for request in ({}, {"columns": ("at",)}):
            sides = [table(at=side, x=pa.array([1])) for side in pair]
            assert refused(features, *sides, **request) == "mixed_column"


ENDS = pa.DictionaryArray.from_arrays(pa.array([0, 0, None]), ["2024-05-31", "n/a"])


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        # A missing column fits everything, and words that no row has do not matter.
        (pa.array([NOON] * 2), pa.nulls(2), [NOON_DAY] * 2 + [np.nan] * 2),
        (ENDS, ENDS, ([NOON_DAY - 0.5] * 2 + [np.nan]) * 2),
    ],
)
def test_what_is_missing_or_of_no_row_does_not_matter(one, other, wanted):
    kinds, values, _ = features(table(at=one), table(at=other))
    assert kinds == {"at": "date"}
    np.testing.assert_array_equal(values["at"], wanted)


@pytest.mark.parametrize("role", ["columns", "id_col"])
def test_a_nested_column_that_is_asked_for_is_refused(role):
    both = [table(at=pa.array([[1]]), x=pa.array([1]))] * 2
    named = {role: ("at",) if role == "columns" else "at"}
    assert refused(features, *both, **named) == "unreadable_column"
    assert refused(features, *[table(at=pa.array([[1], [2]]))] * 2) == "no_features"


def test_a_day_can_be_an_id():
    both = [table(at=pa.array([NOON.date()]), x=pa.array([value])) for value in (1, 2)]
    kinds, values, _ = features(*both, id_col="at")
    assert kinds == {"x": "number"}
    assert values["x"].tolist() == [1, 2]


def test_text_below_the_days_of_a_large_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("mipaudit.summaries.plan.EXACT_ROWS", 10)
    for name in ("m", "h"):
        days = ["2024-05-31"] * 5 + [CELL]
        pq.write_table(table(at=pa.array(days)), tmp_path / f"{name}.parquet", row_group_size=5)
    sides = [str(tmp_path / f"{name}.parquet") for name in ("m", "h")]
    assert refused(features, *sides) == "not_a_date"


def test_shift_finds_a_column_of_times():
    rng = np.random.default_rng(1)

    def drawn(low):
        ticks = pa.array(rng.integers(low, low + 10**6, 300)).cast(pa.timestamp("s"))
        return table(at=ticks, wait=ticks.cast(pa.int64()).cast(pa.duration("s")), x=ticks)

    report = mipaudit.shift(drawn(0), drawn(500_000))
    assert {one.column for one in differing(report)} == {"at", "wait", "x"}
    assert {one.aspect for one in report.columns if one.column == "at"} == {"dates"}
    text = mipaudit.to_json(report).decode()
    assert "1970" not in text


# --- in queries


@pytest.mark.parametrize(
    ("kind", "treated"),
    [(pa.time64("us"), "number"), (pa.duration("s"), "number"), (pa.date32(), "date")],
)
def test_query_takes_times_and_durations(kind, treated):
    rng = np.random.default_rng(2)
    tables = {
        role: table(
            at=pa.array(rng.integers(0, 80_000, rows))
            .cast(pa.int32() if kind == pa.date32() else pa.int64())
            .cast(kind),
            x=pa.array(rng.normal(size=rows)),
        )
        for role, rows in (("members", 20), ("holdout", 20), ("synthetic", 40))
    }
    report = mipaudit.query("nn", **tables)
    assert {one.column: one.treated for one in report.columns}["at"] == treated
    tables["holdout"] = table(at=pa.array(range(20)), x=pa.array([0.0] * 20))
    assert refused(mipaudit.query, "nn", **tables) == "types_differ"


def columns():
    words = Vocabulary(("b", "a"))
    return {
        "x": Column(values=np.array([0.5, -1.5, np.inf])),
        "n": Column(values=np.array([1, 2, 300]), missing=np.array([False, True, False])),
        "b": Column(values=np.array([True, False, True])),
        "w": Column(values=np.array([0, -1, 1], dtype=np.int8), vocabulary=words),
        "h": Column(values=np.array([1, 2, 2**64 - 1], dtype=np.uint64), hashed=True),
    }


@pytest.mark.parametrize("pread", [True, False])
@pytest.mark.parametrize("in_memory", [0, 30, 60, 1 << 20])
def test_what_is_stored_comes_back(in_memory, pread, monkeypatch):
    if not pread:  # as on Windows
        monkeypatch.delattr(os, "pread")
    store = ChunkStore(in_memory=in_memory)
    for _ in range(3):
        store.append(columns(), 3)
        store.get(0, ("x",))
    for at in range(3):
        for name, column in columns().items():
            found = store.get(at, (name,))[name]
            assert (found.words, found.hashed) == (column.words, column.hashed)
            np.testing.assert_array_equal(column_scores(found), column_scores(column))
            missing = (column_missing(found), column_missing(column))
            assert (missing[0] is None) == (missing[1] is None)
    assert (store._file is None) == (in_memory == 1 << 20)
    store.clear()


def test_temporary_file_is_unlinked_and_private():
    import stat

    store = ChunkStore(in_memory=0)
    store.append({"x": Column(values=np.empty(0))}, 0)
    assert store.rows == []
    store.append(columns(), 3)
    state = os.fstat(store._file.fileno())
    assert (state.st_nlink, stat.S_IMODE(state.st_mode)) == (0, 0o600)
    store.clear()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_compacting_changes_no_value(values):
    column = compact_column(Column(values=np.array(values, dtype=np.int64)))
    assert column.values.tolist() == values


def test_splitmix_is_the_published_one():
    # The first outputs of the reference implementation with seed 0.
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        states = np.arange(3, dtype=np.uint64) * golden
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mix64(states).tolist() == expected


def test_hash_of_words_is_fixed_for_ever():
    from hashlib import blake2b

    word = int.from_bytes(blake2b(b"caf\xc3\xa9", digest_size=8).digest(), "little")
    assert words64(("café", "")).tolist()[0] == word
    assert words64(()).size == 0


def test_equal_numbers_hash_equally_whatever_their_type():
    types = (np.int8, np.int64, np.uint64, np.float32, np.float64, np.bool_)
    values = [column_hashes(Column(values=np.array([0, 1], dtype=t))).values for t in types]
    assert len({tuple(v.tolist()) for v in values}) == 1
    halves = column_hashes(Column(values=np.array([0.5, 1.5, 0.5]))).values
    assert halves[0] == halves[2] != halves[1]


def test_scores_of_words_do_not_depend_on_the_vocabulary():
    one = Column(values=np.array([0, 1, -1]), vocabulary=Vocabulary(("a", "b")))
    other = Column(values=np.array([1, 0, -1]), vocabulary=Vocabulary(("b", "a")))
    np.testing.assert_array_equal(column_scores(one), column_scores(other))
    assert np.isnan(column_scores(one)[2])
