"""Large CSV files give what small ones give, faults included."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from mipaudit.data.csv import blocks as csv_blocks
from mipaudit.data.csv import file as csv_file
from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest
from mipaudit.errors import InputError

ROWS = 5000


@pytest.fixture
def large(monkeypatch):
    """Treat every text above 2,000 bytes as a large file."""
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)


def table(rows=ROWS, *, seed=3):
    rng = np.random.default_rng(seed)
    return [
        [str(at), str(int(rng.integers(2))), repr(float(rng.normal())), f"n{at % 7}", str(at % 9)]
        for at in range(rows)
    ]


def text(rows, names="key,member,score,name,hits"):
    return names + "\n" + "".join(",".join(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"key_column": "key"},
        {"key_column": "name"},
        {"unit_column": "name"},
        {"where": "name = n3"},
        {"where": "hits = 4"},
        {"score_columns": ("hits", "score")},
        {"score_columns": ("name",)},
    ],
)
def test_large_equals_small(read, write, monkeypatch, options):
    path = write(text(table()))
    small = read(path, **options)
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)
    assert read(path, **options) == small


@pytest.mark.parametrize(
    "labels", [("True", "False"), ("train", "test"), ("1", "-1"), ("1.0", "0.0"), ("T", "f")]
)
def test_membership_however_it_is_written(read, write, large, labels):
    rows = table()
    expected = [row[1] == "1" for row in rows]
    for row in rows:
        row[1] = labels[0] if row[1] == "1" else labels[1]
    assert read(write(text(rows))).member == expected


@pytest.mark.parametrize(
    "options",
    [
        {"unit_column": "name"},
        {"key_column": "name"},
        {"score_columns": ("name",)},
        {"where": "name = 7"},
        {"where": "name = 007"},
    ],
)
def test_words_stay_words_where_a_block_of_them_looks_like_numbers(
    read, write, monkeypatch, options
):
    rows = table()
    words = ("007", "7", "7.0", "1e3", "1000")
    for at, row in enumerate(rows):
        row[3] = words[at % len(words)] if at >= 1000 else f"n{at % 7}"
    path = write(text(rows))
    small = read(path, **options)
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 5000)
    assert read(path, **options) == small


def test_sorted_by_class(read, write, large):
    rows = sorted(table(), key=lambda row: row[1])
    assert read(write(text(rows))).member == [row[1] == "1" for row in rows]


@pytest.mark.parametrize("names", ["key,member,score,name,hits", "hits,member,score,name,key"])
def test_quotes_and_delimiters_in_text_are_no_fault(read, write, large, names):
    rows = table()
    rows[4000][3] = '"a, b"'
    rows[4001][3] = '"say ""yes"""'
    everything = read(write(text(rows, names)))
    assert everything.scores[0] == [float(row[2]) for row in rows]


def test_compressed_with_bom_and_crlf(read, write, large):
    rows = table()
    plain = read(write(text(rows)))
    content = "\ufeff" + text(rows).replace("\n", "\r\n")
    assert read(write(gzip.compress(content.encode()))) == plain


@pytest.mark.parametrize(
    ("code", "at", "change"),
    [
        ("ragged_rows", 4000, lambda row: row[:-1]),
        ("ragged_rows", 4000, lambda row: row[:2]),
        ("ragged_rows", 4000, lambda row: [*row, "1"]),
        ("ragged_rows", ROWS - 1, lambda row: row[:-1]),
        ("unparsable", 4000, lambda row: [*row[:2], "oops", *row[3:]]),
        ("decimal_comma", 4000, lambda row: [*row[:2], '"0,5"', *row[3:]]),
        ("many_labels", 4000, lambda row: [row[0], "2", *row[2:]]),
        ("null_membership", 4000, lambda row: [row[0], "", *row[2:]]),
        ("nan_scores", 4000, lambda row: [*row[:2], "", *row[3:]]),
        ("not_a_table", 4000, lambda row: [*row[:3], "a\0b", row[4]]),
        ("bad_quotes", 4000, lambda row: [*row[:3], '"ab', row[4]]),
    ],
)
def test_fault_far_down_is_found(fails, write, large, code, at, change):
    rows = table()
    rows[at] = change(rows[at])
    error = fails(code, write(text(rows)))
    if code in {"ragged_rows", "unparsable", "decimal_comma", "bad_quotes"}:
        assert f"line {at + 2}" in error.message
    if code in {"nan_scores", "null_membership"}:
        assert f"1 row, first in data row {at + 1}" in error.message
    assert "oops" not in str(error)


def test_short_and_long_rows_do_not_cancel(fails, write, large):
    rows = table()
    rows[3000], rows[4000] = rows[3000][:-1], [*rows[4000], "1"]
    assert "line 3002 has 4 cells" in fails("ragged_rows", write(text(rows))).message


def test_last_column_may_have_gaps(read, write, large):
    rows = table()
    rows[3000][4] = ""
    assert len(read(write(text(rows))).member) == ROWS


def test_bytes_that_are_not_utf8(fails, write, large):
    rows = table()
    content = text(rows).encode().replace(b",n3,", b",n\xe9,")
    fails("not_utf8", write(content))
    # Also where the head is clean and the text is beyond it.
    rows[4500][3] = "accent"
    fails("not_utf8", write(text(rows).encode().replace(b"accent", b"\xe9")))


def test_text_beyond_ascii_is_read(read, write, large):
    rows = table()
    for row in rows[4000:]:
        row[3] = "naïve é 漢"
    assert len(read(write(text(rows)), where="name = naïve é 漢").positions) == ROWS - 4000


def test_integers_that_turn_into_fractions_are_floats(read, write, large):
    rows = [[str(at % 2), str(at)] for at in range(ROWS)]
    rows[4000][1] = "0.5"
    everything = read(write(text(rows, "member,hits")))
    assert everything.kinds == ["float"]
    assert everything.scores[0][4000] == 0.5


def test_integers_with_gaps_stay_integers(read, write, large):
    rows = [[str(at % 2), str(at), "x"] for at in range(ROWS)]
    rows[4000][1] = ""
    everything = read(write(text(rows, "member,hits,name")), nan="drop")
    assert everything.kinds == ["integer"]
    assert len(everything.member) == ROWS - 1


def test_no_line_end_at_all(fails, write, large):
    fails("not_a_table", write(b"member,score" + b"1" * 5000))


def test_parsed_rows_beyond_memory_go_to_an_unlinked_file(write, large, monkeypatch, drained):
    from mipaudit.reading.columns import column_cache as store

    path = write(text(table()))
    with open_input(str(path), None, None, ReadRequest(key_column="name")) as source:
        expected = drained(source)
    monkeypatch.setattr(store, "IN_MEMORY_BYTES", 100)
    before = set(path.parent.iterdir())
    with open_input(str(path), None, None, ReadRequest(key_column="name")) as source:
        assert drained(source) == expected
        assert drained(source) == expected
        assert set(path.parent.iterdir()) == before


def test_no_message_of_arrow_gets_out(write, large):
    rows = table()
    rows[4000][2] = "topsecret"
    path = str(write(text(rows)))
    with pytest.raises(InputError) as caught:
        open_input(path, None, None, ReadRequest())
    error: BaseException | None = caught.value
    while error is not None:
        assert "topsecret" not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
