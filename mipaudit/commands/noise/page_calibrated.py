"""What ``noise`` found on random splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import Grid, Note, Paragraph
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_figure,
    lower_text,
    upper_figure,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.noise.report import Measured, NoiseCandidate
    from mipaudit.formats.document import Section

_EXACT: Final = 12
_FEW: Final = 20
_UNITS: Final = "Moments of different shapes are in different units; only total errors compare."


def calibrated_sections(measured: Measured) -> Iterator[Section]:
    """Yield the candidates, what the choice rests on, and the noise on each number."""
    unit = "each number in units of its spread over the splits"
    if measured.error_units == "given":
        unit = "in the units of the table"
    about = f"{count_text(measured.n_splits)} splits of {numbers_text(measured.n_coordinates)}"
    if measured.n_pairs:
        about += f" and {count_text(measured.n_pairs)} swap pairs"
    title = f"Calibrated on {about}."
    if measured.candidates:
        title += f" The total error is the root mean square length of the noise, {unit}."
    if measured.clip_radius is not None:
        radius = exact_text(measured.clip_radius)
        title += f" The release is first moved into a ball of radius {radius}."
    if measured.skipped_columns:
        title += f" Not taken: {_names(measured.skipped_columns)}."
    yield (Paragraph(text=title),)
    if measured.candidates:
        table = Grid(
            caption="Calibrations that were considered; the arrow marks the one that is chosen",
            head=("", "calibration", "noise", "shape", "scale", "total error"),
            rows=tuple(_candidate(candidate) for candidate in measured.candidates),
            words=4,
        )
        yield (table, *_legend(measured.candidates))
        yield (_moments(measured.candidates), Note(text=_UNITS))
    if measured.coordinates:
        yield _coordinates(measured)


def _candidate(candidate: NoiseCandidate) -> tuple[str, ...]:
    return (
        "->" if candidate.chosen else "",
        candidate.calibration + _PROTECTS[candidate.protects],
        candidate.mechanism,
        candidate.shape,
        upper_figure(candidate.scale),
        upper_figure(candidate.total_error**0.5),
    )


def _moments(candidates: tuple[NoiseCandidate, ...]) -> Grid:
    """Return the moments, each once: kinds of noise, and mostly calibrations, share them."""
    shared: dict[tuple[str, ...], dict[str, None]] = {}
    for candidate in candidates:
        moment = candidate.moment
        figures = (
            upper_figure(moment.value),
            "-" if moment.lower is None else lower_figure(moment.lower),
            "-" if moment.upper is None else upper_figure(moment.upper),
        )
        named = shared.setdefault((candidate.shape, *figures), {})
        named[candidate.calibration] = None
    return Grid(
        caption="Moments of the release that were estimated from the splits",
        head=("moment for", "shape", "estimate", "lower", "upper"),
        rows=tuple((", ".join(named), *row) for row, named in shared.items()),
        words=2,
    )


_PROTECTS: Final = {
    "every-record": "",
    "tested-records": ", tested records",
    "average-record": ", average record",
}


def _legend(candidates: tuple[NoiseCandidate, ...]) -> Section:
    chosen = next((c for c in candidates if c.chosen), None)
    if chosen is None:
        return ()
    text = f"-> is chosen: the least total error of those allowed. {_grounds(chosen)}"
    return (Note(text=text),)


def _grounds(chosen: NoiseCandidate) -> str:
    """Return what the scale of the chosen noise rests on."""
    basis = chosen.gap or chosen.moment
    sure = f" at {lower_text(basis.confidence).rstrip('0')} confidence"
    number = {
        "finite-sample": f"upper limit, which holds at every sample size{sure},",
        "approximate": f"upper limit, which is approximate{sure},",
        "not-an-interval": "best estimate, which has no limits,",
    }[basis.validity]
    if chosen.scaled_by != "upper":
        number = "best estimate"
    behind = "swap pairs" if "swap" in chosen.calibration else "of the splits"
    of = f"from {count_text(basis.n_splits)} {behind}"
    if chosen.gap is not None:
        return (
            f"Its scale is the least at which the {number} of what the noise leaves to be seen "
            f"of a move (the mean of h: docs/mip-noise.md, sections 4 and 11), {of}, is at most "
            f"{upper_figure(chosen.gap.at_most)}. Its moment is for information."
        )
    multiplier = upper_figure(chosen.multiplier or 0.0)
    return f"Its scale is {multiplier} times the {number} of its moment, {of}."


def _coordinates(measured: Measured) -> Section:
    table = Grid(
        caption="The chosen noise on each number of the release",
        head=("number", "noise (rms)", "spread over splits"),
        rows=tuple(
            (safe_name(c.column), upper_figure(c.noise_rms), upper_figure(c.spread))
            for c in measured.coordinates[:_FEW]
        ),
        words=1,
    )
    rest = len(measured.coordinates) - _FEW
    return (table, Note(text=f"... and {count_text(rest)} more")) if rest > 0 else (table,)


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(safe_name(name) for name in names[:_FEW])
    return shown if len(names) <= _FEW else f"{shown} and {count_text(len(names) - _FEW)} more"


def numbers_text(count: int) -> str:
    """Return how many numbers a release has."""
    return f"{count_text(count)} number{'s' * (count != 1)}"


def exact_text(number: float) -> str:
    """Return a sum of what the user chose, without what binary fractions add to it."""
    return upper_figure(number, digits=_EXACT)
