"""What a report on a shift between members and holdout remarks, and what it does not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.learner import MOST_WORDS
from mipaudit.model.message import Message
from mipaudit.statements.estimate import Estimate, Finding
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.commands.shift.record_copies import SharedRecords
    from mipaudit.commands.shift.report import ShiftDesign


_COLUMNS_TO_REPEAT: Final = 3  # in fewer, copies are common by chance


def shift_limitations(
    design: ShiftDesign, estimates: Sequence[Estimate], *, stated: bool
) -> tuple[Message, ...]:
    """Return what the numbers do not show; ``stated``: `strict` and a seed were asked for."""
    approximate = "shift_approximate_stated" if stated else "shift_approximate"
    limited = any(one.attackers == "any" and one.upper is not None for one in estimates)
    codes = (
        "shift_no_release",
        "shift_blind",
        "shift_upper" if limited else "shift_no_upper",
        "shift_passing",
        "shift_burn_in",
        "shift_tests",
        *(() if design.strict else (approximate,)),
        *(() if design.id_column is not None else ("shift_persons",)),
    )
    return tuple(map(Message, codes))


def copy_findings(copies: SharedRecords) -> Iterator[Finding]:
    """Yield what is said of records that are in both classes."""
    searched = copies.searched
    if searched < copies.holdout:
        yield Finding.of("copies_sampled", searched=searched, holdout=copies.holdout)
    if copies.exact:
        yield Finding.of(
            "exact_copies",
            case="of_members" if copies.exact_within is None else "of_both",
            count=copies.exact,
            searched=searched,
            within=copies.exact_within,
        )
    for count, code in (
        (copies.but_one, "near_copies"),
        (copies.rounded, "rounded_copies"),
        (copies.persons, "shared_persons"),
    ):
        if count:
            yield Finding.of(code, count=count, searched=searched)


def telling_findings(telling: Sequence[str], unknown: Sequence[str]) -> list[Finding]:
    """Return what is said of columns that tell all, and of those that few texts are known of.

    Args:
        telling: names of columns each of which tells nearly all records apart by itself.
        unknown: names of columns most of whose texts were not looked at.
    """
    found = []
    if telling:
        ignore = ",".join(map(safe_name, telling))
        found.append(Finding.of("telling_column", columns=_quoted(telling), ignore=ignore))
    if unknown:
        found.append(Finding.of("many_texts", columns=_quoted(unknown), words=MOST_WORDS))
    return found


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{safe_name(name)}'" for name in names)


def repeated_findings(copies: SharedRecords, design: ShiftDesign) -> list[Finding]:
    """Return what is said of records with a copy in their own class."""
    few = len(design.features) < _COLUMNS_TO_REPEAT
    if not copies.exact_within or few or design.id_column is not None:
        return []
    return [Finding.of("repeated_rows", count=copies.exact_within, searched=copies.searched)]


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
        skipped: (name, why) of columns that were not read, why as a code.
        dropped: rows of persons who have another row in the same class.
    """
    found = []
    if constant:
        found.append(Finding.of("constant_column", case="columns", columns=_quoted(constant)))
    if rounded:
        found.append(Finding.of("rounded_numbers", case="columns", columns=_quoted(rounded)))
    parted = [name for name, why in skipped if why == "numbers_apart"]
    if parted:
        found.append(Finding.of("parted_numbers", columns=_quoted(parted)))
    lone = [name for name, why in skipped if why == "in_one_table"]
    if lone:
        found.append(Finding.of("column_in_one_table", columns=_quoted(lone)))
    if dropped:
        found.append(Finding.of("rows_of_a_person", rows=dropped))
    return found
