"""What each named adversary does with one score, and how it is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.audit.named_attack import Achieved, JudgedRows, Limits, achieved, shortfall, weighed
from mipaudit.queries.adversaries import (
    Cut,
    Labelled,
    best_cut,
    bounded_loss_guesses,
    class_cuts,
    class_guesses,
    gaussian_advantage,
    gaussian_cut,
    mean_cut,
    one_error_advantage,
    one_error_cut,
    standard_error,
    top_cut,
)
from mipaudit.report.attack import NamedAttack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mipaudit.api.attack_question import AttackQuestion
    from mipaudit.api.attacking import Held
    from mipaudit.audit.estimate import Attackers, Side
    from mipaudit.audit.evidence import Evidence
    from mipaudit.report.attack import Adversary

    Guesses = NDArray[np.bool_] | NDArray[np.float64]
    # From the rows to learn from, with their classes, to guesses about others.
    Learner = Callable[[Labelled, NDArray[np.uint64]], Callable[["Target"], Guesses]]

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
_NO_ROWS: Final = "no member or no holdout record is left to judge it on"
_UNTAUGHT: Final = "the burn-in has no row to learn it from"
NO_MEAN: Final = "a mean needs finite scores"
_MISSING: Final = "a missing score has no size; leave these rows out with --nan drop"
_FEW: Final = "a mean is not shown of fewer than {} members or holdout records (--min-cell)"
_ALL_CLIPPED: Final = "every score is below 0 or above the bound"
_THESE_ROWS: Final = (
    "what it is told is what these very records have, on which it would be judged; untold, it "
    "learns that from records of their own"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """Records whose membership is guessed.

    Attributes:
        loss: low for members, shape (n,).
        classes: of the records, uint64, shape (n,).
    """

    loss: NDArray[np.float64]
    classes: NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One adversary: what it learns from, and what it says of others.

    Attributes:
        name: which.
        learn: from labelled losses to guesses; raises ValueError with the reason where it
            cannot.
        told: whether everything was given, so that nothing is learned.
        learned: what it learns or was told, in words.
        predicted: what a formula says of it.
        refused: why it is not judged, None where it is.
    """

    name: Adversary
    learn: Learner
    learned: str
    told: bool = False
    predicted: float | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attacked:
    """One score made ready: losses that are low for members, and the rows by their use.

    Attributes:
        name: of the score column.
        at: its position among the score columns.
        scores: as audited, shape (n,).
        loss: low for members, shape (n,).
        member: bool, shape (n,).
        classes: uint64, shape (n,).
        judged: rows outside the burn-in, bool, shape (n,).
        blocks: micro-block of each row, shape (n,).
        side: where members score.
    """

    name: str
    at: int
    scores: NDArray[np.float64]
    loss: NDArray[np.float64]
    member: NDArray[np.bool_]
    classes: NDArray[np.uint64]
    judged: NDArray[np.bool_]
    blocks: NDArray[np.uint8]
    side: Side

    def part(self, rows: NDArray[np.bool_]) -> tuple[Labelled, NDArray[np.uint64]]:
        """Return some of the rows to learn from."""
        return Labelled(loss=self.loss[rows], member=self.member[rows]), self.classes[rows]


def attacked(held: Held, at: int, question: AttackQuestion) -> Attacked:
    """Return one score column made ready."""
    evidence = held.evidence[at]
    scores = held.rows.scores[at]
    side: Side = evidence.side if question.member_side == "auto" else question.member_side
    if question.residuals:
        side, loss = "low", np.abs(scores)
    else:
        loss = scores if side == "low" else -scores
    classes = held.rows.groups
    return Attacked(
        name=evidence.score,
        at=at,
        scores=scores,
        loss=loss,
        member=held.rows.member,
        classes=np.zeros(scores.size, dtype=np.uint64) if classes is None else classes,
        judged=held.judged,
        blocks=held.blocks,
        side=side,
    )


