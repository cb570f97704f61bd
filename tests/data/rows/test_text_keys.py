"""Keys, persons, runs and groups of CSV files are texts: 007 is not 7."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.data.formats import csv_file
from mipaudit.data.formats.csv_cells import keys_of, labels_of
from mipaudit.data.formats.hive import folder_keys
from mipaudit.report.messages.told import told

# Each pair is one number, and two texts.
PAIRS = [("007", "7"), ("1.0", "1"), ("1000", "1e3"), ("+5", "5"), ("0.50", "0.5"), ("-0", "0")]


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Read files at once, or in blocks of which the first tells the kinds."""
    if request.param == "large":
        monkeypatch.setattr(csv_file, "SMALL_TEXT", 1 << 10)
        monkeypatch.setattr("mipaudit.data.formats.csv_text.BLOCK_BYTES", 600)
    return request.param


def scores(path, who, name="who"):
    rng = np.random.default_rng(7)
    member = np.arange(len(who)) % 2
    frame = pd.DataFrame({"member": member, name: who, "score": rng.normal(size=len(who))})
    frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("last", [True, False])
def test_a_key_is_what_is_written(tmp_path, size, pair, last):
    numbers = [str(at) for at in range(2_000, 2_300)]
    who = [*numbers, *pair] if last else [*pair, *numbers]
    path = scores(tmp_path / "keys.csv", who)

    assert mipaudit.estimate(path, key_col="who").design.n_members == 151
    persons = mipaudit.estimate(path, unit_col="who").design
    assert persons.n_members + persons.n_holdout == 302


def test_ids_that_are_found_are_texts_too(tmp_path, size):
    who = [word for at in range(150) for word in (f"{at}", f"{at}", f"{at:04d}", f"{at:04d}")]
    path = scores(tmp_path / "ids.csv", who[::2], name="patient_id")

    assert mipaudit.estimate(path).design.n_members == 150


@pytest.mark.parametrize("pair", PAIRS)
def test_groups_are_what_is_written(tmp_path, size, pair):
    path = scores(tmp_path / "groups.csv", [pair[at // 2 % 2] for at in range(400)])

    groups = mipaudit.records(path, by="who", rows_are="independent").groups

    assert {one.group for one in groups} == {f"who={word}" for word in pair}
    assert {one.n_members for one in groups} == {100}


def test_runs_are_what_is_written(tmp_path, size):
    path = scores(tmp_path / "runs.csv", ["01", "1", "1.0", "1"] * 100)
    frame = pd.read_csv(path, dtype=str)
    frame["canary"] = [f"c{at}" for at in range(len(frame))]
    frame["member"] = np.random.default_rng(3).permutation(np.repeat([0, 1], 200))
    frame.to_csv(path, index=False)

    found = mipaudit.epsilon(
        path, design="one-run", run_col="who", key_col="canary", score_col=["score"]
    )

    assert found.design.runs == 3


def test_ids_of_shift_are_texts(tmp_path):
    rng = np.random.default_rng(4)
    for name, ids in (("m", [f"{at:04d}" for at in range(100)]), ("h", [*map(str, range(100))])):
        table = pd.DataFrame({"who": ids, "age": rng.normal(size=100)})
        table.to_csv(tmp_path / f"{name}.csv", index=False)

    found = mipaudit.shift(
        members=str(tmp_path / "m.csv"), holdout=str(tmp_path / "h.csv"), id_col="who"
    )

    assert not [one for one in found.findings if "person" in told(one) or "both" in told(one)]


def test_numbers_stay_numbers_where_nothing_is_lost(tmp_path, size):
    """A file with types and one without have the same keys."""
    whole = np.arange(300)
    for values in (whole, whole + 0.5, whole.astype(float), -1.0 * whole - 1):
        path = scores(tmp_path / "keys.csv", values)
        frame = pd.read_csv(path)
        assert frame["who"].dtype == values.dtype
        frame.to_parquet(tmp_path / "keys.parquet")
        found = [
            mipaudit.estimate(str(tmp_path / f"keys.{form}"), key_col="who")
            for form in ("csv", "parquet")
        ]
        assert found[0].estimates == found[1].estimates
        assert found[0].provenance.seeds == found[1].provenance.seeds


def test_blanks_around_a_number_are_no_part_of_it():
    assert list(keys_of(labels_of([" 7", "12 "])).values) == [7, 12]
    assert keys_of(labels_of(["", "7"])).missing.tolist() == [True, False]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("007", "7"), "string"),
        (("1.0", "1"), "string"),
        (("7", "8"), "integer"),
        (("1.5", "2.0"), "float"),
        (("007", "08"), "float"),
    ],
)
def test_folders_that_are_two_stay_two(values, kind):
    found = folder_keys([(value, [f"run={value}"]) for value in values])

    assert {one["run"][0] for one in found} == {kind}
    assert len({one["run"][1] for one in found}) == len(values)
