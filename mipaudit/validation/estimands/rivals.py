"""What others do, run on the same files: how wide it is, and whether it holds.

A new one is a class here and a name in the registry. Those known to be invalid must be
caught: a coverage run in which they pass has shown nothing about the rest.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper, mover_lower
from mipaudit.maths.epsilon.rates import credible_epsilon
from mipaudit.maths.metrics.mace import mace_band
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile, best_threshold
from mipaudit.validation.estimands.epsilon import DELTA
from mipaudit.validation.estimands.estimand import Interval

NOMINAL: Final = 0.975
_ALPHA: Final = 1 - CONFIDENCE
_MOST_CUTS: Final = 400
_BOOTSTRAP_BINS: Final = 20
_REPLICATES: Final = 100
_KNOWN_FPR: Final = 0.1


class Alternative(ABC):
    """Another method, with limits at the same nominal coverage as ours.

    Attributes:
        name: the label of its rows.
        description: what it does, in a sentence.
        valid: whether its limits are known to hold; if not, a run must catch it.
        estimand: the name of what it states.
        nominal: promised coverage of each of its limits.
        enough: files without a leak in which it is caught for certain, if it is invalid.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    valid: ClassVar[bool]
    estimand: ClassVar[str] = "advantage"
    nominal: ClassVar[float] = NOMINAL
    enough: ClassVar[int] = 200

    @abstractmethod
    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return the lower and the upper limit, None where it states none."""

    def interval(self, audited: AuditedFile) -> Interval:
        """Return what it says of a file."""
        lower, upper = self.limits(audited)
        return Interval(
            estimand=self.estimand,
            lower=lower,
            upper=upper,
            nominal=self.nominal,
            label=self.name,
            source="valid" if self.valid else "invalid",
        )


class SameDataEpsilon(Alternative):
    """The threshold of the greatest epsilon, judged on the rows that it was chosen on."""

    name = "common: same-data threshold, epsilon"
    description = "Two Clopper-Pearson limits at the threshold that makes epsilon greatest."
    valid = False
    enough = 1_000  # it errs in some 10% of them, where it promises 5%
    estimand = "epsilon_runs"
    nominal = CONFIDENCE

    def limits(self, audited: AuditedFile) -> tuple[float, None]:
        """Return the greatest of the limits, as if there had been one."""
        tp, fp = _rates(audited)
        tpr = clopper_pearson_lower(tp, audited.n_members, _ALPHA / 2)
        fpr = clopper_pearson_upper(fp, audited.n_holdout, _ALPHA / 2)
        return max(0.0, float(_refuted(np.asarray(tpr), np.asarray(fpr)).max())), None


class SameDataPosterior(Alternative):
    """The same search, with a quantile of epsilon's posterior in place of a limit."""

    name = "common: same-data threshold, Bayesian"
    description = "The 5% quantile of epsilon's posterior at the threshold that makes it greatest."
    valid = False
    estimand = "epsilon_runs"
    nominal = CONFIDENCE

    def limits(self, audited: AuditedFile) -> tuple[float, None]:
        """Return the quantile, as if the threshold had been given."""
        from scipy.special import betaincinv

        tp, fp = _rates(audited)
        n1, n0 = audited.n_members, audited.n_holdout
        # Where the posterior quantile is greatest, by the quantiles of the two rates.
        tpr = betaincinv(tp + 0.5, n1 - tp + 0.5, _ALPHA)
        fpr = betaincinv(fp + 0.5, n0 - fp + 0.5, 1 - _ALPHA)
        best = int(_refuted(tpr, fpr).argmax())
        hits, alarms = int(tp[best]), int(fp[best])
        epsilon = credible_epsilon(hits, n1 - hits, alarms, n0 - alarms, delta=DELTA, alpha=_ALPHA)
        return epsilon, None


