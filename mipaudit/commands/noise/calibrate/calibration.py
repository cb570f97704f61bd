"""The least noise that keeps a promise of membership-inference privacy, from split data.

The choice between candidates, what to say where none is left, and what a reader must know.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.candidate import Candidate, make_candidate
from mipaudit.commands.noise.calibrate.demand import Demand, check_demand
from mipaudit.commands.noise.calibrate.measurement import PAPER_FRACTION, Measured, measure
from mipaudit.commands.noise.calibrate.split_halves import (
    FEWEST_SPLITS,
    Share,
    Workbench,
    may_choose,
    mechanisms_for,
    prepare,
)
from mipaudit.commands.noise.calibrate.swap import FEWEST_PAIRS, SwapPairs
from mipaudit.commands.noise.mechanisms.clipping import count_outside
from mipaudit.errors import InputError
from mipaudit.maths.mip import Mechanism, allowed_gap
from mipaudit.statements.estimate import Finding

Array = NDArray[np.float64]


def choose(
    candidates: tuple[Candidate, ...], demand: Demand, bench: Workbench, pairs: SwapPairs | None
) -> Candidate:
    """Return the allowed candidate of least total error.

    Raises:
        InputError: there is none.
    """
    allowed = [
        candidate
        for candidate in candidates
        if may_choose(candidate.calibration, candidate.protects, demand)
        and (candidate.guaranteed or not demand.sure)
    ]
    if allowed:
        return min(allowed, key=lambda candidate: candidate.cost.total)
    if demand.sure and "direct" in demand.allow:
        raise _no_direct(demand, bench, pairs)
    raise InputError(
        "no_calibration_left",
        f"None of {len(candidates)} calibrations is allowed and can be scaled.",
        hint="Allow the moment calibration (in strict mode: direct) and isotropic noise, or"
        " give more splits and pairs.",
    )


def _no_direct(demand: Demand, bench: Workbench, pairs: SwapPairs | None) -> InputError:
    count, dimension = bench.splits.shape
    needed = Share.of(demand, dimension, pairs).fewest_splits(count)
    if needed > count:
        return InputError(
            "too_few_splits_for_eta",
            f"{count} splits are too few for this eta in strict mode: no noise, however large,"
            f" could be shown to be enough. At least {needed} are needed.",
            hint="Give more splits, or allow one kind and shape of noise only: every kind that"
            " is considered takes a share of the error.",
        )
    return InputError(
        "constant_release",
        f"All of the {len(bench.second)} splits that scale the noise gave the same vector.",
        hint="Check that the rows are different random splits.",
    )


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
        " not for others; it is chosen only with `protect` tested-records.",
    )
    worst = [row for row in swaps if row.protects == "tested-records"]
    if any(row.moment.validity == "not-an-interval" for row in worst):
        yield Finding(
            code="few_pairs_of_a_record",
            text=f"A record has fewer than {FEWEST_PAIRS} pairs: the largest swap distance"
            " has no limits, and its estimate is the scale.",
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """What the splits say about noise.

    Attributes:
        demand: what was asked; with a ball in it, the release must be clipped into the
            ball before the noise is added.
        gap: total variation between "in" and "out" that eta leaves room for; at 1 or above
            no noise is needed, and there are no candidates.
        candidates: all that were considered, in a fixed order.
        chosen: the one of least total error in ``error_units`` among those that the demand
            allows; None only where no noise is needed.
        error_units: (d,) units of the total error.
        constant: positions of the coordinates that are constant over the splits.
        n_splits: rows of the table.
        findings: what the reader must know.
    """

    demand: Demand
    gap: float
    candidates: tuple[Candidate, ...]
    chosen: Candidate | None
    error_units: Array
    constant: tuple[int, ...]
    n_splits: int
    findings: tuple[Finding, ...]


def calibrate(
    splits: Array, demand: Demand, rng: np.random.Generator, pairs: SwapPairs | None = None
) -> Calibration:
    """Find the noise of least error that makes a release eta-MIP.

    Isotropic noise is scaled on all splits. Other shapes are made from one random half and
    scaled on the other one. In strict mode all scales are from one half, only calibrations
    that may be chosen are considered (and the published one, for comparison), and every
    limit is taken at its share of the error (Bonferroni over all limits computed), because
    the choice looks at them.

    Args:
        splits: (B, d) finite numbers: the vector that would be released, computed on B
            random splits that are independent of each other and of the split behind the
            actual release. B at least 4.
        demand: the promise, and what may be done to keep it.
        rng: draws the halves.
        pairs: releases before and after one record is exchanged.

    Returns:
        The candidates and the choice.

    Raises:
        InputError: the splits cannot be used, or none of the allowed calibrations can.
        UsageError: the demand is out of range.
    """
    _check_splits(splits)
    _check_pairs(pairs, splits.shape[1])
    check_demand(demand, splits.shape[1])
    bench = prepare(splits, demand, rng)
    gap = allowed_gap(demand.eta, demand.train_fraction)
    measured: list[Measured] = []
    if gap < 1:
        _refuse_constant(bench, demand)
        measured = list(measure(bench, demand, pairs, rng))
    candidates = tuple(_candidates(measured, demand, bench))
    return Calibration(
        demand=demand,
        gap=gap,
        candidates=candidates,
        chosen=choose(candidates, demand, bench, pairs) if gap < 1 else None,
        error_units=bench.error_units,
        constant=bench.constant,
        n_splits=len(splits),
        findings=(*bench.findings, *calibration_findings(bench, demand, gap, measured, pairs)),
    )


def _check_splits(splits: Array) -> None:
    if splits.ndim != 2 or splits.shape[1] == 0:  # noqa: PLR2004 - rows and columns
        raise InputError("no_coordinates", "The table of splits has no numeric columns.")
    if len(splits) < FEWEST_SPLITS:
        raise InputError(
            "too_few_splits",
            f"The table has {len(splits)} splits; at least {FEWEST_SPLITS} are needed.",
            hint="Run the release on more random splits: 100 or more give useful limits.",
        )


def _check_pairs(pairs: SwapPairs | None, dimension: int) -> None:
    if pairs is None:
        return
    sides = {pairs.in_side.shape, pairs.out_side.shape}
    if len(sides) > 1 or pairs.in_side.shape[1:] != (dimension,):
        raise InputError(
            "pairs_do_not_match",
            f"Both sides of every pair must have the {dimension} coordinates of the splits.",
        )
    count = len(pairs.in_side)
    if count < 2:  # noqa: PLR2004 - a spread needs two
        raise InputError("too_few_pairs", f"There are {count} pairs; at least 2 are needed.")
    if pairs.record is not None and len(pairs.record) != count:
        raise InputError(
            "pairs_without_record",
            f"There are {count} pairs and {len(pairs.record)} record ids.",
            hint="Name the record of every pair, or of none.",
        )


def _refuse_constant(bench: Workbench, demand: Demand) -> None:
    """Refuse splits without variation, unless a ball limits what they do not show."""
    if len(bench.constant) == bench.splits.shape[1] and demand.ball is None:
        raise InputError(
            "constant_release",
            f"All {len(bench.splits)} splits gave the same vector, so that no noise can be"
            " calibrated on them: a release that does not depend on the split needs none,"
            " and one that rarely does may need much.",
            hint="Check that the rows are different random splits, or give a clip radius.",
        )


def _candidates(measured: list[Measured], demand: Demand, bench: Workbench) -> Iterator[Candidate]:
    for row in measured:
        mechanisms: tuple[Mechanism, ...] = mechanisms_for(
            row.shape.kind, row.shape.units.size, demand
        )
        if row.calibration == "paper":
            mechanisms = ("norm-exponential",)
        for mechanism in mechanisms:
            candidate = make_candidate(row, mechanism, demand, bench.error_units)
            if candidate is not None:
                yield candidate
