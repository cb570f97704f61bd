"""The reports that an annex is made of, and whether each is of the same release as the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.errors import UsageError
from mipaudit.formats.exchange.stored import printable
from mipaudit.statements.origin import changed_file
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.formats.exchange.annex_points import Source
    from mipaudit.formats.exchange.stored import Stored
    from mipaudit.statements.origin import Provenance

_MAIN: Final = "the report"
_UNRELATED: Final = "it read no file that the report read, and they do not declare the same release"
# Others may be of a part of the records, such as those whose attribute is known.
_OF_ALL_RECORDS: Final = {"estimate", "shift"}


class Beside(NamedTuple):
    """A report that an annex is made of.

    Attributes:
        stored: the report, and the digest of its file.
        relation: to the report that the annex is of, in words.
        other: what it is of, where it is not known to be of the same release, in two words.
    """

    stored: Stored
    relation: str
    other: str = ""


def reports_of(source: Source, stored: Stored, others: Sequence[Stored]) -> Iterator[Beside]:
    """Yield the reports with what they have to do with the first of them.

    Raises:
        UsageError: ``others``: two reports of one kind, one of a kind that no point asks for, or
            of another release than is declared.
    """
    asked = {one.command for point in source.points for one in point.shows}
    taken: set[str] = set()
    for one in (stored, *others):
        command = one.report.command
        if command not in asked or command in taken:
            what = "No point of it asks for" if command not in asked else "There are two reports of"
            raise UsageError(
                "others",
                f"{what} {command} ({one.file.name}).",
                hint=f"{source.name} takes one report each of {', '.join(sorted(asked))}.",
            )
        taken.add(command)
        yield Beside(one, _MAIN) if one is stored else _beside(stored, one)


def _beside(stored: Stored, other: Stored) -> Beside:
    mine, theirs = stored.report.provenance, other.report.provenance
    releases = [one.declared.release if one.declared else None for one in (mine, theirs)]
    if None not in releases and releases[0] != releases[1]:
        raise UsageError(
            "others",
            f"{other.file.name} is declared to be of another release than {stored.file.name}.",
            hint="Leave it out, or make it of the release that this annex is about.",
        )
    if not theirs.inputs:
        return Beside(other, "computed from what was stated: no file was read")
    # Before what is declared: nobody checked that.
    if differing := _differing(stored, other):
        return Beside(other, differing, "OTHER RECORDS")
    if _read(mine) & _read(theirs):
        return Beside(other, "read the same file")
    if None in releases:
        return Beside(other, _UNRELATED, "OTHER FILES")
    return Beside(other, "of the same release, as declared")


def _differing(stored: Stored, other: Stored) -> str:
    """Return why two reports cannot be of the same records; empty where they can be.

    As ``estimate`` looks at a report of ``shift`` before it takes it.
    """
    both = (stored.report, other.report)
    if {one.command for one in both} != _OF_ALL_RECORDS:
        return ""
    mine, theirs = map(_sizes, both)
    if mine != theirs:
        return f"it is about {theirs}, and {stored.file.name} about {mine}"
    changed = changed_file(*(one.provenance.contents for one in both))
    if changed is None:
        return ""
    return f"it read another {printable(changed)} than {stored.file.name} did"


def _sizes(report: Any) -> str:  # noqa: ANN401 - of any kind
    members, holdout = report.design.n_members, report.design.n_holdout
    return f"{count_text(members)} members and {count_text(holdout)} holdout records"


def _read(one: Provenance) -> set[str]:
    return {content for _, content in one.contents if content}
