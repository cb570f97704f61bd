"""What a report of ``compare`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import (
    Case,
    Document,
    Grid,
    Heading,
    Paragraph,
    class_grids,
    framed,
    limits,
)
from mipaudit.formats.policy_blocks import CASE_STATUS, no_policy, policy_headline, policy_mood
from mipaudit.formats.wording import STATUS
from mipaudit.statements.policy import class_words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text, percent_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.compare.queries.report import CompareReport, RankedQuery
    from mipaudit.formats.document import Section

_HEAD: Final = ("at least", "best estimate", "at most")


def compare_document(report: CompareReport) -> Document:
    """Return the report as a document."""
    return framed(
        report,
        _sections(report),
        cases=_cases(report),
        headline=policy_headline(report.policy, report.verdict, report.findings),
        mood=policy_mood(report.verdict),
    )


def _cases(report: CompareReport) -> Iterator[Case]:
    for one in report.policy:
        yield Case(
            group=one.query,
            name=f"increase over {safe_name(one.versus)} {number_text(one.limit)}",
            status=CASE_STATUS[one.status],
            text=one.reason,
        )
    if not report.policy:
        yield no_policy("compare")


def _sections(report: CompareReport) -> Iterator[Section]:
    yield _policy(report)
    yield _ranking(report)
    yield _advantages(report)
    yield _differences(report)
    yield _best_of(report)
    yield from _together(report)


def _policy(report: CompareReport) -> Section:
    if not report.policy:
        return ()
    grid = Grid(
        caption="How much more than the baseline each query may leak, and what was found",
        head=("query", "status", "why"),
        rows=tuple((safe_name(one.query), STATUS[one.status], one.reason) for one in report.policy),
        words=2,
        prose=True,
        marked=frozenset(at for at, one in enumerate(report.policy) if one.status != "met"),
    )
    return (Heading(text="Policy"), grid)


def _ranking(report: CompareReport) -> Section:
    text = (
        f"Ranking, {class_words(report.design.against)}. A place is a range where the order is not "
        f"certain at {percent_text(report.design.confidence)} confidence; 1 leaks most."
    )
    grid = Grid(
        caption="Ranking",
        head=("place", "query", "best estimate", "certainly leaks more than"),
        rows=tuple(
            (
                _place(one),
                safe_name(one.query),
                value_text(one.estimate),
                _names(one.leaks_more_than),
            )
            for one in report.ranking
        ),
        words=2,
        prose=True,
    )
    return (Paragraph(text=text), grid)


def _place(one: RankedQuery) -> str:
    if one.highest_place == one.lowest_place:
        return str(one.highest_place)
    return f"{one.highest_place}-{one.lowest_place}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(safe_name(name) for name in names) or "-"


def _advantages(report: CompareReport) -> Section:
    confidence = percent_text(report.design.confidence)
    text = f"Advantage of each query ({confidence} confidence for each row, over all queries)."
    grids = class_grids(
        "Advantage of each query",
        "query",
        _HEAD,
        [(safe_name(one.score), one.attackers, limits(one)) for one in report.advantages],
    )
    return (Paragraph(text=text), *grids)


def _differences(report: CompareReport) -> Section:
    count = report.design.pairs
    over = f", over all {count} pairs" if count > 1 else ""
    text = (
        "Difference of advantage, the best attacker of the class on either query "
        f"({percent_text(report.design.confidence)} confidence for each class{over})."
    )
    rows = [
        (
            f"{safe_name(one.score)} - {safe_name(one.versus or '')}",
            one.attackers,
            limits(one),
        )
        for one in report.differences
    ]
    return (
        Paragraph(text=text),
        *class_grids("Difference of advantage", "difference", _HEAD, rows),
    )


def _best_of(report: CompareReport) -> Section:
    if not report.best_of:
        return ()
    rows = tuple(
        (
            "chosen on earlier rows"
            if one.validity != "not-an-interval"
            else "chosen on the same rows (not valid)",
            *limits(one)[:2],
        )
        for one in report.best_of
    )
    text = "The largest advantage among queries of the same rows, any attacker."
    return (
        Paragraph(text=text),
        Grid(caption=text, head=("query", *_HEAD[:2]), rows=rows, words=1),
    )


def _together(report: CompareReport) -> Iterator[Section]:
    if not report.together:
        return
    text = "Two scores seen together, any attacker."
    rows = tuple((safe_name(one.score), *limits(one)[:2]) for one in report.together)
    yield (
        Paragraph(text=text),
        Grid(caption=text, head=("scores", *_HEAD[:2]), rows=rows, words=1),
    )
    more = "What that adds to the better of the two alone, for a class of attackers on one score."
    gains = [(safe_name(one.score), one.attackers, limits(one)[:2]) for one in report.gains]
    yield (
        Paragraph(text=more),
        *class_grids(more, "scores", _HEAD[:2], gains, classes="attackers on one"),
    )
