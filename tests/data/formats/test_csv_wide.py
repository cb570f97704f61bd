"""The work on a wide file grows as its width, not as its square."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mipaudit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 24


def save(path: Path, width: int, *, seed: int, member: bool) -> str:
    draw = np.random.default_rng(seed)
    columns = {f"f{at}": draw.normal(size=ROWS) for at in range(width)}
    if member:
        columns["member"] = np.arange(ROWS) % 2 == 0
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
        return str(path)
    lines = [",".join(columns)]
    lines += [",".join(f"{column[row]:.6g}" for column in columns.values()) for row in range(ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def one(ask: Callable[..., object]) -> Callable[[Path, str, int], object]:
    def run(folder: Path, suffix: str, width: int) -> object:
        return ask(save(folder / f"s{suffix}", width, seed=0, member=True))

    return run


def two(ask: Callable[..., object]) -> Callable[[Path, str, int], object]:
    def run(folder: Path, suffix: str, width: int) -> object:
        places = [save(folder / f"{at}{suffix}", width, seed=at, member=False) for at in (1, 2, 3)]
        return ask(*places)

    return run


def distance(members: str, holdout: str, synthetic: str) -> object:
    return mipaudit.query(["nn"], members=members, holdout=holdout, synthetic=synthetic)


COMMANDS = {
    "estimate": one(mipaudit.estimate),
    "check": one(mipaudit.check),
    "shift": two(lambda members, holdout, _: mipaudit.shift(members, holdout)),
    "query": two(distance),
}


def calls(work: Callable[[], object]) -> int:
    """Return how many functions and generators were entered, which no other load changes."""
    count = 0

    def on_event(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("command", "suffix"), [*((command, ".csv") for command in COMMANDS), ("shift", ".parquet")]
)
def test_four_times_as_wide_is_four_times_the_work(tmp_path, command, suffix):
    run = COMMANDS[command]
    run(tmp_path, suffix, 3)  # loads what is loaded once
    narrow, wide = (calls(lambda w=w: run(tmp_path, suffix, w)) for w in (120, 480))
    assert wide < 5 * narrow


@pytest.mark.parametrize("command", ["estimate", "check", "attack"])
def test_of_more_scores_than_can_be_judged_some_must_be_named(mipaudit, tmp_path, command):
    names = [f"s{at}" for at in range(1025)]
    lines = [",".join(["member", *names]), *(f"{at % 2}" + f",{at / 8}" * 1025 for at in range(40))]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")

    done = mipaudit(command, "wide.csv")
    named = mipaudit(command, "wide.csv", "--score-col", "s7", "-q")

    assert (done.returncode, done.stdout, named.returncode) == (2, "", 0)
    assert "There are 1,025 scores, and at most 1,024 are audited together" in done.stderr
    assert "--score-col" in done.stderr
