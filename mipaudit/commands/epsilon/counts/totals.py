"""Counts that stand in for scores in ``epsilon``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mipaudit.options.plain_values import require, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE: Final = ("tp", "fn", "fp", "tn")
_LARGEST_COUNT: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackTable:
    """Guesses of an attack that was fixed beforehand, on independent runs."""

    tp: int
    fn: int
    fp: int
    tn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryTotals:
    """Guesses about canaries of which only the totals are known."""

    canaries: int
    guesses: int
    correct: int


def attack_table(given: Mapping[str, Any]) -> AttackTable | None:
    """Return the counts of independent runs, or None where none is given.

    Raises:
        UsageError: not all four, or no run of a kind.
    """
    if all(given[name] is None for name in TABLE):
        return None
    require(
        all(given[name] is not None for name in TABLE),
        "counts",
        "The counts of an attack are --tp, --fn, --fp and --tn, all four.",
    )
    tp, fn, fp, tn = (_count(name, given[name]) for name in TABLE)
    require(
        tp + fn > 0 and fp + tn > 0,
        "counts",
        "There must be runs with the record (tp + fn) and runs without it (fp + tn).",
    )
    return AttackTable(tp=tp, fn=fn, fp=fp, tn=tn)


def canary_totals(given: Mapping[str, Any]) -> CanaryTotals | None:
    """Return the counts of one run, or None where none is given.

    Raises:
        UsageError: not all three, or no whole numbers.
    """
    names = ("canaries", "guesses", "correct")
    if given["canaries"] is None and given["correct"] is None:
        return None
    require(
        all(given[name] is not None for name in names),
        "counts",
        "The counts of one run are --canaries, --guesses and --correct, all three.",
    )
    require(
        not isinstance(given["guesses"], (tuple, list)),
        "guesses",
        "Beside --canaries, --guesses takes one number: all guesses made.",
    )
    canaries, guesses, correct = (_count(name, given[name]) for name in names)
    return CanaryTotals(canaries=canaries, guesses=guesses, correct=correct)


def _count(name: str, value: object) -> int:
    count = whole(name, value)
    require(
        0 <= count <= _LARGEST_COUNT, name, f"--{name} must be at least 0 and at most 1000000000."
    )
    return count
