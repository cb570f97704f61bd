"""Records that a release holds word for word travel with the scores, and can be forbidden."""

from __future__ import annotations

from dataclasses import replace
from math import comb

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
from tests.fixtures.codes import codes
from tests.fixtures.files import save
from tests.places import ROOT

ROLES = ("members", "holdout", "synthetic")
TABLES = {role: ROOT / "sample_data" / f"adult_{role}.csv" for role in ROLES}
WIDE = {"max_advantage": 0.9, "against": "thresholds"}  # what these scores keep
KEPT = {
    "estimate": WIDE,
    "records": {"max_risk": 0.99},
    "attack": {"max_advantage": 0.99},
    "compare": {"baseline": "b", "max_increase": 0.9},
    "attribute": {"max_attribute_advantage": 0.9},
}


@pytest.fixture(scope="module", params=["s.csv", "s.csv.gz", "s.parquet"])
def scores(request, tmp_path_factory):
    """Return a score file of the sample tables: 27 of 300 members are released."""
    path = tmp_path_factory.mktemp("copies") / request.param
    mipaudit.query("nn", **TABLES, output=path)
    return path


def frame(copied, *, holdout=0, rows=200, others=None):
    whole = rows + (rows if others is None else others)
    at = np.arange(whole)
    copy = (at < copied) | ((at >= rows) & (at < rows + holdout))
    score = np.random.default_rng(12).random(whole)
    return pd.DataFrame({"member": at < rows, "nn": score, "exact_copy": copy})


def common():
    """Return rows of which most stand in the release by chance."""
    return frame(290, holdout=288, rows=300)


def status(table, **options):
    return mipaudit.estimate(table, **options).verdict.status


def judged(table, command, **limits):
    """Return the report of a command whose limits these scores keep."""
    if command == "compare":
        table = table.assign(b=0.5 + table["nn"] / 2)
    if command == "attribute":
        table = table.assign(attribute="a", guess=np.where(np.arange(len(table)) % 2, "a", "b"))
    return getattr(mipaudit, command)(table, **KEPT[command], **limits)


def test_a_score_file_tells_of_copies_first_and_a_policy_can_forbid_them(scores):
    plain = mipaudit.estimate(scores)
    first = plain.findings[0]
    assert plain.design.score_columns == ("nn",)
    assert (first.code, is_serious(first)) == ("exact_copies", True)
    assert "27 of 300 members and 0 of 300 holdout records" in told(first)
    assert plain.answer.get("copied") or plain.answer.code == "leaks"
    assert (plain.copies.members, plain.copies.holdout) == (27, 0)
    assert "score_left_out" not in codes(plain)
    wide = mipaudit.estimate(scores, **WIDE)
    assert (wide.verdict.status, wide.answer.get("reason").code) == ("inconclusive", "open_copies")
    report = mipaudit.estimate(scores, max_copies=0, **WIDE)
    assert report.verdict.status == "not_met"
    assert told(report.verdict.reasons[0]).startswith(
        "27 of 300 members (and 0 of 300 holdout records) appear in the release"
    )
    assert [status(scores, max_copies=most) for most in (26, 27)] == ["not_met", "met"]
    walk = walk_of(report)
    assert [one.name for one in walk.cases if one.status == "failed"] == ["exact copies 0"]
    (grid,) = (block for block in walk.of_rows("policy") if isinstance(block, Grid))
    (row,) = (row for row in grid.rows if "exact copies" in row[0])
    assert row[-3:-1] == ("27", "27")
    judged = [{"max_copies": 0}, {"max_copies": 27}, {"max_copies": 27, **WIDE}]
    found = [mipaudit.rejudge(from_json(to_json(plain)), **limits) for limits in judged]
    assert [one.verdict.status for one in found] == ["not_met", "met", "met"]
    assert [contradiction(one) for one in (report, *found)] == [None] * 4
    table = (pd.read_parquet if scores.suffix == ".parquet" else pd.read_csv)(scores)
    untold = mipaudit.estimate(table.drop(columns="exact_copy"), max_copies=0)
    assert untold.verdict.status == "inconclusive"
    assert "exact_copy" in told(untold.verdict.reasons[0])
    assert untold.copies is untold.answer.get("copies") is None
    again = mipaudit.rejudge(from_json(to_json(untold)), max_copies=5)
    assert again.verdict.status == "inconclusive"


