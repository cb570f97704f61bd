"""Parquet files: row groups, types, strings, damage."""

from __future__ import annotations

import decimal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data import column
from mipaudit.data.column import column_scores
from mipaudit.data.formats.arrow import column_of
from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest

ROWS = 3000


@pytest.fixture
def save(tmp_path):
    def saver(table, name="scores.parquet", **options):
        pq.write_table(table, tmp_path / name, **options)
        return tmp_path / name

    return saver


def columns(rows=ROWS, seed=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=rows), rng.random(rows) < 0.5


@pytest.mark.parametrize("group", [1, 7, 1000, 10_000])
@pytest.mark.parametrize("chunk", [5, 64, 1 << 16])
def test_batches_and_row_groups_change_nothing(read, save, monkeypatch, group, chunk):
    from mipaudit.data.formats import parquet

    monkeypatch.setattr(parquet, "CHUNK_ROWS", chunk)
    assert column.CHUNK_ROWS == 1 << 17
    score, member = columns(500)
    team = [f"p{at % 90}" for at in range(500)]
    table = pa.table({"score": score, "member": member, "team": team})
    path = save(table, row_group_size=group)
    everything = read(path)
    assert everything.scores == [score.tolist()]
    assert everything.member == member.tolist()
    assert everything.positions == list(range(500))
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
        values = [decimal.Decimal(value) for value in values]
    if pa.types.is_float16(kind):
        values = np.array(values, dtype=np.float16)
    table = pa.table({"score": pa.array(values, kind), "member": [True, False] * 3})
    everything = read(save(table))
    assert everything.scores == [[0.0, 1.0, 5.0, 100.0, 7.0, 1.0]]
    floats = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    assert everything.kinds == ["float" if floats else "integer"]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_string_labels_whatever_the_dictionary_order(read, tmp_path, kind):
    """Every row group has its own dictionary, here in the opposite order."""
    labels = ["train", "test", "train", "test", "test", "train", "test", "train"]
    table = pa.table({"score": np.arange(8) / 3, "split": pa.array(labels, pa.string())})
    table = table.set_column(1, "split", table["split"].cast(kind))
    with pq.ParquetWriter(tmp_path / "x.parquet", table.schema) as writer:
        writer.write_table(table.slice(0, 4))
        writer.write_table(table.slice(4, 4))
    everything = read(tmp_path / "x.parquet")
    assert everything.member == [label == "train" for label in labels]


def test_string_scores_and_keys_do_not_depend_on_the_row_group(read, save):
    words = ["b", "a", "c", "a", "b", "c", "d", "a"]
    table = pa.table({"w": words, "k": words, "member": [True, False] * 4})
    one = read(save(table), score_columns=("w",), key_column="k")
    for size in (1, 3):
        many = read(save(table, row_group_size=size), score_columns=("w",), key_column="k")
        assert many == one
    assert len(set(one.scores[0])) == len(set(one.keys)) == 4
    assert one.keys[1] == one.keys[3]


def test_words_of_one_batch_are_not_taken_for_those_of_another():
    """Dictionaries of equal size that follow each other, in memory at the same place."""
    known = []
    for batch in range(20):
        words = [f"{batch:016d}{at:016d}" for at in range(100)]
        # The array is given up at once: the next one may take its place.
        column = column_of(pa.array(words), known)
        assert [column.words[code] for code in column.values] == words


def test_keys_are_equal_over_integer_widths_and_formats(read, save, write):
    csv = read(write("k,member,score\n7,1,0.5\n-8,0,1.5\n"), key_column="k")
    for kind in (pa.int8(), pa.int64()):
        table = pa.table(
            {"k": pa.array([7, -8], kind), "member": [True, False], "score": [0.5, 1.5]}
        )
        assert read(save(table), key_column="k") == csv


@pytest.mark.parametrize("offset", [0, 1, 7, 8, 9, 64])
def test_slices_of_arrow_arrays(offset):
    rng = np.random.default_rng(offset)
    size = 200
    gaps = rng.random(size) < 0.2
    for values in (rng.random(size) < 0.5, rng.normal(size=size), rng.integers(9, size=size)):
        for mask in (None, gaps):
            array = pa.array(values, mask=mask).slice(offset, 100)
            column = column_of(array)
            expected = values[offset : offset + 100].astype(float)
            if mask is not None:
                expected = np.where(gaps[offset : offset + 100], np.nan, expected)
            np.testing.assert_array_equal(column_scores(column), expected)
    words = pa.array([None if gap else f"w{at % 5}" for at, gap in enumerate(gaps)])
    column = column_of(words.slice(offset, 100))
    found = [None if at < 0 else column.words[at] for at in column.values]
    assert found == words.slice(offset, 100).to_pylist()


SCORES = [0.5, None, 2.5, np.nan]


