"""A report of ``shift`` as an audit takes it, and whether it is of the same records."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from mipaudit.commands.shift.report import ShiftReport, widest
from mipaudit.errors import InputError, UsageError, bad_report
from mipaudit.evidence.judgement.blind import Blind
from mipaudit.options.values import path_of
from mipaudit.output.stored_report import foreign, read_report, report_bytes
from mipaudit.statements.provenance import InputFile, changed_file
from mipaudit.statements.rounding import lower_text, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.statements.choices import Against

_MAKE: Final = "Make one: `mipaudit shift MEMBERS HOLDOUT -f json -o shift.json`."


def read_blind(asked: EstimateOptions) -> Blind | None:
    """Return what a report of ``shift`` says of the records alone; None without one.

    Args:
        asked: the report, the attackers whose upper limit is shown, what the user asserts
            that the records alone tell at most, and whether limits must be strict.

    Raises:
        UsageError: it is a report of another command, no report, or has no such attackers;
            its limits are approximate and strict ones are asked for; it contradicts what is
            asserted; or its limit leaves nothing of the error.
        InputError: it cannot be read, or contradicts itself.
    """
    given = asked.blind
    if given is None:
        return None
    if isinstance(given, Blind):
        return _within(_asserted(given, asked.blind_bound), asked.confidence)
    digest = None
    if isinstance(path_of(given), str) or isinstance(given, (bytes, bytearray)):
        given = report_bytes(given)
        digest = sha256(given).hexdigest()
    report = _report(given)
    if not isinstance(report, ShiftReport):
        raise UsageError(
            "blind",
            f"`blind` takes a report of mipaudit shift, and this is one of {report.command}.",
            _MAKE,
        )
    if asked.strict and not report.design.strict:
        raise UsageError(
            "blind",
            "The report of shift was made without `strict`, or with a stated seed, so its limits "
            "are approximate.",
            "Run mipaudit shift with `strict` too, and without `seed`.",
        )
    with foreign(asked.blind):
        found = _asserted(_blind(report, digest, asked.blind_against), asked.blind_bound)
    return _within(found, asked.confidence)


def _within(blind: Blind, confidence: float) -> Blind:
    """Return it, unless its limit has an error that leaves nothing of the audit's."""
    if blind.bound is None and blind.everyone is not None and blind.confidence <= confidence:
        raise UsageError(
            "blind",
            f"The report of shift has a confidence of {blind.confidence:.10g}: its limit uses up "
            f"all the error of this audit (confidence {confidence:.10g}).",
            "Run: mipaudit shift MEMBERS HOLDOUT --confidence "
            f"{(1 + confidence) / 2:.10g} -f json -o shift.json",
        )
    return blind


def _asserted(blind: Blind, bound: float | None) -> Blind:
    """Return it with what the user asserts, unless the records contradict that."""
    if bound is not None and bound < blind.lower:
        raise UsageError(
            "blind_bound",
            f"The records alone reveal an advantage of at least {lower_text(blind.lower)}: this "
            f"contradicts your bound of {number_text(bound)}.",
            "Assert a larger bound, or train anew on members drawn at random.",
        )
    return replace(blind, bound=bound)


def _report(given: Any) -> Any:  # noqa: ANN401 - of any command
    """Read a report, with a hint that names the command whose report is wanted."""
    try:
        return read_report(given)
    except InputError as error:
        if error.code not in {"bad_report", "report_schema"}:
            raise
        raise InputError(error.code, f"`blind`: {error.message}", _MAKE) from None


def _blind(report: ShiftReport, digest: str | None, against: Against | None) -> Blind:
    # Where most texts of a column were not looked at, who knows them is in no class.
    first, *classes = report.estimates or (None,)
    unknown = any(one.code == "many_texts" for one in report.findings)
    named = () if unknown else [one for one in classes if one.upper is not None]
    most = widest(named)
    if against is not None:
        chosen = [one for one in named if one.attackers == against]
        if not chosen:
            have = ", ".join(one.attackers for one in named)
            raise UsageError(
                "blind_against",
                f"The report of shift has no upper limit for attackers '{against}'.",
                f"It has: {have}." if have else "It has none. Its findings say why.",
            )
        most = chosen[0]
    if first is None or report.impossible is not None or not _stated(report):
        raise bad_report("The report of shift contradicts itself: its limits do not fit together.")
    lower = first.lower or 0.0
    return Blind(
        n_members=report.design.n_members,
        n_holdout=report.design.n_holdout,
        confidence=report.design.confidence,
        lower=lower,
        value=first.value or 0.0,
        upper=1.0 if most is None or most.upper is None else max(most.upper, lower),
        attackers="any" if most is None else most.attackers,
        everyone=None if first.upper is None or first.upper >= 1 else first.upper,
        inputs=report.provenance.contents,
        report_sha256=digest,
        shown_at=_shown_at(report),
    )


def _shown_at(report: ShiftReport) -> float | None:
    """Return the smallest one-sided error at which a difference is shown, if any is."""
    found = [] if report.shown_at is None else [report.shown_at]
    # A report that leaves it out still has the tests of its columns.
    return min([*found, *(one.adjusted / 2 for one in report.columns)], default=None)


def _stated(report: ShiftReport) -> bool:
    """Tell whether the limits of the first row fit each other, and what is shown."""
    first = report.estimates[0]
    least = first.lower or 0.0
    columns = min((one.adjusted / 2 for one in report.columns), default=1.0)
    error = (1 - report.design.confidence) / 2
    learned = report.shown_at is not None and report.shown_at < min(columns, error)
    return (least > 0 or not learned) and (first.upper is None or first.upper >= least)


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
            f"The report of shift covers {blind.n_members:,} members and {blind.n_holdout:,} "
            f"holdout records, but the scores cover {n_members:,} and {n_holdout:,}.",
            "Run mipaudit shift on exactly the records that were scored, with --id-col if "
            "the scores are audited with `unit_col`.",
        )
    contents = ((one.name, one.sha256 or one.fingerprint) for one in inputs)
    if changed := changed_file(blind.inputs, contents):
        raise InputError(
            "blind_other_records",
            f"{changed}: the report of shift was made from another file of that name.",
            "Run mipaudit shift again on the file as it is. If the records are in another "
            "file of the same name, give paths that differ.",
        )
