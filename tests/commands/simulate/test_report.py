"""What is said of a truth, and of the list of scenarios."""

from __future__ import annotations

import re

import pytest

import mipaudit
from mipaudit.report.forms import report_text
from mipaudit.validation.scenarios import scenario_names
from tests.fixtures.codes import said


@pytest.mark.parametrize("name", scenario_names())
def test_every_truth_has_its_line(name):
    if name == "random-half-mean-1000":
        name = "random-half-mean-40"
    truth = mipaudit.simulate(name, **dict.fromkeys(sizes(name), 3)).truth
    text = report_text(truth, width=100)
    lines = re.findall(r"^  .*  +(?:none|[-+\d.e]+)$", text, flags=re.MULTILINE)
    assert len(lines) == len(truth.truths)
    assert max(map(len, text.splitlines())) <= 100
    for note in truth.notes:
        assert " ".join(note.split()) in " ".join(text.split())
    assert {*said(truth)} <= {"truth_known", "guess_source", "no_value", "scenario_note"}


def sizes(name):
    if name.startswith("canaries"):
        return ("n_canaries",)
    if name.startswith(("izzo", "random-half")):
        return ("n_splits",)
    return ("n_members", "n_holdout")


def test_a_missing_value_has_its_reason():
    text = report_text(mipaudit.simulate("gauss-shift-1").truth, width=100)
    assert re.search(r"epsilon at delta 0 +none\n", text)
    assert "none: the privacy loss has no limit." in text


def test_one_record_is_one():
    truth = mipaudit.simulate("laplace-1", n_members=1, n_holdout=1).truth
    assert "\n1 member and 1 holdout record, shuffled" in report_text(truth, width=100)