@pytest.mark.parametrize(
    ("code", "cells", "said"),
    [
        ("nan_scores", {"score": SCORES, "member": [1, 0, 0, 1]}, "'score' in 2 rows, first in"),
        ("null_membership", {"score": [1.5] * 3, "member": [True, None, False]}, "data row 2"),
        ("null_membership", {"score": [1.5] * 3, "split": ["train", "test", None]}, "data row 3"),
        ("many_labels", {"score": [1.5] * 3, "split": ["train", "test", "else"]}, "3 different"),
        ("no_rows", {"score": pa.array([], pa.float64()), "member": pa.array([], pa.bool_())}, ""),
    ],
)
def test_faults_of_rows_over_row_groups(fails, save, code, cells, said):
    for size in (1, 100):
        assert said in fails(code, save(pa.table(cells), row_group_size=size)).message


def test_small_row_groups_are_read_together_and_large_ones_apart(read, save, monkeypatch):
    """A row group costs its time, however small: writers that flush often make 10^5 of them."""
    from mipaudit.data.formats import parquet
    from mipaudit.data.opening import open_part

    monkeypatch.setattr(parquet, "_SMALL_TOGETHER", 60)
    monkeypatch.setattr(parquet, "_MANY_GROUPS", 3)
    score, member = columns(400)
    labels = np.where(member, "train", "test")
    table = pa.table({"score": score, "split": pa.array(labels).dictionary_encode()})
    sizes = {}
    for size in (1, 7, 50, 100):
        path = save(table, row_group_size=size)
        ((blob, _),) = parquet_blobs(path)
        sizes[size] = [piece.rows for piece in open_part(blob).pieces()]
        found = read(path)
        assert (found.scores, found.member) == ([score.tolist()], member.tolist())
    assert sizes[1] == [60] * 6 + [40]
    assert sizes[7] == [56] * 7 + [8]
    assert sizes[50] == [50] * 8
    assert sizes[100] == [100] * 4


def parquet_blobs(path):
    from mipaudit.data.files.paths import find_blobs

    return find_blobs(str(path), in_memory=0)


def test_sorted_labels_are_found_beyond_the_first_row_group(read, save):
    member = [1] * 50 + [-1] * 50
    table = pa.table({"score": np.arange(100) / 7, "member": member})
    assert read(save(table, row_group_size=10)).member == [m == 1 for m in member]


def test_dates_and_lists_are_skipped_with_a_reason(read, save):
    table = pa.table(
        {
            "score": [0.5, 1.5],
            "member": [True, False],
            "when": pa.array([1, 2], pa.timestamp("us")),
            "many": [[1.0], [2.0]],
            "nothing": pa.nulls(2),
        }
    )
    everything = read(save(table))
    assert {name: one.code for name, one in everything.skipped.items()} == {
        "when": "unreadable_column",
        "many": "lists",
        "nothing": "empty_column",
    }


