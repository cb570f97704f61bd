"""The report: what every estimating command returns, prints and writes.

These dataclasses *are* the JSON format ``mipaudit.report/3``: the codec writes
each field under its own name, and ``mipaudit schema`` is derived from them. The
format is additive within a major version. No field ever holds NaN or infinity:
a limit that does not exist is None, with a reason beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Final

from mipaudit.evidence.judgement.blind import Blind
from mipaudit.evidence.judgement.implication import strongest_implication
from mipaudit.evidence.scores.curves import ScoreCurves
from mipaudit.evidence.scores.rows import joint_p_value
from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Message, fields_of
from mipaudit.model.row import Attackers, Check, Quantity, Row
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.claim import Claim, gravest_claim
from mipaudit.statements.copies import COMMON, COPIES, Copies
from mipaudit.statements.design import Design
from mipaudit.statements.policy import (
    RESTATED,
    SHARES_ERROR,
    applied,
    differs_from_rows,
    restatement,
)
from mipaudit.statements.verdict import Rejudged, Verdict, limits_shown, verdict_answer


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(AnyReport):
    """Everything that one run found.

    ``mace_cells`` are the occupied bins of the published histogram estimator: the risk of each,
    and how many records it has. ``curves`` are of the strongest scores.
    ``blind`` is what the records alone tell, and what of each score
    goes beyond it, if a report of ``shift`` was given. ``copies`` counts the records that were
    released unchanged, where the input says so.
    """

    design: Design
    estimates: tuple[Row, ...]
    claims: tuple[Claim, ...]
    policy: tuple[Check, ...]
    verdict: Verdict
    mace_cells: tuple[Row, ...] = ()
    rejudged: Rejudged | None = None
    curves: tuple[ScoreCurves, ...] = ()
    blind: Blind | None = None
    copies: Copies | None = None

    @property
    def lacking(self) -> bool:
        """Whether there is no row of an advantage: each score that was audited has one."""
        return all(row.quantity != "advantage" for row in self.estimates)


_SHOWN_FPR: Final = 0.01
# The standard deviation over seeds, as a share of what is between limit and best estimate: the
# median over laws, from 300 to 10,000 rows. With `strict` one assignment of rows decides alone.
_SEED_SHARE: Final = {False: 0.05, True: 0.21}
Index = Mapping[tuple[str, str, str, float | None], "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLine:
    """What is known of one score in a line: its advantage as judged, the span of AUC and TPR."""

    score: str
    lower: float | None
    value: float | None
    upper: float | None
    auc: tuple[float, float] | None
    tpr: tuple[float, float] | None


def answer(report: Report) -> Message:
    """Return the answer; its value ``plainly`` is the same in guesses, where guesses can say it."""
    scores = report.design.score_columns
    if report.verdict.status != "no_policy":
        found = verdict_answer(
            report.verdict,
            report.policy,
            report.findings,
            score=scores[0] if len(scores) == 1 else None,
        )
        return found.with_values(found.code, plainly=_judged_plainly(report))
    if report.claims:
        claim = gravest_claim(report.claims)
        return Message.of(
            f"answer_{claim.status}", reason=claim.reason, assuming=report.verdict.assuming
        )
    found = _found(report)
    return found.with_values(found.code, plainly=_plainly(report, found))


def remarks(report: Report) -> Iterator[Message]:
    """Yield what else is worth a line, the most important first."""
    design = report.design
    limits = [one for one in report.policy if one.quantity != "copies"]
    judged = any(one.quantity in RESTATED for one in limits)
    if judged and report.blind is None and report.rejudged is None:
        sharing = _sharing(design, len(limits))
        if sharing:
            yield Message.of("error_shared", score=design.score_columns[0], **sharing)
    if report.policy and report.claims:
        claim = gravest_claim(report.claims)
        yield Message.of("claim_beside_limits", **fields_of(claim, "epsilon", "status", "reason"))
    p = joint_p_value(report.estimates)
    if p is not None:
        shows = p <= 1 - design.confidence
        several = (len(design.score_columns) > 1) or None
        yield Message.of("difference_p" if shows else "no_difference_p", p=p, several=several)
    implied = strongest_implication(report.estimates, design.prior)
    if implied is not None and implied[1] > max(_main(report).lower or 0.0, design.baseline):
        row, advantage = implied
        yield Message.of(
            "auc_implies" if row.quantity == "auc" else "tpr_implies",
            **fields_of(row, "score", "lower", "fpr"),
            advantage=advantage,
            confidence=row.confidence,
            joint=design.joint,
        )
    if report.rejudged is not None:
        yield Message.of(
            "rejudged", limits=report.rejudged.limits, confidence=report.rejudged.confidence
        )
    if differs_from_rows(report.estimates, report.policy):
        yield Message(SHARES_ERROR)
    yield from _settling(report)
    if report.blind is not None:
        yield _records_alone(report.blind)
    first = report.estimates[0]
    if first.lower is not None and first.value is not None and first.value != first.lower:
        strict = any(one.code == "strict_limits" for one in report.limitations)
        moves = _SEED_SHARE[strict] * abs(first.value - first.lower)
        yield Message.of("another_seed_moves", by=moves)


def shown_attackers(report: Report) -> Attackers:
    """Return the class whose upper limits are shown: the policy's, else the widest with limits.

    One that limits every score, if any does: the column says once for whom it holds.
    """
    index = _index(report)
    scores = _strongest_first(report)
    asked: list[Attackers] = [
        one.against for one in report.policy if one.quantity in RESTATED and one.prior is None
    ]
    first = [one for one in _limited(report, "advantage") if one.score == scores[0]]
    widest = _widest(first)
    asked += ["any" if widest is None else widest.attackers, "intervals-4"]
    shared = (one for one in asked if all(_upper(index, score, one) for score in scores))
    return next(shared, asked[0])


def open_limits(report: Report) -> tuple[Check, ...]:
    """Return the limits that are not kept, the gravest first, where the lines do not show them.

    Where all are kept it is each limit, with the score that comes closest to it. Nothing where
    there is one alone, which the answer names.
    """
    against, met = shown_attackers(report), report.verdict.status == "met"
    shown = [one for one in report.policy if met or one.status != "met"]
    if all(_drawn(one, against) for one in shown):
        return ()
    return limits_shown(report.policy, report.verdict)


def _drawn(check: Check, against: Attackers) -> bool:
    """Tell whether a limit is that of the lines of the scores."""
    where = check.quantity, check.prior, check.group
    return where == ("advantage", None, None) and check.against in {against, "any"}


def shown_limit(report: Report) -> float | None:
    """Return the policy's first limit on the advantage, at the prior of the audit."""
    asked = (one for one in report.policy if one.quantity == "advantage" and one.prior is None)
    return next((one.limit for one in asked), None)


