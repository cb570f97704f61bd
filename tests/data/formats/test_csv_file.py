"""CSV files: what is understood, what is a clear error, digits that are lost, texts, and width."""

from __future__ import annotations

import errno
import gzip
import math
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mipaudit
from mipaudit.data.column import column_scores
from mipaudit.data.files.contents import plain_stream
from mipaudit.data.formats import csv_file
from mipaudit.data.formats.cells import keys_of, labels_of, loses_digits, lost_digits
from mipaudit.data.parts import folder_keys
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told
from tests.fixtures.codes import refused
from tests.fixtures.files import held, save

GOOD = "member,score\n1,0.5\n0,-1.25\n1,2\n"
NAN = "member,score,loss\n1,1.5,2.5\n0,,1\n1,,nan\n0,1,1\n"
LABELS = "member,score\n" + "".join(f"label{at},{at}.5\n" for at in range(7))
LONG = np.random.default_rng(0).bytes(5000)
INF = math.inf
INFINITE = "member,score\n1,inf\n0,-inf\n1,Infinity\n0,-Infinity\n1,0\n"
ODD = ("tpr@0.1", "nan", "inf", "score_1", "1st", "loss 2", "v1.2")


@pytest.mark.parametrize(
    ("text", "kind", "scores", "name", "options"),
    [
        (INFINITE, "float", [INF, -INF, INF, -INF, 0.0], "score", {}),
        ("member,hits,right\n1,3,true\n0,4,false\n", "integer", [3.0, 4.0], "hits", {}),
        ("member,right\n1,true\n0,false\n", "bool", [1.0, 0.0], "right", {}),
        ("member,score,note\n1,0.5,x\n0,1.5,3\n", "float", [0.5, 1.5], "score", {}),
        ("member,hits\n1,3\n0,\n0,4\n", "integer", [3.0, 4.0], "hits", {"nan": "drop"}),
        *(
            (f"member,{one}\n1,0.5\n0,1.5\n", "float", [0.5, 1.5], one, {"score_columns": (one,)})
            for one in ODD
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


@pytest.mark.parametrize(
    "text",
    [
        *("\ufeff" + GOOD, gzip.compress(GOOD.encode()), GOOD.rstrip("\n")),
        pa.compress(GOOD.encode(), codec="zstd", asbytes=True),
        *(GOOD.replace("\n", ending) for ending in ("\n", "\r\n", "\r", "\n\n")),
        *(GOOD.replace(",", delimiter) for delimiter in ";\t|"),
        GOOD.replace("0.5", '"0.5"').replace("-1.25", '"-1.25"'),
        *(GOOD.replace("member,score", to) for to in ('"member","score"', "member, score")),
        "\n\n" + GOOD + "\n\n",
        GOOD.replace("0.5", " 0.5").replace("2\n", "2.0\n"),
        GOOD.replace("0.5", "5e-1"),
        *(
            f"{name},score\n{one},0.5\n{other},-1.25\n{one.upper()} ,2\n"
            for name, one, other in (
                *(("member", "train", "test"), ("member", "True", "False"), ("member", "1", "-1")),
                *(("member", "1.0", "0.0"), ("Member", "yes", "no"), ("split", "train", "holdout")),
            )
        ),
    ],
)
def test_ways_to_write_the_same_table(read, write, text):
    everything = read(write(text))
    assert (everything.names, everything.kinds) == (["score"], ["float"])
    assert everything.member == [True, False, True]
    assert everything.scores == [[0.5, -1.25, 2.0]]
    assert everything.positions == [0, 1, 2]


def test_kinds_and_choice_of_columns(read, write):
    names = ",record_id,member,label,loss,conf_true,correct,sex,empty\n"
    everything = read(write(names + "0,7,1,3,0.5,1,1,F,\n1,8,0,4,0.25,0,0,M,\n"))
    # conf_true is written without fractions, and its name says what it is all the same.
    assert everything.names == ["loss", "conf_true", "correct"]
    assert everything.skipped["sex"].code == "text_column"
    assert everything.skipped["empty"].code == "empty_column"
    assert {*everything.skipped} == {"unnamed:0", "record_id", "label", "sex", "empty"}


def test_text_column_can_be_named_as_score(read, write):
    text = "member,answer\n1,a\n0,b\n1,a\n0,\n"
    everything = read(write(text), score_columns=("answer",), nan="drop")
    assert everything.kinds == ["string"]
    first, second, third = everything.scores[0]
    assert first == third != second
    assert first == int(first) < 2**53


BAD = [
    ("empty_file", b"", b"\n \n", b"\xef\xbb\xbf"),
    ("no_rows", b"member,score\n", b"member,score\n\n"),
    ("ragged_rows", b"member,score\n1,0.5\n0\n", b"member,score\n1,0.5\n0,1,2\n"),
    ("ragged_rows", b"member,score\n1,0,5\n0,1,2\n"),
    ("bad_quotes", b'member,score\n1,0.5\n"0,1\n1,2\n', b'member,score\n1,0.5\n0,"1"2\n'),
    ("bad_quotes", b'"member,score\n1,0.5\n'),
    ("decimal_comma", b"member;score\n1;0,5\n0;1,25\n", b'member,score\n1,"0,5"\n0,"1,25"\n'),
    ("unparsable", b"member,score\n1,0.5\n0,12.oops\n", b"member,score\n1,0.5\n0,1_000\n"),
    ("unparsable", b"member,other\n1,0.5\n0,2.5\n1,secret\n"),
    ("duplicate_columns", b"member,score,score\n1,2,3\n"),
    ("no_header", b"1,0.5\n0,0.25\n", b"anna,1,train\n" * 3, b"anna,-3e4,train\n" * 3),
    ("no_header", b'anna,"1,5",train\n' * 3, b"1980-02-29,train,x\n" * 3),
    ("no_header", b"1980-02-29 10:00:00,train,x\n" * 3, b"29.02.1980,train,x\n" * 3),
    ("no_header", b"2/29/80,train,x\n" * 3, b"anna@example.org,train,x\n" * 3),
    ("no_header", b"Meier\nMay\nMeier\n", b"Meier,-inf\nMay,0.5\nLee,1.5\n"),
    ("no_header", b"Meier,Rome,NA\nMay,Oslo,0.5\nLee,Bonn,1.5\n"),
    ("no_header", b"Meier,Rome,\nMay,Oslo,0.5\nLee,Bonn,1.5\n"),
    ("no_header", b"Meier,Rome,member\nMay,Oslo,holdout\nLee,Bonn,member\n"),
    ("no_header", b"Meier,ill,train,loss\nMay,ill,test,a\nMay,well,train,b\n"),
    ("no_header", b"member,score\n1,0.5\nmember,score\n0,0.5\n"),
    ("not_utf8", b"member,score,name\n1,0.5,caf\xe9\n0,1.5,x\n"),
    ("not_utf8", "member,score\n1,0.5\n".encode("utf-16")),
    ("not_a_table", b"member,score\n1,\x000.5\n"),
    ("no_member_column", b"who,score\n1,0.5\n0,1.5\n", b"member:score\n1:0.5\n0:1.5\n"),
    ("ambiguous_membership", b"member,split,score\n1,train,0.5\n0,test,1.5\n"),
    ("many_labels", b"member,score\ntrain,0.5\ntest,1.5\nother,2.5\n"),
    *(("many_labels", b"member,score\n0,0.5\n1,1.5\n%d,2.5\n" % one) for one in (2, -1)),
    ("unknown_labels", b"member,score\na,0.5\nb,1.5\n", b"member,score\n1,0.5\n2,1.5\n"),
    ("unknown_labels", b"member,score\n0,0.5\n-1,1.5\n"),
    *(
        ("empty_class", b"member,score\n%s,0.5\n%s,1.5\n" % (one, one))
        for one in (b"1", b"test", b"true")
    ),
    ("null_membership", b"member,score\n1,0.5\n,1.5\n0,2.5\n", b"member,score\n,0.5\n,1.5\n"),
    ("no_score_column", b"member,name\n1,a\n0,b\n", b"member,label\n1,0.5\n0,1.5\n"),
    ("nan_scores", b"member,score\n1,0.5\n0,\n", b"member,score\n1,0.5\n0,NaN\n"),
    ("duplicate_ids", b"id,member,score\n7,1,0.5\n7,0,1.5\n8,1,2\n"),
    ("truncated", gzip.compress(GOOD.encode() * 50, mtime=0)[:-20], b"\x1f\x8b\x08" + b"x" * 50),
    ("truncated", b"\x28\xb5\x2f\xfd" + b"x" * 50),
    ("truncated", pa.compress(LONG, codec="zstd", asbytes=True)[:-2000]),
]


@pytest.mark.parametrize(("code", "content"), [(code, one) for code, *all_ in BAD for one in all_])
def test_bad_input_is_one_clear_error(fails, write, code, content):
    path = write(content)
    # The file's own name is no value of the data, and its folder is numbered.
    said = str(fails(code, path)).replace(str(path), "")
    for value in ("oops", "secret", "0.5", "1.5", "caf", "'a'", "anna", "80", "1,5", "3e4", "@"):
        assert value not in said


TWO_LINES = 'member,name,score\n1,"two\nlines",1\n0,b,x\n1,c,2\n'


@pytest.mark.parametrize(
    ("code", "text", "said", "hint"),
    [
        (
            "ragged_rows",
            "member,score\n1,1\n\n1,0,5\n",
            "line 4 has another number of cells",
            "decimal comma",
        ),
        ("ragged_rows", "member;score\n1;1\n1;0;5\n", "header (3, not 2).", "None"),
        ("ragged_rows", f"member,note\n1,{'x' * 200_000}\n0\n", "header (1, not 2)", ""),
        ("unparsable", TWO_LINES, "line 4, column 'score'", ""),
        ("nan_scores", NAN, "column 'score' in 2 rows, first in data row 2", ""),
        ("nan_scores", NAN, "column 'loss' in 1 row, first in data row 3", ""),
        ("nan_scores", "member,a\\b\n1,\n0,2.5\n", "column 'a\\b' in 1 row", ""),
        ("many_labels", LABELS, "7 different labels", ""),
        ("duplicate_columns", "anna,bert,anna\nx,y,z\n", "columns 1 and 3", ""),
        ("no_member_column", "a\x1b[2Jb,sc\u202eore\n1.5,2\n", "", r"a\x1b[2Jb, sc\u202eore"),
    ],
)
def test_what_is_said_of_a_fault(fails, write, code, text, said, hint):
    error = fails(code, write(text))
    assert said in error.message
    assert hint in f"{error.hint} {error}"
    assert not any(one in str(error) for one in ("anna", "\x1b", "\u202e"))


def test_large_integers_keep_their_identity(read, write):
    rows = "".join(f"{2**63 + at},{at % 2},{at}.5\n" for at in range(4))
    assert len({*read(write("key,member,score\n" + rows), key_column="key").keys}) == 4


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        *((f"Anna,Rome,{cell}", "{name},{city},0.{at}") for cell in ("", "NA")),
        ("Anna,Rome,-inf", "{name},{city},{at}"),
        *((f"Anna,Rome,{cell}", "{name},{city},{word}") for cell in ("tall", "")),
    ],
)
def test_no_cell_of_a_first_row_is_printed(write, first, rest, capfd):
    rows = [
        rest.format(name=f"N{'x' * at}", city=f"C{'y' * at}", at=at, word="abc"[at % 3] * at)
        for at in range(1, 40)
    ]
    path = str(write("\n".join([first, *rows]) + "\n"))
    for ask, places, more in (
        (mipaudit.estimate, [path], {}),
        (mipaudit.estimate, [path], {"member_col": "class"}),
        (mipaudit.estimate, [], {"members": path, "holdout": path}),
        (mipaudit.estimate, [path], {"where": "ana = 1"}),
        (mipaudit.check, [path], {}),
        (mipaudit.shift, [path, path], {"columns": ["tal"]}),
        (mipaudit.noise, [], {"splits": path, "eta": 0.1}),
    ):
        with pytest.raises((InputError, UsageError)) as caught:
            ask(*places, **more)
        said = str(caught.value).replace(path, "")
        assert not [one for one in ("Anna", "Rome", "tall") if one in said]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["csv", "gzip", "zstd"])
