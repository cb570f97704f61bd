"""CSV files, small ones: what is understood, and what is a clear error."""

from __future__ import annotations

import errno
import gzip
import math

import numpy as np
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.data.files.contents import plain_stream
from mipaudit.errors import InputError, UsageError
from tests.fixtures.files import held

GOOD = "member,score\n1,0.5\n0,-1.25\n1,2\n"
NAN = "member,score,loss\n1,1.5,2.5\n0,,1\n1,,nan\n0,1,1\n"
LABELS = "member,score\n" + "".join(f"label{at},{at}.5\n" for at in range(7))
LONG = np.random.default_rng(0).bytes(5000)


INF = math.inf
INFINITE = "member,score\n1,inf\n0,-inf\n1,Infinity\n0,-Infinity\n1,0\n"
ODD = ("tpr@0.1", "nan", "inf", "score_1", "1st", "loss 2", "v1.2")
ROWS = "1,0.5\n0,1.5\n"


@pytest.mark.parametrize(
    ("text", "kind", "scores", "name", "options"),
    [
        (GOOD, "float", [0.5, -1.25, 2.0], "score", {}),
        (INFINITE, "float", [INF, -INF, INF, -INF, 0.0], "score", {}),
        ("member,hits,right\n1,3,true\n0,4,false\n", "integer", [3.0, 4.0], "hits", {}),
        ("member,right\n1,true\n0,false\n", "bool", [1.0, 0.0], "right", {}),
        ("member,score,note\n1,0.5,x\n0,1.5,3\n", "float", [0.5, 1.5], "score", {}),
        ("member,hits\n1,3\n0,\n0,4\n", "integer", [3.0, 4.0], "hits", {"nan": "drop"}),
        *(
            (f"member,{name}\n{ROWS}", "float", [0.5, 1.5], name, {"score_columns": (name,)})
            for name in ODD
        ),
        *(
            (f"member,score,note\n1,0.5,{'x' * size}\n0,1.5,y\n", "float", [0.5, 1.5], "score", {})
            for size in (100_000, 131_073, 500_000)
        ),
    ],
)
def test_what_a_small_file_holds(read, write, text, kind, scores, name, options):
    everything = read(write(text), **options)
    assert (everything.names, everything.kinds, everything.scores) == ([name], [kind], [scores])
    assert everything.keys is None
    if text == GOOD:
        assert (everything.member, everything.positions) == ([True, False, True], [0, 1, 2])


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        gzip.compress(GOOD.encode()),
        pa.compress(GOOD.encode(), codec="zstd", asbytes=True),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace(",", "|"),
        GOOD.replace("0.5", '"0.5"').replace("-1.25", '"-1.25"'),
        GOOD.replace("member,score", '"member","score"'),
        GOOD.replace("member,score", "member, score"),
        GOOD.rstrip("\n"),
        "\n\n" + GOOD + "\n\n",
        GOOD.replace("\n", "\n\n"),
        GOOD.replace("0.5", " 0.5").replace("2\n", "2.0\n"),
        GOOD.replace("0.5", "5e-1"),
        "member,score\ntrain,0.5\ntest,-1.25\nTRAIN ,2\n",
        "member,score\nTrue,0.5\nFalse,-1.25\nTrue,2\n",
        "member,score\n1,0.5\n-1,-1.25\n1,2\n",
        "member,score\n1.0,0.5\n0.0,-1.25\n1.0,2\n",
        "Member,score\nyes,0.5\nno,-1.25\nyes,2\n",
        "split,score\ntrain,0.5\nholdout,-1.25\ntrain,2\n",
    ],
)
def test_ways_to_write_the_same_table(read, write, text):
    everything = read(write(text))
    assert everything.member == [True, False, True]
    assert everything.scores == [[0.5, -1.25, 2.0]]


def test_kinds_and_choice_of_columns(read, write):
    text = (
        ",record_id,member,label,loss,conf_true,correct,sex,empty\n"
        "0,7,1,3,0.5,1,1,F,\n1,8,0,4,0.25,0,0,M,\n"
    )
    everything = read(write(text))
    # conf_true is written without fractions, and its name says what it is all the same.
    assert everything.names == ["loss", "conf_true", "correct"]
    assert everything.skipped["sex"].code == "text_column"
    assert everything.skipped["empty"].code == "empty_column"
    assert set(everything.skipped) == {
        *("unnamed:0", "record_id", "label", "sex", "empty"),
    }


