"""What queries leak beside each other: in a screenful, first on a page, and in pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.commands.compare.queries.page import place, signed
from mipaudit.formats import drawing
from mipaudit.formats.brief import (
    NO_VERDICT,
    Axis,
    Brief,
    Interval,
    advantage_ends,
    blind_guessing,
    short_names,
)
from mipaudit.formats.document import AT_LEAST, AT_MOST, Grid, limits, quoted
from mipaudit.formats.html_page import ALIKE, NEITHER, Front, guess_terms, member_words, only_tried
from mipaudit.formats.policy.judged import UNDECIDED, deciding, judged_brief, verdict_head
from mipaudit.statements.text.guesses import (
    compared,
    guessers,
    more_right_at_least,
    more_right_at_most,
    more_right_exactly,
    of_cleverer,
    right_at_least,
)
from mipaudit.statements.text.named import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.commands.compare.queries.report import CompareReport, IncreaseCheck, RankedQuery
    from mipaudit.commands.compare.reports.report import ReportComparison, ScoreIncrease
    from mipaudit.formats.document import Picture
    from mipaudit.statements.estimate import Attackers, Estimate

_LITTLE: Final = "To tell no more than another query is not to tell little."
_FEW: Final = 4  # more queries are counted, not named


def compare_brief(report: CompareReport) -> Brief:
    """Return what is certain of the order, each query's place, and how far they are apart."""
    brief = Brief(
        answer=f"{_found(report)}{_leaking(report)} {NO_VERDICT}",
        mood="plain",
        about=_about(report),
        tables=(_ranking(report), *_differences(report)),
        notes=tuple(_notes(report)),
    )
    return judged_brief(report, brief)


def _leaking(report: CompareReport) -> str:
    """Say how many queries surely leak: to leak as much as another is not to leak little."""
    trivial = report.design.trivial
    rows = [one for one in report.advantages if one.attackers == "any"]
    leaks = [one for one in rows if one.lower is not None and one.lower > trivial]
    if leaks:
        most = max(leaks, key=lambda one: one.lower or 0.0)
        return (
            f" Membership leaks through {len(leaks)} of {len(rows)}: '{safe_name(most.score)}' "
            f"gives an advantage of at least {lower_text(most.lower or 0.0)}"
            f"{blind_guessing(trivial)}."
        )
    beside = (
        one for one in (*report.best_of, *report.together) if one.validity != "not-an-interval"
    )
    if any(one.lower is not None and one.lower > trivial for one in beside):
        return ""
    return " None of them is shown to leak."


def _found(report: CompareReport) -> str:
    """Return what is certain about which query leaks more, for the ranking's class if it can."""
    found, first = leading(report), report.ranking[0]
    if found is None:
        return (
            f"No query is shown to leak more than another; '{safe_name(first.query)}' has the "
            f"largest best estimate, {value_text(first.estimate)} "
            f"{against_phrase(report.design.against)}."
        )
    least = lower_text(found.least)
    whom = against_phrase(found.attackers)
    if not found.less:
        most = f"'{safe_name(found.more)}' leaks most"
        return f"{most}: at least {least} more than any other query, {whom}."
    rest = f" ({found.rest} more such difference{'s' * (found.rest > 1)})" if found.rest else ""
    return (
        f"'{safe_name(found.more)}' leaks at least {least} more than '{safe_name(found.less)}', "
        f"{whom}{rest}."
    )


class Leading(NamedTuple):
    """A query that surely leaks more than another.

    Attributes:
        more: its name.
        less: of the other; empty for every other.
        least: by how much at least.
        attackers: for whom.
        rest: how many more such differences there are.
    """

    more: str
    less: str
    least: float
    attackers: Attackers
    rest: int = 0


def leading(report: CompareReport) -> Leading | None:
    """Return what is certain of the order and matters most; None where nothing is."""
    against, first = report.design.against, report.ranking[0]
    facts = [fact for fact in map(_settled, report.differences) if fact]
    of_class = [fact for fact in facts if fact.attackers == against]
    leads = [fact for fact in of_class if fact.more == first.query]
    if len(leads) == len(report.ranking) - 1 > 1:
        return min(leads, key=lambda fact: fact.least)._replace(less="")
    found = max(leads or of_class or facts, key=lambda fact: fact.least, default=None)
    return None if found is None else found._replace(rest=len(of_class or facts) - 1)


