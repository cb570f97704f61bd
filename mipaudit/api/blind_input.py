"""A report of ``shift`` as an audit takes it, and whether it is of the same records."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from mipaudit.api.checking import path_of
from mipaudit.api.report_file import read_report, report_bytes
from mipaudit.audit.blind import Blind
from mipaudit.errors import InputError, UsageError
from mipaudit.report.shift import SHIFT_SCHEMA, ShiftReport
from mipaudit.report.shift_words import widest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.audit.blind import BlindLimit
    from mipaudit.audit.estimate import Against
    from mipaudit.report.origin import InputFile

_ROUNDING: Final = 1e-9
_MAKE: Final = "Make it with `mipaudit shift MEMBERS HOLDOUT -f json -o shift.json`."


def blind_name(given: Any) -> str | None:  # noqa: ANN401 - a path, bytes, or a report
    """Return what the settings call the report: its path, or that it was in memory."""
    if given is None:
        return None
    path = path_of(given)
    return path if isinstance(path, str) else "a report in memory"


def read_blind(
    given: Any,  # noqa: ANN401 - a path, bytes, a report, or what one says
    against: Against | None = None,
    *,
    strict: bool = False,
) -> Blind:
    """Return what a report of ``shift`` says of the records alone.

    Args:
        given: the report.
        against: the attackers whose upper limit is taken off; None for the widest.
        strict: whether limits that hold at every sample size are asked for.

    Raises:
        UsageError: it is a report of another command, no report, or has no such attackers;
            or its limits are approximate and strict ones are asked for.
        InputError: it cannot be read, or contradicts itself.
    """
    if isinstance(given, Blind):
        return given
    digest = None
    if isinstance(path_of(given), str) or isinstance(given, (bytes, bytearray)):
        given = report_bytes(given)
        digest = sha256(given).hexdigest()
    report = _report(given)
    if not isinstance(report, ShiftReport):
        raise UsageError(
            "blind",
            f"A report of {report.command} says nothing of the records alone.",
            hint=f"Give one of mipaudit shift ({SHIFT_SCHEMA}).",
        )
    if strict and not report.design.strict:
        raise UsageError(
            "blind",
            "The report of shift was made without --strict: its limits are approximate.",
            hint="Run mipaudit shift with --strict, too.",
        )
    return _blind(report, digest, against)


def _report(given: Any) -> Any:  # noqa: ANN401 - of any command
    """Read a report, with a hint that names the command whose report is wanted."""
    try:
        return read_report(given)
    except InputError as error:
        if error.code not in {"bad_report", "report_schema"}:
            raise
        raise InputError(error.code, f"--blind: {error.message}", hint=_MAKE) from None


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
    own = _largest(report.limits) if against is None else _of_class(report.limits, against)
    if not report.estimates or not _sound(own) or not _stated(report):
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
        limits=own,
        inputs=tuple((one.name, one.sha256 or one.fingerprint) for one in report.provenance.inputs),
        report_sha256=digest,
    )


def _sound(limits: Sequence[BlindLimit]) -> bool:
    """Tell whether limits, the largest error first, can be true together."""
    uppers, errors = [one.upper for one in limits], [one.error for one in limits]
    return (
        all(0 <= one <= 1 for one in uppers)
        and all(one > 0 for one in errors)
        and uppers == sorted(uppers)
        and errors == sorted(errors, reverse=True)
    )


def _stated(report: ShiftReport) -> bool:
    """Tell whether the limits are those of the table, at the error of the table's."""
    error = (1 - report.design.confidence) / 2
    least = report.estimates[0].lower or 0.0
    table = {one.attackers: one.upper for one in report.estimates}
    return all(
        abs(one.upper - max(table.get(one.attackers) or 0.0, least)) <= _ROUNDING
        if abs(one.error - error) <= _ROUNDING * error
        else one.upper >= least
        for one in report.limits
    )


def _of_class(limits: Sequence[BlindLimit], attackers: Against) -> tuple[BlindLimit, ...]:
    return tuple(one for one in limits if one.attackers == attackers)


def _largest(limits: Sequence[BlindLimit]) -> tuple[BlindLimit, ...]:
    """Return the largest limit of any class at each error.

    The class that is widest at one error, chosen by the data, need not be so at another:
    its limit alone would not keep to the other error.
    """
    errors = dict.fromkeys(one.error for one in limits)
    return tuple(
        max((one for one in limits if one.error == error), key=lambda one: one.upper)
        for error in errors
    )


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
            "with --id-col where the scores are audited with --unit-col.",
        )
    known: dict[str, set[str]] = {}
    for name, content in blind.inputs:
        if content is not None:
            known.setdefault(name, set()).add(content)
    for one in inputs:
        content = one.sha256 or one.fingerprint
        if content is not None and content not in known.get(one.name, {content}):
            raise InputError(
                "blind_other_records",
                f"{one.name}: the report of shift was made from a file of that name with another "
                "content.",
                hint="Run mipaudit shift again on the file as it is. If the records are in another "
                "file of the same name, give both by paths that tell them apart.",
            )
