"""What a validation concludes, and how its tables show it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import mipaudit
from mipaudit.report.forms import brief_report, report_as
from mipaudit.report.messages.reports import ITSELF
from tests.fixtures.codes import said


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
    short = replace(report.rows[0], coverage=0.2, misses=4, falls_short=True)
    return replace(report, passed=False, failures=(short,), rows=(short, *report.rows[1:]))


def test_each_code_has_its_input(report, failing):
    spared = replace(report, controls=(replace(report.controls[0], caught=False),))
    codes = {*said(report), *said(failing), *said(spared)}
    named = {"limits_hold", "limits_fall_short", "validation_caught_nothing", "methods_not_caught"}
    assert codes >= {*named, "methods_caught", "validation_drawn", "validation_short"}
    assert codes <= {*ITSELF}


def test_failures_are_listed_with_their_cell(failing):
    for text in (brief_report(failing, width=100), report_as(failing, "markdown")):
        assert "FALLS SHORT: 1 limit is right less often than promised." in text
        line = next(line for line in text.splitlines() if re.search(r"shuffled.*0\.2000", line))
        assert "null-gaussian" in line
        assert re.search(r"0\.\d{4}!", text)


def test_every_limit_has_every_law_and_size(report):
    text = report_as(report, "markdown")
    for row in report.rows:
        assert f"{row.label}, {row.side} (promises" in text
    (detail,) = re.findall(r"### advantage, lower .*?\n\n(.*?)\n\n", text, flags=re.DOTALL)
    lines = [[cell.strip() for cell in line.split("|")[1:4]] for line in detail.splitlines()[2:]]
    laws = ("null-gaussian", "separated")
    assert lines == [[law, prior, "20, 41"] for law in laws for prior in ("0.5", "0.1")]
    assert len(re.findall(r"\d\.\d{4}, \d\.\d{4} \|", detail)) == 8


def test_a_pipeline_has_a_case_for_each_limit_and_each_control(report):
    text = report_as(report, "junit")
    assert text.count("<testcase") == 3 * 2 + len(report.controls)
