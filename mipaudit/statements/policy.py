"""The release's own limits, who waives them until when, and whether and why each is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.statements.choices import Against  # noqa: TC001 - the codec reads it
from mipaudit.statements.estimate import Attackers, Quantity
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import (
    above_text,
    lower_figure,
    lower_text,
    number_text,
    upper_text,
    within_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from mipaudit.statements.estimate import Estimate

EVERY_GROUP: Final = "*"
_SHARED: Final = (
    "The verdict shares the error over its own limits, which can differ a little from those of the "
    "tables."
)
# Copies are counted, not estimated.
Checked = Literal[Quantity, "copies"]
CheckStatus = Literal["met", "not_met", "inconclusive"]
OnInconclusive = Literal["fail", "review", "pass"]
_PHRASES: Final[Mapping[Attackers, str]] = MappingProxyType(
    {
        "any": "for any attacker",
        "thresholds": "for attackers with one threshold",
        "intervals-1": "for attackers with one interval",
        "intervals-4": "for attackers with up to four intervals",
        "bins-16": "for attackers with 16 equal-mass bins",
        "noised-query": "for any attacker who sees the score with noise",
        "product-grid": "for attackers with a grid of cells",
        "learned": "for attackers with one threshold on a learned score",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Who accepts that a limit is not shown to be kept, why, and until when.

    ``expires`` is the last day on which it holds (UTC, as 2026-12-31). ``score``,
    ``metric`` and ``fpr`` say which checks of the quantity are meant; None means every
    one. ``group`` is one group of records, ``"*"`` every group, None all together.
    """

    quantity: Quantity
    reason: str
    person: str
    expires: str
    score: str | None = None
    metric: str | None = None
    fpr: float | None = None
    group: str | None = None

    def expired(self, today: date) -> bool:
        """Tell whether its last day is over."""
        return self.expires < today.isoformat()


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

    quantity: Quantity
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
        max_copies: members that may be released word for word; counted, without error.
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
    def size(self) -> int:
        """Return the number of limits."""
        return len(self.every_limit)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCheck:
    """One limit of the policy against one score.

    ``lower`` and ``upper`` are the limits that decide: the lower one shares
    alpha over all (limit, score) pairs, the upper one needs no sharing because
    ``met`` requires every one to pass. ``records_to_settle`` is the total
    number of records that would settle an inconclusive check. ``metric`` is its name
    where the quantity is ``metric``, ``prior`` that of a limit at another prior than
    the audit's, ``group`` the group of records. ``waived`` is the waiver because of
    which the check does not decide; ``expired`` one that no longer holds. ``blind`` is what the
    records alone may tell at most, 1 where nothing limits that, None where that was not asked
    for: ``lower`` and ``upper`` are then of records as likely in either class, and None where
    nothing is known of these.
    """

    quantity: Checked
    score: str
    limit: float
    against: Attackers
    lower: float | None
    upper: float | None
    status: CheckStatus
    reason: str
    fpr: float | None = None
    records_to_settle: int | None = None
    metric: str | None = None
    prior: float | None = None
    group: str | None = None
    waived: Waiver | None = None
    expired: Waiver | None = None
    blind: float | None = None


def covers(waiver: Waiver, check: PolicyCheck) -> bool:
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
    """Tell whether a limit on members that are released word for word is among the checks."""
    return any(getattr(check, "quantity", None) == "copies" for check in checks)


