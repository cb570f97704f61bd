"""Two runs of a command write the same bytes, in every form, at a given time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.places import ROOT

EPOCH = {"SOURCE_DATE_EPOCH": "1767225600"}
SAMPLES = ROOT / "sample_data"
TABLES = [
    word
    for role in ("members", "holdout", "synthetic")
    for word in (f"--{role}", str(SAMPLES / f"adult_{role}.csv"))
]
COMMANDS = {
    "estimate": ("s.csv", "--max-advantage", "0.3", "--method", "mace", "--metric", "ppv"),
    "records": ("s.csv", "--top", "3"),
    "epsilon": ("s.csv", "--design", "independent-runs", "--assume-gdp"),
    "compare": ("s.csv", "t.csv"),
    "check": ("s.csv",),
    "attack": ("s.csv", "--loss-bound", "4"),
    "attribute": ("guesses.csv",),
    "query losses": ("--logits", "logits.csv", "-o", "made.csv"),
    "query lira": ("--shadow", "shadows.npz", "-o", "made.csv"),
    "shift": ("one.csv", "two.csv"),
    "bounds": ("--mu", "1"),
    "noise": ("--eta", "0.1"),
    "simulate": ("laplace-1", "--truth-only"),
    "validate": (
        *("--scenario", "laplace-1", "--replications", "5", "--sizes", "40"),
        *("--estimand", "auc"),
    ),
    "query": ("nn", "mc", *TABLES, "-o", "q.csv"),
    "render": ("r.json", "--max-advantage", "0.3"),
    "verify": ("r.json", "--input", "s.csv"),
    "history": ("r.json",),
}
# All commands and all forms of their reports, in one process: each would load the same libraries.
WRITE = """
import json, os, sys
from pathlib import Path
from mipaudit.output.stored_report import read_report
from mipaudit.output.presentation import encode
from tests.within import run_within
written = {}
for command, arguments in json.loads(sys.argv[1]).items():
    done = run_within(
        (command, *arguments, "-f", "json", "-q"), environment=dict(os.environ), folder="."
    )
    assert done.returncode in {0, 1, 3}, (command, done.stderr)
    path = f"{command}.report"
    Path(path).write_text(done.stdout)
    for form in ("table", "json", "csv", "markdown", "html", "junit"):
        written[f"{path} {form}"] = encode(read_report(path), form, to_file=True).decode()
json.dump(written, sys.stdout)
"""


@pytest.fixture
def inputs(mipaudit, query_inputs, tmp_path):
    mipaudit("simulate", "laplace-1", "-q", "--n-members", "200", "-o", "s.csv")
    mipaudit("simulate", "laplace-1", "-q", "--n-members", "200", "--seed", "1", "-o", "t.csv")
    mipaudit("estimate", "s.csv", "-q", "-f", "json", "-o", "r.json")
    for name, start in (("one", 0), ("two", 7)):
        rows = "".join(f"{start + at},{at % 5}\n" for at in range(60))
        (tmp_path / f"{name}.csv").write_text(f"age,kind\n{rows}")


def test_the_same_bytes(inputs, environment, tmp_path):
    """With another hash seed: what depends on the order of sets would differ."""

    def written(seed):
        done = subprocess.run(
            [sys.executable, "-c", WRITE, json.dumps(COMMANDS)],
            env={**environment, **EPOCH, "PYTHONHASHSEED": seed},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first, second = written("1"), written("2")
    assert len(first) == 6 * len(COMMANDS)
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_rendering_later_writes_the_bytes_of_the_command(mipaudit, inputs, form):
    at_once = mipaudit("estimate", "s.csv", "-q", "-f", form, env=EPOCH)
    as_json = mipaudit("estimate", "s.csv", "-q", "-f", "json", env=EPOCH)
    later = mipaudit("render", "-", "-f", form, input=as_json.stdout)

    assert later.stdout == at_once.stdout


def test_every_command_that_makes_a_report_is_here():
    from mipaudit.cli.program import COMMANDS as ALL

    others = {"schema", "help", "init", "summarize"}
    others |= {"doctor"}  # what is free on the disk changes
    assert set(COMMANDS) == set(ALL) - others
