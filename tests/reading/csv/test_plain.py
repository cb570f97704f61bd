"""Plain text by Arrow is what pandas makes of it, whatever the cells, pieces and threads."""

from __future__ import annotations

import gzip
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import MemoryBlob
from mipaudit.reading.columns.column import column_hashes, column_scores
from mipaudit.reading.columns.column_cache import ChunkStore
from mipaudit.reading.csv import stream as csv_stream
from mipaudit.reading.csv.dialect import Dialect
from mipaudit.reading.csv.large import LargeCsv, SeenLateError
from mipaudit.reading.csv.stream import NotPlainError, Piece, PlainReader, in_order, pieces

NAMES = ("score", "count", "word", "flag", "key")
KINDS = {"score": "float", "count": "integer", "word": "string", "flag": "bool", "key": "integer"}
SCORES = st.one_of(
    st.floats().map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=25).map(str),
    st.sampled_from(["1e400", "1e-400", "4.9e-324", "-0", "+1", " 2", "3 ", ".5", "1.", "nan(1)"]),
    st.sampled_from(
        ["", "NA", "NaN", "-nan", " nan", "inf", "-Infinity", "0x10", "1_0", "x", "1,5"]
    ),
)
COUNTS = st.one_of(
    st.integers(-(2**64), 2**64).map(str), st.sampled_from(["", "007", "0x1F", "1.0", "+2", "-0"])
)
WORDS = st.one_of(
    st.text(st.characters(exclude_characters="\0\r\n,", exclude_categories=("Cs",)), max_size=5),
    st.sampled_from(["NA", "007", "7", "none", "x"]),
)
FLAGS = st.sampled_from(["true", "False", "TRUE", "", "NA", "yes"])
ROWS = st.lists(
    st.tuples(SCORES, COUNTS, WORDS, FLAGS, COUNTS).map(",".join), min_size=1, max_size=12
)


def csv_of(text, threads=1, names=NAMES, **kinds):
    header = ",".join(names) + "\n"
    dialect = Dialect(delimiter=",", names=names, header_lines=1, header_bytes=len(header))
    return LargeCsv(
        blob=MemoryBlob(name="x", data=(header + text).encode()),
        format="csv",
        dialect=dialect,
        kinds={**{name: KINDS[name] for name in names}, **kinds},
        keys=frozenset({"key"}),
        threads=threads,
    )


def outcome(csv):
    """Return what came of a file, to the last bit, or its error."""
    store = ChunkStore()
    try:
        kinds = csv.parse(store, NAMES, {"word"})
    except InputError as error:
        return error.code
    except SeenLateError as late:
        return late.exact, late.words
    columns = [store.get(at, NAMES) for at in range(len(store.rows))]
    scores = {
        name: np.concatenate([column_scores(one[name]) for one in columns]).tobytes()
        for name in NAMES
    }
    keys = np.concatenate([column_hashes(one["key"]).values for one in columns]).tobytes()
    return kinds, scores, keys


def by_pandas(csv):
    class ByPandas(type(csv)):
        def _parse_plain(self, store):
            raise NotPlainError

    return ByPandas(
        blob=csv.blob, format=csv.format, dialect=csv.dialect, kinds=csv.kinds, keys=csv.keys
    )


@given(ROWS)
def test_any_cells_are_what_pandas_makes_of_them(rows):
    csv = csv_of("\n".join(rows) + "\n")
    plain, other = outcome(csv), outcome(by_pandas(csv))
    assert plain == other


@given(st.lists(st.floats(allow_nan=False).map(repr), min_size=1, max_size=200), st.integers(1, 3))
def test_floats_are_those_of_python(cells, threads):
    csv = csv_of("".join(f"{cell},1,a,true,5\n" for cell in cells), threads)
    store = ChunkStore()
    with suppress(SeenLateError):
        csv.parse(store, ("score",), ())
    values = np.concatenate(
        [store.get(at, ("score",))["score"].values for at in range(len(store.rows))]
    )
    assert values.tolist() == list(map(float, cells))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [200, 3000, 1 << 20])
def test_pieces_and_threads_change_nothing(monkeypatch, threads, size):
    rng = np.random.default_rng(4)
    text = "".join(
        f"{score!r},{at % 40},n{at % 7},{at % 2 == 0},{at}\n"
        for at, score in enumerate(rng.normal(size=3000).tolist())
    )
    expected = outcome(csv_of(text))
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", size)
    assert outcome(csv_of(text, threads)) == expected


def test_pieces_are_the_text_in_whole_lines(monkeypatch):
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", 10)
    text = b"1,2\n33,44\r\n5,6\n\n7,8"
    found = list(pieces(MemoryBlob(name="x", data=text).open().__enter__()))
    assert b"".join(one.text for one in found) == text
    assert all(one.text.endswith(b"\n") for one in found[:-1])
    assert [one.at for one in found] == list(range(len(found)))


def test_a_line_longer_than_a_piece_is_not_plain(monkeypatch):
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", 10)
    with pytest.raises(NotPlainError):
        list(pieces(MemoryBlob(name="x", data=b"1" * 40 + b"\n").open().__enter__()))


@pytest.mark.parametrize(
    "text",
    [
        '1,"2"\n',
        "1,2\0\n",
        "1,2,3\n",
        "1\n",
        "nan(1),2\n",
        "1,0x1f\n",
        "1,\n",
        "1,é".encode("latin-1"),
    ],
)
def test_what_may_be_understood_otherwise_is_not_plain(text):
    reader = PlainReader(
        names=("a", "b"), delimiter=",", wanted={"a": "float", "b": "integer"}, words=()
    )
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(NotPlainError):
        reader.columns(Piece(text=b"3,4\n" + data, at=0))


def test_results_come_in_order_and_an_error_ends_the_work():
    assert list(in_order(lambda at: at * at, iter(range(50)), 4)) == [at * at for at in range(50)]
    seen = []

    def work(at):
        seen.append(at)
        if at == 3:
            raise NotPlainError
        return at

    with pytest.raises(NotPlainError):
        list(in_order(work, iter(range(1000)), 2))
    assert len(seen) < 20


def test_a_plain_file_takes_no_pandas(tmp_path):
    rng = np.random.default_rng(2)
    lines = [f"{at % 2},{score!r}\n" for at, score in enumerate(rng.normal(size=300_000).tolist())]
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(gzip.compress(("member,score\n" + "".join(lines)).encode(), 1))
    code = (
        "import sys; from mipaudit.reading.source.opening import open_scores\n"
        "from mipaudit.reading.source.request import ReadRequest\n"
        f"open_scores(ReadRequest(scores={str(path)!r}))\n"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
