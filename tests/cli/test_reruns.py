"""Two runs of a command write the same bytes, in every form, at a given time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.fixtures.commands import RUNS

EPOCH = {"SOURCE_DATE_EPOCH": "1767225600"}
# The others write no report, or, as of the disk, another one every time.
COMMANDS = {name: RUNS[name] for name in RUNS.keys() - {"schema", "doctor"}}
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
        (*arguments, "-f", "json", "-q"), environment=dict(os.environ), folder="."
    )
    assert done.returncode in {0, 1, 3}, (command, done.stderr)
    path = f"{command}.report"
    Path(path).write_text(done.stdout)
    for form in ("table", "json", "csv", "markdown", "html", "junit"):
        written[f"{path} {form}"] = encode(read_report(path), form, to_file=True).decode()
json.dump(written, sys.stdout)
"""


def test_the_same_bytes(command_folder, environment):
    """With another hash seed: what depends on the order of sets would differ."""

    def written(seed):
        done = subprocess.run(
            [sys.executable, "-c", WRITE, json.dumps(COMMANDS)],
            env={**environment, **EPOCH, "PYTHONHASHSEED": seed},
            cwd=command_folder,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first, second = written("1"), written("2")
    assert len(first) == 6 * len(COMMANDS)
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_rendering_later_writes_the_bytes_of_the_command(mipaudit, command_folder, form):
    folded = {**EPOCH, "MIPAUDIT_FULL": "false"}  # as rendered later, where no `full` is
    at_once = mipaudit("estimate", "scores.parquet", "-q", "-f", form, env=folded)
    as_json = mipaudit("estimate", "scores.parquet", "-q", "-f", "json", env=EPOCH)
    later = mipaudit("render", "-", "-f", form, input=as_json.stdout)

    assert later.stdout == at_once.stdout