def _settled(row: Estimate) -> Leading | None:
    """Return which of two queries surely leaks more, than which, by how much, for whom."""
    versus = row.versus or ""
    if row.lower is not None and row.lower > 0:
        return Leading(row.score, versus, row.lower, row.attackers)
    if row.upper is not None and row.upper < 0:
        return Leading(versus, row.score, -row.upper, row.attackers)
    return None


def _about(report: CompareReport) -> str:
    design = report.design
    sizes = {(one.n_members, one.n_holdout) for one in design.queries}
    rows = "members and holdout records of several sizes"
    if len(sizes) == 1:
        ((members, holdout),) = sizes
        rows = f"{count_text(members)} members, {count_text(holdout)} holdout records"
    blind = "" if not design.trivial else f"; blind guessing has {value_text(design.trivial)}"
    sure = percent_text(design.confidence)
    return f"{len(design.queries)} queries, {rows}, {sure} confidence{blind}."


def _ranking(report: CompareReport) -> Grid:
    rows = [(one, _advantage(report, one)) for one in report.ranking]
    names = short_names(one.query for one in report.ranking)
    trivial = report.design.trivial
    axis = Axis.over([figure for _, figure in rows], start=trivial)
    against = against_phrase(report.design.against)
    return Grid(
        caption=f"Advantage, {advantage_ends(trivial)}. At least: some attacker, as in mipaudit "
        "estimate but for the order of the rows. Best, at most, "
        f"and place (1 leaks most): {against}.",
        head=("place", "query", axis.head, AT_LEAST, "best", AT_MOST),
        rows=tuple(
            (place(one), names[one.query], axis.drawn(figure), *limits(figure))
            for one, figure in rows
        ),
        words=3,
    )


def _advantage(report: CompareReport, one: RankedQuery) -> Interval:
    rows = {row.attackers: row for row in report.advantages if row.score == one.query}
    of_class = rows.get(report.design.against)
    return Interval(
        lower=rows["any"].lower if "any" in rows else None,
        value=one.estimate,
        upper=None if of_class is None else of_class.upper,
    )


def _differences(report: CompareReport) -> Iterator[Grid]:
    rows = [row for row in report.differences if row.attackers == report.design.against]
    # What is certain stands first, so that it gives way last.
    rows.sort(key=lambda row: _settled(row) is None)
    names = short_names(one.name for one in report.design.queries)
    if rows:
        yield Grid(
            caption=f"How much more the first leaks, {against_phrase(report.design.against)}.",
            head=("difference", AT_LEAST, "best", AT_MOST),
            rows=tuple(
                (f"{names[row.score]} - {names[row.versus or '']}", *signed(row)) for row in rows
            ),
            words=1,
        )


def _notes(report: CompareReport) -> Iterator[str]:
    limit = {one.limit for one in report.policy}
    if len(limit) == 1:
        versus = safe_name(report.policy[0].versus)
        yield f"The limit: at most {number_text(*limit)} more than '{versus}'."
    gains = [row for row in report.gains if row.lower]
    if gains:
        most = max(gains, key=lambda row: (row.attackers == report.design.against, row.lower))
        yield (
            f"Seen together, {safe_name(most.score)} leak at least {lower_text(most.lower or 0.0)} "
            f"more than the better one does {against_phrase(most.attackers)}."
        )


def compare_front(report: CompareReport, brief: Brief) -> Front:
    """Return which query lets others guess right more often, and by how much at least.

    Args:
        report: as answered.
        brief: its answer for a terminal.
    """
    design = report.design
    sizes = dict.fromkeys(member_words(one.n_members, one.n_holdout) for one in design.queries)
    limit = "none was set"
    if report.policy:
        most = report.policy[0]
        more = more_right_exactly(most.limit)
        limit = f"right at most {more} more times in 100 than with '{safe_name(most.versus)}'"
    return Front(
        answer=_verdict(report) if report.policy else f"{_order(report)} {NEITHER}",
        mood=brief.mood,
        also=tuple(_also(report)),
        figures=brief.answer,
        facts=(
            ("tried", _tried(report)),
            ("with", " ".join(sizes)),
            ("limit", limit),
        ),
        terms=guess_terms(design.prior, design.confidence),
        unsaid=(_LITTLE, only_tried(len(design.queries)), ALIKE),
    )


