"""``mipaudit attack``: what the named adversaries of the literature achieve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from mipaudit.commands.attack.adversaries import attacks_on
from mipaudit.commands.attack.judged import class_attack, held_together, named_attack, shared_error
from mipaudit.commands.attack.options import AttackOptions
from mipaudit.commands.attack.report import AttackDesign, AttackReport
from mipaudit.commands.attack.scores import (
    NO_MEAN,
    Attacked,
    hold_rows,
    no_mean,
    real_loss,
    seeds_of,
)
from mipaudit.counting.scores import settle_seed
from mipaudit.data.opening import open_input
from mipaudit.data.request import read_request
from mipaudit.evidence.named_attack import mean_difference
from mipaudit.evidence.scores.findings import crossing_findings, score_findings, size_findings
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check, Row
from mipaudit.options.public import public
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.provenance import Provenance, provenance
from mipaudit.statements.verdict import named_verdict, settled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.data.source import ScoreSource


def answer_attack(asked: AttackOptions) -> AttackReport:
    """Return what named adversaries achieve, with limits, beside the best attacker's.

    An adversary that learns something from the data learns it from the burn-in, the rows
    that a hash of their identity picks out, and is judged on the other rows; one that is
    told everything is judged on all rows. All scores are held in memory.

    Raises:
        UsageError: a setting is wrong, or makes no sense beside another.
        InputError: the input cannot be audited as it is.
    """
    request = read_request(asked, seed=asked.chosen_seed, group_columns=asked.by)
    with open_input(asked.data, asked.members, asked.holdout, request) as source:
        seed_used = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        scores = hold_rows(source, asked)
        source.opened.check_unchanged()
        return attack_report(
            source,
            scores,
            asked,
            provenance(
                seed=seed_used,
                inputs=source.inputs(hash_all=asked.hash_inputs),
                settings=asked.recorded(),
                seeds=seeds_of(scores),
                unused_columns=source.unused,
            ),
        )


attack = public(AttackOptions, answer_attack)


RowT = TypeVar("RowT", Row, Check)
_NO_BOUND: Final = Message("mean_without_bound")
# A largest value that so many records share is one that losses stop at.
_ATOM: Final = 10


def generalization_gap(one: Attacked, asked: AttackOptions, alpha: float) -> Row:
    """Return how far the mean losses of the classes are apart, with limits if the loss is bounded.

    Of a score that is high for members, members less holdout. With a side that was looked
    for on the burn-in, the other rows count: that decided which is taken from which.
    """
    bound = asked.loss_bound
    rows = np.ones(one.judged.size, dtype=bool) if asked.side_known else one.judged
    loss, member = real_loss(one, asked)[rows], one.member[rows]
    reason = no_mean(one, asked, rows)
    value = lower = upper = None
    if reason is None:
        loss = loss if bound is None else np.clip(loss, 0.0, bound)
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(loss[~member].mean() - loss[member].mean())
        if not math.isfinite(value):
            value, reason = None, NO_MEAN
        elif bound is None:
            reason = _NO_BOUND
        else:
            terms = loss / bound
            least, most = mean_difference(terms[~member], terms[member], alpha)
            lower, upper = least * bound, most * bound
    return Row(
        quantity="generalization_gap",
        score=one.name,
        confidence=asked.confidence,
        value=value,
        lower=lower,
        upper=upper,
        value_reason=reason if value is None else None,
        lower_reason=reason if lower is None else None,
        method="holdout less members" if one.side == "low" else "members less holdout",
    )


def attack_report(
    source: ScoreSource, scores: Sequence[Attacked], asked: AttackOptions, provenance: Provenance
) -> AttackReport:
    """Return the report."""
    share = ErrorShare(confidence=asked.confidence, columns=len(scores))
    optimum = [row for one in scores for row in advantage_estimates(one.evidence, share)]
    attackers = [(one, list(attacks_on(one, asked))) for one in scores]
    every = [each for _, some in attackers for each in some]
    named = [row for each in every for row in named_attack(each, share.two_sided)]
    gaps = [generalization_gap(one, asked, share.two_sided) for one in scores]
    left_out: dict[Finding, None] = {}
    for each in every:
        if each.name == "per-class":
            in_classes, findings = class_attack(each, _names(source), share.two_sided)
            named += in_classes
            left_out |= dict.fromkeys(findings)
    attacks = [row for row in named if row.quantity == "advantage"]
    shared = shared_error(attackers, asked.confidence)
    held = [held_together(*each, shared, asked) for each in attackers]
    together = [row for row, _ in held]
    order = _strongest_first(baseline(asked.prior), together, optimum, attacks, gaps)
    scores = sorted(scores, key=lambda one: order.index(one.name))
    # The named attacks first: of the best attacker there is no upper limit.
    judged = sorted(
        (check for _, checks in held for check in checks),
        key=lambda one: (one.against == "any", -_lower(one)),
    )
    design = _design(source, scores, asked)
    told = (*source.told, *source.findings())
    findings = (
        *told,
        *size_findings(design.n_members, design.n_holdout),
        *(
            finding
            for evidence in (one.evidence for one in scores)
            for finding in (
                *score_findings(safe_name(evidence.score), evidence.counts),
                *crossing_findings(safe_name(evidence.score), evidence.score, optimum),
            )
        ),
        *_bound_findings(scores, asked),
        *(finding for one in scores for finding in _kind_findings(one, asked)),
        *left_out,
    )
    checks = _of_scores(judged, order)
    return AttackReport(
        command="attack",
        design=design,
        optimum=_of_scores(optimum, order),
        attacks=_of_scores((row for row in attacks if row.group is None), order),
        details=_of_scores((row for row in named if row.quantity != "advantage"), order),
        groups=_of_scores((row for row in attacks if row.group is not None), order),
        gaps=_of_scores(gaps, order),
        findings=findings,
        limitations=_limitations(named, held=bool(checks)),
        policy=checks,
        verdict=settled(named_verdict(checks), told),
        together=_of_scores(together, order),
        provenance=provenance,
    )


def _limitations(rows: Sequence[Row], *, held: bool) -> tuple[Message, ...]:
    """Return what the numbers do not show.

    Args:
        rows: on the attacks.
        held: whether there is a limit that they are held against.
    """
    codes = (
        *(("attack_policy",) if held else ()),
        "attack_no_safety",
        "attack_learned",
        "attack_same_rows",
        *(("attack_predicted",) if any(one.quantity == "predicted" for one in rows) else ()),
        "drawn_alike",
        "attack_not_joint",
        "attack_related",
        "attack_approximate",
    )
    return tuple(map(Message, codes))


def _lower(row: Row | Check) -> float:
    """Return what a row shows at least; the least of all where it shows nothing."""
    return -math.inf if row.lower is None else row.lower


def _strongest_first(blind: float, together: Sequence[Row], *tables: Sequence[Row]) -> list[str]:
    """Return the scores by what the answer names first, then by their best estimate.

    Args:
        blind: the advantage of blind guessing.
        together: the limits together.
        tables: those of the best attacker and of the named ones, and the gaps: the first table
            that shows more than blind guessing is the answer.
    """

    def strength(score: str) -> list[float]:
        optimum, named, gaps = ([one for one in rows if one.score == score] for rows in tables)
        first = [one for one in together if one.score == score]
        found = [max(blind, *map(_lower, rows)) for rows in (first, optimum, named)]
        limits = [(one.lower, one.upper) for one in gaps]
        found += [
            bool(low is not None and high is not None and low * high > 0) for low, high in limits
        ]
        return found + [one.value or 0.0 for one in optimum if one.attackers == "any"]

    return sorted((one.score for one in together), key=strength, reverse=True)


def _of_scores(rows: Iterable[RowT], order: Sequence[str]) -> tuple[RowT, ...]:
    """Return rows score by score, in the order of these."""
    return tuple(sorted(rows, key=lambda one: order.index(one.score)))


def _design(source: ScoreSource, scores: Sequence[Attacked], asked: AttackOptions) -> AttackDesign:
    member = scores[0].member
    learned = tuple(_sizes(one.member[~one.judged]) for one in scores)
    return AttackDesign(
        n_members=_sizes(member)[0],
        n_holdout=_sizes(member)[1],
        prior=asked.prior,
        baseline=baseline(asked.prior),
        confidence=asked.confidence,
        score_columns=tuple(one.name for one in scores),
        member_column=source.member_column,
        skipped_columns=source.passed_over,
        residuals=asked.residuals,
        loss_bound=asked.loss_bound,
        classes=tuple(asked.by),
        sides=tuple(one.side for one in scores),
        burn_in_members=learned[0][0],
        burn_in_holdout=learned[0][1],
        burn_ins=learned,
    )


def _sizes(member: NDArray[np.bool_]) -> tuple[int, int]:
    return int(np.count_nonzero(member)), int(np.count_nonzero(~member))


def _names(source: ScoreSource) -> dict[int, str]:
    groups = source.choice.groups
    assert groups is not None  # noqa: S101 - they were asked for
    return {
        key: ", ".join(f"{c}={word}" for c, word in zip(groups.columns, words, strict=True))
        for key, words in groups.found.items()
    }


def _bound_findings(scores: Sequence[Attacked], asked: AttackOptions) -> Iterator[Finding]:
    bound = asked.loss_bound
    if bound is None:
        yield Finding("no_loss_bound")
        return
    for one in scores:
        loss = real_loss(one, asked)
        outside = int(np.count_nonzero((loss < 0) | (loss > bound)))
        if outside:
            yield Finding.of("loss_clipped", column=one.name, losses=outside)
        elif 0 < np.count_nonzero(loss == bound) < _ATOM:
            yield Finding.of("bound_of_these_rows", column=one.name)


def _kind_findings(one: Attacked, asked: AttackOptions) -> Iterator[Finding]:
    """Yield doubts about what a score is: a loss or not, a residual or not."""
    if not asked.side_known and one.side == "high":
        yield Finding.of("side_found_high", column=one.name)
    if asked.residuals and not (one.scores < 0).any():
        yield Finding.of("residuals_doubtful", case="never_negative", column=one.name)
    if not asked.residuals and "resid" in one.name.lower():
        yield Finding.of("residuals_doubtful", case="as_it_is", column=one.name)
