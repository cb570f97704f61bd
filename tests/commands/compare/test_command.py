"""``mipaudit compare`` as users run it, of scores and of reports: exit codes, forms, errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mipaudit as package


@pytest.fixture(scope="module")
def made():
    """Return the text of each file: scores of two queries, and reports of which the new leaks."""
    rng = np.random.default_rng(0)
    member = rng.random(2000) < 0.5
    strong, weak = rng.standard_normal((2, 2000)) + np.array([[1.5], [0.0]]) * member
    rows = [*zip(range(2000), member * 1, strong, weak, strict=True)]

    def lines(*columns, names):
        return "\n".join([names, *(",".join(str(row[at]) for at in columns) for row in rows)])

    found = {
        "scores.csv": lines(0, 1, 2, 3, names="record_id,member,strong,weak"),
        "strong.csv": lines(0, 1, 2, names="record_id,member,score"),
        "weak.csv": lines(0, 1, 3, names="record_id,member,score"),
        "broken.json": '{"schema": "mipaudit.report/3", "command": "estimate"}',
    }
    member = np.arange(2000) % 2 == 0
    for seed, (name, shift) in enumerate({"old.json": 0.0, "new.json": 2.5}.items()):
        rng = np.random.default_rng(seed)
        drawn = rng.standard_normal((2000, 2)) + np.array([shift, 0.5]) * member[:, None]
        report = package.estimate(members=drawn[member], holdout=drawn[~member], score_col=())
        found[name] = package.to_json(report).decode()
    return found


@pytest.fixture
def files(made, tmp_path):
    for name, text in made.items():
        (tmp_path / name).write_text(text)
    return tmp_path


QUERIES = ("scores.csv", "--baseline", "weak")
REPORTS = ("old.json", "new.json")
CODES = {"met": 0, "not_met": 1, "inconclusive": 3}


@pytest.mark.parametrize(
    ("given", "schema", "limits"),
    [
        (QUERIES, "compare", ("0.9", "0.1", "0.55")),
        (REPORTS, "compare-reports", ("1", "0.1", "0.8")),
    ],
)
def test_exit_codes_of_the_policy(mipaudit, files, given, schema, limits):
    for limit, (status, code) in zip(limits, CODES.items(), strict=True):
        arguments = ("compare", *given, "--max-increase", limit)
        run = mipaudit(*arguments, "-f", "json")
        assert run.returncode == code, run.stderr
        report = json.loads(run.stdout)
        assert report["schema"].startswith(f"mipaudit.{schema}/")
        assert report["verdict"]["status"] == status
        assert mipaudit(*arguments, "--exit-zero").returncode == 0


def test_without_a_limit_there_is_no_verdict(mipaudit, files):
    matched = ("compare", "new=strong.csv", "old=weak.csv", "--key-col", "record_id")
    queries, reports = mipaudit(*matched), mipaudit("compare", *REPORTS)
    for run in (queries, reports):
        assert (run.returncode, run.stderr) == (0, "")
        assert "No limit was given: no verdict." in " ".join(run.stdout.split())
    assert queries.stdout.startswith("'new' leaks at least ")
    assert "new - old" in queries.stdout


def test_tables_fit_a_narrow_terminal(mipaudit, files):
    arguments = ("compare", "was=old.json", "is=new.json", "--max-increase", "0.1")
    run = mipaudit(*arguments, env={"COLUMNS": "80"})
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert run.stdout.startswith("NOT MET (1 of 2 limits): ")
    assert "the new report less 'was'" in run.stdout


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "html", "junit"])
def test_every_form_has_the_upper_limit_or_the_verdict(mipaudit, files, form):
    arguments = ("compare", *REPORTS, "--max-increase", "0.1")
    check = json.loads(mipaudit(*arguments, "-f", "json").stdout)["policy"][0]
    run = mipaudit(*arguments, "-f", form, "-o", f"out.{form}")
    assert (run.returncode, run.stdout, check["status"]) == (1, "", "not_met")
    text = (files / f"out.{form}").read_text()
    if form == "csv":
        assert repr(check["lower"]) in text
    else:
        assert check["reason"]["text"].split(" for ")[0] in " ".join(text.split())
    if form == "junit":
        assert 'failures="2"' in text
        assert 'type="not_met"' in text
        assert 'type="inconclusive"' in text


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("strong.csv", "old.json"), "mixed_inputs", "reports (.json)"),
        (("old.json", "broken.json"), "bad_report", "'broken'"),
        (("old.json", "nowhere.json"), "unreadable_report", "'nowhere'"),
        (("a=strong.csv", "b=weak.csv", "-o", "weak.csv"), "output_is_input", "weak.csv"),
        (("old.json", "n=new.json", "-o", "new.json"), "output_is_input", "new.json"),
    ],
)
def test_an_error_says_which_input_and_writes_over_none(mipaudit, files, made, given, code, said):
    run = mipaudit("compare", *given, "-f", "json" if "weak.csv" not in given else "csv")
    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr
    assert code in run.stderr or not run.stderr.startswith("{")
    assert {name: (files / name).read_text() for name in made} == made


def test_no_value_of_the_data_is_printed(mipaudit, files, made):
    run = mipaudit("compare", "scores.csv", "-f", "json")
    for line in made["scores.csv"].splitlines()[1:50]:
        for value in line.split(",")[2:]:
            assert value not in run.stdout
