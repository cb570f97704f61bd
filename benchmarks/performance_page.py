"""Writes `docs/reference/performance.md` and its plot from `docs/reference/performance.json`.

Run by itself it writes the page again from the same results.
"""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import measure
from growth import Point, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LIBRARIES: Final = ("numpy", "scipy", "pyarrow", "pandas", "polars", "duckdb", "scikit-learn")
_PLOT: Final = "performance-growth.svg"
_HEAD: Final = """# Performance

`make bench` runs the installed command with all its defaults, prints these tables and writes this
page{quick}. Every figure is the median of interleaved runs, inputs of 10^9 rows are run once; CPU
seconds are user and system time of the whole process tree, start-up included on both sides unless
a row says "in memory", and memory is the peak of the whole tree. The ratio is of CPU seconds unless
it says otherwise. Absolute times belong to one machine and drift; the ratios are what the budgets
are about.

Measured on {day}: {machine}. {versions}.
"""
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
- Rows are counted on two threads where there are two processors; one (`--jobs 1`) takes less CPU
  time.
- A file under 4 MiB is parsed without pandas or pyarrow.
- The most memory is taken at 2^21 rows, the largest input whose scores are kept: about 310 MiB.
- Why one audit in memory misses its budget: it is some 1,700 calls of numpy, whatever the rows.
- Why CSV misses its budget: rows are parsed by pandas, and pandas alone, with its import, takes 1.2
  to 1.4 times the CPU time of the fastest reader's whole run; start-up, counting and limits come
  on top.
- Why two threads do not reach 1.7: they take 17% more CPU time than one, and of the wall time
  some .6 seconds (start-up, the plan, the limits) is one thread's at any size: 10^6 rows take .7.
- What a compiled kernel would give: one that locates and counts a row in a single pass takes 8 ns
  of CPU time a row where numpy's passes take 13 (one thread, other work beside). That is half a
  second of 10^8 rows, 0.4 of the ratio to decoding; it is not worth a compiler for every platform.
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
        versions=", ".join(f"{name} {number}" for name, number in found["versions"].items()),
    )
    rows = [_row(row) for table in found["tables"].values() for row in table]
    budgets = [row for row in rows if row.budget is not None]
    missed = [row for row in budgets if not row.kept]
    yield f"**{len(budgets) - len(missed)} of {len(budgets)} budgets are met.**"
    if missed:
        yield "Missed:\n"
        yield from (_missed(row) for row in missed)
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
    yield _TAIL


def _missed(row: measure.Row) -> str:
    sign = "at least" if row.at_least else "at most"
    return f"- {row.what}, beside {row.peer}: {row.ratio:.2f}, {sign} {row.budget:g} wanted."


def _row(row: dict[str, Any]) -> measure.Row:
    costs = {name: measure.Cost(**row[name]) for name in ("cost", "beside")}
    return measure.Row(**{**row, **costs})


def _point(point: dict[str, Any]) -> Point:
    return Point(**{**point, "cost": measure.Cost(**point["cost"])})


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
