"""``mipaudit history``: reports of several releases in order, and what must not be overlooked."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.history.report import verdicts
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.provenance import Declaration, as_of


def audit(apart, day, *, seed=0, **given):
    """Return the report of 400 scores of each class, of normals ``apart``, made on a day of May."""
    rng = np.random.default_rng(seed + day)
    with as_of(datetime(2026, 5, day, tzinfo=UTC)):
        return mipaudit.estimate(
            members=rng.normal(apart, 1, 400), holdout=rng.normal(0, 1, 400), **given
        )


@pytest.fixture(scope="module")
def releases():
    """Three releases, of which the last leaks."""
    return [audit(apart, day, max_advantage=0.3) for day, apart in ((1, 0), (2, 0), (3, 3))]


def test_reports_are_in_the_order_of_their_times_however_they_are_given(releases):
    found = mipaudit.history(*releases)
    assert [one.created[:10] for one in found.reports] == ["2026-05-03", "2026-05-02", "2026-05-01"]
    assert [one.verdict for one in found.reports] == ["not_met", "met", "met"]
    again = mipaudit.history(*reversed(releases))
    assert [one.sha256 for one in again.reports] == [one.sha256 for one in found.reports]


def test_a_waiver_that_has_ended_is_none():
    waiver = {"quantity": "advantage", "reason": "known", "person": "A", "expires": "2026-05-20"}
    report = audit(3, 1, max_advantage=0.3, waivers=[waiver])
    for day, wanted in ((20, ("waived", 1, "2026-05-20")), (21, ("not_met", 0, None))):
        with as_of(datetime(2026, 5, day, tzinfo=UTC)):
            found = mipaudit.history(report)
        (past,) = found.reports
        assert (past.verdict, past.waived, past.until) == wanted
        assert f"Of 1 verdict: 1 {wanted[0].replace('_', ' ')}." in told(verdicts(found))
        assert ("waiver_expired" in {one.code for one in found.findings}) == (day > 20)


def test_figures_are_those_of_the_reports(releases):
    found = mipaudit.history(*releases)
    for past, report in zip(found.advantages, reversed(releases), strict=True):
        (check,) = report.policy
        assert (past.lower, past.upper) == (check.lower, check.upper)
        assert (past.against, past.limit) == (check.against, 0.3)


def test_limits_are_of_one_kind_where_nothing_was_judged():
    report = audit(1, 1)
    (past,) = mipaudit.history(report).advantages
    rows = [one for one in report.estimates if one.quantity == "advantage"]
    sound = {one.attackers: one for one in rows if one.validity != "not-an-interval"}
    assert (past.lower, past.value) == (sound["any"].lower, sound["any"].value)
    assert (past.upper, past.limit) == (sound[past.against].upper, None)


def test_one_release_with_two_verdicts_is_told(releases):
    said = Declaration(release="v1")
    named = [
        replace(one, provenance=replace(one.provenance, declared=said)) for one in releases[1:]
    ]
    (finding,) = mipaudit.history(*named).findings
    assert (finding.code, is_serious(finding)) == ("same_release", True)
    assert not mipaudit.history(*named[:1], releases[2]).findings


def test_the_confidence_of_all_together_is_what_their_errors_leave(releases):
    assert mipaudit.history(*releases).joint_confidence == pytest.approx(0.85)
    many = [audit(0, day, confidence=0.6) for day in (1, 2, 3)]
    assert mipaudit.history(*many).joint_confidence == 0


def test_what_is_asked_otherwise_is_told(releases):
    other = audit(0, 4, max_advantage=0.5, prior=0.3)
    steps = mipaudit.history(releases[1], other).steps
    assert {(one.what, one.before, one.after) for one in steps} == {
        ("limits", "advantage 0.3", "advantage 0.5"),
        ("prior", "0.5", "0.3"),
    }
    assert not mipaudit.history(*releases).steps


def test_one_audit_looked_at_twice_is_told_and_seriously_where_the_verdicts_differ(tmp_path):
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(1)
    member = np.arange(800) % 2
    pd.DataFrame({"member": member, "score": rng.normal(member, 1)}).to_csv(path, index=False)
    lax, strict = (mipaudit.estimate(str(path), max_advantage=limit) for limit in (0.9, 0.05))
    (finding,) = mipaudit.history(lax, strict).findings
    assert (finding.code, is_serious(finding)) == ("same_scores", True)
    plain = mipaudit.estimate(str(path), max_advantage=0.91)
    (finding,) = mipaudit.history(lax, plain).findings
    assert (finding.code, is_serious(finding)) == ("same_scores", False)


def test_a_folder_gives_each_report_once_and_names_what_is_none(mipaudit, tmp_path, releases):
    folder = tmp_path / "reports"
    folder.mkdir()
    for number, report in enumerate(releases):
        report.save(folder / f"r{number}.json")
    releases[0].save(folder / "r0.html")
    (folder / "metrics.json").write_text('{"advantage": 1}')
    (folder / "scores.csv").write_text("no report by its name\n")

    done = mipaudit("history", str(folder), "-f", "json")

    found = json.loads(done.stdout)
    assert (done.returncode, len(found["reports"])) == (0, 3)
    (finding,) = found["findings"]
    assert finding["code"] == "no_report"
    assert "metrics.json" in finding["text"]


def test_a_damaged_report_in_a_folder_is_an_error_that_names_it(mipaudit, tmp_path, releases):
    releases[0].save(tmp_path / "whole.json")
    data = (tmp_path / "whole.json").read_bytes()
    (tmp_path / "torn.json").write_bytes(data[: len(data) // 2])
    done = mipaudit("history", str(tmp_path))
    assert done.returncode == 2
    assert "torn.json" in done.stderr


def test_an_edited_verdict_is_refused(tmp_path, releases):
    path = tmp_path / "edited.json"
    releases[2].save(path)
    path.write_text(path.read_text().replace('"status": "not_met"', '"status": "met"'))
    with pytest.raises(InputError, match="contradicts itself"):
        mipaudit.history(str(path))


def test_files_of_one_name_stay_apart(tmp_path, releases):
    for number, report in enumerate(releases[:2]):
        (tmp_path / str(number)).mkdir()
        report.save(tmp_path / str(number) / "report.json")
    found = mipaudit.history(str(tmp_path / "0"), str(tmp_path / "1"))
    assert [one.name for one in found.reports] == ["report.json", "report.json (2)"]
    assert {one.report for one in found.advantages} == {"report.json", "report.json (2)"}


def test_reports_without_a_verdict_have_a_place(releases):
    with as_of(datetime(2026, 5, 9, tzinfo=UTC)):
        bounds = mipaudit.bounds(epsilon=1)
    first = mipaudit.history(bounds, *releases).reports[0]
    assert (first.of, first.verdict, first.n_members) == ("bounds", None, None)


def test_a_hostile_name_is_inert_in_every_form(releases):
    hostile = "<script>\x1b[31m'\"|\n"
    rows = tuple(replace(one, score=hostile) for one in releases[0].estimates)
    design = replace(releases[0].design, score_columns=(hostile,))
    policy = tuple(replace(one, score=hostile) for one in releases[0].policy)
    found = mipaudit.history(replace(releases[0], estimates=rows, design=design, policy=policy))
    for form in ("html", "markdown", "junit", "csv"):
        text = mipaudit.render_report(found, format=form)
        assert "<script>\x1b" not in text
        assert "\x1b" not in text


@pytest.mark.parametrize("given", [(), (".",)])
def test_nothing_is_an_error(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="No report is given"):
        mipaudit.history(*given)
