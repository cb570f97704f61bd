"""Which answer an audit of records has, as a code with its numbers, and what it shows."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.records.report import differences
from mipaudit.model.row import Waiver
from mipaudit.report.forms import brief_report, report_as, report_text
from mipaudit.report.messages.records import RECORDS
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.walk import walk_of
from mipaudit.statements.rounding import lower_text
from tests.fixtures.briefs import shown
from tests.fixtures.codes import said


def table(leak, groups=1, rows=2000, seed=1):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    of = random.integers(groups, size=rows)
    return pd.DataFrame(
        {
            "member": member,
            "score": random.normal(size=rows) + leak * member * (of == 0),
            "region": [f"a region with a long name, number {one}" for one in of],
        }
    )


def less_as_members(**options):
    """Return an audit of which more holdout records have a value of their own than members."""
    members = np.repeat([0, 1, 2], [900, 60, 0])
    holdout = np.repeat([0, 1, 2], [860, 0, 100])
    return mipaudit.records(members=members, holdout=holdout, **options)


def unshown(report, **changes):
    """Return a report whose largest risk is not shown, and whose groups are as said."""
    first, *rest = report.estimates
    rest = [
        replace(one, lower=-1.0, upper=1.0) if one.quantity == "difference" else one for one in rest
    ]
    groups = tuple(replace(one, lower=0.0) for one in report.groups)
    given = {"groups": groups, "listed_members": 0, "listed_holdout": 0, **changes}
    return replace(report, estimates=(replace(first, lower=0.0), *rest), **given)


def of_groups(lower=0.0, least=-1.0, upper=1.0):
    """Return a report of groups, the first of which has this advantage and this difference."""
    report = unshown(mipaudit.records(table(3.0, groups=3), by="region"))
    first, *rest = report.groups
    estimates = tuple(
        replace(one, lower=least, upper=upper)
        if (one.quantity, one.group) == ("difference", first.group)
        else one
        for one in report.estimates
    )
    return replace(report, groups=(replace(first, lower=lower), *rest), estimates=estimates)


SMALLEST = {
    lambda: mipaudit.records(table(3.0)): (
        "records_exposed right_records member_given_away holdout_given_away risk_of_one_cell "
        "in_listed_cells"
    ),
    lambda: mipaudit.records(table(3.0), max_risk=0.1): "right_records_judged",
    less_as_members: "exposed_as_members_less",
    lambda: of_groups(lower=0.3): "group_exposed",
    lambda: of_groups(least=0.1): "group_differs groups_better",
    lambda: of_groups(upper=-0.1): "group_differs groups_worse",
    lambda: unshown(mipaudit.records(table(3.0)), listed_members=3): "cells_listed in_listed_cells",
    lambda: mipaudit.records(table(0.0, groups=3), by="region"): (
        "no_record_exposed nobody_given_away no_group_differs"
    ),
    lambda: mipaudit.records("sample_data/leaky.parquet", score_col="loss"): "no_member_given_away",
    lambda: mipaudit.records(table(0.5), min_cell=60): "small_cells",
}


def test_every_code_has_a_smallest_input():
    assert {code for codes in SMALLEST.values() for code in codes.split()} == {*RECORDS}


@pytest.mark.parametrize("make", SMALLEST, ids=SMALLEST.values())
def test_the_smallest_input_makes_its_codes(make):
    assert {*said(make())} >= {*SMALLEST[make].split()}


@pytest.mark.parametrize("leak", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("groups", [1, 25])
@pytest.mark.parametrize("options", [{}, {"by": "region", "top": 40}])
def test_a_screenful_says_no_more_than_the_report(leak, groups, options):
    report = mipaudit.records(table(leak, groups), **options)
    rows = {line.split()[0]: line.split() for line in shown(report).splitlines() if line.strip()}
    shows = (
        report.estimates[0].lower > 0
        or any(one.lower > 0 for one in report.groups)
        or any(one.shown != "open" for one in differences(report))
    )
    listed = report.listed_members + report.listed_holdout
    assert (report.answer.code == "no_record_exposed") == (not shows and not listed)
    for band in report.bands:
        if band.low > 0:
            surely = [f"{band.at_least_members:,}", f"{band.at_least_holdout:,}"]
            assert rows[f"{band.low:g}"][1:3] == surely


def test_groups_with_alike_long_names_can_be_told_apart():
    text = shown(mipaudit.records(table(3.0, groups=4), by="region"))
    names = [line[:20] for line in text.splitlines() if "…" in line[:20]]
    assert len(names) == len(set(names)) >= 4


def test_records_in_no_group_are_a_warning():
    frame = table(0.0, groups=1)
    frame.loc[:3, "region"] = "tiny"
    report = mipaudit.records(frame, by="region", min_cell=10)
    left_out = [one for one in report.findings if one.code == "groups_left_out"]
    assert [is_serious(one) for one in left_out] == [True]
    assert "! " in shown(report)


def test_a_page_leads_with_who_is_exposed_as_used():
    report = mipaudit.records(table(3.0))
    for what in ("holdout", "member"):
        used = [one for one in report.cells if one.speaks_for == what and one.lower > 0]
        found = said(report)[f"{what}_given_away"]
        assert [found.get(name) for name in ("cells", "members", "holdout", "lower")] == [
            *(len(used), sum(one.members for one in used), sum(one.holdout for one in used)),
            max(one.lower for one in used),
        ]
    text = told(report.answer.get("plainly"))
    assert f"in the clearest of {len(used)} groups of records with similar scores" in text
    assert text.index("as used:") < text.index("as not used:")
    assert text.endswith("this page neither passes nor fails the release.")
    top = report_as(report, "html").partition("</nav>")[0]
    assert "recognised as used" in top
    assert "points to member, " in top


def test_without_an_exposed_member_none_is_said_to_be():
    report = mipaudit.records("sample_data/leaky.parquet", score_col="loss")
    assert {one.speaks_for for one in report.cells if one.lower > 0} == {"holdout"}
    text = told(report.answer.get("plainly"))
    assert text.startswith("No group of records with similar scores is shown to give away that its")
    assert "Some records can be recognised as not used: in " in text


@pytest.mark.parametrize("limit", [0.05, 0.5, 0.99])
def test_with_a_limit_the_verdict_leads(limit):
    report = mipaudit.records(table(0.5), max_risk=limit)
    assert report.answer.code == f"answer_{report.verdict.status}"
    assert report.answer.get("plainly") is None


@pytest.fixture(scope="module")
def judged():
    return mipaudit.records(table(2.0, groups=2), by="region", top=4, max_risk=0.5)


def test_tables_and_prose_keep_to_the_width(judged):
    lines = report_text(judged, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines)


def test_a_case_for_every_check_and_one_without_a_policy(judged):
    (case,) = walk_of(judged).cases
    assert (case.group, case.name, case.status) == ("score", "risk 0.5", "failed")
    assert 'failures="1"' in report_as(judged, "junit")
    without = mipaudit.records(table(0.0))
    assert [case.status for case in walk_of(without).cases] == ["skipped"]


def test_a_waiver_and_its_expiry_decide_the_case(judged):
    waiver = Waiver(quantity="risk", reason="known", person="a board", expires="2030-01-01")
    (check,) = judged.policy
    open_one = replace(check, status="inconclusive", expired=waiver)
    for changed, status in (
        (replace(check, waived=waiver), "waived"),
        (check, "failed"),
        (open_one, "failed"),
    ):
        (case,) = walk_of(replace(judged, policy=(changed,))).cases
        assert case.status == status


@pytest.mark.parametrize(("limit", "first"), [(None, "member"), (0.3, "member"), (0.86, "holdout")])
def test_those_who_are_given_away_as_members_stand_first(limit, first):
    found = less_as_members(max_risk=limit)
    lower = {one.cell: one.lower for one in found.cells}
    assert 0.8 < lower[1] < 0.86 < lower[2]
    assert [*lower.values()] == sorted(lower.values(), reverse=True)
    for text in (brief_report(found, width=80), report_text(found, width=80)):
        assert re.search(r"^  \d +(member|holdout) ", text, re.MULTILINE)[1] == first
    top = less_as_members(max_risk=limit, top=3).top
    assert {one.member for one in top} == {first == "member"}
    if limit is None:
        assert (found.answer.get("of_members"), found.answer.get("lower")) == (lower[1], lower[2])
        assert lower_text(lower[1]) in told(found.answer)
