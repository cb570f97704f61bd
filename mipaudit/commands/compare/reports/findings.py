"""What a reader must know of two reports that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.compare.reports.change import unmatched
from mipaudit.statements.estimate import Finding
from mipaudit.statements.origin import value_words
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.text.rounding import percent_text
from mipaudit.statements.verdict import BLUNTED, DIGITS_LOST, LEFT_OUT, ROWS_TAKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.compare.reports.figure import Pairing
    from mipaudit.commands.estimate.report import Report

# Settings that change what a score or an attacker is, or whose rows count.
_MEANING: Final = (
    *("where", "unit_column", "unit_rows", "rows_are", "nan", "discrete", "member_value"),
    "member_side",
)


def report_findings(
    names: Sequence[str], reports: Sequence[Report], old: int, pairs: Sequence[Pairing]
) -> Iterator[Finding]:
    """Yield how the reports differ in more than their numbers."""
    for name, report in zip(names, reports, strict=True):
        for one in report.findings:
            if one.code in {BLUNTED, DIGITS_LOST, LEFT_OUT, ROWS_TAKEN}:
                yield Finding(code=one.code, text=f"{quoted_name(name)}: {one.text}")
    for number, report in enumerate(reports):
        if number != old:
            yield from _between(names[old], reports[old], names[number], report)
    for pair in pairs:
        yield from _of_score(pair)


def _between(old_name: str, old: Report, name: str, new: Report) -> Iterator[Finding]:
    both = f"{quoted_name(old_name)} and {quoted_name(name)}"
    if old.design.confidence != new.design.confidence:
        yield Finding(
            code="confidence_differs",
            text=f"The limits of {both} hold with different confidence, "
            f"{percent_text(old.design.confidence)} and {percent_text(new.design.confidence)}.",
        )
    if _differs(old, new, "strict"):
        yield Finding(
            code="strict_differs",
            text=f"Of {both}, one was made with --strict and the other without: the limits of one "
            "are wider than need be.",
        )
    differing = [one for one in _MEANING if _differs(old, new, one)]
    if differing:
        yield Finding(
            code="settings_differ",
            text=f"{both} were made with different settings: {', '.join(differing)}. The scores "
            "may be of different records, or mean something else.",
        )
    if old.provenance.mipaudit != new.provenance.mipaudit:
        yield Finding(
            code="versions_differ",
            text=f"{both} were made by different versions of mipaudit, "
            f"{safe_name(old.provenance.mipaudit)} and {safe_name(new.provenance.mipaudit)}.",
        )
    if _hashes(old) & _hashes(new):
        yield Finding(
            code="same_input",
            text=f"{both} were made from the same input file, or share one.",
        )


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
    if all(sides) and sides[0] != sides[1]:
        yield Finding(
            code="side_differs",
            text=f"Score {quoted_name(pair.score)}: members are guessed at the high end in one of "
            f"{quoted_name(pair.versus)} and {quoted_name(pair.report)}, at the low end in the "
            "other. AUC and TPR at FPR are those of different guesses.",
        )
    alone = unmatched(pair)
    if alone:
        yield Finding(
            code="unmatched_figures",
            text=f"Score {quoted_name(pair.score)}: {alone} figures are in only one of "
            f"{quoted_name(pair.versus)} and {quoted_name(pair.report)}, and are not compared.",
        )
