"""The report on a promise of membership-inference privacy: the noise it takes, in multiples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.noise_multiples import Known, noise_calibrations
from mipaudit.commands.noise.report import NoiseReport
from mipaudit.maths.mip import allowed_gap, equivalent_epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.noise.measured import Applied, Measured
    from mipaudit.commands.noise.options import NoiseOptions
    from mipaudit.statements.estimate import Finding
    from mipaudit.statements.origin import InputFile

_HALF: Final = 0.5
LIMITATIONS: Final = (
    (
        "eta limits an attacker's accuracy on average over what may be released: one release "
        "can still give a record away, with a probability of up to eta divided by the smaller of "
        "the shares in and out of the training set (2 eta where half is trained on)."
    ),
    (
        "It does not compose: two releases that are each private can together give every "
        "record away. The etas of moment, swap and direct noise add up only if all releases were "
        "fixed before any was seen, with independent noise and the same training set. Otherwise "
        "use differential privacy."
    ),
    (
        "It is about who, of the records at hand, was trained on; not about who is among "
        "these records, nor about what can be learnt of a person."
    ),
)


def promise_report(
    asked: NoiseOptions,
    *,
    dimension: int | None = None,
    measured: Measured | None = None,
    applied: Applied | None = None,
    inputs: Sequence[InputFile] = (),
    findings: Sequence[Finding] = (),
    limitations: Sequence[str] = (),
) -> NoiseReport:
    """Return the report: the multipliers, and what was measured and applied, if anything."""
    from mipaudit.statements.provenance import provenance

    eta, k, q = asked.eta, asked.k, asked.train_fraction
    gap = allowed_gap(eta, q)
    known = Known(
        moment=asked.moment,
        swap_distance=asked.swap_distance,
        sensitivity=asked.sensitivity,
        dimension=dimension or asked.dimension or 1,
    )
    return NoiseReport(
        command="noise",
        eta=eta,
        k=k if math.isfinite(k) else None,
        train_fraction=q,
        advantage=min(1.0, abs(2 * q - 1) + 2 * eta),
        equivalent_epsilon=equivalent_epsilon(eta, q) if gap < 1 else None,
        dimension=known.dimension,
        calibrations=noise_calibrations(eta=eta, k=k, train_fraction=q, known=known),
        measured=measured,
        applied=applied,
        findings=(*_findings(gap, q), *findings),
        limitations=(*LIMITATIONS, *limitations),
        provenance=provenance(seed=asked.seed, inputs=inputs, settings=asked.recorded()),
    )


def _findings(gap: float, train_fraction: float) -> tuple[Finding, ...]:
    if gap >= 1:
        code = "no_noise_needed"
        text = (
            "Any release keeps this promise without noise: eta is at least the smaller of the "
            "fractions in and out of the training set."
        )
    elif train_fraction != _HALF:
        code = "paper_needs_half"
        text = "The published calibration is for training sets of half of the records."
    else:
        return ()
    # Most answers have none, and a data class takes time.
    from mipaudit.statements.estimate import Finding

    return (Finding(code=code, text=text),)
