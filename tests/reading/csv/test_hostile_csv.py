"""CSV files and moments that once gave a wrong answer or a wrong error."""

from __future__ import annotations

import errno
import gzip
import warnings

import numpy as np
import pytest

import mipaudit
from mipaudit.data.csv import blocks as csv_blocks
from mipaudit.data.csv import file as csv_file
from mipaudit.data.csv.file import CsvPart
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.bytes.unpacked import plain_stream
from mipaudit.reading.columns.column_cache import ChunkStore
from tests.fixtures.files import held

ROWS = 5000
OUT_OF_SPACE = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def large(monkeypatch):
    """Treat every text above 2,000 bytes as a large file."""
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)


def text(names, rows):
    return names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def scored(seed=1):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=ROWS) * 10.0 ** rng.integers(-9, 9, size=ROWS)
    return [[at % 2, value] for at, value in enumerate(values.tolist())]


def test_floats_of_a_large_file_are_those_of_a_small_one(read, write, large):
    rows = scored()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(write(text("member,score", rows))).scores[0] == [row[1] for row in rows]


@pytest.mark.parametrize("options", [{}, {"score_columns": ("flag",)}])
def test_booleans_and_text_in_blocks_of_their_own(fails, write, large, monkeypatch, options):
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 5000)
    rows = [[at % 2, at % 3 == 0] for at in range(ROWS)]
    rows[4000][1] = "topsecret"
    error = fails("mixed_column", write(text("member,flag", rows)), **options)
    assert "'flag'" in error.message
    assert "topsecret" not in str(error)


def test_booleans_in_every_block_are_booleans(read, write, large, monkeypatch):
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 5000)
    rows = [[at % 2, at % 3 == 0] for at in range(ROWS)]
    everything = read(write(text("member,flag", rows)))
    assert everything.kinds == ["bool"]
    assert everything.scores[0] == [float(at % 3 == 0) for at in range(ROWS)]


@pytest.mark.parametrize(
    "first",
    [
        "anna,1,train",
        "anna,1.5,train",
        "anna,-3e4,train",
        'anna,"1,5",train',
        "1980-02-29,train,x",
        "1980-02-29 10:00:00,train,x",
        "29.02.1980,train,x",
        "2/29/80,train,x",
        "anna@example.org,train,x",
    ],
)
def test_record_is_not_taken_for_the_header(fails, write, first):
    path = write(f"{first}\n" * 3)
    error = fails("no_header", path)
    # The file's own name is no value of the data, and its folder is numbered.
    said = str(error).replace(str(path), "")
    for value in ("anna", "1980", "80", "1.5", "1,5", "3e4", "train", "@"):
        assert value not in said


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("Anna,Rome,", "{name},{city},0.{at}"),
        ("Anna,Rome,NA", "{name},{city},0.{at}"),
        ("Anna,Rome,-inf", "{name},{city},{at}"),
        ("Anna,Rome,tall", "{name},{city},{word}"),
        ("Anna,Rome,", "{name},{city},{word}"),
    ],
)
def test_no_cell_of_a_first_row_is_printed(write, first, rest, capfd):
    rows = [
        rest.format(name=f"N{'x' * at}", city=f"C{'y' * at}", at=at, word="abc"[at % 3] * at)
        for at in range(1, 40)
    ]
    path = str(write("\n".join([first, *rows]) + "\n"))
    asked = [
        lambda: mipaudit.estimate(path),
        lambda: mipaudit.estimate(path, member_col="class"),
        lambda: mipaudit.estimate(members=path, holdout=path),
        lambda: mipaudit.estimate(path, where="ana = 1"),
        lambda: mipaudit.check(path),
        lambda: mipaudit.shift(path, path, columns=["tal"]),
        lambda: mipaudit.noise(splits=path, eta=0.1),
    ]
    for ask in asked:
        with pytest.raises((InputError, UsageError)) as caught:
            ask()
        said = str(caught.value).replace(path, "")
        assert "Anna" not in said
        assert "Rome" not in said
        assert "tall" not in said
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["tpr@0.1", "nan", "inf", "score_1", "1st", "loss 2", "v1.2"])
def test_odd_column_names_are_names(read, write, name):
    path = write(f"member,{name}\n1,0.5\n0,1.5\n")
    assert read(path, score_columns=(name,)).scores == [[0.5, 1.5]]


