"""Several large CSV files are parsed at a time, with the same rows as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import mipaudit
from mipaudit.counting import retried_reading
from mipaudit.engine.workers import ProcessPool
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
                f"{'train' if inside else 'test'},{value!r},{name}-{at}\n"
                for at, (inside, value) in enumerate(
                    zip(member.tolist(), score.tolist(), strict=True)
                )
            )
        )
    assert min(path.stat().st_size for path in folder.iterdir()) > 4 << 20
    return folder


@pytest.fixture
def sent(monkeypatch):
    """Return the files that processes were given."""
    given = []
    real = ProcessPool.submit

    def submit(self, task, /, *arguments):
        given.append(arguments[0].name.rpartition("/")[2])
        return real(self, task, *arguments)

    monkeypatch.setattr(ProcessPool, "submit", submit)
    monkeypatch.setattr(retried_reading, "_WORTH_PROCESSES", 1)
    return given


def test_text_is_parsed_by_processes_and_numbers_by_threads(folder, sent):
    keyed = {"key_col": "key"}
    assert plain(mipaudit.estimate(folder, jobs=2, **keyed)) == plain(
        mipaudit.estimate(folder, jobs=1, **keyed)
    )
    assert sent == ["a.csv", "b.csv", "c.csv"]
    sent.clear()
    mipaudit.estimate(folder, jobs=2, engine="threads", **keyed)
    assert sent == []


def test_a_file_that_a_process_cannot_parse(folder, sent, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "b.csv").open("a") as stream:
        stream.write("train,0.5\n")
    with pytest.raises(mipaudit.InputError) as caught:
        mipaudit.estimate(tmp_path, jobs=2)
    assert caught.value.code == "ragged_rows"
    assert "b.csv" in caught.value.message
    found = mipaudit.estimate(tmp_path, jobs=2, on_bad_part="skip")
    assert "bad_parts_skipped" in [finding.code for finding in found.findings]
    assert found.design.n_members + found.design.n_holdout == 2 * ROWS
