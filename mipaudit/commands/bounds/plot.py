"""The picture of ``bounds``: the published bounds against epsilon, and the ROC region."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from mipaudit.maths.privacy.epsilon_delta import to_substitution
from mipaudit.statements.rounding import number_text, percent_text, upper_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mipaudit.commands.bounds.curves import Curves
    from mipaudit.commands.bounds.readings import Allowance, Guarantee
    from mipaudit.commands.bounds.report import BoundsReport

Style = dict[str, Any]
# Okabe and Ito's colours, which the colour-blind can tell apart; the dashes say the same
# without colour.
_EXACT: Final[Style] = {"color": "#0072B2", "linewidth": 3.0, "linestyle": "-"}
_LOOSE: Final = {
    "yeom": ("#E69F00", "--"),
    "erlingsson": ("#009E73", "-."),
    "mace": ("#CC79A7", ":"),
}
_OTHER: Final = ("#56B4E9", "--")
_MARKED: Final = "#D55E00"
_NO_ATTACKER: Final = "#DDDDDD"
_GREY: Final = "#595959"
_EXACT_BOUND: Final = "humphries"
_SHORTEST_AXIS: Final = 6.0
_AROUND: Final = 1.5  # the axis, in epsilons of the guarantee
_THINNEST: Final = 1e-9  # also where the trivial attacker is all but certain
_LOWEST_RATE: Final = 1e-4
_TICKS: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_SAME: Final = 1e-9
# The words "no attacker" fit into the corner where the curve is below this TPR at this FPR.
_CORNER: Final = (2.5e-3, 0.25)
_SIZE: Final = (11.0, 4.6)  # inches
_DPI: Final = 150
_MARGINS: Final = {"left": 0.07, "right": 0.98, "bottom": 0.28, "top": 0.87, "wspace": 0.2}
# No times and no versions: the same report gives the same bytes.
_METADATA: Final[dict[str, dict[str, None]]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
}


@contextmanager
def own_style() -> Iterator[None]:
    """Draw in the style that the picture was laid out for, not in the user's own, and quietly."""
    import logging

    # Of its caches matplotlib says more than anybody asked.
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib as mpl

        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update({"font.size": 9.0, "svg.hashsalt": "mipaudit"})
            yield
    finally:
        logger.setLevel(level)


def draw_bounds(report: BoundsReport, form: str) -> bytes:
    """Return the picture of a report as the bytes of a file, the same for equal reports.

    Args:
        report: on a guarantee, with its curves.
        form: ``png``, ``pdf`` or ``svg``.

    Raises:
        ValueError: the report is not on a guarantee, or has no curves.
    """
    picture = BytesIO()
    with own_style():
        bounds_figure(report).savefig(picture, format=form, metadata=_METADATA[form])
    return picture.getvalue()


def bounds_figure(report: BoundsReport) -> Figure:
    """Return the picture as a matplotlib figure that belongs to no window.

    Args:
        report: on a guarantee, with its curves.

    Raises:
        ValueError: the report is not on a guarantee, or has no curves.
    """
    from matplotlib.figure import Figure

    stated, attacker, curves = report.guarantee, report.attacker, report.curves
    if stated is None or attacker is None or curves is None:
        raise ValueError("Only a report on a guarantee, with its curves, can be drawn.")
    if stated.adjacency_assumed:
        (attacker,) = report.other_readings
    figure = Figure(figsize=_SIZE, dpi=_DPI)
    numbers = ", ".join(f"{name} = {number_text(n)}" for name, n in stated.parameters.items())
    assumed = " (assumed)" if stated.adjacency_assumed else ""
    title = f"{stated.kind}: {numbers}; neighbours by {stated.adjacency}{assumed}"
    figure.suptitle(title, fontsize=11, x=_MARGINS["left"], ha="left")
    left, right = figure.subplots(1, 2, gridspec_kw=_MARGINS)
    _draw_advantage(left, stated, attacker, curves)
    _draw_roc(right, attacker, curves)
    return figure


def _draw_advantage(axes: Axes, stated: Guarantee, attacker: Allowance, curves: Curves) -> None:
    """Draw every published bound of the advantage against epsilon, and the guarantee."""
    _draw_published(axes, curves)
    last = curves.claimed_epsilon[-1]
    epsilon, delta = _by_substitution(stated, curves)
    label = f"this guarantee: {upper_figure(attacker.advantage)}"
    if epsilon <= last:
        at = f", delta {number_text(float(f'{delta:.3g}'))}" if delta else ""
        label += f" (epsilon {upper_figure(epsilon, digits=3)}{at})"
        _mark(axes, epsilon, attacker.advantage, marker="D", label=label)
        last = min(last, max(_SHORTEST_AXIS, math.ceil(_AROUND * epsilon)))
    else:
        label += " (epsilon not on this axis)"
        axes.axhline(attacker.advantage, color=_MARKED, label=label)
    margin = max(0.03 * (1 - attacker.baseline), _THINNEST)
    axes.set(
        xlim=(0, last),
        ylim=(attacker.baseline - margin, 1 + margin),
        xlabel="epsilon by substitution, delta = 0 (nats)",
        ylabel=f"advantage at prior {number_text(attacker.prior)}, at most",
    )
    axes.grid(visible=True, color=_NO_ATTACKER, linewidth=0.6)
    _finish(axes, "Published bounds of the advantage")


