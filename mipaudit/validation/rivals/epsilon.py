"""Epsilon by methods in common use that are invalid: each certifies a leak where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.epsilon.rates import credible_epsilon
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.validation.estimands.attackers.epsilon import DELTA
from mipaudit.validation.rivals.alternative import Alternative
from mipaudit.validation.rivals.audited_file import CONFIDENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.validation.rivals.audited_file import AuditedFile

_ALPHA: Final = 1 - CONFIDENCE
_MOST_CUTS: Final = 400


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
