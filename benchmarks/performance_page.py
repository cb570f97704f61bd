"""Writes `docs/reference/performance.md` and its plot from `docs/reference/performance.json`.

Run by itself it writes the page again from the same results.
"""

from __future__ import annotations

import json
import os
import platform
import textwrap
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import measure
from growth import Point, line
from stages import Stages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LIBRARIES: Final = ("numpy", "scipy", "pyarrow", "pandas", "polars", "duckdb", "scikit-learn")
_WIDTH: Final = 100
# Less load than this before a run is none that matters.
_QUIET: Final = 0.5
_PLOT: Final = "performance-growth.svg"
_HEAD: Final = """# Performance

`make bench` runs the installed command with all its defaults, prints these tables and writes this
page{quick}. Every figure is the median of runs that take turns, beside the least and the largest
ratio of these ("of runs"); what has no spread was run once. CPU
seconds are user and system time of the whole process tree, start-up included on both sides unless
a row says "in memory", and memory is the peak of the whole tree. The ratio is of CPU seconds unless
it says otherwise. Absolute times belong to one machine and drift; the ratios are what the budgets
are about.

Measured on {day}: {machine}{load}. {versions}.
"""
# By table, why a budget is missed: every one that is has a reason here.
_WHY: Final = {
    "Starting up": "`--version`, which loads typer and little else, takes two thirds of it; the "
    "rest is the command's own options, sums, report and page.",
    "A small file": "Most of it is loading numpy, scipy.special and the program's own modules.",
    "One audit in memory": "It averages over many assignments of the rows, in more than a thousand "
    "calls of numpy whatever the rows; running sums, minima and products over the cells, which "
    "numpy does not make faster, take most of what is allowed.",
    "Large Parquet": "Of 10^6 rows: beside the imports there are two decodings, the sort and the "
    "hash that make the seed follow from the rows, and the limits, of which a third is the "
    "curve. Of 10^8: numpy locates and counts a row in a dozen passes, in 13 ns with all checks; a "
    "compiled kernel would need 8. Arrow takes 5 ns more to turn each membership into a bit, which "
    "is half of what decoding takes. Loading, the plan and the limits are one process's, a fifth "
    "of what one takes.",
    "Large CSV": "Loading, the counts and the limits come on top of parsing, which with Arrow's "
    "own import takes about four fifths of the fastest reader's whole run.",
}
_TAIL: Final = """## What the figures rest on

- A large Parquet file is decoded once. A file that is sorted by score or by class, or that drifts,
  is decoded twice: cut points from its first rows do not serve.
- A row's two cells, of the fine and of the coarse division, come from one table of equal-width
  buckets; of a smooth score about a hundredth of the rows lie in a bucket that is divided further.
  The block of a row is a byte of a counter-based generator, thirty-two rows to one of its steps.
- A score of many magnitudes and one sign, such as a loss from 10^-9 to 10, has such a table too, on
  the order of floats: 20 ns a row to locate and count it, where equal widths take 10. Where neither
  resolves it (probabilities within 10^-10 of one, many magnitudes of both signs) rows are searched
  for: 110 to 140 ns a row.
- Rows are counted on two threads where there are two processors, from 8 x 10^6 Parquet rows on in
  two processes: the program forks once all is loaded and planned. Of 10^8 rows they take .64 of the
  time of one by the clock and 1.06 of its CPU time; two threads, which wait for Python's lock, take
  .74 and 1.25. There are no forks in somebody else's Python program, on macOS and Windows, and of
  files that are far away.
- The most memory is taken at 2^21 rows, the largest input whose scores are kept: about 390 MiB.
- CSV is parsed by Arrow with its types given, two MiB at a time on all threads: .60 s for 10^7 rows
  on one, where pandas takes 1.0 and pandas' import .2. Arrow's own import is a tenth of the time
  that 10^4 rows take.
- What a compiled kernel would give: one that locates and counts a row in a single pass takes 8 ns
  of CPU time a row where numpy's passes take 13 (one thread, other work beside). That is half a
  second of 10^8 rows, 0.4 of the ratio to decoding; it is not worth a compiler for every platform.
- What was tried and gave nothing for 10^8 rows: batches of half and of two, four times the rows;
  steps of numpy joined by casting as they write; slices of a batch that fit a nearer cache;
  counters of 16 and of 64 bits; counting that only one thread does at a time (4% of CPU time,
  none of the clock's). What would give most is to read the pages of a membership column past Arrow.

## Installing

From one folder of wheels, without a network, with Python 3.11: `pip install` of mipaudit takes
1.13 times the CPU time of that of numpy, scipy, pandas, pyarrow and matplotlib (20.9 s beside
18.5). It and its other libraries have 12 MB of files, and 26 MB once Python has compiled them: most
are its own modules and pygments, which rich brings.
"""


