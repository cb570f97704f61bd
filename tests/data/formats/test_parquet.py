"""Parquet files: row groups, types, strings, damage; columns of one list."""

from __future__ import annotations

import decimal
import subprocess
import sys
from dataclasses import replace
from operator import methodcaller

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data import column
from mipaudit.data.choice import choose_named
from mipaudit.data.column import Field, column_scores
from mipaudit.data.files.paths import find_blobs
from mipaudit.data.formats import parquet
from mipaudit.data.formats.cells import column_of, decimal_floats, merges_decimals
from mipaudit.data.formats.parquet import RowGroup
from mipaudit.data.opening import open_part
from tests.fixtures.files import opened

ROWS = 3000


@pytest.fixture
def save(tmp_path):
    """Return a function that writes columns; without any membership, rows are in turn."""

    def saver(columns, name="scores.parquet", **options):
        if isinstance(columns, dict):
            rows = len(next(iter(columns.values())))
            turns = {"member": np.arange(rows) % 2 == 0} if "split" not in columns else {}
            columns = pa.table(turns | columns)
        pq.write_table(columns, tmp_path / name, **options)
        return tmp_path / name

    return saver


def columns(rows=ROWS, seed=5):
    rng = np.random.default_rng(seed)
    return {"score": rng.normal(size=rows), "member": rng.random(rows) < 0.5}


@pytest.mark.parametrize("group", [1, 7, 100, 10_000])
@pytest.mark.parametrize("chunk", [5, 64, 1 << 16])
def test_batches_and_row_groups_change_nothing(read, save, monkeypatch, group, chunk):
    monkeypatch.setattr(parquet, "CHUNK_ROWS", chunk)
    assert column.CHUNK_ROWS == 1 << 17
    table = columns(240) | {"team": [f"p{at % 50}" for at in range(240)]}
    path = save(table, row_group_size=group)
    everything = read(path)
    assert everything.scores == [table["score"].tolist()]
    assert everything.member == table["member"].tolist()
    assert everything.positions == list(range(240))
    by_person = read(path, unit_column="team", seed=3)
    monkeypatch.setattr(parquet, "CHUNK_ROWS", 500)
    assert read(save(table, "whole.parquet"), unit_column="team", seed=3) == by_person


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.float16(), pa.float32(), pa.float64(), pa.decimal128(20, 3), pa.int8(), pa.int16()),
        *(pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    ],
)
def test_every_number_type(read, save, kind):
    values = [0, 1, 5, 100, 7, 1]
    if pa.types.is_decimal(kind):
        values = [*map(decimal.Decimal, values)]
    if pa.types.is_float16(kind):
        values = np.array(values, dtype=np.float16)
    everything = read(save({"score": pa.array(values, kind)}))
    assert everything.scores == [[0.0, 1.0, 5.0, 100.0, 7.0, 1.0]]
    floats = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    assert everything.kinds == ["float" if floats else "integer"]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_string_labels_whatever_the_dictionary_order(read, tmp_path, kind):
    """Every row group has its own dictionary, here in the opposite order."""
    labels = ["train", "test", "train", "test", "test", "train", "test", "train"]
    table = pa.table({"score": np.arange(8) / 3, "split": pa.array(labels).cast(kind)})
    with pq.ParquetWriter(tmp_path / "x.parquet", table.schema) as writer:
        writer.write_table(table.slice(0, 4))
        writer.write_table(table.slice(4, 4))
    assert read(tmp_path / "x.parquet").member == [label == "train" for label in labels]


def test_labels_whose_dictionaries_differ_between_files(read, save):
    for at, words in enumerate((["test", "train"], ["train", "test"], ["train"], ["test"])):
        codes = pa.array(np.arange(10) % len(words), pa.int8())
        labels = pa.DictionaryArray.from_arrays(codes, words)
        table = [("score", np.arange(10.0)), ("split", labels)]
        path = save(dict(table if at % 2 else table[::-1]), f"{at}.parquet")
    expected = [False, True] * 5 + [True, False] * 5 + [True] * 10 + [False] * 10
    assert read(path.parent).member == expected


