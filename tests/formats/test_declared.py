"""What was declared stands beside what was measured, and what follows is rounded outward."""

import re
from dataclasses import fields, replace
from fractions import Fraction

import pytest

import mipaudit
from mipaudit.formats.declared import people_section
from mipaudit.formats.document import Grid
from mipaudit.formats.report_forms import report_as
from mipaudit.options.declare import declared
from mipaudit.options.groups.shown import Declared
from mipaudit.statements.sources import Declaration

HOSTILE = '<script>alert("x")</script>\x1b[2J\u202e| [a](http://b) `data`'


@pytest.fixture(scope="module")
def report(data_dir):
    path = data_dir / "lira_digits_target0.parquet"
    return mipaudit.estimate(path, prior=0.25, score_col="lira_online")


def with_declared(report, **said):
    declared = Declaration(**said)
    return replace(report, provenance=replace(report.provenance, declared=declared))


def grid_of(report, people):
    section = people_section(
        report.estimates,
        report.design,
        Declaration(subjects=people),
        report.provenance.settings,
    )
    return next((block for block in section if isinstance(block, Grid)), None)


def number(text):
    return int(text.replace(",", ""))


def test_everything_that_can_be_declared_is_an_option():
    assert {one.recorded_name for one in declared(Declared)} == {
        field.name for field in fields(Declaration)
    }


@pytest.mark.parametrize("people", [1, 7, 12_345, 10**10])
def test_the_people_are_their_number_times_the_accuracy_beyond_guessing(report, people):
    eta = next(one for one in report.estimates if one.quantity == "eta")
    rows = [one for one in report.estimates if one.quantity == "advantage" and one.upper]

    any_attacker, *classes = grid_of(report, people).rows

    assert 0 <= people * Fraction(eta.lower) - number(any_attacker[2]) < 1.001
    assert any_attacker[4] == "none"
    assert len(classes) == len(rows) > 0
    for cells, row in zip(classes, rows, strict=True):
        # Accuracy is (1 + advantage) / 2, and blind guessing has 3/4 at a prior of 1/4.
        exact = people * ((1 + Fraction(row.upper)) / 2 - Fraction(3, 4))
        assert 0 <= number(cells[4]) - exact < 1


def test_nobody_is_found_out_by_less_than_blind_guessing(report):
    rows = [
        replace(one, lower=0.1, value=0.4) for one in report.estimates if one.attackers == "any"
    ]
    found = grid_of(replace(report, estimates=tuple(rows)), 1_000)

    assert [row[2:] for row in found.rows] == [("0", "0", "none")]


def test_no_number_without_people_or_limits(report):
    assert grid_of(report, None) is None
    assert grid_of(report, -5) is None  # of a report that was written by hand
    assert grid_of(replace(report, estimates=()), 1_000) is None


def test_what_is_declared_is_inert_in_every_form(report):
    told = dict.fromkeys(("release", "data", "sensitivity", "controller", "author"), HOSTILE)
    found = with_declared(report, title=HOSTILE, **told, subjects=1_000, seen_by="public")

    page, markdown = report_as(found, "html"), report_as(found, "markdown")

    assert page.count("<script") == 1  # the report itself, as JSON
    for text in (page, markdown, mipaudit.render_report(found, format="junit")):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert not re.search(r"(?<!\\)(<script|\]\()", markdown)
    assert "What was declared" in page
    assert "nobody checked it" in page
    assert "1,000 people" in page


def test_where_nothing_is_declared_nothing_is_said_of_it(report):
    assert "declared" not in report_as(report, "markdown")
