"""A file is read the same in blocks by Arrow as by Python's csv and float, faults included."""

from __future__ import annotations

import csv
import errno
import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.data import column
from mipaudit.data.column import ChunkStore, column_hashes, column_missing, column_scores
from mipaudit.data.formats import csv_file, csv_text
from mipaudit.data.formats.cells import MISSING, booleans_of, keys_of, labels_of, numbers_of
from mipaudit.data.formats.csv_file import CsvPart
from mipaudit.data.formats.csv_text import (
    Dialect,
    MisfitError,
    blocks,
    in_order,
    read_block,
    records_end,
)
from mipaudit.errors import MipauditError
from tests.fixtures.codes import refused
from tests.fixtures.files import drain, held, opened

HEAD_NAMES = ("score", "count", "word", "flag", "key")
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
CELLS = st.lists(st.tuples(SCORES, COUNTS, WORDS, FLAGS, COUNTS), min_size=1, max_size=12)
QUOTING = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL]


def written(rows, **how):
    sink = io.StringIO(newline="")
    csv.writer(sink, lineterminator="\n", **how).writerows(rows)
    return sink.getvalue()


def read_columns(part, names, *more):
    """Return each column's chunks, as the part reads them."""
    part.load(names, (), *more)
    found = [chunk.columns for piece in part.pieces() for chunk in piece.chunks(names, 0)]
    return {name: [one[name] for one in found] for name in names}


@given(CELLS, st.sampled_from(QUOTING), st.integers(1, 3))
def test_any_cells_are_what_python_makes_of_them(rows, quoting, threads):
    if any("\r" in row[2] for row in rows):
        quoting = csv.QUOTE_ALL  # Python's writer leaves a lone carriage return bare
    text = written([HEAD_NAMES, HEAD, *rows], quoting=quoting)
    with pytest.MonkeyPatch.context() as patch:
        # What the columns hold is seen in the first row alone.
        patch.setattr(csv_file, "SMALL_TEXT", len(written([HEAD_NAMES, HEAD], quoting=quoting)))
        patch.setattr(csv_text, "BLOCK_BYTES", 30)
        part = CsvPart(held(text.encode()), "csv")
    part.threads = threads
    scores, counts, words, flags, keys = map(labels_of, zip(HEAD, *rows, strict=True))
    scores, counts, keys = numbers_of(scores), numbers_of(counts), keys_of(keys)
    if scores is None or counts is None:
        refused("unparsable", read_columns, part, HEAD_NAMES, {"key"})
        return
    found = read_columns(part, HEAD_NAMES, {"key"})
    for name, wanted in zip(HEAD_NAMES, (scores, counts, words, booleans_of(flags)), strict=False):
        own = np.concatenate([column_scores(one) for one in found[name]])
        assert own.tobytes() == column_scores(wanted).tobytes()
    gone = column_missing(keys)
    kept = slice(None) if gone is None else ~gone
    hashes = np.concatenate([column_hashes(one).values for one in found["key"]])
    assert hashes[kept].tolist() == column_hashes(keys).values[kept].tolist()


@given(st.lists(st.floats(allow_nan=False).map(repr), min_size=1, max_size=200))
def test_floats_are_those_of_python(cells):
    text = "score\n" + "\n".join(cells) + "\n"
    found = read_columns(CsvPart(held(text.encode()), "csv"), ("score",))["score"]
    assert np.concatenate([*map(column_scores, found)]).tolist() == list(map(float, cells))
    assert all(getattr(one, "lost", None) is None for one in found)


@pytest.mark.parametrize("quoting", QUOTING)
@pytest.mark.parametrize("size", [10, 37, 1 << 20])
def test_blocks_are_the_text_in_whole_records(monkeypatch, size, quoting):
    monkeypatch.setattr(csv_text, "BLOCK_BYTES", size)
    rows = [["1", "a"], ["2", 'say "yes"'], ["3", "two\nlines\n"], ["4", "x" * 60], ["5", ""]] * 9
    text = written(rows, quoting=quoting).encode()
    found = list(blocks(io.BytesIO(text), ",", "x"))
    assert b"".join(found) == text
    cells = [row for one in found for row in csv.reader(io.StringIO(one.decode(), newline=""))]
    assert cells == rows
    # A quote within a cell opens nothing.
    assert records_end(b'1,5" wide\n2,"a\nb"\n3,"c', ",") == len(b'1,5" wide\n2,"a\nb"\n')


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        *((b'1,a"b\n', ['a"b']), (b'1,"a""b"\n', ['a"b']), (b'1,"a"b\n', None)),
        *((b'1,"a\nb"\r\n2,x', ["a\nb", "x"]), (b"1,a\n  \n2,b\n", ["a", "b"])),
        *((text, None) for text in (b'1,"ab\n2,3\n', b"1,2,3\n", b"1\n")),
    ],
)
def test_quotes_are_read_as_python_reads_them(text, cells):
    dialect = Dialect(delimiter=",", names=("a", "b"), header_lines=0, header_bytes=0)
    if cells is None:
        with pytest.raises(MisfitError, match=r"^$"):
            read_block(text, dialect, {"b": pa.string()})
    else:
        assert read_block(text, dialect, {"b": pa.string()})[1]["b"].to_pylist() == cells


