"""What a reader must know of a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mipaudit.commands.noise.calibrate.error_share import Share
from mipaudit.commands.noise.calibrate.measurement import PAPER_FRACTION
from mipaudit.commands.noise.calibrate.swap import FEWEST_PAIRS
from mipaudit.commands.noise.mechanisms.clipping import count_outside
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.noise.calibrate.demand import Demand
    from mipaudit.commands.noise.calibrate.measurement import Measured
    from mipaudit.commands.noise.calibrate.split_halves import Workbench
    from mipaudit.commands.noise.calibrate.swap import SwapPairs


def calibration_findings(
    bench: Workbench,
    demand: Demand,
    gap: float,
    measured: list[Measured],
    pairs: SwapPairs | None,
) -> Iterator[Finding]:
    """Yield what a reader must know of a calibration, beside what concerns its splits alone."""
    if gap >= 1:
        yield Finding(
            code="no_noise_needed",
            text="eta is at least the smaller of the fractions in and out of the training"
            " set: every release keeps the promise without noise.",
        )
        return
    if demand.train_fraction != PAPER_FRACTION:
        yield Finding(
            code="paper_needs_half",
            text="The published calibration is for a training set of half of the records.",
        )
    repeated = len(bench.splits) - len(np.unique(bench.splits, axis=0))
    if repeated and len(bench.constant) < bench.splits.shape[1]:
        yield Finding(
            code="repeated_splits",
            text=f"{repeated} of {len(bench.splits)} splits repeat an earlier one. Few records may"
            " explain it; if rows were copied, the splits are not independent and no limit"
            " holds.",
        )
    outside = 0 if demand.ball is None else count_outside(bench.splits, demand.ball)
    if outside:
        yield Finding(
            code="clipped",
            text=f"{outside} of {len(bench.splits)} splits lie outside the ball and were"
            " clipped, as the release may be.",
        )
    if demand.sure and "direct" in demand.allow:
        yield from _direct_findings(bench, demand, pairs)
    if pairs is not None:
        yield from _pair_findings(measured, pairs)


def _direct_findings(
    bench: Workbench, demand: Demand, pairs: SwapPairs | None
) -> Iterator[Finding]:
    count, dimension = bench.splits.shape
    needed = Share.of(demand, dimension, pairs).fewest_splits(count)
    if needed > count:
        yield Finding(
            code="direct_needs_splits",
            text=f"The direct calibration needs {needed} splits for this eta in strict mode;"
            f" there are {count}.",
        )


def _pair_findings(measured: list[Measured], pairs: SwapPairs) -> Iterator[Finding]:
    swaps = [row for row in measured if row.calibration == "swap"]
    if any(row.moment.value == 0 for row in swaps):
        yield Finding(
            code="pairs_do_not_differ",
            text="The two sides of every pair are equal: they say nothing about noise.",
        )
    if pairs.record is None:
        yield Finding(
            code="records_not_named",
            text="The pairs do not name their records: the swap calibration holds for the"
            " average record only, and only if the record of every pair was drawn at random,"
            " afresh for each.",
        )
        return
    records = len(np.unique(pairs.record))
    yield Finding(
        code="tested_records_only",
        text=f"The swap calibration speaks for the {records} records that the pairs exchange,"
        " not for others; it is chosen only with --protect tested-records.",
    )
    worst = [row for row in swaps if row.protects == "tested-records"]
    if any(row.moment.validity == "not-an-interval" for row in worst):
        yield Finding(
            code="few_pairs_of_a_record",
            text=f"A record has fewer than {FEWEST_PAIRS} pairs: the largest swap distance"
            " has no limits, and its estimate is the scale.",
        )
