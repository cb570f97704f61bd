"""What a report of ``compare`` on scores shows, in tables and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import Document, Grid, Paragraph, Section, class_grids, limits
from mipaudit.formats.policy.blocks import judged_document
from mipaudit.report.verdict_sentence import judged
from mipaudit.statements.text.named import against_phrase, class_words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import lower_text, number_text, percent_text, value_text

if TYPE_CHECKING:
    from mipaudit.commands.compare.queries.report import CompareDesign, CompareReport, RankedQuery
    from mipaudit.formats.document import Limited
    from mipaudit.statements.estimate import Estimate

_HEAD: Final = ("at least", "best estimate", "at most")
_ONLY_THESE: Final = (
    "The limits concern these queries. Another query, or an attacker who sees more, may learn more."
)
_ALIKE: Final = (
    "Members and holdout records are taken to be independent draws, and alike but for membership."
)
_CLASS: Final = (
    "A difference is stated for a named class of attackers, the best of it on either query. For "
    "all attackers there is no upper limit on a continuous score, and so none on a difference."
)
_RELATED: Final = (
    "'At least' may differ a little from mipaudit estimate: the queries share the error, and one "
    "order of the rows."
)
_NOT_JOINT: Final = (
    "Advantages hold jointly over the queries, and the differences of one class jointly over the "
    "pairs. Different classes, and different tables, are not joint."
)
_APPROXIMATE: Final = (
    "All limits are approximate: not proved at every sample size; their measured coverage is in "
    "the documentation."
)
_UNKNOWN: Final = (
    "Inputs whose rows are not matched may hold the same records: their limits are added up. With "
    "`key_col` rows are matched, with `independent` you say that the records differ; either "
    "makes the differences more precise."
)
_INDEPENDENT: Final = (
    "You said that the inputs hold different records (`independent`). If they overlap, the limits "
    "of their differences may be too narrow."
)
_TOGETHER: Final = (
    "An increase shown by two scores together is over the best of a class on either alone; "
    "attackers outside the class may already have it from one."
)
_NAIVE: Final = (
    "The row 'chosen on the same rows' is what picking the largest limit would print. It is no "
    "valid limit and is shown for comparison."
)
_ONE_RUN: Final = (
    "The limits are those of one run. Running again with other seeds or settings and keeping the "
    "best makes them untrue."
)


def compare_document(report: CompareReport) -> Document:
    """Return the report as a document."""
    return judged_document(
        report,
        _sections(report),
        caption="How much more than the baseline each query may leak, and what was found",
        head=["query"],
        row=lambda one: [safe_name(one.query)],
        case=lambda one: (
            one.query,
            f"increase over {safe_name(one.versus)} {number_text(one.limit)}",
        ),
    )


def _sections(report: CompareReport) -> Iterator[Section]:
    yield _ranking(report)
    yield _advantages(report)
    yield _differences(report)
    yield _best_of(report)
    yield from _together(report)


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
                place(one),
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


def place(one: RankedQuery) -> str:
    """Return the place of a query, a range where it is not certain; 1 leaks most."""
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


def signed(one: Limited) -> tuple[str, ...]:
    """Return the three figures of a difference; one without a limit may be of either sign."""
    least, *others = limits(one)
    return ("none" if one.lower is None else least, *others)


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
    return _lower_limits(
        "The largest advantage among queries of the same rows, any attacker.", "query", rows
    )


def _lower_limits(text: str, name: str, rows: tuple[tuple[str, ...], ...]) -> Section:
    grid = Grid(caption=text, head=(name, *_HEAD[:2]), rows=rows, words=1)
    return (Paragraph(text=text), grid)


def _together(report: CompareReport) -> Iterator[Section]:
    if not report.together:
        return
    rows = tuple((safe_name(one.score), *limits(one)[:2]) for one in report.together)
    yield _lower_limits("Two scores seen together, any attacker.", "scores", rows)
    more = "What that adds to the better of the two alone, for a class of attackers on one score."
    gains = [(safe_name(one.score), one.attackers, limits(one)[:2]) for one in report.gains]
    yield (
        Paragraph(text=more),
        *class_grids(more, "scores", _HEAD[:2], gains, classes="attackers on one"),
    )


def compare_summary(report: CompareReport) -> str:
    """Return which query leaks most, what is certain about it, and the verdict."""
    parts = [
        _measured(report.design, report.ranking),
        _certain(report),
        _joint(report.design, report.gains),
        judged(report.verdict),
        "Only these queries were tested.",
    ]
    return " ".join(part for part in parts if part)


def _measured(design: CompareDesign, ranking: Sequence[RankedQuery]) -> str:
    first = ranking[0]
    sizes = {(one.n_members, one.n_holdout) for one in design.queries}
    rows = "members and holdout records of several sizes"
    if len(sizes) == 1:
        ((n_members, n_holdout),) = sizes
        rows = f"{n_members:,} members and {n_holdout:,} holdout records"
    return (
        f"{len(ranking)} queries were compared on {rows}, {against_phrase(design.against)}. "
        f"'{safe_name(first.query)}' has the largest estimated advantage, "
        f"{value_text(first.estimate)} (blind guessing {value_text(design.trivial)})."
    )


def _certain(report: CompareReport) -> str:
    design, ranking = report.design, report.ranking
    sure = f"With {percent_text(design.confidence)} confidence, jointly over the pairs,"
    of_class = [row for row in report.differences if row.attackers == design.against]
    facts = [fact for fact in map(_fact, of_class) if fact]
    if not facts:
        return f"{sure} none of the queries is shown to leak more than another."
    text = f"{sure} {'; '.join(facts[:3])}"
    if len(facts) > 3:  # noqa: PLR2004 - a paragraph, not a table
        text += f"; and {len(facts) - 3} more such differences"
    first = ranking[0]
    if design.baseline is None and first.lowest_place == 1 and len(ranking) > 1:
        text += f". It is certain that '{safe_name(first.query)}' leaks most"
    return f"{text}."


def _fact(row: Estimate) -> str:
    """Return a settled difference as a clause, or nothing."""
    versus = safe_name(row.versus or "")
    if row.lower is not None and row.lower > 0:
        least = lower_text(row.lower)
        return f"'{safe_name(row.score)}' leaks at least {least} more than '{versus}'"
    if row.upper is not None and row.upper < 0:
        least = lower_text(-row.upper)
        return f"'{versus}' leaks at least {least} more than '{safe_name(row.score)}'"
    return ""


def _joint(design: CompareDesign, gains: Sequence[Estimate]) -> str:
    """Return the pair of scores that certainly gains most by being seen together."""
    found = [row for row in gains if row.attackers == design.against and row.lower]
    if not found:
        return ""
    best = max(found, key=lambda row: row.lower or 0.0)
    return (
        f"Seen together, the scores {safe_name(best.score)} leak at least "
        f"{lower_text(best.lower or 0.0)} more than the better of the two does to "
        f"{class_words(design.against)}."
    )


def compare_limitations(
    design: CompareDesign, *, cohorts: int, best_of: bool, gains: bool
) -> tuple[str, ...]:
    """Return what the numbers do not show."""
    extra = []
    if cohorts > 1:
        extra.append(_INDEPENDENT if design.apart == "independent" else _UNKNOWN)
    if best_of:
        extra.append(_NAIVE)
    if gains:
        extra.append(_TOGETHER)
    return (_ONLY_THESE, _ALIKE, _CLASS, *extra, _NOT_JOINT, _RELATED, _APPROXIMATE, _ONE_RUN)
