"""Reports computed again and compared."""

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
from mipaudit.commands.verify.report import ground
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told
from mipaudit.statements.provenance import as_of


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


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("estimate", {"max_advantage": 0.3, "max_tpr_at_fpr": (0.2, 0.1), "metric": "f1"}),
        ("estimate", {"strict": True, "prior": 0.2, "claimed_epsilon": 1, "delta": 1e-5}),
        ("estimate", {"limits": [{"quantity": "auc", "max": 0.7, "score": "score"}]}),
        ("check", {"score_col": "score"}),
        ("check", {"seed": "fresh"}),
        ("epsilon", {"design": "independent-runs", "claimed_epsilon": 0.1, "curve": True}),
        ("epsilon", {"design": "one-run", "guesses": (50, 60)}),
        ("records", {"by": ["site"], "top": 3, "max_risk": 0.9}),
    ],
)
def test_a_report_follows_from_its_scores(scores, command, given):
    report = getattr(mipaudit, command)(scores, **given)

    assert agrees(report, input=scores)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("epsilon", {"canaries": 1000, "guesses": 100, "correct": 90}),
        ("bounds", {"epsilon": 1, "curves": True}),
        ("bounds", {"rdp": "2:0.1,4:0.25", "baseline": 0.1}),
        ("bounds", {"mu": 1, "best_of": 3, "drawn": "poisson"}),
        ("bounds", {"success": "0.2@0.1"}),
        ("bounds", {"gaussian_noise_for": "epsilon=1,delta=1e-5"}),
        ("bounds", {"tp": 90, "fn": 10, "fp": 5, "tn": 95}),
        ("bounds", {"counting_queries": {"k": 100, "n": 1000}, "noise_sd": 0.1}),
        ("noise", {"eta": 0.1, "moment": 2.0}),
    ],
)
def test_a_report_without_scores_follows_from_its_settings(command, given):
    assert agrees(getattr(mipaudit, command)(**given))


def test_several_inputs_and_their_own_files(scores, tmp_path):
    other = tmp_path / "other.csv"
    lines = Path(scores).read_text().splitlines()
    other.write_text("\n".join(lines[:401]) + "\n")

    compared = mipaudit.compare(scores, str(other))
    assert agrees(compared, input=[scores, str(other)])
    assert not agrees(compared, input=[scores, f"other={scores}"])

    reports = [tmp_path / name for name in ("old.json", "new.json")]
    for path, source in zip(reports, (scores, other), strict=True):
        path.write_bytes(mipaudit.to_json(mipaudit.estimate(str(source))))
    again = mipaudit.compare(*map(str, reports))
    assert agrees(again, input=[*map(str, reports)])


def test_two_files_and_a_claimed_curve(tmp_path):
    rng = np.random.default_rng(3)
    for name, mean in (("in.csv", 1), ("out.csv", 0)):
        values = rng.normal(mean, 1, 200)
        (tmp_path / name).write_text("score\n" + "".join(f"{v}\n" for v in values))
    curve = tmp_path / "curve.csv"
    curve.write_text("fpr,tpr\n0,0.1\n0.5,0.8\n1,1\n")
    given = {"members": str(tmp_path / "in.csv"), "holdout": str(tmp_path / "out.csv")}

    report = mipaudit.epsilon(**given, design="one-run", claimed_curve=str(curve))

    assert agrees(report, **given, claimed_curve=str(curve))
    with pytest.raises(UsageError, match=r"claimed.curve"):
        mipaudit.verify(report, **given)


def test_rows_written_to_a_file_are_counted_again(scores, tmp_path):
    report = mipaudit.records(scores, output=str(tmp_path / "risks.csv"))
    assert report.rows_written == 600
    assert agrees(report, input=scores)


def test_a_verdict_that_was_reached_again_is_reached_again(scores):
    first = mipaudit.estimate(scores, max_advantage=0.9)

    report = mipaudit.rejudge(first, max_advantage=0.35, max_metric=(), limits=())

    assert report.rejudged is not None
    assert agrees(report, input=scores)


WAIVER = {"quantity": "advantage", "reason": "r", "person": "p", "expires": "2020-01-31"}


def test_waivers_are_judged_as_of_the_time_of_the_report(scores):
    with as_of(datetime(2020, 1, 2, tzinfo=UTC)):
        report = mipaudit.estimate(scores, max_advantage=0.01, waivers=[WAIVER])

    assert report.policy[0].waived is not None
    assert agrees(report, input=scores)


