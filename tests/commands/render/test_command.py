"""``mipaudit render``."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import mipaudit as mipaudit_
from mipaudit.errors import InputError
from tests.places import REPORTS

SAMPLES = REPORTS
ONE = str(SAMPLES / "no_policy.json")


EXITS = {"no_policy": 0, "one_score": 1, "claim": 1, "three_scores": 1, "check": 0, "epsilon": 1}
EXITS |= {"rejudged": 3, "validation": 0, "verification": 0}


@pytest.mark.parametrize("name", EXITS)
def test_the_exit_code_is_that_of_the_report(mipaudit, name):
    path = str(SAMPLES / f"{name}.json")
    done = mipaudit("render", path)
    assert (done.returncode, done.stderr) == (EXITS[name], "")
    assert done.stdout
    assert mipaudit("render", path, "--exit-zero").returncode == 0


OPEN = {"fail": 1, "review": 3, "pass": 0}


AGAIN = [("0.05", (), 1), ("0.25", (), 3), ("0.9", (), 0)]
AGAIN += [("0.25", ("--on-inconclusive", word), status) for word, status in OPEN.items()]


@pytest.mark.parametrize(("limit", "more", "status"), AGAIN)
def test_other_limits_another_exit_code(mipaudit, limit, more, status):
    path = str(SAMPLES / "one_score.json")
    done = mipaudit("render", path, "--max-advantage", limit, *more, "-f", "json")
    again = json.loads(done.stdout)["rejudged"]
    assert (done.returncode, again["limits"]) == (status, 1)
    (setting, *_) = again["settings"]
    assert (setting["value"], setting["source"]) == (float(limit), "command line")


def test_a_policy_file_is_used_when_it_is_named_and_only_then(mipaudit, tmp_path):
    policy = tmp_path / "mipaudit.toml"
    policy.write_text(
        'max_eta = 0.4\n[estimate]\nmax_advantage = 0.01\nmax_tpr_at_fpr = "0.9@0.1"\n'
    )

    assert mipaudit("render", ONE).returncode == 0
    assert mipaudit("render", ONE, env={"MIPAUDIT_MAX_ADVANTAGE": "0.01"}).returncode == 0
    done = mipaudit("render", ONE, "--policy", "mipaudit.toml", "-f", "json")
    typed = mipaudit("render", ONE, "--policy", "mipaudit.toml", "--max-advantage", "0.9")

    report = json.loads(done.stdout)
    assert done.returncode == 3  # the largest upper limit is above 0.01, the lower one is 0
    assert {check["quantity"] for check in report["policy"]} == {"advantage", "eta", "tpr_at_fpr"}
    sources = {one["name"]: (one["source"], one["where"]) for one in report["rejudged"]["settings"]}
    assert sources["max_eta"] == ("file", "mipaudit.toml")
    digest = hashlib.sha256(policy.read_bytes()).hexdigest()
    assert sources["config"] == ("file", f"sha256 {digest}")
    assert typed.returncode == 0


def test_standard_input_is_read(mipaudit):
    with open(ONE, "rb") as file:  # noqa: PTH123
        done = mipaudit("render", "-", "-f", "markdown", stdin=file)

    assert done.returncode == 0
    assert done.stdout.startswith("# mipaudit estimate")


@pytest.mark.parametrize("arguments", [("absent.json",), (".",), ("mipaudit.txt",)])
def test_a_file_that_is_no_report_is_an_error(mipaudit, tmp_path, arguments):
    (tmp_path / "mipaudit.txt").write_text("secret-4711")

    done = mipaudit("render", *arguments, "-o", "out.html", "-f", "html")

    assert (done.returncode, done.stdout) == (2, "")
    assert "secret" not in done.stderr
    assert not (tmp_path / "out.html").exists()


def test_the_report_is_not_overwritten(mipaudit, tmp_path):
    path = tmp_path / "report.json"
    path.write_bytes(Path(ONE).read_bytes())
    assert mipaudit("render", "report.json", "-f", "html", "-o", "report.json").returncode == 2
    assert path.read_bytes() == Path(ONE).read_bytes()


# A policy that has no limit for a report, or asks for another audit, and what is said of it.
NO_POLICY = {"": "", 'format = "json"\n': "", "max_advantag = 0.1\n": "max_advantage"}
NO_POLICY |= {"[records]\nmax_risk = 0.6\n": ""}
NO_POLICY |= {"max_advantage = 0.5\nscore_col = 'another'\n": "sets score_col"}
NO_POLICY |= {
    f"max_advantage = 0.5\n{audit}\n": ""
    for audit in ("strict = true", "where = \"site = 'a'\"", "nan = 'drop'")
}


@pytest.mark.parametrize("text", NO_POLICY)
def test_a_policy_file_that_cannot_judge_a_report_is_an_error(mipaudit, tmp_path, text):
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    done = mipaudit("render", ONE, "--policy", "p.toml")
    assert (done.returncode, done.stdout, NO_POLICY[text] in done.stderr) == (2, "", True)


def edited(tmp_path, edit):
    fields = json.loads((SAMPLES / "one_score.json").read_bytes())
    edit(fields)
    (tmp_path / "edited.json").write_text(json.dumps(fields), encoding="utf-8")
    return "edited.json"


JUDGED = ("--max-advantage", "0.01")
CONTRADICTIONS = [
    (lambda f: f["verdict"].update(status="met"), ()),
    (lambda f: f["verdict"].update(status="inconclusive", on_inconclusive="pass"), ()),
    (lambda f: f["policy"][0].update(status="met"), ()),
    (lambda f: f["policy"][0].update(lower=0.0), ()),
    (lambda f: f.update(policy=[]), ()),
    (lambda f: f["design"].update(score_columns=[]), JUDGED),
    (lambda f: f["design"].update(score_columns=["other"]), JUDGED),
]


@pytest.mark.parametrize(("edit", "limit"), CONTRADICTIONS)
def test_a_report_that_contradicts_itself_passes_no_gate(mipaudit, tmp_path, edit, limit):
    assert mipaudit("render", edited(tmp_path, dict), *limit).returncode == 1
    done = mipaudit("render", edited(tmp_path, edit), *limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert "contradicts itself" in done.stderr


def test_no_text_of_a_report_steers_a_terminal(mipaudit, tmp_path):
    name = edited(tmp_path, lambda f: f["provenance"].update(created="2026\x1b[2J\x00"))
    for form in ("table", "markdown", "html", "junit", "csv", "json"):
        done = mipaudit("render", name, "-f", form)
        assert done.returncode == 1
        assert not {"\x1b", "\x00"} & set(done.stdout)


def _without_advantages(fields):
    fields["estimates"] = [one for one in fields["estimates"] if one["quantity"] != "advantage"]


FAULTS = {
    "bounds": lambda f: f["guarantee"].update(parameters={}),
    "three_scores": _without_advantages,
    "one_score": lambda f: f["estimates"][0].update(value=1e308),
    "no_policy": lambda f: f["design"].update(prior=1e308),
}


SHOWN = {
    "bounds": ("table", "html", "markdown", "junit"),
    "three_scores": ("table", "csv", "json", "metrics"),
    **dict.fromkeys(("one_score", "no_policy"), ("table", "csv")),
}


@pytest.mark.parametrize(("sample", "form"), [(one, form) for one in SHOWN for form in SHOWN[one]])
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_whatever_a_file_says_is_no_bug_of_the_program(mipaudit, tmp_path, sample, form, quiet):
    fields = json.loads((SAMPLES / f"{sample}.json").read_bytes())
    FAULTS[sample](fields)
    (tmp_path / "edited.json").write_text(json.dumps(fields))

    done = mipaudit("render", "edited.json", "-f", form, "-v", *quiet, "-o", "out")

    assert (done.returncode, done.stdout) == (2, "")
    numbers = sample in {"one_score", "no_policy"}
    assert f"The report holds {'a number' if numbers else 'something'} " in done.stderr
    # What is out of its range, or not there, is found before anything is drawn.
    drawn = sample == "bounds"
    assert ("Traceback (most recent call last, without values)" in done.stderr) == drawn
    assert [path.name for path in tmp_path.iterdir()] == ["edited.json"]


@pytest.mark.parametrize("form", ["table", "cyclonedx"])
def test_a_page_that_is_no_text_is_an_error_of_the_page(mipaudit, tmp_path, form):
    made = mipaudit("render", ONE, "-o", "page.html")
    page = tmp_path / "page.html"
    data = page.read_bytes()
    at = data.index(b'"mipaudit.report/3"')
    page.write_bytes(data[:at] + b'"mipaudit.rep\xe9rt/2"' + data[at + 19 :])

    done = mipaudit("render", "page.html", "-f", form)

    assert (made.returncode, done.returncode, done.stdout) == (0, 2, "")


def test_a_fault_with_what_this_process_made_is_one_of_the_program(monkeypatch):
    report = mipaudit_.bounds(epsilon=1)
    data = mipaudit_.to_json(report)

    def fail(_report):
        raise KeyError("a bug")

    monkeypatch.setattr("mipaudit.commands.bounds.report.answer", fail)

    with pytest.raises(KeyError):
        mipaudit_.render_report(report, format="markdown")
    with pytest.raises(InputError) as caught:
        mipaudit_.render_report(data, format="markdown")
    assert isinstance(caught.value.__cause__, KeyError)
