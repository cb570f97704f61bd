"""A verdict that was reached after its report, from the limits in it and without the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mipaudit.statements.origin import Setting  # noqa: TC001 - the codec reads it
from mipaudit.statements.text.rounding import percent_text

_BEGINNING: Final = "It was judged again"


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


def rejudged_words(rejudged: Rejudged) -> str:
    """Say how sure a verdict is that was reached without the data."""
    over = "one limit" if rejudged.limits == 1 else f"{rejudged.limits} limits"
    return (
        f"{_BEGINNING} from the limits in the report, not from the data: the verdict, over "
        f"{over}, holds with {percent_text(rejudged.confidence)} confidence, if what is limited "
        "was chosen without looking at the figures."
    )


def is_rejudged_words(text: str) -> bool:
    """Tell whether a limitation is what :func:`rejudged_words` says."""
    return text.startswith(_BEGINNING)
