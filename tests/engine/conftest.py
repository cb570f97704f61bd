"""Inputs in many parts, and reports without what may differ between equal runs."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.report.codec import to_json

ROWS = 6_000


def columns(rows=ROWS, seed=4):
    rng = np.random.default_rng(seed)
    member = rng.random(rows) < 0.5
    return {"member": member, "loss": rng.normal(size=rows) + 0.3 * member}


def write_parts(folder, cuts, *, group=500, table=None):
    """Write rows ``cuts[i]`` to ``cuts[i+1]`` to a file each."""
    table = pa.table(columns() if table is None else table)
    folder.mkdir(exist_ok=True)
    edges = [0, *cuts, table.num_rows]
    for at, (start, stop) in enumerate(pairwise(edges)):
        part = table.slice(start, stop - start)
        pq.write_table(part, folder / f"part-{at:03}.parquet", row_group_size=group)
    return folder


def plain(report):
    """Return a report as the bytes that must not depend on the engine."""
    found = json.loads(to_json(report))
    del found["provenance"]
    return json.dumps(found)


@pytest.fixture
def parts(tmp_path):
    return write_parts(tmp_path / "parts", (1_700, 2_000, 4_321))
