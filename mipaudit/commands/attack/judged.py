"""What each named adversary achieves: on all rows, in classes of records, under a policy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attack.adversaries import Guesses, Plot, class_plot, plots_of
from mipaudit.commands.attack.options import AttackOptions
from mipaudit.commands.attack.report import Adversary
from mipaudit.commands.attack.scores import Attacked, Labelled, NotJudgedError, no_mean
from mipaudit.evidence.named_attack import Achieved, JudgedRows, achieved, shortfall
from mipaudit.evidence.scores.evidence import Evidence
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
_NO_ROWS: Final = Message("empty_class")
MOST_SHOWN: Final = 64
_OTHER: Final = "other"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fixed:
    """An adversary that has learned what it can, and the rows that it is judged on.

    Attributes:
        plot: which.
        one: the score, as it sees it.
        rows: that it is judged on, bool, shape (n,).
        everywhere: whether these are all.
        guess: what it says of others, or why it says nothing.
    """

    plot: Plot
    one: Attacked
    rows: NDArray[np.bool_]
    everywhere: bool
    guess: Callable[[Labelled], Guesses] | Message

    def achieved(self, prior: float, alpha: float) -> Achieved | Message:
        """Return what it achieves, two-sided alpha, or why that is not known."""
        if isinstance(self.guess, Message):
            return self.guess
        target = self.one.part(self.rows)
        found = achieved(self.guess(target), target.member, prior=prior, alpha=alpha)
        return found or _NO_ROWS


def everybody(
    scores: Sequence[Attacked], asked: AttackOptions
) -> dict[str, tuple[Attacked, list[Fixed]]]:
    """Return each score with the adversaries that apply to it, ready to be judged."""
    return {
        one.name: (one, [_fixed(plot, one, asked) for plot in plots_of(one, asked)])
        for one in scores
    }


def _fixed(plot: Plot, whole: Attacked, asked: AttackOptions) -> Fixed:
    one = whole.as_seen_by(plot.name)
    # Two values have one cut, whose limits hold whoever learned it, and from which rows.
    one_cut = plot.name != "per-class" and one.evidence.one_cut
    everywhere = one_cut or (plot.told and asked.side_known)
    rows = np.ones(one.judged.size, dtype=bool) if everywhere else one.judged
    reason = no_mean(one, asked, rows) if plot.name == "bounded-loss" else plot.refused
    guess: Callable[[Labelled], Guesses] | Message
    try:
        guess = reason or plot.learn(one.part(~one.judged))
    except NotJudgedError as error:
        guess = error.reason
    return Fixed(plot=plot, one=one, rows=rows, everywhere=everywhere, guess=guess)


def named_attack(fixed: Fixed, asked: AttackOptions, alpha: float) -> tuple[Row, ...]:
    """Return the advantage of an adversary, then its rates, and how far it is from the best."""
    plot, one = fixed.plot, fixed.one
    found = fixed.achieved(asked.prior, alpha)
    if isinstance(found, Message) or isinstance(fixed.guess, Message):
        reason = found if isinstance(found, Message) else None
        row = _row(plot, one.name, asked.confidence, everywhere=False)
        return (replace(row, value_reason=reason, validity="not-an-interval"),)
    against = _against(one.evidence, asked)
    cells, scores = one.cells, one.scores[one.judged]
    judged = JudgedRows(
        takes=fixed.guess(one.part(one.judged)).astype(np.float64),
        member=one.member[one.judged],
        scores=scores,
        cell=cells.coarse[np.searchsorted(cells.edges, scores, side="left")],
        blocks=one.blocks[one.judged],
    )
    short = shortfall(
        judged, one.evidence.counts, attackers=against, prior=asked.prior, alpha=alpha
    )
    # All but the per-class attack see the score alone, and are thresholds (or, of residuals,
    # intervals about 0) or toss coins between some: the best attacker has at least as much.
    least = -2.0 if plot.name == "per-class" else 0.0
    row = _row(plot, one.name, asked.confidence, found, everywhere=fixed.everywhere)
    known: dict[Quantity, float | None] = {
        "tpr": found.tpr,
        "fpr": found.fpr,
        "same_rows": _same_rows(plot, one, asked.prior),
        "predicted": plot.predicted,
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


def _row(
    plot: Plot,
    score: str,
    confidence: float,
    found: Achieved | None = None,
    *,
    everywhere: bool = False,
) -> Row:
    """Return the advantage of an adversary; without a figure where it was not judged."""
    limits = None if found is None else found.advantage
    return Row(
        quantity="advantage",
        score=score,
        method=SOURCES[plot.name],
        attackers=plot.name,
        value=None if limits is None else limits.value,
        lower=None if limits is None else limits.lower,
        upper=None if limits is None else limits.upper,
        confidence=confidence,
        selection="all rows" if everywhere else "rows outside the burn-in",
        validity="approximate" if found and found.counted else "finite-sample",
        n_members=found.n_members if found else 0,
        n_holdout=found.n_holdout if found else 0,
    )


def _same_rows(plot: Plot, one: Attacked, prior: float) -> float | None:
    """Return the advantage on the rows learned from; None where nothing is learned from all.

    An infinite score outside the burn-in leaves the rule that was learned as it is, and is
    guessed by it as any extreme; a mean of all rows there is none.
    """
    rows = one.part(np.ones(one.judged.size, dtype=bool))
    try:
        taken = plot.learn(rows)(rows).astype(np.float64)
    except NotJudgedError:
        return None
    inside, outside = taken[one.member], taken[~one.member]
    return advantage(float(inside.mean()), float(outside.mean()), prior)


def _against(evidence: Evidence, asked: AttackOptions) -> Attackers:
    """Return the class whose best attacker a named one is held against."""
    if evidence.discrete:
        return "any"
    return "intervals-1" if asked.residuals else "thresholds"


def class_attacks(
    scores: Sequence[Attacked],
    names: Mapping[int, str],
    asked: AttackOptions,
    alpha: float,
) -> tuple[tuple[Row, ...], tuple[Finding, ...]]:
    """Return the per-class attack in each class, with its rates, and what was left out.

    Which classes are shown is decided by their sizes alone. Small ones are taken together.

    Args:
        scores: of the same rows, at least one.
        names: of each class, by its hash.
        asked: the settings.
        alpha: two-sided error of one score; it is shared over the classes.
    """
    found: list[Row] = []
    left_out: dict[Finding, None] = {}
    for whole in scores:
        one = whole.as_seen_by("per-class")
        parts, findings = _shown_classes(one, names, asked.min_cell)
        left_out.update(dict.fromkeys(findings))
        plot = class_plot(asked.prior)
        guess = plot.learn(one.part(~one.judged))
        for name, rows in parts:
            taken = guess(one.part(rows))
            result = achieved(taken, one.member[rows], prior=asked.prior, alpha=alpha / len(parts))
            if result is not None:
                row = replace(_row(plot, one.name, asked.confidence, result), group=name)
                found += (row, *_values(row, {"tpr": result.tpr, "fpr": result.fpr}))
    return tuple(found), tuple(left_out)


def _shown_classes(
    one: Attacked, names: Mapping[int, str], least: int
) -> tuple[list[tuple[str, NDArray[np.bool_]]], tuple[Finding, ...]]:
    """Return the classes that are shown, as masks of rows, and what became of the others."""
    classes, member, rows = one.classes, one.member, one.judged
    sizes = {
        group: (
            int(np.count_nonzero(rows & member & (classes == group))),
            int(np.count_nonzero(rows & ~member & (classes == group))),
        )
        for group in np.unique(classes).tolist()
    }
    kept = [group for group, pair in sizes.items() if min(pair) >= least]
    # The largest are shown where there are very many.
    kept = sorted(kept, key=lambda group: (-sum(sizes[group]), names[group]))[:MOST_SHOWN]
    kept.sort(key=lambda group: names[group])
    parts = [(names[group], rows & (classes == group)) for group in kept]
    rest = rows & ~np.isin(classes, np.array(kept, dtype=np.uint64))
    small = len(sizes) - len(kept)
    if not small:
        return parts, ()
    together = min(np.count_nonzero(rest & member), np.count_nonzero(rest & ~member)) >= least
    if together:
        parts.append((_OTHER, rest))
        return parts, (Finding.of("groups_merged", case="classes", groups=small),)
    return parts, (Finding.of("groups_left_out", case="classes", groups=small),)


def _shared_error(
    attackers: Mapping[str, tuple[Attacked, Sequence[Fixed]]], asked: AttackOptions
) -> float:
    """Return the two-sided error of each limit if one is picked afterwards.

    The best attacker of each score is another.
    """
    return (1 - asked.confidence) / sum(len(named) + 1 for _, named in attackers.values())


def together_limits(
    attackers: Mapping[str, tuple[Attacked, Sequence[Fixed]]], asked: AttackOptions
) -> Iterator[Row]:
    """Yield, of each score, the largest lower limit of any who sees it and no more.

    All limits share the error as in `attack_checks`: a policy is not met where one is above.
    """
    shared = _shared_error(attackers, asked)
    for score, (one, named) in attackers.items():
        lower: float = one.evidence.lower(shared / 2)
        rests_on: Adversary | Literal["any"] = "any"
        for fixed in named:
            found = fixed.achieved(asked.prior, shared)
            # Thresholds for each class need the class of a record beside its score.
            if fixed.plot.name == "per-class" or isinstance(found, Message):
                continue
            if found.advantage.lower > lower:
                lower, rests_on = found.advantage.lower, fixed.plot.name
        yield Row(
            quantity="advantage",
            score=score,
            lower=lower,
            method=rests_on,
            confidence=asked.confidence,
        )


def attack_checks(
    attackers: Mapping[str, tuple[Attacked, Sequence[Fixed]]], asked: AttackOptions
) -> Iterator[Check]:
    """Judge every named attacker, and whether any attacker is surely above the limit.

    'Not met' needs one lower limit above, so the error is shared over all attackers and the
    best one of each score; 'met' needs every upper limit below, so each has the whole of it.
    The best attacker cannot be shown to be within the limit here, but where it is surely
    above, no words about named ones make that good.
    """
    limit, shared = asked.max_advantage, _shared_error(attackers, asked)
    if limit is None:
        return
    for score, (one, named) in attackers.items():
        for fixed in named:
            lower = fixed.achieved(asked.prior, shared)
            upper = fixed.achieved(asked.prior, 1 - asked.confidence)
            limits: tuple[float | None, float | None] = (None, None)
            if not (isinstance(lower, Message) or isinstance(upper, Message)):
                limits = lower.advantage.lower, upper.advantage.upper
            yield named_check(
                "advantage",
                Message.of("attack_advantage", attack=fixed.plot.name),
                limit,
                limits,
                against=fixed.plot.name,
                score=score,
                why=lower if isinstance(lower, Message) else None,
            )
        best = one.evidence.lower(shared / 2)
        if best > limit:
            yield named_check(
                "advantage",
                Message("best_advantage"),
                limit,
                (best, None),
                against="any",
                score=score,
            )
