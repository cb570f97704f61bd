"""``mipaudit validate`` as a command: exit codes, forms, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

TINY = (
    *("validate", "--scenario", "null-gaussian", "--sizes", "40", "--priors", "0.5"),
    *("--replications", "25"),
)
BREAKING = {
    "nothing": "",
    "a limit": (
        "import mipaudit.evidence.scores.evidence as m; m.Evidence.lower = lambda self, a: 0.4"
    ),
    "a control": (
        "import mipaudit.validation.estimands.methods as m; from dataclasses import replace; "
        "n = 'published: MACE band, 100 bins'; "
        "m.ALTERNATIVES[n] = replace(m.ALTERNATIVES[n], limits=lambda f: (0.0, 1.0))"
    ),
}


_FORMS = {"markdown": "# mipaudit validate\n\n**HOLDS", "html": "<!DOCTYPE html>"}
_FORMS |= {"table": "HOLDS", "csv": "scenario,n_members,", "junit": "<?xml"}


def run_broken(what, environment, folder, *arguments):
    code = f"{BREAKING[what]}\nfrom mipaudit.cli.app import main\nmain()\n"
    return subprocess.run(
        [sys.executable, "-c", code, *TINY, "--jobs", "1", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


OUTCOMES = [
    ("nothing", 0, "HOLDS: "),
    ("a limit", 1, "FALLS SHORT: 1 limit is right less often than promised."),
]
OUTCOMES += [("a control", 1, "NOT VALIDATED: ")]


@pytest.mark.parametrize(("what", "status", "head"), OUTCOMES)
def test_exit_code_is_the_outcome(environment, tmp_path, what, status, head):
    done = run_broken(what, environment, tmp_path)
    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.startswith(head)
    assert ("\nFalls short\n" in done.stdout) == (what == "a limit")
    assert ("these were not caught" in done.stdout) == (what == "a control")
    # Heads of columns may be folded, so that the table fits.
    for part in ("worst coverage", "false alarms", "mean gap", "seed: 0"):
        assert part in done.stdout


def test_forms_agree_and_go_to_files(mipaudit, tmp_path):
    kept = ("--resume", "cells.jsonl", "-q")
    done = mipaudit(*TINY, "--jobs", "2", *kept, "-f", "json")
    assert (done.returncode, done.stderr) == (0, "")
    fields = json.loads(done.stdout)
    assert fields["provenance"]["seed"] == 0
    named = {setting["name"]: setting["source"] for setting in fields["provenance"]["settings"]}
    assert named["sizes"] == "command line"
    assert named["strict"] == "default"
    assert named.keys() & {"jobs", "resume", "format"} == set()
    # The list of finished cells says it all: the other forms compute nothing.
    for form, start in _FORMS.items():
        before = time.monotonic()
        again = mipaudit(*TINY, *kept, "-f", form, "-o", f"report.{form}")
        assert (again.returncode, again.stdout[:5], again.stderr) == (0, "HOLDS", "")
        assert time.monotonic() - before < 20
        text = (tmp_path / f"report.{form}").read_text(encoding="utf-8")
        assert text.startswith(start)
        assert form == "csv" or fields["answer"]["text"].split(".")[0].split()[-1] in text


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
@pytest.mark.parametrize("resume", [False, True])
def test_control_c_ends_all_processes_quietly(environment, tmp_path, resume):
    extra = ("--resume", "cells.jsonl") if resume else ()
    command = ("validate", "--sizes", "10000", "--replications", "9000", "--jobs", "2", *extra)
    process = subprocess.Popen(
        [sys.executable, "-m", "mipaudit", *command],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while len(group_of(process.pid)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    told = "the finished cells are kept" if resume else "nothing was written"
    assert err.startswith(f"Error: Interrupted; {told}.")
    assert "Traceback" not in err
    deadline = time.monotonic() + 10
    while group_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert group_of(process.pid) == []


def group_of(pid):
    """Return the living processes of the group that `pid` leads."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pgid=,stat="],  # noqa: S607 - wherever it is
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [state for group, state in rows if int(group) == pid and not state.startswith("Z")]
