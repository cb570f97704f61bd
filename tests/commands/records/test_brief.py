"""How exposed records are, in a screenful: nothing flattering, nothing too long."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.records.brief import records_brief, records_front
from mipaudit.formats.report_forms import report_as
from mipaudit.report.messages.told import is_serious
from mipaudit.statements.text.guesses import right_at_least
from tests.fixtures.briefs import answer, shown


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


@pytest.mark.parametrize("leak", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("groups", [1, 3, 25])
@pytest.mark.parametrize("options", [{}, {"by": "region"}, {"by": "region", "top": 40}])
def test_a_screenful_says_no_more_than_the_report(leak, groups, options):
    report = mipaudit.records(table(leak, groups), **options)
    text = shown(report)
    assert "No limit was given: no verdict." in answer(report)
    shows = report.estimates[0].lower > 0 or any(
        one.lower > 0 or one.differs != "not shown" for one in report.groups
    )
    listed = report.listed_members + report.listed_holdout
    assert ("No record is shown to be exposed" in answer(report)) == (not shows and not listed)
    rows = [line.split() for line in text.splitlines()]
    assert [row for row in rows if row[:1] == ["0.9"]]


@pytest.mark.parametrize("limit", [0.05, 0.5, 0.99])
def test_the_verdict_is_the_first_word_and_among_the_last(limit):
    report = mipaudit.records(table(0.5), max_risk=limit)
    word = {"met": "MET", "not_met": "NOT MET", "inconclusive": "INCONCLUSIVE"}
    status = word[report.verdict.status]
    assert answer(report).startswith(f"{status}: ")
    assert shown(report).splitlines()[-1].startswith(f"{status}. More:")


def test_how_many_are_surely_exposed_is_what_the_bands_say():
    report = mipaudit.records(table(3.0))
    rows = {line.split()[0]: line.split() for line in shown(report).splitlines() if line.strip()}
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
    assert left_out
    assert all(is_serious(one) for one in left_out)
    assert "! " in shown(report)


def front(report):
    return records_front(report, records_brief(report))


def test_a_page_leads_with_who_is_exposed_as_used():
    report = mipaudit.records(table(3.0))
    used = [one for one in report.cells if one.speaks_for == "member" and one.lower > 0]
    unused = [one for one in report.cells if one.speaks_for == "holdout" and one.lower > 0]
    first = max(used, key=lambda one: one.lower)
    assert unused

    found = front(report)

    assert f"{len(used)} groups of records with like scores" in found.answer
    assert f"({sum(one.members for one in used):,} members, " in found.answer
    assert "give away that a record was used" in found.answer
    assert f"right at least {right_at_least(first.lower, (0.0,))} times in 100" in found.answer
    assert f"({sum(one.holdout for one in unused):,} holdout records, " in found.also[0]
    assert "was not used" in found.also[0]


def test_without_a_limit_a_page_is_neutral_and_shows_no_exposed_member_that_is_none():
    report = mipaudit.records("sample_data/leaky.parquet", score_col="loss")
    assert {one.speaks_for for one in report.cells if one.lower > 0} == {"holdout"}

    found = front(report)

    assert found.mood == "plain"
    assert found.answer == (
        "No group of records with like scores is shown to give away that they were used. No limit "
        "was set, so this page neither passes nor fails the release."
    )
    assert "give away that a record was not used" in found.also[0]


def test_nothing_exposed_is_said_to_be():
    found = front(mipaudit.records(table(0.0)))

    assert "is shown to give away whether they were used" in found.answer
    assert found.also == ()


def test_with_a_limit_the_verdict_leads():
    report = mipaudit.records(table(3.0), max_risk=0.5)
    found = front(report)

    assert found.answer.startswith("NOT MET: ")
    assert found.mood == "bad"
    assert "give away that a record was used" in found.also[0]


def test_a_picture_of_groups_says_what_they_give_away():
    page = report_as(mipaudit.records(table(3.0)), "html")
    top = page.partition("</nav>")[0]

    assert ">cell" not in top
    assert "holdout: used: at least" in top
    assert top.index("holdout: used: at least") < top.index("holdout: not used: at least")