class AbsoluteMu(Alternative):
    """The short cut to mu from limits of two rates that takes an absolute value.

    Limits that cross say that nothing was found; the absolute value makes evidence of it.
    """

    name = "common: absolute mu of two limits"
    description = "Gaussian mu as the absolute difference of the normal scores of two limits."
    valid = False
    estimand = "epsilon_runs"
    nominal = CONFIDENCE

    def limits(self, audited: AuditedFile) -> tuple[float, None]:
        """Return the epsilon of that mu, at the threshold in the middle of the rows."""
        from scipy.special import ndtri

        called = audited.score > np.median(audited.score)
        tp, fp = (int((called & side).sum()) for side in (audited.member, ~audited.member))
        tpr = clopper_pearson_lower(tp, audited.n_members, _ALPHA / 2)
        fpr = clopper_pearson_upper(fp, audited.n_holdout, _ALPHA / 2)
        mu = abs(float(ndtri(tpr) - ndtri(fpr)))
        return (GaussianDP(mu=mu).epsilon_at(DELTA) if np.isfinite(mu) else 0.0), None


def _rates(audited: AuditedFile) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the members and the holdout records above each cut, and those not above it."""
    cuts = _cuts(audited.score)
    above = []
    for scores in (audited.score[audited.member], audited.score[~audited.member]):
        ordered = np.sort(scores)
        more = ordered.size - np.searchsorted(ordered, cuts, side="right")
        above.append(np.concatenate([more, ordered.size - more]).astype(np.float64))
    return above[0], above[1]


def _cuts(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return all values, or as many as do, with ranks dense at both ends."""
    ordered = np.sort(scores)
    if ordered.size > _MOST_CUTS:
        ranks = np.geomspace(1, ordered.size / 2, _MOST_CUTS // 2).astype(np.intp)
        ordered = ordered[np.unique(np.concatenate([ranks, ordered.size - ranks]))]
    return np.unique(ordered)


def _refuted(tpr: NDArray[np.float64], fpr: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the epsilon that limits of the two rates refute, by either inequality."""
    with np.errstate(divide="ignore", invalid="ignore"):
        both = [
            np.log(np.maximum(tpr - DELTA, 0) / fpr),
            np.log(np.maximum(1 - fpr - DELTA, 0) / (1 - tpr)),
        ]
    return np.asarray(np.nanmax(both, axis=0))


class DkwBand(Alternative):
    """Two bands by Dvoretzky, Kiefer and Wolfowitz, with Massart's constant."""

    name = "other: DKW band"
    description = "Two Dvoretzky-Kiefer-Wolfowitz bands around the best threshold: proven, wide."
    valid = True

    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return the lower limit of the best threshold: one for all attackers, too."""
        return dkw_limits(audited)[0], None


class DkwThresholds(DkwBand):
    """The same two bands, for the best threshold."""

    name = "other: DKW band, thresholds"
    estimand = "advantage_thresholds"

    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return both limits of the best threshold's advantage."""
        return dkw_limits(audited)


class SplitHalf(Alternative):
    """A threshold chosen on one half, judged on the other."""

    name = "other: split half, Clopper-Pearson"
    description = "The best threshold of one half, two Clopper-Pearson limits on the other: proven."
    valid = True

    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return the lower limit of the chosen threshold's advantage."""
        member, score, prior = audited.member, audited.score, audited.prior
        chosen = np.random.default_rng([audited.seed, 2]).random(member.size) < 1 / 2
        sizes = [int((half & one).sum()) for half in (chosen, ~chosen) for one in (member, ~member)]
        baseline = abs(2 * prior - 1)
        if min(sizes) == 0:
            return baseline, None
        best = best_threshold(member[chosen], score[chosen], prior)
        called = score[~chosen] <= best.cut
        if not best.low_side:
            called = ~called
        judged = member[~chosen]
        alpha = (1 - NOMINAL) / 2
        tpr = clopper_pearson_lower(int((called & judged).sum()), sizes[2], alpha)
        fpr = clopper_pearson_upper(int((called & ~judged).sum()), sizes[3], alpha)
        lower = 1 - 2 * prior + 2 * (prior * float(tpr) - (1 - prior) * float(fpr))
        return max(baseline, lower), None


class MaceBand(Alternative):
    """W_N with its McDiarmid band, which surrounds the mean of W_N."""

    name = "published: MACE band, 100 bins"
    description = (
        "The plug-in W_N on 100 bins of equal width with the published band, which surrounds the "
        "mean of W_N, not the advantage."
    )
    valid = False

    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return the band as published."""
        table = audited.equal_width
        value, half_width = mace_band(
            table[:, 1], table[:, 0], prior=audited.prior, delta=2 * (1 - NOMINAL)
        )
        return value - half_width, value + half_width


class PercentileBootstrap(Alternative):
    """Percentiles of W_N over resampled rows."""

    name = "common: percentile bootstrap, 20 bins"
    description = "Percentiles of the plug-in W_N over resampled rows: twice as biased as W_N."
    valid = False

    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return the percentiles; counts are resampled, which is the same as rows."""
        rng = np.random.default_rng([audited.seed, 4])
        merged = audited.equal_width.reshape(_BOOTSTRAP_BINS, -1, 2).sum(axis=1)
        merged = merged[merged.sum(axis=1) > 0]
        weights = (1 - audited.prior, audited.prior)
        holdout, members = (
            weight
            * rng.multinomial(count.sum(), count / count.sum(), size=_REPLICATES)
            / count.sum()
            for weight, count in zip(weights, merged.T, strict=True)
        )
        plugin = np.abs(members - holdout).sum(axis=1)
        lower, upper = np.quantile(plugin, [1 - NOMINAL, NOMINAL])
        return float(lower), float(upper)


class SameDataThreshold(Alternative):
    """The best threshold, judged on the rows that it was chosen on."""

    name = "common: same-data threshold"
    description = "Clopper-Pearson limits at a threshold chosen on the same rows."
    valid = False
    estimand = "advantage_thresholds"

    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return a lower limit that ignores the choice.

        It is too high wherever thresholds that differ have nearly the same advantage,
        above all when nothing leaks.
        """
        best, prior = audited.best_threshold, audited.prior
        lower = mover_lower(
            best.tpr,
            best.fpr,
            audited.n_members,
            audited.n_holdout,
            prior=prior,
            alpha=1 - NOMINAL,
        )
        return lower, None


class KnownThreshold(Alternative):
    """A threshold that holdout records chose, taken as known."""

    name = "common: TPR at a threshold taken as known"
    description = (
        "Clopper-Pearson limits of the TPR at FPR 10%, its threshold a quantile of the holdout "
        "records that is taken as exact."
    )
    valid = False
    estimand = "tpr_at_fpr"

    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return both limits of the members above the threshold."""
        holdout = np.sort(audited.score[~audited.member])
        cut = holdout[math.ceil((1 - _KNOWN_FPR) * (holdout.size - 1))]
        above, n = int((audited.score[audited.member] > cut).sum()), audited.n_members
        alpha = 1 - NOMINAL
        return (
            float(clopper_pearson_lower(above, n, alpha)),
            float(clopper_pearson_upper(above, n, alpha)),
        )

    def interval(self, audited: AuditedFile) -> Interval:
        """Return what it says of a file."""
        return replace(super().interval(audited), estimand_args=(_KNOWN_FPR, "high"))


_ALL: Final[tuple[type[Alternative], ...]] = (
    DkwBand,
    DkwThresholds,
    SplitHalf,
    MaceBand,
    PercentileBootstrap,
    SameDataThreshold,
    KnownThreshold,
    SameDataEpsilon,
    SameDataPosterior,
    AbsoluteMu,
)


ALTERNATIVES: Final[Mapping[str, Alternative]] = MappingProxyType({one.name: one() for one in _ALL})


def dkw_limits(audited: AuditedFile) -> tuple[float, float]:
    """Return limits of the best threshold's advantage, each at 1 - `NOMINAL`."""
    # Two-sided bands of both classes, each at alpha/2 of this limit's alpha.
    alpha = (1 - NOMINAL) / 2
    sizes = ((audited.prior, audited.n_members), (1 - audited.prior, audited.n_holdout))
    slack = sum(weight * math.sqrt(math.log(2 / alpha) / (2 * count)) for weight, count in sizes)
    baseline, best = abs(2 * audited.prior - 1), audited.best_threshold.advantage
    return max(baseline, best - 2 * slack), min(1.0, max(baseline, best + 2 * slack))
