"""The answer of ``estimate`` in a screenful."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.estimate.page import mood
from mipaudit.commands.estimate.sections import Contents
from mipaudit.commands.estimate.words import blind_line
from mipaudit.evidence.judgement.implication import strongest_implication
from mipaudit.evidence.scores.rows import joint_p_value
from mipaudit.formats.brief import Brief, axis, axis_end, drawn, short_name
from mipaudit.formats.document import AT_LEAST, AT_MOST, STATUS, Grid, limits
from mipaudit.statements.claim import gravest_claim
from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    percent_text,
    upper_text,
    value_text,
)
from mipaudit.statements.verdict import verdict_note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.estimate.report import Report
    from mipaudit.statements.estimate import Attackers, Estimate

_HEIGHT: Final = 24
_AXIS: Final = 20
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
        tables=(_scores(report, contents, against),),
        notes=tuple(_notes(report)),
        again=_again(report),
        moves=_moves(report.estimates[0]),
        height=_HEIGHT,
    )


def _answer(report: Report) -> str:
    design, verdict = report.design, report.verdict
    if verdict.status != "no_policy":
        reason = verdict.reasons[0]
        if len(design.score_columns) == 1:
            reason = reason.removeprefix(f"score '{design.score_columns[0]}': ")
        reason = reason.removeprefix("score ")
        return f"{STATUS[verdict.status]}{verdict_note(verdict)}: {reason}."
    if report.claims:
        claim = gravest_claim(report.claims)
        return f"{STATUS[claim.status]}{verdict_note(verdict)}: {claim.reason}."
    return f"{_found(report)} No limit was given: no verdict."


def _found(report: Report) -> str:
    """Return the answer where there is nothing to compare it with."""
    first = report.estimates[0]
    lower = first.lower or 0.0
    if lower > report.design.baseline:
        return (
            f"Membership leaks: whoever sees '{first.score}' has an advantage of at least "
            f"{lower_text(lower)}."
        )
    implied = strongest_implication(report.estimates, report.design.prior)
    if implied is not None:
        row = implied.row
        what = "AUC" if row.quantity == "auc" else f"TPR at FPR {percent_text(row.fpr or 0.0)}"
        return (
            f"Members and holdout differ: the {what} of '{row.score}' is at least "
            f"{lower_text(row.lower or 0.0)}, above chance, at a confidence of its own."
        )
    p = joint_p_value(report.estimates)
    if p is not None and p <= 1 - report.design.confidence:
        return f"No limit shows a leak, but an exact test shows a difference (p = {upper_text(p)})."
    most = _widest(report, first.score)
    limit = "" if most is None else f", at most {upper_text(most.upper or 0.0)} {_whom(most)}"
    return f"No leak is shown: the advantage with '{first.score}' is at least 0{limit}."


def _widest(report: Report, score: str) -> Estimate | None:
    """Return the row of a score whose upper limit speaks for most attackers."""
    rows = [
        one
        for one in report.estimates
        if (one.score, one.quantity) == (score, "advantage") and one.upper is not None
    ]
    return max(rows, key=lambda one: (one.attackers == "any", one.upper), default=None)


def _whom(row: Estimate) -> str:
    return against_phrase(row.attackers)


def judged_attackers(report: Report, contents: Contents) -> Attackers:
    """Return the class whose upper limit is shown: the policy's, else the widest that has one."""
    judged = [one.against for one in report.policy if one.quantity == "advantage"]
    if judged:
        return judged[0]
    widest = _widest(report, contents.scores[0])
    return "any" if widest is None else widest.attackers


def _about(report: Report) -> str:
    design = report.design
    rows = (
        f"{count_text(design.n_members)} members, {count_text(design.n_holdout)} holdout records, "
        f"{percent_text(design.confidence)} confidence"
    )
    blind = "" if design.baseline == 0 else f"; blind guessing has {value_text(design.baseline)}"
    return f"{rows}{blind}."


def _scores(report: Report, contents: Contents, against: Attackers) -> Grid:
    rows = [score_row(contents, score, against) for score in contents.scores]
    marks = [
        one.limit for one in report.policy if one.quantity == "advantage" and one.prior is None
    ]
    mark = marks[0] if marks else None
    end = axis_end(rows, marks)
    return Grid(
        caption="Membership advantage, from 0 (none) to 1 (sure). At most: "
        f"{against_phrase(against)}.{'' if mark is None else ' ┃ is the limit.'}",
        head=("score", axis(end, _AXIS), AT_LEAST, "best", AT_MOST, "AUC", "TPR 1%"),
        rows=tuple(
            (
                short_name(row.score),
                drawn(row, end, _AXIS, mark),
                *limits(row),
                *_detail(contents, row.score),
            )
            for row in rows
        ),
        words=2,
    )


def score_row(contents: Contents, score: str, against: Attackers) -> Estimate:
    """Return the advantage with a score, with the upper limit against a class."""
    from dataclasses import replace

    main, most = contents.advantage(score), contents.advantage(score, against)
    found = main or most
    if found is None:
        raise AssertionError(score)
    return replace(found, upper=None if most is None else most.upper)


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


def _again(report: Report) -> str:
    """Return the verdict in few words, and how many limits decided it."""
    if not report.policy:
        return ""
    status = report.verdict.status
    alike = sum(one.status == status for one in report.policy)
    of = f" ({alike} of {len(report.policy)} limits)" if len(report.policy) > 1 else ""
    return f"{STATUS[status]}{of}."


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
        whole = "every" if len(settling) == len(open_ones) else f"{len(settling)} of the"
        yield f"About {count_text(max(settling))} records in all would settle {whole} open limit."
    if report.blind is not None:
        yield f"The records alone: {blind_line(report.blind)}."


def _moves(first: Estimate) -> str:
    """Say how far another seed would move the lower limit, where one decides it."""
    if first.lower is None or first.value is None:
        return ""
    spread = _SEED_SHARE * abs(first.value - first.lower)
    return f"; another would move '{AT_LEAST}' by about {spread:.1g}" if spread else ""
