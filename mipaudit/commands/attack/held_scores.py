"""Reads all rows of an input, counts them for the optimum's limits, and keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.counting.columns import Meter, require_classes, require_identities
from mipaudit.counting.kept_rows import OrderedRows, hold_input, order_with_groups
from mipaudit.counting.large_seed import fits
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import constant, identical_classes
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.held_rows import HeldRows, row_blocks
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.attack.options import AttackOptions
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.summaries.cells.cells import Cells
    from mipaudit.summaries.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldScore:
    """All rows under one score, in an order that follows from them, and what they count up to.

    Attributes:
        name: of the score column.
        rows: as one batch, with that score alone.
        cells: of the score.
        blocks: micro-block of each row, shape (n,).
        evidence: of the score.
    """

    name: str
    rows: Rows
    cells: Cells
    blocks: NDArray[np.uint8]
    evidence: Evidence

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Tell which rows are outside the burn-in, shape (n,)."""
        return np.asarray(self.blocks >= self.evidence.counts.burn_in)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """All rows, once for each score.

    Attributes:
        scores: in the order of the input.
        classed: the same with the rows' classes, which then enter their order and their
            seed; empty without classes.
    """

    scores: tuple[HeldScore, ...]
    classed: tuple[HeldScore, ...]

    def seeds(self) -> dict[str | None, int]:
        """Return the seeds in use: of each score, and of each with the classes."""
        found: dict[str | None, int] = {one.name: one.evidence.seed for one in self.scores}
        return found | {f"{one.name} by class": one.evidence.seed for one in self.classed}


def hold_rows(
    source: ScoreSource,
    asked: AttackOptions,
    *,
    jobs: int | None,
    progress: Callable[[int, int | None], None] | None,
) -> Held:
    """Read the input once.

    Raises:
        UsageError: a column of labels, a mean for several columns, or no thread.
        InputError: a class is empty, keys repeat, or the scores cannot show anything.
    """
    _require_numbers(source, asked)
    workers = Workers(Engine(jobs=jobs))
    if not fits(source):
        return _by_position(source, asked, workers, progress)
    kept = hold_input(source, workers=workers, progress=progress)
    source.check_classes()
    places = range(len(source.columns))
    ordered = [kept.in_order([at], asked.chosen_seed) for at in places]
    if kept.units:
        members = int(np.count_nonzero(ordered[0].rows.member))
        holdout = int(ordered[0].rows.member.size) - members
        source.unit_rows_dropped = kept.dropped(members, holdout)
    scores = tuple(_held(source, asked, at, ordered[at]) for at in places)
    _require_information([one.evidence for one in scores])
    classed = [order_with_groups(kept, at, asked.chosen_seed) for at in places if asked.by]
    return Held(
        scores=scores,
        classed=tuple(_held(source, asked, at, one) for at, one in enumerate(classed)),
    )


def _by_position(
    source: ScoreSource,
    asked: AttackOptions,
    workers: Workers,
    progress: Callable[[int, int | None], None] | None,
) -> Held:
    """Read an input of many rows, whose positions tell them apart."""
    meter = None if progress is None else Meter(source.rows_hint, progress).advance
    rows = fold(source.partitions(), HeldRows, workers=workers, progress=meter).joined()
    source.check_classes()
    assert rows is not None  # noqa: S101 - neither class is empty
    seed = source.position_seed
    scores = tuple(
        _held(source, asked, at, OrderedRows(rows=rows.of_columns([at]), seed=seed))
        for at in range(len(source.columns))
    )
    _require_information([one.evidence for one in scores])
    return Held(scores=scores, classed=())


def _held(source: ScoreSource, asked: AttackOptions, at: int, ordered: OrderedRows) -> HeldScore:
    column = source.columns[at]
    sample = ordered.over(partial(BurnInSample, 1, ordered.seed))
    sample.settle()
    require_classes(sample)
    require_identities(sample)
    plan = make_plan(sample, [column.kind], prior=asked.prior, discrete=False, seed=ordered.seed)
    (counts,) = ordered.over(partial(Tally, plan)).counts()
    return HeldScore(
        name=column.name,
        rows=ordered.rows,
        cells=plan.columns[0].cells,
        blocks=row_blocks(ordered.rows, ordered.seed),
        evidence=Evidence(score=column.name, counts=counts, prior=asked.prior, seed=ordered.seed),
    )


def _require_numbers(source: ScoreSource, asked: AttackOptions) -> None:
    for column in source.columns:
        if column.kind == "string":
            raise UsageError(
                "no_order",
                f"Column {quoted_name(column.name)} holds labels, which have no order.",
                hint="Name a column of numbers with --score-col.",
            )
    told = (asked.mean_loss, asked.sigma_members, asked.sigma_holdout)
    if len(source.columns) > 1 and any(one is not None for one in told):
        raise UsageError(
            "several_scores",
            "A published mean or standard error is that of one score, and there are several.",
            hint="Choose one with --score-col.",
        )


def _require_information(evidence: Sequence[Evidence]) -> None:
    if all(constant(one.counts) for one in evidence):
        raise InputError(
            "constant_scores",
            "Every score is the same in all rows: there is nothing to attack.",
            hint="Name another score column with --score-col.",
        )
    varying = [one.counts for one in evidence if not constant(one.counts)]
    if all(identical_classes(one) for one in varying):
        raise InputError(
            "identical_classes",
            "Members and holdout hold exactly the same scores.",
            hint="Were the same records written to both?",
        )
