"""The lower limit of epsilon from independent runs: one score per trained model.

Every method is valid after its own search. Most look for the attack on a random part of
the rows, the burn-in, and judge it on the rest; two use all rows, with limits that hold
at every threshold at once.
"""

from dataclasses import dataclass
from typing import Final, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.report import JudgedAttack
from mipaudit.commands.epsilon.runs.split import LEAST_ROWS, Split, divide, settled_margin
from mipaudit.maths.epsilon.bands import RocBand, grid_band, roc_band
from mipaudit.maths.epsilon.choice import Numerator, choose_attacks, choose_slack
from mipaudit.maths.epsilon.conditional import (
    GuessCounts,
    Slack,
    conditional_estimate,
    conditional_lower,
    slacks,
    usual_slack,
)
from mipaudit.maths.epsilon.rates import (
    choose_threshold,
    clopper_pearson_epsilon,
    gdp_criterion,
    rate_limits,
    ratio_criterion,
)
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu
from mipaudit.statements.policy import delta_reason

Method = Literal["conditional", "grid-cp", "split-cp", "bands", "gdp"]
Validity = Literal["finite-sample", "assumes-gdp"]
_COMBINABLE: Final = frozenset({"conditional", "split-cp", "gdp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonLimit:
    """What independent runs say about epsilon at delta.

    Attributes:
        lower: one-sided lower limit, at least 0, not rounded; infinite only with ``gdp`` at
            delta 0, where no mu above 0 has an epsilon.
        estimate: plug-in epsilon of the judged attack, at least 0; no certificate.
        delta: in [0, 1].
        confidence: of the lower limit, in (0, 1).
        method: how it was found.
        validity: what the confidence means.
        n_members: members given, burn-in included.
        n_holdout: holdout records given, burn-in included.
        attack: None if there were too few rows to choose one.
        mu: with ``gdp``, the lower limit of mu that ``lower`` is the epsilon of.
        reason: why the limit is 0; None if it is not.
    """

    lower: float
    estimate: float
    delta: float
    confidence: float
    method: Method
    validity: Validity
    n_members: int
    n_holdout: int
    attack: JudgedAttack | None
    reason: str | None
    mu: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    lower: float
    pure: float  # the same guesses' limit at delta 0, of a limit that delta can take away
    estimate: float
    attack: JudgedAttack
    mu: float | None = None


def epsilon_runs(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    *,
    delta: float,
    confidence: float,
    method: Method,
    rng: np.random.Generator,
    splits: int = 1,
) -> EpsilonLimit:
    """Return a lower limit of epsilon at delta from independent runs.

    Args:
        members: scores of runs with the record, shape (n1,), n1 above 0; no NaN, ties and
            infinities are ordinary values.
        holdout: scores of runs without it, shape (n0,), n0 above 0.
        delta: in [0, 1].
        confidence: one-sided, in (0, 1).
        method: ``conditional`` is the strongest that assumes nothing; ``gdp`` is valid
            for Gaussian differential privacy only. ``split-cp`` and ``grid-cp`` are weaker:
            `mipaudit validate` runs them for comparison.
        rng: settles which rows choose the attack.
        splits: at least 1; more than 1 repeats the split and combines the limits in a
            way that is valid however they depend (Rüger 1978). It makes the answer
            depend less on the split, not greater.

    Raises:
        ValueError: ``splits`` above 1 with a method that has no split to repeat, or
            whose limits have no valid combination.
    """
    if splits > 1 and method not in _COMBINABLE:
        raise ValueError(f"splits above 1 are for {', '.join(sorted(_COMBINABLE))}")
    # At least ceil(S/2) of S limits at this level reject only with probability alpha.
    needed = (splits + 1) // 2
    alpha = (1 - confidence) * needed / splits
    found = [_find(members, holdout, delta, alpha, method, rng) for _ in range(splits)]
    chosen = _ranked(found, needed)
    return EpsilonLimit(
        lower=chosen.lower if chosen else 0.0,
        estimate=chosen.estimate if chosen else 0.0,
        delta=delta,
        confidence=confidence,
        method=method,
        validity="assumes-gdp" if method == "gdp" else "finite-sample",
        n_members=members.size,
        n_holdout=holdout.size,
        attack=chosen.attack if chosen else None,
        reason=_reason(chosen),
        mu=chosen.mu if chosen else None,
    )


def _find(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    delta: float,
    alpha: float,
    method: Method,
    rng: np.random.Generator,
) -> _Finding | None:
    if method == "bands":
        return _from_band(roc_band(members, holdout, alpha=alpha), members, holdout, delta)
    if method == "grid-cp":
        return _from_band(grid_band(members, holdout, alpha=alpha), members, holdout, delta)
    if min(members.size, holdout.size) < LEAST_ROWS:
        return None
    split = divide(members, holdout, rng)
    match method:
        case "conditional":
            return _conditional(split, delta, alpha, rng)
        case "split-cp":
            return _rates(split, delta, alpha)
        case "gdp":
            return _gaussian(split, delta, alpha)
        case _:
            assert_never(method)


def _conditional(split: Split, delta: float, alpha: float, rng: np.random.Generator) -> _Finding:
    sizes = split.sizes
    usual = _usual_slacks(*sizes.judged, delta, alpha)
    margin = settled_margin(split, usual, rng)
    (attack,) = choose_attacks(*split.burn_in.candidates(), sizes, usual, (margin,))
    counts = split.guesses(attack)
    exposed = attack.exposed(*sizes.judged)
    slack = choose_slack(
        slacks(exposed, delta, alpha), attack, split.burn_in.seen(attack), sizes.judged
    )
    return _Finding(
        lower=conditional_lower(counts, slack),
        pure=conditional_lower(counts, Slack(guesses=0, alpha=alpha)),
        estimate=conditional_estimate(counts, delta, exposed),
        attack=_described(counts, members_high=attack.members_high, numerator=attack.numerator),
    )


def _usual_slacks(
    n_members: int, n_holdout: int, delta: float, alpha: float
) -> dict[Numerator, Slack]:
    """Return what delta may have made of right guesses, by the classes that are guessed."""
    return {
        "member": usual_slack(n_members, delta, alpha),
        "holdout": usual_slack(n_holdout, delta, alpha),
        "both": usual_slack(n_members + n_holdout, delta, alpha),
    }


def _rates(split: Split, delta: float, alpha: float) -> _Finding:
    criterion = ratio_criterion(split.sizes, delta, alpha)
    attack = choose_threshold(*split.burn_in.candidates(), split.sizes, criterion)
    counts = split.answers(attack)
    table = counts.tp, counts.fn, counts.fp, counts.tn
    return _Finding(
        lower=clopper_pearson_epsilon(*table, delta=delta, alpha=alpha),
        pure=clopper_pearson_epsilon(*table, delta=0.0, alpha=alpha),
        estimate=refuted_epsilon(*_smoothed(counts), delta),
        attack=_described(
            counts, members_high=attack.members_high, numerator=_numerator(counts, delta)
        ),
    )


def _gaussian(split: Split, delta: float, alpha: float) -> _Finding:
    criterion = gdp_criterion(split.sizes, alpha)
    attack = choose_threshold(*split.burn_in.candidates(), split.sizes, criterion)
    counts = split.answers(attack)
    mu = refuted_mu(*rate_limits(counts.tp, counts.fn, counts.fp, counts.tn, alpha=alpha))
    return _Finding(
        lower=GaussianDP(mu=mu).epsilon_at(delta),
        pure=0.0,
        estimate=GaussianDP(mu=refuted_mu(*_smoothed(counts))).epsilon_at(delta),
        attack=_described(counts, members_high=attack.members_high, numerator="both"),
        mu=mu,
    )


def _from_band(
    band: RocBand, members: NDArray[np.floating], holdout: NDArray[np.floating], delta: float
) -> _Finding:
    refuted, pure = band.refuted(delta), band.refuted(0.0)
    best = int((refuted if refuted.any() else pure).argmax())
    tp, fp = int(band.tp[best]), int(band.fp[best])
    counts = GuessCounts(
        tp=tp,
        fp=fp,
        tn=holdout.size - fp,
        fn=members.size - tp,
        n_members=members.size,
        n_holdout=holdout.size,
    )
    return _Finding(
        lower=float(refuted[best]),
        pure=float(pure[best]),
        estimate=refuted_epsilon(*_smoothed(counts), delta),
        attack=_described(
            counts,
            members_high=bool(band.members_high[best]),
            numerator=_numerator(counts, delta),
        ),
    )


def _described(counts: GuessCounts, *, members_high: bool, numerator: Numerator) -> JudgedAttack:
    return JudgedAttack(
        direction="high" if members_high else "low",
        numerator=numerator,
        tp=counts.tp,
        fp=counts.fp,
        tn=counts.tn,
        fn=counts.fn,
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
    )


def _numerator(counts: GuessCounts, delta: float) -> Numerator:
    """Return the class whose inequality refutes the greater epsilon."""
    tpr, fpr = _smoothed(counts)
    found = (tpr - delta) * (1 - tpr)
    return "member" if found >= (1 - fpr - delta) * fpr else "holdout"


def _smoothed(counts: GuessCounts) -> tuple[float, float]:
    """Return TPR and FPR with half a row of each kind added: neither is 0 or 1."""
    return (counts.tp + 0.5) / (counts.n_members + 1), (counts.fp + 0.5) / (counts.n_holdout + 1)


def _ranked(found: list[_Finding | None], place: int) -> _Finding | None:
    """Return the finding of the ``place``-th greatest limit."""
    made = [finding for finding in found if finding is not None]
    if not made:
        return None
    return sorted(made, key=lambda finding: finding.lower, reverse=True)[place - 1]


def _reason(chosen: _Finding | None) -> str | None:
    if chosen is None:
        return f"a class of fewer than {LEAST_ROWS} rows can be either searched or judged"
    if chosen.lower > 0:
        return None
    if chosen.pure > 0:
        return delta_reason(chosen.pure)
    if chosen.estimate > 0:
        return "the difference that was found is within chance"
    return "no difference between members and holdout was found on the judged rows"
