"""What a report of ``compare`` shows."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.compare.queries.page import compare_document
from mipaudit.formats.csv import report_csv
from mipaudit.formats.html_page import document_html
from mipaudit.formats.junit import document_junit
from mipaudit.formats.markdown import document_markdown
from mipaudit.formats.report_forms import document_of, report_text
from mipaudit.statements.verdict import NO_LIMIT, Verdict


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    member = rng.random(1000) < 0.5
    strong, weak = rng.standard_normal(1000) + 2 * member, rng.random(1000)
    data = pd.DataFrame({"member": member, "a\x1b[2J": strong, "b": weak})
    return mipaudit.compare(data, baseline="b", max_increase=0.1)


def test_every_section_is_there_and_nothing_steers_the_terminal(report):
    text = report_text(report, width=100)
    for words in (
        "Ranking, attackers with one threshold",
        "Advantage of each query",
        "Difference of advantage",
        "The largest advantage",
        "Two scores seen together",
        "Verdict: NOT MET.",
        "Keep in mind",
    ):
        assert words in text
    assert "\x1b" not in text


def test_limits_are_rounded_outward(report):
    text = report_text(report, width=100)
    first = report.differences[0]
    assert f"{np.floor(first.lower * 1e4) / 1e4:.4f}" in text
    assert f"{np.ceil(first.upper * 1e4) / 1e4:.4f}" in text


def test_every_form_holds_the_verdict_and_the_limits(report):
    first = report.differences[0]
    upper = f"{np.ceil(first.upper * 1e4) / 1e4:.4f}"
    document = document_of(report)
    for text in (document_markdown(document), document_html(document)):
        assert "Verdict: NOT MET." in text
        assert upper in text
        assert "\x1b" not in text
    rows = list(csv.DictReader(io.StringIO(report_csv(report))))
    assert {row["part"] for row in rows} >= {"advantages", "differences"}
    assert str(first.upper) in {row["upper"] for row in rows}


def test_a_case_for_every_check_and_one_without_a_policy(report):
    (case,) = compare_document(report).cases
    assert (case.group, case.status) == ("a\x1b[2J", "failed")
    assert case.name == "increase over b 0.1"
    assert 'failures="1"' in document_junit(compare_document(report))
    without = replace(report, policy=(), verdict=Verdict(status="no_policy", reasons=(NO_LIMIT,)))
    document = compare_document(without)
    assert document.headline == ""
    assert [case.status for case in document.cases] == ["skipped"]


@pytest.mark.parametrize("length", [1, 17])
def test_tables_fit_a_narrow_terminal(report, length):
    """Long names get one table for each class instead of a column of classes."""
    long = replace(
        report,
        differences=tuple(
            replace(one, score="s" * length, versus="t" * length) for one in report.differences
        ),
    )
    text = report_text(long, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert ("\nAttackers with one threshold\n" in text) == (length > 9)