def _draw_published(axes: Axes, curves: Curves) -> None:
    """Draw the bounds, those together that are one and the same curve."""
    groups: list[list[str]] = []
    for name, values in curves.advantage.items():
        for group in groups:
            others = curves.advantage[group[0]]
            if all(abs(a - b) <= _SAME for a, b in zip(values, others, strict=True)):
                group.append(name)
                break
        else:
            groups.append([name])
    for names in groups:
        label = ", ".join("MACE" if name == "mace" else name.capitalize() for name in names)
        color, dashes = _LOOSE.get(names[0], _OTHER)
        style: Style = {"color": color, "linestyle": dashes, "linewidth": 1.8}
        if _EXACT_BOUND in names:
            label, style = f"{label} (exact)", _EXACT
        axes.plot(curves.claimed_epsilon, curves.advantage[names[0]], label=label, **style)


def _by_substitution(stated: Guarantee, curves: Curves) -> tuple[float, float]:
    """Return the guarantee's (epsilon, delta) on the axis; epsilon is infinite if there is none.

    By add or remove it is that of the two steps: as the published bounds have it, or
    better off their privacy profile, whose points do not reach down to delta = 0.
    """
    if stated.adjacency == "substitution":
        return math.inf if stated.epsilon is None else stated.epsilon, stated.delta
    if stated.epsilon is not None and (stated.kind == "approximate-dp" or stated.delta == 0):
        return to_substitution(stated.epsilon, stated.delta)
    return _epsilon_at(stated.delta, curves), stated.delta


def _epsilon_at(wanted: float, curves: Curves) -> float:
    """Return the epsilon at a delta, between the points of the profile on a log scale."""
    right = next((i for i, delta in enumerate(curves.delta) if delta <= wanted), None)
    if right is None:
        return math.inf
    high, less = curves.epsilon[right], curves.delta[right]
    if right == 0 or less == 0:
        return high
    low, more = curves.epsilon[right - 1], curves.delta[right - 1]
    return low + (high - low) * math.log(more / wanted) / math.log(more / less)


def _draw_roc(axes: Axes, attacker: Allowance, curves: Curves) -> None:
    """Draw what no attacker's ROC can exceed, on logarithmic axes."""
    points = [(f, t) for f, t in zip(curves.fpr, curves.tpr, strict=True) if f > 0]
    fpr, tpr = zip(*points, strict=True)
    corner, highest = _CORNER
    nearest = min(points, key=lambda point: abs(math.log(point[0] / corner)))[1]
    roomy, shade = nearest < highest, "no attacker"
    axes.fill_between(fpr, tpr, 1, color=_NO_ATTACKER, linewidth=0, label=None if roomy else shade)
    if roomy:
        axes.text(0.03, 0.95, shade, transform=axes.transAxes, va="top", color=_GREY)
    axes.plot(fpr, fpr, color=_GREY, linestyle="--", linewidth=1.2, label="chance")
    axes.plot(fpr, tpr, label="the most that any attacker can reach", **_EXACT)
    for rate, most in attacker.tpr_at_fpr.items():
        _mark_rate(axes, float(rate), most)
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(_TICKS, labels=[percent_text(tick) for tick in _TICKS])
        axis.set_ticks([], minor=True)
    axes.set(
        xlim=(_LOWEST_RATE, 1),
        ylim=(_LOWEST_RATE, 1),
        xlabel="false-positive rate (%, log scale)",
        ylabel="true-positive rate (%, log scale)",
    )
    _finish(axes, f"ROC: {attacker.game}")


def _mark_rate(axes: Axes, fpr: float, tpr: float) -> None:
    """Mark a point of the ROC; its label stands below the line of chance, where nothing is."""
    axes.plot([fpr, fpr], [tpr, fpr], color=_MARKED, linestyle=":", linewidth=1.2)
    _mark(axes, fpr, tpr, marker="o", label=None)
    said, place = f"TPR {upper_figure(100 * tpr, digits=3)}%", (4, -7)
    axes.annotate(said, (fpr, fpr), xytext=place, textcoords="offset points", va="top")


def _mark(axes: Axes, x: float, y: float, *, marker: str, label: str | None) -> None:
    """Put one mark on top of everything, whole also at the edge of the panel."""
    style: Style = {"marker": marker, "markersize": 7.5, "markeredgecolor": "black"}
    style |= {"linestyle": "none", "color": _MARKED, "clip_on": False, "zorder": 5}
    axes.plot([x], [y], label=label, **style)


def _finish(axes: Axes, title: str) -> None:
    """Put the title above and the legend below the panel, where they cover nothing."""
    axes.set_title(title, loc="left", fontsize=10)
    below: Style = {"loc": "upper left", "bbox_to_anchor": (-0.01, -0.165)}
    axes.legend(**below, frameon=False, handlelength=3.0, borderaxespad=0)
    axes.spines[["top", "right"]].set_visible(False)
