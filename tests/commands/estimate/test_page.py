"""A report as a page of text.

A report as HTML.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from mipaudit.commands.estimate.report import lines
from mipaudit.report.forms import report_text
from mipaudit.report.messages.told import told
from mipaudit.statements.rounding import lower_text, upper_text, value_text

SAMPLES = ["one_score", "three_scores", "eight_scores", "no_policy", "claim"]


@pytest.mark.parametrize("width", [1, 40, 72, 80, 100, 200])
@pytest.mark.parametrize("name", SAMPLES)
def test_no_number_is_ever_cut(sample, name, width):
    report = sample(name)

    tokens = set(report_text(report, width=width).split())

    for estimate in report.estimates:
        if estimate.lower is not None:
            assert lower_text(estimate.lower) in tokens
        if estimate.upper is not None:
            assert upper_text(estimate.upper) in tokens
        if estimate.value is not None and estimate.quantity != "excess":
            assert value_text(estimate.value) in tokens
    assert "…" not in "".join(tokens)


def test_scores_stand_in_the_order_of_the_estimates(sample):
    report = sample("three_scores")
    turned = replace(report, estimates=tuple(reversed(report.estimates)))

    assert [one.score for one in lines(report)] == ["loss", "confidence", "margin"]
    assert [one.score for one in lines(turned)] == ["margin", "confidence", "loss"]


def test_every_reason_is_a_footnote_once(sample):
    text = report_text(sample("three_scores"), width=100)

    assert " ".join(text.split()).count("no upper limit for all attackers; see") == 1
    assert re.search(r"'loss' +any .* none \[1\]", text)
    assert re.search(r"^  \[1\]: a continuous score has no upper limit", text, flags=re.MULTILINE)


def test_the_published_estimator_is_labelled(sample):
    text = report_text(sample("no_policy"), width=100)

    assert "As published: not a valid interval\n" in text


def test_colour_only_when_asked_for(sample, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    report = sample("one_score")

    plain = report_text(report, width=80)
    coloured = report_text(report, width=80, color=True)

    assert "\x1b" not in plain
    assert "\x1b[1;31mNOT MET: " in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.split("\n")] == plain.split("\n")


class Checker(HTMLParser):
    """Collects text and tags, and checks that tags close in order."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def parsed(html):
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


@pytest.mark.parametrize("name", ["one_score", "three_scores", "no_policy", "claim"])
def test_a_notebook_shows_the_answer_and_figures(sample, name):
    report = sample(name)

    page = parsed(report._repr_html_())

    assert told(report.answer) in page.text
    assert lower_text(report.estimates[0].lower) in page.text
    assert all(f"'{one}'" in page.text for one in report.design.score_columns)


def test_every_name_and_text_is_escaped(hostile):
    html = hostile._repr_html_()
    page = parsed(html)

    assert page.tags <= {
        *("header", "div", "p", "h1", "h2", "h3", "ul", "li", "dl", "dt", "dd"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td"),
        *("b", "figure", "figcaption", "img", "details", "summary", "style"),
    }
    assert "<script>" not in html
    assert "<b>draws" not in html
    assert "\x1b" not in html
