"""What a report of ``shift`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.words import effect_text, p_text, widest
from mipaudit.formats.brief import NO_VERDICT, Axis, Brief, short_names
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    ATTACKERS,
    Document,
    Grid,
    Mood,
    Note,
    Section,
    bulleted,
    framed,
    limits,
    short_class,
)
from mipaudit.formats.drawing import Interval, intervals, marks_of
from mipaudit.formats.html_page import Front, guess_terms, limit_fact, member_words
from mipaudit.formats.policy.blocks import check_cases, policy_headline, policy_mood
from mipaudit.formats.policy.judged import SETTLES, deciding, judged_brief, verdict_head
from mipaudit.statements.text.guesses import (
    compared,
    of_cleverer,
    right_at_least,
    right_at_most,
    simple_kind,
)
from mipaudit.statements.text.named import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text, lower_text, percent_text, upper_text
from mipaudit.statements.verdict import COPIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.shift.report import ShiftReport
    from mipaudit.formats.document import Picture
    from mipaudit.statements.estimate import Attackers

_MOST_TESTS: Final = 20
_FEW: Final = 3
_ASPECTS: Final = {
    "numbers": "values",
    "categories": "categories",
    "dates": "dates",
    "missing": "missing or not",
}

_NO_RELEASE: Final = (
    "Nothing of the release was looked at: this says how fair a test on these records is, not "
    "whether the release leaks."
)
_COUNTED: Final = (
    "What an audit of the release finds on these records may be this difference, in whole or in "
    "part."
)
_SMALLER: Final = "A smaller difference than can be shown here may be there."
_OPEN: Final = "this test does not tell whether the groups are as alike as was asked."


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


def shift_brief(report: ShiftReport) -> Brief:
    """Return whether members and holdout are told apart by the records alone, and by what."""
    brief = Brief(
        answer=_answer(report),
        mood=_outcome(report)[1],
        about=_about(report),
        tables=(_drawn(report), *_telling(report)),
        notes=tuple(_notes(report)),
    )
    return judged_brief(report, brief, settles=(SETTLES[0], "members-and-holdout"))


def _answer(report: ShiftReport) -> str:
    outcome = _outcome(report)[0].removesuffix(".")
    differing = report.differing()
    lower, most = report.estimates[0].lower or 0.0, widest(report.estimates)
    found = f"the blind advantage is at least {lower_text(lower)}"
    if not lower > 0 and differing:
        found = f"'{safe_name(differing[0].column)}' most surely"
    elif most is not None:
        found += f", at most {upper_text(most.upper or 0.0)} {against_phrase(most.attackers)}"
    return f"{outcome}: {found}. {NO_VERDICT}"


def _about(report: ShiftReport) -> str:
    design = report.design
    columns = len(design.features)
    return (
        f"{count_text(design.n_members)} members, {count_text(design.n_holdout)} holdout records, "
        f"{count_text(columns)} column{'s' * (columns != 1)}, {percent_text(design.confidence)} "
        "confidence; the model was not looked at."
    )


def _drawn(report: ShiftReport) -> Grid:
    marks = [one.limit for one in report.policy]
    mark = marks[0] if len(marks) == 1 else None
    axis = Axis.over(report.estimates, marks)
    return Grid(
        caption="Blind advantage, from 0 (alike) to 1 (told apart surely)."
        + ("" if mark is None else " ┃ is the limit."),
        head=("attackers", axis.head, AT_LEAST, "best", AT_MOST),
        rows=tuple(
            (short_class(one.attackers), axis.drawn(one, mark), *limits(one))
            for one in report.estimates
        ),
        words=2,
    )


def _telling(report: ShiftReport) -> Iterator[Grid]:
    """Yield the columns that differ, or else those that come nearest to it."""
    surely = report.differing()
    shown = surely or report.columns[:_FEW]
    names = short_names(one.column for one in shown)
    if shown:
        yield Grid(
            caption="Columns that surely differ" if surely else "Columns nearest to a difference",
            head=("column", "what", "differs", "points", "p, all tests"),
            rows=tuple(
                (
                    names[one.column],
                    _ASPECTS[one.aspect],
                    "yes" if surely else "not shown",
                    effect_text(one.effect),
                    p_text(one.adjusted),
                )
                for one in shown
            ),
            words=3,
        )


def _notes(report: ShiftReport) -> Iterator[str]:
    left_out = [safe_name(one.column) for one in report.design.skipped]
    if left_out:
        more = len(left_out) - _FEW
        rest = f" and {count_text(more)} more" if more > 0 else ""
        yield f"Not compared: {', '.join(left_out[:_FEW])}{rest}."
    if not report.policy and (report.estimates[0].lower or 0.0) <= 0:
        yield "A smaller difference than can be shown here may be there."


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
    baseline = abs(2 * report.design.prior - 1)
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
            ends=(baseline, 1.0),
            marks=marks_of((one.limit for one in report.policy), baseline),
        )


def shift_front(report: ShiftReport, brief: Brief) -> Front:
    """Return how often the records alone give away which group they are from.

    Args:
        report: as answered.
        brief: its answer for a terminal.
    """
    design = report.design
    return Front(
        answer=_verdict(report) if report.policy else _guessed(report),
        mood=brief.mood,
        also=tuple(_beside(report)),
        figures=brief.answer,
        facts=(
            ("tried", f"what {count_text(len(design.features))} columns of the records tell"),
            ("with", member_words(design.n_members, design.n_holdout)),
            limit_fact(report.policy, report.provenance.settings),
        ),
        terms=guess_terms(design.prior, design.confidence),
        unsaid=(_NO_RELEASE, _SMALLER),
    )


def _beside(report: ShiftReport) -> Iterator[str]:
    """Yield what is shown, and what follows from it, where the verdict did not say so."""
    if report.policy:
        yield _COUNTED if report.verdict.status == "not_met" else _guessed(report)


def _guessed(report: ShiftReport) -> str:
    """Return what the records alone are shown to tell."""
    beside = compared(report.design.prior)
    lower, differing = report.estimates[0].lower or 0.0, report.differing()
    if lower > 0:
        least = right_at_least(lower, (0.0,))
        return (
            "The two groups of records differ: whoever sees a record, and nothing of the release, "
            f"can guess which group it is from, and be right at least {least} times in 100 "
            f"({beside}). {_COUNTED}"
        )
    if differing:
        more = len(differing) - 1
        rest = f" ({count_text(more)} more tests show a difference)" if more else ""
        return (
            f"The two groups of records differ in '{safe_name(differing[0].column)}'{rest}. "
            f"{_COUNTED}"
        )
    return f"It is not shown that the two groups of records differ{_guessed_at_most(report)}."


def _guessed_at_most(report: ShiftReport) -> str:
    """Return how well the groups are told apart at most, and by whom."""
    most = widest(report.estimates)
    if most is None or most.upper is None:
        return ""
    return f": {_right(most.attackers, most.upper, compared(report.design.prior))}"


def _verdict(report: ShiftReport) -> str:
    """Return the verdict in guesses."""
    # Copies are counted between the groups here, and not in a release.
    head, check = verdict_head(report, COPIES), deciding(report)
    if check is None or report.verdict.status == "inconclusive":
        return f"{head}: {_OPEN}"
    beside = compared(report.design.prior, check.limit)
    marks = (check.limit, 0.0)
    if report.verdict.status == "not_met":
        least = right_at_least(check.lower or 0.0, marks)
        return (
            f"{head}: whoever sees a record, and nothing of the release, can guess which group it "
            f"is from, and be right at least {least} times in 100 ({beside})."
        )
    return (
        f"{head}: from a record alone {_right(check.against, check.upper or 0.0, beside, marks)}."
    )


def _right(attackers: Attackers, upper: float, beside: str, marks: tuple[float, ...] = ()) -> str:
    """Return who is right at most how often, and that others may be cleverer."""
    most = right_at_most(upper, marks)
    if attackers == "any":
        return f"nobody is right more often than {most} times in 100 ({beside})"
    return (
        f"those who {simple_kind(attackers)} that was learned from the columns are right at most "
        f"{most} times in 100 ({beside}){of_cleverer(attackers)}"
    )
