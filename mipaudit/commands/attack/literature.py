"""The named adversaries of the literature: what each learns, and whom it calls a member.

All take *losses*: numbers that are low for members. A score that is high for members is
turned round before. What an adversary learns, it learns from rows of its own (the burn-in),
so that its guesses about the other rows are those of an attacker fixed beforehand.
"""

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Fewer rows of a class than this do not make a threshold of their own.
_LEAST_ROWS: Final = 5
_HALF: Final = 0.5
# Standard errors are compared up to rounding.
_SAME: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """Losses of both classes: to learn from, or whose membership is guessed.

    Attributes:
        loss: float64, shape (n,), low for members.
        member: bool, shape (n,).
        classes: uint64, shape (n,), of the records; of no length where nobody looks at them.
    """

    loss: NDArray[np.float64]
    member: NDArray[np.bool_]
    classes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))

    @property
    def members(self) -> NDArray[np.float64]:
        """Return the members' losses."""
        return self.loss[self.member]

    @property
    def holdout(self) -> NDArray[np.float64]:
        """Return the holdout records' losses."""
        return self.loss[~self.member]


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


def mean_cut(mean: float) -> Cut:
    """Return the attacker that calls a record a member if its loss is at most the mean.

    Yeom et al. 2018, section 6; the mean is that of the members' losses.
    """
    return Cut(at=mean)


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


def one_error_cut(sigma_members: float) -> Cut:
    """Return the attacker that knows one standard error: member at |residual| <= sigma_S.

    Yeom et al. 2018, section 3.3.
    """
    return Cut(at=sigma_members)


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
    """Return the advantage of `one_error_cut` on normal residuals; negative if it errs."""
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
