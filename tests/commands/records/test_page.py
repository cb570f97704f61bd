"""What a report of ``records`` shows."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.commands.records.page import records_document
from mipaudit.formats.csv import report_csv
from mipaudit.formats.html_page import document_html
from mipaudit.formats.junit import document_junit
from mipaudit.formats.markdown import document_markdown
from mipaudit.formats.report_forms import brief_report, document_of, report_text
from mipaudit.statements.policy import Waiver
from mipaudit.statements.text.rounding import lower_text, upper_text, value_text
from mipaudit.statements.verdict import NO_LIMIT, Verdict


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    n = 3_000
    member = rng.random(n) < 0.5
    table = pa.table(
        {
            "member": member,
            "score": rng.normal(size=n) + 2 * member,
            "sex": rng.choice(["F", "M"], n),
        }
    )
    return mipaudit.records(table, by="sex", top=4, max_risk=0.5)


def test_numbers_are_those_of_the_report(report):
    text = report_text(report, width=100)
    largest = report.estimates[0]
    for shown in (
        lower_text(largest.lower),
        value_text(largest.value),
        upper_text(largest.upper),
    ):
        assert shown in text
    assert text.startswith("Verdict: NOT MET.")
    for one in report.top:
        assert any(
            line.split()[:2] == [str(one.row), "member" if one.member else "holdout"]
            for line in text.splitlines()
        )
    for group in report.groups:
        lines = [line for line in text.splitlines() if line.strip().startswith(group.group)]
        advantage, upper, difference = lines
        assert lower_text(group.lower) in advantage
        assert any(
            upper_text(one.upper) in upper
            for one in report.estimates
            if one.group == group.group and one.upper is not None
        )
        assert group.differs.split()[0] in difference


def test_prose_keeps_to_the_width(report):
    text = report_text(report, width=72)
    prose = [line for line in text.splitlines() if line.startswith("    ")]
    assert prose
    assert max(map(len, prose)) <= 72
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_a_larger_risk_of_a_cell_comes_first(report):
    lower = [one.lower for one in report.cells]
    assert lower == sorted(lower, reverse=True)


def test_tables_fit_a_narrow_terminal(report):
    assert max(map(len, report_text(report, width=80).splitlines())) <= 80


def test_every_form_holds_the_verdict_and_the_limits(report):
    upper = upper_text(report.estimates[0].upper)
    document = document_of(report)
    for text in (document_markdown(document), document_html(document)):
        assert "Verdict: NOT MET." in text
        assert upper in text
        assert "sex=F" in text
    rows = list(csv.DictReader(io.StringIO(report_csv(report))))
    assert [int(row["cell"]) for row in rows] == [one.cell for one in report.cells]


def test_a_case_for_every_check_and_one_without_a_policy(report):
    (case,) = records_document(report).cases
    assert (case.group, case.name, case.status) == ("score", "risk 0.5", "failed")
    assert 'failures="1"' in document_junit(records_document(report))
    without = replace(report, policy=(), verdict=Verdict(status="no_policy", reasons=(NO_LIMIT,)))
    document = records_document(without)
    assert (document.headline, document.mood) == ("", "plain")
    assert [case.status for case in document.cases] == ["skipped"]


def test_a_waiver_and_its_expiry_decide_the_case(report):
    waiver = Waiver(quantity="risk", reason="known", person="a board", expires="2030-01-01")
    (check,) = report.policy
    for changed, status in ((replace(check, waived=waiver), "waived"), (check, "failed")):
        (case,) = records_document(replace(report, policy=(changed,))).cases
        assert case.status == status
    open_one = replace(check, status="inconclusive", expired=waiver)
    (case,) = records_document(replace(report, policy=(open_one,))).cases
    assert case.status == "failed"


@pytest.mark.parametrize(("limit", "first"), [(None, "member"), (0.3, "member"), (0.86, "holdout")])
def test_those_who_are_given_away_as_members_stand_first(limit, first):
    # More holdout records have a value of their own than members have one.
    members = np.repeat([0, 1, 2], [900, 60, 0])
    holdout = np.repeat([0, 1, 2], [860, 0, 100])
    found = mipaudit.records(members=members, holdout=holdout, max_risk=limit)
    lower = {one.cell: one.lower for one in found.cells}
    assert 0.8 < lower[1] < 0.86 < lower[2]
    assert [*lower.values()] == sorted(lower.values(), reverse=True)
    for text in (brief_report(found, width=80), report_text(found, width=80)):
        assert re.search(r"^  \d +(member|holdout) ", text, re.MULTILINE)[1] == first
    top = mipaudit.records(members=members, holdout=holdout, max_risk=limit, top=3).top
    assert {one.member for one in top} == {first == "member"}
    if limit is None:
        said = " ".join(brief_report(found, width=80).split())
        assert (
            "the value of the score that gives members away most has a risk of at least "
            f"{lower_text(lower[1])}, that which tells most one of at least {lower_text(lower[2])}"
        ) in said