def test_string_scores_and_keys_do_not_depend_on_the_row_group(read, save):
    words = ["b", "a", "c", "a", "b", "c", "d", "a"]
    one, *more = (
        read(save({"w": words, "k": words}, row_group_size=size), score_columns="w", key_column="k")
        for size in (100, 1, 3)
    )
    assert more == [one, one]
    assert len(set(one.scores[0])) == len(set(one.keys)) == 4
    assert one.keys[1] == one.keys[3]


def test_words_of_one_batch_are_not_taken_for_those_of_another():
    """Dictionaries of equal size that follow each other, in memory at the same place."""
    known = []
    for batch in range(20):
        words = [f"{batch:016d}{at:016d}" for at in range(100)]
        # The array is given up at once: the next one may take its place.
        column = column_of(pa.array(words), known)
        assert column.told(column.words, None).tolist() == words


def test_keys_are_equal_over_integer_widths_and_formats(read, save, write):
    csv = read(write("k,member,score\n7,1,0.5\n-8,0,1.5\n"), key_column="k")
    for kind in (pa.int8(), pa.int64()):
        table = {"k": pa.array([7, -8], kind), "score": [0.5, 1.5]}
        assert read(save(table), key_column="k") == csv


@pytest.mark.parametrize("offset", [0, 1, 7, 8, 9, 64])
def test_slices_of_arrow_arrays(offset):
    rng = np.random.default_rng(offset)
    gaps = rng.random(200) < 0.2
    kept = slice(offset, offset + 100)
    for values in (rng.random(200) < 0.5, rng.normal(size=200), rng.integers(9, size=200)):
        for mask in (None, gaps):
            found = column_of(pa.array(values, mask=mask).slice(offset, 100))
            expected = np.where(gaps & (mask is not None), np.nan, values)[kept]
            np.testing.assert_array_equal(column_scores(found), expected)
    words = pa.array([None if gap else f"w{at % 5}" for at, gap in enumerate(gaps)])[kept]
    found = column_of(words)
    assert found.told(found.words, None).tolist() == words.to_pylist()


HALVES = [1.5] * 3


@pytest.mark.parametrize(
    ("code", "cells", "said"),
    [
        ("nan_scores", {"score": [0.5, None, 2.5, np.nan]}, "'score' in 2 rows, first in"),
        ("null_membership", {"score": HALVES, "member": [True, None, False]}, "data row 2"),
        ("null_membership", {"score": HALVES, "split": ["train", "test", None]}, "data row 3"),
        ("many_labels", {"score": HALVES, "split": ["train", "test", "else"]}, "3 different"),
        ("no_rows", {"score": pa.array([], pa.float64()), "member": pa.array([], pa.bool_())}, ""),
    ],
)
def test_faults_of_rows_over_row_groups(fails, save, code, cells, said):
    for size in (1, 100):
        assert said in fails(code, save(cells, row_group_size=size)).message


def test_small_row_groups_are_read_together_and_large_ones_apart(read, save, monkeypatch):
    """A row group costs its time, however small: writers that flush often make 10^5 of them."""
    monkeypatch.setattr(parquet, "_SMALL_TOGETHER", 60)
    monkeypatch.setattr(parquet, "_MANY_GROUPS", 3)
    score, member = columns(400).values()
    split = pa.array(np.where(member, "train", "test")).dictionary_encode()
    for size, rows in (
        *((1, [60] * 6 + [40]), (7, [56] * 7 + [8]), (50, [50] * 8), (100, [100] * 4)),
    ):
        path = save({"score": score, "split": split}, row_group_size=size)
        ((blob, _),) = find_blobs(str(path))
        assert [piece.rows for piece in open_part(blob).pieces()] == rows
        found = read(path)
        assert (found.scores, found.member) == ([score.tolist()], member.tolist())


