"""Columns that go along to the score file."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError


def frame(n, seed, **columns):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(18, 90, n), **columns})


@pytest.fixture
def tables():
    words = ['a,"b', None, "zoë", "x"]
    return {
        "members": frame(4, 0, person=[7, 7, 9, 10], site=words, code=["01", "2", "3", "4"]),
        "holdout": frame(3, 1, person=[12, 12, 13], site=words[:3], code=["5", "6", "7"]),
        "synthetic": frame(50, 2),
    }


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("stored", ["frame", "csv", "parquet"])
def test_keys_people_and_groups_go_along(tmp_path, tables, form, stored):
    for role, table in tables.items():
        if stored != "frame":
            path = tmp_path / f"{role}.{stored}"
            getattr(table, f"to_{stored}")(path, index=False)
            tables[role] = path
    path = tmp_path / f"scores.{form}"

    report = mipaudit.query("nn", **tables, output=path, keep=["person", "site", "code"])
    plain = mipaudit.query("nn", **tables, output=tmp_path / "plain.csv")

    read = pd.read_parquet(path) if form == "parquet" else pd.read_csv(path, dtype={"code": str})
    assert list(read) == ["member", "person", "site", "code", "nn", "exact_copy"]
    assert read["person"].tolist() == [7, 7, 9, 10, 12, 12, 13]
    assert read["site"].fillna("").tolist()[:4] == ['a,"b', "", "zoë", "x"]
    assert read["code"].tolist() == ["01", "2", "3", "4", "5", "6", "7"]
    scores = pd.read_csv(tmp_path / "plain.csv")
    assert list(scores) == ["member", "nn", "exact_copy"]
    np.testing.assert_allclose(read["nn"], scores["nn"], rtol=1e-15)
    assert report.following.endswith("--score-col nn")
    assert "--score-col" not in plain.following


def test_a_person_of_several_rows_is_one_unit(tmp_path):
    members, holdout = (
        frame(200, seed, person=[f"{seed}-{at // 4}" for at in range(200)]) for seed in (0, 1)
    )
    path = tmp_path / "scores.parquet"
    mipaudit.query(
        "nn", members=members, holdout=holdout, synthetic=frame(90, 2), output=path, keep=["person"]
    )

    report = mipaudit.estimate(path, unit_col="person")

    assert (report.design.n_members, report.design.n_holdout) == (50, 50)
    assert report.design.score_columns == ("nn",)


def test_days_and_whole_floats_are_labels(tmp_path, tables):
    for role in ("members", "holdout"):
        count = len(tables[role])
        tables[role]["day"] = [dt.date(2024, 2, 29)] * count
        tables[role]["site"] = [np.nan, *range(count - 1)]
    path = tmp_path / "scores.csv"

    mipaudit.query("nn", **tables, output=path, keep=["day", "site"])

    read = pd.read_csv(path)
    assert read["day"].tolist() == ["2024-02-29"] * 7
    assert read["site"].tolist()[1:4] == [0, 1, 2]
    assert np.isnan(read["site"][0])


@pytest.mark.parametrize(
    ("keep", "code"),
    [
        (["nn"], "keep"),
        (["loss"], "keep"),
        (["split"], "keep"),
        (["prson"], "unknown_column"),
        (["weight"], "not_a_label"),
    ],
)
def test_what_cannot_be_kept(tmp_path, tables, keep, code):
    for role in ("members", "holdout"):
        tables[role] = tables[role].assign(nn=1, loss=1, split="x", weight=0.123456)

    with pytest.raises((InputError, UsageError)) as caught:
        mipaudit.query("nn", **tables, output=tmp_path / "s.csv", keep=keep)

    assert caught.value.code == code
    assert "0.123456" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_column_of_one_class_alone_is_not_kept(tmp_path, tables):
    del tables["holdout"]["site"]

    with pytest.raises(InputError) as caught:
        mipaudit.query("nn", **tables, output=tmp_path / "s.csv", keep=["site"])

    assert caught.value.code == "unknown_column"
    assert "holdout" in str(caught.value)


def test_parts_may_store_a_label_in_different_ways(tmp_path, tables):
    (tmp_path / "members").mkdir()
    for part, site in (("a", [1, 2, 3, 4]), ("b", ["x", "2", "y", None])):
        tables["members"].assign(site=site).to_parquet(tmp_path / "members" / f"{part}.parquet")
    tables["members"] = tmp_path / "members"

    mipaudit.query("nn", **tables, output=tmp_path / "s.parquet", keep=["site"])

    kept = pd.read_parquet(tmp_path / "s.parquet")["site"].fillna("").tolist()
    assert kept[:8] == ["1", "2", "3", "4", "x", "2", "y", ""]


@pytest.mark.parametrize("cell", ["50{}.25", "{}e3", "1{:021d}", "{},5", "-inf"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_numbers_of_csv_files_do_not_become_scores(tmp_path, tables, cell, form):
    for role in ("members", "holdout"):
        cells = [cell.format(row + 1) for row in range(len(tables[role]))]
        tables[role].assign(income=cells).to_csv(tmp_path / f"{role}.csv", index=False)
        tables[role] = tmp_path / f"{role}.csv"

    with pytest.raises(InputError) as caught:
        mipaudit.query("nn", **tables, output=tmp_path / f"s.{form}", keep=["income"])

    assert caught.value.code == "not_a_label"
    assert not (tmp_path / f"s.{form}").exists()


@pytest.mark.parametrize("cells", [("0417", "8001"), ("+1", "2"), ("true", "false"), ("1.5", "x")])
def test_what_no_reader_takes_for_scores_is_kept_as_it_is(tmp_path, cells):
    for role, seed in (("members", 0), ("holdout", 1)):
        table = frame(60, seed, site=[*cells] * 30)
        table.to_csv(tmp_path / f"{role}.csv", index=False)
    frame(90, 2).to_csv(tmp_path / "synthetic.csv", index=False)
    tables = {role: tmp_path / f"{role}.csv" for role in ("members", "holdout", "synthetic")}

    mipaudit.query("nn", **tables, output=tmp_path / "s.csv", keep=["site"])

    kept = pd.read_csv(tmp_path / "s.csv", dtype=str)["site"]
    assert kept.tolist() == [*cells] * 60
    assert mipaudit.estimate(tmp_path / "s.csv").design.score_columns == ("nn",)
