"""Folders that name columns, such as ``member=1``."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.formats.parquet import RowGroup
from tests.fixtures.files import opened

BOTH = {"member": [True, False]}


@pytest.fixture
def save(tmp_path):
    """Return a function that writes scores to a part below a folder, which it returns."""

    def saver(place, scores, **columns):
        path = tmp_path / "d" / place / "x.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"score": np.array(scores, float), **columns}), path)
        return tmp_path / "d"

    return saver


@pytest.fixture
def by_member(save):
    save("member=0", [1, 2, 3])
    save("member=1", [4, 5])
    return save("member=1/y", [6])


def test_a_key_says_who_is_a_member(read, fails, by_member):
    everything = read(by_member)
    assert (everything.names, everything.scores) == (["score"], [[1, 2, 3, 4, 5, 6]])
    assert everything.member == [False] * 3 + [True] * 3
    for place in (f"{by_member}/", f"{by_member}/**/*.parquet", by_member.as_uri()):
        assert read(place) == everything
    assert read(f"{by_member}/member=*/*.parquet").scores == [[1, 2, 3, 4, 5]]
    # Folders that were named are no columns.
    sides = {"members": str(by_member / "member=1"), "holdout": str(by_member / "member=0")}
    assert read(**sides).member == [True] * 3 + [False] * 3
    for place in ("member=1", "member=1/*.parquet", "member=1/x.parquet"):
        fails("no_member_column", by_member / place)


@pytest.mark.parametrize("labels", [("train", "test"), ("true", "false"), ("in", "out")])
def test_labels_may_be_words(read, save, labels):
    for label, scores in zip(labels, ([1, 2], [3]), strict=True):
        folder = save(f"split={label}", scores)
    everything = read(folder)
    found = dict(zip(everything.scores[0], everything.member, strict=True))
    assert found == {1: True, 2: True, 3: False}


def test_rows_are_kept_by_a_key(read, fails, save):
    for run in (7, 10):
        for member in (0, 1):
            folder = save(f"run={run}/member={member}", [run, member])
    everything = read(folder, where="run = 7")
    assert everything.scores == [[7, 0, 7, 1]]
    assert everything.member == [False, False, True, True]
    assert read(folder / "run=7").scores == everything.scores
    assert "no row of 'run' has this value" in fails("no_rows", folder, where="run = 8").message


def test_percent_signs_are_undone_and_absent_values_are_missing(read, fails, save, by_member):
    save("member=__HIVE_DEFAULT_PARTITION__", [1, 2])
    assert "2 rows, first in data row 7" in fails("null_membership", by_member).message
    for at, value in enumerate(("a%2Fb%3D%C3%A9", "__HIVE_DEFAULT_PARTITION__", "")):
        folder = save(f"e/our%20city={value}", [2 * at + 1, 2 * at + 2], **BOTH) / "e"
    assert read(folder, where="our city = a/b=é").scores == [[1, 2]]
    error = fails("missing_key", folder, key_column="our city")
    assert "is empty in 4 rows" in error.message


@pytest.mark.parametrize(
    ("values", "kind", "scores"),
    [
        *((("7", "-300"), "integer", {7, -300}), (("7", "-1e3"), "float", {7, -1000})),
        *((("007", "8"), "float", {7, 8}), (("0.25", "3"), "float", {0.25, 3})),
        (("7", "x"), "string", None),
        (("7", "__HIVE_DEFAULT_PARTITION__"), "integer", {7}),
    ],
)
def test_a_key_is_a_score_of_its_kind_only_if_asked_for(read, save, values, kind, scores):
    for value in values:
        folder = save(f"k={value}", [1, 2], **BOTH)
    plain = read(folder)
    assert plain.names == ["score"]
    assert {name: one.code for name, one in plain.skipped.items()} == {"k": "folder_key"}
    everything = read(folder, score_columns=("k",), nan="drop")
    assert everything.kinds == [kind]
    assert scores is None or set(everything.scores[0]) == scores


def test_groups_may_be_keys(save):
    for region in ("north", "south"):
        folder = save(f"region={region}", [1, 2], **BOTH)
    with opened(str(folder), group_columns=("region",)) as source:
        groups = [rows.groups for part in source.partitions() for rows in part.batches()]
    assert len({*groups[0].tolist()}) == 1
    assert {*groups[0].tolist()} != {*groups[1].tolist()}


@pytest.mark.parametrize(
    ("code", "places", "said"),
    [
        ("folders_differ", ("", "member=1"), "below no key=value folder"),
        ("folders_differ", ("member=0", "member=1/run=3"), "'member', 'run'"),
        ("folders_differ", ("a=1/member=0", "member=1/a=1"), "'member', 'a'"),
        ("duplicate_columns", ("k=0/k=1",), "have the same key"),
    ],
)
def test_folders_must_agree(fails, save, code, places, said):
    for place in places:
        folder = save(place, [1])
    error = fails(code, folder)
    assert said in error.message
    assert code == "duplicate_columns" or "key=value folders" in error.hint


def test_a_key_that_is_a_column_too(read, fails, save):
    """Nothing says which of the two is right, so neither is read."""
    for run in (1, 2):
        folder = save(f"run={run}", [run, 5], run=[run, run], **BOTH)
    assert read(folder).scores == [[1, 5, 2, 5]]
    error = fails("folder_column", folder, where="run = 1")
    assert "'run' is a column of the file and also a key of its folders" in error.message
    fails("folder_column", save("e/member=1", [1, 2], **BOTH) / "e")


def test_csv_and_parquet_lie_side_by_side(read, by_member, write):
    write("score,else\n7,1\n8,2\n", "d/member=0/y.csv")
    write(gzip.compress(b"score\n9\n"), "d/member=1/z.csv.gz")
    write(pa.compress(b"score\n10\n", "zstd", asbytes=True), "d/member=1/z.csv.zst")
    write("hidden", "d/member=1/_SUCCESS")
    everything = read(by_member)
    assert everything.scores == [[1, 2, 3, 7, 8, 4, 5, 6, 9, 10]]
    assert everything.member == [False] * 5 + [True] * 5


def test_a_file_is_not_opened_for_its_keys_alone(by_member, monkeypatch):
    with opened(str(by_member), where="member = 1") as source:
        monkeypatch.setattr(RowGroup, "chunks", None)
        for part in source.partitions():
            (chunk,) = part.piece.chunks(("member",), 0)
            assert chunk.rows == part.piece.rows
