"""What two laws tell of the part that they share.

Let records of members and of the holdout have laws at total variation t < 1. Both laws
are then (1 - t) M + t E for one common law M, with another E each, and so are the laws
of a score: P = (1 - t) P_M + t P_E and Q likewise. Records drawn from M are as likely
in either class: what tells them apart is membership alone.

Whatever the score does on E moves the advantage of a set of scores by at most t either
way, so that for every set, at every prior, |A - (1 - t) A_M| <= t. The limits below
follow for the best set of any class of attackers. They are attained: on E an attacker
may be always right, or always wrong.
"""

from __future__ import annotations


def shared_advantage_lower(lower: float, apart: float, baseline: float) -> float:
    """Return a lower limit of the advantage among records as likely in either class.

    Args:
        lower: limit of the advantage, in [baseline, 1].
        apart: upper limit of the total variation of the records' laws, in [0, 1).
        baseline: |2p-1|, which blind guessing reaches among them too.
    """
    return max(baseline, (lower - apart) / (1 - apart))


def shared_advantage_upper(upper: float, apart: float) -> float:
    """Return an upper limit of the same advantage, for the class that ``upper`` is about."""
    return min(1.0, (upper + apart) / (1 - apart))


def shared_auc_lower(lower: float, apart: float) -> float:
    """Return a lower limit of the AUC among records as likely in either class.

    A pair of a member and a holdout record is of such records with probability (1 - t)^2.
    """
    both = (1 - apart) ** 2
    return max(0.0, (lower - (1 - both)) / both)


def shared_auc_upper(upper: float, apart: float) -> float:
    """Return an upper limit of the same AUC."""
    return min(1.0, upper / (1 - apart) ** 2)


def shared_tpr_lower(lower: float, apart: float, fpr: float) -> float:
    """Return a lower limit of the TPR at an FPR among records as likely in either class.

    A set of that FPR has at most FPR / (1 - t) among them and a TPR of at least
    (TPR - t) / (1 - t); guessing "member" on it with probability 1 - t has the FPR.
    """
    return max(min(lower, fpr), lower - apart)


def fpr_reached(fpr: float, apart: float) -> float:
    """Return the largest FPR over all records of a set that has ``fpr`` among shared ones."""
    return (1 - apart) * fpr + apart


def shared_tpr_upper(upper: float, apart: float) -> float:
    """Return an upper limit of the TPR at an FPR, given one at `fpr_reached` of it."""
    return min(1.0, upper / (1 - apart))


def most_apart_above(lower: float, limit: float) -> float:
    """Return the t below which an advantage of at least ``lower`` breaks a limit (below 1)."""
    return max(0.0, (lower - limit) / (1 - limit))


def most_apart_within(upper: float, limit: float) -> float:
    """Return the t up to which an advantage of at most ``upper`` keeps a limit."""
    return max(0.0, (limit - upper) / (1 + limit))
