"""What is taken out of a report to be compared: the types that all extractors give.

An extractor belongs to one number of the JSON format; `EXTRACTORS` in `runs.py` names it. The
one for reports made of rows gives the same keys from the fields of a row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Key:
    """Which figure this is; what a report does not say is empty.

    `n` is members/holdout. `apart` is what else tells two rows of one report apart, as
    `metric=ppv,validity=approximate`, in the order of the names.
    """

    quantity: str = ""
    score: str = ""
    group: str = ""
    attackers: str = ""
    epsilon: str = ""
    delta: str = ""
    n: str = ""
    confidence: str = ""
    apart: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the key as one text, as `changed.toml` names it."""
        named = [getattr(self, each.name) for each in fields(self)[:-1]]
        return "|".join((*named, ",".join(sorted(self.apart))))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report, with its limits where it has any."""

    key: str
    lower: float | None
    value: float | None
    upper: float | None


@dataclass(slots=True)
class Extract:
    """What one report says, in the terms in which any two are compared.

    `verdicts` are what is decided: (what, how). `codes` are of findings, and, where a format has
    them, of limitations and reasons, each with its kind: `finding:copies`. `others` are numbers
    that are no figures, as counts by bin; they are compared between reports of one format.
    """

    figures: list[Figure] = field(default_factory=list)
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)
