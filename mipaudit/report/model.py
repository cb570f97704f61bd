"""The report: what every estimating command returns, prints and writes.

These dataclasses *are* the JSON format ``mipaudit.report/1``: the codec writes
each field under its own name, and ``mipaudit schema`` is derived from them. The
format is additive within a major version. No field ever holds NaN or infinity:
a limit that does not exist is None, with a reason beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from mipaudit.audit.blind import Blind  # noqa: TC001 - the codec reads it
from mipaudit.audit.claims import Claim  # noqa: TC001 - the codec reads it
from mipaudit.audit.copies import Copies  # noqa: TC001 - the codec reads it
from mipaudit.audit.estimate import Estimate  # noqa: TC001 - the codec reads it
from mipaudit.audit.finding import Finding  # noqa: TC001 - the codec reads it
from mipaudit.audit.policy import PolicyCheck  # noqa: TC001 - the codec reads it
from mipaudit.audit.score_curves import ScoreCurves  # noqa: TC001 - the codec reads it
from mipaudit.audit.verdict import Verdict  # noqa: TC001 - the codec reads it
from mipaudit.report.origin import Provenance  # noqa: TC001 - the codec reads it
from mipaudit.report.rejudged import Rejudged  # noqa: TC001 - the codec reads it

SCHEMA: Final = "mipaudit.report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Sizes and settings that every number in the report rests on.

    ``n_members`` and ``n_holdout`` count the rows that were audited; ``prior``
    is in (0, 1); ``baseline`` is |2p-1|, the advantage of the trivial attacker;
    ``confidence`` holds for each quantity, jointly over the score columns; with ``joint``
    for all rows together.
    """

    n_members: int
    n_holdout: int
    prior: float
    baseline: float
    confidence: float
    score_columns: tuple[str, ...]
    member_column: str | None
    skipped_columns: tuple[str, ...]
    joint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MaceCell:
    """One occupied bin of the published histogram estimator: counts and risk limits."""

    score: str
    cell: int
    members: int
    holdout: int
    risk: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that one run found.

    ``summary`` is the paragraph for a board; ``curves`` are of the strongest scores.
    ``blind`` is what the records alone tell, and what of each score
    goes beyond it, if a report of ``shift`` was given. ``copies`` counts the records that were
    released word for word, where the input tells.
    """

    command: str
    design: Design
    summary: str
    estimates: tuple[Estimate, ...]
    claims: tuple[Claim, ...]
    policy: tuple[PolicyCheck, ...]
    verdict: Verdict
    findings: tuple[Finding, ...]
    limitations: tuple[str, ...]
    provenance: Provenance
    mace_cells: tuple[MaceCell, ...] = ()
    rejudged: Rejudged | None = None
    curves: tuple[ScoreCurves, ...] = ()
    blind: Blind | None = None
    copies: Copies | None = None
    schema: str = field(default=SCHEMA)

    def _repr_html_(self) -> str:
        """Return the report as HTML: notebooks call this to show it."""
        from mipaudit.render.notebook import notebook_html

        return notebook_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """What ``check`` found in one score column. Counts only, never a value."""

    score: str
    kind: Literal["float", "integer", "bool", "string"]
    discrete: bool
    distinct: int | None
    atoms: int
    tied_rows: int | None
    infinite: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What ``mipaudit check`` found in the input."""

    command: str
    design: Design
    columns: tuple[ColumnProfile, ...]
    findings: tuple[Finding, ...]
    provenance: Provenance
    schema: str = field(default="mipaudit.check/1")