def write(docs: Path) -> None:
    """Write the page and the plot into ``docs`` from the results there."""
    found = json.loads((docs / "performance.json").read_text(encoding="utf-8"))
    points = [_point(point) for point in found["growth"]]
    (docs / "performance.md").write_text("\n".join(_page(found, points)), encoding="utf-8")
    if points:
        _draw(points, docs / _PLOT)


def _page(found: Mapping[str, Any], points: Sequence[Point]) -> Iterator[str]:
    yield _HEAD.format(
        quick=" (this one from `--quick`: a tenth of the rows)" if found["quick"] else "",
        day=found["day"],
        machine=found["machine"],
        load=_busy(found.get("load")),
        versions=", ".join(f"{name} {number}" for name, number in found["versions"].items()),
    )
    if "note" in found:  # of what changed since; a new run has none
        yield "\n".join(textwrap.wrap(found["note"], _WIDTH)) + "\n"
    tables = {title: [*map(_row, table)] for title, table in found["tables"].items()}
    budgets = [row for table in tables.values() for row in table if row.budget is not None]
    missed = {title: [row for row in table if not row.kept] for title, table in tables.items()}
    count = sum(map(len, missed.values()))
    yield f"**{len(budgets) - count} of {len(budgets)} budgets are met.**"
    if count:
        yield "Missed, and why:\n"
    for title, some in missed.items():
        yield from map(_missed, some)
        if some:
            why = textwrap.fill(_WHY[title], _WIDTH, initial_indent="  ", subsequent_indent="  ")
            yield f"\n{why}\n"
    yield ""
    for title, table in found["tables"].items():
        yield f"## {title}\n\n{measure.HEADER}"
        yield from (_row(row).line() for row in table)
        yield ""
    if points:
        yield "## Growth\n"
        yield f"![CPU seconds and peak memory against rows]({_PLOT})\n"
        yield "| rows | format | CPU s | wall s | CPU s per 10^7 rows | peak MiB |"
        yield "|--:|---|--:|--:|--:|--:|"
        yield from map(line, points)
        yield ""
    if found.get("stages"):
        yield "## Where the time goes\n"
        yield "Of a run in which its parts are timed, which takes a little longer.\n"
    for one in found.get("stages", ()):
        yield from Stages(**one).lines()
        yield ""
    yield _TAIL


def _busy(load: Sequence[float] | None) -> str:
    """Say what else the machine did; nothing where that was not noted."""
    if load is None:
        return ""
    quiet = "a quiet machine" if load[2] < _QUIET else "**a machine that was not quiet**"
    return f", {quiet}: a load of {load[2]:.1f} in the quarter of an hour before"


def _missed(row: measure.Row) -> str:
    sign = "at least" if row.at_least else "at most"
    return f"- {row.what}, beside {row.peer}: {row.ratio:.2f}, {sign} {row.budget:g} wanted."


def _row(row: dict[str, Any]) -> measure.Row:
    return measure.Row(**{**row, "cost": _cost(row["cost"]), "beside": _cost(row["beside"])})


def _cost(stored: dict[str, Any]) -> measure.Cost:
    return measure.Cost(**{**stored, "runs": tuple(map(tuple, stored.get("runs", ())))})


def _point(point: dict[str, Any]) -> Point:
    return Point(**{**point, "cost": _cost(point["cost"])})


def _draw(points: Sequence[Point], path: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    seconds, memory = figure.subplots(1, 2)
    for kind, marker in (("Parquet", "o"), ("CSV", "s")):
        mine = [point for point in points if point.format == kind]
        rows = [point.rows for point in mine]
        seconds.loglog(rows, [p.cost.cpu for p in mine], marker=marker, label=kind)
        peaks = [p.cost.peak / measure.MEBIBYTE for p in mine]
        memory.loglog(rows, peaks, marker=marker, label=kind)
    seconds.set(xlabel="rows", ylabel="CPU seconds", title="mipaudit estimate: time")
    memory.set(xlabel="rows", ylabel="peak MiB", title="mipaudit estimate: memory", ylim=(30, 1000))
    for axes in (seconds, memory):
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    with mpl.rc_context({"svg.hashsalt": "mipaudit", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def machine() -> str:
    """Return what kind of machine this is."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    names = Path("/proc/cpuinfo")
    lines = names.read_text(encoding="utf-8").splitlines() if names.exists() else []
    models = [text.split(":", 1)[1].strip() for text in lines if text.startswith("model name")]
    return f"{cpus} processors ({models[0] if models else platform.machine()}), {platform.system()}"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are compared."""
    found = {"Python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    write(Path(__file__).resolve().parents[1] / "docs" / "reference")
