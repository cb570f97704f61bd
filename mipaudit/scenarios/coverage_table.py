"""The coverage table: how often each limit missed the truth, and whether that is too often."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Final, Literal

_MARKDOWN_HEAD: Final = (
    "| law | members | holdout | prior | order | limit | side | nominal | coverage | misses | runs"
    " | stated | truth | mean gap | mean width | p |\n"
    "|---|--:|--:|--:|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """One side of one limit in one cell.

    Attributes:
        law: name of the law.
        n_members: members per replication.
        n_holdout: holdout records per replication.
        prior: p in (0, 1).
        order: order of the rows of the file.
        label: what the limit is of, and by which method.
        side: a ``lower`` limit misses when it is above the truth.
        nominal: coverage promised for this side alone.
        replications: how many files were drawn.
        stated: how many of them got a limit; the others cannot miss.
        misses: how many limits were on the wrong side of the truth.
        truth: mean truth (it varies only where the class depends on the data).
        mean_gap: mean distance from truth to limit, positive when it does not miss;
            None when a limit was infinite.
        mean_width: mean of upper minus lower where both were stated, else None.
    """

    law: str
    n_members: int
    n_holdout: int
    prior: float
    order: str
    label: str
    side: Literal["lower", "upper"]
    nominal: float
    replications: int
    stated: int
    misses: int
    truth: float
    mean_gap: float | None
    mean_width: float | None

    @property
    def coverage(self) -> float:
        """Share of replications without a miss, in [0, 1]."""
        return 1 - self.misses / self.replications

    @property
    def p_value(self) -> float:
        """P(at least so many misses) if the coverage is exactly nominal."""
        if self.misses == 0:
            return 1.0
        from scipy.special import betainc

        spared = self.replications - self.misses
        return float(betainc(self.misses, spared + 1, 1 - self.nominal))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTable:
    """Rows of all cells of a run."""

    rows: tuple[CoverageRow, ...]

    def markdown(self) -> str:
        """Return the table in markdown, one line per row."""
        return "\n".join([_MARKDOWN_HEAD, *map(_markdown_line, self.rows)]) + "\n"

    def json(self) -> str:
        """Return the rows as a JSON array of objects, coverage and p-value included."""
        rows = [
            {**asdict(row), "coverage": row.coverage, "p_value": row.p_value} for row in self.rows
        ]
        return json.dumps(rows, indent=1, allow_nan=False) + "\n"


def failures(table: CoverageTable, level: float = 0.01) -> tuple[CoverageRow, ...]:
    """Return the rows whose coverage is below nominal, by Holm's step-down test.

    Each row is tested exactly (binomial); the chance that a table of valid limits
    has any failure is at most ``level``.

    Args:
        table: all rows that were run; leaving some out makes the level untrue.
        level: familywise error in (0, 1).
    """
    ordered = sorted(table.rows, key=lambda row: row.p_value)
    for rank, row in enumerate(ordered):
        if row.p_value > level / (len(ordered) - rank):
            return tuple(ordered[:rank])
    return tuple(ordered)


def _markdown_line(row: CoverageRow) -> str:
    cells = (
        row.law,
        str(row.n_members),
        str(row.n_holdout),
        f"{row.prior:g}",
        row.order,
        row.label.replace("|", "\\|"),
        row.side,
        f"{row.nominal:.4g}",
        f"{row.coverage:.4f}",
        str(row.misses),
        str(row.replications),
        str(row.stated),
        f"{row.truth:.4f}",
        "-" if row.mean_gap is None else f"{row.mean_gap:.4f}",
        "-" if row.mean_width is None else f"{row.mean_width:.4f}",
        f"{row.p_value:.3g}",
    )
    return f"| {' | '.join(cells)} |"
