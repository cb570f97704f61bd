"""The choice between candidates, and what to say where none is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.noise.calibrate.error_share import Share, may_choose
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from mipaudit.commands.noise.calibrate.candidate import Candidate
    from mipaudit.commands.noise.calibrate.demand import Demand
    from mipaudit.commands.noise.calibrate.split_halves import Workbench
    from mipaudit.commands.noise.calibrate.swap import SwapPairs


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
