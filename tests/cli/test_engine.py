"""Who does the work, as the command line says it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "scores"
    path.mkdir()
    for at in range(3):
        member = rng.random(400) < 0.5
        table = pa.table({"member": member, "loss": rng.normal(size=400) + 0.5 * member})
        pq.write_table(table, path / f"{at}.parquet", row_group_size=100)
    return path


def plain(done):
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    recorded = {one["name"] for one in found.pop("provenance")["settings"]}
    assert not recorded & {"jobs", "engine", "scheduler", "executor"}
    assert "on_bad_part" in recorded
    return found


@pytest.mark.parametrize("command", ["estimate", "check", "records"])
def test_processes_give_the_same_report(mipaudit, folder, command):
    here = plain(mipaudit(command, str(folder), "-f", "json", "--jobs", "1"))
    apart = mipaudit(command, str(folder), "-f", "json", "--engine", "processes", "--jobs", "2")
    assert plain(apart) == here
    assert apart.stderr == ""


def test_a_skipped_file_leaves_the_policy_open(mipaudit, folder):
    (folder / "1.parquet").write_bytes((folder / "1.parquet").read_bytes()[:-9])
    limit = ("--max-advantage", "0.95")
    refused = mipaudit("estimate", str(folder), *limit)
    assert refused.returncode == 2
    assert "1.parquet: not a complete Parquet file" in refused.stderr
    done = mipaudit("estimate", str(folder), *limit, "--on-bad-part", "skip")
    assert done.returncode == 3
    assert "bad_parts_skipped" in done.stdout
    assert "1.parquet" in done.stdout
    assert "skipped" in done.stdout
