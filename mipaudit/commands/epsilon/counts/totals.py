"""Counts that stand in for scores in ``epsilon``."""

from __future__ import annotations

from typing import NamedTuple

from mipaudit.errors import UsageError


class AttackTable(NamedTuple):
    """Guesses of an attack that was fixed beforehand, on independent runs."""

    tp: int
    fn: int
    fp: int
    tn: int


class CanaryTotals(NamedTuple):
    """Guesses about canaries of which only the totals are known."""

    canaries: int
    guesses: int
    correct: int


def attack_table(
    tp: int | None, fn: int | None, fp: int | None, tn: int | None
) -> AttackTable | None:
    """Return the counts of independent runs, or None where none is given.

    Raises:
        UsageError: not all four, or no run of a kind.
    """
    if tp is None and fn is None and fp is None and tn is None:
        return None
    if tp is None or fn is None or fp is None or tn is None:
        raise UsageError(
            "counts", "The counts of an attack are `tp`, `fn`, `fp` and `tn`, all four."
        )
    if not (tp + fn > 0 and fp + tn > 0):
        raise UsageError(
            "counts",
            "There must be runs with the record (`tp` + `fn`) and runs without it (`fp` + `tn`).",
        )
    return AttackTable(tp, fn, fp, tn)


def canary_totals(
    canaries: int | None, guesses: int | tuple[int, int] | None, correct: int | None
) -> CanaryTotals | None:
    """Return the counts of one run, or None where none is given.

    Raises:
        UsageError: not all three, or guesses of two kinds.
    """
    if canaries is None and correct is None:
        return None
    if canaries is None or guesses is None or correct is None:
        raise UsageError(
            "counts",
            "The counts of one run are `canaries`, `guesses` and `correct`, all three.",
        )
    if isinstance(guesses, tuple):
        raise UsageError(
            "guesses", "Beside `canaries`, `guesses` takes one number: all guesses made."
        )
    return CanaryTotals(canaries, guesses, correct)
