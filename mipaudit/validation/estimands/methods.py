"""All methods whose limits are tried: the table of estimands, and what others do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from mipaudit.errors import UsageError
from mipaudit.maths.advantage import advantage
from mipaudit.maths.arrays import Floats
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper, mover_lower
from mipaudit.maths.epsilon.rates import credible_epsilon
from mipaudit.maths.metrics.mace import mace_band
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.validation.estimands.advantage import ADVANTAGE, LESS_SEEN, METRIC
from mipaudit.validation.estimands.estimand import (
    CONFIDENCE,
    Args,
    AuditedFile,
    Estimand,
    Interval,
    best_threshold,
    trivial,
)
from mipaudit.validation.estimands.named_attack import DELTA, EPSILON, NAMED
from mipaudit.validation.estimands.together import DIFFERENCES, RECORDS

_TABLES: Final = (ADVANTAGE, METRIC, RECORDS, LESS_SEEN, EPSILON, DIFFERENCES, NAMED)
ESTIMANDS: Final[Mapping[str, Estimand]] = {one.name: one for table in _TABLES for one in table}


def estimand(name: str) -> Estimand:
    """Return the estimand of this name.

    Raises:
        UsageError: ``unknown_estimand``, with the nearest names.
    """
    found = ESTIMANDS.get(name)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, ESTIMANDS, n=3) or list(ESTIMANDS)
        hint = f"Try {', '.join(near)}."
        raise UsageError("unknown_estimand", "There is no estimand of that name.", hint)
    return found


def default_estimands() -> tuple[str, ...]:
    """Return the names of all that are run without being asked for."""
    return tuple(name for name, one in ESTIMANDS.items() if not one.by_name_only)


Limits = tuple[float | None, float | None]

_NOMINAL: Final = 0.975
_ALPHA: Final = 1 - CONFIDENCE
_MOST_CUTS: Final = 400
_BOOTSTRAP_BINS: Final = 20
_REPLICATES: Final = 100
_KNOWN_FPR: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another method, with limits at the same nominal coverage as ours.

    Attributes:
        name: the label of its rows.
        limits: takes a file, and returns the lower and the upper limit, None where it states none.
        valid: whether its limits are known to hold; if not, a run must catch it.
        description: what one that must be caught does, in a sentence.
        estimand: the name of what it states.
        args: the arguments of that.
        nominal: promised coverage of each of its limits.
        enough: files without a leak in which it is caught for certain, if it is invalid.
    """

    name: str
    limits: Callable[[AuditedFile], Limits]
    valid: bool = False
    description: str = ""
    estimand: str = "advantage"
    args: Args = ()
    nominal: float = _NOMINAL
    enough: int = 200

    def interval(self, audited: AuditedFile) -> Interval:
        """Return what it says of a file."""
        lower, upper = self.limits(audited)
        return Interval(
            estimand=self.estimand,
            args=self.args,
            lower=lower,
            upper=upper,
            nominal=self.nominal,
            label=self.name,
            source="valid" if self.valid else "invalid",
        )


def _same_data_epsilon(audited: AuditedFile) -> Limits:
    """Return the greatest of the limits of all thresholds, as if there had been one."""
    tp, fp = _above_cuts(audited)
    tpr = clopper_pearson_lower(tp, audited.n_members, _ALPHA / 2)
    fpr = clopper_pearson_upper(fp, audited.n_holdout, _ALPHA / 2)
    return max(0.0, float(_refuted(np.asarray(tpr), np.asarray(fpr)).max())), None


def _same_data_posterior(audited: AuditedFile) -> Limits:
    """Return a quantile of epsilon's posterior, as if the threshold had been given."""
    from scipy.special import betaincinv

    tp, fp = _above_cuts(audited)
    n1, n0 = audited.n_members, audited.n_holdout
    # Where the posterior quantile is greatest, by the quantiles of the two rates.
    tpr = betaincinv(tp + 0.5, n1 - tp + 0.5, _ALPHA)
    fpr = betaincinv(fp + 0.5, n0 - fp + 0.5, 1 - _ALPHA)
    best = int(_refuted(tpr, fpr).argmax())
    hits, alarms = int(tp[best]), int(fp[best])
    epsilon = credible_epsilon(hits, n1 - hits, alarms, n0 - alarms, delta=DELTA, alpha=_ALPHA)
    return epsilon, None


