"""A reproduced figure as text: the comparison, and the data of its curves."""

from __future__ import annotations

import csv
import math
from io import StringIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.reproductions.report import Check, Panel, ReproducedFigure

_BORNE_OUT: Final = {"yes": "yes", "partly": "partly", "no": "**no**"}


def reproduction_markdown(
    figure: ReproducedFigure, picture: str | None, *, heading: str = "#", data: str | None = None
) -> str:
    """Return the comparison of a figure as Markdown.

    Args:
        figure: what came out.
        picture: name of the picture's file; None for none.
        heading: of the title.
        data: name of the data's file; None does not mention it.
    """
    outcome = figure.outcome
    parts = [
        f"{heading} `{figure.id}`: {figure.title}",
        f"{figure.source}. {figure.shows}",
        f"The paper concludes: {figure.claim}",
    ]
    if picture is not None:
        parts.append(f"![{figure.title}]({picture})")
    if data is not None:
        parts.append(f"The data of the curves: [{data}]({data}).")
    if figure.quick:
        parts.append("This is the smaller form (`--quick`): its numbers are rough.")
    parts.append(
        _table(
            ("the paper says", "here", "borne out"),
            [(claim.says, claim.found, _BORNE_OUT[claim.agrees]) for claim in outcome.claims],
        )
    )
    parts += _listed("Where the paper needs correction:", outcome.errata)
    parts += _listed("What is different here:", outcome.differences)
    parts.append("What must come out:")
    parts.append(
        _table(
            ("number", "found", "must be", "because", ""),
            [
                (check.name, _text(check.found), _range(check), check.why, _mark(check))
                for check in outcome.checks
            ],
        )
    )
    parts.append(f"Seed {figure.seed}.")
    return "\n\n".join(parts) + "\n"


def reproduction_csv(figure: ReproducedFigure) -> str:
    """Return the data of all curves, one row for each point."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["panel", "curve", "x", "y", "low", "high"])
    for panel in figure.outcome.panels:
        writer.writerows(_rows(panel))
    return file.getvalue()


def reproduction_line(figure: ReproducedFigure) -> str:
    """Return one line: the id, and whether its checks hold."""
    failed = [check.name for check in figure.outcome.checks if not check.passed]
    if not failed:
        return f"{figure.id}: all {len(figure.outcome.checks)} checks hold."
    return f"{figure.id}: FAILED: " + "; ".join(failed) + "."


def _rows(panel: Panel) -> Iterator[tuple[str, ...]]:
    for curve in panel.curves:
        low, high = (
            [""] * len(curve.y) if side is None else [repr(float(value)) for value in side]
            for side in (curve.low, curve.high)
        )
        for place, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
            where = panel.groups[int(x)] if panel.groups else repr(float(x))
            value = repr(float(y)) if math.isfinite(y) else ""
            yield panel.title, curve.label, where, value, low[place], high[place]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _listed(title: str, items: tuple[str, ...]) -> list[str]:
    return [title, "\n".join(f"- {item}" for item in items)] if items else []


def _text(value: float) -> str:
    return f"{value:.5g}"


def _range(check: Check) -> str:
    if math.isinf(check.low):
        return f"at most {_text(check.high)}"
    if math.isinf(check.high):
        return f"at least {_text(check.low)}"
    return f"{_text(check.low)} to {_text(check.high)}"


def _mark(check: Check) -> str:
    return "holds" if check.passed else "**FAILS**"
