"""What a summary keeps to itself, so that it may leave a secure room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import InputError
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.summaries.tally import Summary


def require_sizes(sizes: tuple[int, int], least: int) -> None:
    """Refuse an input of which a class itself is too small to be told."""
    if any(0 < size < least for size in sizes):
        raise InputError(
            "too_few_rows",
            f"One class has fewer than {least} records, and how many there are is told.",
            hint="Put parts together first, or ask for a smaller `min_cell`.",
        )


def hushed_rows(rows: int, counted: int, least: int) -> int:
    """Return the rows of the input; where few of them were left out, more than there are.

    What was counted is told, too: the difference must be of nobody or of enough records.
    """
    return counted + least if 0 < rows - counted < least else rows


def told_findings(findings: Sequence[Finding], least: int | None) -> tuple[Finding, ...]:
    """Return what is said of rows left out; of few rows not even how many."""
    if least is None:
        return tuple(findings)
    return tuple(
        Finding(code=one.code, text="Rows were left out or changed; how many is not told.")
        for one in findings
    )


def require_large(summary: Summary, least: int) -> None:
    """Refuse counts that are too small to be told, and a score of which nothing is left to tell."""
    if any(one.single.size == 1 for one in summary.columns):
        raise InputError(
            "too_few_rows",
            f"Too few rows to cut a score where every count is of at least {least} records.",
            hint="Put parts together first, or ask for a smaller `min_cell`.",
        )
    smallest = summary.smallest_count()
    if smallest is not None and smallest < least:
        small = sum(int(((one.blocks > 0) & (one.blocks < least)).sum()) for one in summary.columns)
        raise InputError(
            "small_counts",
            f"{count_text(small)} counts are of fewer than {least} records each.",
            hint="This input is too small for this `min_cell`, or unlike the cuts: "
            "put parts together, or ask for a smaller one.",
        )
