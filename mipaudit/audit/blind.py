"""How much of a measured advantage the records alone may explain.

Let t be the total variation between the laws of a member's and a holdout record's
columns, and A the advantage of a score at prior p. If the score tells nothing of
membership beyond the record, A is at most the blind advantage A_X, by data processing;
and A_X is at most b + (1 - b) t, with b = |2p - 1|. So b + (A - A_X) is at least
A - (1 - b) t: what is left is not explained by the records. The same figure is a lower
limit of the advantage among records that are as likely in either class: with M the
common part of both laws, of mass 1 - t, A <= (1 - t) A_M + t, hence
A_M >= (A - t) / (1 - t) >= A - (1 - b) t wherever that is above b.

A lower limit of A at error a1 less an upper limit of t at error a2 is a lower limit at
error a1 + a2. The upper limit of t is one for named attackers on the records; so is
what follows from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mipaudit.audit.estimate import Attackers, Quantity  # noqa: TC001 - the codec reads them
from mipaudit.audit.policy import restatement

if TYPE_CHECKING:
    from mipaudit.audit.evidence import Evidence
    from mipaudit.audit.policy import PolicyCheck

# The errors at which a report of `shift` holds upper limits, one-sided.
ERRORS: Final = tuple(0.125 / 2**step for step in range(21)) + tuple(
    0.025 / 2**step for step in range(16)
)
_SHARE: Final = 0.5  # of a lower limit's error, for the blind advantage


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindLimit:
    """An upper limit of the blind advantage at prior 0.5, for one class of attackers.

    Attributes:
        error: one-sided.
        attackers: whom the limit is about, on the learned score.
        upper: in [0, 1].
    """

    error: float
    attackers: Attackers
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreExcess:
    """What of one score's advantage is not explained by the records.

    Attributes:
        score: its name.
        taken_off: what the records alone may explain of it, at the audit's prior.
        lower: the baseline and the rest together are at least this much, at the audit's
            confidence: also the advantage among records as likely in either class.
    """

    score: str
    taken_off: float
    lower: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """What an audit takes from a report of ``shift``.

    Attributes:
        n_members: rows that it was about.
        n_holdout: likewise.
        confidence: of ``lower`` and ``upper``, each at half its error.
        lower: the records alone tell at least this much.
        value: best estimate.
        upper: they tell at most this much to the attackers of ``attackers``.
        attackers: the class of ``upper``.
        limits: the same upper limit at other errors.
        inputs: (name, sha256 or fingerprint) of the tables that it was made from.
        report_sha256: of the report, if it came from a file.
        excess: what of each score of the audit goes beyond it, the strongest score first.
    """

    n_members: int
    n_holdout: int
    confidence: float
    lower: float
    value: float
    upper: float
    attackers: Attackers
    limits: tuple[BlindLimit, ...]
    inputs: tuple[tuple[str, str | None], ...] = ()
    report_sha256: str | None = None
    excess: tuple[ScoreExcess, ...] = ()

    def limit(self, error: float) -> BlindLimit:
        """Return the upper limit at the largest error that is at most this one.

        With none so small nothing is known: the limit is 1.
        """
        # A tolerance for what arithmetic does to the last digit of 1 - confidence.
        within = [one for one in self.limits if one.error <= error * (1 + 1e-9)]
        if not within:
            return BlindLimit(error=error, attackers=self.attackers, upper=1.0)
        return max(within, key=lambda one: one.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What lower limits are lessened by before anything is held against the model.

    One event, that the blind limit holds, serves all checks: it has half of the error,
    the lower limits share the rest.

    Attributes:
        limit: of the blind advantage.
    """

    limit: BlindLimit

    def of(self, quantity: Quantity, prior: float) -> float | None:
        """Return how much of a quantity the records alone may explain; None if unknown.

        Args:
            quantity: of a policy's limit.
            prior: p in (0, 1).
        """
        most = self.limit.upper
        match quantity:
            case "advantage" | "excess":
                return (1 - abs(2 * prior - 1)) * most
            case "eta" | "accuracy":
                return (1 - abs(2 * prior - 1)) * most / 2
            case "tpr_at_fpr":
                # No attacker on the records exceeds FPR + t; FPR alone is for nothing.
                return most
            case "auc":
                # The area under min(1, FPR + t), less 1/2.
                return most - most**2 / 2
            case _:
                return None


def make_allowance(blind: Blind, error: float) -> tuple[Allowance, float]:
    """Share an error: return the allowance, and what is left for all lower limits.

    Args:
        blind: of the same records.
        error: one-sided, of all that is held against the model together.
    """
    return Allowance(limit=blind.limit(_SHARE * error)), (1 - _SHARE) * error


def lessened(
    plain: PolicyCheck, shared: PolicyCheck, allowance: Allowance, prior: float
) -> PolicyCheck:
    """Return a check whose lower limit leaves out what the records alone may explain.

    What is no longer above the limit is open: the records never help a limit to be met.

    Args:
        plain: the check without the records, at all of the error.
        shared: the same, its lower limit at the share of the error that is left for it.
        allowance: of the same error.
        prior: at which it is judged.
    """
    off = allowance.of(plain.quantity, prior)
    lower = None
    if off is not None and shared.lower is not None:
        lower = max(shared.lower - off, min(shared.lower, _nothing(plain, prior)))
    status = plain.status
    if lower is not None and lower > plain.limit:
        status = "not_met"
    elif status == "not_met":
        status = "inconclusive"
    return replace(
        plain,
        lower=lower,
        status=status,
        blind=allowance.limit.upper if off is None else off,
        records_to_settle=None,
    )


def _nothing(check: PolicyCheck, prior: float) -> float:
    """Return a quantity's value where nothing leaks."""
    match check.quantity:
        case "tpr_at_fpr":
            return check.fpr or 0.0
        case "auc":
            return 0.5
        case quantity:
            scale, shift = restatement(quantity, prior)
            return scale * abs(2 * prior - 1) + shift


def score_excess(evidence: Evidence, blind: Blind, error: float) -> ScoreExcess:
    """Return the excess of one score, with a lower limit at one-sided ``error``."""
    allowance, left = make_allowance(blind, error)
    off = allowance.of("advantage", evidence.prior) or 0.0
    baseline = abs(2 * evidence.prior - 1)
    return ScoreExcess(
        score=evidence.score, taken_off=off, lower=max(baseline, evidence.lower(left) - off)
    )