def named_attacks(
    one: Attacked, held: Held, question: AttackQuestion, alpha: float
) -> Iterator[NamedAttack]:
    """Yield what each adversary that applies achieves, in a fixed order."""
    for plot in plots_of(one, question):
        yield _judged(plot, one, held, question, alpha)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fixed:
    """An adversary that has learned what it can, and the rows that it is judged on."""

    guess: Callable[[Target], Guesses]
    everywhere: bool
    rows: NDArray[np.bool_]

    def achieved(self, one: Attacked, prior: float, alpha: float) -> Achieved | None:
        """Return what it achieves, two-sided alpha."""
        return achieved(
            self.guess(_target(one, self.rows)), one.member[self.rows], prior=prior, alpha=alpha
        )


def advantage_limits(
    plot: Plot, one: Attacked, question: AttackQuestion, alpha: float
) -> Limits | str:
    """Return the advantage of one adversary with its limits, or why there are none.

    Args:
        plot: the adversary.
        one: the score.
        question: the settings.
        alpha: two-sided error in (0, 1).
    """
    fixed = _fixed(plot, one, question)
    if isinstance(fixed, str):
        return fixed
    found = fixed.achieved(one, question.prior, alpha)
    return _NO_ROWS if found is None else found.advantage


def _fixed(plot: Plot, one: Attacked, question: AttackQuestion) -> _Fixed | str:
    """Return the adversary ready to be judged, or why it is not."""
    everywhere = plot.told and question.side_known
    rows = np.ones(one.judged.size, dtype=bool) if everywhere else one.judged
    reason = no_mean(one, question, rows) if plot.name == "bounded-loss" else plot.refused
    if reason is not None:
        return reason
    try:
        guess = plot.learn(*one.part(~one.judged))
    except ValueError as error:
        return str(error)
    return _Fixed(guess=guess, everywhere=everywhere, rows=rows)


def _judged(
    plot: Plot, one: Attacked, held: Held, question: AttackQuestion, alpha: float
) -> NamedAttack:
    fixed = _fixed(plot, one, question)
    if isinstance(fixed, str):
        return _nothing(plot, one, fixed)
    found = fixed.achieved(one, question.prior, alpha)
    if found is None:
        return _nothing(plot, one, _NO_ROWS)
    guess, everywhere = fixed.guess, fixed.everywhere
    same = plot.learn(*one.part(np.ones(one.judged.size, dtype=bool)))
    evidence = held.evidence[one.at]
    against = _against(evidence, question)
    cells, scores = held.plan.columns[one.at].cells, one.scores[one.judged]
    judged = JudgedRows(
        takes=guess(_target(one, one.judged)).astype(np.float64),
        member=one.member[one.judged],
        scores=scores,
        cell=cells.coarse[np.searchsorted(cells.edges, scores, side="left")],
        blocks=one.blocks[one.judged],
    )
    short = shortfall(
        judged,
        evidence.counts,
        attackers=against,
        prior=question.prior,
        alpha=alpha,
    )
    # All but the per-class attack see the score alone, and are thresholds (or, of residuals,
    # intervals about 0) or toss coins between some: the best attacker has at least as much.
    least = -2.0 if plot.name == "per-class" else 0.0
    every = same(_target(one, np.ones(one.judged.size, dtype=bool))).astype(np.float64)
    published = weighed(
        float(every[one.member].mean()), float(every[~one.member].mean()), question.prior
    )
    return NamedAttack(
        score=one.name,
        adversary=plot.name,
        source=SOURCES[plot.name],
        value=found.advantage.value,
        lower=found.advantage.lower,
        upper=found.advantage.upper,
        validity="approximate" if found.counted else "finite-sample",
        tpr=found.tpr,
        fpr=found.fpr,
        judged_on="all rows" if everywhere else "rows outside the burn-in",
        n_members=found.n_members,
        n_holdout=found.n_holdout,
        learned=plot.learned,
        same_rows=published,
        predicted=plot.predicted,
        short_lower=max(least, short.lower),
        short_upper=None if short.upper is None else max(least, short.upper),
        short_against=against,
    )


