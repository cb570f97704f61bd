"""The pictures of a report on noise: how much each way to the promise adds, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.page import PROTECTS
from mipaudit.formats.drawing import BLACK, BLUE, ORANGE, Amount, amounts, drawn, legend_above
from mipaudit.maths.noise_scales import equivalent_epsilon, equivalent_mu
from mipaudit.statements.text.rounding import number_text, upper_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from mipaudit.commands.noise.measured import Measured, NoiseCandidate
    from mipaudit.commands.noise.report import NoiseCalibration, NoiseReport
    from mipaudit.formats.document import Picture
    from mipaudit.maths.noise_scales import Mechanism

_FACTOR: Final = 4.0  # promises so many times stricter and looser are drawn
_LOOSEST: Final = 0.9  # of what guessing alone leaves open
_POINTS: Final = 60
_DIGITS: Final = 3


def noise_pictures(report: NoiseReport) -> Iterator[Picture]:
    """Yield what each calibration adds, where that is known, and noise against the promise."""
    measured = report.measured
    if measured is not None:
        if measured.candidates:
            yield _candidates(measured)
        return
    known = [
        (one.expected_norm, one) for one in report.calibrations if one.expected_norm is not None
    ]
    if len(known) > 1:
        yield _added(report, known)
    needed: dict[Mechanism, float] = {
        one.mechanism: one.multiplier
        for one in report.calibrations
        if one.calibration == "dp" and one.multiplier is not None
    }
    if needed:
        yield _promise(report, needed)


def _candidates(measured: Measured) -> Picture:
    """Draw the total error of each calibration that was considered."""
    rows = sorted(measured.candidates, key=lambda one: one.total_error)
    unit = "those of the table" if measured.error_units == "given" else "spreads over the splits"
    return amounts(
        [_candidate(one) for one in rows],
        name="candidates",
        what=f"total error (units: {unit})",
        caption="What each calibration adds to the release, the least first; the one that is "
        "chosen is not striped. Some that are less rest on less: see the table.",
    )


def _candidate(one: NoiseCandidate) -> Amount:
    error = one.total_error**0.5
    name = f"{one.calibration}{PROTECTS[one.protects]}: {one.mechanism}, {one.shape}"
    return Amount(name, error, upper_figure(error, digits=_DIGITS), one.chosen)


def _added(report: NoiseReport, known: list[tuple[float, NoiseCalibration]]) -> Picture:
    """Draw the length of the noise of each calibration whose needs were given."""
    rows = sorted(known, key=lambda pair: pair[0])
    return amounts(
        [
            Amount(f"{one.calibration}: {one.mechanism}", length, _figure(length))
            for length, one in rows
        ],
        name="added",
        what="mean length of the error of the release",
        caption=f"What each calibration adds for eta = {number_text(report.eta)}, the least first.",
    )


def _promise(report: NoiseReport, needed: dict[Mechanism, float]) -> Picture:
    """Draw how much noise promises that are stricter and looser than this one take."""
    q, eta = report.train_fraction, report.eta
    loosest = _LOOSEST * min(q, 1 - q)
    last = max(eta, min(eta * _FACTOR, loosest))
    first = eta / _FACTOR
    grid = [first + (last - first) * at / _POINTS for at in range(_POINTS + 1)]
    styles = {"gaussian": (ORANGE, "--", "s")}
    lines = _apart(needed)

    def draw(axes: Axes) -> None:
        for names, mechanism in lines.items():
            color, dashes, mark = styles.get(mechanism, (BLUE, "-", "o"))
            needs = [_needed(mechanism, one, q) for one in grid]
            axes.plot(grid, needs, color=color, linestyle=dashes, linewidth=2, label=names)
            axes.plot([eta], [needed[mechanism]], color=color, marker=mark, markersize=8)
        label = f"promised: eta = {number_text(eta)}"
        axes.axvline(eta, color=BLACK, linestyle="--", label=label)
        axes.set_xlim(grid[0], grid[-1])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("eta: accuracy above guessing that is left")
        axes.set_ylabel("scale of the noise, in sensitivities")
        legend_above(axes, columns=1)

    said = "; ".join(
        f"{names}: {_figure(needed[mechanism])} sensitivities" for names, mechanism in lines.items()
    )
    return drawn(
        draw,
        name="noise",
        height=3.8,
        alt="The noise that hides any record of any data, by how much accuracy above guessing is "
        f"left. At eta = {number_text(eta)}: {said}.",
        caption="A stricter promise, to the left, takes more noise. A sensitivity is the most that "
        "one record can move the release; less noise does where splits measure it.",
    )


def _apart(needed: dict[Mechanism, float]) -> dict[str, Mechanism]:
    """Return one kind of noise for each line, under the names of all on it."""
    gaussian = [one for one in needed if one == "gaussian"]
    others = [one for one in needed if one != "gaussian"]
    return {" or ".join(kinds) + " noise": kinds[0] for kinds in (others, gaussian) if kinds}


def _needed(mechanism: Mechanism, eta: float, q: float) -> float:
    if mechanism == "gaussian":
        return 1 / equivalent_mu(eta, q)
    return 1 / equivalent_epsilon(eta, q)


def _figure(number: float) -> str:
    return upper_figure(number, digits=_DIGITS)
