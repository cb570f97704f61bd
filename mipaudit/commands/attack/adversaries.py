"""The named adversaries: what each learns from, and what it says of other records."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attack.literature import (
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
from mipaudit.commands.attack.options import AttackOptions
from mipaudit.commands.attack.report import Adversary
from mipaudit.commands.attack.scores import NO_MEAN, Attacked, NotJudgedError
from mipaudit.model.message import Message

Guesses = NDArray[np.bool_] | NDArray[np.float64]
Learner = Callable[[Labelled], Callable[[Labelled], Guesses]]

# Who tells an attack more digits of a mean than it is known to has them from these rows.
_AGREEMENT: Final = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One adversary: what it learns from, and what it says of others.

    Attributes:
        name: which.
        learn: from labelled losses to guesses; raises NotJudgedError where it cannot.
        told: whether everything was given, so that nothing is learned.
        predicted: what a formula says of it.
        refused: why it is not judged, None where it is.
    """

    name: Adversary
    learn: Learner
    told: bool = False
    predicted: float | None = None
    refused: Message | None = None


def plots_of(one: Attacked, asked: AttackOptions) -> Iterator[Plot]:
    """Yield the adversaries that apply to a score."""
    if asked.loss_bound is not None:
        yield _bounded(one, asked, asked.loss_bound)
    if asked.residuals:
        yield from _gaussians(one, asked)
    else:
        yield _mean(one, asked)
    share = float(np.count_nonzero(one.member)) / one.member.size
    yield Plot(
        name="top-n",
        learn=_cutting(lambda rows: top_cut(_some(rows.loss), share)),
    )
    yield Plot(
        name="top-half",
        learn=_cutting(lambda rows: top_cut(_some(rows.loss), 0.5)),
    )
    yield Plot(
        name="best-threshold",
        learn=_cutting(lambda rows: best_cut(rows, asked.prior)),
    )
    if asked.by:
        yield class_plot(asked.prior)


def class_plot(prior: float) -> Plot:
    """Return the adversary with a threshold for each class of records."""

    def learn(rows: Labelled) -> Callable[[Labelled], Guesses]:
        cuts = class_cuts(rows, prior)
        return lambda target: class_guesses(target, cuts)

    return Plot(name="per-class", learn=learn)


def _cutting(learn: Callable[[Labelled], Cut]) -> Learner:
    def learner(rows: Labelled) -> Callable[[Labelled], Guesses]:
        cut = learn(rows)
        return lambda target: cut.guesses(target.loss)

    return learner


def _some(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    if not loss.size:
        raise NotJudgedError(Message("nothing_to_learn"))
    return loss


def _mean_of(loss: NDArray[np.float64]) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(_some(loss).mean())
    if not math.isfinite(mean):
        raise NotJudgedError(NO_MEAN)
    return mean


def _mean(one: Attacked, asked: AttackOptions) -> Plot:
    given = asked.mean_loss
    if given is None:
        learn = _cutting(lambda rows: mean_cut(_mean_of(rows.members)))
        return Plot(name="mean", learn=learn)
    at = given if one.side == "low" else -given
    return Plot(
        name="mean",
        learn=_cutting(lambda _: mean_cut(at)),
        told=True,
        refused=_of_these_rows([(at, _or_nan(_mean_of, one.loss[one.member]))]),
    )


def _of_these_rows(pairs: Sequence[tuple[float | None, float]]) -> Message | None:
    """Return that a number told is the one that the rows have, to four digits; None if not.

    The attack was then not fixed before the rows on which it is judged.

    Args:
        pairs: what was told, or None, and what the rows have, or NaN.
    """
    agree = (
        told is not None and abs(told - seen) <= _AGREEMENT * abs(seen) for told, seen in pairs
    )
    return Message("told_of_these_rows") if any(agree) else None


def _or_nan(learned: Callable[[NDArray[np.float64]], float], loss: NDArray[np.float64]) -> float:
    try:
        return learned(loss)
    except NotJudgedError:
        return math.nan


def _gaussians(one: Attacked, asked: AttackOptions) -> Iterator[Plot]:
    members, holdout = asked.sigma_members, asked.sigma_holdout
    of_members = members, _or_nan(_error_of, one.loss[one.member])
    of_holdout = holdout, _or_nan(_error_of, one.loss[~one.member])

    def mine(rows: Labelled) -> float:
        return _error_of(rows.members) if members is None else members

    def theirs(rows: Labelled) -> float:
        return _error_of(rows.holdout) if holdout is None else holdout

    def predicted(formula: Callable[[float, float], float]) -> float | None:
        try:
            rows = one.part(~one.judged)
            found = formula(mine(rows), theirs(rows))
        except NotJudgedError:
            return None
        return found if asked.prior == 0.5 else None  # noqa: PLR2004 - the formula's prior

    yield Plot(
        name="gaussian",
        learn=_cutting(lambda rows: gaussian_cut(mine(rows), theirs(rows))),
        told=members is not None and holdout is not None,
        refused=_of_these_rows([of_members, of_holdout]),
        predicted=predicted(gaussian_advantage),
    )
    yield Plot(
        name="one-standard-error",
        learn=_cutting(lambda rows: one_error_cut(mine(rows))),
        told=members is not None,
        refused=_of_these_rows([of_members]),
        predicted=predicted(one_error_advantage),
    )


def _error_of(residuals: NDArray[np.float64]) -> float:
    if not np.isfinite(_some(residuals)).all():
        raise NotJudgedError(NO_MEAN)
    return standard_error(residuals)


def _bounded(one: Attacked, asked: AttackOptions, bound: float) -> Plot:
    def guess(target: Labelled) -> Guesses:
        loss = target.loss
        if asked.residuals:
            loss = loss**2
        elif one.side == "high":
            loss = loss + bound
        return bounded_loss_guesses(loss, bound)

    return Plot(name="bounded-loss", learn=lambda _: guess, told=True)
