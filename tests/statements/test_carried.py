"""The report in its page: the same as its file, whatever its texts are."""

import json
import re
from dataclasses import replace

import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.report.codec import carried, from_json, is_page, taken_out, to_json
from mipaudit.report.forms import report_as
from mipaudit.statements.provenance import Declaration

HOSTILE = '</script><script>alert("x")</script><!--<script \\u003c \\\u202e &amp; ]]>'


def hostile_report():
    report = mipaudit.bounds(epsilon=1.0)
    declared = Declaration(title=HOSTILE, release=HOSTILE, author=HOSTILE)
    return replace(report, provenance=replace(report.provenance, declared=declared))


def test_no_text_ends_the_element_and_every_text_comes_back():
    report = hostile_report()

    element = carried(to_json(report))

    assert element.count("<") == 2
    assert json.loads(taken_out(element.encode())) == json.loads(to_json(report))


def test_a_page_is_read_as_its_report_is():
    report = hostile_report()
    page = report_as(report, "html")

    assert from_json(page.encode()) == from_json(to_json(report))
    assert len(re.findall(r"<script", page)) == 1
    assert "\u202e" not in page


@pytest.mark.parametrize("times", [0, 2])
def test_a_page_without_one_report_is_refused(times):
    page = "<!DOCTYPE html>" + times * carried(b"{}")

    with pytest.raises(InputError, match="holds no report, or several"):
        from_json(page.encode())


def test_json_is_no_page_and_a_page_with_a_mark_is_one():
    assert not is_page(b'{"a": "<p>"}')
    assert is_page(b"\xef\xbb\xbf\n<!DOCTYPE html>")
