"""Reports computed again and compared, value by value."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.verify.agreement import pairs
from mipaudit.commands.verify.options import VerifyOptions
from mipaudit.commands.verify.report import ground
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told
from mipaudit.statements.provenance import as_of
from tests.fixtures.codes import refused

WAIVER = {"quantity": "advantage", "reason": "r", "person": "p", "expires": "2020-01-31"}
PAIRS = [
    (0.3, 0.1 + 0.2, "near"),
    (0.3, 0.3 + 1e-8, "differs"),
    (1e12, 1e12 * (1 + 1e-10), "near"),
    (20_000_000_000, 20_000_000_001, "differs"),  # counts
    (1, 1.0, "equal"),
    (1, True, "differs"),
    (0, None, "differs"),
    ("met", "not_met", "differs"),
    (None, 0.5, "differs"),
    ([], {}, "differs"),
    ([], [1], "differs"),
]


@pytest.mark.parametrize(("report", "other", "status"), PAIRS)
def test_each_kind_of_difference(report, other, status):
    (found,) = pairs({"x": report}, {"x": other}, "r")
    assert found.status == status


def test_fields_are_compared_leaf_by_leaf_and_those_of_one_side_are_told_apart():
    document = {"a": [1, 2.5, {"b": None}], "c": "x", "d": {}, "e": []}
    assert [one.status for one in pairs(document, document, "r")] == ["equal"] * 6
    found = pairs({"old": 1, "rows": [1, 2]}, {"new": 2, "rows": [1]}, "r")
    expected = {"old": "unknown", "new": "added", "rows[0]": "equal", "rows[1]": "differs"}
    assert {one.place: one.status for one in found} == {f"r.{k}": v for k, v in expected.items()}


def test_inputs_with_a_name_must_not_be_written_over_by_their_path():
    asked = VerifyOptions("r.json", input=["one=a.csv", "b.csv"], synthetic="s.csv")
    assert {"r.json", "a.csv", "b.csv", "s.csv"} <= set(asked.inputs())
    assert asked.has_scores


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """A file of 600 rows: members, and a group."""
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    rng = np.random.default_rng(2)
    member = np.arange(600) % 2
    score = rng.normal(0.5 * member, 1)
    rows = zip(member, score, rng.integers(0, 2, 600), strict=True)
    path.write_text("member,score,site\n" + "".join(f"{m},{s},s{g}\n" for m, s, g in rows))
    return str(path)


def agrees(report, **given):
    """Verify a report, also from its JSON, and say whether it agrees."""
    found = mipaudit.verify(mipaudit.to_json(report), **given)
    assert found.agrees == mipaudit.verify(report, **given).agrees
    checked = [part.status for part in found.parts if part.part != "as stated"]
    assert ({*checked} == {"agrees"}) == found.agrees
    return found.agrees


OF_SCORES = [
    ("estimate", {"max_advantage": 0.3, "max_tpr_at_fpr": (0.2, 0.1), "metric": "f1"}),
    ("estimate", {"strict": True, "prior": 0.2, "claimed_epsilon": 1, "delta": 1e-5}),
    ("estimate", {"limits": [{"quantity": "auc", "max": 0.7, "score": "score"}]}),
    *(("estimate", {"seed": seed, "strict": seed == 0}) for seed in (0, 12, "fresh")),
    ("estimate", {"seed": "fresh", "strict": True}),
    ("check", {"score_col": "score"}),
    ("check", {"seed": "fresh"}),
    ("epsilon", {"design": "independent-runs", "claimed_epsilon": 0.1, "curve": True}),
    ("epsilon", {"design": "one-run", "guesses": (50, 60)}),
    ("records", {"by": ["site"], "top": 3, "max_risk": 0.9}),
]
OF_SETTINGS = [
    ("epsilon", {"canaries": 1000, "guesses": 100, "correct": 90}),
    ("bounds", {"epsilon": 1, "curves": True}),
    ("bounds", {"rdp": "2:0.1,4:0.25", "baseline": 0.1}),
    ("bounds", {"mu": 1, "best_of": 3, "drawn": "poisson"}),
    ("bounds", {"success": "0.2@0.1"}),
    ("bounds", {"gaussian_noise_for": "epsilon=1,delta=1e-5"}),
    ("bounds", {"tp": 90, "fn": 10, "fp": 5, "tn": 95}),
    ("bounds", {"counting_queries": {"k": 100, "n": 1000}, "noise_sd": 0.1}),
    ("noise", {"eta": 0.1, "moment": 2.0}),
]


@pytest.mark.parametrize(("command", "given"), OF_SCORES)
def test_a_report_follows_from_its_scores(scores, command, given):
    assert agrees(getattr(mipaudit, command)(scores, **given), input=scores)


@pytest.mark.parametrize(("command", "given"), OF_SETTINGS)
def test_a_report_without_scores_follows_from_its_settings(command, given):
    assert agrees(getattr(mipaudit, command)(**given))


def test_several_inputs_and_their_own_files(scores, tmp_path):
    other = tmp_path / "other.csv"
    lines = Path(scores).read_text().splitlines()
    other.write_text("\n".join(lines[:401]) + "\n")

    compared = mipaudit.compare(scores, str(other))
    assert agrees(compared, input=[scores, str(other)])
    assert not agrees(compared, input=[scores, f"other={scores}"])

    reports = [str(tmp_path / name) for name in ("old.json", "new.json")]
    for path, source in zip(reports, (scores, other), strict=True):
        mipaudit.estimate(str(source)).save(path)
    assert agrees(mipaudit.compare(*reports), input=reports)


def test_two_files_and_a_claimed_curve(tmp_path):
    rng = np.random.default_rng(3)
    for name, mean in (("in.csv", 1), ("out.csv", 0)):
        pd.DataFrame({"score": rng.normal(mean, 1, 200)}).to_csv(tmp_path / name, index=False)
    (tmp_path / "curve.csv").write_text("fpr,tpr\n0,0.1\n0.5,0.8\n1,1\n")
    given = {"members": str(tmp_path / "in.csv"), "holdout": str(tmp_path / "out.csv")}
    curve = {"claimed_curve": str(tmp_path / "curve.csv")}

    report = mipaudit.epsilon(**given, design="one-run", **curve)

    assert agrees(report, **given, **curve)
    with pytest.raises(UsageError, match=r"claimed.curve"):
        mipaudit.verify(report, **given)


def test_rows_written_to_a_file_are_counted_again(scores, tmp_path):
    report = mipaudit.records(scores, output=str(tmp_path / "risks.csv"))
    assert report.rows_written == 600
    assert agrees(report, input=scores)


def test_waivers_are_judged_as_of_the_time_of_the_report(scores):
    with as_of(datetime(2020, 1, 2, tzinfo=UTC)):
        report = mipaudit.estimate(scores, max_advantage=0.01, waivers=[WAIVER])

    assert report.policy[0].waived is not None
    assert agrees(report, input=scores)


def test_what_a_waiver_bore_still_agrees_once_it_ended_and_verify_says_that_it_ended(
    scores, tmp_path
):
    page = tmp_path / "report.html"
    limits = {"max_advantage": 0.01, "waivers": [WAIVER]}
    with as_of(datetime(2020, 1, 2, tzinfo=UTC)):
        report = mipaudit.estimate(scores, **limits)
        report.save(page)
        mipaudit.rejudge(report, **limits).save(tmp_path / "rejudged.html")
        assert not mipaudit.verify(page, input=scores).findings

    for given in (report, page, tmp_path / "rejudged.html"):
        found = mipaudit.verify(given, input=scores)
        assert found.agrees
        assert [one.code for one in found.findings] == ["waiver_expired"]
        assert "! A waiver expired after 2020-01-31" in str(found)


def test_the_environment_cannot_make_a_waiver_hold_again(scores, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1577923200")  # 2020-01-02

    report = mipaudit.estimate(scores, max_advantage=0.01, waivers=[WAIVER])

    assert report.provenance.created == "2020-01-02T00:00:00Z"
    assert report.policy[0].waived is None
    assert report.policy[0].expired is not None
    again = mipaudit.rejudge(report, max_advantage=0.01, waivers=[WAIVER])
    assert report.verdict.status == again.verdict.status == "not_met"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    # The day by which it had expired is not that of the report, and is found again.
    assert agrees(report, input=scores)
    assert agrees(again, input=scores)


def change(report, edit):
    fields = json.loads(mipaudit.to_json(report))
    edit(fields)
    return json.dumps(fields).encode()


def provenance(**fields):
    return lambda report: report["provenance"].update(fields)


def setting(name, *, value, add=True):
    """Return an edit that adds a setting, or changes that of this name."""

    def edit(report):
        stated = report["provenance"]["settings"]
        if add:
            stated.append({"name": name, "value": value, "source": "api"})
        else:
            next(one for one in stated if one["name"] == name).update(value=value)

    return edit


CHANGED = [
    (lambda f: f["estimates"][0].update(lower=f["estimates"][0]["lower"] - 1e-6), "estimates"),
    (lambda f: f["verdict"].update(status="met"), "verdict"),
    (lambda f: f.update(summary="Nothing leaks."), "summary"),
    (lambda f: f["estimates"].pop(), "estimates"),
    (lambda f: f.update(approved="yes"), "approved"),
    (lambda f: f["findings"].append({"code": "one_cell", "values": {}}), "findings"),
    (lambda f: f.pop("curves"), "curves"),
    (lambda f: f["design"].update(n_members=301), "design"),
    (lambda f: f["provenance"]["inputs"][0].update(sha256="0" * 64), "inputs"),
    (lambda f: f["provenance"]["inputs"][0].update(rows=601), "inputs"),
    (provenance(seed=7), "seed"),
    (lambda f: f["provenance"]["seeds"][0].update(seed="0" * 16), "seeds in use"),
    # Settings that had no part in the figures.
    (setting("good", value=True), "settings"),
    (setting("prior", value=0.5), "settings"),
    (setting("input", value="s"), "settings"),
    (setting("confidence", value=None, add=False), "settings"),
    (setting("blind", value="shift.json", add=False), "settings"),
]


@pytest.mark.parametrize(("edit", "part"), CHANGED)
def test_what_was_changed_is_found(scores, edit, part):
    data = change(mipaudit.estimate(scores, max_advantage=0.05), edit)
    found = mipaudit.verify(data, input=scores)
    assert not found.agrees
    assert [one.part for one in found.parts if one.status == "differs"] == [part]
    assert told(found.answer) == f"The report DIFFERS in {part}."


def test_what_is_declared_stated_or_below_the_tolerance_is_out_of_the_claim(scores):
    def edit(fields):
        fields["provenance"]["declared"] = {"subjects": 12, "seen_by": "researchers"}
        fields["estimates"][0]["lower"] += 1e-12
        settings = fields["provenance"]["settings"]
        prior = next(one for one in settings if one["name"] == "prior")
        prior.update(source="file", where="../m.toml")
        policy = {"name": "config", "value": "../m.toml", "source": "file", "where": "sha256 0"}
        settings.append(policy)

    found = mipaudit.verify(change(mipaudit.estimate(scores), edit), input=scores)

    assert found.agrees
    said = told(ground(found))
    assert "everything in it, except what its author declared, was computed again" in said
    (stated,) = [told(one) for one in found.limitations if one.code == "verify_as_stated"]
    assert stated.startswith("Nobody checked what is only stated: when and by which version")
    assert "what is declared (" in stated
    assert "controller, sensitivity, seen_by)" in stated
    assert stated.endswith("Figures such as 'about 20 people' are computed from what is declared.")
    (noted,) = [one.text for one in found.parts if one.part == "as stated"]
    assert "sources and places of settings, the policy's path" in noted


def test_a_changed_setting_gives_other_numbers(scores):
    data = change(mipaudit.estimate(scores), setting("prior", value="0.3", add=False))
    found = mipaudit.verify(data, input=scores)
    assert {"design", "estimates"} <= {p.part for p in found.parts if p.status == "differs"}


def test_a_verdict_that_was_reached_again_is_reached_again_by_its_settings_alone(scores):
    again = mipaudit.rejudge(
        mipaudit.estimate(scores, max_advantage=0.9), max_advantage=0.35, max_metric=(), limits=()
    )
    assert again.rejudged is not None
    assert agrees(again, input=scores)
    more = {"name": "max_harm", "value": 0.1, "source": "file", "where": "mipaudit.toml"}
    data = change(again, lambda fields: fields["rejudged"]["settings"].append(more))
    assert "max_harm" in str(mipaudit.verify(data, input=scores).parts)


@pytest.mark.parametrize("name", ["blind", "pairs", "splits", "claimed_curve", "data", "release"])
def test_no_place_that_a_report_names_is_opened(scores, tmp_path, name):
    def opened(event, arguments):
        if event == "open" and watched and str(arguments[0]) == str(trap):
            raise AssertionError(trap)

    trap, watched = tmp_path / "trap.csv", [1]
    trap.write_text("fpr,tpr\n0,0\n1,1\n")
    sys.addaudithook(opened)  # it stays, and looks no more once the list is empty
    made = {
        "estimate": mipaudit.estimate(scores),
        "noise": mipaudit.noise(eta=0.1, sensitivity=1, dimension=2),
        "epsilon": mipaudit.epsilon(scores, design="independent-runs"),
    }

    def edit(fields):
        fields["provenance"]["settings"] = [
            *(one for one in fields["provenance"]["settings"] if one["name"] != name),
            {"name": name, "value": str(trap), "source": "file", "where": str(trap)},
        ]

    for command, report in made.items():
        given = {} if command == "noise" else {"input": scores}
        # It differs, or a file of its own is asked for.
        with suppress(UsageError):
            assert not mipaudit.verify(change(report, edit), **given).agrees
    watched.clear()


def test_other_scores_differ_and_the_input_is_named(scores, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(Path(scores).read_text().replace("s1", "s0"))
    found = mipaudit.verify(mipaudit.estimate(scores), input=str(other))
    (inputs,) = [one for one in found.parts if one.part == "inputs"]
    assert (inputs.status, found.agrees, "scores.csv" in inputs.text) == ("differs", False, True)


def test_other_versions_are_told_and_do_not_count(scores):
    def edit(fields):
        fields["provenance"].update(mipaudit="0.0.1", python="3.9.0")
        fields["provenance"]["libraries"]["numpy"] = "1.0"
        fields.pop("curves")  # a field that the old version did not have

    found = mipaudit.verify(change(mipaudit.estimate(scores), edit), input=scores)

    assert found.agrees
    noted = {one.part: one.text for one in found.parts if one.status == "noted"}
    assert noted.keys() == {"versions", "curves", "as stated"}
    for version in ("mipaudit 0.0.1 then", "numpy 1.0 then"):
        assert version in noted["versions"]


SPLITS = np.random.default_rng(0).normal(size=(200, 2))
REFUSED = [
    ("estimate", {}, "no_input"),
    ("bounds", {"input": "scores.csv"}, "needless_input"),
    ("records", {"input": ["a.csv", "b.csv"]}, "one_input"),
    ("estimate", {"claimed_curve": "c.csv", "input": "a.csv"}, "claimed_curve"),
    ("truth", {}, "not_verifiable"),
    ("splits", {}, "not_verifiable"),
]


@pytest.mark.parametrize(("report", "given", "code"), REFUSED)
def test_what_cannot_be_computed_again_is_refused(scores, report, given, code):
    made = {
        "bounds": lambda: mipaudit.bounds(epsilon=1),
        "truth": lambda: mipaudit.simulate("laplace-1", n_members=10, n_holdout=10).truth,
        "splits": lambda: mipaudit.noise(eta=0.1, splits=SPLITS),
    }
    one = made[report]() if report in made else getattr(mipaudit, report)(scores)
    refused(code, mipaudit.verify, one, **given)


NEVER_WRITTEN = [
    ({}, provenance(created="yesterday")),
    ({}, lambda f: f["design"].update(n_members=10**400)),
    ({}, provenance(seed_origin="fresh")),
    ({}, provenance(seed_origin="fresh", seed=-1)),
    ({}, provenance(seed_origin="new", seed=1)),
    # Only with a fresh seed does a strict report say proved.
    ({"seed": 3, "strict": True}, provenance(seed_origin="fresh")),
]


@pytest.mark.parametrize(("given", "edit"), NEVER_WRITTEN)
def test_what_no_run_writes_is_an_error_of_the_report(scores, given, edit):
    data = change(mipaudit.estimate(scores, **given), edit)
    with pytest.raises(InputError, check=lambda error: error.code == "bad_report") as caught:
        mipaudit.verify(data, input=scores)
    assert "yesterday" not in str(caught.value)


@pytest.mark.parametrize("several", [False, True])
def test_a_report_of_a_frame_is_verified_by_the_frame(scores, several):
    frame = pd.read_csv(scores)
    report = mipaudit.estimate(frame, score_col="score", max_advantage=0.3)
    assert agrees(report, input=[frame] if several else frame)
    moved = frame.assign(score=frame["score"] + 0.5 * frame["member"])
    assert not agrees(report, input=[moved] if several else moved)
