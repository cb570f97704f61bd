"""The answer of ``estimate`` in a screenful."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.estimate.page import mood
from mipaudit.commands.estimate.sections import Contents
from mipaudit.commands.estimate.words import blind_line
from mipaudit.evidence.judgement.implication import strongest_implication
from mipaudit.evidence.scores.rows import joint_p_value
from mipaudit.formats.brief import (
    AXIS,
    NO_VERDICT,
    Brief,
    Interval,
    axis,
    axis_end,
    blind_guessing,
    drawn,
    short_names,
)
from mipaudit.formats.document import AT_LEAST, AT_MOST, STATUS, Grid, limits
from mipaudit.formats.policy_blocks import verdict_again, verdict_answer
from mipaudit.statements.claim import gravest_claim
from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    percent_text,
    upper_text,
    value_text,
)
from mipaudit.statements.verdict import COPIES, verdict_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mipaudit.commands.estimate.report import Report
    from mipaudit.statements.estimate import Attackers, Estimate
    from mipaudit.statements.policy import PolicyCheck

_HEIGHT: Final = 24
_SHOWN_FPR: Final = 0.01
# The standard deviation over seeds, as a share of what is between limit and best estimate: the
# median over laws, from 300 to 10,000 rows.
_SEED_SHARE: Final = 0.25


def estimate_brief(report: Report) -> Brief:
    """Return the verdict, a line for each score, and what else a reader must know."""
    contents = Contents.of(report)
    against = judged_attackers(report, contents)
    return Brief(
        answer=_answer(report),
        mood=mood(report),
        about=_about(report),
        tables=(_scores(report, contents, against), *_metrics(contents, against)),
        notes=tuple(_notes(report)),
        again=verdict_again(report.verdict, report.policy),
        moves=_moves(report.estimates[0]),
        height=_HEIGHT,
    )


def _answer(report: Report) -> str:
    design, verdict = report.design, report.verdict
    if verdict.status != "no_policy":
        alone = design.score_columns[0] if len(design.score_columns) == 1 else None
        return verdict_answer(verdict, report.policy, score=alone)
    if report.claims:
        claim = gravest_claim(report.claims)
        return f"{STATUS[claim.status]}{verdict_note(verdict)}: {claim.reason}."
    return f"{_found(report)} {NO_VERDICT}"


def _found(report: Report) -> str:
    """Return the answer where there is nothing to compare it with."""
    baseline = report.design.baseline
    # Jointly over the scores, so that the largest may be picked.
    first = max(_main(report), key=lambda one: one.lower or 0.0)
    lower = first.lower or 0.0
    if lower > baseline:
        return (
            f"Membership leaks: whoever sees '{first.score}' has an advantage of at least "
            f"{lower_text(lower)}{blind_guessing(baseline)}."
        )
    copied = any(one.code == COPIES for one in report.findings)
    beside = "Exact copies stand in the release. " if copied else ""
    implied = strongest_implication(report.estimates, report.design.prior)
    if implied is not None:
        row = implied.row
        what = "AUC" if row.quantity == "auc" else f"TPR at FPR {percent_text(row.fpr or 0.0)}"
        return (
            f"{beside}Members and holdout differ: the {what} of '{row.score}' is at least "
            f"{lower_text(row.lower or 0.0)}, above chance, at a confidence of its own."
        )
    p = joint_p_value(report.estimates)
    if p is not None and p <= 1 - report.design.confidence:
        return (
            f"{beside}No limit shows a leak, but an exact test shows a difference "
            f"(p = {upper_text(p)})."
        )
    metrics = any(one.quantity == "metric" for one in report.estimates)
    shown = "The advantage shows no leak" if metrics else "No leak is shown"
    shown += " beside them" if copied else ""
    most = _widest(report.estimates)
    with_score = f" with '{first.score if most is None else most.score}'"
    limit = "" if most is None else f", at most {upper_text(most.upper or 0.0)} {_whom(most)}"
    return (
        f"{beside}{shown}: the advantage{with_score} is at least {lower_text(lower)}"
        f"{blind_guessing(baseline)}{limit}."
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
    asked: list[Attackers] = [one.against for one in report.policy if one.quantity == "advantage"]
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
    judged = {one.score: one for one in asked if one.against == against and one.group is None}
    rows = [
        _as_judged(score_row(contents, score, against), judged.get(score))
        for score in contents.scores
    ]
    marks = [one.limit for one in asked]
    mark = marks[0] if marks else None
    end = axis_end(rows, marks)
    names = short_names(contents.scores)
    return Grid(
        caption="Membership advantage, from 0 (none) to 1 (sure). At most: "
        f"{against_phrase(against)}.{'' if mark is None else ' ┃ is the limit.'}",
        head=("score", axis(end, AXIS), AT_LEAST, "best", AT_MOST, "AUC", "TPR 1%"),
        rows=tuple(
            (
                names[row.score],
                drawn(row, end, AXIS, mark),
                *limits(row),
                *_detail(contents, row.score),
            )
            for row in rows
        ),
        words=2,
    )


def _metrics(contents: Contents, against: Attackers) -> Iterator[Grid]:
    """Yield what was asked beside the advantage, if anything was."""
    rows = [
        (score, one)
        for score in contents.scores
        for one in contents.limits(score)
        if one.quantity == "metric" and one.attackers in {"any", against}
    ]
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for score, one in rows:
        found.setdefault((score, one.metric or ""), {})[one.attackers] = one
    names = short_names(contents.scores)
    if found:
        yield Grid(
            caption="",
            head=("score", "metric", AT_LEAST, "best", AT_MOST),
            rows=tuple(
                (names[score], metric, *limits(_interval(by, against)))
                for (score, metric), by in found.items()
            ),
            words=2,
        )


def _interval(by: Mapping[str, Estimate], against: Attackers) -> Interval:
    """Return the lower limit of any attacker, and the upper one of a class."""
    main, most = by.get("any"), by.get(against)
    return Interval(
        lower=None if main is None else main.lower,
        value=None if main is None else main.value,
        upper=None if most is None else most.upper,
    )


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
    auc = contents.auc(score)
    tpr = next(
        (e for e in contents.limits(score) if e.quantity == "tpr_at_fpr" and e.fpr == _SHOWN_FPR),
        None,
    )
    return (
        "-" if auc is None or auc.value is None else f"{auc.value:.2f}",
        "-" if tpr is None or tpr.value is None else f"{100 * tpr.value:.1f}%",
    )


def _notes(report: Report) -> Iterator[str]:
    p = joint_p_value(report.estimates)
    if p is not None:
        shows = p <= 1 - report.design.confidence
        over = "" if len(report.design.score_columns) == 1 else " over all scores"
        yield (
            f"{'A' if shows else 'No'} difference of the groups (membership, or another) shows: "
            f"p = {upper_text(p)}{over}."
        )
    open_ones = [one for one in report.policy if one.status == "inconclusive"]
    settling = [one.records_to_settle for one in open_ones if one.records_to_settle is not None]
    if len(open_ones) > 1 and settling:
        whole = len(settling) == len(open_ones)
        which = "every open limit" if whole else f"{len(settling)} of {len(open_ones)} open limits"
        yield f"About {count_text(max(settling))} records in all would settle {which}."
    if report.blind is not None:
        yield f"The records alone: {blind_line(report.blind)}."


def _moves(first: Estimate) -> str:
    """Say how far another seed would move the lower limit, where one decides it."""
    if first.lower is None or first.value is None:
        return ""
    spread = _SEED_SHARE * abs(first.value - first.lower)
    return f"; another would move '{AT_LEAST}' by about {spread:.1g}" if spread else ""