def test_words_that_say_that_a_cell_is_empty():
    text = "member,score,word\n" + "".join(f"1,{one},{one}\n0,1.5,x\n" for one in sorted(MISSING))
    found = read_columns(CsvPart(held(text.encode()), "csv"), ("score", "word"))
    for (chunk,) in found.values():
        assert column_missing(chunk).tolist() == [True, False] * len(MISSING)


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


# --- small and large files

ROWS, LATE = 1200, 1000
NAMES = "key,member,score,name,hits,flag,fold"
KEY, MEMBER, SCORE, NAME, HITS, FLAG, FOLD = range(7)


@pytest.fixture
def large(monkeypatch):
    """Treat every text above 2,000 bytes as a large file of many blocks; return how."""

    def enlarge():
        monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)
        monkeypatch.setattr(csv_text, "BLOCK_BYTES", 5000)

    return enlarge


def table(names=NAMES, *, late=None, every=None):
    """Return a text; the cells of one late row, or of every row, may be others."""
    rng = np.random.default_rng(3)
    lines = []
    for at in range(ROWS):
        score = rng.normal() * 10.0 ** rng.integers(-9, 9)
        row = [at, rng.integers(2), repr(float(score)), f"n{at % 7}", at % 9, at % 3 == 0, at / 2]
        changes = {**(every(at) if every else {}), **((late or {}) if at == LATE else {})}
        for place, cell in changes.items():
            row[place] = cell
        lines.append(",".join(str(cell) for cell in row if cell is not None))
    return "\n".join([names, *lines, ""])


def both(read, path, large, **options):
    """Return what a file says as a small one, which it must say as a large one, too."""

    def outcome():
        try:
            return read(path, **options)
        except MipauditError as error:
            return error.code, str(error), error.hint

    small = outcome()
    large()
    assert outcome() == small
    return small


def words(at):
    """Return words some blocks of which look like numbers."""
    return {NAME: ("007", "7", "7.0", "1e3", "1000")[at % 5] if at >= 300 else f"n{at % 7}"}


@pytest.mark.parametrize(
    ("options", "change"),
    [
        *(
            (options, {})
            for options in (
                *({}, {"key_column": "key"}, {"key_column": "name"}, {"unit_column": "name"}),
                *({"where": "name = n3"}, {"where": "hits = 4"}, {"score_columns": ("name",)}),
                {"score_columns": ("hits", "score", "flag")},
            )
        ),
        *(
            ({}, {"every": lambda at, pair=pair: {MEMBER: pair[at % 2]}})
            for pair in ("Tf", ("1", "-1"), ("1.0", "0.0"), ("train", "test"))
        ),
        ({}, {"every": lambda at: {MEMBER: at > ROWS / 2}}),
        *(({}, {"late": {NAME: cell}}) for cell in ('"a, b"', '"say ""yes"""')),
        *(({}, {"late": {FOLD: cell}}) for cell in ("", "text")),
        *(
            (
                {"where": f"name = {one}"},
                {"every": lambda at, one=one: {NAME: one} if at > 900 else {}},
            )
            for one in ("naïve é 漢", "Nan")
        ),
        ({"score_columns": ("hits",)}, {"late": {HITS: "0.5"}}),
        ({"score_columns": ("hits",), "nan": "drop"}, {"late": {HITS: ""}}),
        *(
            (options, {"every": words})
            for options in (
                *({"unit_column": "name"}, {"key_column": "name"}, {"score_columns": ("name",)}),
                *({"where": f"name = {one}"} for one in ("7", "007")),
            )
        ),
    ],
)
def test_whatever_the_rows_hold_and_is_asked_of_them(read, write, large, options, change):
    assert both(read, write(table(**change)), large, **options).scores


@pytest.mark.parametrize("word", ["Nan", "nAN", "+nan", "-NAN", " nan", "NaN", "NA", ""])
@pytest.mark.parametrize("place", [SCORE, HITS])
def test_late_missing_score_however_it_is_written(read, write, large, word, place):
    column = NAMES.split(",")[place]
    path = write(table(late={place: word}))
    code, said, _ = both(read, path, large, score_columns=(column,))
    assert code == "nan_scores"
    assert f"1 row, first in data row {LATE + 1}" in said
    assert len(read(path, score_columns=(column,), nan="drop").member) == ROWS - 1


