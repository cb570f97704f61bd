"""The report: what every estimating command returns, prints and writes.

These dataclasses *are* the JSON format ``mipaudit.report/3``: the codec writes
each field under its own name, and ``mipaudit schema`` is derived from them. The
format is additive within a major version. No field ever holds NaN or infinity:
a limit that does not exist is None, with a reason beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from mipaudit.evidence.judgement.blind import Blind
from mipaudit.evidence.scores.curves import ScoreCurves
from mipaudit.model.check import Check
from mipaudit.model.row import Row
from mipaudit.statements.claim import Claim
from mipaudit.statements.copies import Copies
from mipaudit.statements.estimate import Design
from mipaudit.statements.rejudged import Rejudged
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(AnyReport):
    """Everything that one run found.

    ``mace_cells`` are the occupied bins of the published histogram estimator: the risk of each,
    and how many records it has. ``curves`` are of the strongest scores.
    ``blind`` is what the records alone tell, and what of each score
    goes beyond it, if a report of ``shift`` was given. ``copies`` counts the records that were
    released word for word, where the input tells.
    """

    design: Design
    estimates: tuple[Row, ...]
    claims: tuple[Claim, ...]
    policy: tuple[Check, ...]
    verdict: Verdict
    mace_cells: tuple[Row, ...] = ()
    rejudged: Rejudged | None = None
    curves: tuple[ScoreCurves, ...] = ()
    blind: Blind | None = None
    copies: Copies | None = None

    @property
    def lacking(self) -> bool:
        """Whether there is no row of an advantage: each score that was audited has one."""
        return all(row.quantity != "advantage" for row in self.estimates)
