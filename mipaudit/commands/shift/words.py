"""What a report on a shift between members and holdout remarks, and what it does not say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.learner import MOST_WORDS
from mipaudit.model.message import Finding, Message
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.commands.shift.record_copies import SharedRecords
    from mipaudit.commands.shift.report import ShiftDesign
    from mipaudit.model.row import Row


_COLUMNS_TO_REPEAT: Final = 3  # in fewer, copies are common by chance


def shift_limitations(
    design: ShiftDesign, estimates: Sequence[Row], *, stated: bool
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


def column_findings(design: ShiftDesign, rounded: Iterable[str], dropped: int) -> Iterator[Finding]:
    """Yield what is said of columns and rows that were changed or left out.

    Args:
        design: with the columns that were not compared.
        rounded: names of columns that some files store more coarsely than others.
        dropped: rows of persons who have another row in the same class.
    """

    def skipped(code: str) -> str:
        return _quoted(one.column for one in design.skipped if one.why.code == code)

    for code, case, columns in (
        ("constant_column", "columns", skipped("same_in_all_rows")),
        ("rounded_numbers", "columns", _quoted(rounded)),
        ("parted_numbers", None, skipped("numbers_apart")),
        ("column_in_one_table", None, skipped("in_one_table")),
    ):
        if columns:
            yield Finding.of(code, case=case, columns=columns)
    if dropped:
        yield Finding.of("rows_of_a_person", rows=dropped)


def telling_findings(telling: Sequence[str], unknown: Sequence[str]) -> Iterator[Finding]:
    """Yield what is said of columns that tell all, and of those that few texts are known of.

    Args:
        telling: names of columns each of which tells nearly all records apart by itself.
        unknown: names of columns most of whose texts were not looked at.
    """
    if telling:
        ignore = ",".join(map(safe_name, telling))
        yield Finding.of("telling_column", columns=_quoted(telling), ignore=ignore)
    if unknown:
        yield Finding.of("many_texts", columns=_quoted(unknown), words=MOST_WORDS)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{safe_name(name)}'" for name in names)


def copy_findings(copies: SharedRecords, design: ShiftDesign) -> Iterator[Finding]:
    """Yield what is said of records that are in both classes, or twice in their own."""
    searched, within = copies.searched, copies.exact_within
    if searched < copies.holdout:
        yield Finding.of("copies_sampled", searched=searched, holdout=copies.holdout)
    if copies.exact:
        case = "of_members" if within is None else "of_both"
        yield Finding.of(
            "exact_copies", case=case, count=copies.exact, searched=searched, within=within
        )
    repeated = within if len(design.features) >= _COLUMNS_TO_REPEAT else None
    for count, code in (
        (copies.but_one, "near_copies"),
        (copies.rounded, "rounded_copies"),
        (copies.persons, "shared_persons"),
        (repeated if design.id_column is None else None, "repeated_rows"),
    ):
        if count:
            yield Finding.of(code, count=count, searched=searched)
