"""The answers of ``epsilon`` as pages of text."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from mipaudit.commands.epsilon.page import epsilon_document
from mipaudit.commands.epsilon.report import ProfilePoint
from mipaudit.commands.epsilon.run import encode_profile, epsilon
from mipaudit.formats.report_forms import brief_report, report_text
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.rounding import lower_figure


class TextSnapshot(SingleFileSnapshotExtension):
    """One readable text file for each snapshot."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def golden(snapshot):
    return snapshot.use_extension(TextSnapshot)


RUNS = {"design": "independent-runs", "tp": 90, "fn": 10, "fp": 5, "tn": 95}
CANARIES = {"canaries": 1000, "guesses": 100, "correct": 90}
SAMPLES = {
    "runs": RUNS,
    "runs_refuted": {**RUNS, "claimed_epsilon": 1.0},
    "runs_not_refuted": {**RUNS, "claimed_epsilon": 2.5, "delta": 0.0, "numerator": "member"},
    "runs_gaussian": {**RUNS, "method": "gdp", "assume_gdp": True, "claimed_mu": 1.0},
    "runs_nothing": {**RUNS, "tp": 5, "fn": 95},
    "one_run": CANARIES,
    "one_run_refuted": {**CANARIES, "claimed_epsilon": 1.0, "true_epsilon": 1.5},
    "one_run_gaussian": {**CANARIES, "assume_gdp": True, "claimed_mu": 3.0, "delta": 0.0},
}
NAMES = list(SAMPLES)


@cache
def sample(name):
    return epsilon(**SAMPLES[name])


def page(name, width=100):
    return report_text(sample(name), width=width)


@pytest.fixture(scope="module")
def coins():
    scores = np.arange(1000) % 17 / 4
    return epsilon(
        members=scores[::2] + 1, holdout=scores[1::2], design="one-run", delta=0, confidence=0.9
    )


@pytest.mark.parametrize("name", NAMES)
def test_golden(golden, name):
    assert page(name) == golden


@pytest.mark.parametrize("width", [80, 200])
def test_golden_at_other_widths(golden, width):
    assert page("one_run_refuted", width) == golden


def test_golden_of_scores(coins, golden):
    assert report_text(coins, width=100) == golden


def test_golden_of_one_model(golden):
    scores = np.arange(400) % 19 / 4
    report = epsilon(
        members=np.c_[scores + 1, scores], holdout=np.c_[scores, scores + 0.5], design="one-model"
    )
    fixed = tuple(
        replace(s, lower=0.5 + at / 3, estimate=1 + at / 3, attack=None)
        for at, s in enumerate(report.statements)
    )
    assert report_text(replace(report, statements=fixed), width=100) == golden


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_limit_is_on_the_page_and_nothing_is_missing(name, width):
    text = page(name, width)
    for statement in sample(name).statements:
        if statement.lower is not None:
            assert lower_figure(statement.lower) in text
    for word in ("None", " nan", "inf ", "{", "}"):
        assert word not in text


def test_limits_are_rounded_down():
    report = sample("runs")
    shown = float(page("runs").split("any epsilon\nbelow ")[1].split(". ")[0])
    assert shown <= report.statements[0].lower < shown + 1e-4


def test_an_option_is_not_broken_at_its_hyphens():
    scores = np.arange(100.0)
    report = epsilon(members=scores + 20, holdout=scores, design="one-model")
    for width in range(60, 110):
        assert "--design independent-runs" in " ".join(report_text(report, width=width).split())


def test_findings_are_shown(coins):
    text = report_text(
        replace(coins, findings=(Finding.of("small_class", count=9, of="members"),)), width=100
    )
    assert "Findings\n  - ! small_class: There are only 9 members: limits will be wide.\n" in text


def test_a_profile_keeps_every_digit_and_quotes_names():
    points = (
        ProfilePoint(score='a,"b"', delta=0.1, lower=1 / 3, estimate=0.4),
        ProfilePoint(score='a,"b"', delta=0.2, lower=0.0, estimate=0.1),
    )
    assert json.loads(encode_profile(points, "json"))[0]["lower"] == 1 / 3
    text = encode_profile(points, "csv").decode()
    assert text.splitlines()[1] == f'"a,""b""",0.1,{1 / 3!r},0.4'


def test_the_verdict_is_the_pages_first_line_and_is_said_once_in_the_table():
    report = epsilon(canaries=1000, guesses=100, correct=90, claimed_epsilon=1)

    assert epsilon_document(report).headline == "Claim: REFUTED."
    assert epsilon_document(report).mood == "bad"
    assert report_text(report, width=80).startswith("Claim refuted. ")


@pytest.mark.parametrize("scores", [1, 3])
def test_rows_of_one_score_say_what_they_follow_from(scores):
    rng = np.random.default_rng(scores)
    names = [f"s{at}" for at in range(scores)]
    table = {name: rng.normal(size=800) + (np.arange(800) % 2) for name in names}
    frame = pa.table({"member": np.arange(800) % 2, **table})
    report = epsilon(frame, design="one-model")
    lines = brief_report(report, width=80).splitlines()
    rows = [line.split()[:2] for line in lines if line.split()[:1] and line.split()[0] in names]
    assert len(rows) == 2 * scores
    assert len({*map(tuple, rows)}) == len(rows)