def _target(one: Attacked, rows: NDArray[np.bool_]) -> Target:
    return Target(loss=one.loss[rows], classes=one.classes[rows])


def _nothing(plot: Plot, one: Attacked, reason: str) -> NamedAttack:
    return NamedAttack(
        score=one.name,
        adversary=plot.name,
        source=SOURCES[plot.name],
        value=None,
        lower=None,
        upper=None,
        value_reason=reason,
        validity="not-an-interval",
        tpr=None,
        fpr=None,
        judged_on="rows outside the burn-in",
        n_members=0,
        n_holdout=0,
        learned=plot.learned,
    )


def _against(evidence: Evidence, question: AttackQuestion) -> Attackers:
    """Return the class whose best attacker a named one is held against."""
    if evidence.discrete:
        return "any"
    return "intervals-1" if question.residuals else "thresholds"


def plots_of(one: Attacked, question: AttackQuestion) -> Iterator[Plot]:
    """Yield the adversaries that apply to a score."""
    if question.loss_bound is not None:
        yield _bounded(one, question, question.loss_bound)
    if question.residuals:
        yield from _gaussians(one, question)
    else:
        yield _mean(one, question)
    share = float(np.count_nonzero(one.member)) / one.member.size
    yield Plot(
        name="top-n",
        learn=_cutting(lambda rows: top_cut(_some(rows.loss), share)),
        learned="the score above which the members' share of all records lies",
    )
    yield Plot(
        name="top-half",
        learn=_cutting(lambda rows: top_cut(_some(rows.loss), 0.5)),
        learned="the median of all scores",
    )
    yield Plot(
        name="best-threshold",
        learn=_cutting(lambda rows: best_cut(rows, question.prior)),
        learned="the threshold that does best",
    )
    if question.by:
        yield class_plot(question.prior)


def class_plot(prior: float) -> Plot:
    """Return the adversary with a threshold for each class of records."""

    def learn(rows: Labelled, classes: NDArray[np.uint64]) -> Callable[[Target], Guesses]:
        cuts = class_cuts(rows, classes, prior)
        return lambda target: class_guesses(target.loss, target.classes, cuts)

    return Plot(name="per-class", learn=learn, learned="the threshold that does best in each class")


def _cutting(learn: Callable[[Labelled], Cut]) -> Learner:
    def learner(rows: Labelled, classes: NDArray[np.uint64]) -> Callable[[Target], Guesses]:
        del classes
        cut = learn(rows)
        return lambda target: cut.guesses(target.loss)

    return learner


