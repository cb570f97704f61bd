"""``--quiet``: nothing but the report, for every command."""

from __future__ import annotations

import json
import shutil

import pytest

from mipaudit.cli.program import COMMANDS
from tests.places import ROOT

SAMPLES = ROOT / "sample_data"
LEAKY = str(SAMPLES / "leaky.parquet")
ONE_RUN = ("epsilon", "--design", "one-run", "--canaries", "1000", "--guesses", "100")
TABLES = [
    word
    for role in ("members", "holdout", "synthetic")
    for word in (f"--{role}", str(SAMPLES / f"adult_{role}.csv"))
]
RUNS = {
    "estimate": ("estimate", LEAKY, "--score-col", "loss", "--max-advantage", "0.1"),
    "records": ("records", LEAKY, "--score-col", "loss", "-o", "risks.csv"),
    "epsilon": (*ONE_RUN, "--correct", "90"),
    "check": ("check", LEAKY),
    "attack": ("attack", LEAKY, "--score-col", "loss"),
    "attribute": ("attribute", "guesses.csv"),
    "query losses": ("query", "losses", "--logits", "logits.csv", "-o", "made.csv"),
    "query lira": ("query", "lira", "--shadow", "shadows.npz", "-o", "made.csv"),
    "shift": ("shift", *(str(SAMPLES / f"adult_{one}.csv") for one in ("members", "holdout"))),
    "compare": ("compare", LEAKY),
    "bounds": ("bounds", "--epsilon", "1"),
    "noise": ("noise", "--eta", "0.1", "--from", str(SAMPLES / "splits.csv")),
    "simulate": ("simulate", "laplace-1", "--truth-only"),
    "validate": (
        *("validate", "--estimand", "advantage", "--scenario", "constant"),
        *("--replications", "20", "--sizes", "100", "--jobs", "1"),
    ),
    "query": ("query", "nn", *TABLES, "-o", "nn.csv"),
    "render": ("render", "kept.json"),
    "verify": ("verify", "kept.json", "--input", "scores.parquet"),
    "history": ("history", "kept.json"),
    "schema": ("schema",),
    "doctor": ("doctor",),
}
# A summary is not for reading; init writes a policy file.
WITHOUT_REPORT = {"help", "init", "summarize"}
# Their -o takes the scores; the report is printed.
QUERIES = {"query losses", "query lira"}
WITHOUT_FORM = {"schema"}


@pytest.fixture
def folder(mipaudit, tmp_path, query_inputs):
    shutil.copy(LEAKY, tmp_path / "scores.parquet")
    done = mipaudit("check", "scores.parquet", "-f", "json", "-o", "kept.json", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    return tmp_path


def test_every_command_is_here():
    assert set(RUNS) | WITHOUT_REPORT == set(COMMANDS)


@pytest.mark.parametrize("command", RUNS)
def test_quiet_prints_the_report_and_nothing_else(mipaudit, folder, command):
    form = () if command in WITHOUT_FORM else ("-f", "json")

    done = mipaudit(*RUNS[command], "-q", *form)

    assert done.returncode in {0, 1, 3}, done.stderr
    assert done.stderr == ""
    json.loads(done.stdout)


@pytest.mark.parametrize("command", sorted(RUNS.keys() - {"records", "query", *QUERIES}))
def test_quiet_with_a_file_prints_a_line(mipaudit, folder, command):
    done = mipaudit(*RUNS[command], "--quiet", "-o", "out.txt")

    assert done.returncode in {0, 1, 3}, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("\n") == (command not in WITHOUT_FORM)
    assert (folder / "out.txt").stat().st_size


def test_quiet_leaves_the_drawn_scores_alone(mipaudit):
    done = mipaudit("simulate", "laplace-1", "--n-members", "5", "--n-holdout", "5", "-q")

    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 11


def test_quiet_leaves_scores_on_standard_output_alone_beside_a_report(mipaudit, folder):
    made = ("query", "losses", "--logits", "logits.csv", "-q")
    alone = mipaudit(*made)
    beside = mipaudit(*made, "--report", "report.json")

    assert alone.stdout.count("\n") > 2
    assert (beside.stdout, beside.stderr) == (alone.stdout, "")


def test_quiet_writes_no_line_into_a_report_on_standard_output(process, folder):
    done = process("check", "scores.parquet", "-q", "-f", "json", "-o", "/dev/stdout")

    assert "can be audited" not in done.stdout


def test_quiet_does_not_hide_an_error(mipaudit):
    done = mipaudit("estimate", "gone.csv", "-q")

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
