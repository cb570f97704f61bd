"""Who does the work, as the command line says it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.mark.parametrize("command", ["estimate", "check", "records"])
def test_processes_give_the_same_report(mipaudit, tmp_path, command):
    rng = np.random.default_rng(1)
    (tmp_path / "scores").mkdir()
    for at in range(3):
        member = rng.random(400) < 0.5
        table = pa.table({"member": member, "loss": rng.normal(size=400) + 0.5 * member})
        pq.write_table(table, tmp_path / "scores" / f"{at}.parquet", row_group_size=100)
    found = []
    for how in (("--jobs", "1"), ("--engine", "processes", "--jobs", "2")):
        done = mipaudit(command, "scores", "-f", "json", *how)
        assert (done.returncode, done.stderr) == (0, "")
        found.append(json.loads(done.stdout))
        recorded = {one["name"] for one in found[-1].pop("provenance")["settings"]}
        assert not recorded & {"jobs", "engine", "scheduler", "executor"}
        assert "on_bad_part" in recorded
    assert found[0] == found[1]
