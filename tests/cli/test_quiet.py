"""``--quiet``: nothing but the report, for every command."""

from __future__ import annotations

import json

import pytest

from mipaudit.cli.program import COMMANDS
from tests.fixtures.commands import RUNS

# A summary is not for reading; init writes a policy file.
WITHOUT_REPORT = {"help", "init", "summarize"}
# Their -o takes the scores; the report is printed.
QUERIES = {"query losses", "query lira"}
WITHOUT_FORM = {"schema"}


def test_every_command_is_here():
    assert set(RUNS) | WITHOUT_REPORT == set(COMMANDS)


@pytest.mark.parametrize("command", RUNS)
def test_quiet_prints_the_report_and_nothing_else(mipaudit, command_folder, command):
    form = () if command in WITHOUT_FORM else ("-f", "json")

    done = mipaudit(*RUNS[command], "-q", *form)

    assert done.returncode in {0, 1, 3}, done.stderr
    assert done.stderr == ""
    json.loads(done.stdout)


@pytest.mark.parametrize("command", sorted(RUNS.keys() - {"records", "query", *QUERIES}))
def test_quiet_with_a_file_prints_a_line(mipaudit, command_folder, command):
    done = mipaudit(*RUNS[command], "--quiet", "-o", "out.txt")

    assert done.returncode in {0, 1, 3}, done.stderr
    # What the answer rests on is said, and nothing else.
    assert [one for one in done.stderr.splitlines() if not one.startswith("! ")] == []
    assert done.stdout.count("\n") == (command not in WITHOUT_FORM)
    assert len(done.stdout) <= 121
    assert (command_folder / "out.txt").stat().st_size


def test_quiet_leaves_the_drawn_scores_alone(mipaudit):
    done = mipaudit("simulate", "laplace-1", "--n-members", "5", "--n-holdout", "5", "-q")

    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 11


def test_quiet_leaves_scores_on_standard_output_alone_beside_a_report(mipaudit, command_folder):
    made = ("query", "losses", "--logits", "logits.csv", "-q")
    alone = mipaudit(*made)
    beside = mipaudit(*made, "--report", "report.json")

    assert alone.stdout.count("\n") > 2
    assert (beside.stdout, beside.stderr) == (alone.stdout, "")


def test_quiet_writes_no_line_into_a_report_on_standard_output(process, command_folder):
    done = process("check", "scores.parquet", "-q", "-f", "json", "-o", "/dev/stdout")

    assert "can be audited" not in done.stdout


def test_quiet_does_not_hide_an_error(mipaudit):
    done = mipaudit("estimate", "gone.csv", "-q")

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
