"""The table of ``compare``, in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import lower_text, percent_text, upper_text, value_text
from mipaudit.render.plain import columns, paragraph
from mipaudit.report.compare_words import class_words
from mipaudit.report.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.audit.estimate import Estimate
    from mipaudit.report.compare import CompareReport, RankedQuery

_NONE: Final = "none"
_HEADS: Final = ("at least", "best estimate", "at most")
_STATUS: Final = {"met": "MET", "not_met": "NOT MET", "inconclusive": "INCONCLUSIVE"}


def render_compare(report: CompareReport, *, width: int) -> str:
    """Return the report as text for people, lines up to ``width`` where prose allows."""
    return "\n".join(section for section in _sections(report, width) if section)


def _sections(report: CompareReport, width: int) -> Iterator[str]:
    yield paragraph(report.summary, width=width)
    yield _ranking(report, width)
    yield _advantages(report, width)
    yield _differences(report, width)
    yield _best_of(report, width)
    yield _together(report, width)
    yield _policy(report)
    yield _bullets("Findings", [f"{f.code}: {f.text}" for f in report.findings], width)
    yield _bullets("Keep in mind", report.limitations, width)


def _ranking(report: CompareReport, width: int) -> str:
    rows = [
        [_place(one), safe_name(one.query), value_text(one.estimate), _names(one.leaks_more_than)]
        for one in report.ranking
    ]
    text = (
        f"Ranking, {class_words(report.design.against)}. A place is a range where the order is not "
        f"certain at {percent_text(report.design.confidence)} confidence; 1 leaks most."
    )
    header = ["place", "query", "best estimate", "certainly leaks more than"]
    return paragraph(text, width=width) + columns(rows, header=header)


def _place(one: RankedQuery) -> str:
    if one.highest_place == one.lowest_place:
        return str(one.highest_place)
    return f"{one.highest_place}-{one.lowest_place}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(safe_name(name) for name in names) or "-"


def _advantages(report: CompareReport, width: int) -> str:
    rows = [
        [safe_name(one.score), class_words(one.attackers), *_limits(one)]
        for one in report.advantages
    ]
    confidence = percent_text(report.design.confidence)
    text = f"Advantage of each query ({confidence} confidence for each row, over all queries)."
    return paragraph(text, width=width) + columns(
        rows, header=["query", "attackers", *_HEADS], numbers=3
    )


def _differences(report: CompareReport, width: int) -> str:
    rows = [
        [
            f"{safe_name(one.score)} - {safe_name(one.versus or '')}",
            class_words(one.attackers),
            *_limits(one),
        ]
        for one in report.differences
    ]
    count = report.design.pairs
    over = f", over all {count} pairs" if count > 1 else ""
    text = (
        "Difference of advantage, the best attacker of the class on either query "
        f"({percent_text(report.design.confidence)} confidence for each class{over})."
    )
    return paragraph(text, width=width) + columns(
        rows, header=["difference", "attackers", *_HEADS], numbers=3
    )


def _best_of(report: CompareReport, width: int) -> str:
    rows = [
        [
            "chosen on earlier rows"
            if one.validity != "not-an-interval"
            else "chosen on the same rows (not valid)",
            *_limits(one)[:2],
        ]
        for one in report.best_of
    ]
    if not rows:
        return ""
    text = "The largest advantage among queries of the same rows, any attacker."
    return paragraph(text, width=width) + columns(rows, header=["query", *_HEADS[:2]], numbers=2)


def _together(report: CompareReport, width: int) -> str:
    if not report.together:
        return ""
    joint = [[safe_name(one.score), *_limits(one)[:2]] for one in report.together]
    gains = [
        [safe_name(one.score), class_words(one.attackers), *_limits(one)[:2]]
        for one in report.gains
    ]
    first = paragraph("Two scores seen together, any attacker.", width=width) + columns(
        joint, header=["scores", *_HEADS[:2]], numbers=2
    )
    text = "What that adds to the better of the two alone, for a class of attackers on one score."
    return (
        first
        + "\n"
        + paragraph(text, width=width)
        + columns(gains, header=["scores", "attackers on one", *_HEADS[:2]], numbers=2)
    )


def _limits(one: Estimate) -> list[str]:
    return [
        "-" if one.lower is None else lower_text(one.lower),
        "-" if one.value is None else value_text(one.value),
        _NONE if one.upper is None else upper_text(one.upper),
    ]


def _policy(report: CompareReport) -> str:
    if not report.policy:
        return ""
    rows = [[safe_name(one.query), _STATUS[one.status], one.reason] for one in report.policy]
    return f"Policy: {_STATUS[report.verdict.status]}\n" + columns(rows)


def _bullets(title: str, texts: Sequence[str], width: int) -> str:
    if not texts:
        return ""
    return f"{title}\n" + "".join(
        paragraph(text, width=width, indent="    ", first="  - ") for text in texts
    )