FOURTH = np.arange(400) == 3
EDITED = {"texts": "no", "gaps": np.where(FOURTH, np.nan, 0), "twos": np.where(FOURTH, 2, 0)}


@pytest.mark.parametrize("cells", [*EDITED, "parts"])
def test_a_column_that_was_edited_never_makes_met(tmp_path, cells):
    assert status(frame(0), max_copies=0) == "met"
    if cells == "parts":
        save(frame(0).iloc[::2], tmp_path / "a.parquet")
        save(frame(0).iloc[1::2].drop(columns="exact_copy"), tmp_path / "b.parquet")
        assert status(str(tmp_path), max_copies=0) == "inconclusive"
    else:
        assert status(frame(0).assign(exact_copy=EDITED[cells]), max_copies=0) == "inconclusive"


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
    if command == "summarize":
        whole = mipaudit.estimate(report, max_copies=0)
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
    chance = judged(common(), command)
    assert chance.verdict.status == "met"
    (said,) = (one for one in chance.findings if one.code == COMMON)
    assert is_serious(said)
    assert "such rows are common: 288 of 300 holdout records appear, too" in told(said)
    assert judged(frame(0, rows=300), command).verdict.status == "met"
    most = 5 if command == "estimate" else 1
    for words in [("ja", "nein"), (2, 0), ("x", ""), (0.999999, 0), ("ok", "0")][:most]:
        unclear = frame(0).assign(exact_copy=np.where(np.arange(400) < 9, *words))
        report = judged(unclear, command)
        assert report.verdict.status == "inconclusive"
        assert "copies_unread" in codes(report)


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
    marked = inside + beside
    ways = (comb(sizes[0], x) * comb(sizes[1], marked - x) for x in range(inside, marked + 1))
    assert p == pytest.approx(sum(ways) / comb(sum(sizes), marked), rel=1e-9)


def test_a_zero_in_another_column_is_no_copy():
    table = frame(0).assign(lnr=0.0)
    table.loc[:40, "nn"] = 0.0
    for one in (table, table.drop(columns="exact_copy")):
        report = mipaudit.estimate(one, score_col=["nn"], **WIDE)
        assert report.verdict.status == "met"
        assert not {COPIES, COMMON} & codes(report)


@pytest.mark.parametrize("words", [("1", "0"), ("True", "False"), (" Yes", "no")])
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_whoever_is_said_to_be_copied_counts_however_it_is_written(tmp_path, words, kind):
    table = frame(27).assign(exact_copy=lambda one: np.where(one["exact_copy"], *words))
    table = table if kind == "frame" else save(table, tmp_path / f"s.{kind}")
    report = mipaudit.estimate(table, **WIDE)
    assert report.verdict.status == "inconclusive"
    assert "27 of 200 members" in told(report.findings[0])


@pytest.mark.parametrize(
    ("options", "members"),
    [
        *(({"where": f"exact_copy = {no}"}, 173) for no in ("0", "False")),
        ({"nan": "drop"}, 173),  # the scores of those are missing
        *(({"score_col": names}, 200) for names in (["exact_copy"], ["exact_copy", "nn"])),
    ],
)
def test_whoever_is_left_out_or_scored_is_released_all_the_same(options, members):
    table = frame(27)
    if "nan" in options:
        table.loc[table["exact_copy"], "nn"] = np.nan
    report = mipaudit.estimate(table, **options, **WIDE)
    assert (report.design.n_members, report.verdict.status) == (members, "inconclusive")
    assert report.copies.members == 27
    assert "27 of 200 members" in told(report.findings[0])
    if "where" in options:
        limits = [status(table, max_copies=most, **options) for most in (26, 27)]
        assert limits == ["not_met", "met"]


