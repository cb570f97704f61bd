"""Time and memory of `estimate` as the rows grow, for CSV and for Parquet."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import measure
import scores
from parquet_scale import MEASURED, PARTS, in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

Format = Literal["CSV", "Parquet"]

PARQUET: Final = tuple(10**power for power in range(4, 9))
CSV: Final = tuple(10**power for power in range(4, 8))
# Larger inputs are run once: their own length averages the machine's moods.
OFTEN: Final = 10_000_000
ROUNDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one size took."""

    format: Format
    rows: int
    cost: measure.Cost


# Every point that was measured, for whoever writes the page.
POINTS: Final[list[Point]] = []


def measured(path: Path, rows: int, format: Format, chosen: measure.Settings) -> Point:  # noqa: A002
    """Return what estimating ``path`` took."""
    run = partial(measure.run, (*chosen.command, "estimate", str(path)))
    rounds = chosen.rounds(ROUNDS) if rows < OFTEN else 1
    cost = measure.interleaved({"mipaudit": run}, rounds, warm=rounds > 1)["mipaudit"]
    return Point(format=format, rows=rows, cost=cost)


def points(chosen: measure.Settings) -> Iterator[Point]:
    """Measure all sizes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.csv")
        for rows in map(chosen.rows, CSV):
            scores.write_csv(path, rows)
            yield measured(path, rows, "CSV", chosen)
        path.unlink()
        path = Path(folder, "scores.parquet")
        for rows in map(chosen.rows, PARQUET):
            if rows not in MEASURED:
                scores.write_parquet(path, rows)
                MEASURED[rows] = measured(path, rows, "Parquet", chosen).cost
            yield Point(format="Parquet", rows=rows, cost=MEASURED[rows])
        rows = PARTS * chosen.rows(max(PARQUET))
        if rows not in MEASURED:
            parts = in_parts(path, Path(folder, "parts"))
            MEASURED[rows] = measured(parts, rows, "Parquet", chosen).cost
        yield Point(format="Parquet", rows=rows, cost=MEASURED[rows])


def main() -> int:
    """Print the table; there is no budget to miss."""
    chosen = measure.settings(__doc__)
    print("| rows | format | CPU s | wall s | CPU s per 10^7 rows | peak MiB |")
    print("|--:|---|--:|--:|--:|--:|")
    for point in points(chosen):
        POINTS.append(point)
        print(line(point), flush=True)
    return 0


def line(point: Point) -> str:
    """Return a point as a row of the table."""
    cost, rows = point.cost, point.rows
    return (
        f"| {rows:,} | {point.format} | {cost.cpu:.3g} | {cost.wall:.3g} "
        f"| {cost.cpu / rows * 1e7:.3g} | {cost.peak / measure.MEBIBYTE:.0f} |"
    )


if __name__ == "__main__":
    sys.exit(main())
