"""How much of a measured advantage the records alone may explain, and limits judged beyond that.

Let t be the total variation between the laws of a member's and a holdout record's
columns. The advantage that is judged is A_M, that among records as likely in either class:
there a score that tells nothing of membership beyond the record has the advantage of blind
guessing. From an advantage A at any prior follow (A - t) / (1 - t) <= A_M <= (A + t) / (1 - t);
see `maths.class_limits.shared_part`.

t must be one for every attacker on the records. A limit for named attackers is none: who
looks at the records in another way may explain more, and a lower limit of t even less.
There is such a t where records have few combinations of values, or where the user asserts
one. A limit of A at error a1 with a limit of t at error a2 is one of A_M at error a1 + a2: the
audit spends the error of the report of `shift` out of its own.

The limits of a check are moved to those of A_M. Whatever is not known of these leaves the check
open: nothing is held against the model that the records may explain, and nothing is cleared that
a difference of the records may hide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mipaudit.maths.advantage import baseline
from mipaudit.maths.class_limits.shared_part import (
    most_apart_above,
    most_apart_within,
    shared_advantage_lower,
    shared_advantage_upper,
    shared_auc_lower,
    shared_auc_upper,
    shared_tpr_lower,
    shared_tpr_upper,
)
from mipaudit.model.message import Message
from mipaudit.model.row import Attackers  # noqa: TC001 - the codec reads it
from mipaudit.statements.policy import RESTATED, applied, check_reason, check_status, restatement
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.model.row import Check

_FLOOR: Final = 10_000  # four digits, and never more than was found


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
        confidence: of ``lower``, ``upper`` and ``everyone``, each at half its error.
        lower: the records alone tell at least this much.
        value: best estimate.
        upper: they tell at most this much to the attackers of ``attackers``.
        attackers: the class of ``upper``.
        everyone: the upper limit for every attacker, below 1; None where none holds. It alone
            counts.
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
    everyone: float | None
    inputs: tuple[tuple[str, str | None], ...] = ()
    report_sha256: str | None = None
    excess: tuple[ScoreExcess, ...] = ()
    bound: float | None = None
    shown_at: float | None = None

    @property
    def asserted(self) -> str | None:
        """What the user asserts of the records, to follow "assuming that"; None for nothing."""
        if self.bound is None:
            return None
        who = "nobody who sees only the records has an advantage above "
        return who + number_text(self.bound)

    def differs(self, error: float) -> bool:
        """Tell whether members and holdout are shown to differ, at a one-sided error."""
        # A tolerance for what arithmetic does to the last digit of 1 - confidence.
        at = self.shown_at
        return self.lower > 0 or (at is not None and at <= error * (1 + 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the records alone may explain, and what is known of it.

    One event, that the blind limit holds, serves all checks: it has the error of the report of
    `shift`, and the limits of the scores share the rest. An assertion takes none.

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
        blind: of the same records; its limit for every attacker, if it counts, has a smaller
            error.
        error: one-sided, of all that is concluded together.
    """
    differs, least = blind.differs(error), blind.lower
    if blind.bound is not None:
        return Allowance(most=blind.bound, asserted=True, differs=differs, least=least), error
    spent = 0.0 if blind.everyone is None else (1 - blind.confidence) / 2
    return Allowance(most=blind.everyone, differs=differs, least=least), error - spent


def score_excess(
    evidence: Evidence, blind: Blind, *, confidence: float, columns: int
) -> ScoreExcess:
    """Return the excess of one score.

    Args:
        evidence: of the score.
        blind: what the records alone tell.
        confidence: of the audit.
        columns: that share the error which the blind limit leaves.
    """
    allowance, left = make_allowance(blind, (1 - confidence) / 2)
    guessing = baseline(evidence.prior)
    most = 1.0 if allowance.most is None else allowance.most
    lower = guessing
    if most < 1:
        lower = shared_advantage_lower(evidence.lower(left / columns), most, guessing)
    return ScoreExcess(score=evidence.score, taken_off=(1 - guessing) * most, lower=lower)


