"""All rows of an input in memory, and each score of them made ready for adversaries."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attack.options import AttackOptions
from mipaudit.counting.counts import require_classes, require_identities
from mipaudit.counting.scores import OrderedRows, fits, hold_input
from mipaudit.data.source import ScoreSource
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import constant, identical_classes
from mipaudit.model.message import Message
from mipaudit.statements.choices import Side
from mipaudit.statements.printable_names import quoted_name
from mipaudit.summaries.cells import Cells
from mipaudit.summaries.plan import BurnInSample, make_plan
from mipaudit.summaries.rows import row_blocks
from mipaudit.summaries.tally import Tally

NO_MEAN: Final = Message("mean_of_infinite")


class NotJudgedError(Exception):
    """An attack cannot learn what it needs; ``reason`` says why."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """Losses of both classes: to learn from, or whose membership is guessed.

    Attributes:
        loss: float64, shape (n,), low for members.
        member: bool, shape (n,).
        classes: uint64, shape (n,), of the records; of no length where nobody looks at them.
    """

    loss: NDArray[np.float64]
    member: NDArray[np.bool_]
    classes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))

    @property
    def members(self) -> NDArray[np.float64]:
        """Return the members' losses."""
        return self.loss[self.member]

    @property
    def holdout(self) -> NDArray[np.float64]:
        """Return the holdout records' losses."""
        return self.loss[~self.member]


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
    classed: Self | None = None

    def part(self, rows: NDArray[np.bool_]) -> Labelled:
        """Return some of the rows."""
        return Labelled(loss=self.loss[rows], member=self.member[rows], classes=self.classes[rows])


def real_loss(one: Attacked, asked: AttackOptions) -> NDArray[np.float64]:
    """Return the loss itself: squared residuals, or B less a score that is high for members."""
    if asked.residuals:
        return np.asarray(one.scores**2)
    if one.side == "low":
        return one.scores
    return np.asarray((asked.loss_bound or 0.0) - one.scores)


def no_mean(one: Attacked, asked: AttackOptions, rows: NDArray[np.bool_]) -> Message | None:
    """Return why no mean of the losses of some rows can be shown; None where one can.

    Args:
        one: the score.
        asked: the settings.
        rows: that the mean is of, bool, shape (n,).
    """
    loss, member = real_loss(one, asked)[rows], one.member[rows]
    if asked.missing_kept and (one.scores[rows] == -np.inf).any():
        return Message("mean_of_missing")
    if min(np.count_nonzero(member), np.count_nonzero(~member)) < asked.min_cell:
        # Of one record the mean is its loss, and of few it tells much of each.
        return Message.of("mean_of_few", least=asked.min_cell)
    if asked.loss_bound is None:
        return None if np.isfinite(loss).all() else NO_MEAN
    outside = (loss < 0) | (loss > asked.loss_bound)
    return Message("all_clipped") if outside.all() else None


def hold_rows(source: ScoreSource, asked: AttackOptions) -> tuple[Attacked, ...]:
    """Read the input once; return its scores in order, each made ready.

    Raises:
        UsageError: a column of labels, a mean for several columns, or no thread.
        InputError: a class is empty, keys repeat, or the scores cannot show anything.
    """
    _require_numbers(source, asked)
    workers, places = Workers(Engine(jobs=asked.jobs)), range(len(source.columns))
    kept = hold_input(source, workers=workers, progress=asked.progress)
    source.check_classes()
    found = [kept.in_order([at], asked.chosen_seed) for at in places]
    scores = _informative([_attacked(source, asked, at, one) for at, one in enumerate(found)])
    if not asked.by or not fits(source):
        return scores
    with_classes = [kept.with_groups(at, asked.chosen_seed) for at in places]
    return tuple(
        replace(scores[at], classed=_attacked(source, asked, at, one))
        for at, one in enumerate(with_classes)
    )


def seeds_of(scores: Sequence[Attacked]) -> dict[str | None, int]:
    """Return the seeds in use: of each score, and of each with the classes."""
    found: dict[str | None, int] = {one.name: one.evidence.seed for one in scores}
    return found | {
        f"{one.name} by class": one.classed.evidence.seed for one in scores if one.classed
    }


def _attacked(source: ScoreSource, asked: AttackOptions, at: int, ordered: OrderedRows) -> Attacked:
    """Return a score whose rows are in an order that follows from them, counted."""
    column, rows = source.columns[at], ordered.rows
    sample = ordered.over(partial(BurnInSample, 1, ordered.seed))
    sample.settle()
    require_classes(sample)
    require_identities(sample)
    plan = make_plan(sample, [column.kind], prior=asked.prior, discrete=False, seed=ordered.seed)
    (counts,) = ordered.over(partial(Tally, plan)).counts()
    evidence = Evidence(score=column.name, counts=counts, prior=asked.prior, seed=ordered.seed)
    (scores,) = rows.scores
    side: Side = "low" if asked.residuals else asked.side or evidence.trained_side
    loss = np.abs(scores) if asked.residuals else scores if side == "low" else -scores
    blocks = row_blocks(rows, ordered.seed)
    return Attacked(
        name=column.name,
        evidence=evidence,
        cells=plan.columns[0].cells,
        scores=scores,
        loss=loss,
        member=rows.member,
        classes=np.zeros(scores.size, dtype=np.uint64) if rows.groups is None else rows.groups,
        judged=np.asarray(blocks >= counts.burn_in),
        blocks=blocks,
        side=side,
    )


def _require_numbers(source: ScoreSource, asked: AttackOptions) -> None:
    for column in source.columns:
        if column.kind == "string":
            raise UsageError(
                "no_order",
                f"Column {quoted_name(column.name)} holds labels, which have no order.",
                hint="Name a column of numbers with `score_col`.",
            )
    told = (asked.mean_loss, asked.sigma_members, asked.sigma_holdout)
    if len(source.columns) > 1 and any(one is not None for one in told):
        raise UsageError(
            "several_scores",
            "A published mean or standard error is that of one score, and there are several.",
            hint="Choose one with `score_col`.",
        )


def _informative(scores: Sequence[Attacked]) -> tuple[Attacked, ...]:
    """Return the scores, of which one at least can show something."""
    varying = [one for one in scores if not constant(one.evidence.counts)]
    if not varying:
        raise InputError(
            "constant_scores",
            "Every score is the same in all rows: there is nothing to attack.",
            hint="Name another score column with `score_col`.",
        )
    if all(identical_classes(one.evidence.counts) for one in varying):
        raise InputError(
            "identical_classes",
            "Members and holdout hold exactly the same scores.",
            hint="Were the same records written to both?",
        )
    return tuple(scores)
