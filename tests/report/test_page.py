"""A page for people: what it is named, what stands where, and nothing that is for programs."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.forms import report_as
from mipaudit.statements.kinds import kind_of
from tests.report.test_report_forms import SAMPLES, every_report


def seen(page):
    """Return the words of a page, marks and the report for programs left out."""
    body = page.partition("<body>")[2].partition("</main>")[0]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def verdict(page):
    """Return the words of the box with the answer."""
    return seen("<body><" + page.partition('class="verdict')[2].partition("</div>")[0])


def table(columns=3, rows=1200):
    rng = np.random.default_rng(5)
    member = np.arange(rows) % 2 == 0
    drawn = {f"query_{at}": rng.normal(size=rows) + member / (at + 1) for at in range(columns)}
    return pd.DataFrame({"member": member, **drawn})


@every_report
def test_a_page_has_one_list_of_caveats_and_few_folds(name):
    report = SAMPLES[name]
    page = report_as(report, "html")
    assert 1 <= page.count("<details") <= 6
    assert page.count("<h2>What ") + page.count('<h2 class="small">Keep in mind') <= 2
    assert seen(page).count("Keep in mind") == bool(report.limitations)
    assert page.index('class="verdict') < page.index("<details")


@every_report
def test_nothing_on_a_page_is_for_programs(name):
    report = SAMPLES[name]
    shown = seen(report_as(report, "html"))
    assert "`" not in shown
    for one in report.findings:
        assert f"[{one.code}]" not in shown
    for one in report.provenance.inputs:
        assert "/" not in one.name or one.name not in shown
    full = seen(report_as(report, "html", full=True))
    assert all(f"[{one.code}]" in full for one in report.findings)
    assert kind_of(report.command).question in full


@pytest.mark.parametrize(
    ("make", "title"),
    [
        (mipaudit.estimate, "Audit of leaky.csv"),
        (mipaudit.check, "A look at scores before their audit"),
        (lambda _: mipaudit.noise(eta=0.1), "Noise that keeps eta = 0.1"),
        (lambda _: mipaudit.bounds(epsilon=1.0), "What (1, 0)-differential privacy allows"),
        (lambda _: mipaudit.doctor(), "Does this installation of mipaudit work?"),
    ],
)
def test_a_page_is_named_after_what_was_audited_without_its_folder(tmp_path, make, title):
    path = tmp_path / "a folder" / "leaky.csv"
    path.parent.mkdir()
    table().to_csv(path, index=False)
    page = report_as(make(path), "html")
    assert f"<h1>{title}</h1>" in page
    assert "a folder" not in seen(page)


def test_beside_right_guesses_stand_what_a_score_is_and_that_a_few_may_be_exposed_more():
    page = report_as(mipaudit.estimate(table(1), max_advantage=0.1), "html")
    box = verdict(page)
    assert "times in 100" in box
    assert "how 'query_0' was made was not checked" in box
    assert "a few may be exposed far more" in box
    assert "Advantage: how well somebody can tell whose records were used" in box
    assert seen(page).count("exposed far more") == 1


def test_below_the_answer_stand_the_interval_and_the_curve_of_the_strongest_score():
    page = report_as(mipaudit.estimate(table(), max_advantage=0.1), "html")
    above = page.partition("Keep in mind")[0]
    captions = re.findall(r"<figcaption>([^<]*)", above)
    assert [unescape(one).split(" ")[0] for one in captions] == ["Every", "'query_0':"]
    assert "query_0" in unescape(captions[1])


@pytest.mark.parametrize("columns", [2, 3, 8])
def test_a_comparison_is_one_short_sentence(columns):
    page = report_as(mipaudit.compare(table(columns)), "html")
    (answer,) = re.findall(r'<p class="answer">(.*?)</p>', page, re.DOTALL)
    assert len(answer.split()) <= 25
    assert answer.strip().count(". ") == 0


@pytest.mark.parametrize("limit", [None, 0.3])
def test_records_tell_of_members_first(limit):
    page = report_as(mipaudit.records(table(1, 4000), max_risk=limit), "html")
    box = verdict(page)
    used, unused = "recognised as used", "recognised as not used"
    assert box.index(used) < box.index(unused)
