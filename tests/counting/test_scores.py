"""Several large CSV files are parsed at a time, with the same rows as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import mipaudit
from tests.fixtures.codes import refused
from tests.fixtures.parts import plain

ROWS = 140_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files above 4 MiB, with a key of text in each row."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(2)
    for name in "abc":
        member = rng.random(ROWS) < 0.5
        score = rng.normal(size=ROWS) + 0.2 * member
        (folder / f"{name}.csv").write_text(
            "split,loss,key\n"
            + "".join(
                f"{'train' if member[at] else 'test'},{one!r},{name}-{at}\n"
                for at, one in enumerate(score.tolist())
            )
        )
    assert min(path.stat().st_size for path in folder.iterdir()) > 4 << 20
    return folder


def test_files_that_are_parsed_at_a_time_are_those_of_one_thread(folder):
    found = [plain(mipaudit.estimate(folder, jobs=jobs, key_col="key")) for jobs in (1, 2)]
    assert found[0] == found[1]


def test_a_file_that_cannot_be_parsed(folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "b.csv").open("a") as stream:
        stream.write("train,0.5\n")
    assert "b.csv" in refused("ragged_rows", mipaudit.estimate, tmp_path, jobs=2).message
    found = mipaudit.estimate(tmp_path, jobs=2, on_bad_part="skip")
    assert "bad_parts_skipped" in [finding.code for finding in found.findings]
    assert found.design.n_members + found.design.n_holdout == 2 * ROWS
