"""``mipaudit compare old.json new.json`` as users run it: exit codes, forms, errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mipaudit as package


@pytest.fixture(scope="module")
def reports():
    """Return an old report and a new one, of which score ``a`` leaks more, as files' bytes."""
    member = np.arange(2000) % 2 == 0
    found = []
    for seed, shift in enumerate((0.0, 2.5)):
        rng = np.random.default_rng(seed)
        drawn = rng.standard_normal((2000, 2)) + np.array([shift, 0.5]) * member[:, None]
        report = package.estimate(members=drawn[member], holdout=drawn[~member], score_col=())
        found.append(package.to_json(report))
    return found


@pytest.fixture
def files(reports, tmp_path):
    for name, data in zip(("old.json", "new.json"), reports, strict=True):
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize(("limit", "code"), [("1", 0), ("0.1", 1), ("0.8", 3)])
def test_exit_codes_of_the_policy(mipaudit, files, limit, code):
    arguments = ("compare", "old.json", "new.json", "--max-increase", limit)
    run = mipaudit(*arguments, "-f", "json")
    assert run.returncode == code, run.stderr
    report = json.loads(run.stdout)
    assert report["schema"] == "mipaudit.compare-reports/2"
    assert report["verdict"]["status"] == {0: "met", 1: "not_met", 3: "inconclusive"}[code]
    assert mipaudit(*arguments, "--exit-zero").returncode == 0


def test_no_policy_is_no_verdict(mipaudit, files):
    run = mipaudit("compare", "old.json", "new.json")
    assert (run.returncode, run.stderr) == (0, "")
    assert "No limit was given: no verdict." in " ".join(run.stdout.split())


def test_tables_fit_a_narrow_terminal(mipaudit, files):
    arguments = ("compare", "was=old.json", "is=new.json", "--max-increase", "0.1")
    run = mipaudit(*arguments, env={"COLUMNS": "80"})
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert run.stdout.startswith("NOT MET (1 of 2 limits): ")
    assert "the new report less 'was'" in run.stdout


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "html", "junit"])
def test_every_form_has_the_upper_limit_or_the_verdict(mipaudit, files, form):
    arguments = ("compare", "old.json", "new.json", "--max-increase", "0.1")
    made = json.loads(mipaudit(*arguments, "-f", "json").stdout)
    run = mipaudit(*arguments, "-f", form, "-o", f"out.{form}")
    assert (run.returncode, run.stdout) == (1, "")
    text = (files / f"out.{form}").read_text()
    check = made["policy"][0]
    assert check["status"] == "not_met"
    if form == "csv":
        assert repr(check["lower"]) in text
    else:
        assert check["reason"]["text"].split(" for ")[0] in " ".join(text.split())
    if form == "junit":
        assert 'failures="2"' in text
        assert 'type="not_met"' in text
        assert 'type="inconclusive"' in text


def test_errors_say_which_report(mipaudit, files):
    (files / "broken.json").write_text('{"schema": "mipaudit.report/2", "command": "estimate"}')
    run = mipaudit("compare", "old.json", "broken.json", "-f", "json")
    assert run.returncode == 2
    error = json.loads(run.stderr)["error"]
    assert error["code"] == "bad_report"
    assert "'broken'" in error["message"]
    run = mipaudit("compare", "old.json", "nowhere.json")
    assert run.returncode == 2
    assert "'nowhere'" in run.stderr
    assert not run.stdout


def test_a_report_that_is_read_is_not_overwritten(mipaudit, files, reports):
    run = mipaudit("compare", "old.json", "n=new.json", "-o", "new.json")
    assert run.returncode == 2
    assert (files / "new.json").read_bytes() == reports[1]


def test_two_runs_are_equal_but_for_the_time(mipaudit, files):
    fixed = {"SOURCE_DATE_EPOCH": "0"}
    runs = [
        mipaudit("compare", "old.json", "new.json", "-f", "json", env=fixed).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_help_shows_it(mipaudit):
    assert (
        "mipaudit compare old.json new.json --max-increase" in mipaudit("compare", "--help").stdout
    )
