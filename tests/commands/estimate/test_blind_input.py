"""What an audit takes from a report of ``shift``, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.blind_report import read_blind
from mipaudit.commands.estimate.options import EstimateOptions
from mipaudit.errors import InputError, UsageError
from mipaudit.report.codec import to_json
from mipaudit.report.messages.told import told

N = 300


def table(seed, moved=0.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.normal(moved, 1, N), "ward": rng.choice(list("abc"), N)})


def losses(seed, leak):
    return np.random.default_rng(seed).normal(leak, 1, N)


@pytest.fixture(scope="module")
def report():
    return mipaudit.shift(table(1), table(2))


def audited(report, leak=1.5, **settings):
    return mipaudit.estimate(
        members=losses(1, leak), holdout=losses(2, 0.0), blind=report, **settings
    )


def test_strict_takes_strict_limits_alone(report):
    with pytest.raises(UsageError) as caught:
        audited(report, strict=True)
    assert caught.value.code == "blind"
    assert "--strict" in str(caught.value)
    strict = mipaudit.shift(table(1), table(2), strict=True)
    assert audited(strict, strict=True).blind is not None


WRONG = {
    "$.estimates[0].lower": lambda f: f["estimates"][0].update(lower=-0.25),
    "$.estimates[1].upper": lambda f: f["estimates"][1].update(upper=1.01),
    "$.columns[0].adjusted": lambda f: f["columns"][0].update(adjusted=-1.0),
    "$.shown_at": lambda f: f.update(shown_at=0.0),
    "$.design.confidence": lambda f: f["design"].update(confidence=1.0),
}


@pytest.mark.parametrize("place", WRONG)
def test_numbers_that_cannot_be_are_refused_by_every_reader(report, place):
    fields = json.loads(to_json(report))
    WRONG[place](fields)
    data = json.dumps(fields).encode()
    readers = [
        lambda: audited(data),
        lambda: mipaudit.render_report(data),
        lambda: mipaudit.verify(data, members=table(1), holdout=table(2)),
    ]
    for read in readers:
        with pytest.raises(InputError) as caught:
            read()
        assert caught.value.code == "bad_report"
        assert place in str(caught.value)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.973, 0.999999999])
def test_reports_of_any_confidence_are_taken(confidence):
    report = mipaudit.shift(table(1, 1.0), table(2), confidence=confidence)
    blind = audited(mipaudit.to_json(report), confidence=confidence).blind
    assert blind.upper >= blind.lower


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_nothing_beyond_blind_guessing_is_not_an_advantage(report, prior):
    assert audited(report, leak=0.0, prior=prior).answer.code == "no_leak"
    sure = audited(report, leak=4.0, prior=0.5, blind_bound=0.1)
    assert sure.answer.code == "leaks_beyond_records"


def write(folder, *frames):
    folder.mkdir(parents=True)
    for frame, name in zip(frames, ("m", "h"), strict=True):
        (folder / name).mkdir()
        frame.to_parquet(folder / name / "part-0.parquet")


def test_parts_of_the_same_name_in_both_classes(tmp_path, monkeypatch):
    # A name alone, as where each class is read from its own folder.
    write(tmp_path / "x", table(1).assign(loss=losses(1, 1.5)), table(2).assign(loss=losses(2, 0)))
    paths = {"members": str(tmp_path / "x" / "m"), "holdout": str(tmp_path / "x" / "h")}
    report = mipaudit.shift(*paths.values(), ignore=["loss"])
    one = read_blind(EstimateOptions(blind=report))
    same = replace(one, inputs=tuple(("part-0.parquet", content) for _, content in one.inputs))
    from mipaudit.commands.estimate import blind_report as blind_input

    inputs = [replace(given, name="part-0.parquet") for given in report.provenance.inputs]
    blind_input.require_same_records(same, N, N, inputs)
    assert mipaudit.estimate(**paths, score_col=["loss"], blind=report).blind is not None


def test_another_file_of_the_same_name_is_told_apart_in_words(tmp_path, monkeypatch):
    for folder, frames in (
        ("records", (table(1), table(2))),
        ("scores", (losses(1, 1.5), losses(2, 0.0))),
    ):
        (tmp_path / folder).mkdir()
        for frame, name in zip(frames, ("m.csv", "h.csv"), strict=True):
            made = frame if isinstance(frame, pd.DataFrame) else pd.DataFrame({"loss": frame})
            made.to_csv(tmp_path / folder / name, index=False)
    monkeypatch.chdir(tmp_path / "records")
    report = mipaudit.shift("m.csv", "h.csv")
    monkeypatch.chdir(tmp_path / "scores")
    with pytest.raises(InputError) as caught:
        mipaudit.estimate(members="m.csv", holdout="h.csv", blind=report)
    assert "tell them apart" in str(caught.value.hint)
    apart = {"members": "../scores/m.csv", "holdout": "../scores/h.csv"}
    assert mipaudit.estimate(**apart, blind=report).blind is not None


def test_what_a_shift_can_hide_is_said(report):
    assert any("can hide a leak" in told(one) for one in audited(report).limitations)


def postcodes(member, rows=1000):
    """Return records from the south or the north, which only their postcodes tell."""
    rng = np.random.default_rng([9, member])
    south = rng.random(rows) < (0.8 if member else 0.2)
    codes = (rng.integers(0, 200, rows) + 200 * south) * 7919 % 400
    frame = pd.DataFrame({"x": rng.normal(size=rows), "postcode": [f"p{one}" for one in codes]})
    return frame, south + 0.1 * rng.normal(size=rows)


def test_texts_that_nobody_looked_at_may_explain_everything():
    """The score tells south from north alone: all of its advantage is the records'."""
    (members, inside), (holdout, outside) = postcodes(1), postcodes(0)
    report = mipaudit.shift(members, holdout, max_blind=0.5)
    assert "many_texts" in {one.code for one in report.findings}
    assert report.verdict.status == "inconclusive"
    assert "takes off the upper limit" not in told(report.answer)
    assert mipaudit.from_json(mipaudit.to_json(report)) == report
    given = {"members": inside, "holdout": outside, "max_advantage": 0.05}
    assert mipaudit.estimate(**given).verdict.status == "not_met"
    found = mipaudit.estimate(**given, blind=mipaudit.to_json(report))
    assert found.verdict.status == "inconclusive"
    assert found.blind.excess[0].lower == 0
    assert found.answer.get("reason").code.startswith("unbounded_records")
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(**given, blind=report, blind_against="thresholds")
    assert "findings" in str(caught.value.hint)
    for form in ("html", "junit", "csv", "markdown"):
        assert mipaudit.render_report(found, format=form)
        assert mipaudit.render_report(report, format=form)


def test_what_is_shown_to_be_too_much_stays_so():
    (members, _), (holdout, _) = postcodes(1), postcodes(0)
    members["x"] += 3
    report = mipaudit.shift(members, holdout, max_blind=0.1)
    assert report.verdict.status == "not_met"
    assert mipaudit.from_json(mipaudit.to_json(report)) == report