def _some(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    if not loss.size:
        raise ValueError(_UNTAUGHT)
    return loss


def _mean_of(loss: NDArray[np.float64]) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(_some(loss).mean())
    if not math.isfinite(mean):
        raise ValueError(NO_MEAN)
    return mean


def _mean(one: Attacked, question: AttackQuestion) -> Plot:
    given = question.mean_loss
    if given is None:
        return Plot(
            name="mean",
            learn=_cutting(lambda rows: mean_cut(_mean_of(rows.members))),
            learned="the mean score of members",
        )
    at = given if one.side == "low" else -given
    return Plot(
        name="mean",
        learn=_cutting(lambda _: mean_cut(at)),
        learned="the mean score of members, as given",
        told=True,
        refused=_of_these_rows([(at, _mean_or_nan(one.loss[one.member]))]),
    )


# Who tells an attack more digits of a mean than it is known to has them from these rows.
_AGREEMENT: Final = 1e-4


def _of_these_rows(pairs: Sequence[tuple[float | None, float]]) -> str | None:
    """Return that a number told is the one that the rows have, to four digits; None if not.

    The attack was then not fixed before the rows on which it is judged.

    Args:
        pairs: what was told, or None, and what the rows have, or NaN.
    """
    for told, seen in pairs:
        if told is not None and abs(told - seen) <= _AGREEMENT * abs(seen):
            return _THESE_ROWS
    return None


def _mean_or_nan(loss: NDArray[np.float64]) -> float:
    try:
        return _mean_of(loss)
    except ValueError:
        return math.nan


def _error_or_nan(residuals: NDArray[np.float64]) -> float:
    try:
        return _error_of(residuals)
    except ValueError:
        return math.nan


def _gaussians(one: Attacked, question: AttackQuestion) -> Iterator[Plot]:
    members, holdout = question.sigma_members, question.sigma_holdout
    of_members = members, _error_or_nan(one.loss[one.member])
    of_holdout = holdout, _error_or_nan(one.loss[~one.member])

    def mine(rows: Labelled) -> float:
        return _error_of(rows.members) if members is None else members

    def theirs(rows: Labelled) -> float:
        return _error_of(rows.holdout) if holdout is None else holdout

    def predicted(formula: Callable[[float, float], float]) -> float | None:
        try:
            rows = one.part(~one.judged)[0]
            found = formula(mine(rows), theirs(rows))
        except ValueError:
            return None
        return found if question.prior == 0.5 else None  # noqa: PLR2004 - the formula's prior

    yield Plot(
        name="gaussian",
        learn=_cutting(lambda rows: gaussian_cut(mine(rows), theirs(rows))),
        learned="the standard errors of members and of holdout records",
        told=members is not None and holdout is not None,
        refused=_of_these_rows([of_members, of_holdout]),
        predicted=predicted(gaussian_advantage),
    )
    yield Plot(
        name="one-standard-error",
        learn=_cutting(lambda rows: one_error_cut(mine(rows))),
        learned="the standard error of members",
        told=members is not None,
        refused=_of_these_rows([of_members]),
        predicted=predicted(one_error_advantage),
    )


def _error_of(residuals: NDArray[np.float64]) -> float:
    if not residuals.size:
        raise ValueError(_UNTAUGHT)
    if not np.isfinite(residuals).all():
        raise ValueError(NO_MEAN)
    return standard_error(residuals)


def real_loss(one: Attacked, question: AttackQuestion) -> NDArray[np.float64]:
    """Return the loss itself: squared residuals, or B less a score that is high for members."""
    if question.residuals:
        return np.asarray(one.scores**2)
    if one.side == "low":
        return one.scores
    return np.asarray((question.loss_bound or 0.0) - one.scores)


def no_mean(one: Attacked, question: AttackQuestion, rows: NDArray[np.bool_]) -> str | None:
    """Return why no mean of the losses of some rows can be shown; None where one can.

    Args:
        one: the score.
        question: the settings.
        rows: that the mean is of, bool, shape (n,).
    """
    loss, member = real_loss(one, question)[rows], one.member[rows]
    if question.missing_kept and (one.scores[rows] == -np.inf).any():
        return _MISSING
    if min(np.count_nonzero(member), np.count_nonzero(~member)) < question.min_cell:
        # Of one record the mean is its loss, and of few it tells much of each.
        return _FEW.format(question.min_cell)
    if question.loss_bound is None:
        return None if np.isfinite(loss).all() else NO_MEAN
    outside = (loss < 0) | (loss > question.loss_bound)
    return _ALL_CLIPPED if outside.all() else None


def _bounded(one: Attacked, question: AttackQuestion, bound: float) -> Plot:
    def learn(rows: Labelled, classes: NDArray[np.uint64]) -> Callable[[Target], Guesses]:
        del rows, classes

        def guess(target: Target) -> Guesses:
            loss = target.loss
            if question.residuals:
                loss = loss**2
            elif one.side == "high":
                loss = loss + bound
            return bounded_loss_guesses(loss, bound)

        return guess

    return Plot(name="bounded-loss", learn=learn, learned="the bound of the loss", told=True)
