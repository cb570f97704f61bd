"""What a reproduction of a published figure found: curves, claims, checks, errata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CurveStyle = Literal["line", "dashed", "dotted", "points", "bars"]
Agreement = Literal["yes", "partly", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line, cloud of points or row of bars.

    Attributes:
        label: what the legend says.
        x: places, increasing for lines; for bars the number of the group, from 0.
        y: values, as many; NaN-free, infinite where there is no finite value.
        low: lower ends of the error bars, as many, or none.
        high: upper ends, likewise.
        style: how it is drawn.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    style: CurveStyle = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture of a figure.

    Attributes:
        title: what it shows.
        x: what the horizontal axis shows.
        y: what the vertical axis shows.
        curves: at least one.
        log_x: whether that axis is logarithmic.
        log_y: likewise.
        groups: names of the groups of bars, by number; empty where x is a number.
    """

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What the paper says, what came out, and whether the two agree."""

    says: str
    found: str
    agrees: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A number that must come out.

    Attributes:
        name: what the number is.
        found: what came out.
        low: the least it may be; -inf for no limit.
        high: the most it may be; inf for no limit.
        why: where the limits come from.
    """

    name: str
    found: float
    low: float
    high: float
    why: str

    @property
    def passed(self) -> bool:
        """Tell whether the number is within its limits."""
        return self.low <= self.found <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run of a reproduction gives.

    Attributes:
        panels: the pictures.
        claims: the paper's, with what came out.
        checks: numbers that must come out.
        errata: where the paper is wrong, a sentence or two each.
        differences: how the setting differs from the paper's.
    """

    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    checks: tuple[Check, ...]
    errata: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproducedFigure:
    """A figure of a paper, reproduced.

    Attributes:
        id: its stable name, such as ``izzo-fig1``.
        title: what it is about, a few words.
        source: the paper and the figure in it.
        shows: what the figure in the paper shows.
        claim: what the paper concludes from it.
        seed: of every random choice.
        quick: whether this is the smaller form.
        outcome: what came out.
    """

    id: str
    title: str
    source: str
    shows: str
    claim: str
    seed: int
    quick: bool
    outcome: Outcome

    @property
    def passed(self) -> bool:
        """Tell whether every check holds."""
        return all(check.passed for check in self.outcome.checks)
