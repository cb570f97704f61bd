"""What each named adversary achieves: on all rows, in classes of records, under a policy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attack.adversaries import Attack
from mipaudit.commands.attack.options import AttackOptions
from mipaudit.commands.attack.report import Adversary
from mipaudit.commands.attack.scores import Attacked, NotJudgedError
from mipaudit.evidence.named_attack import Achieved, JudgedRows, shortfall
from mipaudit.maths.advantage import advantage
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Attackers, Check, Quantity, Row
from mipaudit.statements.policy import named_check

SOURCES: Final[dict[Adversary, str]] = {
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
    short = shortfall(judged, one.evidence.counts, attackers=against, prior=prior, alpha=alpha)
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
        lower=max(least, short.lower),
        upper=None if short.upper is None else max(least, short.upper),
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
) -> tuple[list[tuple[str, NDArray[np.bool_]]], tuple[Finding, ...]]:
    """Return the classes that are shown, as masks of rows, and what became of the others."""
    classes, member, rows = one.classes, one.member, one.judged

    def sizes(chosen: NDArray[np.bool_]) -> tuple[int, int]:
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
