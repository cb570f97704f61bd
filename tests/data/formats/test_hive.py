"""Folders that name columns, such as ``member=1``."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.opening import ReadRequest, open_input


@pytest.fixture
def save(tmp_path):
    def saver(place, scores, **columns):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"score": np.array(scores, float), **columns}), path)
        return path

    return saver


@pytest.fixture
def by_member(save, tmp_path):
    save("d/member=0/a.parquet", [1, 2, 3])
    save("d/member=1/a.parquet", [4, 5])
    save("d/member=1/b.parquet", [6])
    return tmp_path / "d"


def test_a_key_says_who_is_a_member(read, by_member):
    everything = read(by_member)
    assert everything.names == ["score"]
    assert everything.scores == [[1, 2, 3, 4, 5, 6]]
    assert everything.member == [False] * 3 + [True] * 3
    assert read(f"{by_member}/") == everything
    assert read(f"{by_member}/member=*/*.parquet") == everything
    assert read(f"{by_member}/**/*.parquet") == everything
    assert read(by_member.as_uri()) == everything


@pytest.mark.parametrize("labels", [("train", "test"), ("true", "false"), ("in", "out")])
def test_labels_may_be_words(read, save, tmp_path, labels):
    for label, scores in zip(labels, ([1, 2], [3]), strict=True):
        save(f"d/split={label}/part-0.parquet", scores)
    everything = read(tmp_path / "d")
    found = dict(zip(everything.scores[0], everything.member, strict=True))
    assert found == {1: True, 2: True, 3: False}


def test_folders_that_were_named_are_no_columns(read, fails, by_member):
    sides = {"members": str(by_member / "member=1"), "holdout": str(by_member / "member=0")}
    assert read(**sides).member == [True] * 3 + [False] * 3
    fails("no_member_column", by_member / "member=1")
    fails("no_member_column", by_member / "member=1" / "*.parquet")
    fails("no_member_column", by_member / "member=1" / "a.parquet")


def test_rows_are_kept_by_a_key(read, fails, save, tmp_path):
    for run in (7, 10):
        for member in (0, 1):
            save(f"d/run={run}/member={member}/x.parquet", [run, member])
    everything = read(tmp_path / "d", where="run = 7")
    assert everything.scores == [[7, 0, 7, 1]]
    assert everything.member == [False, False, True, True]
    assert read(tmp_path / "d" / "run=7").scores == everything.scores
    assert "no row of column 'run'" in fails("no_rows", tmp_path / "d", where="run = 8").message


def test_percent_signs_are_undone_and_absent_values_are_missing(read, fails, save, tmp_path):
    save("d/our%20city=a%2Fb%3D%C3%A9/x.parquet", [1, 2], member=[True, False])
    save("d/our%20city=__HIVE_DEFAULT_PARTITION__/x.parquet", [3, 4], member=[True, False])
    save("d/our%20city=/x.parquet", [5, 6], member=[True, False])
    assert read(tmp_path / "d", where="our city = a/b=é").scores == [[1, 2]]
    error = fails("missing_key", tmp_path / "d", key_column="our city")
    assert "is empty in 4 rows" in error.message


def test_a_missing_membership_is_an_error(fails, by_member, save):
    save("d/member=__HIVE_DEFAULT_PARTITION__/x.parquet", [1, 2])
    assert "2 rows, first in data row 7" in fails("null_membership", by_member).message


def test_a_key_is_a_score_only_if_asked_for(read, save, tmp_path):
    for level in ("0.25", "3"):
        save(f"d/level={level}/x.parquet", [1, 2], member=[True, False])
    everything = read(tmp_path / "d")
    assert everything.names == ["score"]
    assert {name: one.code for name, one in everything.skipped.items()} == {"level": "folder_key"}
    everything = read(tmp_path / "d", score_columns=("level",))
    assert everything.scores == [[0.25, 0.25, 3, 3]]
    assert everything.kinds == ["float"]


@pytest.mark.parametrize(
    ("values", "kind", "scores"),
    [
        (("7", "-300"), "integer", {7, -300}),
        (("7", "-1e3"), "float", {7, -1000}),
        (("007", "8"), "float", {7, 8}),
        (("7", "x"), "string", None),
        (("7", "__HIVE_DEFAULT_PARTITION__"), "integer", {7}),
    ],
)
def test_kinds_of_keys(read, save, tmp_path, values, kind, scores):
    for value in values:
        save(f"d/k={value}/x.parquet", [1, 2], member=[True, False])
    everything = read(tmp_path / "d", score_columns=("k",), nan="drop")
    assert everything.kinds == [kind]
    assert scores is None or set(everything.scores[0]) == scores


def test_groups_may_be_keys(save, tmp_path):
    save("d/region=north/x.parquet", [1, 2], member=[True, False])
    save("d/region=south/x.parquet", [3, 4], member=[True, False])
    request = ReadRequest(group_columns=("region",))
    with open_input(str(tmp_path / "d"), None, None, request) as source:
        groups = [rows.groups for part in source.partitions() for rows in part.batches()]
    assert len({*groups[0].tolist()}) == 1
    assert {*groups[0].tolist()} != {*groups[1].tolist()}


@pytest.mark.parametrize(
    ("code", "places", "said"),
    [
        ("folders_differ", ("", "member=1"), "below no key=value folder"),
        ("folders_differ", ("member=0", "member=1/run=3"), "'member', 'run'"),
        ("folders_differ", ("a=1/member=0", "member=1/a=1"), "'member', 'a'"),
        ("duplicate_columns", ("k=0/k=1",), "by the same key"),
    ],
)
def test_folders_must_agree(fails, save, tmp_path, code, places, said):
    for place in places:
        save(f"d/{place}/x.parquet", [1])
    error = fails(code, tmp_path / "d")
    assert said in error.message
    assert code == "duplicate_columns" or "key=value folders" in error.hint


def test_a_key_that_is_a_column_too(read, fails, save, tmp_path):
    """Nothing says which of the two is right, so neither is read."""
    for run in (1, 2):
        save(f"d/run={run}/x.parquet", [run, 5], member=[True, False], run=[run, run])
    assert read(tmp_path / "d").scores == [[1, 5, 2, 5]]
    error = fails("folder_column", tmp_path / "d", where="run = 1")
    assert "'run' is a column of the file and a key of its folders" in error.message
    save("e/member=1/x.parquet", [1, 2], member=[True, False])
    fails("folder_column", tmp_path / "e")


def test_csv_and_parquet_lie_side_by_side(read, by_member, write):
    import gzip

    write("score,else\n7,1\n8,2\n", "d/member=0/b.csv")
    write(gzip.compress(b"score\n9\n"), "d/member=1/c.csv.gz")
    write(pa.compress(b"score\n10\n", "zstd", asbytes=True), "d/member=1/d.csv.zst")
    write("hidden", "d/member=1/_SUCCESS")
    everything = read(by_member)
    assert everything.scores == [[1, 2, 3, 7, 8, 4, 5, 6, 9, 10]]
    assert everything.member == [False] * 5 + [True] * 5


def test_a_file_is_not_opened_for_its_keys_alone(by_member, monkeypatch):
    from mipaudit.data.formats.parquet import RowGroup

    with open_input(str(by_member), None, None, ReadRequest(where="member = 1")) as source:
        monkeypatch.setattr(RowGroup, "chunks", None)
        for part in source.partitions():
            (chunk,) = part.piece.chunks(("member",), 0)
            assert chunk.rows == part.piece.rows
