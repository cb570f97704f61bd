"""The words for what the report's fields mean, for readers who never saw the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import percent_text

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Design

_LONGEST_TEXT: Final = 100_000

ATTACKERS: Final = {
    "any": "any attacker who sees this score",
    "thresholds": "attackers with one threshold",
    "intervals-1": "attackers with one interval",
    "intervals-4": "attackers with up to four intervals",
    "bins-16": "attackers with 16 equal-mass bins",
    "learned": "attackers with one threshold on a learned score",
    "product-grid": "attackers with a grid of cells",
}

STATUS: Final = {
    "met": "MET",
    "not_met": "NOT MET",
    "inconclusive": "INCONCLUSIVE",
    "contradicted": "CONTRADICTED",
    "consistent": "CONSISTENT",
    "vacuous": "VACUOUS",
    "not_comparable": "NOT COMPARABLE",
}

CLAIM_MEANING: Final = {
    "contradicted": "more leaks than the claim allows",
    "consistent": "the scores do not contradict the claim, which does not prove it",
    "vacuous": "the claim allows nearly everything, so the scores cannot test it",
    "not_comparable": "the claim cannot be compared without its adjacency",
}

AT_LEAST: Final = "at least"
BEST_ESTIMATE: Final = "best estimate"
AT_MOST: Final = "at most"


def plain(text: str) -> str:
    """Return prose with anything that could steer a terminal made visible, line ends too.

    A column's name in it could otherwise begin a line of its own.
    """
    return safe_name(text, longest=_LONGEST_TEXT)


def quoted(name: str) -> str:
    """Return a column name in quotes, safe to print."""
    return f'"{safe_name(name)}"'


def how_to_read(design: Design) -> tuple[tuple[str, str], ...]:
    """Return the terms of the tables and what they mean, in a few words each."""
    pair = f"Each pair of limits holds with {percent_text(design.confidence)} confidence"
    if len(design.score_columns) > 1:
        pair += ", over all score columns together"
    return (
        (AT_LEAST, "This much leaks: some attacker who sees the score does at least this well."),
        (BEST_ESTIMATE, "Our best figure. Not a guarantee, in either direction."),
        (AT_MOST, "No attacker of the kind named in the row does better. Other kinds may."),
        ("advantage", "0: the score says nothing about membership. 1: it gives everybody away."),
        (
            "limits",
            f"All limits together hold with {percent_text(design.confidence)} confidence."
            if design.joint
            else f"{pair}; different rows are not joint.",
        ),
    )
