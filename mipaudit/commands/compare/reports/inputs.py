"""Reports that can be compared, and how they differ in more than their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, cast

from mipaudit.errors import InputError, MipauditError
from mipaudit.reading.report_file import report_bytes
from mipaudit.report.codec import from_json
from mipaudit.statements.copies import with_copies
from mipaudit.statements.estimate import Finding
from mipaudit.statements.origin import value_words
from mipaudit.statements.policy import limits_copies
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import COPIES, WEIGHED

if TYPE_CHECKING:
    from mipaudit.commands.compare.options import NamedInput
    from mipaudit.commands.compare.reports.changes import Figures
    from mipaudit.commands.compare.reports.report import MatchedScore
    from mipaudit.commands.estimate.report import Report

_DIGITS: Final = 12
# Settings that change what a score or an attacker is, or whose rows count. Of the same files they
# make other scores.
_TAKEN: Final = (
    *("where", "unit_column", "unit_rows", "rows_are", "nan", "discrete", "member_value"),
)


def opened(given: NamedInput) -> tuple[Report, bytes]:
    """Return a report, which is one of ``estimate``, and its JSON.

    Raises:
        InputError: it cannot be read, is of another command, or contradicts itself.
    """
    name = quoted_name(given.name)
    if isinstance(given.data, str) and given.data.lower().endswith(".gz"):
        raise InputError(
            "compressed_report",
            f"The report {name} is compressed, and is not read.",
            hint="Unpack it first: gunzip report.json.gz.",
        )
    try:
        data = report_bytes(given.data)
        report = from_json(data)
    except MipauditError as error:
        text = f"Report {name}: {error.message}"
        raise type(error)(error.code, text, hint=error.hint) from None
    if report.command != "estimate":
        raise InputError(
            "report_schema",
            f"The report {name} is of `mipaudit {safe_name(report.command)}`, and "
            "only reports of `mipaudit estimate` can be compared.",
            hint="Make both with `mipaudit estimate SCORES -f json -o FILE`.",
        )
    found = cast("Report", report)
    design = found.design
    sound = 0 < design.prior < 1 and 0 < design.confidence < 1
    if not sound or abs(design.baseline - abs(2 * design.prior - 1)) > 10**-_DIGITS:
        raise InputError(
            "bad_report",
            f"The report {name} contradicts itself: its prior, baseline or confidence cannot be.",
            hint="Make it again with `mipaudit estimate SCORES -f json`.",
        )
    return found, data


def joint_confidence(reports: Mapping[str, Report]) -> float:
    """Return 1 less the errors of all reports: the confidence that none of them is wrong.

    Raises:
        InputError: that is nothing.
    """
    joint = round(1 - sum(1 - one.design.confidence for one in reports.values()), _DIGITS)
    if joint <= 0:
        raise InputError(
            "no_confidence",
            "The errors of the reports add up to 100%: nothing is left to be sure of.",
            hint="Make them with a higher `confidence`, or compare fewer at a time.",
        )
    return joint


def require_alike(reports: Mapping[str, Report], old: str, *, judged: bool) -> None:
    """Refuse reports at different priors, and to judge one that is of the very scores of the old.

    Of the same scores nothing can have grown, so every limit would be kept: most likely the
    scores were not made anew.

    Args:
        reports: by name.
        old: the name of the one that the others are compared with.
        judged: whether there is a limit on the increase.

    Raises:
        InputError: ``different_priors``; ``same_scores``: of the same files, read alike.
    """
    first, prior = next((name, one.design.prior) for name, one in reports.items())
    before = _read(reports[old])
    for name, other in reports.items():
        if other.design.prior != prior:
            raise InputError(
                "different_priors",
                f"The reports {quoted_name(first)} and {quoted_name(name)} cannot be compared: "
                f"one is at prior {prior:g}, the other at prior {other.design.prior:g}.",
                hint="Make both with the same `prior`.",
            )
        if judged and name != old and before is not None and _read(other) == before:
            raise InputError(
                "same_scores",
                f"The reports {quoted_name(old)} and {quoted_name(name)} are of the same scores: a "
                "limit on the increase says nothing about them.",
                hint="Make the new report on the scores of the new release.",
            )


def _read(report: Report) -> tuple[object, ...] | None:
    """Return what was read and how; None where it cannot be told."""
    contents = tuple(content for _, content in report.provenance.contents)
    if not contents or None in contents:
        return None
    return contents, *(_given(report, name) for name in (*_TAKEN, "member_column"))


def report_findings(reports: Mapping[str, Report], old: str) -> Iterator[Finding]:
    """Yield how the reports differ in more than their numbers."""
    for name, report in reports.items():
        # Copies that are accepted, or were in the old release, are no matter of the new one.
        apart = {COPIES} if name == old or limits_copies(report.policy) else set()
        for one in with_copies(report.findings, report.copies, None):
            if one.code in WEIGHED - apart:
                yield one.with_values(one.code, where=quoted_name(name))
    for name, report in reports.items():
        if name != old:
            yield from _between(old, reports[old], name, report)


def _between(old_name: str, old: Report, name: str, new: Report) -> Iterator[Finding]:
    both = {"old": old_name, "new": name}
    sure = {"old_confidence": old.design.confidence, "new_confidence": new.design.confidence}
    if len({*sure.values()}) > 1:
        yield Finding.of("confidence_differs", **both, **sure)
    if _differs(old, new, "strict"):
        yield Finding.of("strict_differs", **both)
    differing = [one for one in (*_TAKEN, "member_side") if _differs(old, new, one)]
    if differing:
        yield Finding.of("settings_differ", **both, settings=", ".join(differing))
    made = {"old_version": old.provenance.mipaudit, "new_version": new.provenance.mipaudit}
    if len({*made.values()}) > 1:
        yield Finding.of("versions_differ", **both, **made)
    read, again = ({one for _, one in each.provenance.contents if one} for each in (old, new))
    if read & again:
        yield Finding.of("same_input", **both)


def _differs(old: Report, new: Report, name: str) -> bool:
    """Whether a setting differs; a report older than the setting does not have it."""
    return len({_given(old, name), _given(new, name)} - {None}) > 1


def _given(report: Report, name: str) -> str | None:
    given = (one.value for one in report.provenance.settings if one.name == name)
    return next(map(value_words, given), None)


def score_findings(of: MatchedScore, old: Figures, new: Figures) -> Iterator[Finding]:
    """Yield how the figures of a score differ in more than their numbers."""
    named = {"score": of.score, "old": of.versus, "new": of.report}
    before, after = (
        {row.side for row in rows.values() if row.side is not None} for rows in (old, new)
    )
    if before and after and before != after:
        yield Finding.of("side_differs", **named)
    alone = len(old.keys() ^ new.keys())
    if alone:
        yield Finding.of("unmatched_figures", **named, figures=alone)
