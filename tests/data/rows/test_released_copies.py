"""Records that a release holds word for word travel with the scores, and can be forbidden."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis.strategies import data, integers

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.maths.exact_tests import larger_share_p
from mipaudit.output.stored_report import contradiction
from mipaudit.report.blocks import Grid
from mipaudit.report.codec import from_json, to_json
from mipaudit.report.forms import report_as
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.walk import walk_of
from mipaudit.statements.copies import COMMON, COPIES, UNLIMITED, Copies
from tests.fixtures.files import save
from tests.places import ROOT

SAMPLES = ROOT / "sample_data"
TABLES = {role: SAMPLES / f"adult_{role}.csv" for role in ("members", "holdout", "synthetic")}


@pytest.fixture(scope="module", params=["s.csv", "s.csv.gz", "s.parquet"])
def scores(request, tmp_path_factory):
    """Return a score file of the sample tables: 27 of 300 members are released."""
    path = tmp_path_factory.mktemp("copies") / request.param
    mipaudit.query("nn", **TABLES, output=path)
    return path


WIDE = {"max_advantage": 0.9, "against": "thresholds"}  # what these scores keep


def frame(
    copied: int, *, holdout: int = 0, rows: int = 200, others: int | None = None
) -> pd.DataFrame:
    rng = np.random.default_rng(12)
    whole = rows + (rows if others is None else others)
    member = np.arange(whole) < rows
    copy = np.zeros(whole, dtype=bool)
    copy[:copied] = True
    copy[rows : rows + holdout] = True
    return pd.DataFrame({"member": member, "nn": rng.random(whole), "exact_copy": copy})


def status(data, **options):
    return mipaudit.estimate(data, **options).verdict.status


def codes(report):
    return {one.code for one in report.findings}


def test_a_score_file_tells_of_copies_first(scores):
    report = mipaudit.estimate(scores)
    assert report.design.score_columns == ("nn",)
    first = report.findings[0]
    assert (first.code, is_serious(first)) == ("exact_copies", True)
    assert "27 of 300 members and 0 of 300 holdout records" in told(first)
    assert report.answer.get("copied") or report.answer.code == "leaks"
    assert (report.copies.members, report.copies.holdout) == (27, 0)
    assert "score_left_out" not in codes(report)


def test_a_policy_can_forbid_them(scores):
    wide = mipaudit.estimate(scores, **WIDE)
    assert wide.verdict.status == "inconclusive"
    assert wide.answer.get("reason").code == "open_copies"
    report = mipaudit.estimate(scores, max_copies=0, **WIDE)
    assert report.verdict.status == "not_met"
    assert told(report.verdict.reasons[0]).startswith("27 of 300 members stand in the release word")
    assert [status(scores, max_copies=most) for most in (26, 27)] == ["not_met", "met"]
    failed = [one for one in walk_of(report).cases if one.status == "failed"]
    assert [one.name for one in failed] == ["exact copies 0"]
    blocks = walk_of(report).of_rows("policy")
    (grid,) = (block for block in blocks if isinstance(block, Grid))
    (row,) = (row for row in grid.rows if "exact copies" in row[0])
    assert row[-3:-1] == ("27", "27")
    stored = from_json(to_json(mipaudit.estimate(scores)))
    judged = [{"max_copies": 0}, {"max_copies": 27}, {"max_copies": 27, **WIDE}]
    found = [mipaudit.rejudge(stored, **limits) for limits in judged]
    assert [one.verdict.status for one in found] == ["not_met", "met", "met"]
    assert [contradiction(one) for one in (report, *found)] == [None] * 4


def test_a_file_that_says_nothing_keeps_the_verdict_open(scores):
    plain = (pd.read_parquet if scores.suffix == ".parquet" else pd.read_csv)(scores)
    report = mipaudit.estimate(plain.drop(columns="exact_copy"), max_copies=0)
    assert report.verdict.status == "inconclusive"
    assert "exact_copy" in told(report.verdict.reasons[0])
    assert report.copies is report.answer.get("copies") is None
    again = mipaudit.rejudge(from_json(to_json(report)), max_copies=5)
    assert again.verdict.status == "inconclusive"


FOURTH = np.arange(400) == 3
EDITED = {"texts": "no", "gaps": np.where(FOURTH, np.nan, 0), "twos": np.where(FOURTH, 2, 0)}


@pytest.mark.parametrize("cells", [*EDITED, "parts"])
def test_a_column_that_was_edited_never_makes_met(tmp_path, cells):
    table = data = frame(0)
    if cells == "parts":
        table.iloc[::2].to_parquet(tmp_path / "a.parquet")
        table.iloc[1::2].drop(columns="exact_copy").to_parquet(tmp_path / "b.parquet")
        data = str(tmp_path)
    else:
        table = data = table.assign(exact_copy=EDITED[cells])
    assert status(data, max_copies=0) == "inconclusive"
    assert status(frame(0), max_copies=0) == "met"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_parts_that_write_it_in_other_ways_count_together(tmp_path, form):
    parts = [frame(9).iloc[at::3] for at in range(3)]
    parts[1] = parts[1].assign(exact_copy=np.where(parts[1]["exact_copy"], "yes", "no"))
    if form == "parquet":
        parts[2] = parts[2].assign(exact_copy=[[1.0]] * len(parts[2]))  # which tells nothing
    for at, part in enumerate(parts):
        save(part, tmp_path / f"{at}.{form}")
    report = mipaudit.estimate(str(tmp_path), **WIDE)
    assert report.copies.members == (6 if form == "parquet" else 9)
    assert report.verdict.status == "inconclusive"
    # What one part alone tells counts as well.
    alone = save(frame(9).iloc[::2], tmp_path / "alone" / "a.csv")
    save(frame(9).iloc[1::2].drop(columns="exact_copy"), tmp_path / "alone" / "b.csv")
    assert status(str(alone.parent), max_copies=0) == "not_met"


def test_metadata_and_order_change_nothing(tmp_path):
    mipaudit.query("nn", **TABLES, output=tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    pq.write_table(shuffled.replace_schema_metadata({"exact_copies": "0"}), tmp_path / "m.parquet")
    report = mipaudit.estimate(tmp_path / "m.parquet", max_copies=0)
    assert report.verdict.status == "not_met"
    assert told(report.findings[0]).startswith("Exact copies: 27 of 300 members")


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
    assert "exact_copies" in codes(whole)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"max_copies": most} for most in (-1, 0.5, float("nan"), float("inf"), "many", True)),
        {"limits": [{"quantity": "copies", "max": 0}]},
    ],
)
def test_a_limit_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(frame(0), **wrong)
    assert "max_copies" not in wrong or caught.value.code == "max_copies"


def judged(table: pd.DataFrame, command: str) -> Any:
    """Return the report of a command whose limits these scores keep."""
    if command == "compare":
        table = table.assign(b=0.5 + table["nn"] / 2)
    if command == "attribute":
        table = table.assign(attribute="a", guess=np.where(np.arange(len(table)) % 2, "a", "b"))
    return getattr(mipaudit, command)(table, **KEPT[command])


KEPT = {
    "estimate": WIDE,
    "records": {"max_risk": 0.99},
    "attack": {"max_advantage": 0.99},
    "compare": {"baseline": "b", "max_increase": 0.9},
    "attribute": {"max_attribute_advantage": 0.9},
}


@pytest.mark.parametrize("command", KEPT)
def test_nothing_is_met_where_members_are_copied_unless_it_is_chance(command):
    report = judged(frame(27, rows=300), command)
    assert report.verdict.status == "inconclusive"
    assert report.verdict.reasons[0].code == UNLIMITED
    assert contradiction(report) is None
    page = report_as(report, "markdown")
    said = [one in page for one in ("INCONCLUSIVE", "**MET", "Verdict: MET")]
    assert said == [True, False, False]
    assert 'failures="1"' in report_as(report, "junit")
    chance = judged(frame(290, holdout=288, rows=300), command)
    assert chance.verdict.status == "met"
    (said,) = (one for one in chance.findings if one.code == COMMON)
    assert is_serious(said)
    assert "such rows are common: 288 of 300 holdout records too" in told(said)
    assert judged(frame(0, rows=300), command).verdict.status == "met"


@pytest.mark.parametrize(
    ("members", "holdout", "sizes", "chance"),
    [
        (290, 288, (300, 300), True),
        (5, 1, (300, 300), False),
        (4, 2, (300, 300), True),
        (1, 0, (300, 300), False),
        (0, 7, (300, 300), True),
        (40, 20, (300, 300), False),  # half the share, and surely less
        (9, 45, (200, 1000), True),
        (9, 18, (200, 1000), False),  # twice as many of five times as many
        (100, 1, (1000, 20), True),
        (100, 0, (1000, 20), False),
        (30_000, 29_500, (1_000_000, 1_000_000), False),
        (10**40, 10**40, (10**41, 10**41), False),  # of a report that somebody wrote
        (-3, 5, (10, 10), False),
    ],
)
def test_what_is_chance(members, holdout, sizes, chance):
    told = {"told_members": sizes[0], "told_holdout": sizes[1]}
    same = {"n_members": sizes[0], "n_holdout": sizes[1]}
    assert Copies(members=members, holdout=holdout, **told, **same).chance is chance
    if 0 <= members <= sum(sizes) <= 2000:
        table = frame(members, holdout=holdout, rows=sizes[0], others=sizes[1])
        assert status(table, **WIDE) == ("met" if chance else "inconclusive")


@given(data())
def test_the_test_of_two_shares_is_fishers(draw):
    sizes = [draw.draw(integers(1, 60)) for _ in range(2)]
    inside, beside = (draw.draw(integers(0, size)) for size in sizes)
    p = larger_share_p(inside, sizes[0], beside, sizes[1])
    marked, rows = inside + beside, sum(sizes)
    ways = sum(
        comb(sizes[0], x) * comb(sizes[1], marked - x) for x in range(inside, marked + 1)
    ) / comb(rows, marked)
    assert p == pytest.approx(ways, rel=1e-9)


def test_a_zero_in_another_column_is_no_copy():
    table = frame(0).assign(lnr=0.0)
    table.loc[:40, "nn"] = 0.0
    for one in (table, table.drop(columns="exact_copy")):
        report = mipaudit.estimate(one, score_col=["nn"], **WIDE)
        assert report.verdict.status == "met"
        assert not {COPIES, COMMON} & codes(report)


@pytest.mark.parametrize("words", ["01", "truth", "yes"])
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_whoever_is_said_to_be_copied_counts_however_it_is_written(tmp_path, words, kind):
    table = frame(27)
    said = {"01": ("0", "1"), "truth": ("False", "True"), "yes": ("no", " Yes")}[words]
    table["exact_copy"] = np.where(table["exact_copy"], *reversed(said))
    data = table if kind == "frame" else save(table, tmp_path / f"s.{kind}")
    report = mipaudit.estimate(data, **WIDE)
    assert report.verdict.status == "inconclusive"
    assert "27 of 200 members" in told(report.findings[0])


def test_who_leaves_the_copies_out_of_the_rows_has_released_them_all_the_same(tmp_path):
    table = frame(27)
    for where in ("exact_copy = 0", "exact_copy = False"):
        report = mipaudit.estimate(table, where=where, **WIDE)
        assert (report.design.n_members, report.verdict.status) == (173, "inconclusive")
        assert "27 of 200 members" in told(report.findings[0])
        limits = [status(table, where=where, max_copies=most) for most in (26, 27)]
        assert limits == ["not_met", "met"]
    members, holdout = (
        save(table[table["member"] == side].drop(columns="member"), tmp_path / f"{side}.parquet")
        for side in (True, False)
    )
    assert status(None, members=members, holdout=holdout, **WIDE) == "inconclusive"
    table.loc[table["exact_copy"], "nn"] = np.nan
    report = mipaudit.estimate(table, nan="drop", **WIDE)
    assert (report.design.n_members, report.verdict.status) == (173, "inconclusive")
    assert "27 of 200 members" in told(report.findings[0])


@pytest.mark.parametrize("names", [["exact_copy"], ["exact_copy", "nn"]])
def test_the_column_counts_where_it_is_a_score_too(names):
    report = mipaudit.estimate(frame(27), score_col=names, **WIDE)
    assert report.verdict.status == "inconclusive"
    assert report.copies.members == 27


@pytest.mark.parametrize("command", ["estimate", "records"])
def test_a_limit_that_is_kept_says_how_many_are_accepted(command):
    ask, wide = getattr(mipaudit, command), KEPT[command]
    table = frame(27, rows=300)
    kept = ask(table, max_copies=30, **wide)
    assert kept.verdict.status == "met"
    for said in (told(kept.verdict.reasons[0]), told(kept.findings[0]), report_as(kept, "html")):
        assert "27 of at most 30 accepted" in said
    broken = ask(table, max_copies=26, **wide)
    assert broken.verdict.status == "not_met"
    assert "at most 26 accepted" in told(broken.findings[0])
    # Chance is no excuse where somebody said how many may be.
    common = frame(290, holdout=288, rows=300)
    assert ask(common, max_copies=0, **wide).verdict.status == "not_met"


def test_reports_are_compared_by_the_copies_of_the_new_release():
    copied, none = (mipaudit.estimate(frame(count), **WIDE) for count in (27, 0))
    accepted = mipaudit.rejudge(copied, max_copies=27, **WIDE)
    again = mipaudit.estimate(frame(0).assign(nn=lambda one: one["nn"] * 2), **WIDE)
    statuses = [
        mipaudit.compare(old, new, max_increase=0.9).verdict.status
        for old, new in ((none, copied), (none, accepted), (copied, again))
    ]
    assert statuses == ["inconclusive", "met", "met"]


def test_a_waiver_does_not_stand_for_the_copies():
    waiver = {"quantity": "advantage", "reason": "r", "person": "p", "expires": "2999-12-31"}
    table = frame(27).assign(nn=lambda one: one["nn"] + 5 * one["member"])
    report = mipaudit.estimate(table, max_advantage=0.1, waivers=[waiver])
    assert report.policy[0].waived is not None
    assert report.verdict.status == "inconclusive"


def test_a_program_ends_with_the_code_of_an_open_answer(mipaudit, tmp_path):
    frame(27).to_csv(tmp_path / "s.csv", index=False)
    limits = ("--max-advantage", "0.9", "--against", "thresholds")
    done = mipaudit("estimate", "s.csv", *limits, "-q", "-o", "r.json")
    assert done.returncode == 3
    said = mipaudit("render", "r.json").stdout
    assert said.startswith("INCONCLUSIVE")
    assert "members are released word for word" in " ".join(said.split("\n\n")[0].split())
    assert "--max-copies" in said
    assert mipaudit("render", "r.json", *limits).returncode == 3
    assert mipaudit("render", "r.json", *limits, "--max-copies", "27").returncode == 0
    assert "::warning" in mipaudit("render", "r.json", "-f", "github").stdout
    signed = mipaudit("render", "r.json", "-f", "in-toto", "--subject", "s.csv").stdout
    assert '"result": "WARNED"' in signed
    risks = mipaudit("records", "s.csv", "--max-risk", "0.99", "-q")
    assert risks.returncode == 3
    (tmp_path / "mipaudit.toml").write_text("max_copies = 27\n")
    assert mipaudit("records", "s.csv", "--max-risk", "0.99", "-q").returncode == 0
    assert mipaudit("estimate", "s.csv", *limits, "-q").returncode == 0
    frame(190, holdout=188).to_csv(tmp_path / "c.csv", index=False)
    common = mipaudit("estimate", "c.csv", "--no-config", *limits)
    assert common.returncode == 0
    assert "such rows are common: 188 of 200 holdout records too" in " ".join(common.stdout.split())


@pytest.mark.parametrize("said", [(2, 0), ("x", ""), ("ja", "nein"), (0.999999, 0), ("ok", "0")])
@pytest.mark.parametrize("command", KEPT)
def test_members_of_whom_it_is_unclear_meet_nothing(command, said):
    table = frame(0).assign(exact_copy=np.where(np.arange(400) < 9, *said))
    report = judged(table, command)
    assert report.verdict.status == "inconclusive"
    assert "copies_unread" in codes(report)


@pytest.mark.parametrize("no", ["0", "no", "FALSE", "", "NA"])
def test_words_that_say_no_are_no_marks(no):
    table = frame(0).assign(exact_copy=np.where(np.arange(400) == 300, "yes", no))
    assert "copies_unread" not in codes(mipaudit.estimate(table))


LISTS = pa.list_(pa.int64())
CELLS = {LISTS: [1], pa.binary(): b"1", pa.timestamp("s"): 1}


@pytest.mark.parametrize("name", ["Exact_Copy", "exactCopy", "EXACT COPY", "exact-copy", *CELLS])
def test_a_column_of_copies_that_is_not_read_is_refused(tmp_path, name):
    data = frame(9).rename(columns={"exact_copy": str(name)})
    if name in CELLS:
        table = pa.Table.from_pandas(data.drop(columns=str(name)))
        cells = pa.array([CELLS[name]] * table.num_rows, type=name)
        data = tmp_path / "s.parquet"
        pq.write_table(table.append_column("exact_copy", cells), data)
    with pytest.raises(mipaudit.InputError, match="word for word"):
        mipaudit.estimate(data, score_col=["nn"], **WIDE)


def test_a_report_whose_copies_are_told_no_more_contradicts_itself():
    report = mipaudit.estimate(frame(27), **WIDE)
    kept = tuple(one for one in report.findings if one.code != COPIES)
    met = replace(report.verdict, status="met", reasons=report.verdict.reasons[1:])
    assert contradiction(report) is None
    assert contradiction(replace(report, findings=kept, verdict=met)) == "$.findings"
    some = mipaudit.estimate(frame(290, holdout=288, rows=300), **WIDE)
    for one in (some, mipaudit.rejudge(report, max_copies=27)):
        assert contradiction(one) is None