def _tried(report: CompareReport) -> str:
    names = [one.name for one in report.design.queries]
    shown = ", ".join(f"'{safe_name(one)}'" for one in names[:_FEW])
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"what can be told from the queries {shown}{more}, each by itself"


def _order(report: CompareReport) -> str:
    """Return what is certain of the order."""
    found = leading(report)
    if found is None:
        return (
            "It is not shown that one of these queries tells more than another about whose records "
            "were used."
        )
    than = f"'{safe_name(found.less)}'" if found.less else "any other of these queries"
    return (
        f"With the query '{safe_name(found.more)}' {guessers(found.attackers)} are right at least "
        f"{more_right_at_least(found.least)} more times in 100 about whose records were used than "
        f"with {than}{of_cleverer(found.attackers)}."
    )


def _verdict(report: CompareReport) -> str:
    check = deciding(report)
    query = "" if check is None else f"the query '{safe_name(check.query)}'"
    return increase_verdict(report, check, query, none="none of the queries")


def increase_verdict(
    report: CompareReport | ReportComparison,
    check: IncreaseCheck | ScoreIncrease | None,
    subject: str,
    *,
    none: str,
    of: str = "",
) -> str:
    """Return the verdict in guesses.

    Args:
        report: with a limit on an increase.
        check: that decides, if one does.
        subject: what the check is about.
        none: what all checks are about, where none is broken.
        of: what stands before the name of the baseline.
    """
    head = verdict_head(report)
    if check is None or report.verdict.status == "inconclusive":
        return f"{head}: {UNDECIDED}"
    who, versus = guessers(check.against), safe_name(check.versus)
    limit = more_right_exactly(check.limit)
    if report.verdict.status == "not_met":
        least = more_right_at_least(check.lower or 0.0, (check.limit,))
        return (
            f"{head}: with {subject} {who} are right at least {least} more times in 100 than with "
            f"{of}'{versus}' (the limit: {limit})."
        )
    most = more_right_at_most(max(0.0, check.upper or 0.0), (check.limit,))
    return (
        f"{head}: with {none} {who} are right more than {most} more times in 100 than with "
        f"{of}'{versus}' (the limit: {limit}){of_cleverer(check.against)}."
    )


def _also(report: CompareReport) -> Iterator[str]:
    """Yield the order, where the verdict came first, and how many of the queries tell anything."""
    if report.verdict.status in {"met", "inconclusive"}:
        yield _order(report)
    trivial = report.design.trivial
    rows = [one for one in report.advantages if one.attackers == "any"]
    leaks = [one for one in rows if (one.lower or 0.0) > trivial]
    if leaks:
        most = max(leaks, key=lambda one: one.lower or 0.0)
        yield (
            f"With {len(leaks)} of {len(rows)} queries somebody surely guesses better than by "
            f"chance: with '{safe_name(most.score)}' right at least "
            f"{right_at_least(most.lower or 0.0, (trivial,))} times in 100 "
            f"({compared(report.design.prior)})."
        )


def compare_pictures(report: CompareReport) -> Iterator[Picture]:
    """Yield the differences in the class of the ranking, and the advantages in it."""
    against = report.design.against
    names = short_names(one.score for one in report.advantages)
    differences = [
        drawing.Interval(
            f"{_name(one.score, names)} less {_name(one.versus or '', names)}",
            one.lower,
            one.value,
            one.upper,
        )
        for one in report.differences
        if one.attackers == against
    ]
    if differences:
        yield drawing.intervals(
            differences,
            name="differences",
            what="difference of advantage",
            caption=f"Right of 0 the first leaks more, {against_phrase(against)}.",
            ends=(-1.0, 1.0),
            marks=drawing.marks_of(one.limit for one in report.policy),
        )
    advantages = [
        drawing.Interval(quoted(one.score), one.lower, one.value, one.upper)
        for one in report.advantages
        if one.attackers == against
    ]
    if advantages:
        yield drawing.intervals(
            advantages,
            name="advantages",
            what="advantage",
            caption=f"Each query, {against_phrase(against)}.",
            ends=(report.design.trivial, 1.0),
            marks=drawing.marks_of((), report.design.trivial),
        )


def _name(score: str, names: Mapping[str, str]) -> str:
    """Return a name that leaves room for another one beside it."""
    return f'"{names.get(score, score)}"'
