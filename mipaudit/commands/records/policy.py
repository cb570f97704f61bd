"""The limits on records and groups, judged on what ``records`` counted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mipaudit.commands.records.cells import RecordRisks
from mipaudit.commands.records.counts import RecordCounts
from mipaudit.commands.records.options import RecordTableOptions
from mipaudit.commands.records.report import RecordsDesign
from mipaudit.errors import UsageError
from mipaudit.evidence.judgement.policy_on_scores import Standing, records_to_settle
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.maths.normal import quantile
from mipaudit.model.message import Message
from mipaudit.model.row import Check, Row
from mipaudit.statements.policy import EVERY_GROUP, UNDECIDED, Limit, check_reason, check_status
from mipaudit.statements.printable_names import safe_name


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
                hint="Name it with `score_col` if the input has it.",
            )
        if limit.group is not None and groups is None:
            raise UsageError(
                "no_such_group",
                "The policy limits groups, and none are told apart.",
                hint="Add `by` with the columns that make the groups.",
            )
        if limit.group is not None and limit.group not in {EVERY_GROUP, *(groups or ())}:
            raise UsageError(
                "no_such_group",
                f"The policy limits the group '{safe_name(limit.group)}', which is not told "
                "apart here.",
                hint="Groups are named COLUMN=VALUE, as the report does; '*' means every group.",
            )


def records_checks(
    asked: RecordTableOptions, design: RecordsDesign, counts: RecordCounts
) -> tuple[Check, ...]:
    """Judge every limit.

    'Not met' shares the error over the limits: each is looked at with its part. A limit on
    groups has the error of all groups together, so 'met' is said a little less often than
    it could be.

    Raises:
        UsageError: a limit is about a score or a group that is not there.
    """
    limits = asked.judged_limits
    names = None if counts.groups is None else counts.groups.names
    _require_judged(limits, design.score_column, names)
    found: list[Check] = []
    for limit in limits:
        errors = 1 - (1 - asked.confidence) / len(limits), asked.confidence
        if limit.quantity == "risk":
            shared, whole = (counts.risks(asked, one) for one in errors)
            filled = whole.everyone.sum(axis=1) > 0
            cells = "value" if counts.cells.single[filled].all() else "cell of records"
            found.append(_risk(limit, design, shared, whole, cells))
        else:
            low, high = (counts.of_groups(asked.prior, one) for one in errors)
            found += _groups(limit, design, low, high)
    return tuple(found)


def _risk(
    limit: Limit, design: RecordsDesign, shared: RecordRisks, whole: RecordRisks, cells: str
) -> Check:
    lower, upper = shared.largest_lower, whole.largest_upper
    status = check_status(limit.max, lower, upper)
    settle = None
    # Where cells have no counted record, how many records would count some is not known.
    if status == "inconclusive" and not whole.uncounted:
        share = ErrorShare(confidence=whole.confidence, columns=whole.cells)
        settle = _records_to_settle(limit, (lower, whole.largest_value, upper), design, share)
    check = Check(
        quantity="risk",
        score=design.score_column,
        limit=limit.max,
        against="any",
        lower=lower,
        upper=upper,
        status=status,
        reason=UNDECIDED,
        records_to_settle=settle,
    )
    return replace(check, reason=_risk_reason(check, cells, whole.uncounted))


def _groups(
    limit: Limit, design: RecordsDesign, shared: Sequence[Row], whole: Sequence[Row]
) -> Iterator[Check]:
    low, high = (_by_group(rows, limit.quantity) for rows in (shared, whole))
    for name, rows in high.items():
        if limit.group in {EVERY_GROUP, name} and name in low:
            yield _group(limit, name, low[name], rows, design, groups=len(high))


def _by_group(rows: Sequence[Row], quantity: str) -> dict[str, list[Row]]:
    """Return the rows of a quantity of each group; one group alone differs from nothing."""
    found: dict[str, list[Row]] = {}
    for one in rows:
        if one.quantity == quantity:
            found.setdefault(str(one.group), []).append(one)
    return found


def _group(
    limit: Limit,
    name: str,
    low: Sequence[Row],
    high: Sequence[Row],
    design: RecordsDesign,
    *,
    groups: int,
) -> Check:
    first = low[0]  # any attacker, or the one attack
    deciding = _deciding(limit, high)
    status = check_status(limit.max, first.lower, deciding.upper)
    settle = None
    if status == "inconclusive" and first.value is not None and first.lower is not None:
        upper = 1.0 if deciding.upper is None else deciding.upper
        share = ErrorShare(confidence=first.confidence, columns=groups)
        settle = _records_to_settle(limit, (first.lower, first.value, upper), design, share)
    check = Check(
        quantity=limit.quantity,
        score=design.score_column,
        limit=limit.max,
        against=deciding.attackers,
        lower=first.lower,
        upper=deciding.upper,
        status=status,
        reason=UNDECIDED,
        group=name,
        records_to_settle=settle,
    )
    return replace(check, reason=check_reason(check))


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
                hint="Leave 'against' out, or name any of the classes in the report.",
            )
        return named[0]
    if rows[0].upper is not None:  # any attacker
        return rows[0]
    return max(rows, key=lambda row: -1.0 if row.upper is None else row.upper)


def _records_to_settle(
    limit: Limit,
    limits: tuple[float, float, float],
    design: RecordsDesign,
    share: ErrorShare,
) -> int | None:
    """Return about how many records settle an open limit.

    Args:
        limit: the open one.
        limits: lower limit, value and upper limit; the standard error is told from the wider side.
        design: what was audited.
        share: of the error that the pair of limits has.
    """
    lower, value, upper = limits
    width = max(value - lower, upper - value)
    return records_to_settle(
        Standing(
            limit=limit.max,
            value=value,
            lower=lower,
            upper=upper,
            error=width / -quantile(share.one_sided),
            records=design.n_members + design.n_holdout,
        )
    )


def _risk_reason(check: Check, cells: str, uncounted: int) -> Message:
    """Return what decided the limit on the largest risk.

    Args:
        check: without a reason.
        cells: what a cell is: one value, whose own risk it then is, or several records.
        uncounted: records in cells without a counted record.
    """
    if check.status != "inconclusive":
        code = "risk_above_limit" if check.status == "not_met" else "risk_within_limit"
    elif uncounted:
        code = "risk_uncounted"
    else:
        code = "risk_open" if check.records_to_settle is None else "risk_open_settled_by"
    return Message.of(
        code,
        limit=check.limit,
        lower=check.lower,
        upper=check.upper,
        cells=cells,
        uncounted=uncounted,
        records_to_settle=check.records_to_settle,
    )
