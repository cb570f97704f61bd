"""``validate`` as a function: what it runs, what it finds, and that it can fail."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import jsonschema
import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.validation import coverage as run
from mipaudit.validation.estimands.methods import ALTERNATIVES, ESTIMANDS, default_estimands
from tests.fixtures.codes import refused, said

SMALL = {
    "scenario": ["null-gaussian", "gauss-shift-2"],
    "sizes": [60],
    "priors": [0.5],
    "replications": 30,
    "jobs": 1,
}


@pytest.fixture(scope="module")
def report():
    return mipaudit.validate(**SMALL)


def without_provenance(report):
    return mipaudit.to_json(report).split(b'"provenance"')[0]


def test_every_limit_is_run_on_every_cell(report):
    assert report.passed
    assert report.command == "validate"
    assert (report.design.cells, report.design.replications, report.design.form) == (2, 30, "quick")
    assert report.design.estimands == default_estimands()
    ours = [row for row in report.rows if row.source == "mipaudit"]
    assert report.design.tests == len(ours)
    # Dear ones are tried on few laws, and not on these; some need scores of several numbers.
    usual = {name for name in default_estimands() if not ESTIMANDS[name].dear}
    assert {row.estimand for row in ours} == {n for n in usual if not ESTIMANDS[n].vectorial}
    stated = {name for name, one in ALTERNATIVES.items() if one.estimand in default_estimands()}
    assert {row.label for row in report.rows if row.source != "mipaudit"} == stated
    assert {row.scenario for row in ours} == {"null-gaussian", "gauss-shift-2"}
    assert {row.order for row in ours} == {"shuffled", "sorted"}
    assert len(report.controls) == 4
    assert all(control.caught for control in report.controls)


def test_dear_limits_are_tried_on_some_files_of_some_laws_and_on_all_by_name():
    dear = {name for name in default_estimands() if ESTIMANDS[name].dear}
    assert {
        *("named_attack", "named_shortfall", "named_shortfall_thresholds"),
        *("bounded_loss", "generalization_gap", "attribute_advantage", "attribute_membership"),
    } == dear
    few = mipaudit.validate(**{**SMALL, "scenario": ["leaked-atoms"]})
    assert few.passed
    rows = [row for row in few.rows if row.estimand in dear]
    assert {row.estimand for row in rows} == dear
    assert {row.replications for row in rows} == {6}  # one file in five
    assert said(few)["shortfall_seen"].get("files") == 6
    asked = mipaudit.validate(**SMALL, estimand=["bounded_loss", "attribute_advantage"])
    assert {row.scenario for row in asked.rows} == {"null-gaussian", "gauss-shift-2"}
    assert {row.replications for row in asked.rows} == {30}
    assert said(asked)["shortfall_seen"].get("files") is None


def test_rows_say_what_the_issue_asks_for(report):
    (main,) = [
        row
        for row in report.rows
        if (row.scenario, row.label, row.side) == ("gauss-shift-2", "advantage", "lower")
    ]
    assert main.truth == pytest.approx(math.erf(1 / math.sqrt(2)), abs=1e-7)
    assert main.bias is not None
    assert -0.4 < main.bias < 0.05  # the prequential value is biased downward
    assert main.median_gap > 0
    assert main.nominal == pytest.approx(0.975)
    null = [row for row in report.rows if row.scenario == "null-gaussian" and row.side == "lower"]
    assert all(row.false_alarms == pytest.approx(1 - row.coverage) for row in null)
    widths = {row.label for row in report.rows if row.median_width is not None}
    assert {"auc", "attack_epsilon"} <= widths


def test_report_follows_its_schema(report):
    validator = jsonschema.Draft202012Validator(mipaudit.schema())
    fields = json.loads(mipaudit.to_json(report))
    assert fields["schema"] == "mipaudit.validation/3"
    assert list(validator.iter_errors(fields)) == []
    fields["rows"][0]["side"] = "middle"
    assert list(validator.iter_errors(fields)) != []


def test_equal_settings_give_equal_bytes_whatever_the_jobs(report):
    again = mipaudit.validate(**{**SMALL, "jobs": 2})
    assert without_provenance(again) == without_provenance(report)
    other = mipaudit.validate(**SMALL, seed=1)
    assert without_provenance(other) != without_provenance(report)


def test_a_run_goes_on_where_it_was_stopped(report, tmp_path, monkeypatch):
    kept = tmp_path / "cells.jsonl"
    real = run.replicate

    def stopped(cell, *rest):
        if cell.scenario == "gauss-shift-2":
            raise KeyboardInterrupt
        return real(cell, *rest)

    monkeypatch.setattr(run, "replicate", stopped)
    with pytest.raises(KeyboardInterrupt):
        mipaudit.validate(**SMALL, resume=kept)
    assert len(kept.read_bytes().splitlines()) == 3  # what it is, the controls, one cell
    ran = []
    monkeypatch.setattr(run, "replicate", lambda *a: ran.append(a[0]) or real(*a))
    again = mipaudit.validate(**SMALL, resume=kept)
    assert without_provenance(again) == without_provenance(report)
    assert {cell.scenario for cell in ran} == {"gauss-shift-2"}
    ran.clear()
    once_more = mipaudit.validate(**SMALL, resume=kept)
    assert without_provenance(once_more) == without_provenance(report)
    assert ran == []


CHANGES = {"seed": {"seed": 5}, "choice": {"replications": 3}}
CHANGES |= {"methods": {"strict": True}, "form": {"long": True}}


def test_a_file_of_another_run_is_refused(tmp_path):
    tiny = {**SMALL, "scenario": ["constant"], "replications": 2, "resume": tmp_path / "kept.jsonl"}
    mipaudit.validate(**tiny)
    for named, change in CHANGES.items():
        with pytest.raises(InputError, match=f"another {named}"):
            mipaudit.validate(**{**tiny, **change})


def test_a_method_that_breaks_its_promise_is_found(monkeypatch):
    monkeypatch.setattr(Evidence, "lower", lambda self, alpha: 0.4 + 0 * alpha + 0 * self.prior)
    broken = mipaudit.validate(**SMALL)
    assert not broken.passed
    short = {(row.scenario, row.label, row.side) for row in broken.failures}
    assert short == {("null-gaussian", "advantage", "lower")}
    assert said(broken)["validation_short"].get("ours") == 1


def test_an_invalid_method_that_passes_is_found(monkeypatch):
    name = "common: same-data threshold"
    blunt = replace(ALTERNATIVES[name], limits=lambda _: (0.0, None))
    monkeypatch.setitem(ALTERNATIVES, name, blunt)
    spared = mipaudit.validate(**SMALL)
    assert not spared.passed
    assert spared.failures == ()
    assert said(spared)["methods_not_caught"].get("missed") == ("common: same-data threshold",)


def test_estimands_can_be_chosen_and_controls_stay():
    chosen = mipaudit.validate(**SMALL, estimand=["auc", "eta", "auc"])
    assert chosen.design.estimands == ("auc", "eta")
    assert {row.label for row in chosen.rows} == {"auc", "eta"}
    assert chosen.passed
    assert len(chosen.controls) == 4
    assert set(ESTIMANDS) > set(chosen.design.estimands)


def test_epsilon_has_controls_of_its_own_and_files_enough_to_catch_them():
    chosen = mipaudit.validate(**SMALL, estimand=["epsilon_runs"])
    named = {control.label: control.replications for control in chosen.controls}
    assert len(named) == 7
    assert set(named.values()) == {1000}
    assert chosen.passed


def test_strict_methods_can_be_checked(report):
    strict = mipaudit.validate(**SMALL, strict=True)
    assert strict.design.strict
    assert strict.passed
    gaps = [
        next(row.mean_gap for row in one.rows if row.label == "advantage" and row.truth > 0)
        for one in (strict, report)
    ]
    assert gaps[0] != gaps[1]


HOSTILE = [({"sizes": [one]}, "sizes") for one in (19, 10**9, 50.5, "50")]
HOSTILE += [({"priors": [one]}, "priors") for one in (0, 1.0, math.nan, "x")]
HOSTILE += [({"estimand": ["advantag"]}, "unknown_estimand"), ({"estimand": [3]}, "estimand")]
HOSTILE += [
    ({"scenario": ["null_gaussian"]}, "unknown_scenario"),
    ({"scenario": [None]}, "scenario"),
]
HOSTILE += [({"resume": 3}, "resume")]
HOSTILE += [({"estimand": ["attack_mu"], "scenario": ["separated"]}, "nothing_to_validate")]


def test_hostile_arguments_are_usage_errors():
    for settings, code in HOSTILE:
        refused(code, mipaudit.validate, **{**SMALL, **settings})


def test_a_single_name_is_one_name():
    one = mipaudit.validate(**{**SMALL, "scenario": "constant", "replications": 2}, estimand="auc")
    assert (one.design.scenarios, one.design.estimands) == (("constant",), ("auc",))
