"""A validation report in its forms."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import mipaudit
from mipaudit.commands.validate.page import validation_document
from mipaudit.formats.html_page import document_html
from mipaudit.formats.markdown import document_markdown
from mipaudit.formats.report_forms import report_text


def markdown(report):
    return document_markdown(validation_document(report, "summary"))


def html(report):
    return document_html(validation_document(report, "page"))


HOSTILE = '<script>alert("x")</script> | \x1b[2J'


@pytest.fixture(scope="module")
def report():
    return mipaudit.validate(
        scenario=["null-gaussian", "separated"],
        sizes=[20, 41],
        priors=[0.5, 0.1],
        replications=5,
        jobs=1,
        estimand=["advantage", "auc"],
    )


@pytest.fixture
def failing(report):
    short = replace(report.rows[0], coverage=0.2, misses=4, falls_short=True, label=HOSTILE)
    return replace(
        report, passed=False, failures=(short,), rows=(short, *report.rows[1:]), summary=HOSTILE
    )


class Tags(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.outside = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.outside += [value for name, value in attrs if name in {"src", "href"}]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_table_shows_the_outcome_and_every_limit(report):
    text = report_text(report, width=80)
    assert text.startswith("HOLDS: ")
    # On a narrow page the longest fold.
    wide = report_text(report, width=100)
    for label in {row.label for row in report.rows}:
        assert f"  {label} " in wide
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_failures_are_listed_with_their_cell(failing):
    failing = replace(failing, failures=(replace(failing.failures[0], label="advantage"),))
    for text in (report_text(failing, width=100), markdown(failing)):
        assert "FALLS SHORT: 1 limit, listed below." in text
        line = next(line for line in text.splitlines() if re.search(r"shuffled.*0\.2000", line))
        assert "null-gaussian" in line


def test_markdown_tables_are_whole_and_hold_every_cell(report):
    text = markdown(report)
    tables = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    for row in report.rows:
        assert f"{row.label}, {row.side} (promises" in text
    (detail,) = re.findall(r"### advantage, lower .*?\n\n(.*?)\n\n", text, flags=re.DOTALL)
    head, _, *lines = detail.splitlines()
    assert re.findall(r"[\d,]+ at [\d.]+", head) == [
        "20 at 0.5",
        "20 at 0.1",
        "41 at 0.5",
        "41 at 0.1",
    ]
    assert [line.split("|")[1].strip() for line in lines] == ["null-gaussian", "separated"]
    assert len(re.findall(r"\d\.\d{4} \(", detail)) == 8


def test_html_is_one_well_formed_file(report):
    page = html(report)
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.outside == []
    assert tags.seen & {"script", "link", "img", "iframe"} == set()
    assert "@media print" in page
    assert page.count("<table>") >= 5
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page


def test_nothing_in_a_report_is_markup(failing):
    page = html(failing)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    text = markdown(failing)
    assert re.search(r"(?<!\\)<script", text) is None
    row = next(line for line in text.splitlines() if line.startswith("| \\<script"))
    assert "\\|" in row
    assert "\x1b" not in page
    assert "\x1b" not in text


def test_a_control_that_was_not_caught_is_the_headline(report):
    spared = replace(report, passed=False, controls=(replace(report.controls[0], caught=False),))
    for text in (
        report_text(spared, width=100),
        markdown(spared),
        html(spared),
    ):
        assert "NOT VALIDATED" in text
        assert "NO" in text
