"""What a report on noise shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.page_calibrated import calibrated_sections, exact_text, numbers_text
from mipaudit.formats.document import (
    Case,
    Document,
    Grid,
    Heading,
    Pairs,
    Paragraph,
    bulleted,
)
from mipaudit.statements.text.rounding import (
    lower_figure,
    number_text,
    upper_figure,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.noise.report import Applied, NoiseReport
    from mipaudit.formats.document import Section

_DIGITS: Final = 6
_CALIBRATIONS: Final = {
    "paper": "Izzo et al. 2022, Theorem 7 and Corollary 8",
    "moment": "docs/mip-noise.md, section 3: the tighter theorem",
    "swap": "docs/mip-noise.md, section 5: one record exchanged",
    "dp": "differential privacy at the equivalent epsilon",
}
_NOISES: Final = {
    "laplace": "density ~ exp(-|x| / scale); for a release of one number",
    "norm-exponential": "density ~ exp(-||x|| / scale)",
    "gaussian": "the scale is the standard deviation of each number",
}


def noise_document(report: NoiseReport) -> Document:
    """Return the report as a document; it decides nothing, so no pipeline can wait for it."""
    nothing = "noise says what a promise takes, and judges nothing"
    return Document(
        title="mipaudit noise",
        headline="",
        mood="plain",
        summary="",
        sections=tuple(section for section in _sections(report) if section),
        cases=(Case(group="noise", name="verdict", status="skipped", text=nothing),),
        created=report.provenance.created,
    )


def _sections(report: NoiseReport) -> Iterator[Section]:
    yield (_promise(report),)
    if report.measured is None:
        yield from _multipliers(report)
        yield _scales(report)
        yield _breakeven(report)
    else:
        yield from calibrated_sections(report.measured)
    if report.applied is not None:
        yield (_applied(report.applied, needed=report.equivalent_epsilon is not None),)
    yield bulleted("Findings", tuple(f"{f.code}: {f.text}" for f in report.findings))
    yield bulleted("Keep in mind", report.limitations)


def _promise(report: NoiseReport) -> Paragraph:
    eta, guess = report.eta, max(report.train_fraction, 1 - report.train_fraction)
    text = (
        f"The promise: whoever sees the release says of {_protected(report)} whether it was "
        f"trained on with an accuracy of at most {exact_text(min(1.0, guess + eta))}: "
        f"{exact_text(guess)} by guessing, and eta = {number_text(eta)} above. That is an "
        f"advantage of {exact_text(report.advantage)}"
    )
    if report.equivalent_epsilon is not None:
        epsilon = lower_figure(report.equivalent_epsilon)
        text += f", as with differential privacy (one record exchanged) at epsilon {epsilon}"
    return Paragraph(text=f"{text}.")


def _protected(report: NoiseReport) -> str:
    candidates = report.measured.candidates if report.measured is not None else ()
    chosen = next((c.protects for c in candidates if c.chosen), "every-record")
    return {
        "tested-records": "any of the records that the pairs exchange",
        "average-record": "a record picked at random",
    }.get(chosen, "any record")


def _multipliers(report: NoiseReport) -> Iterator[Section]:
    if not report.calibrations:
        return
    rows = [
        [row.calibration, row.mechanism, _figure(row.multiplier), f"x {row.of}", row.needs]
        for row in report.calibrations
    ]
    title = "The scale of the noise that keeps it, by each calibration"
    table = Grid(
        caption=title,
        head=("calibration", "noise", "scale", "", "which is"),
        rows=tuple(map(tuple, _once(rows))),
        words=4,
        prose=True,
    )
    yield (Heading(text=title, level=3), table)
    named = dict.fromkeys(row.calibration for row in report.calibrations)
    noises = {row.mechanism for row in report.calibrations}
    kinds = ((name, text) for name, text in _NOISES.items() if name in noises)
    yield (Pairs(pairs=(*((name, _CALIBRATIONS[name]) for name in named), *kinds)),)


def _once(rows: list[list[str]]) -> list[list[str]]:
    """Name each calibration, and say what it needs, in its first row only."""
    seen: set[str] = set()
    once = []
    for row in rows:
        first = row[0] not in seen
        seen.add(row[0])
        once.append(row if first else ["", *row[1:-1], ""])
    return once


def _scales(report: NoiseReport) -> Section:
    known = [row for row in report.calibrations if row.scale is not None]
    if not known:
        return ()
    title = (
        f"For a release of {numbers_text(report.dimension)} "
        "(error: root mean square; length: Euclidean, its mean)"
    )
    table = Grid(
        caption=title,
        head=("calibration", "noise", "scale", "error of a number", "length of the error"),
        rows=tuple(
            (
                row.calibration,
                row.mechanism,
                _figure(row.scale),
                _figure(row.coordinate_rms),
                _figure(row.expected_norm),
            )
            for row in known
        ),
        words=2,
    )
    return (Heading(text=title, level=3), table)


def _breakeven(report: NoiseReport) -> Section:
    rows = tuple(
        (row.calibration, row.mechanism, f"{row.of} < {lower_figure(limit)} x sensitivity")
        for row in report.calibrations
        if (limit := row.quieter_than_dp_below) is not None and limit > 0
    )
    if not rows:
        return ()
    title = "Less noise than differential privacy with the same kind of noise, where"
    return (Paragraph(text=title), Grid(caption=title, head=("", "", ""), rows=rows, words=3))


def _applied(applied: Applied, *, needed: bool) -> Paragraph:
    count = numbers_text(applied.n_coordinates)
    if not needed:
        return Paragraph(text=f"Nothing was added to the {count} of the release.")
    return Paragraph(
        text=f"Noise was added to {count}, with random numbers from the {applied.entropy}. "
        f"Rounding: {applied.rounding}."
    )


def _figure(number: float | None) -> str:
    return "beyond floats" if number is None else upper_figure(number, digits=_DIGITS)
