"""Pages for hundreds of score columns, and the line of methods."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from mipaudit.commands.estimate.sections import methods
from mipaudit.formats.report_forms import notebook_html, report_text


@pytest.fixture
def with_columns(sample):
    """Return a report with so many score columns, made from one of a sample's."""
    report = sample("three_scores")

    def copies(items, names):
        first = [item for item in items if item.score == items[0].score]
        return tuple(replace(item, score=name) for name in names for item in first)

    def make(count):
        names = tuple(f"score_{index}" for index in range(count))
        return replace(
            report,
            design=replace(report.design, score_columns=names),
            estimates=copies(report.estimates, names),
            claims=copies(report.claims, names),
            policy=copies(report.policy, names),
        )

    return make


def in_full(text):
    return re.findall(r'^Score "(\w+)"', text, flags=re.MULTILINE)


def test_four_hundred_columns_are_drawn_at_once(with_columns):
    report = with_columns(400)
    report_text(with_columns(2), width=100)  # imports are not the matter

    start = time.process_time()
    text = report_text(report, width=100)
    notebook_html(report)
    seconds = time.process_time() - start

    assert '"score_399"' in text
    assert seconds < 2.5  # cubic work took minutes; this takes a quarter of a second


def test_many_columns_are_all_listed_and_the_strongest_shown_in_full(with_columns):
    text = report_text(with_columns(13), width=100)

    overview = text[text.index("Every score") : text.index('Score "score_0"')]
    assert re.findall(r'^ +"score_(\d+)"', overview, re.MULTILINE) == [str(i) for i in range(13)]
    assert "The strongest 5 of 13 scores follow in full" in overview
    assert "-f json" in overview
    assert in_full(text) == [f"score_{i}" for i in range(5)]


def test_a_dozen_columns_are_shown_in_full(with_columns):
    text = report_text(with_columns(12), width=100)

    assert in_full(text) == [f"score_{i}" for i in range(12)]
    assert "follow in full" not in text


def test_rows_judged_are_said_once_where_they_agree_and_apart_where_not(with_columns):
    report = with_columns(3)
    differing = tuple(
        replace(e, n_members=7, n_holdout=5) if e.score == "score_1" else e
        for e in report.estimates
    )
    mixed = report_text(replace(report, estimates=differing), width=100)

    assert report_text(report, width=100).count("the rest chose") == 1
    assert "  judged on " not in mixed
    assert "Judged on 7 members, 5 holdout records" in mixed
    assert mixed.count("the rest chose") == 3


def test_methods_say_which_rows_they_are_for(sample):
    report = sample("one_score")
    exact = {"method": "staircase of holdout ranks, ties broken at random"}
    estimates = tuple(
        replace(e, validity="finite-sample", **exact) if e.quantity == "tpr_at_fpr" else e
        for e in report.estimates
    )
    report = replace(report, estimates=estimates)

    lines = methods(report)
    text = report_text(report, width=100)

    wanted = f"TPR at FPR: {exact['method']} (finite-sample)"
    assert wanted in lines
    assert sum("finite-sample" in line for line in lines) == 1
    assert [line.partition(":")[0] for line in lines] == [
        "any attacker",
        "attackers of a named kind",
        "AUC",
        "TPR at FPR",
    ]
    assert all(f" {line}\n" in text for line in lines)
