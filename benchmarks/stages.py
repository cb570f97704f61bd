"""Where the time of one estimate goes, on one thread: CPU seconds of its stages."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import measure
import scores

if TYPE_CHECKING:
    from collections.abc import Iterator

PARQUET: Final = 100_000_000
CSV: Final = 10_000_000
# What is timed, as module:name, and what it is called; each is less what lies in those below it.
_FILES: Final = "mipaudit.data.formats.parquet:RowGroup._batches"
_STAGES: Final = {
    "mipaudit.commands.estimate.run:read_input": "the rest",
    "mipaudit.commands.estimate.run:audit": "limits and the report",
    "mipaudit.counting.counts:early_plan": "cut points from the first rows",
    "mipaudit.counting.counts:make_plan": "cut points from the burn-in",
    "mipaudit.data.formats.csv_file:CsvPart.load": "checking and keeping the text's columns",
    "mipaudit.data.formats.csv_file:read_block": "parsing by Arrow",
    _FILES: "decoding by Arrow",
    "mipaudit.data.source:PiecePartition.rows": "columns to rows, checked",
    "mipaudit.summaries.tally:rank_bytes": "blocks of rows",
    "mipaudit.summaries.plan:BurnInSample.take": "burn-in sample",
    "mipaudit.summaries.tally:_Streamed.add": "cells and counts",
    "mipaudit.summaries.tally:CellCodes.__call__": "cells of scores",
    "mipaudit.summaries.tally:CodeCounter.add": "counting codes",
}
_CODE: Final = """
import functools, importlib, json, sys, time
started = time.process_time()
stages, path = json.loads(sys.argv[1]), sys.argv[2]
spent, inside = dict.fromkeys(stages.values(), 0.0), []

def begin():
    inside.append(0.0)
    return time.thread_time()

def end(since, label):
    took = time.thread_time() - since
    spent[label] += took - inside.pop()
    if inside:
        inside[-1] += took

def timed(work, label):
    @functools.wraps(work)
    def timing(*some, **named):
        since = begin()
        try:
            return work(*some, **named)
        finally:
            end(since, label)
    return timing

def timed_steps(work, label):
    @functools.wraps(work)
    def timing(*some, **named):
        steps = iter(work(*some, **named))
        step = timed(lambda: next(steps, None), label)
        while (one := step()) is not None:
            yield one
    return timing

for place, label in stages.items():
    module, _, name = place.partition(":")
    *owner, name = name.split(".")
    home = functools.reduce(getattr, owner, importlib.import_module(module))
    wrapper = timed_steps if name == "_batches" else timed
    setattr(home, name, wrapper(getattr(home, name), label))
import numpy.random, pyarrow.parquet, scipy.special
from mipaudit.commands.estimate.run import estimate
loaded = time.process_time() - started
estimate(path, jobs=1)
print(json.dumps({"loading": loaded} | spent))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """CPU seconds by stage, the costliest first."""

    what: str
    seconds: dict[str, float]

    def lines(self) -> Iterator[str]:
        """Yield a table."""
        total = sum(self.seconds.values())
        yield f"| {self.what} | CPU s | share |\n|---|--:|--:|"
        for stage, spent in sorted(self.seconds.items(), key=lambda pair: -pair[1]):
            if spent >= total / 200:
                yield f"| {stage} | {spent:.2f} | {spent / total:.0%} |"


# What was measured, for whoever writes the page.
MEASURED: Final[list[Stages]] = []


def stages_of(what: str, path: Path) -> Stages:
    """Return where the time of an estimate goes."""
    done = subprocess.run(
        (sys.executable, "-c", _CODE, json.dumps(_STAGES), str(path)),
        env=measure.environment() | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return Stages(what=what, seconds=json.loads(done.stdout))


def main() -> int:
    """Print the tables; there is no budget to miss."""
    chosen = measure.settings(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, write in (
            ("Parquet", chosen.rows(PARQUET), scores.write_parquet),
            ("CSV", chosen.rows(CSV), scores.write_csv),
        ):
            path = Path(folder, f"scores.{name.lower()}")
            write(path, rows)
            MEASURED.append(stages_of(f"{rows:.0e} {name} rows, one thread", path))
            path.unlink()
            print("\n".join(MEASURED[-1].lines()), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
