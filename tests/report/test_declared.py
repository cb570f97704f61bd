"""What was declared stands beside what was measured, and what follows is rounded outward."""

import re
from dataclasses import fields, replace
from fractions import Fraction

import pytest

import mipaudit
from mipaudit.commands.estimate.report import people
from mipaudit.options.declare import declared
from mipaudit.options.shown import Declared
from mipaudit.report.forms import report_as
from mipaudit.statements.provenance import Declaration

HOSTILE = '<script>alert("x")</script>\x1b[2J\u202e| [a](http://b) `data`'


@pytest.fixture(scope="module")
def report(data_dir):
    path = data_dir / "lira_digits_target0.parquet"
    return mipaudit.estimate(path, prior=0.25, score_col="lira_online")


def with_declared(report, **said):
    declared = Declaration(**said)
    return replace(report, provenance=replace(report.provenance, declared=declared))


def people_of(report, subjects):
    return people(with_declared(report, subjects=subjects))


def test_everything_that_can_be_declared_is_an_option():
    assert {one.recorded_name for one in declared(Declared)} == {
        field.name for field in fields(Declaration)
    }


@pytest.mark.parametrize("subjects", [1, 7, 12_345, 10**10])
def test_the_people_are_their_number_times_the_accuracy_beyond_guessing(report, subjects):
    eta = next(one for one in report.estimates if one.quantity == "eta")
    rows = [one for one in report.estimates if one.quantity == "advantage" and one.upper]

    any_attacker, *classes = people_of(report, subjects)

    assert 0 <= subjects * Fraction(eta.lower) - any_attacker.lower < 1.001
    assert any_attacker.upper is None
    assert len(classes) == len(rows) > 0
    for line, row in zip(classes, rows, strict=True):
        # Accuracy is (1 + advantage) / 2, and blind guessing has 3/4 at a prior of 1/4.
        exact = subjects * ((1 + Fraction(row.upper)) / 2 - Fraction(3, 4))
        assert 0 <= line.upper - exact < 1


def test_nobody_is_found_out_by_less_than_blind_guessing(report):
    rows = [
        replace(one, lower=0.1, value=0.4) for one in report.estimates if one.attackers == "any"
    ]
    (found,) = people_of(replace(report, estimates=tuple(rows)), 1_000)

    assert (found.lower, found.value, found.upper) == (0, 0, None)


def test_no_number_without_people_or_limits(report):
    assert people_of(report, None) == ()
    assert people_of(report, -5) == ()  # of a report that was written by hand
    assert people_of(replace(report, estimates=()), 1_000) == ()


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
    assert "1,000 declared" in page


def test_where_nothing_is_declared_nothing_is_said_of_it(report):
    assert "declared" not in report_as(report, "markdown")
