"""``mipaudit attack``: what the named adversaries of the literature achieve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from mipaudit.commands.attack.adversaries import (
    NO_MEAN,
    Attack,
    Attacked,
    NotJudgedError,
    attacks_on,
    hold_rows,
    no_mean,
    real_loss,
)
from mipaudit.commands.attack.options import AttackOptions
from mipaudit.commands.attack.report import AttackDesign, AttackReport
from mipaudit.counting.scores import settle_seed
from mipaudit.data.opening import open_input
from mipaudit.data.request import read_request
from mipaudit.evidence.named_attack import (
    Achieved,
    JudgedRows,
    at_most_short,
    mean_difference,
    surely_short,
)
from mipaudit.evidence.scores.findings import crossing_findings, score_findings, size_findings
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.advantage import advantage, baseline
from mipaudit.maths.arrays import Bools
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Attackers, Check, Quantity, Row
from mipaudit.options.public import public
from mipaudit.statements.policy import named_check
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.verdict import named_verdict, settled

if TYPE_CHECKING:
    from mipaudit.data.source import ScoreSource
    from mipaudit.statements.provenance import Provenance

SOURCES: Final[dict[Attackers, str]] = {
    "bounded-loss": "Yeom et al. 2018, Adversary 1",
    "mean": "Yeom et al. 2018, section 6",
    "gaussian": "Yeom et al. 2018, Adversary 2, Theorem 3",
    "one-standard-error": "Yeom et al. 2018, section 3.3",
    "top-n": "LOGAN, Hayes et al. 2019",
    "top-half": "Hilprecht et al. 2019",
    "best-threshold": "Song and Mittal 2021, one threshold for all",
    "per-class": "Song and Mittal 2021, a threshold for each class",
}
MOST_SHOWN: Final = 64
_OTHER: Final = "other"


def _seeds(scores: Sequence[Attacked]) -> dict[str | None, int]:
    """Return the seeds in use: of each score, and of each with the classes."""
    found: dict[str | None, int] = {one.name: one.evidence.seed for one in scores}
    return found | {
        f"{one.name} by class": one.classed.evidence.seed for one in scores if one.classed
    }


def named_attack(attack: Attack, alpha: float) -> tuple[Row, ...]:
    """Return the advantage of an adversary, then its rates, and how far it is from the best."""
    one, prior = attack.seen, attack.asked.prior
    found = attack.achieved(alpha)
    if isinstance(found, Message) or isinstance(attack.guess, Message):
        row = _row(attack, "rows outside the burn-in")
        reason = found if isinstance(found, Message) else None
        return (replace(row, value_reason=reason, validity="not-an-interval"),)
    against: Attackers = "intervals-1" if attack.asked.residuals else "thresholds"
    if one.evidence.discrete:
        against = "any"
    cells, scores = one.cells, one.scores[one.judged]
    judged = JudgedRows(
        takes=attack.guess(one.part(one.judged)).astype(np.float64),
        member=one.member[one.judged],
        scores=scores,
        cell=cells.coarse[np.searchsorted(cells.edges, scores, side="left")],
        blocks=one.blocks[one.judged],
    )
    lower = surely_short(judged, one.evidence.counts, prior, alpha / 2)
    upper = at_most_short(judged, against, prior, alpha / 2)
    # All but the per-class attack see the score alone, and are thresholds (or, of residuals,
    # intervals about 0) or toss coins between some: the best attacker has at least as much.
    least = -2.0 if attack.name == "per-class" else 0.0
    row = _row(attack, "all rows" if attack.everywhere else "rows outside the burn-in", found)
    known: dict[Quantity, float | None] = {
        "tpr": found.tpr,
        "fpr": found.fpr,
        "same_rows": _same_rows(attack),
        "predicted": attack.predicted,
    }
    missed = replace(
        row,
        quantity="shortfall",
        value=None,
        lower=max(least, lower),
        upper=None if upper is None else max(least, upper),
        versus=against,
    )
    return row, *_values(row, known), missed


def _values(row: Row, known: Mapping[Quantity, float | None]) -> Iterator[Row]:
    """Yield what is known of the same as a row, without limits."""
    for quantity, value in known.items():
        if value is not None:
            yield replace(row, quantity=quantity, value=value, lower=None, upper=None)


def _row(attack: Attack, selection: str, found: Achieved | None = None) -> Row:
    """Return the advantage of an adversary; without a figure where it was not judged."""
    row = Row(
        quantity="advantage",
        score=attack.seen.name,
        method=SOURCES[attack.name],
        attackers=attack.name,
        confidence=attack.asked.confidence,
        selection=selection,
        n_members=0,
        n_holdout=0,
    )
    if found is None:
        return row
    return replace(
        row,
        value=found.advantage.value,
        lower=found.advantage.lower,
        upper=found.advantage.upper,
        validity="approximate" if found.counted else "finite-sample",
        n_members=found.n_members,
        n_holdout=found.n_holdout,
    )


def _same_rows(attack: Attack) -> float | None:
    """Return the advantage on the rows learned from; None where nothing is learned from all.

    An infinite score outside the burn-in leaves the rule that was learned as it is, and is
    guessed by it as any extreme; a mean of all rows there is none.
    """
    one = attack.seen
    rows = one.part(np.ones(one.judged.size, dtype=bool))
    try:
        taken = attack.learn(rows)(rows).astype(np.float64)
    except NotJudgedError:
        return None
    inside, outside = taken[one.member], taken[~one.member]
    return advantage(float(inside.mean()), float(outside.mean()), attack.asked.prior)


def class_attack(
    attack: Attack, names: Mapping[int, str], alpha: float
) -> tuple[list[Row], tuple[Finding, ...]]:
    """Return the per-class attack in each class, with its rates, and what was left out.

    Which classes are shown is decided by their sizes alone. Small ones are taken together.

    Args:
        attack: the per-class one, on one score.
        names: of each class, by its hash.
        alpha: two-sided error of one score; it is shared over the classes.
    """
    parts, findings = _shown_classes(attack.seen, names, attack.asked.min_cell)
    found: list[Row] = []
    for name, rows in parts:
        result = attack.achieved(alpha / len(parts), rows)
        if not isinstance(result, Message):
            row = replace(_row(attack, "rows outside the burn-in", result), group=name)
            found += (row, *_values(row, {"tpr": result.tpr, "fpr": result.fpr}))
    return found, findings


def _shown_classes(
    one: Attacked, names: Mapping[int, str], least: int
) -> tuple[list[tuple[str, Bools]], tuple[Finding, ...]]:
    """Return the classes that are shown, as masks of rows, and what became of the others."""
    classes, member, rows = one.classes, one.member, one.judged

    def sizes(chosen: Bools) -> tuple[int, int]:
        return int(np.count_nonzero(chosen & member)), int(np.count_nonzero(chosen & ~member))

    masks = {group: rows & (classes == group) for group in np.unique(classes).tolist()}
    counted = {group: sizes(mask) for group, mask in masks.items()}
    kept = [group for group, pair in counted.items() if min(pair) >= least]
    # The largest are shown where there are very many.
    kept = sorted(kept, key=lambda group: (-sum(counted[group]), names[group]))[:MOST_SHOWN]
    kept.sort(key=lambda group: names[group])
    parts = [(names[group], masks[group]) for group in kept]
    small = len(masks) - len(kept)
    if not small:
        return parts, ()
    rest = rows & ~np.isin(classes, np.array(kept, dtype=np.uint64))
    together = min(sizes(rest)) >= least
    code = "groups_merged" if together else "groups_left_out"
    finding = Finding.of(code, case="classes", groups=small)
    return [*parts, *[(_OTHER, rest)] * together], (finding,)


def shared_error(
    attackers: Sequence[tuple[Attacked, Sequence[Attack]]], confidence: float
) -> float:
    """Return the two-sided error of each limit if one is picked afterwards.

    It is shared over all attackers and the best one of each score, which is another for each.
    """
    return (1 - confidence) / sum(len(named) + 1 for _, named in attackers)


def held_together(
    one: Attacked, named: Sequence[Attack], shared: float, asked: AttackOptions
) -> tuple[Row, list[Check]]:
    """Return the largest lower limit of any who sees a score and no more, and what is judged.

    Every named attacker is judged, and whether any attacker is surely above the limit. 'Not met'
    needs one lower limit above, so these limits share the error, and any of them may be picked;
    'met' needs every upper limit below, so each has the whole of it. The best attacker cannot be
    shown to be within the limit here, but where it is surely above, no words about named ones
    make that good.

    Args:
        one: the score.
        named: the adversaries on it.
        shared: two-sided error of each lower limit.
        asked: the settings.
    """
    best, found = one.evidence.lower(shared / 2), [each.achieved(shared) for each in named]
    lowers: list[tuple[float, str]] = [(best, "any")]
    lowers += [
        (lower.advantage.lower, each.name)
        for each, lower in zip(named, found, strict=True)
        # Thresholds for each class need the class of a record beside its score.
        if not isinstance(lower, Message) and each.name != "per-class"
    ]
    most, rests_on = max(lowers, key=itemgetter(0))
    row = Row(
        quantity="advantage",
        score=one.name,
        lower=most,
        method=rests_on,
        confidence=asked.confidence,
    )
    limit = asked.max_advantage
    if limit is None:
        return row, []
    judge = partial(named_check, "advantage", limit=limit, score=one.name)
    checks = []
    for each, lower in zip(named, found, strict=True):
        upper = each.achieved(1 - asked.confidence)
        subject = Message.of("attack_advantage", attack=each.name)
        if isinstance(lower, Message) or isinstance(upper, Message):
            why = lower if isinstance(lower, Message) else None
            checks.append(judge(subject, limits=(None, None), against=each.name, why=why))
        else:
            limits = lower.advantage.lower, upper.advantage.upper
            checks.append(judge(subject, limits=limits, against=each.name))
    if best > limit:
        checks.append(judge(Message("best_advantage"), limits=(best, None), against="any"))
    return row, checks


def answer_attack(asked: AttackOptions) -> AttackReport:
    """Return what published attacks achieve, with limits, beside the best attacker's.

    An attack that learns something from the data learns it from the burn-in, the rows that a hash
    of their identity picks out, and is judged on the other rows. An attack with nothing to learn is
    judged on all rows. All scores are held in memory.

    Raises:
        UsageError: a setting is wrong, or does not fit another.
        InputError: the input cannot be audited as it is.
    """
    request = read_request(asked, seed=asked.chosen_seed, group_columns=asked.by)
    with open_input(asked.data, asked.members, asked.holdout, request) as source:
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        scores = hold_rows(source, asked)
        made = source.provenance(seed, _seeds(scores), asked.recorded(), hash_all=asked.hash_inputs)
        return attack_report(source, scores, asked, made)


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
    """Return sizes and settings, the scores in the order of the report."""
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


def _sizes(member: Bools) -> tuple[int, int]:
    return int(np.count_nonzero(member)), int(np.count_nonzero(~member))


def _names(source: ScoreSource) -> dict[int, str]:
    groups = source.choice.groups
    assert groups is not None  # noqa: S101 - they were asked for
    return {
        key: ", ".join(f"{c}={word}" for c, word in zip(groups.columns, words, strict=True))
        for key, words in groups.found.items()
    }


def _bound_findings(scores: Sequence[Attacked], asked: AttackOptions) -> Iterator[Finding]:
    """Yield what a reader must know of the bound of the losses."""
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
