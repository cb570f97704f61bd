"""What a report on noise shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.brief import Brief
from mipaudit.formats.document import Case, Document, Grid, Heading, Note, Pairs, Paragraph, framed
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_figure,
    lower_text,
    number_text,
    upper_figure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mipaudit.commands.noise.measured import Applied, Measured, NoiseCandidate
    from mipaudit.commands.noise.report import NoiseCalibration, NoiseReport
    from mipaudit.formats.document import Section

_EXACT: Final = 12
_FEW: Final = 20
_UNITS: Final = "Moments of different shapes are in different units; only total errors compare."
PROTECTS: Final = {
    "every-record": "",
    "tested-records": ", tested records",
    "average-record": ", average record",
}
_DIGITS: Final = 6
_KIND: Final[tuple[tuple[str, Callable[[NoiseCalibration], str]], ...]] = (
    ("calibration", lambda one: one.calibration),
    ("noise", lambda one: one.mechanism),
)
_CALIBRATIONS: Final = {
    "paper": "Izzo et al. 2022, Theorem 7 and Corollary 8",
    "moment": "mipaudit help methods, section 28.3: the tighter theorem",
    "swap": "mipaudit help methods, section 28.5: one record exchanged",
    "dp": "differential privacy at the equivalent epsilon",
}
_NOISES: Final = {
    "laplace": "density ~ exp(-|x| / scale); for a release of one number",
    "norm-exponential": "density ~ exp(-||x|| / scale)",
    "gaussian": "the scale is the standard deviation of each number",
}


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
    if measured.skipped_columns:
        title += f" Not taken: {_names(measured.skipped_columns)}."
    yield (Paragraph(text=title),)
    if measured.candidates:
        table = Grid.of(
            measured.candidates,
            ("", lambda one: "->" if one.chosen else ""),
            ("calibration", lambda one: one.calibration + PROTECTS[one.protects]),
            ("noise", lambda one: one.mechanism),
            ("shape", lambda one: one.shape),
            ("scale", lambda one: upper_figure(one.scale)),
            ("total error", lambda one: upper_figure(one.total_error**0.5)),
            caption="Calibrations that were considered; the arrow marks the one that is chosen",
            words=4,
        )
        chosen = _chosen(measured)
        best = "-> is chosen: the least total error of those allowed."
        yield (table, *([] if chosen is None else [Note(text=f"{best} {_grounds(chosen)}")]))
        yield (_moments(measured.candidates), Note(text=_UNITS))
    if measured.coordinates:
        yield _coordinates(measured)


def _chosen(measured: Measured) -> NoiseCandidate | None:
    return next((one for one in measured.candidates if one.chosen), None)


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
            f"of a move (the mean of h: mipaudit help methods, sections 28.4 and 28.11), {of}, is "
            f"at most {upper_figure(chosen.gap.at_most)}. Its moment is for information."
        )
    multiplier = upper_figure(chosen.multiplier or 0.0)
    return f"Its scale is {multiplier} times the {number} of its moment, {of}."


def _coordinates(measured: Measured) -> Section:
    table = Grid.of(
        measured.coordinates[:_FEW],
        ("number", lambda one: safe_name(one.column)),
        ("noise (rms)", lambda one: upper_figure(one.noise_rms)),
        ("spread over splits", lambda one: upper_figure(one.spread)),
        caption="The chosen noise on each number of the release",
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


def noise_document(report: NoiseReport) -> Document:
    """Return the report as a document; it decides nothing, so no pipeline can wait for it."""
    nothing = "noise says what a promise takes, and judges nothing"
    case = Case(group="noise", name="verdict", status="skipped", text=nothing)
    return framed(report, _sections(report), cases=(case,))


def noise_brief(report: NoiseReport) -> Brief:
    """Return how much noise the promise takes, by each calibration."""
    if report.measured is not None:
        return _measured_brief(report, report.measured)
    table = Grid.of(
        report.calibrations,
        *_KIND,
        ("scale", lambda one: _figure(one.multiplier)),
        ("", lambda one: f"x {one.of}"),
        caption="",
        words=4,
    )
    needs = dict.fromkeys((row.of, row.needs) for row in report.calibrations)
    return Brief(
        answer=_promise_kept(report),
        mood="plain",
        about=_promise(report).text,
        tables=(table,) if table.rows else (),
        notes=tuple(f"{of}: {what}." for of, what in needs),
    )


def _promise_kept(report: NoiseReport) -> str:
    """Return the answer in a sentence: the least noise of a calibration for every release."""
    known = [one for one in report.calibrations if one.calibration == "dp" and one.multiplier]
    least = min(known, key=lambda one: one.multiplier or 0.0, default=None)
    if least is None:
        return "Every release keeps this promise: no noise is needed."
    return (
        f"{least.mechanism.capitalize()} noise of scale {_figure(least.multiplier)} x {least.of} "
        f"keeps eta = {number_text(report.eta)} for any data; less does if splits measure it."
    )


def _measured_brief(report: NoiseReport, measured: Measured) -> Brief:
    chosen = _chosen(measured)
    answer = "No calibration of these splits keeps the promise."
    if chosen is not None:
        answer = (
            f"{chosen.mechanism.capitalize()} noise of scale {upper_figure(chosen.scale)} keeps "
            f"eta = {number_text(report.eta)} ({chosen.calibration}, {chosen.shape} shape)."
        )
    notes = [] if chosen is None else [_grounds(chosen)]
    if report.applied is not None:
        notes.insert(0, _applied(report.applied, needed=report.equivalent_epsilon is not None).text)
    blocks = [block for part in calibrated_sections(measured) for block in part]
    return Brief(
        answer=answer,
        mood="plain",
        about=_promise(report).text,
        tables=tuple(block for block in blocks if isinstance(block, Grid))[:1],
        notes=tuple(notes),
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
    chosen = None if report.measured is None else _chosen(report.measured)
    return {
        "tested-records": "any of the records that the pairs exchange",
        "average-record": "a record picked at random",
    }.get(chosen.protects if chosen is not None else "", "any record")


def _multipliers(report: NoiseReport) -> Iterator[Section]:
    if not report.calibrations:
        return
    # Each calibration is named, and says what it needs, in its first row only.
    first = {one.calibration: one for one in reversed(report.calibrations)}
    title = "The scale of the noise that keeps it, by each calibration"
    table = Grid.of(
        report.calibrations,
        ("calibration", lambda one: one.calibration if first[one.calibration] is one else ""),
        ("noise", lambda one: one.mechanism),
        ("scale", lambda one: _figure(one.multiplier)),
        ("", lambda one: f"x {one.of}"),
        ("which is", lambda one: one.needs if first[one.calibration] is one else ""),
        caption=title,
        words=4,
        prose=True,
    )
    yield (Heading(text=title, level=3), table)
    named = dict.fromkeys(row.calibration for row in report.calibrations)
    noises = {row.mechanism for row in report.calibrations}
    kinds = ((name, text) for name, text in _NOISES.items() if name in noises)
    yield (Pairs(pairs=(*((name, _CALIBRATIONS[name]) for name in named), *kinds)),)


def _scales(report: NoiseReport) -> Section:
    known = [row for row in report.calibrations if row.scale is not None]
    if not known:
        return ()
    title = (
        f"For a release of {numbers_text(report.dimension)} "
        "(error: root mean square; length: Euclidean, its mean)"
    )
    table = Grid.of(
        known,
        *_KIND,
        ("scale", lambda one: _figure(one.scale)),
        ("error of a number", lambda one: _figure(one.coordinate_rms)),
        ("length of the error", lambda one: _figure(one.expected_norm)),
        caption=title,
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
