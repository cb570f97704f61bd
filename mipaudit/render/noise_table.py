"""The table of ``noise``, in plain text: it is there before rich could be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import count_text, lower_figure, number_text, upper_figure
from mipaudit.render.plain import annotated, columns, paragraph
from mipaudit.report.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.report.noise import Applied, Measured, NoiseCandidate, NoiseReport

_DIGITS: Final = 6
_FEW: Final = 20
_CALIBRATIONS: Final = {
    "paper": "Izzo et al. 2022, Theorem 7 and Corollary 8",
    "moment": "docs/mip-noise.md, section 3: the tighter theorem",
    "swap": "docs/mip-noise.md, section 5: one record exchanged",
    "dp": "differential privacy at the equivalent epsilon",
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
        yield _measured(report.measured, width)
    if report.applied is not None:
        yield _applied(report.applied, width)
    yield _bullets("Findings", [f"{f.code}: {f.text}" for f in report.findings], width)
    yield _bullets("Keep in mind", report.limitations, width)


def _promise(report: NoiseReport, width: int) -> str:
    eta, q = number_text(report.eta), report.train_fraction
    guess = number_text(max(q, 1 - q))
    text = (
        f"The promise: whoever sees the release tells a member from another record with an "
        f"accuracy of at most {guess} + {eta} (eta {eta}, advantage {number_text(report.advantage)}"
    )
    if report.equivalent_epsilon is not None:
        text += f", as differential privacy with epsilon {lower_figure(report.equivalent_epsilon)}"
    return paragraph(f"{text}).", width=width)


def _multipliers(report: NoiseReport, width: int) -> str:
    if not report.calibrations:
        return ""
    rows = [
        [row.calibration, row.mechanism, _figure(row.multiplier), f"x {row.of}", row.needs]
        for row in report.calibrations
    ]
    header = ["calibration", "noise", "scale", "", "which is"]
    table = annotated(_once(rows), header=header, width=width)
    sources = dict.fromkeys(row.calibration for row in report.calibrations)
    legend = "".join(
        paragraph(f"{name}: {_CALIBRATIONS[name]}", width=width, indent="    ", first="  ")
        for name in sources
    )
    return f"{table}\n{legend}"


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
        f"For a release of {count_text(report.dimension)} "
        f"number{'s' * (report.dimension != 1)} (error: root mean square; length: its mean)"
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


def _measured(measured: Measured, width: int) -> str:
    unit = "each number's spread over the splits"
    if measured.error_units == "given":
        unit = "the units of the table"
    about = (
        f"{count_text(measured.n_splits)} splits of {count_text(measured.n_coordinates)} numbers"
    )
    if measured.n_pairs:
        about += f", {count_text(measured.n_pairs)} swap pairs"
    title = f"Calibrated on {about}; errors in units of {unit}."
    if measured.skipped_columns:
        title += f" Not taken: {_names(measured.skipped_columns)}."
    header = ["", "calibration", "noise", "shape", "moment", "from", "to", "scale", "total error"]
    rows = [_candidate(candidate) for candidate in measured.candidates]
    parts = [paragraph(title, width=width)]
    if rows:
        parts.append("\n" + columns(rows, header=header, numbers=5))
        parts.append(_legend(measured.candidates, width))
    if measured.coordinates:
        parts.append("\n" + _coordinates(measured))
    return "".join(parts)


def _candidate(candidate: NoiseCandidate) -> list[str]:
    moment = candidate.moment
    return [
        "->" if candidate.chosen else "",
        candidate.calibration + _PROTECTS[candidate.protects],
        candidate.mechanism,
        candidate.shape,
        upper_figure(moment.value),
        "-" if moment.lower is None else lower_figure(moment.lower),
        "-" if moment.upper is None else upper_figure(moment.upper),
        upper_figure(candidate.scale),
        upper_figure(candidate.total_error**0.5),
    ]


_PROTECTS: Final = {
    "every-record": "",
    "tested-records": ", tested records",
    "average-record": ", average record",
}


def _legend(candidates: tuple[NoiseCandidate, ...], width: int) -> str:
    chosen = next((c for c in candidates if c.chosen), None)
    if chosen is None:
        return ""
    basis = {
        "finite-sample": "a limit that holds at every sample size",
        "approximate": "an approximate limit",
        "not-an-interval": "an estimate without limits",
    }[chosen.moment.validity]
    number = "upper limit" if chosen.scaled_by == "upper" else "value"
    count = count_text(chosen.moment.n_splits)
    text = (
        f"-> is chosen: the least total error. Its scale is {upper_figure(chosen.multiplier)} "
        f"times the {number} of its moment: {basis}, from {count} of the splits, at "
        f"{number_text(chosen.moment.confidence)} confidence. The moments are in the "
        "norm of each shape and do not compare; the total errors do."
    )
    return paragraph(text, width=width, indent="  ")


def _coordinates(measured: Measured) -> str:
    rows = [
        [safe_name(c.column), upper_figure(c.noise_rms), upper_figure(c.spread)]
        for c in measured.coordinates[:_FEW]
    ]
    table = columns(rows, header=["number", "noise (rms)", "spread over splits"], numbers=2)
    rest = len(measured.coordinates) - _FEW
    return table + (f"  ... and {count_text(rest)} more\n" if rest > 0 else "")


def _applied(applied: Applied, width: int) -> str:
    text = (
        f"Added to {count_text(applied.n_coordinates)} numbers, with random numbers from "
        f"the {applied.entropy}. Rounding: {applied.rounding}."
    )
    if applied.clipped:
        text += " The release lay outside the ball and was clipped."
    return paragraph(text, width=width)


def _bullets(title: str, texts: tuple[str, ...] | list[str], width: int) -> str:
    if not texts:
        return ""
    lines = (paragraph(text, width=width, indent="    ", first="  - ") for text in texts)
    return f"{title}\n" + "".join(lines)


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(safe_name(name) for name in names[:_FEW])
    return shown if len(names) <= _FEW else f"{shown} and {count_text(len(names) - _FEW)} more"


def _figure(number: float | None) -> str:
    return "beyond floats" if number is None else upper_figure(number, digits=_DIGITS)
