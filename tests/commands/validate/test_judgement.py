"""What a run's rows amount to."""

from __future__ import annotations

import pytest

from mipaudit.commands.validate.options import ValidateOptions
from mipaudit.commands.validate.run import cells_asked, validation_report
from mipaudit.validation.estimands.methods import ALTERNATIVES

INVALID = [name for name, one in ALTERNATIVES.items() if not one.valid]
VALID = [name for name, one in ALTERNATIVES.items() if one.valid]


def judge_rows(rows, control_rows):
    asked = ValidateOptions()
    _, panel, cells = cells_asked(asked)
    return validation_report(asked, panel, cells, rows, control_rows, ())


@pytest.fixture
def caught(row):
    return [row(600, label=name, source="invalid") for name in INVALID]


def test_a_clean_run_passes(row, caught):
    outcome = judge_rows([row(25), row(30, side="upper")], caught)
    assert outcome.passed
    assert outcome.failures == ()
    assert [(one.label, one.caught) for one in outcome.controls] == [(n, True) for n in INVALID]
    assert outcome.design.tests == 2
    (found,) = outcome.detectable
    assert (found.nominal, found.replications, found.power) == (0.975, 1000, 0.8)
    assert 0.93 < found.coverage < 0.96


def test_a_limit_that_falls_short_fails_the_run_whosever_it_is(row, caught):
    outcome = judge_rows([row(25), row(90, side="upper")], caught)
    assert not outcome.passed
    assert [(found.side, found.falls_short) for found in outcome.failures] == [("upper", True)]
    assert [found.falls_short for found in outcome.rows] == [False, True]
    outcome = judge_rows([row(25), row(90, label=VALID[0], source="valid")], caught)
    assert not outcome.passed
    assert [found.source for found in outcome.failures] == ["valid"]


def test_an_invalid_method_that_is_not_caught_fails_the_run_by_both_sides(row, caught):
    fine = row(0, label=INVALID[0], source="invalid", side="upper")
    assert judge_rows([row(25)], [*caught, fine]).passed
    for name in INVALID:
        spared = [row(25, label=name, source="invalid") if r.label == name else r for r in caught]
        outcome = judge_rows([row(25)], spared)
        assert (outcome.passed, outcome.failures) == (False, ())
        assert [one.label for one in outcome.controls if not one.caught] == [name]


def test_other_methods_do_not_weaken_the_test_of_ours(row, caught):
    # p = .0019 passes alone at 1%; among 20 it would not.
    theirs = [row(25, label=VALID[0], source="valid")] * 20
    invalid = [row(999, label=INVALID[0], source="invalid")] * 20
    outcome = judge_rows([row(41), *theirs, *invalid], caught)
    assert [found.source for found in outcome.failures] == ["mipaudit"]
    assert all(found.falls_short for found in outcome.rows if found.source == "invalid")


def test_summaries_are_the_worst_and_the_mean_by_size(row, caught):
    rows = [
        row(20, mean_gap=0.1, median_gap=0.2, bias=-0.1, scenario="a"),
        row(30, mean_gap=0.3, median_gap=None, bias=None, scenario="b", false_alarms=None),
        row(25, n_members=500, n_holdout=500),
        row(1, estimand="auc", label="auc", side="upper", false_alarms=None),
        row(1, label=VALID[0], source="valid"),
    ]
    limits = judge_rows(rows, caught).limits
    keys = [(one.label, one.side, one.records) for one in limits]
    assert keys == [
        ("advantage", "lower", 30),
        ("advantage", "lower", 1000),
        ("auc", "upper", 30),
        (VALID[0], "lower", 30),
    ]
    first = limits[0]
    assert (first.cells, first.least_coverage, first.false_alarms) == (2, 0.97, 0.02)
    assert (first.mean_gap, first.median_gap, first.bias) == pytest.approx((0.2, 0.2, -0.1))
    assert limits[2].false_alarms is None
