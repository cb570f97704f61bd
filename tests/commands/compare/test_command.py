"""``mipaudit compare`` as users run it: exit codes, forms, errors."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    member = rng.random(2000) < 0.5
    strong, weak = rng.standard_normal((2, 2000)) + np.array([[1.5], [0.0]]) * member
    lines = [
        f"{row},{int(inside)},{a},{b}"
        for row, (inside, a, b) in enumerate(zip(member, strong, weak, strict=True))
    ]
    (tmp_path / "scores.csv").write_text("record_id,member,strong,weak\n" + "\n".join(lines))
    for index, name in ((2, "strong"), (3, "weak")):
        cut = [line.split(",") for line in lines]
        text = "\n".join(f"{row[0]},{row[1]},{row[index]}" for row in cut)
        (tmp_path / f"{name}.csv").write_text("record_id,member,score\n" + text)
    return tmp_path


@pytest.mark.parametrize(("limit", "code"), [("0.9", 0), ("0.1", 1), ("0.55", 3)])
def test_exit_codes_of_the_policy(mipaudit, scores, limit, code):
    arguments = ("compare", "scores.csv", "--baseline", "weak", "--max-increase", limit)
    run = mipaudit(*arguments, "-f", "json")
    assert run.returncode == code, run.stderr
    report = json.loads(run.stdout)
    assert report["schema"] == "mipaudit.compare/2"
    assert report["verdict"]["status"] == {0: "met", 1: "not_met", 3: "inconclusive"}[code]
    assert mipaudit(*arguments, "--exit-zero").returncode == 0


def test_files_matched_by_key_under_their_own_names(mipaudit, scores):
    run = mipaudit("compare", "new=strong.csv", "old=weak.csv", "--key-col", "record_id")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("'new' leaks at least ")
    assert "new - old" in run.stdout


def test_a_report_beside_scores_is_refused_in_json(mipaudit, scores):
    (scores / "report.json").write_text("{}")
    run = mipaudit("compare", "strong.csv", "report.json", "-f", "json")
    assert run.returncode == 2
    assert json.loads(run.stderr)["error"]["code"] == "mixed_inputs"
    assert not run.stdout


def test_a_report_does_not_overwrite_an_input(mipaudit, scores):
    before = (scores / "weak.csv").read_bytes()
    run = mipaudit("compare", "a=strong.csv", "b=weak.csv", "-o", "weak.csv")
    assert run.returncode == 2
    assert (scores / "weak.csv").read_bytes() == before


def test_no_value_of_the_data_is_printed(mipaudit, scores):
    run = mipaudit("compare", "scores.csv", "-f", "json")
    for line in (scores / "scores.csv").read_text().splitlines()[1:50]:
        for value in line.split(",")[2:]:
            assert value not in run.stdout


def test_help_has_examples_and_stands_alone(mipaudit):
    run = mipaudit("compare")
    assert run.returncode == 2
    run = mipaudit("compare", "--help")
    assert run.returncode == 0
    assert "--max-increase" in run.stdout
    assert "mipaudit compare old=v1.parquet" in run.stdout