def lines(report: Report) -> tuple[ScoreLine, ...]:
    """Return a line for each score, the strongest first, with the limits that a verdict names."""
    index, against = _index(report), shown_attackers(report)
    judged = {one.score: one for one in report.policy if _drawn(one, against)}
    return tuple(
        _line(index, score, against, judged.get(score)) for score in _strongest_first(report)
    )


def metric_lines(report: Report) -> tuple[Row, ...]:
    """Return each metric of each score, with the limits that a verdict names.

    The upper limit is that of the policy's class, else of one that limits the metric in every
    score, the widest first.
    """
    rows = _limited(report, "metric")
    judged = {
        (one.score, one.metric): one
        for one in report.policy
        if (one.quantity, one.prior, one.group, one.blind) == ("metric", None, None, None)
    }
    named = {one.metric: one.against for one in judged.values()}
    index = {(one.score, one.metric, one.attackers): one for one in rows}
    found = []
    for score, metric in dict.fromkeys((one.score, one.metric) for one in rows):
        against = named.get(metric) or _widest_class([one for one in rows if one.metric == metric])
        main, most = index[score, metric, "any"], index.get((score, metric, against))
        limits = judged.get((score, metric))
        lower, upper = (limits or main).lower, (limits or most or main).upper
        # Why the class has no limit stands in the table of all metrics.
        line = replace(main, attackers=against, lower=lower, upper=upper, upper_reason=None)
        found.append(line)
    return tuple(found)


