"""A report as HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from mipaudit.statements.text.rounding import lower_text


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
def test_a_notebook_shows_verdict_paragraph_and_figures(sample, name):
    report = sample(name)

    page = parsed(report._repr_html_())

    assert report.summary in page.text
    assert lower_text(report.estimates[0].lower) in page.text
    assert page.text.count("Score ") >= len(report.design.score_columns)


def test_every_name_and_text_is_escaped(hostile):
    html = hostile._repr_html_()
    page = parsed(html)

    assert page.tags <= {
        "div", "p", "b", "small", "h4", "table", "thead", "tbody", "tr", "th", "td", "ul", "li",
    }  # fmt: skip
    assert "<script>" not in html
    assert "<b>draws" not in html
    assert "\x1b" not in html