def test_the_environment_cannot_make_a_waiver_hold_again(scores, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1577923200")  # 2020-01-02

    report = mipaudit.estimate(scores, max_advantage=0.01, waivers=[WAIVER])

    assert report.provenance.created == "2020-01-02T00:00:00Z"
    assert report.policy[0].waived is None
    assert report.policy[0].expired is not None
    assert report.verdict.status == "not_met"
    again = mipaudit.rejudge(report, max_advantage=0.01, waivers=[WAIVER])
    assert again.verdict.status == "not_met"
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


def setting(edit):
    return lambda report: edit(report["provenance"]["settings"])


def named(stated, name):
    return next(one for one in stated if one["name"] == name)


@pytest.mark.parametrize(
    ("edit", "part"),
    [
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
        (
            setting(lambda s: s.append({"name": "good", "value": True, "source": "file"})),
            "settings",
        ),
        (setting(lambda s: s.append({"name": "prior", "value": 0.5, "source": "api"})), "settings"),
        (setting(lambda s: s.append({"name": "input", "value": "s", "source": "api"})), "settings"),
        (setting(lambda s: named(s, "confidence").update(value=None)), "settings"),
        (setting(lambda s: named(s, "blind").update(value="shift.json")), "settings"),
    ],
)
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
        named(settings, "prior").update(source="file", where="../m.toml")
        policy = {"name": "config", "value": "../m.toml", "source": "file", "where": "sha256 0"}
        settings.append(policy)

    found = mipaudit.verify(change(mipaudit.estimate(scores), edit), input=scores)

    assert found.agrees
    said = told(ground(found))
    assert "all that it says, but for what is declared, was computed again" in said
    (stated,) = [told(one) for one in found.limitations if one.code == "verify_as_stated"]
    assert "controller, sensitivity, seen_by) are as stated" in stated
    assert stated.endswith("so the figures in people rest on that word.")
    (noted,) = [one.text for one in found.parts if one.part == "as stated"]
    assert "sources and places of settings, the policy's path" in noted


def test_a_changed_setting_gives_other_numbers(scores):
    def edit(fields):
        (setting,) = [s for s in fields["provenance"]["settings"] if s["name"] == "prior"]
        setting["value"] = "0.3"

    found = mipaudit.verify(change(mipaudit.estimate(scores), edit), input=scores)

    assert {"design", "estimates"} <= {p.part for p in found.parts if p.status == "differs"}


def test_a_setting_of_the_new_verdict_that_nothing_follows_from_is_found(scores):
    again = mipaudit.rejudge(mipaudit.estimate(scores), max_advantage=0.9)
    data = change(
        again,
        lambda fields: fields["rejudged"]["settings"].append(
            {"name": "max_harm", "value": 0.1, "source": "file", "where": "mipaudit.toml"}
        ),
    )

    assert mipaudit.verify(again, input=scores).agrees
    assert "max_harm" in str(mipaudit.verify(data, input=scores).parts)


@pytest.mark.parametrize("name", ["blind", "pairs", "splits", "claimed_curve", "data", "release"])
def test_no_place_that_a_report_names_is_opened(scores, tmp_path, monkeypatch, name):
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
    assert (inputs.status, found.agrees) == ("differs", False)
    assert "scores.csv" in inputs.text


def test_other_versions_are_told_and_do_not_count(scores):
    def edit(fields):
        fields["provenance"].update(mipaudit="0.0.1", python="3.9.0")
        fields["provenance"]["libraries"]["numpy"] = "1.0"
        fields.pop("curves")  # a field that the old version did not have

    found = mipaudit.verify(change(mipaudit.estimate(scores), edit), input=scores)

    assert found.agrees
    noted = {one.part: one.text for one in found.parts if one.status == "noted"}
    assert noted.keys() == {"versions", "curves", "as stated"}
    assert "mipaudit 0.0.1 then" in noted["versions"]
    assert "numpy 1.0 then" in noted["versions"]


@pytest.mark.parametrize(
    ("report", "given", "code"),
    [
        ("estimate", {}, "no_input"),
        ("bounds", {"input": "scores.csv"}, "needless_input"),
        ("records", {"input": ["a.csv", "b.csv"]}, "one_input"),
        ("estimate", {"claimed_curve": "c.csv", "input": "a.csv"}, "claimed_curve"),
        ("truth", {}, "not_verifiable"),
        ("splits", {}, "not_verifiable"),
    ],
)
def test_what_cannot_be_computed_again_is_refused(scores, report, given, code):
    made = {
        "estimate": lambda: mipaudit.estimate(scores),
        "bounds": lambda: mipaudit.bounds(epsilon=1),
        "records": lambda: mipaudit.records(scores),
        "truth": lambda: mipaudit.simulate("laplace-1", n_members=10, n_holdout=10).truth,
        "splits": lambda: mipaudit.noise(
            eta=0.1, splits=np.random.default_rng(0).normal(size=(200, 2))
        ),
    }[report]()

    with pytest.raises(UsageError) as caught:
        mipaudit.verify(made, **given)

    assert caught.value.code == code


@pytest.mark.parametrize("seed", [None, 0, 12, "fresh"])
@pytest.mark.parametrize("strict", [False, True])
def test_default_stated_and_fresh_seeds_are_found_again(scores, seed, strict):
    report = mipaudit.estimate(scores, seed=seed, strict=strict)

    assert agrees(report, input=scores)


@pytest.mark.parametrize(
    ("given", "edit"),
    [
        ({}, provenance(created="yesterday")),
        ({}, lambda f: f["design"].update(n_members=10**400)),
        ({}, provenance(seed_origin="fresh")),
        ({}, provenance(seed_origin="fresh", seed=-1)),
        ({}, provenance(seed_origin="new", seed=1)),
        # Only with a fresh seed does a strict report say proved.
        ({"seed": 3, "strict": True}, provenance(seed_origin="fresh")),
    ],
)
def test_what_no_run_writes_is_an_error_of_the_report(scores, given, edit):
    with pytest.raises(InputError) as caught:
        mipaudit.verify(change(mipaudit.estimate(scores, **given), edit), input=scores)
    assert caught.value.code == "bad_report"
    assert "yesterday" not in str(caught.value)


@pytest.mark.parametrize("several", [False, True])
def test_a_report_of_a_frame_is_verified_by_the_frame(scores, several):
    frame = pd.read_csv(scores)
    report = mipaudit.estimate(frame, score_col="score", max_advantage=0.3)
    given = [frame] if several else frame
    assert agrees(report, input=given)
    moved = frame.assign(score=frame["score"] + 0.5 * frame["member"])
    assert not agrees(report, input=[moved] if several else moved)