def test_text_column_can_be_named_as_score(read, write):
    text = "member,answer\n1,a\n0,b\n1,a\n0,\n"
    everything = read(write(text), score_columns=("answer",), nan="drop")
    assert everything.kinds == ["string"]
    first, second, third = everything.scores[0]
    assert first == third != second
    assert first == int(first) < 2**53


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("empty_file", b""),
        ("empty_file", b"\n \n"),
        ("empty_file", b"\xef\xbb\xbf"),
        ("no_rows", b"member,score\n"),
        ("no_rows", b"member,score\n\n"),
        ("ragged_rows", b"member,score\n1,0.5\n0\n"),
        ("ragged_rows", b"member,score\n1,0.5\n0,1,2\n"),
        ("ragged_rows", b"member,score\n1,0,5\n0,1,2\n"),
        ("bad_quotes", b'member,score\n1,0.5\n"0,1\n1,2\n'),
        ("bad_quotes", b'member,score\n1,0.5\n0,"1"2\n'),
        ("bad_quotes", b'"member,score\n1,0.5\n'),
        ("decimal_comma", b"member;score\n1;0,5\n0;1,25\n"),
        ("decimal_comma", b'member,score\n1,"0,5"\n0,"1,25"\n'),
        ("unparsable", b"member,score\n1,0.5\n0,12.oops\n"),
        ("unparsable", b"member,score\n1,0.5\n0,1_000\n"),
        ("unparsable", b"member,other\n1,0.5\n0,2.5\n1,secret\n"),
        ("duplicate_columns", b"member,score,score\n1,2,3\n"),
        ("no_header", b"1,0.5\n0,0.25\n"),
        ("no_header", b"anna,1,train\n" * 3),
        ("no_header", b"anna,-3e4,train\n" * 3),
        ("no_header", b'anna,"1,5",train\n' * 3),
        ("no_header", b"1980-02-29,train,x\n" * 3),
        ("no_header", b"1980-02-29 10:00:00,train,x\n" * 3),
        ("no_header", b"29.02.1980,train,x\n" * 3),
        ("no_header", b"2/29/80,train,x\n" * 3),
        ("no_header", b"anna@example.org,train,x\n" * 3),
        ("no_header", b"Meier\nMay\nMeier\n"),
        ("no_header", b"Meier,Rome,NA\nMay,Oslo,0.5\nLee,Bonn,1.5\n"),
        ("no_header", b"Meier,Rome,\nMay,Oslo,0.5\nLee,Bonn,1.5\n"),
        ("no_header", b"Meier,-inf\nMay,0.5\nLee,1.5\n"),
        ("no_header", b"Meier,Rome,member\nMay,Oslo,holdout\nLee,Bonn,member\n"),
        ("no_header", b"Meier,ill,train,loss\nMay,ill,test,a\nMay,well,train,b\n"),
        ("no_header", b"member,score\n1,0.5\nmember,score\n0,0.5\n"),
        ("not_utf8", b"member,score,name\n1,0.5,caf\xe9\n0,1.5,x\n"),
        ("not_utf8", "member,score\n1,0.5\n".encode("utf-16")),
        ("not_a_table", b"member,score\n1,\x000.5\n"),
        ("no_member_column", b"who,score\n1,0.5\n0,1.5\n"),
        ("no_member_column", b"member:score\n1:0.5\n0:1.5\n"),
        ("ambiguous_membership", b"member,split,score\n1,train,0.5\n0,test,1.5\n"),
        ("many_labels", b"member,score\ntrain,0.5\ntest,1.5\nother,2.5\n"),
        ("many_labels", b"member,score\n0,0.5\n1,1.5\n2,2.5\n"),
        ("many_labels", b"member,score\n0,0.5\n1,1.5\n-1,2.5\n"),
        ("unknown_labels", b"member,score\na,0.5\nb,1.5\n"),
        ("unknown_labels", b"member,score\n1,0.5\n2,1.5\n"),
        ("unknown_labels", b"member,score\n0,0.5\n-1,1.5\n"),
        ("empty_class", b"member,score\n1,0.5\n1,1.5\n"),
        ("empty_class", b"member,score\ntest,0.5\ntest,1.5\n"),
        ("empty_class", b"member,score\ntrue,0.5\ntrue,1.5\n"),
        ("null_membership", b"member,score\n1,0.5\n,1.5\n0,2.5\n"),
        ("null_membership", b"member,score\n,0.5\n,1.5\n"),
        ("no_score_column", b"member,name\n1,a\n0,b\n"),
        ("no_score_column", b"member,label\n1,0.5\n0,1.5\n"),
        ("nan_scores", b"member,score\n1,0.5\n0,\n"),
        ("nan_scores", b"member,score\n1,0.5\n0,NaN\n"),
        ("duplicate_ids", b"id,member,score\n7,1,0.5\n7,0,1.5\n8,1,2\n"),
        ("truncated", gzip.compress(GOOD.encode() * 50, mtime=0)[:-20]),
        ("truncated", b"\x1f\x8b\x08" + b"x" * 50),
        ("truncated", b"\x28\xb5\x2f\xfd" + b"x" * 50),
        ("truncated", pa.compress(LONG, codec="zstd", asbytes=True)[:-2000]),
    ],
)
def test_bad_input_is_one_clear_error(fails, write, code, content):
    path = write(content)
    # The file's own name is no value of the data, and its folder is numbered.
    said = str(fails(code, path)).replace(str(path), "")
    for value in ("oops", "secret", "0.5", "1.5", "caf", "'a'", "anna", "80", "1,5", "3e4", "@"):
        assert value not in said


