"""What a report on noise concludes: its answer and its remarks, as codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.commands.noise.measured import NoiseCandidate
    from mipaudit.commands.noise.report import NoiseCalibration, NoiseReport


def answer(report: NoiseReport) -> Message:
    """Return how much noise keeps the promise: for any data, or as the splits measure it."""
    if report.equivalent_epsilon is None:
        return Message("noise_not_needed")
    chosen = chosen_of(report)
    if report.measured is not None and chosen is None:
        return Message("no_noise_keeps")
    if chosen is not None:
        return Message.of(
            "noise_of_splits",
            eta=report.eta,
            mechanism=chosen.mechanism,
            scale=chosen.scale,
            calibration=chosen.calibration,
            shape=chosen.shape,
        )
    known = [one for one in report.calibrations if one.calibration == "dp" and one.multiplier]
    least = min(known, key=lambda one: one.multiplier or 0.0)
    return Message.of(
        "noise_for_any_data",
        eta=report.eta,
        mechanism=least.mechanism,
        multiplier=least.multiplier,
        of=least.of,
    )


def remarks(report: NoiseReport) -> Iterator[Message]:
    """Yield what was added, what the chosen noise rests on, or what each calibration needs."""
    applied, chosen = report.applied, chosen_of(report)
    if applied is not None and report.equivalent_epsilon is None:
        yield Message.of("nothing_added", numbers=applied.n_coordinates)
    elif applied is not None:
        yield Message.of(
            "noise_added",
            numbers=applied.n_coordinates,
            entropy=applied.entropy,
            rounding=applied.rounding,
        )
    if chosen is not None:
        yield _grounds(chosen)
    if report.measured is None:
        needs = {one.calibration: one.of for one in report.calibrations}
        yield from (Message.of(f"needs_{name}", of=of) for name, of in needs.items())


def protected(report: NoiseReport) -> Message:
    """Return whom the promise is made to."""
    chosen = chosen_of(report)
    return Message((chosen.protects if chosen is not None else "every-record").replace("-", "_"))


def chosen_of(report: NoiseReport) -> NoiseCandidate | None:
    """Return the calibration that is recommended and applied, if splits were measured."""
    candidates = () if report.measured is None else report.measured.candidates
    return next((one for one in candidates if one.chosen), None)


def _grounds(chosen: NoiseCandidate) -> Message:
    """Return what the scale of the chosen noise rests on."""
    basis = chosen.gap or chosen.moment
    number = f"number_{basis.validity if chosen.scaled_by == 'upper' else 'value'}"
    swap = "swap_" if "swap" in chosen.calibration else ""
    return Message.of(
        f"scale_of_{swap}{'moment' if chosen.gap is None else 'move'}",
        number=Message.of(number, confidence=basis.confidence),
        n_splits=basis.n_splits,
        multiplier=chosen.multiplier,
        at_most=None if chosen.gap is None else chosen.gap.at_most,
    )


def guessing(report: NoiseReport) -> float:
    """Return the accuracy of guessing without the release."""
    return max(report.train_fraction, 1 - report.train_fraction)


def accuracy(report: NoiseReport) -> float:
    """Return the most that an attacker may reach."""
    return min(1.0, guessing(report) + report.eta)


def multipliers(report: NoiseReport) -> tuple[NoiseCalibration, ...]:
    """Return the calibrations, where no splits say more."""
    return report.calibrations if report.measured is None else ()


def given_units(report: NoiseReport) -> bool:
    """Tell whether errors are in the units of the table, and not of each number's spread."""
    return report.measured is not None and report.measured.error_units == "given"
