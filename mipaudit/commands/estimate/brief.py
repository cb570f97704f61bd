"""The answer of ``estimate`` in a screenful."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.estimate.page import mood
from mipaudit.commands.estimate.sections import Contents
from mipaudit.commands.estimate.words import SAME, blind_line, shared_line
from mipaudit.evidence.judgement.implication import strongest_implication
from mipaudit.evidence.scores.rows import joint_p_value
from mipaudit.formats.brief import (
    NO_VERDICT,
    Axis,
    Brief,
    Interval,
    advantage_ends,
    blind_guessing,
    short_names,
)
from mipaudit.formats.document import AT_LEAST, AT_MOST, STATUS, Grid, limits
from mipaudit.formats.policy.judged import judged_brief
from mipaudit.report.messages.told import told
from mipaudit.report.verdict_sentence import verdict_note
from mipaudit.statements.claim import gravest_claim
from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    percent_text,
    span_text,
    upper_text,
    value_text,
)
from mipaudit.statements.verdict import COMMON, COPIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.commands.estimate.report import Report
    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.statements.estimate import Attackers, Estimate
    from mipaudit.statements.policy import PolicyCheck

_HEIGHT: Final = 24
_NARROW: Final = 12  # characters of an interval: the limits of AUC and TPR stand beside it
_FEW: Final = 3
_SHOWN_FPR: Final = 0.01
# The standard deviation over seeds, as a share of what is between limit and best estimate: the
# median over laws, from 300 to 10,000 rows.
_SEED_SHARE: Final = 0.1


def estimate_brief(report: Report) -> Brief:
    """Return the verdict, a line for each score, and what else a reader must know."""
    contents = Contents.of(report)
    against = judged_attackers(report, contents)
    scores = report.design.score_columns
    brief = Brief(
        answer=_answer(report),
        mood=mood(report),
        about=_about(report),
        tables=(_scores(report, contents, against), *_metrics(report, contents)),
        notes=tuple(_notes(report, against)),
        moves=_moves(report.estimates[0]),
        height=_HEIGHT,
    )
    return judged_brief(
        report,
        brief,
        unshown=_unshown(report, against),
        score=scores[0] if len(scores) == 1 else None,
    )


def _answer(report: Report) -> str:
    if report.claims:
        claim = gravest_claim(report.claims)
        return f"{STATUS[claim.status]}{verdict_note(report.verdict)}: {told(claim.reason)}."
    return f"{_found(report)} {NO_VERDICT}"


def _found(report: Report) -> str:
    """Return the answer where there is nothing to compare it with."""
    baseline = report.design.baseline
    # Jointly over the scores, so that the largest may be picked.
    first = max(_main(report), key=lambda one: one.lower or 0.0)
    lower, shared = first.lower or 0.0, report.design.shared()
    shared = f" ({shared})" if shared else ""
    if lower > baseline and report.blind is not None:
        return _beyond(report.blind, first, baseline)
    if lower > baseline:
        return (
            f"Membership leaks: whoever sees {quoted_name(first.score)} has an advantage of at "
            f"least {lower_text(lower)}{shared}{blind_guessing(baseline)}."
        )
    copied = any(one.code in {COPIES, COMMON} for one in report.findings)
    beside = "Exact copies stand in the release. " if copied else ""
    implied = strongest_implication(report.estimates, report.design.prior)
    if implied is not None:
        row = implied.row
        what = "AUC" if row.quantity == "auc" else f"TPR at FPR {percent_text(row.fpr or 0.0)}"
        return (
            f"{beside}Members and holdout differ: the {what} of {quoted_name(row.score)} is at "
            f"least {lower_text(row.lower or 0.0)}, above chance, at a confidence of its own."
        )
    p = joint_p_value(report.estimates)
    if p is not None and p <= 1 - report.design.confidence:
        return (
            f"{beside}Members and holdout differ (an exact test, p = {upper_text(p)}), and no "
            "limit shows how much that tells. This is not 'no leak': more records may size it, and "
            "mipaudit shift says whether the records differ without the release."
        )
    metrics = any(one.quantity == "metric" for one in report.estimates)
    shown = "The advantage shows no leak" if metrics else "No leak is shown"
    shown += " beside them" if copied else ""
    most = _widest(report.estimates)
    with_score = f" with {quoted_name(first.score if most is None else most.score)}"
    limit = "" if most is None else f", at most {upper_text(most.upper or 0.0)} {_whom(most)}"
    return (
        f"{beside}{shown}: the advantage{with_score} is at least {lower_text(lower)}"
        f"{shared}{blind_guessing(baseline)}{limit}."
    )


def _beyond(blind: Blind, first: Estimate, baseline: float) -> str:
    """Return what of a leak the records alone do not explain, as far as is known."""
    found = max(blind.excess, key=lambda one: one.lower, default=None)
    if found is not None and found.lower > baseline:
        sure = "" if blind.bound is None else ", if what is asserted of the records is so"
        return (
            f"Membership leaks beyond the records: among those that are alike, whoever sees "
            f"{quoted_name(found.score)} has an advantage of at least {lower_text(found.lower)}"
            f"{blind_guessing(baseline)}{sure}."
        )
    return (
        f"Members and holdout are told apart: whoever sees {quoted_name(first.score)} has an "
        f"advantage of at least {lower_text(first.lower or 0.0)}{blind_guessing(baseline)}, and "
        "the records alone may explain all of it."
    )


def _main(report: Report) -> list[Estimate]:
    """Return the advantage of any attacker with each score, as limited."""
    return [
        one
        for one in report.estimates
        if (one.quantity, one.attackers) == ("advantage", "any")
        and one.validity != "not-an-interval"
    ]


def _widest(rows: Iterable[Estimate]) -> Estimate | None:
    """Return the largest of the scores' upper limits, each that which speaks for most attackers."""
    limited = [
        one
        for one in rows
        if one.quantity == "advantage"
        and one.upper is not None
        and one.validity != "not-an-interval"
        and one.attackers != "noised-query"
    ]
    of_score: dict[str, Estimate] = {}
    for one in sorted(limited, key=lambda one: (one.attackers == "any", one.upper)):
        of_score[one.score] = one
    return max(of_score.values(), key=lambda one: one.upper or 0.0, default=None)