def _widest_class(rows: Sequence[Row]) -> Attackers:
    """Return the class with the largest upper limit: one that limits every score, if any does."""
    limited = [one for one in rows if one.upper is not None]
    of_class = Counter(one.attackers for one in limited)
    every = [one for one in limited if of_class[one.attackers] == max(of_class.values())]
    widest = max(every, key=lambda one: (one.attackers == "any", one.upper), default=None)
    return "any" if widest is None else widest.attackers


def people(report: Report) -> tuple[Row, ...]:
    """Return how many of the people declared are expected to be found out, by attackers.

    They are whole numbers, beyond blind guessing, of the score that leaks most for sure: the
    limits of all scores hold together.
    """
    declared = report.provenance.declared
    subjects = 0 if declared is None or declared.subjects is None else declared.subjects
    rows = _limited(report, "advantage")
    best = max(rows, key=lambda one: (one.lower or 0.0, one.value or 0.0), default=None)
    if subjects < 1 or best is None:
        return ()
    chance = abs(2 * Fraction(report.design.prior) - 1)

    def expected(advantage: float | None, whole: Callable[[Fraction], int]) -> int | None:
        if advantage is None:
            return None
        return whole(subjects * max(Fraction(advantage) - chance, Fraction(0)) / 2)

    return tuple(
        replace(
            one,
            lower=expected(one.lower, floor),
            value=expected(one.value, round),
            upper=expected(one.upper, ceil),
        )
        for one in rows
        if one.score == best.score
    )


def _line(index: Index, score: str, against: Attackers, check: Check | None) -> ScoreLine:
    main = index.get((score, "advantage", "any", None))
    most = index.get((score, "advantage", against, None))
    found = main or most
    if found is None:
        raise AssertionError(score)
    lower, upper = found.lower, None if most is None else most.upper
    if check is not None and check.blind is None:
        # The limits that the verdict rests on, which share the error otherwise.
        lower, upper = lower if check.lower is None else check.lower, check.upper
    return ScoreLine(
        score=score,
        lower=lower,
        value=found.value,
        upper=upper,
        auc=_span(_ordered(index, score, "auc", None)),
        tpr=_span(_ordered(index, score, "tpr_at_fpr", _SHOWN_FPR)),
    )


def _ordered(index: Index, score: str, quantity: str, fpr: float | None) -> Row | None:
    """Return a figure of one threshold: on the score, or on one that is learned from several."""
    classes = ("thresholds", "learned", "any")
    found = (index.get((score, quantity, attackers, fpr)) for attackers in classes)
    return next((one for one in found if one is not None), None)


def _span(row: Row | None) -> tuple[float, float] | None:
    """Return between what a rate lies; a limit that there is not is that of any rate."""
    if row is None or (row.lower is None and row.upper is None):
        return None
    return row.lower or 0.0, 1.0 if row.upper is None else row.upper


def _limited(report: Report, *quantities: Quantity) -> list[Row]:
    """Return the rows of quantities, or of all, whose limits are intervals of the score."""
    return [
        one
        for one in report.estimates
        if one.validity != "not-an-interval"
        and one.attackers != "noised-query"
        and (not quantities or one.quantity in quantities)
    ]


def _index(report: Report) -> Index:
    found: dict[tuple[str, str, str, float | None], Row] = {}
    for one in _limited(report):
        found.setdefault((one.score, one.quantity, one.attackers, one.fpr), one)
    return found


def _strongest_first(report: Report) -> list[str]:
    return list(dict.fromkeys(one.score for one in report.estimates))


def _upper(index: Index, score: str, against: Attackers) -> bool:
    most = index.get((score, "advantage", against, None))
    return most is not None and most.upper is not None


def _widest(rows: Sequence[Row]) -> Row | None:
    """Return the largest of the scores' upper limits, each that which covers most attackers."""
    limited = [one for one in rows if one.upper is not None]
    limited.sort(key=lambda one: (one.attackers == "any", one.upper))
    of_score = {one.score: one for one in limited}
    return max(of_score.values(), key=lambda one: one.upper or 0.0, default=None)


