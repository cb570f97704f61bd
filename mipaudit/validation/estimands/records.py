"""The risk of every cell of records together, and the advantage of every group together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.cells import RecordCells, RecordRisks, RecordTally, cut_cells
from mipaudit.commands.records.counts import attack_differences
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import splitmix64
from mipaudit.summaries.tally import Grouping, Tally
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile, burn_in, rows_of
from mipaudit.validation.estimands.estimand import Estimand, Interval, trivial

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law

    Numbers = tuple[float, ...]

_GROUPS: Final = 4
_GROUP_SALT: Final = 0x67726F757073


def file_risks(audited: AuditedFile) -> tuple[RecordCells, RecordRisks]:
    """Return the cells that ``records`` cuts on a file, and their risks."""
    rows = rows_of(audited.member, [audited.score])
    cells = cut_cells(
        burn_in(rows, audited.seed), "float", seed=audited.seed, discrete=audited.discrete
    )
    tally = RecordTally(cells)
    tally.add(rows)
    risks = RecordRisks(
        counts=tally.counts, single=cells.single, prior=audited.prior, confidence=CONFIDENCE
    )
    return cells, risks


def true_risks(law: Law, prior: float, edges: Numbers, cell: Numbers) -> NDArray[np.float64]:
    """Return f_p of each cell under a law, shape (m,); 2p-1 where nothing ever falls.

    Args:
        law: of the scores.
        prior: p in (0, 1).
        edges: as in `RecordCells`.
        cell: likewise.
    """
    shares = [
        np.bincount(cell, weights=np.diff(side.cdf(np.array(edges)), prepend=0.0, append=1.0))
        for side in (law.members, law.holdout)
    ]
    members, holdout = prior * shares[0], (1 - prior) * shares[1]
    total = members + holdout
    return np.where(total > 0, (members - holdout) / np.where(total > 0, total, 1.0), 2 * prior - 1)


def _margin(
    law: Law, prior: float, edges: Numbers, cell: Numbers, lower: Numbers, upper: Numbers
) -> float:
    """Return the least distance of a cell's risk from its limits, below 0 if outside."""
    risks = true_risks(law, prior, edges, cell)
    return float(np.minimum(risks - lower, upper - risks).min())


def _margin_row(audited: AuditedFile) -> Iterator[Interval]:
    """Yield that every cell is inside its limits."""
    cells, risks = file_risks(audited)
    # Without a counted record nothing is claimed of a cell. Rounding may cost 1e-12.
    free = np.where(risks.occupied, 1e-12, 9.0)
    found = cells.edges, cells.cell, risks.together.lower - free, risks.together.upper + free
    args = tuple(tuple(one.tolist()) for one in found)
    yield Interval(lower=0.0, nominal=CONFIDENCE, args=args)


def _largest(
    law: Law, prior: float, edges: Numbers, cell: Numbers, occupied: tuple[bool, ...]
) -> float:
    # All cells together have |2p-1| at least, also those without a record.
    return max(
        trivial(prior), float(np.abs(true_risks(law, prior, edges, cell)[[*occupied]]).max())
    )


def _largest_row(audited: AuditedFile) -> Iterator[Interval]:
    cells, risks = file_risks(audited)
    yield Interval(
        lower=risks.largest_lower,
        upper=risks.largest_upper,
        value=float(risks.together.risk[risks.largest]),
        args=tuple(tuple(one.tolist()) for one in (cells.edges, cells.cell, risks.occupied)),
    )


def _of_groups(law: Law, prior: float, of: str) -> float:
    match of:
        case "any":
            return law.advantage(prior)
        case "thresholds":
            return law.advantage_thresholds(prior)
        case _:  # the difference of a group from the rest
            return 0.0


def _group_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the extreme limits over four groups of records that leak alike.

    The groups are drawn at random, in the proportions 8:4:2:1, so the largest of their lower
    limits and the least of their upper limits are what must not pass the truth.
    """
    share = ErrorShare(confidence=CONFIDENCE, columns=_GROUPS)
    found = _in_groups(audited)
    yield Interval(lower=max(one.lower(share.one_sided) for one in found), args=("any",))
    uppers = [one.upper("thresholds", share.one_sided) for one in found]
    least = min(1.0 if upper is None else upper for upper in uppers)
    yield Interval(upper=least, args=("thresholds",), label=", thresholds")
    differences = attack_differences(
        [one.counts for one in found], prior=audited.prior, alpha=share.two_sided
    )
    yield Interval(
        lower=max(one.lower for one in differences),
        upper=min(one.upper for one in differences),
        args=("difference",),
        label=", difference",
    )


def _in_groups(audited: AuditedFile) -> list[Evidence]:
    """Return the evidence on four groups, drawn whatever the score and the membership."""
    place = np.arange(audited.member.size, dtype=np.uint64)
    draw = splitmix64(place, audited.seed ^ _GROUP_SALT) % np.uint64(15)
    group = np.searchsorted([8, 12, 14], draw, side="right").astype(np.uint64)
    rows = replace(rows_of(audited.member, [audited.score]), groups=group)
    plan = make_plan(
        burn_in(rows, audited.seed),
        ["float"],
        prior=audited.prior,
        discrete=audited.discrete,
        seed=audited.seed,
    )
    kept = np.arange(_GROUPS, dtype=np.uint64)
    tally = Tally(plan, Grouping(kept=kept, merged=kept[:0]))
    tally.add(rows)
    return [
        Evidence(score="score", counts=one, prior=audited.prior, seed=audited.seed)
        for one in tally.counts()
    ]


RECORDS: Final = (
    # How far inside its limits the cell is that comes nearest to leaving them: simultaneous
    # limits hold if that margin is not below 0.
    Estimand(name="record_risk", truth=_margin, said=_margin_row, by_name_only=True),
    Estimand(
        name="largest_risk",
        truth=_largest,
        statements=(("risk", "any"),),
        said=_largest_row,
        baseline=trivial,
        by_name_only=True,
    ),
    Estimand(
        name="group_advantage",
        truth=_of_groups,
        said=_group_rows,
        baseline=lambda prior, of: 0.0 if of == "difference" else trivial(prior),
        by_name_only=True,
    ),
)
