"""Reads all rows of an input, counts them for the optimum's limits, and keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.api.counting import Meter, require_classes, require_identities
from mipaudit.audit.evidence import Evidence
from mipaudit.audit.findings import constant, identical_classes
from mipaudit.audit.held_rows import HeldRows, row_blocks
from mipaudit.engine.engine import Engine
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.report.names import quoted_name
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mipaudit.api.attack_question import AttackQuestion
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.source import ScoreSource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """All rows, and what they count up to.

    Attributes:
        rows: of the input, as one batch.
        plan: the cells of each score column, and the burn-in.
        blocks: micro-block of each row, shape (n,).
        evidence: of each score column.
    """

    rows: Rows
    plan: Plan
    blocks: NDArray[np.uint8]
    evidence: tuple[Evidence, ...]

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Tell which rows are outside the burn-in, shape (n,)."""
        return np.asarray(self.blocks >= self.plan.burn_in)


def hold_rows(
    source: ScoreSource,
    question: AttackQuestion,
    *,
    jobs: int | None,
    progress: Callable[[int, int | None], None] | None,
) -> Held:
    """Read the input once.

    Raises:
        UsageError: a column of labels, a mean for several columns, or no thread.
        InputError: a class is empty, keys repeat, or the scores cannot show anything.
    """
    _require_numbers(source, question)
    meter = None if progress is None else Meter(source.rows_hint, progress).advance
    held = fold(source.partitions(), HeldRows, workers=Workers(Engine(jobs=jobs)), progress=meter)
    source.check_classes()
    rows = held.joined()
    assert rows is not None  # noqa: S101 - neither class is empty
    kinds = [column.kind for column in source.columns]
    sample = BurnInSample(len(kinds), question.seed)
    sample.add(rows)
    sample.settle()
    require_classes(sample)
    require_identities(sample)
    plan = make_plan(sample, kinds, prior=question.prior, discrete=False, seed=question.seed)
    tally = Tally(plan)
    tally.add(rows)
    evidence = tuple(
        Evidence(score=column.name, counts=counts, prior=question.prior, seed=question.seed)
        for column, counts in zip(source.columns, tally.counts(), strict=True)
    )
    _require_information(evidence)
    return Held(rows=rows, plan=plan, blocks=row_blocks(rows, question.seed), evidence=evidence)


def _require_numbers(source: ScoreSource, question: AttackQuestion) -> None:
    for column in source.columns:
        if column.kind == "string":
            raise UsageError(
                "no_order",
                f"Column {quoted_name(column.name)} holds labels, which have no order.",
                hint="Name a column of numbers with --score-col.",
            )
    told = (question.mean_loss, question.sigma_members, question.sigma_holdout)
    if len(source.columns) > 1 and any(one is not None for one in told):
        raise UsageError(
            "several_scores",
            "A published mean or standard error is that of one score, and there are several.",
            hint="Choose one with --score-col.",
        )


def _require_information(evidence: tuple[Evidence, ...]) -> None:
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
