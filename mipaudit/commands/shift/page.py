"""What a report of ``shift`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.words import effect_text, p_text
from mipaudit.formats.document import (
    ATTACKERS,
    Document,
    Grid,
    Mood,
    Note,
    Section,
    bulleted,
    framed,
    limits,
)
from mipaudit.formats.drawing import Interval, intervals
from mipaudit.formats.policy_blocks import check_cases, policy_headline, policy_mood
from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.shift.report import ShiftReport
    from mipaudit.formats.document import Picture

_MOST_TESTS: Final = 20
_ASPECTS: Final = {
    "numbers": "values",
    "categories": "categories",
    "dates": "dates",
    "missing": "missing or not",
}


def shift_document(report: ShiftReport) -> Document:
    """Return the report as a document."""
    headline, mood = _outcome(report)
    left_out = [f"'{safe_name(one.column)}': {one.why}" for one in report.design.skipped]
    return framed(
        report,
        (_advantage(report), _columns(report), _copies(report)),
        cases=check_cases(report.policy, report.command, report.verdict),
        headline=headline,
        mood=mood,
        beside=bulleted("Left out", left_out),
    )


def _outcome(report: ShiftReport) -> tuple[str, Mood]:
    if report.policy:
        return policy_headline(report.policy, report.verdict), policy_mood(report.verdict)
    if (report.estimates[0].lower or 0.0) > 0:
        return "Members and holdout can be told apart without the model.", "bad"
    if report.differing():
        return "Single columns differ between members and holdout.", "open"
    return "Members and holdout are not shown to differ.", "plain"


def _advantage(report: ShiftReport) -> Section:
    grid = Grid(
        caption="The blind advantage: what the records tell of membership without the model",
        head=("", "at least", "best estimate", "at most"),
        rows=tuple((_who(one.attackers), *limits(one)) for one in report.estimates),
        words=1,
    )
    design = report.design
    text = (
        f"Learned on the burn-in: {design.learned}, from {count_text(design.coordinates)} numbers "
        f"made of {count_text(len(design.features))} columns. Each limit holds with "
        f"{percent_text(round(1 - (1 - design.confidence) / 2, 10))} confidence."
    )
    return (grid, Note(text=text))


def _who(attackers: str) -> str:
    if attackers == "any":
        return "any attacker who sees the record"
    phrase = against_phrase(attackers)  # type: ignore[arg-type]
    return f"{phrase.removeprefix('for ')} on what was learned"


def _columns(report: ShiftReport) -> Section:
    shown = report.columns[:_MOST_TESTS]
    if not shown:
        return ()
    surely = {id(one) for one in report.differing()}
    rows = tuple(
        (
            safe_name(one.column),
            _ASPECTS[one.aspect],
            "yes" if id(one) in surely else "not shown",
            effect_text(one.effect),
            p_text(one.p_value),
            p_text(one.adjusted),
        )
        for one in shown
    )
    grid = Grid(
        caption="Columns, those that differ most surely first",
        head=("column", "what", "differs", "points", "p-value", "adjusted"),
        rows=rows,
        words=3,
        marked=frozenset(at for at, one in enumerate(shown) if id(one) in surely),
    )
    return (grid, Note(text=_about_columns(report, len(report.columns) - len(shown))))


def _about_columns(report: ShiftReport, rest: int) -> str:
    more = f" {count_text(rest)} more are in the report for programs (-f json)." if rest > 0 else ""
    return (
        "Points: the largest difference, members less holdout, between the percentages of records "
        "up to one value, with one text, or with a missing value. The p-values are exact or "
        "conservative; the adjusted ones hold for all tests together (Holm), and differ surely at "
        f"{percent_text(round(1 - report.design.confidence, 10))} or less.{more}"
    )


def _copies(report: ShiftReport) -> Section:
    one = report.copies
    found = (
        ("all columns equal", one.exact),
        ("for comparison: with a copy in the holdout itself", one.exact_within),
        ("all columns but one equal", one.but_one),
        ("all equal once numbers are rounded to 3 digits", one.rounded),
        ("of the same person", one.persons),
    )
    rows = tuple((name, count_text(count)) for name, count in found if count is not None)
    grid = Grid(
        caption="Holdout records with a like among the members",
        head=("", "records"),
        rows=rows,
        words=1,
    )
    return (grid, Note(text=f"Looked for: {count_text(one.searched)} holdout records."))


def shift_pictures(report: ShiftReport) -> Iterator[Picture]:
    """Yield the blind advantage, by what is done with the columns."""
    rows = [
        Interval(ATTACKERS[one.attackers], one.lower, one.value, one.upper)
        for one in report.estimates
        if one.quantity == "advantage" and one.attackers in ATTACKERS
    ]
    if rows:
        yield intervals(
            rows,
            name="blind",
            what="blind advantage",
            caption="What the records alone give away.",
            ends=(abs(2 * report.design.prior - 1), 1.0),
        )
