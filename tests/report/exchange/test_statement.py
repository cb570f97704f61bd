"""What a statement says of a verdict, and what it refuses to say."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.render import forms
from mipaudit.commands.render.forms import exchanged, hashed, stored_report
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Waiver
from mipaudit.report.exchange.others import statement
from mipaudit.report.exchange.stored import File
from mipaudit.report.messages.told import told
from mipaudit.statements.copies import COPIES
from mipaudit.statements.verdict import Verdict, reach_verdict
from tests.places import REPORTS

MODEL = File("model.bin", "ab" * 32)


def sample(name):
    return stored_report(REPORTS / f"{name}.json")._replace(subjects=(MODEL,))


def predicate(stored):
    return json.loads(statement(stored))["predicate"]


def judged(status, **verdict):
    """Return a report of one limit with that status."""
    stored = sample("rejudged")
    (check,) = stored.report.policy
    report = replace(
        stored.report,
        policy=(replace(check, status=status),),
        verdict=Verdict(status=status, reasons=(Message("no_limit"),), **verdict),
    )
    return stored._replace(report=report)


LISTS = ("passedTests", "warnedTests", "failedTests")
LIMIT = "score: advantage 0.5, attackers with up to 4 score ranges"


RESULTS = [
    ("met", {}, "PASSED", "passedTests"),
    ("met", {"assuming": "rows are independent"}, "WARNED", "passedTests"),
    ("inconclusive", {}, "WARNED", "warnedTests"),
    ("inconclusive", {"on_inconclusive": "pass"}, "WARNED", "warnedTests"),
    ("inconclusive", {"on_inconclusive": "fail"}, "FAILED", "warnedTests"),
    ("not_met", {}, "FAILED", "failedTests"),
]


@pytest.mark.parametrize(("status", "verdict", "result", "tests"), RESULTS)
def test_the_result_is_that_of_the_verdict(status, verdict, result, tests):
    found = predicate(judged(status, **verdict))
    assert found["result"] == result
    assert {name: found[name] for name in LISTS} == {key: [LIMIT] * (key == tests) for key in LISTS}


def test_what_is_released_word_for_word_is_no_plain_pass():
    stored = judged("met")
    copies = Finding.of(COPIES, case="released", members=27)
    report = replace(stored.report, findings=(*stored.report.findings, copies))
    assert predicate(stored._replace(report=report))["result"] == "WARNED"


def waived(expires):
    """Return a report of which a waiver bears the verdict."""
    stored = sample("rejudged")
    (check,) = stored.report.policy
    waiver = Waiver(quantity="advantage", reason="r", person="p", expires=expires)
    checks = (replace(check, status="not_met", waived=waiver),)
    return stored._replace(
        report=replace(stored.report, policy=checks, verdict=reach_verdict(checks, ()))
    )


def test_a_waiver_is_a_warning_and_none_that_has_expired(monkeypatch):
    found = predicate(waived("2999-12-31"))
    assert (found["result"], found["passedTests"], found["warnedTests"]) == ("WARNED", [], [LIMIT])
    over = waived("2026-01-31")
    for form in (*forms.EXCHANGE, forms.ANNEX):
        with pytest.raises(UsageError, match="expired after 2026-01-31") as raised:
            exchanged(form, over, (), over.report)
        assert raised.value.code == "stale_waiver"
    # No environment gives it new life.
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    with pytest.raises(UsageError, match="expired"):
        exchanged(forms.exchange_form("in-toto"), over, (), over.report)


def test_a_claim_that_is_not_refuted_never_passes():
    stored = sample("epsilon")
    claim = replace(stored.report.claim, status="not_refuted")
    found = predicate(stored._replace(report=replace(stored.report, claim=claim)))
    assert (found["result"], found["passedTests"]) == ("WARNED", [])
    assert found["warnedTests"] == ["epsilon: claim"]
    refuted = replace(stored.report, claim=replace(claim, status="refuted"))
    found = predicate(stored._replace(report=refuted))
    assert (found["result"], found["failedTests"]) == ("FAILED", ["epsilon: claim"])


def compared(members, holdout, **given):
    frame = pd.DataFrame({"member": [1] * 400 + [0] * 400, "a": [*members, *holdout]})
    return mipaudit.compare(frame.assign(b=frame.a**2), baseline="a", **given)


JUDGED = {
    mipaudit.estimate: {"max_advantage": 0.3, "max_tpr_at_fpr": (0.9, 0.01), "claimed_epsilon": 3},
    mipaudit.records: {"max_risk": 0.9},
    mipaudit.attack: {"max_advantage": 0.3},
    compared: {"max_increase": 0.2},
    mipaudit.shift: {"max_blind": 0.9},
}


@pytest.mark.parametrize("run", JUDGED)
def test_every_kind_with_limits_names_them(run):
    rng = np.random.default_rng(5)
    given = {side: rng.normal(at, 1, 400) for side, at in (("members", 1), ("holdout", 0))}
    if run is mipaudit.shift:
        given = {side: pd.DataFrame({"age": found}) for side, found in given.items()}
    report = run(**given, **JUDGED[run])
    found = predicate(stored_report(report)._replace(subjects=(MODEL,)))
    named = [one for key in LISTS for one in found[key]]
    assert len(named) >= len(report.policy) > 0
    why = found["configuration"][0]["annotations"]["why"]
    assert sorted(one["test"] for one in why) == sorted(named)
    assert {told(one.reason) for one in report.policy} <= {one["says"] for one in why}
    assert not [one for one in found["passedTests"] if "differential privacy" in one]


def test_the_scores_are_named_by_their_sha256_and_others_said():
    stored = sample("rejudged")
    (first,) = stored.report.provenance.inputs
    large = replace(first, name="large.parquet", sha256=None, fingerprint="size-and-ends:ab")
    provenance = replace(stored.report.provenance, inputs=(first, large))
    found = predicate(stored._replace(report=replace(stored.report, provenance=provenance)))
    report, scores = found["configuration"]
    assert report["digest"] == {"sha256": stored.file.sha256}
    assert scores == {"name": first.name, "digest": {"sha256": first.sha256}}
    assert report["annotations"]["inputs_without_sha256"] == ["large.parquet"]


def test_two_subjects_of_one_name_and_none_are_refused():
    twice = (MODEL, MODEL._replace(sha256="cd" * 32))
    for subjects, text in (((), "none is named"), (twice, "have the same name")):
        with pytest.raises(UsageError, match=text) as raised:
            statement(sample("rejudged")._replace(subjects=subjects))
        assert raised.value.code == "subject"


def test_a_subject_is_a_file_and_a_link_is_what_it_leads_to(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(b"a model")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "loose").symlink_to(tmp_path / "nowhere")
    assert hashed(tmp_path / "link") == File("link", hashed(path).sha256)
    with pytest.raises(UsageError, match="is not a file"):
        hashed(tmp_path)
    for name in ("missing", "loose", "a\0b"):
        with pytest.raises(InputError, match="cannot be read") as raised:
            hashed(str(tmp_path / name))
        assert raised.value.code == "unreadable_subject"
    with pytest.raises(UsageError, match="must be the path"):
        hashed(b"a model")
    steering = tmp_path / "a\x1b[2J.bin"
    steering.write_bytes(b"")
    assert hashed(steering).name == "a\\x1b[2J.bin"
