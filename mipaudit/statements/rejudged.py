"""A verdict that was reached after its report, from the limits in it and without the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mipaudit.model.message import Message
from mipaudit.statements.origin import Setting  # noqa: TC001 - the codec reads it

REJUDGED: Final = "judged_again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """How the verdict of a report came about after the report.

    Attributes:
        limits: how many the verdict is over: those of the policy, and one for a claim.
        confidence: of the verdict; lower than that of the report's figures.
        settings: the limits, with where they came from; the provenance keeps those under
            which the figures were made.
        created: UTC time, by which waivers expire.
    """

    limits: int
    confidence: float
    settings: tuple[Setting, ...]
    created: str


def rejudged_limitation(rejudged: Rejudged) -> Message:
    """Return how sure a verdict is that was reached without the data."""
    return Message.of(REJUDGED, limits=rejudged.limits, confidence=rejudged.confidence)
