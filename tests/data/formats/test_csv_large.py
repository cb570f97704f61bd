"""A file is read the same whether it counts as small or large, faults included."""

from __future__ import annotations

import errno
import gzip

import numpy as np
import pytest

from mipaudit.data import column
from mipaudit.data.column import ChunkStore
from mipaudit.data.formats import csv_file, csv_text
from mipaudit.data.formats.csv_file import CsvPart
from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest
from mipaudit.errors import MipauditError
from tests.fixtures.files import held

ROWS = 1200
LATE = 1000
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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"key_column": "key"},
        {"key_column": "name"},
        {"unit_column": "name"},
        {"where": "name = n3"},
        {"where": "hits = 4"},
        {"score_columns": ("hits", "score", "flag")},
        {"score_columns": ("name",)},
    ],
)
def test_what_is_asked_of_the_rows(read, write, large, options):
    assert both(read, write(table()), large, **options).scores


def words(at):
    """Return words some blocks of which look like numbers."""
    return {NAME: ("007", "7", "7.0", "1e3", "1000")[at % 5] if at >= 300 else f"n{at % 7}"}


@pytest.mark.parametrize(
    ("options", "change"),
    [
        *(({}, {"every": lambda at, to=to: {MEMBER: to[at % 2]}}) for to in ("Tf", ("1", "-1"))),
        ({}, {"every": lambda at: {MEMBER: ("1.0", "0.0")[at % 2]}}),
        ({}, {"every": lambda at: {MEMBER: ("train", "test")[at % 2]}}),
        ({}, {"every": lambda at: {MEMBER: at > ROWS / 2}}),
        ({}, {"late": {NAME: '"a, b"'}}),
        ({}, {"late": {NAME: '"say ""yes"""'}}),
        ({}, {"late": {FOLD: ""}}),
        ({}, {"late": {FOLD: "text"}}),
        *(
            (
                {"where": f"name = {one}"},
                {"every": lambda at, one=one: {NAME: one} if at > 900 else {}},
            )
            for one in ("naïve é 漢", "Nan")
        ),
        ({"score_columns": ("hits",)}, {"late": {HITS: "0.5"}}),
        ({"score_columns": ("hits",), "nan": "drop"}, {"late": {HITS: ""}}),
        *(({one: "name"}, {"every": words}) for one in ("unit_column", "key_column")),
        *(({"where": f"name = {one}"}, {"every": words}) for one in ("7", "007")),
        ({"score_columns": ("name",)}, {"every": words}),
    ],
)
def test_whatever_the_rows_hold(read, write, large, options, change):
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
        ("ragged_rows", {FOLD: None}, "line {} has 6 cells"),
        ("ragged_rows", dict.fromkeys(range(2, 7)), "line {} has 2 cells"),
        ("ragged_rows", {FOLD: "1,1"}, "line {} has 8 cells"),
        ("unparsable", {SCORE: "oops"}, "line {}, column 'score'"),
        ("decimal_comma", {SCORE: '"0,5"'}, "line {}, column 'score'"),
        ("bad_quotes", {NAME: '"ab'}, "line {}"),
        ("bad_quotes", {NAME: '"1"2'}, "line {}"),
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
        ("ragged_rows", table(every=lambda at: UNEVEN.get(at, {})).encode(), "602 has 6 cells"),
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


def test_parsed_rows_beyond_memory_go_to_an_unlinked_file(write, large, monkeypatch, drained):
    large()
    path = write(table())
    with open_input(str(path), None, None, ReadRequest(key_column="name")) as source:
        expected = drained(source)
    monkeypatch.setattr(column, "IN_MEMORY_BYTES", 100)
    before = set(path.parent.iterdir())
    with open_input(str(path), None, None, ReadRequest(key_column="name")) as source:
        assert drained(source) == expected
        assert drained(source) == expected
        assert set(path.parent.iterdir()) == before


def test_full_disk_while_a_compressed_file_is_parsed(large, monkeypatch):
    def append(self, columns, rows):
        raise OSError(errno.ENOSPC, "No space left on device")

    large()
    part = CsvPart(held(gzip.compress(table().encode())), "gzip")
    monkeypatch.setattr(ChunkStore, "append", append)
    with pytest.raises(OSError, match="No space"):
        part.load({"member", "score"}, ())
