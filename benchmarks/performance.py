"""Runs every benchmark and writes `docs/performance.md` from what was measured.

    python benchmarks/performance.py [--quick [--write]] [--command mipaudit]

Quick runs leave the page alone unless asked to write it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import canary_auditor
import csv_scale
import epsilon
import growth
import measure
import parquet_scale
import performance_page
import replication
import roc_curve
import small_csv
import startup

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
BENCHMARKS: Final = {
    "Starting up": startup,
    "A small file": small_csv,
    "One audit in memory": replication,
    "Large Parquet": parquet_scale,
    "Large CSV": csv_scale,
    "Beside what others compute": roc_curve,
    "Epsilon": epsilon,
    "Epsilon from canaries": canary_auditor,
    "Growth": growth,
}


def results(chosen: measure.Settings) -> tuple[dict[str, Any], int]:
    """Run all benchmarks; return what was measured, and 1 if a budget was missed."""
    tables: dict[str, list[dict[str, Any]]] = {}
    status = 0
    for title, benchmark in BENCHMARKS.items():
        print(f"\n## {title}\n", flush=True)
        seen = len(measure.ROWS)
        status |= benchmark.main()
        tables[title] = [asdict(row) for row in measure.ROWS[seen:]]
    return {
        "quick": chosen.quick,
        "day": datetime.now(UTC).date().isoformat(),
        "machine": performance_page.machine(),
        "versions": performance_page.versions(),
        "tables": {title: rows for title, rows in tables.items() if rows},
        "growth": [asdict(point) for point in growth.POINTS],
    }, status


def main() -> int:
    """Run, print and write; return 1 when a budget is missed."""
    chosen = measure.settings(__doc__)
    found, status = results(chosen)
    if chosen.write or not chosen.quick:
        text = json.dumps(found, indent=1) + "\n"
        (DOCS / "performance.json").write_text(text, encoding="utf-8")
        performance_page.write(DOCS)
    return status


if __name__ == "__main__":
    sys.exit(main())
