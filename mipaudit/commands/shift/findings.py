"""What a report on a shift between members and holdout remarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.differences.encoding import MOST_WORDS
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.shift.differences.record_copies import SharedRecords
    from mipaudit.commands.shift.report import ShiftDesign

_COLUMNS_TO_REPEAT: Final = 3  # in fewer, copies are common by chance


def copy_findings(copies: SharedRecords) -> list[Finding]:
    """Return what is said of records that are in both classes."""
    found = []
    searched = count_text(copies.searched)
    if copies.searched < copies.holdout:
        text = (
            f"SharedRecords were looked for of {searched} of {count_text(copies.holdout)} holdout "
            "records, a random sample."
        )
        found.append(Finding(code="copies_sampled", text=text))
    if copies.exact:
        within = ""
        if copies.exact_within is not None:
            within = (
                f" For comparison, {count_text(copies.exact_within)} have another copy in the "
                "holdout itself."
            )
        text = (
            f"{count_text(copies.exact)} of {searched} holdout records have an exact copy among "
            f"the members.{within} Where that is one and the same record, it is in both classes "
            "and hides a leak."
        )
        found.append(Finding(code="exact_copies", text=text))
    if copies.but_one:
        text = (
            f"{count_text(copies.but_one)} of {searched} holdout records have a copy among the "
            "members that differs in one column only."
        )
        found.append(Finding(code="near_copies", text=text))
    if copies.rounded:
        text = (
            f"{count_text(copies.rounded)} of {searched} holdout records have a copy among the "
            "members once numbers are rounded to 3 digits."
        )
        found.append(Finding(code="rounded_copies", text=text))
    if copies.persons:
        text = (
            f"{count_text(copies.persons)} of {searched} holdout records are of a person who is "
            "among the members too: the model may know the person."
        )
        found.append(Finding(code="shared_persons", text=text))
    return found


def telling_findings(telling: Sequence[str], unknown: Sequence[str]) -> list[Finding]:
    """Return what is said of columns that tell all, and of those that few texts are known of.

    Args:
        telling: names of columns each of which tells nearly all records apart by itself.
        unknown: names of columns most of whose texts were not looked at.
    """
    found = []
    if telling:
        text = (
            f"{_quoted(telling)}: one column alone tells nearly all members from holdout records. "
            "If it names or dates the record (an id, a row number, the day of an export), it says "
            f"nothing of a person: leave it out with --ignore {','.join(map(safe_name, telling))} "
            "and run again. If it does say something, members and holdout are different people, "
            "and no audit on them can tell what a model leaks."
        )
        found.append(Finding(code="telling_column", text=text))
    if unknown:
        text = (
            f"{_quoted(unknown)}: most records have a text that was not looked at by itself; what "
            f"was learned knows the {MOST_WORDS} most frequent ones, and how frequent a text is. "
            "Who knows more of these texts may tell all records apart: --max-blind cannot be met, "
            "and estimate --blind holds nothing against the model. Group them (regions for "
            "postcodes), or leave them out with --ignore where they cannot differ, and run again."
        )
        found.append(Finding(code="many_texts", text=text))
    return found


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{safe_name(name)}'" for name in names)


def repeated_findings(copies: SharedRecords, design: ShiftDesign) -> list[Finding]:
    """Return what is said of records with a copy in their own class."""
    few = len(design.features) < _COLUMNS_TO_REPEAT
    if not copies.exact_within or few or design.id_column is not None:
        return []
    text = (
        f"{count_text(copies.exact_within)} of {count_text(copies.searched)} holdout records have "
        "another copy in the holdout. Where these are rows of one person, rows are not "
        "independent and the lower limit can be too high: give --id-col."
    )
    return [Finding(code="repeated_rows", text=text)]


def column_findings(
    constant: Sequence[str],
    rounded: Sequence[str],
    skipped: Sequence[tuple[str, str]],
    dropped: int,
) -> list[Finding]:
    """Return what is said of columns and rows that were changed or left out.

    Args:
        constant: names of columns that are the same in all rows.
        rounded: names of columns that some files store more coarsely than others.
        skipped: (name, why) of columns that were not read.
        dropped: rows of persons who have another row in the same class.
    """
    found = []
    if constant:
        text = f"The same in all rows, and so left out: {_quoted(constant)}."
        found.append(Finding(code="constant_column", text=text))
    if rounded:
        text = (
            f"Stored with fewer digits in some files than in others: {_quoted(rounded)}. All were "
            "rounded alike, or the storage would tell records apart."
        )
        found.append(Finding(code="rounded_numbers", text=text))
    parted = [name for name, why in skipped if why.startswith("another number")]
    if parted:
        text = (
            f"{_quoted(parted)}: record numbers without a gap, those of members all on one side of "
            "those of the holdout. They were not compared; whoever knows a record's number knows "
            "its class, and members and holdout may be an older and a newer part of the records."
        )
        found.append(Finding(code="parted_numbers", text=text))
    lone = [name for name, why in skipped if why.startswith("in one")]
    if lone:
        text = f"In one of the two tables only, and so not compared: {_quoted(lone)}."
        found.append(Finding(code="column_in_one_table", text=text))
    if dropped:
        text = (
            f"{count_text(dropped)} rows are of a person with another row in the same class: one "
            "row for each person and class is kept."
        )
        found.append(Finding(code="rows_of_a_person", text=text))
    return found
