"""A promise of membership-inference privacy, checked, and the noise it takes in multiples."""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from mipaudit.commands.noise.noise_multiples import Known, noise_calibrations
from mipaudit.commands.noise.report import NoiseReport
from mipaudit.maths.mip import allowed_gap, equivalent_epsilon
from mipaudit.options.plain_values import number, optional, require, whole
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.commands.noise.report import Applied, Measured
    from mipaudit.statements.origin import InputFile, Setting

_HALF: Final = 0.5
# What only makes sense beside a table of splits; with the value that stands for "not given".
_OF_SPLITS: Final = {
    "pairs": None,
    "columns": (),
    "ignore": (),
    "strict": False,
    "clip_radius": None,
    "clip_centre": None,
    "calibration": None,
    "mechanism": None,
    "shape": None,
    "confidence": 0.95,
    "protect": "every-record",
    "error_units": "standardised",
    "scaled_by": "upper",
    "seed": None,
}
_OF_KNOWN: Final = ("moment", "swap_distance", "sensitivity", "dimension")
# Beyond these the answer is no longer a float.
_SMALLEST_ETA: Final = 1e-12
_ETA: Final = "eta must be above 0 (at least 1e-12) and below 0.5."
_K: Final = "k must be at least 1; it may be inf."
_FRACTION: Final = "The train fraction must be above 0 and below 1."

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What is promised.

    Attributes:
        eta: accuracy above guessing that is left to an attacker, in (0, 1/2).
        k: order of the moment of the published calibration.
        train_fraction: q in (0, 1).
        known: what is known of the release.
    """

    eta: float
    k: float
    train_fraction: float
    known: Known


def check_promise(given: Mapping[str, Any]) -> Promise:
    """Return the promise.

    Raises:
        UsageError: a number is out of its range, or has no meaning beside another.
    """
    eta, k = number("eta", given["eta"], _ETA), number("k", given["k"], _K)
    q = number("train_fraction", given["train_fraction"], _FRACTION)
    require(
        _SMALLEST_ETA <= eta < _HALF,
        "eta",
        _ETA,
        "It is the accuracy above guessing that is left to an attacker, such as 0.1.",
    )
    require(k >= 1, "k", _K)
    require(0 < q < 1, "train_fraction", _FRACTION)
    _check_company(given)
    return Promise(
        eta=eta,
        k=k,
        train_fraction=q,
        known=Known(
            moment=_size("moment", given),
            swap_distance=_size("swap_distance", given),
            sensitivity=_size("sensitivity", given),
            dimension=_dimension(given["dimension"]),
        ),
    )


def _check_company(given: Mapping[str, Any]) -> None:
    """Refuse settings that would silently do nothing."""
    if given["splits"] is None:
        idle = [name for name, none in _OF_SPLITS.items() if _is_given(given[name], none)]
        require(
            not idle,
            "needs_splits",
            f"--{_option(idle)} has no meaning without random splits.",
            "Add --from SPLITS: a table with the release on many random splits.",
        )
        return
    idle = [name for name in _OF_KNOWN if given[name] is not None]
    require(
        not idle,
        "measured_instead",
        f"--{_option(idle)} has no meaning beside --from: the splits say it.",
    )


def _is_given(value: object, default: object) -> bool:
    if isinstance(value, Sized) and not isinstance(value, str):
        return len(value) > 0  # an array is not compared
    return value != default


def _option(names: Sequence[str]) -> str:
    return "".join(names[:1]).replace("_", "-")


def _size(name: str, given: Mapping[str, Any]) -> float | None:
    accepted = f"The {name.replace('_', ' ')} must be above 0 and finite."
    size = optional(name, given[name], accepted)
    require(size is None or 0 < size < math.inf, name, accepted)
    return size


def _dimension(given: object) -> int:
    dimension = 1 if given is None else whole("dimension", given)
    require(
        1 <= dimension <= 10**12, "dimension", "The dimension must be at least 1 and at most 1e12."
    )
    return dimension


def promise_report(  # noqa: PLR0913 - the parts of a report
    promise: Promise,
    *,
    given: Mapping[str, Any],
    settings: Sequence[Setting] | None,
    dimension: int | None = None,
    measured: Measured | None = None,
    applied: Applied | None = None,
    inputs: Sequence[InputFile] = (),
    findings: Sequence[Finding] = (),
    limitations: Sequence[str] = (),
) -> NoiseReport:
    """Return the report: the multipliers, and what was measured and applied, if anything."""
    from mipaudit.statements.provenance import provenance, settings_from

    q = promise.train_fraction
    gap = allowed_gap(promise.eta, q)
    known = replace(promise.known, dimension=dimension or promise.known.dimension)
    if settings is None:
        shown = {k: v for k, v in given.items() if k not in {"splits", "pairs"}}
        settings = settings_from(shown, source="api")
    return NoiseReport(
        command="noise",
        eta=promise.eta,
        k=promise.k if math.isfinite(promise.k) else None,
        train_fraction=q,
        advantage=min(1.0, abs(2 * q - 1) + 2 * promise.eta),
        equivalent_epsilon=equivalent_epsilon(promise.eta, q) if gap < 1 else None,
        dimension=known.dimension,
        calibrations=noise_calibrations(
            eta=promise.eta, k=promise.k, train_fraction=q, known=known
        ),
        measured=measured,
        applied=applied,
        findings=(*_findings(gap, q), *findings),
        limitations=(*LIMITATIONS, *limitations),
        provenance=provenance(seed=given["seed"], inputs=inputs, settings=settings),
    )


def _findings(gap: float, train_fraction: float) -> tuple[Finding, ...]:
    if gap >= 1:
        return (
            Finding(
                code="no_noise_needed",
                text="Any release keeps this promise without noise: eta is at least the smaller "
                "of the fractions in and out of the training set.",
            ),
        )
    if train_fraction != _HALF:
        return (
            Finding(
                code="paper_needs_half",
                text="The published calibration is for training sets of half of the records.",
            ),
        )
    return ()
