"""Reports that can be compared: read, decoded, and of one prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from mipaudit.errors import InputError, MipauditError
from mipaudit.reading.report_file import report_bytes
from mipaudit.statements.origin import value_words
from mipaudit.statements.reports.codec import from_json
from mipaudit.statements.text.printable_names import quoted_name, safe_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.compare.inputs import NamedInput
    from mipaudit.commands.estimate.report import Report

_DIGITS: Final = 12
# What makes other scores of the same files.
_TAKEN: Final = (
    *("where", "member_column", "member_value", "nan", "unit_column", "unit_rows", "rows_are"),
    "discrete",
)


def encoded(given: NamedInput) -> bytes:
    """Return the JSON of a report.

    Raises:
        InputError: it cannot be read.
    """
    if isinstance(given.data, str) and given.data.lower().endswith(".gz"):
        raise InputError(
            "compressed_report",
            f"The report {quoted_name(given.name)} is compressed, and is not read.",
            hint="Unpack it first: gunzip report.json.gz.",
        )
    try:
        return report_bytes(given.data)
    except MipauditError as error:
        raise _about(given.name, error) from None


def decoded(name: str, data: bytes) -> Report:
    """Return the report, which is one of ``estimate``.

    Raises:
        InputError: it is not.
    """
    try:
        report = from_json(data)
    except MipauditError as error:
        raise _about(name, error) from None
    if report.command != "estimate":
        raise InputError(
            "report_schema",
            f"The report {quoted_name(name)} is of `mipaudit {safe_name(report.command)}`, and "
            "only reports of `mipaudit estimate` can be compared.",
            hint="Make both with `mipaudit estimate SCORES -f json -o FILE`.",
        )
    found = cast("Report", report)
    design = found.design
    sound = 0 < design.prior < 1 and 0 < design.confidence < 1
    if not sound or abs(design.baseline - abs(2 * design.prior - 1)) > 10**-_DIGITS:
        raise InputError(
            "bad_report",
            f"The report {quoted_name(name)} contradicts itself: its prior, baseline or "
            "confidence cannot be.",
            hint="Make it again with `mipaudit estimate SCORES -f json`.",
        )
    return found


def _about(name: str, error: MipauditError) -> MipauditError:
    """Return an error that says which of the reports it is about."""
    return type(error)(error.code, f"Report {quoted_name(name)}: {error.message}", hint=error.hint)


def joint_confidence(reports: Sequence[Report]) -> float:
    """Return 1 less the errors of all reports: the confidence that none of them is wrong.

    Raises:
        InputError: that is nothing.
    """
    joint = round(1 - sum(1 - one.design.confidence for one in reports), _DIGITS)
    if joint <= 0:
        raise InputError(
            "no_confidence",
            "The errors of the reports add up to 100%: nothing is left to be sure of.",
            hint="Make them with a higher `confidence`, or compare fewer at a time.",
        )
    return joint


def common_prior(names: Sequence[str], reports: Sequence[Report]) -> float:
    """Return the prior of all reports.

    Raises:
        InputError: two have different ones.
    """
    first = reports[0].design.prior
    for name, report in zip(names, reports, strict=True):
        if report.design.prior != first:
            raise InputError(
                "different_priors",
                f"The reports {quoted_name(names[0])} and {quoted_name(name)} cannot be compared: "
                f"one is at prior {first:g}, the other at prior {report.design.prior:g}.",
                hint="Make both with the same `prior`.",
            )
    return first


def require_other_scores(names: Sequence[str], reports: Sequence[Report], old: int) -> None:
    """Refuse to judge a new report that is of the very scores of the old one.

    Nothing can have grown, so every limit would be kept: most likely the scores were not
    made anew.

    Raises:
        InputError: two reports are of the same files, read alike.
    """
    before = _read(reports[old])
    for number, report in enumerate(reports):
        if number != old and before is not None and _read(report) == before:
            raise InputError(
                "same_scores",
                f"The reports {quoted_name(names[old])} and {quoted_name(names[number])} are of "
                "the same scores: a limit on the increase says nothing about them.",
                hint="Make the new report on the scores of the new release.",
            )


def _read(report: Report) -> tuple[object, ...] | None:
    """Return what was read and how; None where it cannot be told."""
    contents = [one.sha256 or one.fingerprint for one in report.provenance.inputs]
    if not contents or None in contents:
        return None
    settings = [one for one in report.provenance.settings if one.name in _TAKEN]
    return tuple(contents), tuple(sorted((one.name, value_words(one.value)) for one in settings))