def _main(report: Report) -> Row:
    """Return the advantage of any attacker with the score that leaks most for sure.

    The limits hold jointly over the scores, so that the largest may be picked.
    """
    rows = [one for one in _limited(report, "advantage") if one.attackers == "any"]
    return max(rows, key=lambda one: one.lower or 0.0)


def _sharing(design: Design, limits: int = 0) -> dict[str, str | float | int | None]:
    """Return by how many the error is shared, and the first score's limit without that.

    Args:
        design: of the audit.
        limits: that a verdict is over; 0 where there is none.
    """
    scores = len(design.score_columns)
    if design.alone is None or (max(scores, limits) < 2 and not design.joint):  # noqa: PLR2004
        return {}
    if design.joint and not limits:
        return {"alone_of_all": design.alone}
    among = "limits" if limits > scores else "scores"
    return {"sharing": max(limits, scores), "among": among, "alone": design.alone}


def _found(report: Report) -> Message:
    """Return the answer where there is nothing to compare it with."""
    design, blind = report.design, report.blind
    baseline = design.baseline
    guessing = baseline or None
    first = _main(report)
    lower = first.lower or 0.0
    if lower > baseline and blind is not None:
        found = max(blind.excess, key=lambda one: one.lower, default=None)
        if found is not None and found.lower > baseline:
            return Message.of(
                "leaks_beyond_records",
                score=found.score,
                lower=found.lower,
                baseline=guessing,
                asserted=(blind.bound is not None) or None,
            )
        return Message.of("told_apart", score=first.score, lower=lower, baseline=guessing)
    if lower > baseline:
        return Message.of(
            "leaks", score=first.score, lower=lower, baseline=guessing, **_sharing(design)
        )
    copied = any(one.code in {COPIES, COMMON} for one in report.findings) or None
    implied = strongest_implication(report.estimates, design.prior)
    if implied is not None:
        row, _ = implied
        return Message.of(
            "auc_above_chance" if row.quantity == "auc" else "tpr_above_chance",
            **fields_of(row, "score", "lower", "fpr"),
            copied=copied,
        )
    p = joint_p_value(report.estimates)
    if p is not None and p <= 1 - design.confidence:
        return Message.of("differ_by_test", p=p, copied=copied)
    most = _widest(_limited(report, "advantage"))
    metrics = any(one.quantity == "metric" for one in report.estimates)
    return Message.of(
        "no_leak_of_advantage" if metrics else "no_leak",
        score=first.score if most is None else most.score,
        lower=lower,
        baseline=guessing,
        upper=None if most is None else most.upper,
        against=None if most is None else most.attackers,
        copied=copied,
        **_sharing(design),
    )


def _plainly(report: Report, found: Message) -> Message | None:
    """Return the same in right guesses; None where the advantage does not say it."""
    prior, scores = report.design.prior, report.design.score_columns
    if found.code in {"leaks", "leaks_beyond_records", "told_apart"}:
        return Message.of(
            f"right_{found.code}",
            score=found.get("score"),
            lower=found.get("lower"),
            prior=prior,
            asserted=found.get("asserted"),
        )
    first = _main(report)
    rows = _limited(report, "advantage")
    own = [one for one in rows if one.score == first.score and one.upper is not None]
    widest = max(own, key=lambda one: (one.attackers == "any", one.upper), default=None)
    return Message.of(
        "right_not_shown",
        score=first.score,
        several=(len(scores) > 1) or None,
        prior=prior,
        most=None if widest is None else _right_most(widest.upper, widest.attackers, prior, None),
        but=_but(found),
    )


def _but(found: Message) -> Message | None:
    """Return what a second test, or a figure of its own, finds and the advantage does not show."""
    if found.code == "differ_by_test":
        return Message.of("but_differ_by_test", p=found.get("p"))
    above = found.code in {"auc_above_chance", "tpr_above_chance"}
    return Message("but_above_chance") if above else None