def beside_records(
    plain: Check, shared: tuple[float | None, float | None], allowance: Allowance, prior: float
) -> Check:
    """Return a check of records as likely in either class.

    Args:
        plain: the check without the records, at all of the error.
        shared: its lower and its upper limit at the error that the records leave, None where there
            is none; of a TPR the upper one at the FPR that a set may reach over all records.
        allowance: what the records alone may explain.
        prior: at which it is judged.
    """
    kept = None if allowance.limits_met else plain.upper
    if allowance.most is None:
        lower, upper = _nothing(plain, prior), kept
    else:
        lower, upper = _shared(plain, *shared, allowance.most, prior)
        upper = upper if allowance.limits_met else kept
    status = check_status(plain.limit, lower, upper)
    if status == "met" and plain.status == "not_met":
        status = "inconclusive"  # a class that does not see what others do
    found = replace(
        plain,
        lower=lower,
        upper=upper,
        status=status,
        blind=1.0 if allowance.most is None else allowance.most,
        records_to_settle=None,
    )
    return replace(found, reason=_reason(found, plain, allowance, prior))


def _shared(
    check: Check, lower: float | None, upper: float | None, most: float, prior: float
) -> tuple[float | None, float | None]:
    """Return the limits of a quantity among records as likely in either class."""
    match check.quantity:
        case "tpr_at_fpr":
            lower = applied(shared_tpr_lower, lower, most, check.fpr or 0.0)
            return lower, applied(shared_tpr_upper, upper, most)
        case "auc":
            return applied(shared_auc_lower, lower, most), applied(shared_auc_upper, upper, most)
        case quantity if quantity in RESTATED:
            units = restatement(quantity, prior)
            lower = applied(units.advantage, lower)
            lower = applied(shared_advantage_lower, lower, most, baseline(prior))
            upper = applied(shared_advantage_upper, applied(units.advantage, upper), most)
            return applied(units.of, lower), applied(units.of, upper)
        case _:
            # How much the records explain of other quantities is not known.
            return None, None if most > 0 else upper


def _nothing(check: Check, prior: float) -> float | None:
    """Return a quantity's value where nothing leaks; None where that is not known."""
    if check.quantity in RESTATED:
        return restatement(check.quantity, prior).of(baseline(prior))
    # Of the AUC it is that of the better side.
    return check.fpr if check.quantity == "tpr_at_fpr" else 0.5 if check.quantity == "auc" else None


def _reason(check: Check, plain: Check, allowance: Allowance, prior: float) -> Message:
    """Return what decided, or why it is open and what would settle it."""
    if check.status != "inconclusive":
        return check_reason(check)
    if plain.status == "not_met":
        return _accused(check, plain, allowance, prior)
    if plain.status == "met":
        return _cleared(check, plain, allowance, prior)
    return check_reason(replace(plain, blind=check.blind, records_to_settle=None))


def _accused(check: Check, plain: Check, allowance: Allowance, prior: float) -> Message:
    """Return why a limit that is exceeded is not held against the model."""
    if plain.quantity == "any_difference":
        return Message("difference_of_records")
    said = replace(check_reason(plain), code="perhaps_of_records")
    if plain.quantity not in RESTATED and plain.quantity not in {"auc", "tpr_at_fpr"}:
        return said
    if allowance.most is not None:
        code = "explained_by_records" if check.lower is None else "beyond_records"
        return said.with_values(code, most=allowance.most, beyond=check.lower)
    if plain.quantity not in RESTATED:
        return said.with_values("unbounded_records_or_assert")
    units = restatement(plain.quantity, prior)
    shown = _below(
        most_apart_above(units.advantage(plain.lower or 0.0), units.advantage(plain.limit))
    )
    if shown <= allowance.least:
        return said.with_values("unbounded_records")
    return said.with_values("unbounded_records_or_assert_under", under=shown)


def _cleared(check: Check, plain: Check, allowance: Allowance, prior: float) -> Message:
    """Return why a limit that is kept over all records is not shown to be kept by like ones."""
    upper = plain.upper if plain.upper is not None else 1.0
    said = check_reason(plain).with_values("hidden_by_difference", upper=upper)
    if allowance.most is not None:
        code = "hidden_by_records" if check.upper is None else "hidden_by_records_alike"
        return said.with_values(code, most=allowance.most, alike=check.upper)
    if plain.quantity not in RESTATED or plain.upper is None:
        return said
    units = restatement(plain.quantity, prior)
    shown = _below(most_apart_within(units.advantage(plain.upper), units.advantage(plain.limit)))
    if shown <= allowance.least:
        return said
    return said.with_values("hidden_by_difference_or_assert", up_to=shown)


def _below(most: float) -> float:
    """Return a figure rounded down, so that what is said of it stays true."""
    return int(most * _FLOOR) / _FLOOR
