"""The table of ``records``, in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)
from mipaudit.render.plain import columns, paragraph
from mipaudit.report.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.audit.estimate import Estimate
    from mipaudit.report.records import GroupRisk, RecordsReport

_STATUS: Final = {"met": "MET", "not_met": "NOT MET", "inconclusive": "INCONCLUSIVE"}
_MOST_CELLS: Final = 20
_CLASSES: Final = {
    "any": "any attacker",
    "thresholds": "one threshold",
    "bins-16": "16 bins",
}


def render_records(report: RecordsReport, *, width: int) -> str:
    """Return the report as text for people, prose in lines up to ``width``."""
    return "\n".join(section for section in _sections(report, width) if section)


def _sections(report: RecordsReport, width: int) -> Iterator[str]:
    if report.policy:
        yield f"Verdict: {_STATUS.get(report.verdict.status, '')}.\n"
    yield paragraph(safe_name(report.summary, longest=10_000), width=width, hyphens=False)
    yield _largest(report, width)
    yield _bands(report, width)
    yield _cells(report, width)
    yield _top(report, width)
    yield _groups(report, width)
    yield _bullets("Findings", [f"{f.code}: {f.text}" for f in report.findings], width)
    yield _bullets("Keep in mind", report.limitations, width)


def _largest(report: RecordsReport, width: int) -> str:
    first = report.estimates[0]
    sure = percent_text(report.design.confidence)
    text = (
        f"The largest risk is the least alpha of (alpha, p)-membership privacy, at p = "
        f"{number_text(report.design.prior)}. The pair holds with {sure} confidence, the upper "
        "limit for the cells that were cut."
    )
    heads = ["", "at least", "best estimate", "at most"]
    return columns([["largest risk", *_limits(first)]], header=heads, numbers=3) + paragraph(
        text, width=width, indent="  "
    )


def _limits(estimate: Estimate) -> list[str]:
    return [
        "-" if estimate.lower is None else lower_text(estimate.lower),
        "-" if estimate.value is None else value_text(estimate.value),
        "none" if estimate.upper is None else upper_text(estimate.upper),
    ]


def _bands(report: RecordsReport, width: int) -> str:
    rows = [
        [
            f"{number_text(band.low)} to {number_text(band.high)}",
            *map(
                count_text,
                (band.members, band.holdout, band.at_least_members, band.at_least_holdout),
            ),
        ]
        for band in report.bands
    ]
    heads = ["risk of the cell", "members", "holdout", "members surely", "holdout surely"]
    text = "Surely: the lower limit of their cell is the row's first number or more."
    return columns(rows, header=heads, numbers=4) + paragraph(text, width=width, indent="  ")


def _cells(report: RecordsReport, width: int) -> str:
    shown = report.cells[:_MOST_CELLS]
    if not shown:
        return ""
    rows = [
        [
            str(one.cell),
            one.speaks_for,
            "yes" if one.in_list else "",
            count_text(one.members),
            count_text(one.holdout),
            lower_text(one.lower),
            value_text(one.risk),
            upper_text(one.upper),
        ]
        for one in shown
    ]
    heads = [
        "cell",
        "speaks for",
        "listed",
        "members",
        "holdout",
        "at least",
        "risk",
        "at most",
    ]
    rest = len(report.cells) - len(shown)
    parts = [f"{count_text(rest)} more cells are in the report for programs (-f json)."] * (
        rest > 0
    )
    if report.small_cells:
        parts.append(
            f"{count_text(report.small_cells)} cells of fewer than "
            f"{count_text(report.design.min_cell)} records are not shown."
        )
    listed = (
        f"Listed: risk above {number_text(report.design.tau)} at a false-discovery rate of "
        f"{percent_text(report.design.fdr)}. The limits hold for all cells together."
    )
    return columns(rows, header=heads, numbers=5) + paragraph(
        " ".join([listed, *parts]), width=width, indent="  "
    )


def _top(report: RecordsReport, width: int) -> str:
    if not report.top:
        return ""
    rows = [
        [
            str(one.row),
            "member" if one.member else "holdout",
            one.speaks_for,
            str(one.cell),
            lower_text(one.lower),
            value_text(one.risk),
            upper_text(one.upper),
        ]
        for one in report.top
    ]
    heads = ["row", "is", "speaks for", "cell", "at least", "risk", "at most"]
    text = (
        "The most exposed records by the row of the input, counted from 0. All records of a cell "
        f"have the same risk: {count_text(report.top_tied)} share the last one's, and the first "
        "of them by row are shown."
    )
    return columns(rows, header=heads, numbers=4) + paragraph(text, width=width, indent="  ")


def _groups(report: RecordsReport, width: int) -> str:
    if not report.groups:
        return ""
    upper: dict[tuple[str | None, str], float | None] = {
        (e.group, e.attackers): e.upper for e in report.estimates if e.quantity == "advantage"
    }
    classes = [name for name in _CLASSES if any(key[1] == name for key in upper)]
    if not report.design.discrete:
        classes = [name for name in classes if name != "any"]
    rows = [
        [
            safe_name(group.group),
            count_text(group.members),
            count_text(group.holdout),
            lower_text(group.lower),
            value_text(group.value),
            *(_upper(upper.get((group.group, name))) for name in classes),
            *_difference(group),
            group.differs,
        ]
        for group in report.groups
    ]
    heads = [
        "group",
        "members",
        "holdout",
        "at least",
        "best estimate",
        *(f"at most, {_CLASSES[name]}" for name in classes),
        "difference",
        "from",
        "to",
        "differs",
    ]
    text = (
        "Advantage within each group; the lower limit is for any attacker. The difference is that "
        "of one attack, the best threshold on everybody, in the group less in the rest. Each "
        f"column holds with {percent_text(report.design.confidence)} confidence for all groups "
        "together."
    )
    return columns(rows, header=heads) + paragraph(text, width=width, indent="  ")


def _upper(limit: float | None) -> str:
    return "none" if limit is None else upper_text(limit)


def _difference(group: GroupRisk) -> list[str]:
    if group.difference is None or group.difference_lower is None or group.difference_upper is None:
        return ["-", "-", "-"]
    return [
        value_text(group.difference),
        lower_text(group.difference_lower),
        upper_text(group.difference_upper),
    ]


def _bullets(title: str, texts: Sequence[str], width: int) -> str:
    if not texts:
        return ""
    return f"{title}\n" + "".join(
        paragraph(text, width=width, indent="    ", first="  - ") for text in texts
    )
