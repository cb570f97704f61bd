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
from mipaudit.data.formats.arrow import ArrowReader
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
    return ArrowReader().read(array)


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
    pq.write_table(pa.table(columns), tmp_path / "m.parquet")
    pq.write_table(pa.table(columns), tmp_path / "h.parquet")
    for given in ((tmp_path / "m.parquet", tmp_path / "h.parquet"), (pa.table(columns),) * 2):
        kinds, values, skipped = features(*(str(g) if hasattr(g, "parts") else g for g in given))
        for at, (_, _, days, moment) in enumerate(TYPES):
            np.testing.assert_array_equal(values[f"c{at}"], [days, np.nan] * 2)
            assert kinds[f"c{at}"] == ("date" if moment in {"day", "zoned"} else "number")
        assert (kinds["decimal"], kinds["words"], kinds["numbers"]) == (
            "number",
            "category",
            "number",
        )
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


def test_a_missing_column_fits_everything():
    empty = pa.nulls(2)
    kinds, values, _ = features(table(at=pa.array([NOON] * 2)), table(at=empty))
    assert kinds == {"at": "date"}
    assert np.isnan(values["at"]).tolist() == [False, False, True, True]


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


def test_words_that_no_row_has_do_not_matter():
    words = pa.DictionaryArray.from_arrays(pa.array([0, 0, None]), ["2024-05-31", "n/a"])
    kinds, values, _ = features(table(at=words), table(at=words))
    assert kinds == {"at": "date"}
    assert values["at"][0] == NOON_DAY - 0.5


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
    tables["holdout"] = pd.DataFrame({"at": range(20), "x": 0.0})
    assert refused(mipaudit.query, "nn", **tables) == "types_differ"
