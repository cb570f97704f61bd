"""Reports that can be compared, and how they differ in more than their numbers."""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from mipaudit.commands.compare.options import NamedInput
from mipaudit.commands.compare.reports.report import Pairing, unmatched
from mipaudit.commands.estimate.report import Report
from mipaudit.errors import InputError, MipauditError
from mipaudit.reading.report_file import report_bytes
from mipaudit.report.codec import from_json
from mipaudit.statements.copies import with_copies
from mipaudit.statements.estimate import Finding
from mipaudit.statements.origin import value_words
from mipaudit.statements.policy import limits_copies
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import COPIES, WEIGHED

_DIGITS: Final = 12
# What makes other scores of the same files.
_TAKEN: Final = (
    *("where", "member_column", "member_value", "nan", "unit_column", "unit_rows", "rows_are"),
    "discrete",
)
# Settings that change what a score or an attacker is, or whose rows count.
_MEANING: Final = (
    *("where", "unit_column", "unit_rows", "rows_are", "nan", "discrete", "member_value"),
    "member_side",
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


def report_findings(
    names: Sequence[str], reports: Sequence[Report], old: int, pairs: Sequence[Pairing]
) -> Iterator[Finding]:
    """Yield how the reports differ in more than their numbers."""
    for number, (name, report) in enumerate(zip(names, reports, strict=True)):
        # Copies that are accepted, or were in the old release, are no matter of the new one.
        apart = {COPIES} if number == old or limits_copies(report.policy) else set()
        for one in with_copies(report.findings, report.copies, None):
            if one.code in WEIGHED - apart:
                yield one.with_values(one.code, where=quoted_name(name))
    for number, report in enumerate(reports):
        if number != old:
            yield from _between(names[old], reports[old], names[number], report)
    for pair in pairs:
        yield from _of_score(pair)


def _between(old_name: str, old: Report, name: str, new: Report) -> Iterator[Finding]:
    both = {"old": old_name, "new": name}
    if old.design.confidence != new.design.confidence:
        yield Finding.of(
            "confidence_differs",
            **both,
            old_confidence=old.design.confidence,
            new_confidence=new.design.confidence,
        )
    if _differs(old, new, "strict"):
        yield Finding.of("strict_differs", **both)
    differing = [one for one in _MEANING if _differs(old, new, one)]
    if differing:
        yield Finding.of("settings_differ", **both, settings=", ".join(differing))
    if old.provenance.mipaudit != new.provenance.mipaudit:
        yield Finding.of(
            "versions_differ",
            **both,
            old_version=old.provenance.mipaudit,
            new_version=new.provenance.mipaudit,
        )
    if _hashes(old) & _hashes(new):
        yield Finding.of("same_input", **both)


def _differs(old: Report, new: Report, name: str) -> bool:
    """Whether a setting differs; a report older than the setting does not have it."""
    values = {_given(old, name), _given(new, name)}
    return len(values - {None}) > 1


def _given(report: Report, name: str) -> str | None:
    given = [one.value for one in report.provenance.settings if one.name == name]
    return value_words(given[0]) if given else None


def _hashes(report: Report) -> set[str]:
    contents = {one.sha256 or one.fingerprint for one in report.provenance.inputs}
    return {one for one in contents if one is not None}


def _of_score(pair: Pairing) -> Iterator[Finding]:
    sides = [{row.side for row in rows if row.side is not None} for rows in (pair.old, pair.new)]
    of = {"score": pair.score, "old": pair.versus, "new": pair.report}
    if all(sides) and sides[0] != sides[1]:
        yield Finding.of("side_differs", **of)
    alone = unmatched(pair)
    if alone:
        yield Finding.of("unmatched_figures", **of, figures=alone)
