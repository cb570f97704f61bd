"""What Arrow makes of blocks of a text is what Python's csv module and float make of it."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.data.column import column_hashes, column_missing, column_scores
from mipaudit.data.formats import csv_file, csv_text
from mipaudit.data.formats.csv_cells import MISSING, booleans_of, keys_of, labels_of, numbers_of
from mipaudit.data.formats.csv_file import CsvPart
from mipaudit.data.formats.csv_text import (
    Dialect,
    MisfitError,
    blocks,
    in_order,
    read_block,
    records_end,
)
from mipaudit.errors import InputError
from tests.fixtures.files import held

NAMES = ("score", "count", "word", "flag", "key")
HEAD = ("0.5", "3", "x", "true", "7")
SCORES = st.one_of(
    st.floats().map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=25).map(str),
    st.sampled_from(["1e400", "1e-400", "4.9e-324", "-0", "+1", " 2", "3 ", ".5", "1.", "nan(1)"]),
    st.sampled_from(["", "NA", "NaN", "-nan", " nan", "inf", "-Infinity", "0x10", "1_0", "x"]),
)
COUNTS = st.one_of(
    st.integers(-(2**64), 2**64).map(str), st.sampled_from(["", "007", "0x1F", "1.0", "+2", "-0"])
)
WORDS = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=5),
    st.sampled_from(["NA", "007", "7", "none", 'a"b', '"', "two\nlines", " "]),
)
FLAGS = st.sampled_from(["true", "False", "TRUE", "", "NA"])
ROWS = st.lists(st.tuples(SCORES, COUNTS, WORDS, FLAGS, COUNTS), min_size=1, max_size=12)


def written(rows, **how):
    sink = io.StringIO(newline="")
    csv.writer(sink, lineterminator="\n", **how).writerows(rows)
    return sink.getvalue()


def expected(cells):
    """Return the columns as Python reads them; None where a score or a count is no number."""
    scores, counts, words, flags = map(labels_of, cells[:4])
    scores, counts = numbers_of(scores), numbers_of(counts)
    if scores is None or counts is None:
        return None
    return (*map(column_scores, (scores, counts, words, booleans_of(flags))), cells[4])


@given(ROWS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.integers(1, 3))
def test_any_cells_are_what_python_makes_of_them(rows, quoting, threads):
    if any("\r" in row[2] for row in rows):
        quoting = csv.QUOTE_ALL  # Python's writer leaves a lone carriage return bare
    text = written([NAMES, HEAD, *rows], quoting=quoting)
    with pytest.MonkeyPatch.context() as patch:
        # What the columns hold is seen in the first row alone.
        patch.setattr(csv_file, "SMALL_TEXT", len(written([NAMES, HEAD], quoting=quoting)))
        patch.setattr(csv_text, "BLOCK_BYTES", 30)
        part = CsvPart(held(text.encode()), "csv")
    part.threads = threads
    columns = list(zip(HEAD, *rows, strict=True))
    wanted = expected(columns)
    if wanted is None:
        with pytest.raises(InputError) as caught:
            part.load(NAMES, (), {"key"})
        assert caught.value.code == "unparsable"
        return
    part.load(NAMES, (), {"key"})
    found = [chunk.columns for piece in part.pieces() for chunk in piece.chunks(NAMES, 0)]
    for name, values in zip(NAMES[:4], wanted, strict=False):
        own = np.concatenate([column_scores(one[name]) for one in found])
        assert own.tobytes() == values.tobytes()
    keys = [column_hashes(one["key"]) for one in found]
    own = keys_of(labels_of(columns[4]))
    gone = column_missing(own)
    kept = slice(None) if gone is None else ~gone
    hashes = np.concatenate([one.values for one in keys])
    assert hashes[kept].tolist() == column_hashes(own).values[kept].tolist()


@given(st.lists(st.floats(allow_nan=False).map(repr), min_size=1, max_size=200))
def test_floats_are_those_of_python(cells):
    text = "score\n" + "\n".join(cells) + "\n"
    part = CsvPart(held(text.encode()), "csv")
    part.load(("score",), ())
    values = [
        chunk.columns["score"] for piece in part.pieces() for chunk in piece.chunks(NAMES[:1], 0)
    ]
    found = np.concatenate([column_scores(one) for one in values])
    assert found.tolist() == list(map(float, cells))
    assert all(getattr(one, "lost", None) is None for one in values)


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("size", [10, 37, 1 << 20])
def test_blocks_are_the_text_in_whole_records(monkeypatch, size, quoting):
    monkeypatch.setattr(csv_text, "BLOCK_BYTES", size)
    rows = [["1", "a"], ["2", 'say "yes"'], ["3", "two\nlines\n"], ["4", "x" * 60], ["5", ""]] * 9
    text = written(rows, quoting=quoting).encode()
    found = list(blocks(io.BytesIO(text), ",", "x"))
    assert b"".join(found) == text
    cells = [row for one in found for row in csv.reader(io.StringIO(one.decode(), newline=""))]
    assert cells == rows


def test_a_quote_within_a_cell_opens_nothing():
    text = b'1,5" wide\n2,"a\nb"\n3,"c'
    assert records_end(text, ",") == text.index(b"3,")


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        (b'1,a"b\n', ['a"b']),
        (b'1,"a""b"\n', ['a"b']),
        (b'1,"a\nb"\r\n2,x', ["a\nb", "x"]),
        (b"1,a\n  \n2,b\n", ["a", "b"]),
        (b'1,"a"b\n', None),
        (b'1,"ab\n2,3\n', None),
        (b"1,2,3\n", None),
        (b"1\n", None),
    ],
)
def test_quotes_are_read_as_python_reads_them(text, cells):
    import pyarrow as pa

    dialect = Dialect(delimiter=",", names=("a", "b"), header_lines=0, header_bytes=0)
    if cells is None:
        with pytest.raises(MisfitError, match=r"^$"):
            read_block(text, dialect, {"b": pa.string()})
    else:
        _, found = read_block(text, dialect, {"b": pa.string()})
        assert found["b"].to_pylist() == cells


def test_words_that_say_that_a_cell_is_empty():
    text = "member,score,word\n" + "".join(f"1,{one},{one}\n0,1.5,x\n" for one in sorted(MISSING))
    part = CsvPart(held(text.encode()), "csv")
    part.load(("score", "word"), ())
    (chunk,) = (chunk for piece in part.pieces() for chunk in piece.chunks(("score", "word"), 0))
    for name in ("score", "word"):
        assert column_missing(chunk.columns[name]).tolist() == [True, False] * len(MISSING)


def test_results_come_in_order_and_an_error_ends_the_work():
    assert list(in_order(lambda at: at * at, iter(range(50)), 4)) == [at * at for at in range(50)]
    seen = []

    def work(at):
        seen.append(at)
        if at == 3:
            raise ValueError
        return at

    with pytest.raises(ValueError, match=r"^$"):
        list(in_order(work, iter(range(1000)), 2))
    assert len(seen) < 20
