"""Rows that queries draw from, in an order and with a seed that follow from the rows alone.

Who writes the tables would otherwise choose, at a seed that he knows, which rows are drawn,
and so the scores, by the order of the rows. Members and holdout have no part in it: what a
query says of a record must not depend on whom it is asked of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.commands.query.search.points import Points
from mipaudit.commands.query.search.row_hashes import row_hashes
from mipaudit.summaries.identity.content import ContentColumn, canonical_order

if TYPE_CHECKING:
    from mipaudit.summaries.identity.seed import SeedChoice


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedRows:
    """Synthetic and reference rows in their own order.

    Attributes:
        synthetic: what was released.
        reference: records of neither; none where there is no such table.
        seed: in use, 64 bits.
    """

    synthetic: Points
    reference: Points
    seed: int


def released_rows(synthetic: Points, reference: Points | None, choice: SeedChoice) -> ReleasedRows:
    """Return the rows in the order of their hashes, and the seed that they decide.

    Args:
        synthetic: what was released.
        reference: records of neither, or None.
        choice: of the seed.
    """
    other = synthetic.take(slice(0)) if reference is None else reference
    both = Points(
        numbers=np.concatenate([synthetic.numbers, other.numbers]),
        codes=np.concatenate([synthetic.codes, other.codes]),
    )
    released = np.arange(len(both)) < len(synthetic)
    words = [
        *(np.ascontiguousarray(column).view(np.uint64) for column in both.numbers.T),
        *(column.astype(np.uint64) for column in both.codes.T),
    ]
    columns = [
        # Columns are taken in the order of their names, which is that of the table.
        ContentColumn(name=f"{at:09}", values=column, labels=True)
        for at, column in enumerate(words)
    ]
    found = canonical_order(columns, released, row_hashes(both))
    inside = released[found.order]
    return ReleasedRows(
        synthetic=both.take(found.order[inside]),
        reference=both.take(found.order[~inside]),
        seed=choice.in_use(found.content),
    )
