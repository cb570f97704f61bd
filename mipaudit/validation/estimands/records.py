"""The risk of every cell of records together, and the advantage of every group together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.cells import RecordCells, RecordTally, cut_cells
from mipaudit.commands.records.groups import attack_differences
from mipaudit.commands.records.risk import RecordRisks
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.summaries.group_tally import Grouping, group_tally
from mipaudit.summaries.identity.row_rank import splitmix64
from mipaudit.summaries.plan import make_plan
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile, burn_in, rows_of
from mipaudit.validation.estimands.estimand import Args, Estimand, Interval, one_sided

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law

GROUPS: Final = 4
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


def true_risks(
    law: Law, prior: float, edges: NDArray[np.float64], cell: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return f_p of each cell under a law, shape (m,); 2p-1 where nothing ever falls.

    Args:
        law: of the scores.
        prior: p in (0, 1).
        edges: as in `RecordCells`.
        cell: likewise.
    """
    shares = [
        np.bincount(cell, weights=np.diff(side.cdf(edges), prepend=0.0, append=1.0))
        for side in (law.members, law.holdout)
    ]
    members, holdout = prior * shares[0], (1 - prior) * shares[1]
    total = members + holdout
    return np.where(total > 0, (members - holdout) / np.where(total > 0, total, 1.0), 2 * prior - 1)


class RecordRisk(Estimand):
    """How far inside its limits the cell is that comes nearest to leaving them.

    Simultaneous limits hold if that margin is not below 0. ``args`` are the numbers of cut
    points and cells, the cut points, the cell of each piece, and the limits of each cell.
    """

    name = "record_risk"
    meaning = "signed risk of all cells of records together"
    by_name_only = True

    def _accepts(self, args: Args) -> bool:
        return _all_numbers(args)

    def _value(self, law: Law, prior: float, *args: float) -> float:
        numbers = np.array(args)
        cuts, count = int(numbers[0]), int(numbers[1])
        edges, cell, lower, upper = np.split(numbers[2:], np.cumsum([cuts, cuts + 1, count]))
        risks = true_risks(law, prior, edges, cell.astype(np.int64))
        # The least distance of a cell's risk from its limits, below 0 if outside.
        return float(np.minimum(risks - lower, upper - risks).min())

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return that every cell is inside its limits."""
        cells, risks = file_risks(audited)
        # Without a counted record nothing is claimed of a cell. Rounding may cost 1e-12.
        free = np.where(risks.occupied, 1e-12, 9.0)
        args = (
            float(cells.edges.size),
            float(cells.count),
            *cells.edges.tolist(),
            *cells.cell.astype(float).tolist(),
            *(risks.together.lower - free).tolist(),
            *(risks.together.upper + free).tolist(),
        )
        yield self.interval(0.0, None, nominal=CONFIDENCE, args=args)


def _all_numbers(args: Args) -> bool:
    return bool(args) and not any(isinstance(one, str) for one in args)


class LargestRisk(Estimand):
    """The largest risk of a cell; ``args`` are as for `RecordRisk`, without limits."""

    name = "largest_risk"
    meaning = "largest risk of a cell of records"
    trivial = True
    statements = frozenset({("risk", "any")})
    by_name_only = True

    def _accepts(self, args: Args) -> bool:
        return _all_numbers(args)

    def _value(self, law: Law, prior: float, *args: float) -> float:
        numbers = np.array(args)
        cuts = int(numbers[0])
        edges, cell, occupied = np.split(numbers[1:], np.cumsum([cuts, cuts + 1]))
        risks = true_risks(law, prior, edges, cell.astype(np.int64))
        # All cells together have |2p-1| at least, also those without a record.
        return max(abs(2 * prior - 1), float(np.abs(risks[occupied > 0]).max()))

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return its limits."""
        cells, risks = file_risks(audited)
        yield self.interval(
            risks.largest_lower,
            risks.largest_upper,
            value=float(risks.together.risk[risks.largest]),
            args=(
                float(cells.edges.size),
                *cells.edges.tolist(),
                *cells.cell.astype(float).tolist(),
                *risks.occupied.astype(float).tolist(),
            ),
        )


class GroupAdvantage(Estimand):
    """The advantage within four groups of records that leak alike; the truth of each is one.

    The groups are drawn at random, in the proportions 8:4:2:1, so the largest of their lower
    limits and the least of their upper limits are what must not pass the truth. ``args`` is
    () for the advantage, ("thresholds",), or ("difference",) from the rest, which is 0.
    """

    name = "group_advantage"
    meaning = "advantage of all groups of records together"
    by_name_only = True
    takes = ((), (str,))

    def _value(self, law: Law, prior: float, of: str = "") -> float | None:
        match of:
            case "":
                return law.advantage(prior)
            case "thresholds":
                return law.advantage_thresholds(prior)
            case _:
                return 0.0 if of == "difference" else None

    def baseline(self, prior: float, args: Args) -> float:
        """Return the trivial attacker's advantage."""
        return 0.0 if args == ("difference",) else abs(2 * prior - 1)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the extreme limits over the groups."""
        share = ErrorShare(confidence=CONFIDENCE, columns=GROUPS)
        found = _in_groups(audited)
        nominal = one_sided(CONFIDENCE)
        yield self.interval(max(one.lower(share.one_sided) for one in found), None, nominal=nominal)
        uppers = [one.upper("thresholds", share.one_sided) for one in found]
        yield self.interval(
            None,
            min(1.0 if upper is None else upper for upper in uppers),
            nominal=nominal,
            args=("thresholds",),
            label=f"{self.name}, thresholds",
        )
        differences = attack_differences(
            [one.counts for one in found], prior=audited.prior, alpha=share.two_sided
        )
        yield self.interval(
            max(one.lower for one in differences),
            min(one.upper for one in differences),
            nominal=nominal,
            args=("difference",),
            label=f"{self.name}, difference",
        )


def _in_groups(audited: AuditedFile) -> list[Evidence]:
    """Return the evidence on four groups, drawn whatever the score and the membership."""
    rows = replace(rows_of(audited.member, [audited.score]), groups=_group_of(audited))
    plan = make_plan(
        burn_in(rows, audited.seed),
        ["float"],
        prior=audited.prior,
        discrete=audited.discrete,
        seed=audited.seed,
    )
    kept = np.arange(GROUPS, dtype=np.uint64)
    tally = group_tally(plan, Grouping(kept=kept, merged=kept[:0]))
    tally.add(rows)
    return [
        Evidence(score="score", counts=one, prior=audited.prior, seed=audited.seed)
        for one in tally.counts()
    ]


def _group_of(audited: AuditedFile) -> NDArray[np.uint64]:
    """Return group 0, 1, 2 or 3 of each row, in the proportions 8:4:2:1."""
    place = np.arange(audited.member.size, dtype=np.uint64)
    draw = splitmix64(place, audited.seed ^ _GROUP_SALT) % np.uint64(15)
    return np.searchsorted([8, 12, 14], draw, side="right").astype(np.uint64)
