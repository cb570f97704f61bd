"""How much of a measured advantage the records alone may explain.

Let t be the total variation between the laws of a member's and a holdout record's
columns. The advantage that is judged is A_M, that among records as likely in either class:
there a score that tells nothing of membership beyond the record has the advantage of blind
guessing. From an advantage A at any prior follow (A - t) / (1 - t) <= A_M <= (A + t) / (1 - t);
see `maths.shared_part`.

t must be one for every attacker on the records. A limit for named attackers is none: who
looks at the records in another way may explain more, and a lower limit of t even less.
There is such a t where records have few combinations of values, or where the user asserts
one. A limit of A at error a1 with a limit of t at error a2 is one of A_M at error a1 + a2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.maths.class_limits.shared_part import shared_advantage_lower
from mipaudit.statements.estimate import Attackers  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence

# The errors at which a report of `shift` holds upper limits, one-sided.
ERRORS: Final = tuple(0.125 / 2**step for step in range(21)) + tuple(
    0.025 / 2**step for step in range(16)
)
_SHARE: Final = 0.5  # of a limit's error, for the blind advantage


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindLimit:
    """An upper limit of the blind advantage at prior 0.5, for one class of attackers.

    Attributes:
        error: one-sided.
        attackers: whom the limit is about: ``any``, or a class on the learned score.
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
        taken_off: what the records alone may explain of it, at the audit's prior: all that is
            above blind guessing where no limit holds for every attacker on them.
        lower: lower limit of the advantage among records as likely in either class, at the
            audit's confidence: that of blind guessing where all may be explained.
    """

    score: str
    taken_off: float
    lower: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """What an audit takes from a report of ``shift``, and what the user asserts beside it.

    Attributes:
        n_members: rows that it was about.
        n_holdout: likewise.
        confidence: of ``lower`` and ``upper``, each at half its error.
        lower: the records alone tell at least this much.
        value: best estimate.
        upper: they tell at most this much to the attackers of ``attackers``.
        attackers: the class of ``upper``.
        limits: upper limits for every attacker, the largest error first; empty where none
            holds. Only those count.
        inputs: (name, sha256 or fingerprint) of the tables that it was made from.
        report_sha256: of the report, if it came from a file.
        excess: what of each score of the audit goes beyond it, the strongest score first.
        bound: what the user asserts that the records alone tell at most, in [0, 1).
        shown_at: the smallest one-sided error at which members and holdout are shown to
            differ; None where at no error, or not recorded.
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
    bound: float | None = None
    shown_at: float | None = None

    def limit(self, error: float) -> float | None:
        """Return the limit for every attacker at the largest error that is at most this one.

        None where there is none below 1. Limits for a class of attackers, which reports of
        version 0.1.0 hold, do not count.
        """
        # A tolerance for what arithmetic does to the last digit of 1 - confidence.
        within = [
            one for one in self.limits if one.attackers == "any" and one.error <= error * (1 + 1e-9)
        ]
        if not within:
            return None
        upper = max(within, key=lambda one: one.error).upper
        return upper if upper < 1 else None

    def differs(self, error: float) -> bool:
        """Tell whether members and holdout are shown to differ, at a one-sided error."""
        at = self.shown_at
        return self.lower > 0 or (at is not None and at <= error * (1 + 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the records alone may explain, and what is known of it.

    One event, that the blind limit holds, serves all checks: it has half of the error, the
    limits of the scores share the rest. An assertion takes none.

    Attributes:
        most: of every attacker on the records, in [0, 1); None where nothing limits them.
        asserted: ``most`` is the user's word.
        differs: members and holdout are shown to differ.
        least: what the records alone are shown to tell.
    """

    most: float | None
    asserted: bool = False
    differs: bool = False
    least: float = 0.0

    @property
    def limits_met(self) -> bool:
        """Tell whether an upper limit of a score says little of records that are alike."""
        return self.asserted or self.differs


def make_allowance(blind: Blind, error: float) -> tuple[Allowance, float]:
    """Share an error: return the allowance, and what is left for all limits of scores.

    Args:
        blind: of the same records.
        error: one-sided, of all that is concluded together.
    """
    differs, least = blind.differs(error), blind.lower
    if blind.bound is not None:
        return Allowance(most=blind.bound, asserted=True, differs=differs, least=least), error
    most = blind.limit(_SHARE * error)
    left = error if most is None else (1 - _SHARE) * error
    return Allowance(most=most, differs=differs, least=least), left


def score_excess(evidence: Evidence, blind: Blind, error: float) -> ScoreExcess:
    """Return the excess of one score, with a lower limit at one-sided ``error``."""
    allowance, left = make_allowance(blind, error)
    baseline = abs(2 * evidence.prior - 1)
    most = 1.0 if allowance.most is None else allowance.most
    lower = baseline
    if most < 1:
        lower = shared_advantage_lower(evidence.lower(left), most, baseline)
    return ScoreExcess(score=evidence.score, taken_off=(1 - baseline) * most, lower=lower)