def _absolute_mu(audited: AuditedFile) -> Limits:
    """Return the epsilon of mu from limits of two rates, at the threshold in the middle.

    Limits that cross say that nothing was found; the absolute value makes evidence of it.
    """
    from scipy.special import ndtri

    called = audited.score > np.median(audited.score)
    tp, fp = (int((called & side).sum()) for side in (audited.member, ~audited.member))
    tpr = clopper_pearson_lower(tp, audited.n_members, _ALPHA / 2)
    fpr = clopper_pearson_upper(fp, audited.n_holdout, _ALPHA / 2)
    mu = abs(float(ndtri(tpr) - ndtri(fpr)))
    return (GaussianDP(mu=mu).epsilon_at(DELTA) if np.isfinite(mu) else 0.0), None


def _above_cuts(audited: AuditedFile) -> tuple[Floats, Floats]:
    """Return the members and the holdout records above each cut, and those not above it."""
    cuts = _cuts(audited.score)
    above = []
    for scores in (audited.score[audited.member], audited.score[~audited.member]):
        ordered = np.sort(scores)
        more = ordered.size - np.searchsorted(ordered, cuts, side="right")
        above.append(np.concatenate([more, ordered.size - more]).astype(np.float64))
    return above[0], above[1]


def _cuts(scores: Floats) -> Floats:
    """Return all values, or as many as do, with ranks dense at both ends."""
    ordered = np.sort(scores)
    if ordered.size > _MOST_CUTS:
        ranks = np.geomspace(1, ordered.size / 2, _MOST_CUTS // 2).astype(np.intp)
        ordered = ordered[np.unique(np.concatenate([ranks, ordered.size - ranks]))]
    return np.unique(ordered)


def _refuted(tpr: Floats, fpr: Floats) -> Floats:
    """Return the epsilon that limits of the two rates refute, by either inequality."""
    with np.errstate(divide="ignore", invalid="ignore"):
        both = [
            np.log(np.maximum(tpr - DELTA, 0) / fpr),
            np.log(np.maximum(1 - fpr - DELTA, 0) / (1 - tpr)),
        ]
    return np.asarray(np.nanmax(both, axis=0))


def _dkw_band(audited: AuditedFile) -> tuple[float, float]:
    """Return both limits of the best threshold's advantage, each at 1 - `_NOMINAL`.

    Two bands by Dvoretzky, Kiefer and Wolfowitz, with Massart's constant.
    """
    # Two-sided bands of both classes, each at alpha/2 of this limit's alpha.
    alpha = (1 - _NOMINAL) / 2
    sizes = ((audited.prior, audited.n_members), (1 - audited.prior, audited.n_holdout))
    slack = sum(weight * math.sqrt(math.log(2 / alpha) / (2 * count)) for weight, count in sizes)
    baseline, best = trivial(audited.prior), advantage(*audited.best_threshold[2:], audited.prior)
    return max(baseline, best - 2 * slack), min(1.0, max(baseline, best + 2 * slack))


def _split_half(audited: AuditedFile) -> Limits:
    """Return the lower limit, on one half, of a threshold that was chosen on the other."""
    member, score, prior = audited.member, audited.score, audited.prior
    chosen = np.random.default_rng([audited.seed, 2]).random(member.size) < 1 / 2
    sizes = [int((half & one).sum()) for half in (chosen, ~chosen) for one in (member, ~member)]
    if min(sizes) == 0:
        return trivial(prior), None
    cut, low_side, *_ = best_threshold(member[chosen], score[chosen], prior)
    called = (score[~chosen] <= cut) == low_side
    judged = member[~chosen]
    alpha = (1 - _NOMINAL) / 2
    tpr = clopper_pearson_lower(int((called & judged).sum()), sizes[2], alpha)
    fpr = clopper_pearson_upper(int((called & ~judged).sum()), sizes[3], alpha)
    lower = advantage(float(tpr), float(fpr), prior)
    return max(trivial(prior), lower), None


def _mace_band(audited: AuditedFile) -> Limits:
    table = audited.equal_width
    value, half_width = mace_band(
        table[:, 1], table[:, 0], prior=audited.prior, delta=2 * (1 - _NOMINAL)
    )
    return value - half_width, value + half_width


def _bootstrap(audited: AuditedFile) -> Limits:
    """Return the percentiles; counts are resampled, which is the same as rows."""
    rng = np.random.default_rng([audited.seed, 4])
    merged = audited.equal_width.reshape(_BOOTSTRAP_BINS, -1, 2).sum(axis=1)
    merged = merged[merged.sum(axis=1) > 0]
    weights = (1 - audited.prior, audited.prior)
    holdout, members = (
        weight * rng.multinomial(count.sum(), count / count.sum(), size=_REPLICATES) / count.sum()
        for weight, count in zip(weights, merged.T, strict=True)
    )
    plugin = np.abs(members - holdout).sum(axis=1)
    lower, upper = np.quantile(plugin, [1 - _NOMINAL, _NOMINAL])
    return float(lower), float(upper)


def _same_data_threshold(audited: AuditedFile) -> Limits:
    """Return a lower limit that ignores the choice of the threshold.

    It is too high wherever thresholds that differ have nearly the same advantage,
    above all when nothing leaks.
    """
    rates, sizes = audited.best_threshold[2:], (audited.n_members, audited.n_holdout)
    return mover_lower(*rates, *sizes, prior=audited.prior, alpha=1 - _NOMINAL), None


def _known_threshold(audited: AuditedFile) -> Limits:
    """Return limits of the share of members above a threshold that holdout records chose."""
    holdout = np.sort(audited.score[~audited.member])
    cut = holdout[math.ceil((1 - _KNOWN_FPR) * (holdout.size - 1))]
    above, n = int((audited.score[audited.member] > cut).sum()), audited.n_members
    alpha = 1 - _NOMINAL
    lower, upper = clopper_pearson_lower(above, n, alpha), clopper_pearson_upper(above, n, alpha)
    return float(lower), float(upper)


_TABLE: Final = (
    # The lower limit of the best threshold is one for all attackers, too.
    Alternative(
        name="other: DKW band", valid=True, limits=lambda audited: (_dkw_band(audited)[0], None)
    ),
    Alternative(
        name="other: DKW band, thresholds",
        valid=True,
        limits=_dkw_band,
        estimand="advantage_thresholds",
    ),
    Alternative(name="other: split half, Clopper-Pearson", valid=True, limits=_split_half),
    Alternative(
        name="published: MACE band, 100 bins",
        description="The plug-in W_N on 100 bins of equal width with the published band, which "
        "surrounds the mean of W_N, not the advantage.",
        limits=_mace_band,
    ),
    Alternative(
        name="common: percentile bootstrap, 20 bins",
        description="Percentiles of the plug-in W_N over resampled rows: twice as biased as W_N.",
        limits=_bootstrap,
    ),
    Alternative(
        name="common: same-data threshold",
        description="Clopper-Pearson limits at a threshold chosen on the same rows.",
        limits=_same_data_threshold,
        estimand="advantage_thresholds",
    ),
    Alternative(
        name="common: TPR at a threshold taken as known",
        description="Clopper-Pearson limits of the TPR at FPR 10%, its threshold a quantile of the "
        "holdout records that is taken as exact.",
        limits=_known_threshold,
        estimand="tpr_at_fpr",
        args=(_KNOWN_FPR, "high"),
    ),
    Alternative(
        name="common: same-data threshold, epsilon",
        description="Two Clopper-Pearson limits at the threshold that makes epsilon greatest.",
        limits=_same_data_epsilon,
        estimand="epsilon_runs",
        nominal=CONFIDENCE,
        enough=1_000,  # it errs in some 10% of them, where it promises 5%
    ),
    Alternative(
        name="common: same-data threshold, Bayesian",
        description="The 5% quantile of epsilon's posterior at the threshold where it is greatest.",
        limits=_same_data_posterior,
        estimand="epsilon_runs",
        nominal=CONFIDENCE,
    ),
    Alternative(
        name="common: absolute mu of two limits",
        description="Gaussian mu as the absolute difference of the normal scores of two limits.",
        limits=_absolute_mu,
        estimand="epsilon_runs",
        nominal=CONFIDENCE,
    ),
)
ALTERNATIVES: Final[dict[str, Alternative]] = {one.name: one for one in _TABLE}
