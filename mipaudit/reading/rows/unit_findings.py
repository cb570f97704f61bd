"""What the reader must know where a person counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.chance import counts_alike
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.unit_scores import UnitRule

# Persons with the same number of rows in both classes are warned of so rarely.
_UNLIKE: Final = 0.05
_ROWS_STREAM: Final = 0x726F7773


def both_finding(persons: int, rows: int, column: str) -> Finding:
    """Return that persons with rows of both classes are counted in one, and others left out."""
    each = "1 value" if persons == 1 else f"{persons:,} values"
    occur = "occurs" if persons == 1 else "occur"
    return Finding(
        code="units_in_both_classes",
        text=(
            f"{each} of column {quoted_name(column)} {occur} in both classes: a coin tossed by "
            f"the seed says in which one each is kept, and its {rows:,} rows of the other are left "
            "out."
        ),
    )


def made_findings(
    rule: UnitRule,
    sizes: NDArray[np.int64],
    member: NDArray[np.bool_],
    column: str,
    seed: int,
) -> tuple[Finding, ...]:
    """Return what a score is that is made of several rows, and whether their number leaks.

    Args:
        rule: how it is made.
        sizes: the rows of each person.
        member: their class.
        column: names the persons.
        seed: of the test.
    """
    made = "sum" if rule == "sum" else {"mean": "mean"}.get(rule, f"{rule}imum")
    found = [
        Finding(
            code="unit_scores_made",
            text=(
                f"Every score is the {made} of all rows with the same value of column "
                f"{quoted_name(column)}: {member.size:,} scores of {int(sizes.sum()):,} rows. "
                "An attacker who sees the rows themselves may do better."
            ),
        )
    ]
    rng = np.random.default_rng((seed % 2**64, _ROWS_STREAM))
    p = counts_alike(sizes[member], sizes[~member], rng)
    if p <= _UNLIKE:
        found.append(
            Finding(
                code="unit_rows_unlike",
                text=(
                    f"Members and holdout differ in how many rows they have by column "
                    f"{quoted_name(column)} (rank test, p = {p:.3f}), and their {made} shows that "
                    "number, too: part of what is found may be no more than that. Compare "
                    "--unit-rows one, which does not show it."
                ),
            )
        )
    return tuple(found)
