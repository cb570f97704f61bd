"""The small CSV reader beside pandas, on generated tables."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.data.csv.cells import MISSING, is_number, labels_of, numbers_of
from mipaudit.data.csv.file import CsvPart
from mipaudit.reading.bytes.blob import MemoryBlob
from mipaudit.reading.columns.column import column_scores

CELLS = st.text(
    alphabet=st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=6
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.sampled_from(["inf", "-inf", "Infinity", "+1", ".5", "1.", "1e400", "1E-3", " 2", "3 "]),
)


def written(rows, delimiter, line_end):
    sink = io.StringIO()
    # All cells in quotes: Python's writer leaves a lone carriage return bare, which ends a line.
    quoting = csv.QUOTE_ALL if any("\r" in cell for row in rows for cell in row) else 0
    csv.writer(sink, delimiter=delimiter, lineterminator=line_end, quoting=quoting).writerows(rows)
    return sink.getvalue()


@given(
    st.lists(st.tuples(NUMBERS, CELLS, st.sampled_from("01")), min_size=1, max_size=20),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_same_table_as_pandas(rows, delimiter, line_end):
    text = written([("score", "name", "member"), *rows], delimiter, line_end)
    part = CsvPart(MemoryBlob(name="x", data=text.encode()), "csv")
    part.load(("score", "name", "member"), ())
    found = [chunk.columns for piece in part.pieces() for chunk in piece.chunks(part._kinds, 0)]
    frame = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=delimiter,
        dtype={"score": "float64", "name": "category"},
        keep_default_na=False,
        na_values=sorted(MISSING),
        index_col=False,
        skip_blank_lines=True,
    )
    scores = np.concatenate([column_scores(chunk["score"]) for chunk in found])
    np.testing.assert_array_equal(scores, frame["score"].to_numpy())
    members = np.concatenate([column_scores(chunk["member"]) for chunk in found])
    np.testing.assert_array_equal(members, frame["member"].to_numpy())


@given(st.lists(st.one_of(NUMBERS, st.sampled_from(sorted(MISSING))), min_size=1, max_size=30))
def test_numbers_with_gaps(cells):
    parsed = numbers_of(labels_of(cells))
    assert parsed is not None
    missing = np.zeros(len(cells), bool) if parsed.missing is None else parsed.missing
    scores = column_scores(parsed)
    for at, cell in enumerate(cells):
        assert missing[at] == (cell in MISSING)
        if not missing[at]:
            assert scores[at] == float(cell)


@given(CELLS)
def test_what_is_a_number_is_what_pandas_says(cell):
    if is_number(cell) and cell not in MISSING:
        assert numbers_of(labels_of((cell,))) is not None
        assert math.isnan(float(cell)) or cell.strip()
    elif cell not in MISSING:
        assert numbers_of(labels_of((cell,))) is None


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8))
def test_any_text_survives(rows):
    names = ("score", "a", "b")
    text = written([names, *(["1", *row[1:]] for row in rows)], ",", "\n")
    part = CsvPart(MemoryBlob(name="x", data=text.encode()), "csv")
    part.load(("score",), ())
    assert sum(piece.rows for piece in part.pieces()) == len(rows)
