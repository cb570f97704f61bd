"""The release's own limits, who waives them until when, and whether and why each is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Message, fields_of
from mipaudit.model.row import Attackers, Check, Checked, CheckStatus, Limited, Row, Waiver
from mipaudit.statements.choices import Against  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


EVERY_GROUP: Final = "*"
# Limits on these are limits on the advantage, in other units.
RESTATED: Final = frozenset({"advantage", "excess", "eta", "accuracy"})
# An open limit: whether more records settle it is not known, or so many do, or not all are there.
OPEN: Final = "open"
SETTLED_BY: Final = "open_settled_by"
UNPROMISED: Final = "open_unpromised"
# Of a remark: a verdict names other limits than the rows do.
SHARES_ERROR: Final = "verdict_shares_error"
# What a check has for a reason until it is known what decided.
UNDECIDED: Final = Message("undecided")
# Of a check, what its reason tells.
_TOLD: Final = (
    *("quantity", "metric", "fpr", "prior", "group", "limit", "against"),
    *("lower", "upper", "blind", "records_to_settle"),
)
OnInconclusive = Literal["fail", "review", "pass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit of the policy.

    Attributes:
        quantity: what must not be larger.
        max: the largest value that is accepted; 0 for ``any_difference``.
        score: the only score that it is about; None for every one.
        against: the class whose upper limit must be below; None for the policy's.
        fpr: of ``tpr_at_fpr``, in (0, 1).
        metric: name of the metric, for ``metric``.
        group: the only group of records that it is about, ``"*"`` for every group, None
            for all records together.
        prior: p in (0, 1) at which it is judged; None for the audit's.
    """

    quantity: Limited
    max: float
    score: str | None = None
    against: Against | None = None
    fpr: float | None = None
    metric: str | None = None
    group: str | None = None
    prior: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The limits that the user set; None where there is none.

    Attributes:
        max_advantage: in (|2p-1|, 1].
        max_eta: in (0, (1 - |2p-1|)/2].
        max_tpr_at_fpr: (TPR, FPR), both in (0, 1).
        against: the class whose upper limit must be below; None for the default.
        max_metric: (metric name, limit) pairs, each above the metric's baseline.
        limits: those that are listed, beside the above.
        waivers: of checks that are not shown to be met.
        on_inconclusive: what an open answer counts as.
        max_copies: members that may be released unchanged; counted, without error.
    """

    max_advantage: float | None = None
    max_eta: float | None = None
    max_tpr_at_fpr: tuple[float, float] | None = None
    against: Against | None = None
    max_metric: tuple[tuple[str, float], ...] = ()
    limits: tuple[Limit, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    on_inconclusive: OnInconclusive = "review"
    max_copies: int | None = None

    @property
    def every_limit(self) -> tuple[Limit, ...]:
        """Return all limits as one list: those of the settings, then those listed."""
        found = []
        if self.max_advantage is not None:
            found.append(Limit(quantity="advantage", max=self.max_advantage))
        if self.max_eta is not None:
            found.append(Limit(quantity="eta", max=self.max_eta))
        if self.max_tpr_at_fpr is not None:
            tpr, fpr = self.max_tpr_at_fpr
            found.append(Limit(quantity="tpr_at_fpr", max=tpr, fpr=fpr))
        found += [Limit(quantity="metric", max=most, metric=name) for name, most in self.max_metric]
        found += self.limits
        return tuple(
            limit if limit.against is not None else replace(limit, against=self.against)
            for limit in found
        )


def covers(waiver: Waiver, check: Check) -> bool:
    """Tell whether a waiver is about a check."""
    asked = (waiver.score, waiver.metric, waiver.fpr)
    found = (check.score, check.metric, check.fpr)
    everyone = waiver.group == EVERY_GROUP and check.group is not None
    return (
        waiver.quantity == check.quantity
        and (everyone or waiver.group == check.group)
        and all(one is None or one == other for one, other in zip(asked, found, strict=True))
    )


def limits_copies(checks: Iterable[object]) -> bool:
    """Tell whether a limit on members that are released unchanged is among the checks."""
    return any(getattr(check, "quantity", None) == "copies" for check in checks)


def differs_from_rows(estimates: Iterable[Row], checks: Iterable[Check]) -> bool:
    """Tell whether a verdict names other limits than the estimates have, sharing the error."""
    shown: dict[tuple[object, ...], Row] = {
        (e.score, e.quantity, e.fpr, e.metric, e.group, e.attackers): e for e in estimates
    }
    for check in checks:
        of = (check.score, check.quantity, check.fpr, check.metric, check.group)
        table = shown.get((*of, check.against))
        if table is None or check.prior is not None:
            continue
        first = shown.get((*of, "any"), table)
        # A reason names the lower limit unless the policy is met, the upper one unless it is not.
        lower = check.status != "met" and check.lower != first.lower
        if lower or (check.status != "not_met" and check.upper != table.upper):
            return True
    return False


def check_status(limit: float, lower: float | None, upper: float | None) -> CheckStatus:
    """Return whether a limit is kept: above it surely, below it surely, or neither."""
    if lower is not None and lower > limit:
        return "not_met"
    if upper is not None and upper <= limit:
        return "met"
    return "inconclusive"


class Units(NamedTuple):
    """In what units a quantity says the advantage at a prior: ``scale`` times it plus ``shift``."""

    scale: float
    shift: float

    def advantage(self, value: float) -> float:
        """Return the advantage that a value of the quantity says."""
        return (value - self.shift) / self.scale

    def of(self, advantage: float) -> float:
        """Return the quantity of an advantage."""
        return self.scale * advantage + self.shift


def restatement(quantity: Checked, prior: float) -> Units:
    """Return the units of a quantity at a prior.

    The quantities that say the same as the advantage are excess, eta and accuracy.
    """
    guessing = baseline(prior)
    match quantity:
        case "excess":
            return Units(1.0, -guessing)
        case "eta":
            return Units(0.5, -guessing / 2)
        case "accuracy":
            return Units(0.5, 0.5)
        case _:
            return Units(1.0, 0.0)


def applied(function: Callable[..., float], limit: float | None, *others: float) -> float | None:
    """Return a function of a limit; None of one that there is not."""
    return None if limit is None else function(limit, *others)


def limit_check(
    limit: Limit,
    score: str,
    against: Attackers,
    lower: float | None,
    upper: float | None,
    *,
    status: CheckStatus | None = None,
    prior: float | None = None,
    records_to_settle: int | None = None,
) -> Check:
    """Return a limit of a policy beside what was found of a score.

    Args:
        limit: of the policy.
        score: its name.
        against: as in `Check`, as are both limits.
        lower: lower limit of the quantity.
        upper: upper limit of it.
        status: whether it is kept; None for what the two limits say.
        prior: as in `Check`.
        records_to_settle: likewise.
    """
    check = Check(
        quantity=limit.quantity,
        metric=limit.metric,
        fpr=limit.fpr,
        score=score,
        limit=limit.max,
        against=against,
        lower=lower,
        upper=upper,
        status=status or check_status(limit.max, lower, upper),
        reason=UNDECIDED,
        records_to_settle=records_to_settle,
        prior=prior,
    )
    return replace(check, reason=check_reason(check))


def check_reason(check: Check) -> Message:
    """Return what decided a check."""
    if check.quantity == "any_difference":
        return Message(_difference_code(check))
    return Message.of(_deciding_code(check), **fields_of(check, *_TOLD))


def _deciding_code(check: Check) -> str:
    match check.status:
        case "not_met":
            return "above_limit" if check.blind is None else "above_limit_beside_records"
        case "met":
            return "within_limit"
        case "inconclusive" if check.upper is None:
            return "no_upper_limit"
        case "inconclusive" if check.blind is not None:
            return "open_beside_records"
        case "inconclusive":
            return OPEN if check.records_to_settle is None else SETTLED_BY


def _difference_code(check: Check) -> str:
    """Return what the test of no difference at all found; its p-value is a row of the report."""
    if check.status == "not_met":
        return "difference_shown"
    return "difference_unknown" if check.lower is None else "difference_not_shown"


def unpromised(check: Check) -> Check:
    """Return a check that promises nothing of more records."""
    reason = check.reason
    if reason.code == SETTLED_BY:
        reason = replace(reason, code=UNPROMISED)
    return replace(check, records_to_settle=None, reason=reason)


def named_check(
    quantity: Checked,
    subject: Message,
    limit: float,
    limits: tuple[float | None, float | None],
    *,
    against: Attackers,
    score: str = "",
    among: Attackers | None = None,
    why: Message | None = None,
) -> Check:
    """Judge one limit on what is named: one attacker, or an increase.

    Args:
        quantity: as in `Check`.
        subject: what is limited, to begin a sentence with.
        limit: the largest value that is accepted.
        limits: the lower and the upper one.
        against: as in `Check`.
        score: likewise.
        among: the attackers that it holds for, where the subject does not say.
        why: there are no limits, if that is known; the check is then open.
    """
    lower, upper = limits
    status = check_status(limit, lower, upper)
    code = {"not_met": "named_above", "met": "named_within", "inconclusive": "named_open"}[status]
    if lower is None and upper is None:
        code = "named_without_limits" if why is None else "named_unknown"
    return Check(
        quantity=quantity,
        score=score,
        limit=limit,
        against=against,
        lower=lower,
        upper=upper,
        status=status,
        reason=Message.of(
            code, subject=subject, limit=limit, lower=lower, upper=upper, among=among, why=why
        ),
    )
