"""``mipaudit estimate`` from the command line to its report, on real files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import mipaudit as package
from mipaudit.report.codec import from_json, to_json
from tests.fixtures.leaks import table

LEAKY = "yeom_diabetes_tree_d4_split0.csv"


def without_origin(text):
    return text.split('"provenance"')[0]


@pytest.fixture
def leaky(data_dir):
    return str(data_dir / LEAKY)


@pytest.mark.parametrize(
    ("limit", "code", "status"),
    [("0.01", 1, "not_met"), ("0.9", 0, "met"), ("0.3", 3, "inconclusive")],
)
def test_policy_and_exit_code(mipaudit, leaky, limit, code, status):
    asked = ("estimate", leaky, "--max-advantage", limit)
    done = mipaudit(*asked, "-f", "json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["verdict"]["status"]) == (code, status)
    jsonschema.Draft202012Validator(package.schema()).validate(report)
    assert to_json(from_json(done.stdout.encode())) == done.stdout.encode()
    shown = mipaudit(*asked, "--exit-zero")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert status != "not_met" or shown.stdout.startswith("NOT MET: advantage is at least ")
    assert "Advantage, by what attackers may do with a score" in shown.stdout


def test_command_line_standard_input_and_function_agree(mipaudit, process, leaky):
    asked = ("-f", "json", "--prior", "0.2", "--seed", "4")
    done = mipaudit("estimate", leaky, *asked)
    report = package.estimate(leaky, prior=0.2, seed=4)
    assert without_origin(done.stdout) == without_origin(to_json(report).decode())
    with Path(leaky).open("rb") as file:
        piped = process("estimate", "-", *asked, stdin=file)
    assert json.loads(piped.stdout)["estimates"] == json.loads(done.stdout)["estimates"]


@pytest.mark.parametrize("seed", ["-1", "1.5", "Fresh", "", "1e3", "٣"])
def test_what_is_no_seed(mipaudit, leaky, seed):
    done = mipaudit("estimate", leaky, "--seed", seed, "-o", "report.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the word 'fresh'" in done.stderr


def test_the_seed_and_its_origin_are_shown(mipaudit, leaky):
    (used,) = package.estimate(leaky).provenance.seeds
    for words, env, said in (
        ((), {}, f"{used.seed} for 'residual', from the scores\n"),
        (("--seed", "4"), {}, " for 'residual', from the scores and the stated seed 4\n"),
        ((), {"MIPAUDIT_SEED": "fresh"}, " from the scores and the fresh seed "),
    ):
        assert said in mipaudit("estimate", leaky, *words, env=env).stdout


def test_a_hostile_column_name_steers_nothing(mipaudit, tmp_path, data_dir):
    header, *lines = (data_dir / LEAKY).read_text(encoding="utf-8").split("\n")
    header = header.replace("residual", "\x1b]0;owned\x07[red]loss\u202e")
    (tmp_path / "x.csv").write_text("\n".join([header, *lines]), encoding="utf-8")
    for command, *more in (["estimate"], ["check"], ["estimate", "-f", "json"]):
        done = mipaudit(command, "x.csv", *more)
        assert done.returncode == 0
        assert "owned" in done.stdout
        assert not set("\x1b\x07\u202e") & set(done.stdout + done.stderr)


def test_metrics_are_typed_limited_and_refused(mipaudit, tmp_path):
    rows = [f"{i % 2},{(i * 7919 % 1000) / 1000 + (i % 2) * 0.5}" for i in range(800)]
    (tmp_path / "s.csv").write_text("member,score\n" + "\n".join(rows) + "\n")
    limits = {"am=0.55": 1, "am=0.95": 0, "cost:fp=1,fn=5=-0.01": 0, "am=0.4": 2, "am": 2}
    for limit, code in limits.items():
        done = mipaudit("estimate", "s.csv", "--max-metric", limit)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    done = mipaudit(
        *("estimate", "s.csv", "--metric", "ppv", "--metric", "f1", "--min-recall", "0.2")
    )
    text = " ".join(done.stdout.split())
    for words in (
        "Metrics (larger: a better attacker)",
        "'score' ppv any ",
        "a TPR of at least 0.2",
    ):
        assert words in text
    done = mipaudit("estimate", "s.csv", "--metric", "recall")
    assert (done.returncode, done.stdout, "tpr" in done.stderr) == (2, "", True)


def test_kernels_add_limits_with_noise_and_published_values_and_decide_nothing(mipaudit, tmp_path):
    """Limits after noise lie below a policy that the score itself does not keep."""
    table(0.8, rows=2000).to_csv(tmp_path / "scores.csv", index=False)
    asked = ("estimate", "scores.csv", "--max-advantage", "0.05", "--method")
    found = {}
    for method in ("prequential", "kde"):
        done = mipaudit(*asked, method, "-f", "json")
        found[method] = json.loads(done.stdout)
        assert done.returncode == 1
        assert found[method]["verdict"]["status"] == "not_met"
    rows, plain = found["kde"]["estimates"], found["prequential"]["estimates"]
    noised = [row for row in rows if row["attackers"] == "noised-query"]
    published = [row for row in rows if row["validity"] == "not-an-interval"]
    assert noised
    assert len(published) == 2
    assert all(row["bandwidth"] > 0 and row["upper"] < 0.6 for row in noised)
    assert [row for row in rows if row not in noised + published] == plain
    shown = mipaudit(*asked, "kde").stdout
    assert "Advantage with Gaussian noise on the score" in shown
    assert "s.d. of the noise" in shown
    assert "MACE kernel density with one bandwidth" in shown
