"""Rows of one score and its groups in an order, and with a seed, that follow from both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.counting.kept_rows import KeptInput, OrderedRows
from mipaudit.summaries.identity.content import ContentColumn, canonical_order
from mipaudit.summaries.kept_rows import one_of_each

if TYPE_CHECKING:
    from mipaudit.summaries.identity.seed import SeedChoice


def order_with_groups(kept: KeptInput, at: int, choice: SeedChoice) -> OrderedRows:
    """Return the rows of one column for a statement on groups.

    Rows of one score are exchangeable only within their group: who could say which of them
    bears which group's name would choose the group's rows that train.

    Args:
        kept: read with groups.
        at: place of the column.
        choice: of the seed.
    """
    rows, column = kept.rows, kept.columns[at]
    assert rows.groups is not None  # noqa: S101 - the caller looked
    columns = [
        ContentColumn(name="1 score", values=rows.scores[at], labels=column.kind == "string"),
        ContentColumn(name="2 group", values=rows.groups, labels=True),
    ]
    found = canonical_order(columns, rows.member, rows.keys, units=kept.units)
    seed = choice.in_use(found.content)
    ordered = rows.of_columns([at]).reordered(found.order)
    return OrderedRows(rows=one_of_each(ordered, seed) if kept.units else ordered, seed=seed)