def test_classes_in_files_of_their_own_tell_of_them_too(tmp_path):
    table, sides = frame(27), {}
    for role, side in (("members", True), ("holdout", False)):
        rows = table[table["member"] == side].drop(columns="member")
        sides[role] = save(rows, tmp_path / f"{role}.parquet")
    assert status(None, **sides, **WIDE) == "inconclusive"


@pytest.mark.parametrize("command", ["estimate", "records"])
def test_a_limit_that_is_kept_says_how_many_are_accepted(command):
    kept = judged(frame(27, rows=300), command, max_copies=30)
    assert kept.verdict.status == "met"
    for said in (told(kept.verdict.reasons[0]), told(kept.findings[0]), report_as(kept, "html")):
        assert "within the limit of 30" in said
    broken = judged(frame(27, rows=300), command, max_copies=26)
    assert broken.verdict.status == "not_met"
    assert "above the limit of 26" in told(broken.findings[0])
    # Chance is no excuse where somebody said how many may be.
    assert judged(common(), command, max_copies=0).verdict.status == "not_met"


def test_reports_are_compared_by_the_copies_of_the_new_release():
    copied, none = (mipaudit.estimate(frame(count), **WIDE) for count in (27, 0))
    accepted = mipaudit.rejudge(copied, max_copies=27, **WIDE)
    again = mipaudit.estimate(frame(0).assign(nn=lambda one: one["nn"] * 2), **WIDE)
    for old, new, status in (
        *((none, copied, "inconclusive"), (none, accepted, "met"), (copied, again, "met")),
    ):
        assert mipaudit.compare(old, new, max_increase=0.9).verdict.status == status


def test_a_waiver_does_not_stand_for_the_copies():
    waiver = {"quantity": "advantage", "reason": "r", "person": "p", "expires": "2999-12-31"}
    table = frame(27).assign(nn=lambda one: one["nn"] + 5 * one["member"])
    report = mipaudit.estimate(table, max_advantage=0.1, waivers=[waiver])
    assert report.policy[0].waived is not None
    assert report.verdict.status == "inconclusive"


@pytest.mark.parametrize("no", ["0", "no", "FALSE", "", "NA"])
def test_words_that_say_no_are_no_marks(no):
    table = frame(0).assign(exact_copy=np.where(np.arange(400) == 300, "yes", no))
    assert "copies_unread" not in codes(mipaudit.estimate(table))


LISTS = pa.list_(pa.int64())
CELLS = {LISTS: [1], pa.binary(): b"1", pa.timestamp("s"): 1}


@pytest.mark.parametrize("name", ["Exact_Copy", "exactCopy", "EXACT COPY", "exact-copy", *CELLS])
def test_a_column_of_copies_that_is_not_read_is_refused(tmp_path, name):
    table = frame(9).rename(columns={"exact_copy": str(name)})
    if name in CELLS:
        plain = pa.Table.from_pandas(table.drop(columns=str(name)))
        cells = pa.array([CELLS[name]] * plain.num_rows, type=name)
        table = tmp_path / "s.parquet"
        pq.write_table(plain.append_column("exact_copy", cells), table)
    with pytest.raises(mipaudit.InputError, match="unchanged"):
        mipaudit.estimate(table, score_col=["nn"], **WIDE)


def test_a_report_whose_copies_are_told_no_more_contradicts_itself():
    report = mipaudit.estimate(frame(27), **WIDE)
    kept = tuple(one for one in report.findings if one.code != COPIES)
    met = replace(report.verdict, status="met", reasons=report.verdict.reasons[1:])
    assert contradiction(replace(report, findings=kept, verdict=met)) == "$.findings"
    some = mipaudit.estimate(common(), **WIDE)
    for one in (report, some, mipaudit.rejudge(report, max_copies=27)):
        assert contradiction(one) is None
