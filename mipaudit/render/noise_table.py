"""The table of ``noise``, in plain text: it is there before rich could be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import (
    lower_figure,
    number_text,
    upper_figure,
)
from mipaudit.render.noise_calibrated import calibrated_section, exact_text, numbers_text
from mipaudit.render.plain import annotated, columns, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.report.noise import Applied, NoiseReport

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


def render_noise(report: NoiseReport, *, width: int) -> str:
    """Return the report as text for people, lines up to ``width`` where prose allows."""
    return "\n".join(section for section in _sections(report, width) if section)


def _sections(report: NoiseReport, width: int) -> Iterator[str]:
    yield _promise(report, width)
    if report.measured is None:
        yield _multipliers(report, width)
        yield _scales(report)
        yield _breakeven(report, width)
    else:
        yield calibrated_section(report.measured, width)
    if report.applied is not None:
        yield _applied(report.applied, width, needed=report.equivalent_epsilon is not None)
    yield _bullets("Findings", [f"{f.code}: {f.text}" for f in report.findings], width)
    yield _bullets("Keep in mind", report.limitations, width)


def _promise(report: NoiseReport, width: int) -> str:
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
    return paragraph(f"{text}.", width=width)


def _protected(report: NoiseReport) -> str:
    candidates = report.measured.candidates if report.measured is not None else ()
    chosen = next((c.protects for c in candidates if c.chosen), "every-record")
    return {
        "tested-records": "any of the records that the pairs exchange",
        "average-record": "a record picked at random",
    }.get(chosen, "any record")


def _multipliers(report: NoiseReport, width: int) -> str:
    if not report.calibrations:
        return ""
    rows = [
        [row.calibration, row.mechanism, _figure(row.multiplier), f"x {row.of}", row.needs]
        for row in report.calibrations
    ]
    header = ["calibration", "noise", "scale", "", "which is"]
    title = "The scale of the noise that keeps it, by each calibration"
    table = annotated(_once(rows), header=header, width=width)
    sources = dict.fromkeys(row.calibration for row in report.calibrations)
    legend = "".join(
        paragraph(f"{name}: {_CALIBRATIONS[name]}", width=width, indent="    ", first="  ")
        for name in sources
    )
    noises = {row.mechanism for row in report.calibrations}
    legend += "".join(
        paragraph(f"{name}: {text}", width=width, indent="    ", first="  ")
        for name, text in _NOISES.items()
        if name in noises
    )
    return f"{title}\n{table}\n{legend}"


def _once(rows: list[list[str]]) -> list[list[str]]:
    """Name each calibration, and say what it needs, in its first row only."""
    seen: set[str] = set()
    once = []
    for row in rows:
        first = row[0] not in seen
        seen.add(row[0])
        once.append(row if first else ["", *row[1:-1], ""])
    return once


def _scales(report: NoiseReport) -> str:
    known = [row for row in report.calibrations if row.scale is not None]
    if not known:
        return ""
    header = ["calibration", "noise", "scale", "error of a number", "length of the error"]
    rows = [
        [
            row.calibration,
            row.mechanism,
            _figure(row.scale),
            _figure(row.coordinate_rms),
            _figure(row.expected_norm),
        ]
        for row in known
    ]
    title = (
        f"For a release of {numbers_text(report.dimension)} "
        "(error: root mean square; length: Euclidean, its mean)"
    )
    return f"{title}\n{columns(rows, header=header, numbers=3)}"


def _breakeven(report: NoiseReport, width: int) -> str:
    rows = [
        [row.calibration, row.mechanism, f"{row.of} < {lower_figure(limit)} x sensitivity"]
        for row in report.calibrations
        if (limit := row.quieter_than_dp_below) is not None and limit > 0
    ]
    if not rows:
        return ""
    title = "Less noise than differential privacy with the same kind of noise, where"
    return paragraph(title, width=width) + columns(rows)


def _applied(applied: Applied, width: int, *, needed: bool) -> str:
    count = numbers_text(applied.n_coordinates)
    if not needed:
        return paragraph(f"Nothing was added to the {count} of the release.", width=width)
    text = (
        f"Noise was added to {count}, with random numbers from the {applied.entropy}. "
        f"Rounding: {applied.rounding}."
    )
    return paragraph(text, width=width)


def _bullets(title: str, texts: tuple[str, ...] | list[str], width: int) -> str:
    if not texts:
        return ""
    lines = (paragraph(text, width=width, indent="    ", first="  - ") for text in texts)
    return f"{title}\n" + "".join(lines)


def _figure(number: float | None) -> str:
    return "beyond floats" if number is None else upper_figure(number, digits=_DIGITS)
