"""A limit that somebody waives: on every surface a verdict of its own, and never green."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import mipaudit
from mipaudit.commands.render.forms import ANNEX, EXCHANGE, exchange_form, exchanged, stored_report
from mipaudit.output.exit_code import report_exit
from mipaudit.report.codec import from_json, report_schema, to_json
from mipaudit.report.forms import answer_of, brief_report, report_as, report_html, report_text
from mipaudit.report.walk import walk_of

ACCEPTED = "accepted by Ö. Person until 2999-12-31, reason: known since May"
WAIVER = {"quantity": "advantage", "reason": "known since May"}
WAIVER |= {"person": "Ö. Person", "expires": "2999-12-31"}
GREEN = ("\x1b[1;32m", 'class="verdict good"', "::notice", '"PASSED"')
TEXTS = {
    "brief": partial(brief_report, width=80, color=True),
    "quiet": answer_of,
    "full": partial(report_text, width=80, color=True),
    "python": repr,
    "notebook": report_html,
    "markdown": partial(report_as, form="markdown"),
    "html": partial(report_as, form="html"),
    "junit": partial(report_as, form="junit"),
}


def form(name):
    one = exchange_form(name)

    def made(report):
        stored = stored_report(to_json(report))
        subjects = (stored.file,) if one.name == "in-toto" else ()
        asked = ("edpb-28-2024", (), "markdown") if one is ANNEX else ()
        return exchanged(one, stored._replace(subjects=subjects), asked, stored.report)

    return made


SURFACES = {
    **TEXTS,
    **{one.name: form(one.name) for one in (*EXCHANGE, ANNEX) if one.name != "metrics"},
}


def of_estimate(apart=1.5, run=mipaudit.estimate, **given):
    rng = np.random.default_rng(round(100 * apart))
    scores = {"members": rng.normal(apart, 1, 500), "holdout": rng.normal(0, 1, 500)}
    limits = [{"quantity": "advantage", "max": 0.1}, {"quantity": "auc", "max": 0.99}]
    return run(**scores, **{"limits": limits, "waivers": [WAIVER], **given})


RISK = {
    "limits": [{"quantity": "risk", "max": 0.2}],
    "waivers": [{**WAIVER, "quantity": "risk"}],
}
REPORTS = {
    "not met": of_estimate,
    "inconclusive": partial(of_estimate, 0.15),
    "records": partial(of_estimate, run=mipaudit.records, **RISK),
}


@pytest.fixture(scope="module", params=REPORTS, ids=str)
def waived(request):
    """A report of which a waiver bears the verdict, and what its limit would be without."""
    said = "not met" if request.param == "records" else request.param
    return REPORTS[request.param](), said


def as_read(text):
    """Return a text without what a form needs to write it."""
    for mark, plain in (("\\u00d6", "Ö"), ("\\", ""), ("\x1b[0m", ""), ("\x1b[1;33m", "")):
        text = text.replace(mark, plain)
    return " ".join(text.split())


@pytest.mark.parametrize("surface", SURFACES)
def test_a_waived_limit_is_said_and_never_green(waived, surface):
    report, said = waived
    assert (report.verdict.status, report_exit(report, exit_zero=False)) == ("waived", 0)
    shown = SURFACES[surface](report)
    assert not [one for one in GREEN if one in shown]
    assert "WAIVED" in shown or surface in {"junit", "gitlab"}
    assert "has expired" not in shown
    read = as_read(shown)
    # Python's prompt has five lines, and what is longer is cut.
    assert f"{said}, {ACCEPTED}" in read or surface == "python"


def test_programs_know_it(waived):
    report, _ = waived
    assert json.loads(to_json(report))["verdict"]["status"] == "waived"
    assert from_json(to_json(report)) == report
    schema = report_schema()
    assert "waived" in json.dumps(schema["$defs"]["Verdict"]["properties"]["status"])
    assert {one.status for one in walk_of(report).cases} >= {"waived"}
    assert 'failures="0"' in report_as(report, "junit")
    assert "<skipped message=" in report_as(report, "junit")
    assert "::warning title=" in form("github")(report)
    assert json.loads(form("metrics")(report))["limits/waived"] == 1
    assert json.loads(form("in-toto")(report))["predicate"]["result"] == "WARNED"
    assert json.loads(form("gitlab")(report))[0]["severity"] == "minor"


def test_a_history_has_a_column_for_it(waived):
    found = mipaudit.history(waived[0])
    (past,) = found.reports
    assert (past.verdict, past.waived, past.until) == ("waived", 1, "2999-12-31")
    for text in (brief_report(found, width=80), report_as(found, "markdown")):
        assert "WAIVED" in text
        assert "1 until 2999-12-31" in text


UNMATCHED = [{**WAIVER, "score": "no such score"}]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_waiver_of_nothing_is_said_on_every_surface(surface):
    limits = [{"quantity": "advantage", "max": 0.9}]
    report = of_estimate(waivers=UNMATCHED, limits=limits, against="thresholds")
    assert (report.verdict.status, report_exit(report, exit_zero=False)) == ("met", 0)
    said = " ".join(SURFACES[surface](report).split())
    assert "matches no limit" in said
    if surface in {"brief", "full", "markdown", "html", "junit", "python", "notebook"}:
        assert "! Waiver 1" in said or 'class="warnings"' in said


def test_a_waiver_of_a_limit_for_another_command_matches_elsewhere():
    report = of_estimate(waivers=[WAIVER, {**WAIVER, "quantity": "risk"}])
    assert "waiver_unmatched" not in {one.code for one in report.findings}


@pytest.mark.parametrize("surface", TEXTS)
def test_a_stored_report_whose_waiver_has_ended_is_not_calm(waived, surface):
    report, said = waived
    (check,) = (one for one in report.policy if one.waived is not None)
    ended = replace(check, waived=replace(check.waived, expires="2020-01-01"))
    policy = tuple(ended if one is check else one for one in report.policy)
    old = from_json(to_json(replace(report, policy=policy)))
    assert report_exit(old, exit_zero=False) == 1
    shown = SURFACES[surface](old).partition("<script")[0]
    assert not [one for one in GREEN if one in shown]
    assert "NOT MET" in shown or 'failures="1"' in shown
    assert f"{said}, accepted" not in shown
    if surface not in {"junit", "python", "notebook"}:
        ended = "A waiver expired after 2020-01-01:"
        assert as_read(shown.partition("<footer")[0]).count(ended) == 1
    assert any(one.code == "waiver_expired" for one in mipaudit.history(old).findings)
