"""Which groups of records are told apart, by their sizes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError, UsageError
from mipaudit.statements.estimate import Finding
from mipaudit.summaries.group_tally import Grouping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.commands.records.options import RecordTableOptions
    from mipaudit.reading.source.source import PiecePartition
    from mipaudit.summaries.group_tally import GroupTally
    from mipaudit.summaries.tally import ColumnCounts

MOST_KEPT: Final = 64
_OTHER: Final = "other"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupCounts:
    """The groups that are told apart.

    Attributes:
        names: ``column=value``; ``other`` last, if small groups are taken together.
        sizes: (members, holdout) of each.
        counts: of each, in the same cells.
        seed: in use for them.
        findings: what became of small groups.
    """

    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    counts: tuple[ColumnCounts, ...]
    seed: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenGroups:
    """The groups that are told apart, before they are counted."""

    grouping: Grouping
    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]

    def counted(self, tally: GroupTally, seed: int) -> GroupCounts:
        """Return them with their counts, which were made with this seed."""
        return GroupCounts(
            names=self.names,
            sizes=self.sizes,
            counts=tally.counts(),
            seed=seed,
            findings=self.findings,
        )


def words_of(partition: PiecePartition) -> tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]]:
    """Return the columns that make groups, and the words of every group that was read."""
    groups = partition.assembly.groups
    assert groups is not None  # noqa: S101 - the caller asked
    return groups.columns, groups.found


def choose_groups(
    sizes: Mapping[int, tuple[int, int]],
    words: tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]],
    asked: RecordTableOptions,
) -> ChosenGroups:
    """Decide by the class sizes alone which groups are told apart.

    Raises:
        InputError: ``small_groups`` or ``no_group``.
        UsageError: ``too_many_groups``.
    """
    small = [group for group, pair in sizes.items() if min(pair) < asked.min_cell]
    if small and asked.small_groups == "refuse":
        raise InputError(
            "small_groups",
            f"{len(small)} of {len(sizes)} groups have fewer than {asked.min_cell} members "
            "or holdout records.",
            hint="Take them together with `small_groups` merge, or name fewer columns.",
        )
    kept = sorted(set(sizes) - set(small))
    if len(kept) > MOST_KEPT:
        raise UsageError(
            "too_many_groups",
            f"`by` makes {len(kept)} groups; at most {MOST_KEPT} are told apart.",
            hint="Name fewer columns.",
        )
    members, holdout = (sum(sizes[group][side] for group in small) for side in (0, 1))
    together = bool(small) and min(members, holdout) >= asked.min_cell
    if not kept:
        raise InputError(
            "no_group",
            f"No group has {asked.min_cell} members and as many holdout records.",
            hint="Name fewer columns, or lower `min_cell`.",
        )
    columns, found = words
    names = [
        ", ".join(f"{c}={word}" for c, word in zip(columns, found[group], strict=True))
        for group in kept
    ]
    return ChosenGroups(
        grouping=Grouping(
            kept=np.array(kept, dtype=np.uint64),
            merged=np.array(sorted(small) if together else [], dtype=np.uint64),
        ),
        names=(*names, *([_OTHER] if together else [])),
        sizes=(*(sizes[group] for group in kept), *([(members, holdout)] if together else [])),
        findings=_findings(len(small), members + holdout, asked.min_cell, together=together),
    )


def _findings(small: int, rows: int, least: int, *, together: bool) -> tuple[Finding, ...]:
    if not small:
        return ()
    few = f"{small} groups have fewer than {least} members or holdout records"
    if together:
        return (Finding(code="groups_merged", text=f"{few}: taken together as 'other'."),)
    text = f"{few}, also together: their {rows:,} records are in no group."
    return (Finding(code="groups_left_out", text=text),)