def shared_note(estimates: Iterable[Estimate], checks: Iterable[PolicyCheck]) -> str:
    """Say why a verdict names other limits than the estimates have; empty where it does not."""
    shown: dict[tuple[object, ...], Estimate] = {
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
            return _SHARED
    return ""


def check_status(limit: float, lower: float | None, upper: float | None) -> CheckStatus:
    """Return whether a limit is kept: above it surely, below it surely, or neither."""
    if lower is not None and lower > limit:
        return "not_met"
    if upper is not None and upper <= limit:
        return "met"
    return "inconclusive"


def restatement(quantity: Quantity, prior: float) -> tuple[float, float]:
    """Return scale and shift that make a quantity of the advantage at a prior.

    The quantities that say the same as the advantage are excess, eta and accuracy.
    """
    baseline = abs(2 * prior - 1)
    match quantity:
        case "excess":
            return 1.0, -baseline
        case "eta":
            return 0.5, -baseline / 2
        case "accuracy":
            return 0.5, 0.5
        case _:
            return 1.0, 0.0


def _lower_alone(lower: float, _: float) -> str:
    return lower_text(lower)


def _upper_alone(upper: float, _: float) -> str:
    return upper_text(upper)


def check_reason(check: PolicyCheck) -> str:
    """Say in one sentence what decided a check."""
    if check.quantity == "any_difference":
        return _difference_reason(check)
    name = checked_name(check)
    limit = number_text(check.limit)
    above = above_text if check.status == "not_met" else _lower_alone
    within = within_text if check.status == "met" else _upper_alone
    at_least = "" if check.lower is None else f" is at least {above(check.lower, check.limit)}"
    if check.blind is not None and check.lower is not None and check.status == "not_met":
        at_least += (
            f" among records that are alike, though the records alone may tell "
            f"{upper_text(check.blind)}"
        )
    at_most = (
        ""
        if check.upper is None
        else f" is at most {within(check.upper, check.limit)} {against_phrase(check.against)}"
    )
    match check.status:
        case "not_met":
            return f"{name}{at_least}, above the limit of {limit}"
        case "met":
            return f"{name}{at_most}, within the limit of {limit}"
        case "inconclusive" if not at_most:
            return (
                f"{name}{at_least}, and has no upper limit {against_phrase(check.against)}: the "
                f"limit of {limit} cannot be shown to be met; name a class with `against`"
            )
        case "inconclusive" if check.blind is not None:
            known = " and".join(part for part in (at_least, at_most) if part)
            return f"{name}{known}; the limit is {limit}: open even if records explain nothing"
        case "inconclusive":
            known = " and".join(part for part in (at_least, at_most) if part)
            return f"{name}{known}; the limit is {limit}: {settling_words(check)}"


def _difference_reason(check: PolicyCheck) -> str:
    """Say what the test of no difference at all found; its p-value is a row of the report."""
    if check.status == "not_met":
        return (
            "the exact test shows a difference of the groups (membership, or another), and "
            "nothing may show"
        )
    if check.lower is None:
        return "whether anything shows at all is not known"
    return (
        "the exact test shows no difference of the groups: that is no proof that there is none, "
        "and the limit of 0 cannot be shown to be met"
    )


def checked_name(check: PolicyCheck) -> str:
    """Name what a check is about, without its limit."""
    name: str = "exact copies" if check.quantity == "copies" else check.quantity
    if check.metric is not None:
        name = f"metric {check.metric}"
    elif check.fpr is not None:
        name = f"TPR at FPR {number_text(check.fpr)}"
    elif check.quantity == "auc":
        name = "AUC"
    elif check.quantity == "any_difference":
        name = "any difference"
    return name + checked_where(check)


def checked_where(check: PolicyCheck) -> str:
    """Say at which other prior, or of which group, a check is; empty for neither."""
    prior = "" if check.prior is None else f" at prior {number_text(check.prior)}"
    return prior if check.group is None else f"{prior} of group {quoted_name(check.group)}"


def settling_words(check: PolicyCheck) -> str:
    """Say how many records would settle an open check."""
    if check.records_to_settle is None:
        return "the best estimate is too close to the limit to promise that more records settle it"
    return f"about {check.records_to_settle:,} records in all would settle this one"


def unpromised(check: PolicyCheck) -> PolicyCheck:
    """Return a check that promises nothing of more records."""
    reason = check.reason
    if check.records_to_settle is not None:
        reason = reason.removesuffix(f": {settling_words(check)}")
    return replace(check, records_to_settle=None, reason=reason)


def against_phrase(attackers: Attackers) -> str:
    """Name a class of attackers, to follow a quantity."""
    return _PHRASES[attackers]


def class_words(attackers: Attackers) -> str:
    """Return the class without its preposition: ``attackers with one threshold``."""
    return against_phrase(attackers).removeprefix("for ")


def limit_reason(
    status: CheckStatus,
    name: str,
    limit: float,
    limits: tuple[float | None, float | None],
    *,
    among: str = "",
    unknown: str = "has no limits",
) -> str:
    """Return what a status rests on.

    Args:
        status: of the limit.
        name: of what is limited, to begin a sentence with.
        limit: the largest value that is accepted.
        limits: the lower and the upper one.
        among: the attackers that it holds for, where ``name`` does not say.
        unknown: what is said where there are no limits.
    """
    lower, upper = limits
    most = number_text(limit)
    whom = f" {among}" if among else ""
    if status == "not_met" and lower is not None:
        return f"{name} is at least {above_text(lower, limit)}{whom}, above the limit of {most}"
    if status == "met" and upper is not None:
        return f"{name} is at most {within_text(upper, limit)}{whom}, within the limit of {most}"
    at_least = "" if lower is None else f" is at least {lower_text(lower)}"
    at_most = "" if upper is None else f" is at most {upper_text(upper)}"
    known = " and".join(part for part in (at_least, at_most) if part)
    return f"{name}{known or f' {unknown}'}{whom}; the limit is {most}"


def delta_reason(pure: float) -> str:
    """Return why right guesses that refute at delta 0 refute nothing; ``pure`` is that limit."""
    return (
        "delta allows that many right guesses; at delta 0 they would refute every epsilon below "
        f"{lower_figure(pure)}"
    )