def test_full_disk_is_not_a_damaged_file(kind):
    content = GOOD.encode()
    content = content if kind == "csv" else pa.compress(content, codec=kind, asbytes=True)

    def fill_the_disk():
        with plain_stream(held(content), kind) as stream:
            stream.read(10)
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fill_the_disk()


# --- numbers that a float cannot tell apart, and texts that are one number, in files of every size


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Read texts as small files, or as large ones in blocks, of which the first tells the kinds."""
    if request.param == "large":
        monkeypatch.setattr(csv_file, "SMALL_TEXT", 1500)
        monkeypatch.setattr(csv_file, "HEAD_BYTES", 1000)
        monkeypatch.setattr("mipaudit.data.formats.csv_text.BLOCK_BYTES", 4000)


def rows_of(path, cells):
    """Write cells, each with the other class than the one before; return the path."""
    rows = "".join(f"{at % 2},{cell}\n" for at, cell in enumerate(cells))
    data = f"member,score\n{rows}".encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


WIDE = "0." + "5" * 17
MERGED = [
    *(("1e400", "1e500"), ("-1E+0400", "-1E+0500"), (f"{2**53}.0", f"{2**53 + 1}.0")),
    *((f"{2**53}.000e0", f"{2**53 + 1}.000e0"), (f"{10**19}", f"{10**19 + 1}")),
    *((f"{10**25}", f"{10**25 + 1}"), ("1" + "0" * 400 + ".0", "1" + "0" * 401 + ".0")),
    *((f"{WIDE}500", f"{WIDE}800"), ("1e-400", "1e-500"), ("3e-324", "4e-324")),
    *((f"0.{'0' * 400}1", f"0.{'0' * 400}2"), (f"0.1{'0' * 18}1", f"0.1{'0' * 18}2")),
    ("1234567890123456789.1", "1234567890123456789.2"),
]


@pytest.mark.parametrize("pair", MERGED)
@pytest.mark.parametrize("before", [0, 1000])
@pytest.mark.parametrize("name", ["scores.csv", "scores.csv.gz"])
def test_digits_that_a_float_merges_are_refused(tmp_path, size, pair, before, name):
    plain = [f"{one:.4f}" for one in np.random.default_rng(1).random(before)]
    path = rows_of(tmp_path / name, [*plain, *pair * 200, 0.1, 0.2])
    error = refused("large_integers", mipaudit.estimate, path, max_advantage=0.5)
    assert "'score'" in error.message


FORMS = [repr, *map("{{:{}}}".format, (".17g", ".18e", ".25f", ".3f", "+.16e"))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("coarse", [False, True])
def test_what_floats_are_written_as_loses_nothing(tmp_path, size, form, coarse):
    scores = np.random.default_rng(2).normal(size=3000)
    scores = np.floor(scores * 7) / 7 if coarse else scores
    write = form if callable(form) else form.format
    path = rows_of(tmp_path / "s.csv", map(write, scores.tolist()))
    assert mipaudit.estimate(path, max_advantage=0.9).verdict.status == "met"


def test_infinity_and_zeros_in_large_files_are_ordinary(tmp_path, size):
    for cell in ("inf", "-inf", "Infinity", "0", "0.0", "0e-400", "nan", "1e300"):
        assert lost_digits([cell], np.array([float(cell)])) is None
    cells = ("inf", "0", "-inf", "0.0", "1e-300", "5e-324", "1e200", "1.5")
    path = rows_of(tmp_path / "s.csv", (cells[at * at % 11 % 8] for at in range(4000)))
    assert mipaudit.estimate(path, max_advantage=0.9).verdict.status == "met"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 40))
def test_rounded_floats_lose_nothing(value, digits):
    text = format(value, f".{digits - 1}e")
    if math.isfinite(float(text)):
        again = float(text)
        assert loses_digits(text, again) is False or again != value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=30))
def test_two_cells_of_as_many_digits_in_one_float_are_told(number):
    """If both say nothing more than their float, they are the same number."""
    value = float(number)
    near = number.next_plus() if number else number
    if len(number.as_tuple().digits) == len(near.as_tuple().digits) and float(near) == value:
        both = [loses_digits(str(one), value) for one in (number, near)]
        assert number == near or any(both)
    assert loses_digits(str(number), value) is False or Decimal(value) != number


def test_long_doubles_that_meet_in_a_float_are_refused():
    one = np.longdouble(1)
    if np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("no wider float here")
    step, same = np.longdouble(2) ** -60, np.full(500, one)
    for members, holdout in (
        (np.concatenate([same, [2 * one]]), np.concatenate([same + step, [3 * one]])),
        (same * 2 + 2**62, same * 2**64 + one),
    ):
        refused("large_integers", mipaudit.estimate, members=members, holdout=holdout)


# Each pair is one number, and two texts.
PAIRS = [("007", "7"), ("1.0", "1"), ("1000", "1e3"), ("+5", "5"), ("0.50", "0.5"), ("-0", "0")]


def keyed(path, who, name="who"):
    score = np.random.default_rng(7).normal(size=len(who))
    member = np.arange(len(who)) % 2
    return str(save(pd.DataFrame({"member": member, name: who, "score": score}), path))


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("last", [True, False])
def test_a_key_and_a_group_are_what_is_written(tmp_path, size, pair, last):
    numbers = [str(at) for at in range(2_000, 2_300)]
    path = keyed(tmp_path / "keys.csv", [*numbers, *pair] if last else [*pair, *numbers])
    assert mipaudit.estimate(path, key_col="who").design.n_members == 151
    persons = mipaudit.estimate(path, unit_col="who").design
    assert persons.n_members + persons.n_holdout == 302
    path = keyed(tmp_path / "groups.csv", [pair[at // 2 % 2] for at in range(400)])
    groups = mipaudit.records(path, by="who", rows_are="independent").groups
    assert {one.group for one in groups} == {f"who={word}" for word in pair}
    assert {one.n_members for one in groups} == {100}


def test_ids_that_are_found_runs_and_ids_of_shift_are_texts_too(tmp_path, size):
    who = [word for at in range(150) for word in (f"{at}", f"{at:04d}")]
    path = keyed(tmp_path / "ids.csv", who, name="patient_id")
    assert mipaudit.estimate(path).design.n_members == 150
    path = keyed(tmp_path / "runs.csv", ["01", "1", "1.0", "1"] * 100)
    frame = pd.read_csv(path, dtype=str).assign(canary=[f"c{at}" for at in range(400)])
    frame["member"] = np.random.default_rng(3).permutation(np.repeat([0, 1], 200))
    frame.to_csv(path, index=False)
    asked = {"run_col": "who", "key_col": "canary", "score_col": ["score"]}
    assert mipaudit.epsilon(path, design="one-run", **asked).design.runs == 3
    sides = []
    for form, age in zip(("04d", "d"), np.random.default_rng(4).normal(size=(2, 100)), strict=True):
        table = pd.DataFrame({"who": [f"{at:{form}}" for at in range(100)], "age": age})
        sides.append(str(save(table, tmp_path / f"{form}.csv")))
    found = mipaudit.shift(*sides, id_col="who")
    assert not [one for one in found.findings if "person" in told(one) or "both" in told(one)]


def test_numbers_stay_numbers_where_nothing_is_lost(tmp_path, size):
    """A file with types and one without have the same keys."""
    whole = np.arange(300)
    for values in (whole, whole + 0.5, whole.astype(float), -1.0 * whole - 1):
        text = keyed(tmp_path / "keys.csv", values)
        assert pd.read_csv(text)["who"].dtype == values.dtype
        stored = str(save(pd.read_csv(text), tmp_path / "keys.parquet"))
        one, other = (mipaudit.estimate(path, key_col="who") for path in (text, stored))
        assert one.estimates == other.estimates
        assert one.provenance.seeds == other.provenance.seeds


def test_blanks_around_a_number_are_no_part_of_it():
    assert column_scores(keys_of(labels_of([" 7", "12 "]))).tolist() == [7, 12]
    assert keys_of(labels_of(["", "7"])).missing.tolist() == [True, False]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        *((("007", "7"), "string"), (("1.0", "1"), "string"), (("7", "8"), "integer")),
        *((("1.5", "2.0"), "float"), (("007", "08"), "float")),
    ],
)
def test_folders_that_are_two_stay_two(values, kind):
    found = folder_keys([(value, [f"run={value}"]) for value in values])
    assert {one["run"][0] for one in found} == {kind}
    assert len({one["run"][1] for one in found}) == len(values)


# --- the work on a wide file grows as its width, not as its square


def wide_tables(folder, ending, width):
    """Write three tables of as many columns; return their paths."""
    drawn = (np.random.default_rng(seed).normal(size=(24, width)) for seed in range(3))
    frames = [pd.DataFrame(one, columns=[f"f{at}" for at in range(width)]) for one in drawn]
    frames[0] = frames[0].assign(member=np.arange(24) % 2 == 0)
    return [str(save(one, folder / f"{at}{ending}")) for at, one in enumerate(frames)]


COMMANDS = {
    "estimate": lambda scores, *_: mipaudit.estimate(scores),
    "check": lambda scores, *_: mipaudit.check(scores),
    "shift": lambda _, members, holdout: mipaudit.shift(members, holdout),
    "query": lambda synthetic, members, holdout: mipaudit.query(
        ["nn"], members=members, holdout=holdout, synthetic=synthetic
    ),
}


def calls(work):
    """Return how many functions and generators were entered, which no other load changes."""
    count = 0

    def on_event(_, event, __):
        nonlocal count
        count += event == "call"

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("command", "ending"), [*((command, ".csv") for command in COMMANDS), ("shift", ".parquet")]
)
def test_four_times_as_wide_is_four_times_the_work(tmp_path, command, ending):
    run, found = COMMANDS[command], []
    for width in (3, 120, 480):  # the first loads what is loaded once
        paths = wide_tables(tmp_path, ending, width)
        found.append(calls(lambda paths=paths: run(*paths)))
    assert found[2] < 5 * found[1]


@pytest.mark.parametrize("command", ["estimate", "check", "attack"])
def test_of_more_scores_than_can_be_judged_some_must_be_named(mipaudit, tmp_path, command):
    table = pd.DataFrame({f"s{at}": np.arange(40) / 8 for at in range(1025)})
    save(table.assign(member=np.arange(40) % 2), tmp_path / "wide.csv")
    done = mipaudit(command, "wide.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There are 1,025 scores, but at most 1,024 can be audited together" in done.stderr
    assert "--score-col" in done.stderr
    assert mipaudit(command, "wide.csv", "--score-col", "s7", "-q").returncode == 0
