"""``mipaudit bounds``: what the command writes, where, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numpy", "scipy", "pandas", "pyarrow", "rich", "msgspec", "pydantic"}


def test_a_guarantee_as_json(mipaudit):
    done = mipaudit("bounds", "--epsilon", "1", "--delta", "1e-5", "-f", "json")

    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert set(report) >= {"guarantee", "attacker", "bounds"}
    assert set(report["attacker"]) >= {"advantage", "accuracy", "eta", "tpr_at_fpr"}
    assert report["attacker"]["advantage"] == pytest.approx(0.4621225, abs=1e-7)
    assert {bound["name"] for bound in report["bounds"]} >= {"yeom", "humphries", "izzo", "mace"}
    for bound in report["bounds"]:
        assert set(bound) >= {"name", "advantage", "source", "assumes"}
    sources = {s["name"]: s["source"] for s in report["provenance"]["settings"]}
    assert (sources["epsilon"], sources["prior"]) == ("command line", "default")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--epsilon", "1"], "0.46212"),
        (["--mu", "1", "--prior", "0.1"], "above blind guessing's 0.8"),
        (["--rho", "0.5"], "zero-concentrated"),
        (["--noise-sd", "2", "--sensitivity", "3"], "for a sensitivity of 3"),
        (["--scale", "2"], "0.2212"),
        (["--geometric-scale", "2"], "two-sided geometric noise"),
        (["--randomized-response", "0.7", "--categories", "4"], "among 4 answers"),
        (["--counting-queries", "k=100,n=1000", "--noise-sd", "0.01"], "0.15866"),
        (["--advantage", "0.1", "--adjacency", "add-remove"], "0.10536"),
        (["--tpr-at-fpr", "0.02@0.001"], "2.9957"),
        (["--tpr", "0.9", "--fpr", "0.01"], "4.4998"),
        (["--tp", "90", "--fn", "10", "--fp", "1", "--tn", "99"], "Clopper-Pearson"),
    ],
)
def test_each_question_is_answered_in_plain_text(mipaudit, arguments, shown):
    done = mipaudit("bounds", *arguments)

    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout
    assert "What this does not say" in done.stdout
    assert "\x1b" not in done.stdout


BAD = [
    (["--epsilon", "nan"], "--epsilon must be a number, at least 0 and at most 1e+06."),
    (["--epsilon", "one"], "'one' is not a valid float"),
    (["--epsilon", "1", "--mu", "1"], "One guarantee at a time"),
    (
        ["--tpr-at-fpr", "0.02"],
        "--tpr-at-fpr takes a true-positive rate and a false-positive rate, with @ between",
    ),
    (["--counting-queries", "k=1"], "--counting-queries takes exactly k, n."),
    (["--counting-queries", "k=1,n=2,n=2"], "--counting-queries takes exactly k, n."),
    (["--counting-queries", "k=1,m=2"], "--counting-queries takes exactly k, n."),
    (["--counting-queries", "k,n=2"], "--counting-queries takes a number for k."),
    (["--counting-queries", "k=one,n=2"], "--counting-queries takes a number for k."),
    (["--dp-sgd", "noise_multiplier=1,q=0.1"], "takes exactly noise_multiplier, q, steps."),
    (["--compose", "noise:count=1"], "KIND being one of gaussian"),
    (["--epsilon", "1", "--curve", "x.txt"], "ends in .csv, .json."),
    (["--epsilon", "1", "--curve", "no/such/x.csv"], "cannot be written"),
    (["--eta", "0.1", "--curve", "x.csv"], "Curves belong to a guarantee."),
    (["--epsilon", "1", "-o", "x.json", "--curve", "x.json"], "need a file each"),
    (["--epsilon", "1", "--epsilom", "1"], "No such option"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(bad[0]) for bad in BAD])
def test_a_bad_option_ends_with_two_and_one_message(mipaudit, tmp_path, arguments, message):
    done = mipaudit("bounds", *arguments, "-f", "json")

    assert (done.returncode, done.stdout) == (2, "")
    error = json.loads(done.stderr)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert message in error["message"]
    assert list(tmp_path.iterdir()) == []


def test_without_arguments_there_is_help(mipaudit):
    done = mipaudit("bounds")

    assert done.returncode == 2
    assert "mipaudit bounds --epsilon 1 --delta 1e-5" in done.stderr


def test_a_report_goes_to_its_file(mipaudit, tmp_path):
    done = mipaudit("bounds", "--mu", "1", "-f", "json", "-o", "report.json", "-q")

    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")
    assert done.stdout.startswith("No attacker exceeds a membership advantage of 0.38293")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["attacker"]["advantage"] == pytest.approx(0.3829249, abs=1e-7)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.json.sha256"]


def test_curves_as_csv(mipaudit, tmp_path):
    done = mipaudit(
        "bounds", "--scale", "1", "--curve", "curves.csv", "--adjacency", "substitution"
    )

    assert done.returncode == 0
    assert "Laplace noise" in done.stdout
    rows = list(csv.DictReader(io.StringIO((tmp_path / "curves.csv").read_text())))
    assert set(rows[0]) == {"curve", "x", "y"}
    points = {}
    for row in rows:
        points.setdefault(row["curve"], []).append((float(row["x"]), float(row["y"])))
    assert {"roc", "trade-off", "delta-of-epsilon", "advantage-humphries"} <= set(points)
    for name in ("roc", "trade-off"):
        assert (points[name][0][0], points[name][-1][0]) == (0, 1)
    for (fpr, tpr), (same, fnr) in zip(points["roc"], points["trade-off"], strict=True):
        assert fpr == same
        assert tpr + fnr == pytest.approx(1, rel=1e-12)
        if 0 < fpr <= 0.1:
            assert tpr == pytest.approx(math.e * fpr)
    for epsilon, delta in points["delta-of-epsilon"]:
        assert delta == pytest.approx(-math.expm1(min(0, (epsilon - 1) / 2)), abs=1e-15)
    for epsilon, advantage in points["advantage-humphries"]:
        assert advantage == pytest.approx(math.tanh(epsilon / 2))


def test_curves_as_json(mipaudit, tmp_path):
    done = mipaudit("bounds", "--randomized-response", "0.75", "--curve", "c.JSON", "-f", "json")

    assert done.returncode == 0
    curves = json.loads((tmp_path / "c.JSON").read_text())
    assert {len(curves[name]) for name in ("fpr", "tpr", "fnr")} == {len(curves["fpr"])}
    assert len(curves["epsilon"]) == len(curves["delta"])
    assert curves["epsilon"][-1] == pytest.approx(math.log(3))
    assert json.loads(done.stdout)["guarantee"]["kind"] == "randomized-response"


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="a pipe of a shell")
def test_a_reader_that_leaves_early_is_no_error_of_ours(environment, tmp_path):
    script = f"{sys.executable} -m mipaudit bounds --epsilon 1 | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.strip() in {"0", "141"}
    assert done.stderr == ""


@pytest.mark.parametrize("charset", ["ascii", "latin-1"])
def test_a_narrow_character_set_is_enough(process, charset):
    done = process("bounds", "--epsilon", "1", env={"PYTHONIOENCODING": charset})

    assert done.returncode == 0
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--epsilon", "1", "--delta", "1e-5", "-f", "json"],
        ["--mu", "1", "--recall-floor", "1e-9"],
        ["--geometric-scale", "2"],
        ["--advantage", "0.1"],
        ["--tpr", "0.9", "--fpr", "0.01"],
        ["--scale", "1", "--curve", "curves.csv"],
    ],
)
def test_nothing_heavy_is_loaded(environment, tmp_path, arguments):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['mipaudit', 'bounds', *{arguments!r}]\n"
        "from mipaudit.cli.app import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "typer" in loaded
    assert loaded & HEAVY == set()