def _whom(row: Estimate) -> str:
    return against_phrase(row.attackers)


def judged_attackers(report: Report, contents: Contents) -> Attackers:
    """Return the class whose upper limits are shown: the policy's, else the widest with limits.

    One that limits every score, if any does: the column says once for whom it holds.
    """
    asked: list[Attackers] = [
        one.against for one in report.policy if one.quantity in SAME and one.prior is None
    ]
    widest = _widest(contents.by_score[contents.scores[0]])
    asked += ["any" if widest is None else widest.attackers, "intervals-4"]
    shared = (
        one for one in asked if all(_limited(contents, name, one) for name in contents.scores)
    )
    return next(shared, asked[0])


def _limited(contents: Contents, score: str, against: Attackers) -> bool:
    most = contents.advantage(score, against)
    return most is not None and most.upper is not None


def _about(report: Report) -> str:
    design = report.design
    rows = (
        f"{count_text(design.n_members)} members, {count_text(design.n_holdout)} holdout records, "
        f"{percent_text(design.confidence)} confidence"
    )
    blind = "" if design.baseline == 0 else f"; blind guessing has {value_text(design.baseline)}"
    return f"{rows}{blind}."


def _scores(report: Report, contents: Contents, against: Attackers) -> Grid:
    asked = [one for one in report.policy if one.quantity == "advantage" and one.prior is None]
    judged = {one.score: one for one in report.policy if _drawn(one, against)}
    rows = [
        _as_judged(score_row(contents, score, against), judged.get(score))
        for score in contents.scores
    ]
    marks = [one.limit for one in asked]
    mark = marks[0] if marks else None
    axis = Axis.over(rows, marks, start=report.design.baseline, width=_NARROW)
    names = short_names(contents.scores)
    return Grid(
        caption=f"Membership advantage, {advantage_ends(report.design.baseline)}. At most: "
        f"{against_phrase(against)}.{'' if mark is None else ' ┃ is the limit.'} AUC, TPR at FPR "
        f"{percent_text(_SHOWN_FPR)}: limits, one threshold.",
        head=("score", axis.head, AT_LEAST, "best", AT_MOST, "AUC", "TPR 1%"),
        rows=tuple(
            (
                names[row.score],
                axis.drawn(row, mark),
                *limits(row),
                *_detail(contents, row.score),
            )
            for row in rows
        ),
        words=2,
    )