def test_sorted_labels_are_found_beyond_the_first_row_group(read, save):
    member = [1] * 50 + [-1] * 50
    table = {"score": np.arange(100) / 7, "member": member}
    assert read(save(table, row_group_size=10)).member == [one == 1 for one in member]


def test_dates_and_lists_are_skipped_with_a_reason(read, save):
    when = pa.array([1, 2], pa.timestamp("us"))
    others = {"when": when, "many": [[1.0], [2.0]], "nothing": pa.nulls(2)}
    everything = read(save({"score": [0.5, 1.5], **others}))
    found = {name: one.code for name, one in everything.skipped.items()}
    assert found == {"when": "unreadable_column", "many": "lists", "nothing": "empty_column"}


def test_damaged_files(fails, read, save, write):
    data = save(columns()).read_bytes()
    broken = data[:4] + b"\xff" * 36 + data[40:]
    for cut in (5, 100, len(data) // 2, len(data) - 1):
        fails("bad_parquet", write(data[:cut], "cut.parquet"))
    for content in (broken, b"PAR1" + b"x" * 100 + b"PAR1"):
        fails("bad_parquet", write(content, "broken.parquet"))
    fails("empty_file", write(b"", "none.parquet"))
    table = pa.table([[0.5], [1.5], [True]], names=["score", "score", "member"])
    fails("duplicate_columns", save(table))
    # A text with such a name is read as what it is.
    assert read(write("member,score\n1,2.5\n0,1.5\n", "x.parquet")).scores == [[2.5, 1.5]]


@pytest.mark.parametrize("size", [1, 1 << 30])
def test_a_huge_row_group_is_read_through_a_buffer(read, save, monkeypatch, size):
    monkeypatch.setattr(parquet, "_READ_AT_ONCE", size)
    table = columns() | {"word": [f"w{at}" for at in range(ROWS)]}
    assert read(save(table), key_column="word").scores == [table["score"].tolist()]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_neither_pandas_nor_scipy_is_imported(save, tmp_path, kind):
    score, member = columns().values()
    labels = np.where(member, "train", "test")
    path = save({"score": score, "split": labels, "key": labels})
    if kind == "csv":
        pd.read_parquet(path).to_csv(tmp_path / "s.csv", index=False)
        path = tmp_path / "s.csv"
    code = (
        "import sys\n"
        "from mipaudit.data.request import ReadRequest\n"
        "from mipaudit.data.opening import open_input\n"
        f"source = open_input({str(path)!r}, None, None, ReadRequest(key_column='key'))\n"
        "assert sum(r.member.size for p in source.partitions() for r in p.batches()) == 3000\n"
        "print(sorted({'pandas', 'pyarrow.dataset', 'scipy'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_float64_without_nulls_is_not_copied(save):
    with opened(str(save(columns(), use_dictionary=False))) as source:
        rows = next(source.partitions()[0].batches())
        assert not rows.scores[0].flags.owndata


@pytest.mark.parametrize("make", [pa.decimal128, pa.decimal256])
def test_decimals_that_a_float_cannot_tell_apart(fails, read, save, make):
    """More than 15 digits, without the zeros at the end."""
    texts = ("0.5", "-12.25", "0.1234567890123456", "0.123456789012345", "1234567890123456789.5")
    values = [*map(decimal.Decimal, texts), None, decimal.Decimal("-0.1234567890123456")]
    score = pa.array(values, make(38, 18))
    error = fails("large_integers", save({"score": score}, row_group_size=3), nan="drop")
    assert "'score' in 3 rows, first in data row 3" in error.message
    narrow = score.cast(make(38, 2), safe=False)[:3]
    assert read(save({"score": narrow}), nan="drop").scores == [[0.5, -12.25, 0.12]]
    # Whole ones are integers.
    values = [*map(decimal.Decimal, (2**53, -(2**53), 5, 2**53 + 1, -(2**70), 7))]
    whole = pa.array(values, make(38, 0))
    error = fails("large_integers", save({"score": whole}))
    assert "'score' in 2 rows, first in data row 4" in error.message
    assert read(save({"score": whole[:3]})).scores == [[2.0**53, -(2.0**53), 5.0]]


@pytest.mark.parametrize("seed", range(3))
def test_digits_of_decimals_against_python(seed):
    rng = np.random.default_rng(seed)
    numbers = [
        int(rng.integers(-(2**62), 2**62)) // 10 ** int(rng.integers(19)) for _ in range(900)
    ]
    numbers = [number * 10 ** int(rng.integers(6)) for number in numbers]
    numbers += [10**15, 10**15 - 1, 10**15 + 1, -(2**63), 2**63 - 1, 10**18, 10**19, 0]
    values = [decimal.Decimal(number).scaleb(-9) for number in numbers]
    array = pa.array(values, pa.decimal128(38, 9))
    expected = [len(str(abs(number)).rstrip("0")) > 15 for number in numbers]
    np.testing.assert_array_equal(decimal_floats(array), [number / 10**9 for number in numbers])
    assert merges_decimals(array).tolist() == expected
    assert merges_decimals(array.slice(7, 100)).tolist() == expected[7:107]


@pytest.mark.parametrize("kind", [pa.decimal128(12, 4), pa.decimal128(30, 4), pa.decimal256(60, 4)])
def test_decimals_are_the_same_numbers_as_their_text(read, save, write, kind):
    texts = [f"{one:.4f}" for one in np.random.default_rng(0).normal(scale=1e3, size=2000)]
    path = save({"score": pa.array([*map(decimal.Decimal, texts)], kind)})
    rows = (f"{text},{1 - at % 2}\n" for at, text in enumerate(texts))
    assert read(path).scores == read(write("score,member\n" + "".join(rows))).scores


@pytest.mark.parametrize("encoded", [False, True])
def test_missing_numbers_are_dropped_where_that_is_said(read, save, encoded):
    values = pa.array([0.5, 1.5, 0.5, 2.5, None, np.nan])
    values = values.dictionary_encode() if encoded else values
    everything = read(save({"score": values}, row_group_size=2), nan="drop")
    assert (everything.scores, everything.kinds) == ([[0.5, 1.5, 0.5, 2.5]], ["float"])
    assert everything.positions == [0, 1, 2, 3]


def test_only_the_columns_that_are_needed_are_decoded(save, monkeypatch):
    table, asked = columns(), set()
    table |= {"other": table["score"], "word": table["member"].astype(str)}
    batches = RowGroup._batches
    monkeypatch.setattr(
        RowGroup, "_batches", lambda *given: asked.update(given[2]) or batches(*given)
    )
    with opened(str(save(table)), score_columns=("score",)) as source:
        assert sum(rows.member.size for part in source.partitions() for rows in part.batches())
    assert asked == {"score", "member"}


# --- comma lists of columns


def test_a_list_keeps_its_order_and_its_columns_are_read_once_in_file_order():
    fields = tuple(Field(name=name, kind="float") for name in "abcd")
    found = choose_named(fields, ("c,a", "a", "c , a"), vectors=True)
    assert found.vectors == (("c", "a"),)
    assert [field.name for field in found.scores] == ["a", "c"]
    assert found.scalars == {"a"}
    assert [name for name, _ in found.skipped] == ["b", "d"]


def test_rows_with_other_scores():
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), columns=["a", "b"])
    frame["member"] = [1, 0, 1, 0, 1, 0]
    with opened(frame, score_columns=("a,b", "b"), vectors=True) as source:
        assert (source.vectors, source.scalars) == ({"a,b": (0, 1)}, (1,))
        (part,) = source.partitions()
        total = part.then(lambda rows: replace(rows, scores=(rows.scores[0] + rows.scores[1],)))
        found = np.concatenate([one.scores[0] for one in total.batches()])
        assert found.tolist() == [1, 5, 9, 13, 17, 21]
        first = next(part.then(methodcaller("of_columns", source.scalars)).batches())
        assert first.scores[0].tolist() == frame["b"].tolist()
        assert first.member.tolist() == [True, False] * 3
