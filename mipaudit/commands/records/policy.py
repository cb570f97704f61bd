"""The limits on records and groups, judged on what ``records`` counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mipaudit.commands.records.cells import RecordRisks
from mipaudit.errors import UsageError
from mipaudit.evidence.judgement.policy_on_scores import Standing, records_to_settle
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.maths.normal import quantile
from mipaudit.model.message import Message
from mipaudit.model.row import Check, Row
from mipaudit.statements.policy import EVERY_GROUP, UNDECIDED, Limit, check_reason, check_status
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.commands.records.cells import RecordRisks
    from mipaudit.commands.records.counts import RecordCounts
    from mipaudit.commands.records.options import RecordTableOptions
    from mipaudit.model.row import Row


def records_checks(asked: RecordTableOptions, counts: RecordCounts) -> tuple[Check, ...]:
    """Judge every limit.

    'Not met' shares the error over the limits: each is looked at with its part. A limit on
    groups has the error of all groups together, so 'met' is said a little less often than
    it could be.

    Raises:
        UsageError: a limit is about a score or a group that is not there.
    """
    limits = asked.judged_limits
    names = None if counts.groups is None else counts.groups.names
    _require_judged(limits, counts.column.name, names)
    if not limits:
        return ()
    errors = 1 - (1 - asked.confidence) / len(limits), asked.confidence
    records = counts.n_members + counts.n_holdout
    low, high = (counts.risks(asked, one) for one in errors)
    on_groups = any(limit.quantity != "risk" for limit in limits)
    lows, highs = (counts.of_groups(asked.prior, one) if on_groups else [] for one in errors)
    found: list[Check] = []
    for limit in limits:
        if limit.quantity == "risk":
            found.append(_on_risk(limit, low.largest_row(counts.column.name), high, records))
        else:
            found += _on_groups(limit, lows, highs, records)
    return tuple(found)


def _require_judged(limits: Sequence[Limit], score: str, groups: Sequence[str] | None) -> None:
    """Refuse limits about a score or a group that is not there.

    Args:
        limits: those that ``records`` judges.
        score: the one that is audited.
        groups: the groups that are told apart; None without columns that make them.

    Raises:
        UsageError: ``no_such_score`` or ``no_such_group``.
    """
    for limit in limits:
        if limit.score not in {None, score}:
            raise UsageError(
                "no_such_score",
                f"The policy limits {limit.quantity} of the score "
                f"'{safe_name(str(limit.score))}', which is not audited: "
                f"'{safe_name(score)}' is.",
                "Name it with `score_col` if the input has it.",
            )
        if limit.group is not None and groups is None:
            raise UsageError(
                "no_such_group",
                "The policy limits groups, but no groups are given.",
                "Add `by` with the columns that make the groups.",
            )
        if limit.group is not None and limit.group not in {EVERY_GROUP, *(groups or ())}:
            raise UsageError(
                "no_such_group",
                f"The policy limits the group '{safe_name(limit.group)}', which is not one of the "
                "groups here.",
                "Groups are named COLUMN=VALUE, as the report does; '*' means every group.",
            )


def _on_risk(limit: Limit, low: Row, whole: RecordRisks, records: int) -> Check:
    high, uncounted = whole.largest_row(low.score), whole.uncounted
    # Where cells have no counted record, how many records would count some is not known.
    share = None if uncounted else ErrorShare(confidence=whole.confidence, columns=whole.cells)
    check = _check(limit, low, high, high, share, records)
    if check.status != "inconclusive":
        code = "risk_above_limit" if check.status == "not_met" else "risk_within_limit"
    elif uncounted:
        code = "risk_uncounted"
    else:
        code = "risk_open" if check.records_to_settle is None else "risk_open_settled_by"
    reason = Message.of(
        code,
        limit=check.limit,
        lower=check.lower,
        upper=check.upper,
        # Of one value it is the value's own risk.
        cells="value" if whole.single[whole.filled].all() else "cell of records",
        uncounted=uncounted,
        records_to_settle=check.records_to_settle,
    )
    return replace(check, reason=reason)


def _on_groups(
    limit: Limit, lows: Sequence[Row], highs: Sequence[Row], records: int
) -> Iterator[Check]:
    """Yield a check for each group that the limit is about; one group alone differs from nothing.

    Args:
        limit: of the policy.
        lows: the rows of all groups at the limit's share of the error.
        highs: at all of the error.
        records: in all.
    """
    low, high = (_by_group(rows, limit.quantity) for rows in (lows, highs))
    for name, rows in high.items():
        if limit.group in {EVERY_GROUP, name}:
            first = low[name][0]  # any attacker, or the one attack
            share = ErrorShare(confidence=first.confidence, columns=len(high))
            check = _check(limit, first, _deciding(limit, rows), first, share, records)
            yield replace(check, reason=check_reason(check))


def _by_group(rows: Sequence[Row], quantity: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for one in rows:
        if one.quantity == quantity:
            found.setdefault(str(one.group), []).append(one)
    return found


def _check(
    limit: Limit, low: Row, high: Row, best: Row, share: ErrorShare | None, records: int
) -> Check:
    """Return what a lower and an upper limit say, without the reason.

    Args:
        limit: of the policy.
        low: has the lower limit.
        high: has the upper one.
        best: has the value, from which it is told how many records settle an open limit: the
            standard error is told from the wider side.
        share: of the error that the pair of limits has; None where no number of records is told.
        records: in all.
    """
    status = check_status(limit.max, low.lower, high.upper)
    settle, value, lower = None, best.value, low.lower
    if status == "inconclusive" and share is not None and value is not None and lower is not None:
        upper = 1.0 if high.upper is None else high.upper
        settle = records_to_settle(
            Standing(
                limit=limit.max,
                value=value,
                lower=lower,
                upper=upper,
                error=max(value - lower, upper - value) / -quantile(share.one_sided),
                records=records,
            )
        )
    return Check(
        quantity=limit.quantity,
        score=low.score,
        limit=limit.max,
        against=high.attackers,
        lower=lower,
        upper=high.upper,
        status=status,
        reason=UNDECIDED,
        group=high.group,
        records_to_settle=settle,
    )


def _deciding(limit: Limit, rows: Sequence[Row]) -> Row:
    """Return the row whose upper limit decides: of the class asked for, else the widest."""
    if limit.quantity == "difference":
        return rows[0]
    if limit.against is not None:
        named = [row for row in rows if row.attackers == limit.against]
        if not named:
            raise UsageError(
                "no_such_class",
                f"Groups have no limit for attackers '{limit.against}' on this score.",
                "Leave 'against' out, or name any of the classes in the report.",
            )
        return named[0]
    if rows[0].upper is not None:  # any attacker
        return rows[0]
    return max(rows, key=lambda row: -1.0 if row.upper is None else row.upper)