def test_columns_of_one_name_are_told_by_position(fails, write):
    error = fails("duplicate_columns", write("anna,bert,anna\nx,y,z\n"))
    assert "columns 1 and 3" in error.message
    assert "anna" not in str(error)


def test_quoted_cell_across_the_end_of_the_head(read, write, monkeypatch):
    rows = [[at % 2, f"{at}.5", '"' + "line\n" * 40 + 'of ""text"""'] for at in range(100)]
    path = write(text("member,score,note", rows))
    small = read(path)
    for size in range(1500, 1800, 7):
        monkeypatch.setattr(csv_file, "SMALL_TEXT", size)
        assert read(path) == small


def test_quotes_that_do_not_match_in_the_head(fails, write, large):
    rows = scored()
    rows[3][1] = '"1"2'
    assert "line 5" in fails("bad_quotes", write(text("member,score", rows))).message
    rows[3][1], rows[0][1] = "1", '"1'
    assert "line 2" in fails("bad_quotes", write(text("member,score", rows))).message


def test_unused_last_column_may_turn_into_text(read, write, large):
    rows = [[*row, at / 2] for at, row in enumerate(scored())]
    rows[4000][2] = "text"
    rows[4001][2] = "NA"
    everything = read(write(text("member,score,label", rows)))
    assert everything.scores[0] == [row[1] for row in rows]


def test_short_row_is_found_by_an_unused_last_column(fails, write, large):
    rows = [[*row, at / 2] for at, row in enumerate(scored())]
    del rows[4000][2]
    assert (
        "line 4002 has 2 cells"
        in fails("ragged_rows", write(text("member,score,label", rows))).message
    )


@pytest.mark.parametrize("word", ["Nan", "nAN", "+nan", "-NAN", " nan", "NaN", "NA"])
@pytest.mark.parametrize("number", [float, int])
def test_late_missing_score_however_it_is_written(fails, read, write, large, word, number):
    rows = [[member, number(at)] for at, (member, _) in enumerate(scored())]
    rows[4000][1] = word
    path = write(text("member,score", rows))
    assert "1 row, first in data row 4001" in fails("nan_scores", path).message
    assert len(read(path, nan="drop").member) == ROWS - 1


def test_text_column_keeps_the_words_that_only_numbers_miss(read, write, large):
    rows = [[*row, "b" if at % 5 else "Nan"] for at, row in enumerate(scored())]
    assert len(read(write(text("member,score,note", rows)), where="note = Nan").member) == 1000


def compressed(kind, data):
    if kind == "gzip":
        return gzip.compress(data)
    import pyarrow as pa

    return pa.compress(data, codec="zstd", asbytes=True)


@pytest.mark.parametrize("kind", ["csv", "gzip", "zstd"])
def test_full_disk_is_not_a_damaged_file(kind):
    data = b"member,score\n1,0.5\n" * 100
    content = data if kind == "csv" else compressed(kind, data)

    def fill_the_disk():
        with plain_stream(held(content), kind) as stream:
            stream.read(10)
            raise OUT_OF_SPACE

    with pytest.raises(OSError, match="No space") as caught:
        fill_the_disk()
    assert caught.value is OUT_OF_SPACE


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_damaged_file_is_still_told(kind):
    content = compressed(kind, np.random.default_rng(0).bytes(5000))[:-2000]

    def read_all():
        with plain_stream(held(content), kind) as stream:
            while stream.read(1000):
                pass

    with pytest.raises(InputError) as caught:
        read_all()
    assert caught.value.code == "truncated"


def test_full_disk_while_a_compressed_file_is_parsed(large, monkeypatch):
    data = gzip.compress(text("member,score", scored()).encode())
    part = CsvPart(held(data), "gzip")

    def append(self, columns, rows):
        raise OUT_OF_SPACE

    monkeypatch.setattr(ChunkStore, "append", append)
    with pytest.raises(OSError, match="No space"):
        part.load({"member", "score"}, ())


@pytest.mark.parametrize("size", [100_000, 131_073, 500_000])
def test_cell_of_any_length(read, write, size):
    everything = read(write(f"member,score,note\n1,0.5,{'x' * size}\n0,1.5,y\n"))
    assert everything.scores == [[0.5, 1.5]]


def test_message_on_a_bad_row_beside_a_long_cell(fails, write):
    content = f"member,score,note\n1,0.5,{'x' * 200_000}\n0,1.5\n"
    assert "line 3 has 2 cells" in fails("ragged_rows", write(content)).message
