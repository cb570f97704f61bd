"""What ``attack`` returns, prints and writes: the JSON format ``mipaudit.attack/3``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from mipaudit.model.message import Message, fields_of
from mipaudit.model.row import Check, Row
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.verdict import Verdict, named_verdict, used, verdict_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackDesign:
    """What was attacked, and how.

    Attributes:
        n_members: members in the input.
        n_holdout: holdout records in the input.
        prior: p in (0, 1).
        baseline: the trivial attacker's advantage, |2p-1|.
        confidence: of each pair of limits, jointly over the score columns.
        score_columns: that were attacked, the strongest first.
        member_column: None when files or arrays say it.
        skipped_columns: that were not taken as scores.
        residuals: whether the scores are residuals, whose size is what is attacked.
        loss_bound: B, if the user gave one.
        classes: the columns whose values have thresholds of their own.
        sides: of each score column, where members score.
        burn_in_members: members that attackers of the first score learn from.
        burn_in_holdout: holdout records that they learn from.
        burn_ins: both, of each score: which records they are follows from the score.
    """

    n_members: int
    n_holdout: int
    prior: float
    baseline: float
    confidence: float
    score_columns: tuple[str, ...]
    member_column: str | None
    skipped_columns: tuple[str, ...]
    residuals: bool
    loss_bound: float | None
    classes: tuple[str, ...]
    sides: tuple[Literal["high", "low"], ...]
    burn_in_members: int
    burn_in_holdout: int
    burn_ins: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttackReport(AnyReport):
    """Published attacks beside the limits of the best attacker.

    Attributes:
        optimum: advantage of the best attacker: any, and of each class.
        attacks: advantage of each attacker of the literature, on rows from which it has learned
            nothing (``selection``); in a fixed order, score by score, as all tables are, the
            strongest first. Its lower limit may be below blind guessing.
        details: of these, ``tpr`` and ``fpr``; ``same_rows``, the advantage where it learns from
            all rows and is judged on them, as papers print it; ``predicted``, what the paper's
            formula says for normal residuals with these standard errors; ``shortfall``, how much
            more any attacker has at least, and the best of the class ``versus`` at most.
        groups: advantage of the per-class attack within each class of records, jointly over these.
        gaps: how far the mean losses of the two classes (``method``: which is taken from which)
            are apart, of residuals those of their squares; of each score.
        policy: one check for each named adversary, and one for the best attacker (``any``)
            where it is surely above the limit. 'Met' says nothing of the best attacker.
        together: the largest of the lower limits of each score, which share the error: this one
            may be picked afterwards, and holds for any attacker. ``method``: whose limit it is.
    """

    design: AttackDesign
    optimum: tuple[Row, ...]
    attacks: tuple[Row, ...]
    details: tuple[Row, ...]
    groups: tuple[Row, ...]
    gaps: tuple[Row, ...]
    policy: tuple[Check, ...] = ()
    verdict: Verdict = field(default_factory=partial(named_verdict, ()))
    together: tuple[Row, ...] = ()


def answer(report: AttackReport) -> Message:
    """Return the answer; its value ``plainly`` is the same in guesses, where guesses can say it."""
    if report.verdict.status == "no_policy":
        return _found(report)
    scores = report.design.score_columns
    found = verdict_answer(
        report.verdict,
        report.policy,
        report.findings,
        score=scores[0] if len(scores) == 1 else None,
        alone=True,
    )
    return found.with_values(found.code, plainly=_judged_plainly(report))


def remarks(report: AttackReport) -> Iterator[Message]:
    """Yield what else is worth a line, the most important first."""
    baseline = report.design.baseline
    most = max(report.together, key=_lower, default=None)
    if not report.policy:
        yield Message("answer_of_all_lines")
    elif most is not None and _lower(most) > baseline:
        yield Message.of("any_attacker_of_all_lines", score=most.score, lower=most.lower)
    limited = [one for one in report.optimum if one.attackers != "any" and one.upper is not None]
    widest = max(limited, key=lambda one: one.upper or 0.0, default=None)
    if widest is not None:
        yield Message.of(
            "best_of_kind", score=widest.score, upper=widest.upper, against=widest.attackers
        )
    reasons: dict[Message, dict[str, None]] = {}
    for one in report.attacks:
        if one.value_reason is not None:
            reasons.setdefault(one.value_reason, {})[one.attackers] = None
    for reason, names in reasons.items():
        yield Message.of("not_judged", attacks=tuple(names), why=reason)
    first = max(report.groups, key=_lower, default=None)
    if first is not None:
        leaks = _lower(first) > baseline
        yield Message.of(
            "class_leaks_most" if leaks else "no_class_leaks",
            classes=len(report.groups),
            **fields_of(first, "group", "lower", "value"),
        )


def lines(report: AttackReport) -> tuple[Row, ...]:
    """Return the best attacker of each score and each attack, by what they have at least."""
    best = (one for one in report.optimum if one.attackers == "any")
    return tuple(sorted((*best, *strongest(report)), key=_lower, reverse=True))


def strongest(report: AttackReport) -> tuple[Row, ...]:
    """Return the attacks score by score, by what each has at least."""
    scores = list(dict.fromkeys(one.score for one in report.attacks))
    ordered = sorted(report.attacks, key=lambda one: (scores.index(one.score), -_lower(one)))
    return tuple(sorted(ordered, key=lambda one: one.value is None))


def shown_limit(report: AttackReport) -> float | None:
    """Return the limit of the policy: every attack has the same."""
    return report.policy[0].limit if report.policy else None


def mean_given(report: AttackReport) -> bool:
    """Tell whether the mean attack was told the mean, and learned nothing."""
    settings = report.provenance.settings
    return any(one.name == "mean_loss" and one.value is not None for one in settings)


def guessing(report: AttackReport) -> float | None:
    """Return the advantage of blind guessing, where it is above 0."""
    return report.design.baseline or None


def _lower(row: Row) -> float:
    return -math.inf if row.lower is None else row.lower


def _found(report: AttackReport) -> Message:
    """Return the firmest statement that something leaks, or that nothing shows it."""
    baseline, prior = report.design.baseline, report.design.prior
    tables: dict[str, tuple[Row, ...]] = {
        # These limits share the error: the largest may be picked, and others have their own.
        "leaks": report.together,
        "best_attack_leaks": report.optimum,
        "named_attack_leaks": (*report.attacks, *report.groups),
    }
    for code, rows in tables.items():
        most = max(rows, key=_lower, default=None)
        if most is not None and _lower(most) > baseline:
            shown = Message.of(
                code, score=most.score, lower=most.lower, attack=most.attackers, group=most.group
            )
            plainly = shown.with_values(f"right_{code}", prior=prior)
            return shown.with_values(code, baseline=baseline or None, plainly=plainly)
    for gap in report.gaps:
        if gap.lower is not None and gap.upper is not None and gap.lower * gap.upper > 0:
            return Message.of(
                "means_apart", **fields_of(gap, "score", "lower", "upper"), order=gap.method
            )
    plainly = Message.of("right_no_attack_leaks", prior=prior)
    return Message.of("no_attack_leaks", baseline=baseline, plainly=plainly)


def _judged_plainly(report: AttackReport) -> Message:
    """Return what decided in right guesses; an open verdict neither passes nor fails."""
    status, prior = report.verdict.status, report.design.prior
    deciding = [one for one in report.policy if one.status == status]
    if not deciding or status not in {"met", "not_met"}:
        return Message("right_undecided")
    if status == "met":
        most = max(deciding, key=used)
        upper = max(report.design.baseline, most.upper or 0.0)
        return Message.of("right_within_attacks", upper=upper, limit=most.limit, prior=prior)
    first = deciding[0]
    return Message.of(
        "right_above" if first.against == "any" else "right_attack_above",
        score=first.score,
        attack=first.against,
        lower=first.lower,
        limit=first.limit,
        prior=prior,
    )
