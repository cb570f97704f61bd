"""The tutorials, done from top to bottom as a reader would."""

from __future__ import annotations

import json
import re

import pytest

from tests.docs.quoted_output import Walk
from tests.places import ROOT

REFRESH = "refresh: python tests/docs/quoted_output.py"

# A number, or an axis: where a network is trained, the processor decides more than last digits.
FIGURE = re.compile(r"[0-9a-f]{16}|[\d.,]+|[·├●┤┃→-]+")


def page_of(name):
    return (ROOT / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_first_audit_works_and_prints_what_the_page_shows(tmp_path):
    page, steps = page_of("first-audit"), Walk(tmp_path)
    made = steps.refreshed(page)

    assert FIGURE.sub("0", made).split() == FIGURE.sub("0", page).split(), REFRESH
    # The limit stands before the first figure is seen.
    verdict = " ".join(steps.said["mipaudit estimate scores.csv"].split())
    assert verdict.startswith("MET: ")
    assert "attackers with one threshold" in verdict
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["estimates"][0]["lower"] > 0  # as the page says
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<div class="verdict good">' in page
    assert '<p class="answer">MET' in page
    assert (tmp_path / "risks.csv").read_text(encoding="utf-8").count("\n") == 1798


def test_your_own_forest_works_and_prints_what_the_page_shows(tmp_path):
    page, steps = page_of("your-own-forest"), Walk(tmp_path)
    assert steps.refreshed(page) == page, REFRESH

    names = steps.names
    reports = [names[one] for one in ("report", "again", "lira")]
    first, calm, stronger = (one.estimates[0].lower for one in reports)
    assert (int(100 * first) / 100, int(100 * stronger) / 100) == (0.36, 0.20)
    assert stronger > calm + 0.1
    accuracy = [
        names[one].score(names["X_holdout"], names["y_holdout"]) for one in ("forest", "calmer")
    ]
    assert [round(one, 2) for one in accuracy] == [0.97, 0.92]
    assert page.count("max_advantage=0.3)") == 3
    assert [one.verdict.status for one in reports] == ["not_met", "met", "inconclusive"]
    assert (tmp_path / "lira.html").stat().st_size > 10_000
    assert (tmp_path / "lira.json").exists()
    assert all(found > 0 for found in names["found"]["test_advantage"])
