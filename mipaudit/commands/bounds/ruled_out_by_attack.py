"""What an attack rules out: one of the three questions of ``bounds``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mipaudit.commands.bounds.refutation import Counts, refutation
from mipaudit.options.plain_values import number, require, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

# Settings that would do nothing.
_IDLE: Final = ("adjacency", "sensitivity", "categories")
# Beyond it a rate next to 1 has too few digits left of its complement.
_LARGEST_COUNT: Final = 10**9
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


def what_is_ruled_out(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of the report on what an attack rules out.

    Args:
        asked: the keywords of ``bounds``, checked, with an attack.

    Raises:
        UsageError: rates or counts are missing, or out of range.
    """
    idle = [name for name in _IDLE if asked[name] is not None]
    require(
        not idle,
        "attack",
        f"--{''.join(idle[:1])} has no meaning beside an attack.",
        "An attack is its rates, or its counts, and --delta.",
    )
    counts = _counts(asked)
    if counts is None:
        tpr, fpr = (_rate(name, asked[name]) for name in ("tpr", "fpr"))
    else:
        tpr, fpr = counts.tp / (counts.tp + counts.fn), counts.fp / (counts.fp + counts.tn)
    refuted = refutation(
        tpr=tpr,
        fpr=fpr,
        delta=asked["delta"] or 0.0,
        counts=counts,
        confidence=asked["confidence"],
    )
    return {"refuted": refuted, "limitations": _LIMITATIONS}


def _counts(asked: Mapping[str, Any]) -> Counts | None:
    names = ("tp", "fn", "fp", "tn")
    given = [name for name in names if asked[name] is not None]
    rates = [name for name in ("tpr", "fpr") if asked[name] is not None]
    if not given:
        require(
            len(rates) == len(("tpr", "fpr")),
            "attack",
            "An attack has two rates.",
            "Give --tpr and --fpr, or the counts --tp --fn --fp --tn.",
        )
        return None
    require(
        len(given) == len(names) and not rates,
        "attack",
        "The counts of an attack are --tp, --fn, --fp and --tn, and rates follow from them.",
    )
    counts = {name: whole(name, asked[name]) for name in names}
    require(
        min(counts.values()) >= 0 and max(counts.values()) <= _LARGEST_COUNT,
        "attack",
        "Counts must be at least 0 and at most 1e9.",
    )
    require(
        counts["tp"] + counts["fn"] > 0 and counts["fp"] + counts["tn"] > 0,
        "attack",
        "An attack is counted on members (--tp, --fn) and on holdout records (--fp, --tn): "
        "neither may be empty.",
    )
    return Counts(**counts)


def _rate(name: str, value: object) -> float:
    accepted = f"{name} must be at least 0 and at most 1."
    rate = number(name, value, accepted)
    require(0 <= rate <= 1, name, accepted)
    return rate
