"""Records that stand in several tables, equal in all columns that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.commands.query.search.row_hashes import copies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mipaudit.commands.query.search.points import Points


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameRecords:
    """Which records are in which other table.

    Attributes:
        copied: whether each record is in the synthetic table, members first, shape (n,).
        shared: how many members are among the holdout records.
        referenced: how many members, and how many holdout records, are in the reference
            table; zeros without one.
    """

    copied: NDArray[np.bool_]
    shared: int
    referenced: tuple[int, int]


def same_records(tables: Mapping[str, Points]) -> SameRecords:
    """Return which records are in which other table.

    Args:
        tables: ``members``, ``holdout``, ``synthetic`` and perhaps ``reference``, their
            records not scaled.
    """
    members, holdout = tables["members"], tables["holdout"]
    reference = tables.get("reference")
    return SameRecords(
        copied=np.concatenate([copies(one, tables["synthetic"]) for one in (members, holdout)]),
        shared=int(copies(members, holdout).sum()),
        referenced=(0, 0)
        if reference is None
        else (int(copies(members, reference).sum()), int(copies(holdout, reference).sum())),
    )