@pytest.mark.parametrize(
    ("code", "cells", "place"),
    [
        ("ragged_rows", {FOLD: None}, "line {} has another number of cells than the header (6,"),
        (
            "ragged_rows",
            dict.fromkeys(range(2, 7)),
            "line {} has another number of cells than the header (2,",
        ),
        ("ragged_rows", {FOLD: "1,1"}, "line {} has another number of cells than the header (8,"),
        ("unparsable", {SCORE: "oops"}, "line {}, column 'score'"),
        ("decimal_comma", {SCORE: '"0,5"'}, "line {}, column 'score'"),
        *(("bad_quotes", {NAME: cell}, "line {}") for cell in ('"ab', '"1"2')),
        ("many_labels", {MEMBER: "2"}, ""),
        ("null_membership", {MEMBER: ""}, f"1 row, first in data row {LATE + 1}"),
    ],
)
def test_fault_far_down_is_found(read, write, large, code, cells, place):
    found, said, _ = both(read, write(table(late=cells)), large)
    assert found == code
    assert place.format(LATE + 2) in said
    assert "oops" not in said


UNEVEN = {600: {FOLD: None}, 900: {FOLD: "1,1"}}
FLAGS = table("key,member,id,name,label,flag,fold", late={FLAG: "topsecret"}).encode()


@pytest.mark.parametrize(
    ("code", "text", "said"),
    [
        ("not_a_table", table(late={NAME: "a\0b"}).encode(), ""),
        ("not_utf8", table().encode().replace(b",n3,", b",n\xe9,"), ""),
        ("not_utf8", table(late={NAME: "accent"}).encode().replace(b"accent", b"\xe9"), ""),
        ("not_a_table", b"member,score" + b"1" * 5000, ""),
        ("bad_quotes", table(every=lambda at: {NAME: '"1"2'} if at == 3 else {}).encode(), ""),
        ("bad_quotes", table(every=lambda at: {NAME: '"1'} if at == 0 else {}).encode(), ""),
        ("long_row", b"member,score,note\n1,0.5," + b"x" * 5000 + b"\n0,1,y\n", ""),
        ("ragged_rows", table(every=lambda at: UNEVEN.get(at, {})).encode(), "header (6, not 7)"),
        ("mixed_column", FLAGS, "'flag'"),
        ("unparsable", table(late={SCORE: "topsecret"}).encode(), "'score'"),
    ],
)
def test_faults_that_a_large_file_tells_in_its_own_words(fails, write, large, code, text, said):
    """Nor do an error's causes hold a cell, as messages of Arrow do."""
    large()
    for options in ({}, {"score_columns": ("flag",)})[: 1 + (text is FLAGS)]:
        error = fails(code, write(text), **options)
        assert said in error.message
        assert "topsecret" not in str(error)


def test_compressed_with_bom_and_crlf(read, write, large):
    plain = read(write(table()))
    large()
    content = "\ufeff" + table().replace("\n", "\r\n")
    assert read(write(gzip.compress(content.encode()))) == plain


def test_quoted_cell_across_the_end_of_the_head(read, write, monkeypatch):
    rows = (f"{at % 2},{at}.5," + '"' + "line\n" * 40 + 'of ""text"""\n' for at in range(100))
    path = write("member,score,note\n" + "".join(rows))
    small = read(path)
    for size in range(1500, 1800, 7):
        monkeypatch.setattr(csv_file, "SMALL_TEXT", size)
        assert read(path) == small


def test_parsed_rows_beyond_memory_go_to_an_unlinked_file(write, large, monkeypatch):
    large()
    path = write(table())
    with opened(str(path), key_column="name") as source:
        expected = drain(source)
    monkeypatch.setattr(column, "IN_MEMORY_BYTES", 100)
    before = set(path.parent.iterdir())
    with opened(str(path), key_column="name") as source:
        assert drain(source) == drain(source) == expected
        assert set(path.parent.iterdir()) == before


def test_full_disk_while_a_compressed_file_is_parsed(large, monkeypatch):
    def append(self, columns, rows):
        raise OSError(errno.ENOSPC, "No space left on device")

    large()
    part = CsvPart(held(gzip.compress(table().encode())), "gzip")
    monkeypatch.setattr(ChunkStore, "append", append)
    with pytest.raises(OSError, match="No space"):
        part.load({"member", "score"}, ())
