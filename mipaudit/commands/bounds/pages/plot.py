"""The picture of ``bounds``: the published bounds against epsilon, and the ROC region."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

from mipaudit.commands.bounds.pages.panels import draw_advantage, draw_roc
from mipaudit.formats.drawing import own_style, quiet_plotting, require_plotting
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mipaudit.commands.bounds.guarantee.readings import Guarantee
    from mipaudit.commands.bounds.report import BoundsReport

_SIZE: Final = (11.0, 4.6)  # inches
_DPI: Final = 150
_MARGINS: Final = {"left": 0.07, "right": 0.98, "bottom": 0.28, "top": 0.87, "wspace": 0.2}
# No times and no versions: the same report gives the same bytes.
_METADATA: Final[dict[str, dict[str, None]]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
}


def draw_bounds(report: BoundsReport, form: str) -> bytes:
    """Return the picture of a report as the bytes of a file, the same for equal reports.

    Args:
        report: on a guarantee, with its curves.
        form: ``png``, ``pdf`` or ``svg``.

    Raises:
        ValueError: the report is not on a guarantee, or has no curves.
        MissingExtraError: matplotlib is not installed.
    """
    require_plotting()
    picture = BytesIO()
    with quiet_plotting(), own_style():
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
    figure = Figure(figsize=_SIZE, dpi=_DPI)
    figure.suptitle(_guarantee_text(stated), fontsize=11, x=_MARGINS["left"], ha="left")
    left, right = figure.subplots(1, 2, gridspec_kw=_MARGINS)
    draw_advantage(left, stated, attacker, curves)
    draw_roc(right, attacker, curves)
    return figure


def _guarantee_text(stated: Guarantee) -> str:
    numbers = ", ".join(f"{name} = {number_text(n)}" for name, n in stated.parameters.items())
    assumed = " (assumed)" if stated.adjacency_assumed else ""
    return f"{stated.kind}: {numbers}; neighbours by {stated.adjacency}{assumed}"