def _drawn(check: PolicyCheck, against: Attackers) -> bool:
    """Tell whether a limit is that of the table of the scores."""
    where = check.quantity, check.against, check.prior, check.group
    return where == ("advantage", against, None, None)


def _unshown(report: Report, against: Attackers) -> tuple[PolicyCheck, ...]:
    """Return the checks, where another than those that the table of the scores draws matters."""
    met = report.verdict.status == "met"
    matters = [one for one in report.policy if met or one.status != "met"]
    return () if all(_drawn(one, against) for one in matters) else report.policy


def _metrics(report: Report, contents: Contents) -> Iterator[Grid]:
    """Yield what was asked beside the advantage, for each class of attackers that it holds for."""
    found: dict[tuple[str, str], list[Estimate]] = {}
    for score in contents.scores:
        for one in contents.limits(score):
            if one.quantity == "metric":
                found.setdefault((score, one.metric or ""), []).append(one)
    judged = {(one.score, one.metric or ""): one for one in _judged_metrics(report)}
    named = {one.metric or "": one.against for one in judged.values()}
    widest = _widest_class([rows for (_, metric), rows in found.items() if metric not in named])
    of_class: dict[Attackers | None, list[tuple[str, str, Interval, str]]] = {}
    for (score, metric), rows in found.items():
        against = named.get(metric, widest)
        figure = _interval(rows, against, judged.get((score, metric)))
        unlimited = next((one.unlimited for one in rows if one.attackers == against), "none")
        of_class.setdefault(against, []).append((score, metric, figure, unlimited))
    names = short_names(contents.scores)
    for against, shown in of_class.items():
        yield Grid(
            caption="" if against is None else f"At most: {against_phrase(against)}.",
            head=("score", "metric", AT_LEAST, "best", AT_MOST),
            rows=tuple(
                (names[score], metric, *limits(figure, unlimited))
                for score, metric, figure, unlimited in shown
            ),
            words=2,
        )


def _judged_metrics(report: Report) -> list[PolicyCheck]:
    """Return the limits on metrics of all records, at the prior at which they are shown."""
    found = [one for one in report.policy if one.quantity == "metric"]
    return [one for one in found if one.prior is None and one.group is None]


def _widest_class(scores: Sequence[Sequence[Estimate]]) -> Attackers | None:
    """Return whose upper limits are shown where the policy names nobody: the widest with limits.

    A class with a limit in every line, if there is one; None where nothing is limited.
    """
    limited = [{one.attackers: one for one in rows if one.upper is not None} for rows in scores]
    every = [one for rows in limited for one in rows.values()]
    shared = [one for one in every if all(one.attackers in rows for rows in limited)] or every
    widest = max(shared, key=lambda one: (one.attackers == "any", one.upper), default=None)
    return None if widest is None else widest.attackers


def _interval(
    rows: Sequence[Estimate], against: Attackers | None, check: PolicyCheck | None
) -> Interval:
    """Return the lower limit of any attacker and the upper one of a class, as they are judged."""
    by = {one.attackers: one for one in rows}
    main, most = by["any"], None if against is None else by.get(against)
    if check is not None and check.against == against and check.blind is None:
        return Interval(check.lower, main.value, check.upper)
    return Interval(main.lower, main.value, None if most is None else most.upper)


