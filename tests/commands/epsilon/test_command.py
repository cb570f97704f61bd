"""``mipaudit epsilon``: what the command writes, where, and how it ends."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

ONE_RUN = ["--canaries", "1000", "--guesses", "100", "--correct", "90"]


@pytest.fixture
def runs_csv(tmp_path):
    """Randomized response at epsilon 2, with a little noise, 1,000 runs of each kind."""
    flips, noise = np.random.default_rng(5).random((2, 2000))
    present = np.arange(2000) % 2 == 0
    bit = present == (flips < 0.8808)
    frame = {"run_id": range(2000), "canary": present.astype(int), "score": bit + noise / 2}
    pd.DataFrame(frame).round(6).to_csv(tmp_path / "runs.csv", index=False)
    return "runs.csv"


def test_without_a_design_three_designs_are_explained(mipaudit, runs_csv):
    done = mipaudit("epsilon", runs_csv)

    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("Error: Say with --design")
    assert [line.split()[0] for line in lines[1:]] == ["independent-runs", "one-run", "one-model"]
    assert [line.endswith(": a valid limit") for line in lines[1:]] == [True, True, False]
    assert lines[3].endswith(": no valid limit")


def test_the_first_line_is_the_limit(mipaudit, runs_csv):
    done = mipaudit("epsilon", runs_csv, "--design", "independent-runs", "--delta", "0")

    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert text.startswith("Every epsilon below 1.")
    assert "1,000 independent runs with the record, 1,000 without" in text
    for part in ("What it rests on", "Keep in mind"):
        assert part in done.stdout


@pytest.mark.parametrize(
    ("claim", "status", "code"),
    [("1", "refuted", 1), ("2", "not_refuted", 0)],
)
def test_a_claim_has_a_verdict_and_an_exit_code(mipaudit, runs_csv, claim, status, code):
    asked = ["--design", "independent-runs", "--delta", "0", "--claimed-epsilon", claim]
    done = mipaudit("epsilon", runs_csv, *asked, "-f", "json")

    assert (done.returncode, done.stderr) == (code, "")
    report = json.loads(done.stdout)
    assert report["schema"] == "mipaudit.epsilon/3"
    assert report["claim"]["status"] == status
    assert report["statements"][0]["lower"] <= 2
    assert [one["mechanism"] for one in report["claim"]["power"]] == ["gaussian", "laplace"]
    sources = {s["name"]: s["source"] for s in report["provenance"]["settings"]}
    assert (sources["design"], sources["method"]) == ("command line", "default")
    assert report["provenance"]["inputs"][0]["rows"] == 2000

    softened = mipaudit("epsilon", runs_csv, *asked, "--exit-zero")
    assert softened.returncode == 0
    assert softened.stdout.startswith("CLAIM REFUTED" if code else "CLAIM NOT REFUTED")


def test_scores_from_standard_input_and_two_files(mipaudit, runs_csv, tmp_path):
    text = (tmp_path / runs_csv).read_text(encoding="utf-8")
    frame = pd.read_csv(tmp_path / runs_csv)
    for name, wanted in (("in.csv", 1), ("out.csv", 0)):
        frame[frame.canary == wanted][["score"]].to_csv(tmp_path / name, index=False)
    asked = ["--design", "independent-runs", "-f", "json"]
    found = [
        mipaudit("epsilon", runs_csv, *asked),
        mipaudit("epsilon", "-", *asked, input=text),
        mipaudit("epsilon", "--members", "in.csv", "--holdout", "out.csv", *asked),
    ]
    lowers = [json.loads(done.stdout)["statements"][0]["lower"] for done in found]
    assert lowers == [lowers[0]] * 3


@pytest.fixture
def several_runs_csv(tmp_path):
    """Write five runs of 80 canaries, with coins of the shares given, one for each run."""

    def write(shares=(0.5,) * 5, names=("a", "b", "c", "d", "e")):
        rng = np.random.default_rng(8)
        frame = pd.DataFrame({"run": np.repeat(names, 80), "canary": np.tile(np.arange(80), 5)})
        frame["member"] = (rng.random(400) < np.repeat(shares, 80)).astype(int)
        frame["score"] = rng.normal(size=400) + 3 * frame.member
        frame.to_csv(tmp_path / "several.csv", index=False)
        return ["epsilon", "several.csv", "--design", "one-run", "--run-col", "run"]

    return write


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"names": ["one", "two", "two", "three", "four"]}, "more than once in a run"),
        ({"names": ["one", "", "", "three", "four"]}, "run"),
        ({"shares": (0.2, 0.5, 0.5, 0.5, 0.8)}, "different shares"),
    ],
)
def test_runs_that_are_no_single_audit_end_with_two(mipaudit, several_runs_csv, given, words):
    done = mipaudit(*several_runs_csv(**given), "--key-col", "canary")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(("given", "made"), [("100,50", (100, 50)), ("51", (26, 25))])
def test_guesses_in_and_out(mipaudit, runs_csv, given, made):
    done = mipaudit("epsilon", runs_csv, "--design", "one-run", "--guesses", given, "-f", "json")

    guesses = json.loads(done.stdout)["statements"][0]["counts"]
    assert (guesses["guessed_in"], guesses["guessed_out"]) == made
    assert guesses["tried"] == 2


def test_the_curve_goes_to_its_file(mipaudit, runs_csv, tmp_path):
    asked = ["epsilon", runs_csv, "--design", "independent-runs"]
    done = mipaudit(*asked, "--curve", "c.csv", "-o", "report.json", "-f", "json")

    assert (done.returncode, done.stdout) == (0, "")
    answer = mipaudit(*asked, "-q", env={"MIPAUDIT_FULL": "false"}).stdout.rstrip("\n")
    assert done.stderr == f"{answer} Written: the curve to c.csv, the report to report.json.\n"
    assert json.loads((tmp_path / "report.json").read_text())["profile"] is None
    rows = pd.read_csv(tmp_path / "c.csv")
    assert set(rows) == {"score", "delta", "lower", "estimate"}
    assert rows.delta[0] == 0
    assert rows.lower[0] > rows.lower.iloc[-1] >= 0
    done = mipaudit(*asked, "--curve", "c.json")
    assert done.returncode == 0
    assert done.stderr == "Written: the curve to c.json.\n"
    points = pd.DataFrame(json.loads((tmp_path / "c.json").read_text()))
    assert points[["delta", "lower"]].equals(rows[["delta", "lower"]])


OF_RUNS, OF_ONE = ["--design", "independent-runs"], ["--design", "one-run"]
BAD = [
    *(
        ([*OF_ONE, "--guesses", x], "--guesses takes one whole number, or two")
        for x in ("1,2,3", "half")
    ),
    ([*OF_ONE, "--curve", "c.json"], "--curve cannot be used with --design one-run"),
    ([*OF_RUNS, "--curve", "c.txt"], "ends in .csv, .json."),
    ([*OF_RUNS, "--curve", "runs.csv"], "is one of the inputs"),
    ([*OF_RUNS, "--curve", "a.json", "-o", "a.json"], "need a file each"),
    ([*OF_RUNS, "--score-col", "nothing"], "nothing"),
    ([*OF_RUNS, "--where", "canary = 1"], "holdout"),
    ([*OF_RUNS, "--claimed-curve", "runs.csv"], "no points of an ROC"),
    ([*OF_RUNS, "--claimed-curve", "runs.csv", "--claimed-epsilon", "1"], "claim"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(bad[0]) for bad in BAD])
def test_a_bad_option_is_one_message(mipaudit, runs_csv, tmp_path, arguments, message):
    done = mipaudit("epsilon", runs_csv, *arguments, "-f", "json")

    assert (done.returncode, done.stdout) == (2, "")
    error = json.loads(done.stderr)["error"]
    assert message in f"{error['message']} {error['hint']}"
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


def test_a_claimed_curve_is_the_file_that_bounds_writes(mipaudit, runs_csv):
    for name, epsilon in (("kept.csv", "2.2"), ("broken.csv", "1")):
        mipaudit("bounds", "--epsilon", epsilon, "--curve", name, "-o", "bounds.txt")
    named = ("epsilon", runs_csv, "--design", "independent-runs", "--claimed-curve")
    kept, broken = (mipaudit(*named, name) for name in ("kept.csv", "broken.csv"))

    assert (kept.returncode, broken.returncode) == (0, 1)
    assert kept.stdout.startswith("CLAIM NOT REFUTED")
    assert "that does not verify the claim" in kept.stdout.replace("\n", " ")
    assert "not within the claimed trade-off curve" in broken.stdout.replace("\n", " ")
    assert "(broken.csv)" in broken.stdout


def test_a_claimed_curve_is_recorded_with_its_hash(mipaudit):
    asked = ("bounds", "--mu", "0.5", "--adjacency", "substitution")
    mipaudit(*asked, "--curve", "curve.json", "-o", "bounds.txt")
    done = mipaudit("epsilon", *ONE_RUN, "--claimed-curve", "curve.json", "-f", "json")
    fields = json.loads(done.stdout)
    assert done.returncode == 1
    assert fields["claim"]["curve"] == "curve.json"
    assert 0.001 < fields["claim"]["p_value"] < 0.05
    (source,) = fields["provenance"]["inputs"]
    assert (source["name"], source["rows"], len(source["sha256"])) == ("curve.json", 453, 64)
    settings = {one["name"]: one["value"] for one in fields["provenance"]["settings"]}
    assert settings["claimed_curve"] == "curve.json"
