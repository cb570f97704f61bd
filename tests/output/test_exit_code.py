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


@pytest.mark.parametrize(
    ("ending", "code"), [("met", 0), ("no_policy", 0), ("not_met", 1), ("inconclusive", 3)]
)
def test_the_verdict_sets_the_exit_code(stand_in, ending, code):
    done = stand_in(ending, "estimate", "x.csv", "-f", "json")

    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize("ending", ["met", "no_policy", "not_met", "inconclusive"])
def test_exit_zero_softens_verdicts(ending):
    report = SimpleNamespace(verdict=Verdict(status=ending, reasons=()))

    assert report_exit(report, exit_zero=True) == 0


@pytest.mark.parametrize(
    ("ending", "code"), [("input", 2), ("bug", 70), ("memory", 2), ("disk", 2), ("interrupt", 130)]
)
def test_exit_zero_softens_nothing_else(stand_in, ending, code):
    done = stand_in(ending, "estimate", "x.csv", "--exit-zero")

    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("Error: ")


@pytest.mark.parametrize(
    "arguments",
    [
        *(["met", "estimate", "x.csv", "-f", form] for form in ("table", "json")),
        *(["--help"], ["--version"], ["estimate", "--help"], ["schema"]),
    ],
)
def test_a_closed_pipe_ends_quietly(environment, tmp_path, arguments):
    command = [sys.executable, "-m", "mipaudit", *arguments]
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            _stand_in(arguments) if arguments[0] == "met" else command,
            env=environment,
            cwd=tmp_path,
            stdout=write,
            stderr=subprocess.PIPE,
            check=False,
        )
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
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            _stand_in(["met", "estimate", "x.csv"]),
            env=environment,
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: The output cannot be written")
    assert done.stderr.count(b"\n") == 2


def _stand_in(arguments):
    return [sys.executable, str(TESTS / "fixtures" / "stand_in.py"), *arguments]