def score_row(contents: Contents, score: str, against: Attackers) -> Estimate:
    """Return the advantage with a score, with the upper limit against a class."""
    main, most = contents.advantage(score), contents.advantage(score, against)
    found = main or most
    if found is None:
        raise AssertionError(score)
    return replace(found, upper=None if most is None else most.upper)


def _as_judged(row: Estimate, check: PolicyCheck | None) -> Estimate:
    """Return a row with the limits that the verdict rests on, which share the error otherwise."""
    if check is None or check.blind is not None:
        return row
    lower = row.lower if check.lower is None else check.lower
    return replace(row, lower=lower, upper=check.upper)


def _detail(contents: Contents, score: str) -> tuple[str, str]:
    """Return the limits of the AUC and of the TPR at a low FPR: the figures alone say too much."""
    auc = contents.auc(score)
    tpr = next(
        (e for e in contents.limits(score) if e.quantity == "tpr_at_fpr" and e.fpr == _SHOWN_FPR),
        None,
    )
    return _span(auc), _span(tpr, percent=True)


def _span(row: Estimate | None, *, percent: bool = False) -> str:
    """Return between what a rate lies; a limit that there is not is that of any rate."""
    if row is None or (row.lower is None and row.upper is None):
        return "-"
    lower, upper = row.lower or 0.0, 1.0 if row.upper is None else row.upper
    return span_text(lower, upper, percent=percent)


def _notes(report: Report, against: Attackers) -> Iterator[str]:
    if report.blind is None and report.rejudged is None:
        yield shared_line(report.design, report.policy)
    yield from _other_class(report, against)
    p = joint_p_value(report.estimates)
    if p is not None:
        shows = p <= 1 - report.design.confidence
        over = "" if len(report.design.score_columns) == 1 else " over all scores"
        yield (
            f"{'A' if shows else 'No'} difference of the groups (membership, or another) shows: "
            f"p = {upper_text(p)}{over}."
        )
    yield from _settling(report, against)
    if report.blind is not None:
        yield f"The records alone: {blind_line(report.blind)}."


def _other_class(report: Report, against: Attackers) -> Iterator[str]:
    """Say of which scores the limits are for attackers of other classes than the table's."""
    limited = [
        one for one in report.estimates if one.quantity == "advantage" and one.upper is not None
    ]
    shown = {one.score for one in limited if one.attackers == against}
    others = list(dict.fromkeys(one.score for one in limited if one.score not in shown))
    if shown and others:
        names = ", ".join(map(quoted_name, others[:_FEW]))
        more = f" and {len(others) - _FEW} more" if len(others) > _FEW else ""
        yield f"'At most' of {names}{more} is for other attackers: `full`."


def _settling(report: Report, against: Attackers) -> Iterator[str]:
    """Say how many records would settle several open limits, and of which no number is known."""
    if report.verdict.status != "inconclusive":
        return  # no number of records helps
    if _unshown(report, against):
        return  # each stands beside its own number
    open_ones = [
        one for one in report.policy if one.status == "inconclusive" and one.waived is None
    ]
    settling = [one.records_to_settle for one in open_ones if one.records_to_settle is not None]
    if len(open_ones) > 1 and settling:
        rest = len(open_ones) - len(settling)
        more = f"{len(settling)} of {len(open_ones)} open limits; the rest may stay open with more"
        which = more if rest else f"each of the {len(open_ones)} open limits"
        yield f"About {count_text(max(settling))} records in all would settle {which}."


def _moves(first: Estimate) -> str:
    """Say how far another seed would move the lower limit, where one decides it."""
    if first.lower is None or first.value is None:
        return ""
    spread = _SEED_SHARE * abs(first.value - first.lower)
    return f"; another would move '{AT_LEAST}' by about {spread:.1g}" if spread else ""