def test_damaged_files(fails, save, write):
    score, member = columns()
    data = save(pa.table({"score": score, "member": member})).read_bytes()
    for cut in (5, 100, len(data) // 2, len(data) - 1):
        fails("bad_parquet", write(data[:cut], "cut.parquet"))
    fails("bad_parquet", write(b"PAR1" + b"x" * 100 + b"PAR1", "junk.parquet"))
    fails("empty_file", write(b"", "none.parquet"))
    table = pa.table([[0.5], [1.5], [True]], names=["score", "score", "member"])
    fails("duplicate_columns", save(table))
    broken = bytearray(data)
    broken[4:40] = b"\xff" * 36
    fails("bad_parquet", write(bytes(broken), "broken.parquet"))


def test_text_with_a_parquet_name_is_read_as_what_it_is(read, write):
    assert read(write("member,score\n1,2.5\n0,1.5\n", "x.parquet")).scores == [[2.5, 1.5]]


@pytest.mark.parametrize("size", [1, 1 << 30])
def test_a_huge_row_group_is_read_through_a_buffer(read, save, monkeypatch, size):
    from mipaudit.data.formats import parquet

    monkeypatch.setattr(parquet, "_READ_AT_ONCE", size)
    score, member = columns()
    words = [f"w{at}" for at in range(ROWS)]
    path = save(pa.table({"score": score, "member": member, "word": words}))
    assert read(path, key_column="word").scores == [score.tolist()]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_neither_pandas_nor_scipy_is_imported(save, write, kind):
    score, member = columns()
    labels = np.where(member, "train", "test")
    rows = "".join(f"{one},{two},{two}\n" for one, two in zip(score, labels, strict=True))
    path = write(f"score,split,key\n{rows}")
    if kind == "parquet":
        path = save(pa.table({"score": score, "split": labels, "key": labels}))
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
    score, member = columns()
    path = save(pa.table({"score": score, "member": member}), use_dictionary=False)
    with open_input(str(path), None, None, ReadRequest()) as source:
        rows = next(source.partitions()[0].batches())
        assert not rows.scores[0].flags.owndata


@pytest.mark.parametrize("make", [pa.decimal128, pa.decimal256])
def test_decimals_that_a_float_cannot_tell_apart(fails, read, save, make):
    """More than 15 digits, without the zeros at the end."""
    texts = ("0.5", "-12.25", "0.1234567890123456", "0.123456789012345", "1234567890123456789.5")
    values = [*map(decimal.Decimal, texts), None, decimal.Decimal("-0.1234567890123456")]
    table = pa.table(
        {"score": pa.array(values, make(38, 18)), "member": [True, False] * 3 + [True]}
    )
    error = fails("large_integers", save(table, row_group_size=3), nan="drop")
    assert "'score' in 3 rows, first in data row 3" in error.message
    narrow = table.set_column(0, "score", table["score"].cast(make(38, 2), safe=False))
    assert read(save(narrow.slice(0, 3)), nan="drop").scores == [[0.5, -12.25, 0.12]]


def test_whole_decimals_are_integers(fails, read, save):
    values = [decimal.Decimal(value) for value in (2**53, -(2**53), 5, 2**53 + 1, -(2**70), 7)]
    table = pa.table({"score": pa.array(values, pa.decimal128(38, 0)), "member": [True, False] * 3})
    error = fails("large_integers", save(table))
    assert "'score' in 2 rows, first in data row 4" in error.message
    assert read(save(table.slice(0, 3))).scores == [[2.0**53, -(2.0**53), 5.0]]


@pytest.mark.parametrize("seed", range(3))
def test_digits_of_decimals_against_python(seed):
    from mipaudit.data.formats.arrow import decimal_floats, merges_decimals

    rng = np.random.default_rng(seed)
    numbers = [
        int(rng.integers(-(2**62), 2**62)) // 10 ** int(rng.integers(19)) for _ in range(900)
    ]
    numbers = [number * 10 ** int(rng.integers(6)) for number in numbers]
    numbers += [10**15, 10**15 - 1, 10**15 + 1, -(2**63), 2**63 - 1, 10**18, 10**19, 0]
    array = pa.array(
        [decimal.Decimal(number).scaleb(-9) for number in numbers], pa.decimal128(38, 9)
    )
    expected = [len(str(abs(number)).rstrip("0")) > 15 for number in numbers]
    np.testing.assert_array_equal(decimal_floats(array), [number / 10**9 for number in numbers])
    assert merges_decimals(array).tolist() == expected
    assert merges_decimals(array.slice(7, 100)).tolist() == expected[7:107]


@pytest.mark.parametrize("kind", [pa.decimal128(12, 4), pa.decimal128(30, 4), pa.decimal256(60, 4)])
def test_decimals_are_the_same_numbers_as_their_text(read, save, write, kind):
    rng = np.random.default_rng(0)
    texts = [f"{number:.4f}" for number in rng.normal(scale=1e3, size=2000)]
    values = pa.array([*map(decimal.Decimal, texts)], kind)
    path = save(pa.table({"score": values, "member": [True, False] * 1000}))
    rows = (f"{text},{1 - at % 2}\n" for at, text in enumerate(texts))
    assert read(path).scores == read(write("score,member\n" + "".join(rows))).scores


@pytest.mark.parametrize("encoded", [False, True])
def test_missing_numbers_are_dropped_where_that_is_said(read, save, encoded):
    values = pa.array([0.5, 1.5, 0.5, 2.5, None, np.nan])
    values = values.dictionary_encode() if encoded else values
    table = pa.table({"score": values, "member": [True, False] * 3})
    everything = read(save(table, row_group_size=2), nan="drop")
    assert (everything.scores, everything.kinds) == ([[0.5, 1.5, 0.5, 2.5]], ["float"])
    assert everything.positions == [0, 1, 2, 3]


def test_labels_whose_dictionaries_differ_between_files(read, save):
    for at, words in enumerate((["test", "train"], ["train", "test"], ["train"], ["test"])):
        codes = np.arange(10) % len(words)
        labels = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), words)
        columns = {"score": np.arange(10.0), "split": labels}
        names = ["score", "split"] if at % 2 else ["split", "score"]
        path = save(pa.table({name: columns[name] for name in names}), f"{at}.parquet")
    expected = [False, True] * 5 + [True, False] * 5 + [True] * 10 + [False] * 10
    assert read(path.parent).member == expected


def test_only_the_columns_that_are_needed_are_decoded(save, monkeypatch):
    from mipaudit.data.formats.parquet import RowGroup

    score, member = columns()
    table = pa.table({"score": score, "member": member, "other": score, "word": member.astype(str)})
    asked = []
    batches = RowGroup._batches

    def noted(self, part, names):
        asked.append(set(names))
        return batches(self, part, names)

    monkeypatch.setattr(RowGroup, "_batches", noted)
    with open_input(str(save(table)), None, None, ReadRequest(score_columns=("score",))) as source:
        for partition in source.partitions():
            list(partition.batches())
    assert set().union(*asked) == {"score", "member"}
