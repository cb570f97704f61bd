"""The named adversaries of the literature: what each learns, and whom it calls a member.

All take *losses*: numbers that are low for members. A score that is high for members is
turned round before. What an adversary learns, it learns from rows of its own (the burn-in),
so that its guesses about the other rows are those of an attacker fixed beforehand.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attack.options import AttackOptions
from mipaudit.commands.attack.report import Adversary
from mipaudit.commands.attack.scores import NO_MEAN, Attacked, Labelled, NotJudgedError
from mipaudit.model.message import Message

# Fewer rows of a class than this do not make a threshold of their own.
_LEAST_ROWS: Final = 5
_HALF: Final = 0.5
# Standard errors are compared up to rounding.
_SAME: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An attacker that guesses 'member' at or below a loss, or above it.

    Attributes:
        at: the loss; infinite for constant guesses.
        below: whether members are guessed at or below it.
    """

    at: float
    below: bool = True

    def guesses(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whom it calls a member, shape (n,)."""
        return np.asarray((loss <= self.at) == self.below)


EVERYBODY: Final = Cut(at=math.inf)


def bounded_loss_guesses(loss: NDArray[np.float64], bound: float) -> NDArray[np.float64]:
    """Return with which probability each record is called a member: 1 - loss/bound.

    Yeom et al. 2018, Adversary 1; Theorem 2: its advantage is the generalization error
    over the bound. A loss above the bound counts as the bound, one below 0 as 0.

    Args:
        loss: shape (n,).
        bound: B above 0, fixed before the losses were seen.
    """
    return np.asarray(1.0 - np.clip(loss, 0.0, bound) / bound)


def standard_error(residuals: NDArray[np.float64]) -> float:
    """Return the root of the mean of the squares of residuals, shape (n,), n above 0."""
    largest = float(np.abs(residuals).max())
    if largest == 0:
        return 0.0
    return largest * math.sqrt(float(np.mean((residuals / largest) ** 2)))


def equal_density(sigma_members: float, sigma_holdout: float) -> float:
    """Return the |residual| at which two centred normal densities are equal.

    Yeom et al. 2018, eq. 4: sigma_D sqrt(2 ln(s) / (s^2 - 1)), s = sigma_D / sigma_S.

    Args:
        sigma_members: sigma_S, at least 0.
        sigma_holdout: sigma_D, at least 0, and not both 0.
    """
    if min(sigma_members, sigma_holdout) == 0:
        return 0.0
    # The same in both; written so that large ratios do not overflow.
    low, high = sorted((sigma_members, sigma_holdout))
    log = math.log(high) - math.log(low)
    return low if log < _SAME else low * math.sqrt(2 * log / -math.expm1(-2 * log))


def gaussian_cut(sigma_members: float, sigma_holdout: float) -> Cut:
    """Return the best attacker on |residual| if residuals are normal about 0.

    Yeom et al. 2018, Adversary 2 and Theorem 3.

    Args:
        sigma_members: standard error on members, at least 0.
        sigma_holdout: standard error on holdout records, at least 0.
    """
    if abs(sigma_members - sigma_holdout) <= _SAME * max(sigma_members, sigma_holdout):
        return EVERYBODY
    at = equal_density(sigma_members, sigma_holdout)
    return Cut(at=at, below=sigma_members < sigma_holdout)


def gaussian_advantage(sigma_members: float, sigma_holdout: float) -> float:
    """Return the advantage of `gaussian_cut` on normal residuals (Yeom et al., Theorem 3)."""
    low, high = sorted((sigma_members, sigma_holdout))
    if high == 0 or high - low <= _SAME * high:
        return 0.0
    if low == 0:
        return 1.0
    at = equal_density(low, high)
    return math.erf(at / (math.sqrt(2) * low)) - math.erf(at / (math.sqrt(2) * high))


def one_error_advantage(sigma_members: float, sigma_holdout: float) -> float:
    """Return the advantage of a cut at one standard error; negative if it errs.

    Yeom et al. 2018, section 3.3: the attacker knows the standard error of members alone, and the
    residuals are normal.
    """
    if sigma_members == 0:
        return 0.0 if sigma_holdout == 0 else 1.0
    if sigma_holdout == 0:
        return math.erf(1 / math.sqrt(2)) - 1.0
    ratio = sigma_members / sigma_holdout
    return math.erf(1 / math.sqrt(2)) - math.erf(ratio / math.sqrt(2))


def top_cut(loss: NDArray[np.float64], share: float) -> Cut:
    """Return the attacker that calls a share of all records members, the lowest losses.

    LOGAN (Hayes et al. 2019) calls as many records members as there are members; the
    Monte-Carlo attack (Hilprecht et al. 2019) half of them. Neither looks at a label.

    Args:
        loss: of records of both classes, shape (n,), n above 0.
        share: in [0, 1].
    """
    taken = round(share * loss.size)
    if taken <= 0:
        return Cut(at=-math.inf, below=True)
    return Cut(at=float(np.partition(loss, taken - 1)[taken - 1]))


def best_cut(rows: Labelled, prior: float) -> Cut:
    """Return the threshold with the largest advantage on ``rows``, or a constant guess.

    Between two losses it lies half way, so that it does not depend on which class the
    last record on one side was of.
    """
    nobody = Cut(at=math.inf, below=False)
    constant = EVERYBODY if prior > _HALF else nobody
    sizes = int(rows.member.sum()), int((~rows.member).sum())
    if min(sizes) == 0:
        return constant
    order = np.argsort(rows.loss, kind="stable")
    loss, member = rows.loss[order], rows.member[order]
    gains = np.where(member, prior / sizes[0], -(1 - prior) / sizes[1]).cumsum()
    ends = np.append(loss[1:] > loss[:-1], True)
    gains[~ends] = -math.inf
    at = int(gains.argmax())
    everybody = 2 * prior - 1
    if gains[at] <= max(0.0, everybody):
        return constant
    if at + 1 == loss.size:
        return EVERYBODY
    # Infinite neighbours have no middle.
    with np.errstate(invalid="ignore", over="ignore"):
        middle = loss[at] + (loss[at + 1] - loss[at]) / 2
    return Cut(at=float(middle if math.isfinite(middle) else loss[at]))


def class_cuts(rows: Labelled, prior: float) -> tuple[Cut, dict[int, Cut]]:
    """Return the best threshold of all rows, and one for each class of records.

    Song and Mittal 2021, section 3: thresholds that depend on the class. A class with few
    rows has none of its own.

    Args:
        rows: to learn from.
        prior: p in (0, 1).
    """
    found = {}
    for group in np.unique(rows.classes).tolist():
        chosen = rows.classes == group
        one = Labelled(loss=rows.loss[chosen], member=rows.member[chosen])
        if min(one.members.size, one.holdout.size) >= _LEAST_ROWS:
            found[group] = best_cut(one, prior)
    return best_cut(rows, prior), found


def class_guesses(rows: Labelled, cuts: tuple[Cut, dict[int, Cut]]) -> NDArray[np.bool_]:
    """Return whom the attacker of `class_cuts` calls a member, shape (n,)."""
    fallback, own = cuts
    guesses = fallback.guesses(rows.loss)
    for group, cut in own.items():
        chosen = rows.classes == group
        guesses[chosen] = cut.guesses(rows.loss[chosen])
    return guesses


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
    """Return who calls a record a member if its loss is at most the members' mean.

    Yeom et al. 2018, section 6.
    """
    given = asked.mean_loss
    if given is None:
        learn = _cutting(lambda rows: Cut(at=_mean_of(rows.members)))
        return Plot(name="mean", learn=learn)
    at = given if one.side == "low" else -given
    return Plot(
        name="mean",
        learn=_cutting(lambda _: Cut(at=at)),
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
        learn=_cutting(lambda rows: Cut(at=mine(rows))),
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
