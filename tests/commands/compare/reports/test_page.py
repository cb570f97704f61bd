"""What a comparison of reports shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.compare.reports.page import compare_reports_document
from mipaudit.formats.html_page import document_html
from mipaudit.formats.junit import document_junit
from mipaudit.formats.markdown import document_markdown
from mipaudit.formats.report_forms import document_of, report_text
from mipaudit.statements.text.rounding import lower_text, upper_text

HOSTILE = "a\x1b[2J<b>"


def audited(seed, count=2):
    rng = np.random.default_rng(seed)
    member = np.arange(300) % 2 == 0
    drawn = {f"s{place}": rng.standard_normal(300) + seed * member for place in range(count)}
    data = pd.DataFrame({"member": member, **drawn}).rename(columns={"s0": HOSTILE})
    names = [HOSTILE, *(f"s{place}" for place in range(1, count))]
    return mipaudit.estimate(data, score_col=names)


@pytest.fixture(scope="module")
def report():
    return mipaudit.compare(audited(0), audited(1), max_increase=0.2)


def test_limits_are_rounded_outward_and_explained(report):
    text = report_text(report, width=100)
    one = next(c for c in report.changes if c.attackers == "bins-16")
    line = next(row for row in text.splitlines() if row.strip().startswith("16 equal-mass bins"))
    assert line.split()[-3:] == [lower_text(one.lower), "-", upper_text(one.upper)]
    assert f"*{lower_text(0.0)}" in text
    assert "* is not in the report as such" in text
    assert "90% confidence, over all scores and reports" in text
    everyone = next(row for row in text.splitlines() if row.strip().startswith("any attacker"))
    assert everyone.split().count("none") == 2


def test_nothing_steers_the_terminal_or_the_page(report):
    document = document_of(report)
    page = document_html(document)
    for text in (
        report_text(report, width=80),
        page,
        document_markdown(document),
        document_junit(document),
    ):
        assert "\x1b" not in text
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_a_case_for_every_score_and_one_without_a_policy(report):
    document = compare_reports_document(report)
    assert {case.group for case in document.cases} == {HOSTILE, "s1"}
    assert document.headline.startswith("Verdict: ")
    without = mipaudit.compare(audited(0), audited(1))
    assert [case.status for case in compare_reports_document(without).cases] == ["skipped"]


def test_many_scores_are_not_all_shown(report):
    many = replace(
        report,
        changes=tuple(
            replace(one, score=f"{one.score} {place}")
            for place in range(8)
            for one in report.changes
        ),
    )
    text = report_text(many, width=80)
    assert text.count('\nScore "') == 12
    assert "The first 12 of 16 scores are shown" in text


def test_several_new_reports_are_told_apart():
    report = mipaudit.compare(audited(0), audited(1), audited(2), max_increase=0.1)
    text = report_text(report, width=80)
    assert "input 3 less input 1" in text
    assert "s1 in input 2" in text
    assert max(map(len, text.splitlines())) <= 80
