"""The least noise that keeps a promise of membership-inference privacy, from split data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.commands.noise.calibrate.best import choose
from mipaudit.commands.noise.calibrate.candidate import make_candidate
from mipaudit.commands.noise.calibrate.demand import check_demand
from mipaudit.commands.noise.calibrate.error_share import mechanisms_for
from mipaudit.commands.noise.calibrate.findings import calibration_findings
from mipaudit.commands.noise.calibrate.measurement import measure
from mipaudit.commands.noise.calibrate.split_halves import FEWEST_SPLITS, prepare
from mipaudit.errors import InputError
from mipaudit.maths.mip import allowed_gap

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.commands.noise.calibrate.candidate import Candidate
    from mipaudit.commands.noise.calibrate.demand import Demand
    from mipaudit.commands.noise.calibrate.measurement import Measured
    from mipaudit.commands.noise.calibrate.split_halves import Workbench
    from mipaudit.commands.noise.calibrate.swap import SwapPairs
    from mipaudit.maths.mip import Mechanism
    from mipaudit.statements.estimate import Finding

    Array = NDArray[np.float64]


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
