from __future__ import annotations

import gzip
import io

import numpy as np
import pyarrow.parquet as pq
import pytest

from mipaudit.errors import InputError
from mipaudit.output.rows import row_format, table_of, write_rows

CHUNKS = (
    {"id": np.arange(2), "member": np.array([True, False]), "score": np.array([0.1, np.inf])},
    {"score": np.array([-1e-300]), "member": np.array([True]), "id": np.array([2])},
)
COLUMNS = ("id", "member", "score")
TEXT = b"id,member,score\n0,true,0.1\n1,false,inf\n2,true,-1e-300\n"


def written(form, chunks=CHUNKS):
    file = io.BytesIO()
    write_rows(file, chunks, form, columns=COLUMNS)
    return file.getvalue()


FORMS = {"a.csv": "csv", "a.CSV": "csv", "a.csv.gz": "csv.gz", "dir.csv/a.parquet": "parquet"}
FORMS |= dict.fromkeys(("a.gz", "a.json", "csv"))


def test_the_name_tells_the_form():
    assert {name: row_format(name) for name in FORMS} == FORMS


def test_csv_compressed_or_not_is_the_same_bytes_every_time():
    assert written("csv") == gzip.decompress(written("csv.gz")) == TEXT
    assert written("csv.gz") == written("csv.gz")


def test_parquet():
    table = pq.read_table(io.BytesIO(written("parquet")))
    assert table.column_names == list(COLUMNS)
    assert table.to_pydict() == table_of(CHUNKS, columns=COLUMNS).to_pydict()
    assert table.column("score").to_pylist() == [0.1, np.inf, -1e-300]
    assert str(table.schema.field("member").type) == "bool"


def test_every_number_reads_back_the_same():
    scores = np.random.default_rng(0).standard_cauchy(1000)
    chunk = {"id": np.arange(1000), "member": scores > 0, "score": scores}
    lines = written("csv", [chunk]).decode().splitlines()[1:]
    assert (np.array([float(line.split(",")[2]) for line in lines]) == scores).all()


def test_a_chunk_at_a_time():
    seen = []

    def chunks():
        for chunk in CHUNKS:
            seen.append(file.tell())
            yield chunk

    file = io.BytesIO()
    write_rows(file, chunks(), "csv", columns=COLUMNS)
    assert seen == [16, 39]


def quoted(form, *chunks):
    file = io.BytesIO()
    write_rows(file, chunks, form, columns=tuple(chunks[0]), quoted=True)
    return gzip.decompress(file.getvalue()) if form == "csv.gz" else file.getvalue()


@pytest.mark.parametrize("form", ["csv", "csv.gz"])
def test_text_is_quoted_on_request(form):
    words = (["a, b", 'say "x"'], ["c"])
    rows = ([0, 1], [2])
    chunks = [
        {"row": np.array(row), 'w"ho,': np.array(word, dtype=object)}
        for row, word in zip(rows, words, strict=True)
    ]
    assert quoted(form, *chunks).decode() == ('row,"w""ho,"\n0,"a, b"\n1,"say ""x"""\n2,"c"\n')


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_key_must_not_change_its_type(form):
    mixed = ({"who": np.array([1, 2])}, {"who": np.array(["secret"], dtype=object)})
    with pytest.raises(InputError, match="different types") as caught:
        quoted(form, *mixed)
    assert "secret" not in str(caught.value)
