"""``mipaudit bounds``: what the command writes, where, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys

import pytest

HEAVY = {"numpy", "scipy", "pandas", "pyarrow", "rich", "msgspec", "pydantic"}


AVERAGES = "--counting-queries"
BAD = [
    (["--epsilon", "one"], "'one' is not a number"),
    (["--epsilon", "1", "--mu", "1"], "One guarantee at a time"),
    (["--tpr-at-fpr", "0.02"], "--tpr-at-fpr takes a true-positive rate and a false-positive rate"),
    *(
        ([AVERAGES, x], f"{AVERAGES} takes exactly k, n.")
        for x in ("k=1", "k=1,n=2,n=2", "k=1,m=2")
    ),
    *(([AVERAGES, x], f"{AVERAGES} takes a number for k.") for x in ("k,n=2", "k=one,n=2")),
    (["--dp-sgd", "noise_multiplier=1,q=0.1"], "takes exactly noise_multiplier, q, steps."),
    (["--compose", "noise:count=1"], "KIND being one of gaussian"),
    (["--epsilon", "1", "--curve", "x.txt"], "ends in .csv, .json."),
    (["--epsilon", "1", "--curve", "no/such/x.csv"], "cannot be written"),
    (["--eta", "0.1", "--curve", "x.csv"], "Curves belong to a guarantee."),
    (["--epsilon", "1", "-o", "x.json", "--curve", "x.json"], "need a file each"),
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


QUESTIONS = [
    *("--mu 1 --recall-floor 1e-9", "--geometric-scale 2", "--advantage 0.1"),
    *("--tpr 0.9 --fpr 0.01", "--scale 1 --curve curves.csv", "--epsilon 1 --delta 1e-5"),
]


def test_nothing_heavy_is_loaded(environment, tmp_path):
    code = (
        "import sys\n"
        "from mipaudit.cli.app import run\n"
        f"for words in {QUESTIONS!r}: assert run(['bounds', *words.split(), '-q']) == 0\n"
        "print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    words, given = [sys.executable, "-c", code], {"env": environment, "cwd": tmp_path}
    done = subprocess.run(words, **given, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "typer" in loaded
    assert loaded & HEAVY == set()
