"""Exit codes are an interface."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mipaudit.output.exit_code import report_exit
from mipaudit.statements.verdict import Verdict
from tests.places import TESTS

VERDICTS = {"met": 0, "no_policy": 0, "not_met": 1, "inconclusive": 3}


@pytest.mark.parametrize("ending", VERDICTS)
def test_the_verdict_sets_the_exit_code_and_exit_zero_softens_it(stand_in, ending):
    done = stand_in(ending, "estimate", "x.csv", "-f", "json")
    assert (done.returncode, done.stderr) == (VERDICTS[ending], "")
    report = SimpleNamespace(verdict=Verdict(status=ending, reasons=()))
    assert report_exit(report, exit_zero=True) == 0


FAILURES = {"input": 2, "bug": 70, "memory": 2, "disk": 2, "interrupt": 130}


@pytest.mark.parametrize("ending", FAILURES)
def test_exit_zero_softens_nothing_else(stand_in, ending):
    done = stand_in(ending, "estimate", "x.csv", "--exit-zero")
    assert (done.returncode, done.stdout) == (FAILURES[ending], "")
    assert done.stderr.startswith("Error: ")


MET = ["met", "estimate", "x.csv"]
CLOSED = [[*MET, "-f", "table"], [*MET, "-f", "json"], ["--help"], ["--version"], ["schema"]]
CLOSED += [["estimate", "--help"], ["simulate", "laplace-1"]]


@pytest.mark.parametrize("arguments", CLOSED)
def test_a_closed_pipe_ends_quietly(environment, tmp_path, arguments):
    start = [sys.executable, "-m", "mipaudit"]
    command = _stand_in(arguments) if arguments[0] == "met" else [*start, *arguments]
    read, write = os.pipe()
    os.close(read)
    options = {"env": environment, "cwd": tmp_path, "stdout": write, "stderr": subprocess.PIPE}
    try:
        done = subprocess.run(command, check=False, **options)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_control_c_while_it_works(environment, tmp_path):
    process = subprocess.Popen(
        _stand_in(["slow", "estimate", "x.csv", "-o", "out.json", "-f", "json"]),
        env={**environment, "STAND_IN_TOUCH": str(tmp_path / "started")},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not (tmp_path / "started").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert out == b""
    assert b'"code": "interrupted"' in err
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["started"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output(environment, tmp_path):
    options = {"env": environment, "cwd": tmp_path, "stderr": subprocess.PIPE}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(_stand_in(MET), stdout=full, check=False, **options)

    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: The output cannot be written")
    assert done.stderr.count(b"\n") == 2


def _stand_in(arguments):
    return [sys.executable, str(TESTS / "fixtures" / "stand_in.py"), *arguments]
