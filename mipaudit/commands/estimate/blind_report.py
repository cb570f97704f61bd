"""A report of ``shift`` as an audit takes it, and whether it is of the same records."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from mipaudit.commands.shift.report import ShiftReport
from mipaudit.commands.shift.words import widest
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.judgement.blind import Blind
from mipaudit.options.plain_values import path_of
from mipaudit.reading.report_file import foreign, read_report, report_bytes
from mipaudit.statements.origin import changed_file
from mipaudit.statements.reports.kinds import schema_of
from mipaudit.statements.text.rounding import lower_text, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.evidence.judgement.blind import BlindLimit
    from mipaudit.statements.choices import Against
    from mipaudit.statements.estimate import Attackers
    from mipaudit.statements.sources import InputFile

_ROUNDING: Final = 1e-9
_MAKE: Final = "Make it with `mipaudit shift MEMBERS HOLDOUT -f json -o shift.json`."


def read_blind(asked: EstimateOptions) -> Blind | None:
    """Return what a report of ``shift`` says of the records alone; None without one.

    Args:
        asked: the report, the attackers whose upper limit is shown, what the user asserts
            that the records alone tell at most, and whether limits must be strict.

    Raises:
        UsageError: it is a report of another command, no report, or has no such attackers;
            its limits are approximate and strict ones are asked for; or it contradicts what
            is asserted.
        InputError: it cannot be read, or contradicts itself.
    """
    given = asked.blind
    if given is None:
        return None
    if isinstance(given, Blind):
        return _asserted(given, asked.blind_bound)
    digest = None
    if isinstance(path_of(given), str) or isinstance(given, (bytes, bytearray)):
        given = report_bytes(given)
        digest = sha256(given).hexdigest()
    report = _report(given)
    if not isinstance(report, ShiftReport):
        raise UsageError(
            "blind",
            f"A report of {report.command} says nothing of the records alone.",
            hint=f"Give one of mipaudit shift ({schema_of('shift')}).",
        )
    if asked.strict and not report.design.strict:
        raise UsageError(
            "blind",
            "The report of shift was made without `strict`, or with a seed that was stated: its "
            "limits are approximate.",
            hint="Run mipaudit shift with `strict`, too, and without `seed`.",
        )
    with foreign(asked.blind):
        return _asserted(_blind(report, digest, asked.blind_against), asked.blind_bound)


def _asserted(blind: Blind, bound: float | None) -> Blind:
    """Return it with what the user asserts, unless the records contradict that."""
    if bound is not None and bound < blind.lower:
        raise UsageError(
            "blind_bound",
            f"The records alone are shown to tell at least {lower_text(blind.lower)}: that they "
            f"tell at most {number_text(bound)} is contradicted.",
            hint="Assert a larger bound, or draw members and holdout anew, at random from the same "
            "records.",
        )
    return replace(blind, bound=bound)


def _report(given: Any) -> Any:  # noqa: ANN401 - of any command
    """Read a report, with a hint that names the command whose report is wanted."""
    try:
        return read_report(given)
    except InputError as error:
        if error.code not in {"bad_report", "report_schema"}:
            raise
        raise InputError(error.code, f"`blind`: {error.message}", hint=_MAKE) from None


def _blind(report: ShiftReport, digest: str | None, against: Against | None) -> Blind:
    # Without limits, whatever the table says of what was learned, the records may tell all.
    most = widest(report.estimates) if report.limits else None
    if against is not None:
        named = [one for one in report.estimates if one.attackers == against != "any"]
        if not named or not _of_class(report.limits, against):
            have = ", ".join(dict.fromkeys(one.attackers for one in report.limits))
            raise UsageError(
                "blind_against",
                f"The report of shift has no upper limit for attackers '{against}'.",
                hint=f"It has: {have}." if have else "It has none; its findings say why.",
            )
        most = named[0]
    everyone = _of_class(report.limits, "any")
    classes = dict.fromkeys(one.attackers for one in report.limits)
    sound = all(_sound(_of_class(report.limits, one)) for one in classes)
    whole = report.impossible is None and bool(report.estimates)
    if not (whole and sound and _stated(report)):
        raise InputError(
            "bad_report",
            "The report of shift contradicts itself: its limits do not fit together.",
            hint="Use the file as the command wrote it.",
        )
    first = report.estimates[0]
    return Blind(
        n_members=report.design.n_members,
        n_holdout=report.design.n_holdout,
        confidence=report.design.confidence,
        lower=first.lower or 0.0,
        value=first.value or 0.0,
        upper=1.0 if most is None or most.upper is None else max(most.upper, first.lower or 0.0),
        attackers="any" if most is None else most.attackers,
        limits=everyone,
        inputs=report.provenance.contents,
        report_sha256=digest,
        shown_at=_shown_at(report),
    )


def _shown_at(report: ShiftReport) -> float | None:
    """Return the smallest one-sided error at which a difference is shown, if any is."""
    found = [] if report.shown_at is None else [report.shown_at]
    # A report that leaves it out still has the tests of its columns.
    return min([*found, *(one.adjusted / 2 for one in report.columns)], default=None)


def _sound(limits: Sequence[BlindLimit]) -> bool:
    """Tell whether limits, the largest error first, can be true together."""
    uppers, errors = [one.upper for one in limits], [one.error for one in limits]
    return uppers == sorted(uppers) and errors == sorted(errors, reverse=True)


def _stated(report: ShiftReport) -> bool:
    """Tell whether the limits fit those of the table, and what is shown fits both."""
    error = (1 - report.design.confidence) / 2
    least = report.estimates[0].lower or 0.0
    table = {one.attackers: one.upper for one in report.estimates}
    columns = min((one.adjusted / 2 for one in report.columns), default=1.0)
    learned = report.shown_at is not None and report.shown_at < min(columns, error)
    return (least > 0 or not learned) and all(
        one.upper >= least and _fits(one, table.get(one.attackers), least, error)
        for one in report.limits
    )


def _fits(limit: BlindLimit, stated: float | None, least: float, error: float) -> bool:
    """Tell whether a limit can be true beside the table's, which has an error of its own.

    One at a smaller error is at least as large.
    """
    near = _ROUNDING * error
    most = 1.0 if stated is None else max(stated, least)
    if limit.error > error + near:
        return limit.upper <= most + _ROUNDING
    if stated is None:
        return False  # none below 1 at this error, and so none at a smaller one
    at_least = limit.upper >= most - _ROUNDING
    return at_least and (limit.error < error - near or limit.upper <= most + _ROUNDING)


def _of_class(limits: Sequence[BlindLimit], attackers: Attackers) -> tuple[BlindLimit, ...]:
    return tuple(one for one in limits if one.attackers == attackers)


def require_same_records(
    blind: Blind, n_members: int, n_holdout: int, inputs: Sequence[InputFile]
) -> None:
    """Refuse what is known to be about other records.

    Raises:
        InputError: ``blind_other_records``: other class sizes, or a file of the same name
            with another content.
    """
    if (blind.n_members, blind.n_holdout) != (n_members, n_holdout):
        raise InputError(
            "blind_other_records",
            f"The report of shift is about {blind.n_members:,} members and {blind.n_holdout:,} "
            f"holdout records, the scores about {n_members:,} and {n_holdout:,}.",
            hint="Run mipaudit shift on the records that were scored, all of them and no others; "
            "with --id-col where the scores are audited with `unit_col`.",
        )
    contents = ((one.name, one.sha256 or one.fingerprint) for one in inputs)
    if changed := changed_file(blind.inputs, contents):
        raise InputError(
            "blind_other_records",
            f"{changed}: the report of shift was made from a file of that name with another "
            "content.",
            hint="Run mipaudit shift again on the file as it is. If the records are in another "
            "file of the same name, give both by paths that tell them apart.",
        )