def _right_most(
    upper: float | None, against: Attackers, prior: float, limit: float | None
) -> Message:
    """Return how often who guesses best is right at most."""
    if upper is None or upper >= 1:
        return Message("right_unlimited")
    code = "right_most_any" if against == "any" else "right_most_kind"
    return Message.of(code, upper=upper, against=against, prior=prior, limit=limit)


def _judged_plainly(report: Report) -> Message | None:
    """Return what decided in right guesses; None where it is no advantage."""
    check = _deciding(report)
    if check is None or check.blind is not None:
        return None
    if check.quantity == "copies" or check.quantity not in RESTATED:
        return None
    prior = report.design.prior if check.prior is None else check.prior
    units = restatement(check.quantity, prior)
    lower, limit = units.advantage(check.lower or 0.0), units.advantage(check.limit)
    upper = applied(units.advantage, check.upper)
    if report.verdict.status == "not_met":
        return Message.of("right_above", score=check.score, lower=lower, limit=limit, prior=prior)
    most = _right_most(upper, check.against, prior, limit)
    if report.verdict.status == "met":
        least = _main(report).lower or 0.0
        return Message.of(
            "right_within" if check.against == "any" else "right_within_kind",
            upper=upper,
            limit=limit,
            prior=prior,
            against=check.against,
            several=len(report.design.score_columns) > 1,
            least=least if check.prior is None and least > baseline(prior) else None,
        )
    above = lower > baseline(prior)
    return Message.of(
        "right_open_above" if above else "right_open",
        score=check.score,
        lower=lower,
        limit=limit,
        prior=prior,
        most=most,
        but=None if above else _but(_found(report)),
    )


def told_score(report: Report) -> str:
    """Return the score that the answer is about: the deciding one, else the strongest."""
    check = _deciding(report) if report.policy else None
    return _main(report).score if check is None else check.score


def _deciding(report: Report) -> Check | None:
    """Return the check that the verdict names first; of one that is met, the closest."""
    status = report.verdict.status
    checks = [one for one in report.policy if one.waived is None]
    if status == "met":
        within = [one for one in checks if one.upper is not None]
        sole = len({(one.quantity, one.limit, one.against, one.prior) for one in checks}) == 1
        return max(within, key=lambda one: one.upper or 0.0) if sole and within else None
    found = next((one for one in checks if one.status == status or one.expired is not None), None)
    first = report.verdict.reasons[0]
    # What else decides, such as parts of the input that were left out, has words of its own.
    return found if found is not None and first.holds(found.reason) and not found.expired else None


def _settling(report: Report) -> Iterator[Message]:
    """Say how many records would settle several open limits, and of which no number is known."""
    if report.verdict.status != "inconclusive":
        return  # no number of records helps
    open_ones = [
        one for one in report.policy if one.status == "inconclusive" and one.waived is None
    ]
    settling = [one.records_to_settle for one in open_ones if one.records_to_settle is not None]
    if len(open_ones) > 1 and settling:
        yield Message.of(
            "records_settle_each" if len(settling) == len(open_ones) else "records_settle_some",
            records=max(settling),
            settled=len(settling),
            limits=len(open_ones),
        )


def _records_alone(blind: Blind) -> Message:
    """Return what was taken for what the records alone tell."""
    known = {"lower": blind.lower, "confidence": blind.confidence}
    if blind.bound is not None:
        return Message.of("records_asserted", bound=blind.bound, **known)
    if blind.everyone is not None:
        return Message.of("records_bounded", upper=blind.everyone, **known)
    if blind.attackers == "any":
        return Message.of("records_unbounded", **known)
    return Message.of(
        "records_unbounded_but_kind", upper=blind.upper, against=blind.attackers, **known
    )


def prior_unstated(report: Report) -> bool:
    """Tell whether the prior is the default."""
    settings = report.provenance.settings
    return any((one.name, one.source) == ("prior", "default") for one in settings)


def several(report: Report) -> bool:
    """Tell whether more than one score was audited."""
    return len(report.design.score_columns) > 1


def guessing(report: Report) -> float | None:
    """Return the advantage of blind guessing, where it is above 0."""
    return report.design.baseline or None
