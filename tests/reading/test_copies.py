"""Records that a release holds word for word travel with the scores, and can be forbidden."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import mipaudit
from mipaudit.commands.estimate.page import estimate_document, headline
from mipaudit.errors import UsageError
from mipaudit.formats.policy.blocks import policy_section
from mipaudit.reading.report_file import contradiction
from mipaudit.statements.reports.codec import from_json, to_json
from tests.places import ROOT

SAMPLES = ROOT / "sample_data"
TABLES = {role: SAMPLES / f"adult_{role}.csv" for role in ("members", "holdout", "synthetic")}


@pytest.fixture(scope="module", params=["s.csv", "s.csv.gz", "s.parquet"])
def scores(request, tmp_path_factory):
    """Return a score file of the sample tables: 27 of 300 members are released."""
    path = tmp_path_factory.mktemp("copies") / request.param
    mipaudit.query("nn", **TABLES, output=path)
    return path


def frame(copied: int, *, holdout: int = 0, rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(12)
    member = np.arange(2 * rows) < rows
    copy = np.zeros(2 * rows, dtype=bool)
    copy[:copied] = True
    copy[rows : rows + holdout] = True
    return pd.DataFrame({"member": member, "nn": rng.random(2 * rows), "exact_copy": copy})


def test_a_score_file_tells_of_copies_first(scores):
    report = mipaudit.estimate(scores)
    assert report.design.score_columns == ("nn",)
    first = report.findings[0]
    assert first.code == "exact_copies"
    assert "27 of 300 members and 0 of 300 holdout records" in first.text
    assert report.summary.startswith("Exact copies: 27 of 300 members")
    assert (report.copies.members, report.copies.holdout) == (27, 0)
    assert "score_left_out" not in {one.code for one in report.findings}


def test_a_policy_can_forbid_them(scores):
    wide = mipaudit.estimate(scores, max_advantage=0.9, against="thresholds")
    assert wide.verdict.status == "met"
    assert "; records are released word for word" in headline(wide)
    report = mipaudit.estimate(scores, max_advantage=0.9, against="thresholds", max_copies=0)
    assert report.verdict.status == "not_met"
    assert report.verdict.reasons[0].startswith("27 of 300 members stand in the release word")
    assert contradiction(report) is None
    assert mipaudit.estimate(scores, max_copies=26).verdict.status == "not_met"
    assert mipaudit.estimate(scores, max_copies=27).verdict.status == "met"
    failed = [one for one in estimate_document(report).cases if one.status == "failed"]
    assert [one.name for one in failed] == ["exact copies 0"]
    (row,) = (row for row in policy_section(report.policy)[1].rows if "exact copies" in row[0])
    assert row[-2:] == ("27", "27")


def test_a_stored_report_is_judged_by_its_copies(scores):
    stored = from_json(to_json(mipaudit.estimate(scores)))
    assert mipaudit.rejudge(stored, max_copies=0).verdict.status == "not_met"
    assert mipaudit.rejudge(stored, max_copies=27).verdict.status == "met"
    both = mipaudit.rejudge(stored, max_copies=27, max_advantage=0.9, against="thresholds")
    assert both.verdict.status == "met"
    assert contradiction(both) is None


def test_a_file_that_says_nothing_keeps_the_verdict_open(scores, tmp_path):
    plain = (pd.read_parquet if scores.suffix == ".parquet" else pd.read_csv)(scores)
    report = mipaudit.estimate(plain.drop(columns="exact_copy"), max_copies=0)
    assert report.verdict.status == "inconclusive"
    assert "exact_copy" in report.verdict.reasons[0]
    assert report.copies is None
    assert "word for word" not in headline(report)
    again = mipaudit.rejudge(from_json(to_json(report)), max_copies=5)
    assert again.verdict.status == "inconclusive"


@pytest.mark.parametrize("cells", ["texts", "gaps", "twos", "parts"])
def test_a_column_that_was_edited_never_makes_met(tmp_path, cells):
    table = frame(0)
    match cells:
        case "texts":
            table["exact_copy"] = "no"
        case "gaps":
            table["exact_copy"] = table["exact_copy"].astype("Float64")
            table.loc[3, "exact_copy"] = None
        case "twos":
            table["exact_copy"] = np.where(np.arange(len(table)) == 3, 2, 0)
        case "parts":
            table.iloc[::2].to_parquet(tmp_path / "a.parquet")
            table.iloc[1::2].drop(columns="exact_copy").to_parquet(tmp_path / "b.parquet")
    data = str(tmp_path) if cells == "parts" else table
    assert mipaudit.estimate(data, max_copies=0).verdict.status == "inconclusive"
    assert mipaudit.estimate(frame(0), max_copies=0).verdict.status == "met"


def test_copies_that_are_told_of_some_rows_alone_count(tmp_path):
    table = frame(9)
    table.iloc[::2].to_csv(tmp_path / "a.csv", index=False)
    table.iloc[1::2].drop(columns="exact_copy").to_csv(tmp_path / "b.csv", index=False)
    assert mipaudit.estimate(str(tmp_path), max_copies=0).verdict.status == "not_met"


def test_metadata_and_order_change_nothing(tmp_path):
    mipaudit.query("nn", **TABLES, output=tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    pq.write_table(shuffled.replace_schema_metadata({"exact_copies": "0"}), tmp_path / "m.parquet")
    report = mipaudit.estimate(tmp_path / "m.parquet", max_copies=0)
    assert report.verdict.status == "not_met"
    assert report.findings[0].text.startswith("Exact copies: 27 of 300 members")


def test_only_the_rows_that_are_audited_count():
    table = frame(10, holdout=4)
    table["site"] = np.where(np.arange(len(table)) % 2, "a", "b")
    report = mipaudit.estimate(table, where="site = a", max_copies=5)
    assert (report.copies.members, report.copies.holdout, report.copies.n_members) == (5, 2, 100)
    assert report.verdict.status == "met"


@pytest.mark.parametrize("command", ["check", "attack", "compare", "records", "summarize"])
def test_other_commands_tell_of_them_first(command):
    table = frame(3).assign(loss=np.random.default_rng(2).random(400))
    named = {} if command == "compare" else {"score_col": ["nn"]}
    report = getattr(mipaudit, command)(table, **named)
    found = report.manifest.findings if command == "summarize" else report.findings
    assert found[0].code == "exact_copies"


def test_summaries_do_not_count_copies():
    whole = mipaudit.estimate(mipaudit.summarize(frame(3)), max_copies=0)
    assert whole.verdict.status == "inconclusive"
    assert "exact_copies" in {one.code for one in whole.findings}


@pytest.mark.parametrize("wrong", [-1, 0.5, float("nan"), float("inf"), "many", True])
def test_a_limit_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(frame(0), max_copies=wrong)
    assert caught.value.code == "max_copies"


def test_copies_are_no_listed_limit():
    with pytest.raises(UsageError):
        mipaudit.estimate(frame(0), limits=[{"quantity": "copies", "max": 0}])
