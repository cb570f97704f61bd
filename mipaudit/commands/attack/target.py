"""One score made ready for the named adversaries: losses, and the rows by their use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.attack.adversaries.literature import Labelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.commands.attack.held_scores import Held, HeldScore
    from mipaudit.commands.attack.options import AttackOptions
    from mipaudit.commands.attack.report import Adversary
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.statements.estimate import Side
    from mipaudit.summaries.cells.cells import Cells

NO_MEAN: Final = "a mean needs finite scores"
_MISSING: Final = "a missing score has no size; leave these rows out with --nan drop"
_FEW: Final = "a mean is not shown of fewer than {} members or holdout records (--min-cell)"
_ALL_CLIPPED: Final = "every score is below 0 or above the bound"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """Records whose membership is guessed.

    Attributes:
        loss: low for members, shape (n,).
        classes: of the records, uint64, shape (n,).
    """

    loss: NDArray[np.float64]
    classes: NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attacked:
    """One score made ready: losses that are low for members, and the rows by their use.

    Attributes:
        name: of the score column.
        evidence: of the same rows, counted.
        cells: of the score.
        scores: as audited, shape (n,).
        loss: low for members, shape (n,).
        member: bool, shape (n,).
        classes: uint64, shape (n,).
        judged: rows outside the burn-in, bool, shape (n,).
        blocks: micro-block of each row, shape (n,).
        side: where members score.
        classed: the same score with its rows in another order, to which their classes
            belong; None where there are none.
    """

    name: str
    evidence: Evidence
    cells: Cells
    scores: NDArray[np.float64]
    loss: NDArray[np.float64]
    member: NDArray[np.bool_]
    classes: NDArray[np.uint64]
    judged: NDArray[np.bool_]
    blocks: NDArray[np.uint8]
    side: Side
    classed: Attacked | None = None

    def as_seen_by(self, adversary: Adversary) -> Attacked:
        """Return the rows as an adversary learns from and is judged on them."""
        return self.classed if adversary == "per-class" and self.classed else self

    def part(self, rows: NDArray[np.bool_]) -> tuple[Labelled, NDArray[np.uint64]]:
        """Return some of the rows to learn from."""
        return Labelled(loss=self.loss[rows], member=self.member[rows]), self.classes[rows]


def attacked_scores(held: Held, asked: AttackOptions) -> list[Attacked]:
    """Return every score column made ready."""
    found = [_attacked(one, asked) for one in held.scores]
    classed = [_attacked(one, asked) for one in held.classed]
    if not classed:
        return found
    return [replace(one, classed=with_it) for one, with_it in zip(found, classed, strict=True)]


def _attacked(held: HeldScore, asked: AttackOptions) -> Attacked:
    (scores,) = held.rows.scores
    side: Side = asked.side or held.evidence.side
    if asked.residuals:
        side, loss = "low", np.abs(scores)
    else:
        loss = scores if side == "low" else -scores
    classes = held.rows.groups
    return Attacked(
        name=held.name,
        evidence=held.evidence,
        cells=held.cells,
        scores=scores,
        loss=loss,
        member=held.rows.member,
        classes=np.zeros(scores.size, dtype=np.uint64) if classes is None else classes,
        judged=held.judged,
        blocks=held.blocks,
        side=side,
    )


def real_loss(one: Attacked, asked: AttackOptions) -> NDArray[np.float64]:
    """Return the loss itself: squared residuals, or B less a score that is high for members."""
    if asked.residuals:
        return np.asarray(one.scores**2)
    if one.side == "low":
        return one.scores
    return np.asarray((asked.loss_bound or 0.0) - one.scores)


def no_mean(one: Attacked, asked: AttackOptions, rows: NDArray[np.bool_]) -> str | None:
    """Return why no mean of the losses of some rows can be shown; None where one can.

    Args:
        one: the score.
        asked: the settings.
        rows: that the mean is of, bool, shape (n,).
    """
    loss, member = real_loss(one, asked)[rows], one.member[rows]
    if asked.missing_kept and (one.scores[rows] == -np.inf).any():
        return _MISSING
    if min(np.count_nonzero(member), np.count_nonzero(~member)) < asked.min_cell:
        # Of one record the mean is its loss, and of few it tells much of each.
        return _FEW.format(asked.min_cell)
    if asked.loss_bound is None:
        return None if np.isfinite(loss).all() else NO_MEAN
    outside = (loss < 0) | (loss > asked.loss_bound)
    return _ALL_CLIPPED if outside.all() else None
