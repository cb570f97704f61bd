"""A policy judged on the limits that a report holds, without the evidence behind them.

Each stored limit has the error (1 - confidence) / 2 over the score columns. `judge` divides
that of 'not met' further, over the limits of the policy; here it is as it is, so that the
verdict is less sure instead. Over q limits it holds with confidence 1 - q (1 - confidence).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError
from mipaudit.evidence.judgement.blind import Allowance, beside_records
from mipaudit.evidence.scores.rows import difference_shown
from mipaudit.statements.policy import RESTATED, Limit, Policy, applied, limit_check, restatement
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers, Check, Row

_ONE_CLASS: Final = ("auc", "tpr_at_fpr", "any_difference")
_LEAST: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What a report says of its scores.

    Attributes:
        estimates: its rows.
        scores: its score columns.
        prior: p in (0, 1), of all rows.
        side_given: whether the user knew on which side members score; else the AUC is that
            of the better side.
        allowance: what the records alone may explain.
    """

    estimates: Sequence[Row]
    scores: Sequence[str]
    prior: float
    side_given: bool
    allowance: Allowance | None = None

    def rows(self, score: str, limit: Limit) -> list[Row]:
        """Return the rows of one score that a limit is about; there is at least one.

        Raises:
            UsageError: ``not_in_report``.
        """
        quantity = "advantage" if limit.quantity in RESTATED else limit.quantity
        kin = [e for e in self.estimates if _counts(e, score) and e.quantity == quantity]
        found = [e for e in kin if (e.fpr, e.metric) == (limit.fpr, limit.metric)]
        if not found:
            raise UsageError(
                "not_in_report",
                f"The report holds no {_called(limit)} of score {quoted_name(score)}.",
                hint=_alternatives(kin),
            )
        return found


def judge_stored(stored: Stored, policy: Policy) -> tuple[Check, ...]:
    """Compare the stored limits with every limit of the policy.

    Raises:
        UsageError: ``not_in_report``: a limit is about what the report does not hold.
    """
    limits = policy.every_limit
    for limit in limits:
        _require_stored(stored, limit)
    return tuple(
        _check(stored, score, limit)
        for score in stored.scores
        for limit in limits
        if limit.score in {None, score}
    )


def verdict_confidence(confidence: float, limits: int) -> float:
    """Return the confidence of a verdict over stored limits, each at ``confidence``.

    Raises:
        UsageError: ``too_many_limits``: it is under one half, and says nothing.
    """
    # Ten digits: the arithmetic's last ones would show.
    found = round(1 - limits * (1 - confidence), 10)
    if found < _LEAST:
        raise UsageError(
            "too_many_limits",
            f"A verdict over {limits} limits, each at confidence {number_text(confidence)}, "
            "could be wrong more often than right.",
            hint="Judge the scores again: mipaudit estimate shares the error over the limits.",
        )
    return found


def _require_stored(stored: Stored, limit: Limit) -> None:
    """Refuse a limit at another prior, of a group, or of a score that is not there."""
    if limit.prior not in {None, stored.prior}:
        raise UsageError(
            "not_in_report",
            f"The report is at prior {number_text(stored.prior)}: a limit at another prior "
            "cannot be judged on it.",
            hint="Audit the scores at that prior: mipaudit estimate SCORES --prior P.",
        )
    if limit.group is not None:
        raise UsageError(
            "not_in_report",
            "The report holds no limits by group: a limit on groups cannot be judged on it.",
            hint="Audit the scores with that policy instead.",
        )
    if limit.score is not None and limit.score not in stored.scores:
        raise UsageError(
            "not_in_report", f"The report is not about a score {quoted_name(limit.score)}."
        )


def _check(stored: Stored, score: str, limit: Limit) -> Check:
    rows = stored.rows(score, limit)
    against, upper = _deciding_upper(stored, rows, score, limit)
    lower = next((e.lower for e in rows if e.lower is not None), None)
    if limit.quantity in RESTATED:
        units = restatement(limit.quantity, stored.prior)
        lower, upper = applied(units.of, lower), applied(units.of, upper)
    elif limit.quantity == "auc" and not stored.side_given and None not in {lower, upper}:
        upper = max(float(upper or 0), 1 - float(lower or 0))
    elif limit.quantity == "any_difference":
        # At the error of a stored limit.
        error = (1 - rows[0].confidence) / 2 / len(stored.scores)
        against, lower = "any", difference_shown(rows[0].value, error)
    check = limit_check(limit, score, against, lower, upper)
    if stored.allowance is not None:
        # A report holds no limit of the TPR at the larger FPR that a difference may lead to.
        elsewhere = limit.quantity == "tpr_at_fpr" and bool(stored.allowance.most)
        shared = lower, None if elsewhere else upper
        return beside_records(check, shared, stored.allowance, stored.prior)
    if check.status == "inconclusive" and upper is not None:
        # The report cannot tell how many records would settle it.
        return replace(check, reason=replace(check.reason, code="open_in_report"))
    return check


def _deciding_upper(
    stored: Stored, rows: Iterable[Row], score: str, limit: Limit
) -> tuple[Attackers, float | None]:
    """Return the class whose upper limit decides, as :func:`judge` chooses it."""
    uppers = {e.attackers: e.upper for e in rows}
    if limit.quantity in _ONE_CLASS:
        return next(iter(uppers.items()))
    if limit.against is not None:
        if limit.against not in uppers:
            raise UsageError(
                "not_in_report",
                f"The report has no limit for attackers '{limit.against}' on score "
                f"{quoted_name(score)}.",
                hint=f"It has: {', '.join(uppers)}.",
            )
        return limit.against, uppers[limit.against]
    # Of few values the advantage of all attackers has an upper limit.
    discrete = any(
        e.quantity == "advantage" and e.attackers == "any" and e.upper is not None
        for e in stored.estimates
        if _counts(e, score)
    )
    named = [(upper, one) for one, upper in uppers.items() if upper is not None and one != "any"]
    if discrete or not named:
        return "any", uppers.get("any")
    upper, attackers = max(named)
    return attackers, upper


def _counts(estimate: Row, score: str) -> bool:
    """Tell whether a row is about the score, all records, and a limit that may decide."""
    return (
        estimate.score == score
        and estimate.validity != "not-an-interval"
        and estimate.attackers != "noised-query"
        and estimate.group is None
        and estimate.versus is None
    )


def _called(limit: Limit) -> str:
    if limit.metric is not None:
        return f"metric {limit.metric}"
    return limit.quantity if limit.fpr is None else f"TPR at FPR {number_text(limit.fpr)}"


def _alternatives(kin: Sequence[Row]) -> str:
    """Say what of the same kind is there."""
    names = [one.metric if one.fpr is None else f"FPR {number_text(one.fpr)}" for one in kin]
    known = ", ".join(dict.fromkeys(filter(None, names)))
    if not known:
        return "Audit the scores with that limit: mipaudit estimate."
    return f"It holds {known}. Audit the scores again for another."