COMMA = "decimal comma"


@pytest.mark.parametrize(
    ("code", "text", "said", "hint"),
    [
        ("ragged_rows", "member,score\n1,1\n\n1,0,5\n", "line 4 has 3 cells where", COMMA),
        ("ragged_rows", "member;score\n1;1\n1;0;5\n", "header has 2.", "None"),
        ("ragged_rows", f"member,note\n1,{'x' * 200_000}\n0\n", "line 3 has 1 cells", ""),
        (
            *("unparsable", 'member,name,score\n1,"two\nlines",1\n0,b,x\n1,c,2\n'),
            *("line 4, column 'score'", ""),
        ),
        ("nan_scores", NAN, "column 'score' in 2 rows, first in data row 2", ""),
        ("nan_scores", NAN, "column 'loss' in 1 row, first in data row 3", ""),
        ("many_labels", LABELS, "7 different labels", ""),
        ("duplicate_columns", "anna,bert,anna\nx,y,z\n", "columns 1 and 3", ""),
    ],
)
def test_what_is_said_of_a_fault(fails, write, code, text, said, hint):
    error = fails(code, write(text))
    assert said in error.message
    assert hint in str(error.hint)
    assert "anna" not in str(error)


def test_hostile_column_name_is_shown_escaped(fails, write):
    error = fails("no_member_column", write("a\x1b[2Jb,sc\u202eore\n1.5,2\n"))
    assert "\x1b" not in str(error)
    assert "\u202e" not in str(error)
    assert r"a\x1b[2Jb" in str(error)
    assert r"sc\u202eore" in str(error)


def test_large_integers_keep_their_identity(read, write):
    rows = "".join(f"{2**63 + at},{at % 2},{at}.5\n" for at in range(4))
    keys = read(write("key,member,score\n" + rows), key_column="key").keys
    assert len(set(keys)) == 4


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


def compressed(kind, data):
    return data if kind == "csv" else pa.compress(data, codec=kind, asbytes=True)


@pytest.mark.parametrize("kind", ["csv", "gzip", "zstd"])
def test_full_disk_is_not_a_damaged_file(kind):
    content = compressed(kind, GOOD.encode())
    full = OSError(errno.ENOSPC, "No space left on device")

    def fill_the_disk():
        with plain_stream(held(content), kind) as stream:
            stream.read(10)
            raise full

    with pytest.raises(OSError, match="No space"):
        fill_the_disk()
