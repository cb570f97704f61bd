"""Runs every benchmark and writes `docs/reference/performance.md` from what was measured.

    python benchmarks/performance.py [--quick [--write]] [--only parquet_scale]

Quick runs leave the page alone unless asked to write it; with ``--only`` the tables of
the other benchmarks stay as they are.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import csv_scale
import epsilon
import groups
import growth
import measure
import parquet_scale
import performance_page
import replication
import roc_curve
import small_csv
import stages
import startup

if TYPE_CHECKING:
    from collections.abc import Iterable

DOCS: Final = Path(__file__).resolve().parents[1] / "docs" / "reference"
BENCHMARKS: Final = {
    "Starting up": startup,
    "A small file": small_csv,
    "One audit in memory": replication,
    "Many groups": groups,
    "Large Parquet": parquet_scale,
    "Large CSV": csv_scale,
    "Beside what others compute": roc_curve,
    "Epsilon": epsilon,
    "Growth": growth,
    "Stages": stages,
}


def results(chosen: measure.Settings, titles: Iterable[str]) -> tuple[dict[str, Any], int]:
    """Run some benchmarks; return what was measured, and 1 if a budget was missed."""
    tables: dict[str, list[dict[str, Any]]] = {}
    status = 0
    load = list(os.getloadavg())
    for title in titles:
        print(f"\n## {title}\n", flush=True)
        seen = len(measure.ROWS)
        status |= BENCHMARKS[title].main()
        tables[title] = [asdict(row) for row in measure.ROWS[seen:]]
    return {
        "quick": chosen.quick,
        "day": datetime.now(UTC).date().isoformat(),
        "machine": performance_page.machine(),
        "load": load,
        "versions": performance_page.versions(),
        "tables": {title: rows for title, rows in tables.items() if rows},
        "growth": [asdict(point) for point in grown()],
        "stages": [asdict(one) for one in stages.MEASURED],
    }, status


def grown() -> list[growth.Point]:
    """Return what is known of growth: all that was measured for it, or else beside it."""
    return growth.POINTS or [
        growth.Point(format="Parquet", rows=rows, cost=cost)
        for rows, cost in parquet_scale.MEASURED.items()
    ]


def renewed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return stored results with what was measured again."""
    points = {(point["format"], point["rows"]): point for point in old["growth"]}
    points |= {(point["format"], point["rows"]): point for point in new["growth"]}
    tables = old["tables"] | new["tables"]
    parts = {one["what"]: one for one in (*old.get("stages", ()), *new["stages"])}
    return new | {
        "tables": tables,
        "growth": list(points.values()),
        "stages": list(parts.values()),
    }


def main() -> int:
    """Run, print and write; return 1 when a budget is missed."""
    chosen = measure.settings(__doc__)
    titles = [
        title
        for title, benchmark in BENCHMARKS.items()
        if chosen.only in {None, benchmark.__name__}
    ]
    found, status = results(chosen, titles)
    if chosen.write or not chosen.quick:
        path = DOCS / "performance.json"
        if chosen.only:
            found = renewed(json.loads(path.read_text(encoding="utf-8")), found)
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        performance_page.write(DOCS)
    return status


if __name__ == "__main__":
    sys.exit(main())
