"""What an attack rules out: one of the three questions of ``bounds``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.bounds.options import BoundsOptions
from mipaudit.commands.bounds.refutation import Counts, refutation

if TYPE_CHECKING:
    from mipaudit.commands.bounds.report import BoundsReport

_LIMITATIONS: Final = (
    (
        "What is ruled out is a guarantee for the pairs of inputs that the attack told apart: "
        "epsilon by add or remove where a record was there or not, by substitution where a member "
        "was exchanged for a holdout record. A better attack may rule out more."
    ),
    (
        "The rates must be of independent trials of the mechanism. Members and holdout of one "
        "trained model are not: they rule out no epsilon."
    ),
    (
        "The attack must have been fixed before its rates were counted: a threshold chosen on the "
        "same data makes the limits too high."
    ),
)


def what_is_ruled_out(asked: BoundsOptions, empty: BoundsReport) -> BoundsReport:
    """Return the report on what the attack rules out."""
    counts, tpr, fpr = _attack(asked)
    refuted = refutation(
        tpr=tpr,
        fpr=fpr,
        delta=asked.delta or 0.0,
        counts=counts,
        confidence=asked.confidence,
    )
    return replace(empty, refuted=refuted, limitations=_LIMITATIONS)


def _attack(asked: BoundsOptions) -> tuple[Counts | None, float, float]:
    match asked:
        case BoundsOptions(tp=int(tp), fn=int(fn), fp=int(fp), tn=int(tn)):
            return Counts(tp=tp, fn=fn, fp=fp, tn=tn), tp / (tp + fn), fp / (fp + tn)
        case BoundsOptions(tpr=float(tpr), fpr=float(fpr)):
            return None, tpr, fpr
    raise AssertionError("no attack is given")
