"""Which rows of persons count, and with what scores, where a person may have several.

What the reader must know where a person counts once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError, UsageError
from mipaudit.maths.chance import counts_alike
from mipaudit.reading.rows.units import Chosen
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.unit_scores import UnitRule, one_class_each, rows_seed, unit_scores

if TYPE_CHECKING:
    from mipaudit.reading.source.audited import ScoreColumn
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.summaries.rows import Rows

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
                    "`unit_rows` one, which does not show it."
                ),
            )
        )
    return tuple(found)


def stand_for_units(source: ScoreSource, request: ReadRequest) -> None:
    """Let every person stand in one class, with the score that the rule makes of all rows.

    It takes one pass, and about 17 bytes a row and 8 more for each score.

    Raises:
        UsageError: ``unit_rows`` for labels, which have no mean and no order.
        InputError: ``unit_infinite`` for persons whose scores have no sum.
    """
    column, rule = request.unit_column, request.unit_rows
    assert column is not None  # noqa: S101 - the caller looked
    if rule is not None and rule != "one":
        source.columns = tuple(_column(one, rule) for one in source.columns)
    piles = _Piles()
    for batch in source.every_row().rows():
        piles.add(batch)
    if not piles.persons:
        return
    rows = piles.joined()
    seed = rows_seed(rows.persons, rows.member, rows.scores, request.seed)
    left, both = one_class_each(rows.persons, rows.member, seed)
    if both:
        rows = rows.among(left)
        source.standing = _standing(rows.places)
        source.assumed += (both_finding(both, left.size - rows.places.size, column),)
    if rule is not None and rule != "one":
        source.standing, sizes, member = _made(rows, rule, column)
        source.assumed += made_findings(rule, sizes, member, column, seed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Everyone:
    """Rows in the order of the input, with their persons, global positions and classes."""

    persons: NDArray[np.uint64]
    places: NDArray[np.int64]
    member: NDArray[np.bool_]
    scores: tuple[NDArray[np.float64], ...]

    def among(self, left: NDArray[np.bool_]) -> _Everyone:
        """Return some of the rows."""
        return _Everyone(
            persons=self.persons[left],
            places=self.places[left],
            member=self.member[left],
            scores=tuple(score[left] for score in self.scores),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Piles:
    """Batches of rows."""

    persons: list[NDArray[np.uint64]] = field(default_factory=list)
    places: list[NDArray[np.int64]] = field(default_factory=list)
    member: list[NDArray[np.bool_]] = field(default_factory=list)
    scores: list[tuple[NDArray[np.float64], ...]] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        assert rows.keys is not None  # noqa: S101 - read with a key column
        offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
        self.persons.append(rows.keys)
        self.places.append(offsets + rows.first_row)
        self.member.append(rows.member)
        self.scores.append(rows.scores)

    def joined(self) -> _Everyone:
        return _Everyone(
            persons=np.concatenate(self.persons),
            places=np.concatenate(self.places),
            member=np.concatenate(self.member),
            scores=tuple(np.concatenate(batches) for batches in zip(*self.scores, strict=True)),
        )


def _standing(
    places: NDArray[np.int64], scores: tuple[NDArray[np.float64], ...] | None = None
) -> Chosen:
    return Chosen(positions=places, dropped_members=0, dropped_holdout=0, scores=scores)


def _made(
    rows: _Everyone, rule: UnitRule, column: str
) -> tuple[Chosen, NDArray[np.int64], NDArray[np.bool_]]:
    """Return a row for each person with its score, and how many it has, and its class."""
    made = unit_scores(rows.persons, rows.scores, rule)
    if made.undefined:
        raise InputError(
            "unit_infinite",
            f"`unit_rows` {rule}: {made.undefined:,} values of column {quoted_name(column)} have "
            "scores of both infinities (a missing one counts as minus infinity), which have no "
            f"{rule}.",
            hint="Give `unit_rows` one, max or min.",
        )
    order = np.argsort(rows.places[made.rows])
    standing = _standing(
        rows.places[made.rows][order], tuple(score[order] for score in made.scores)
    )
    return standing, made.sizes, rows.member[made.rows]


def _column(one: ScoreColumn, rule: UnitRule) -> ScoreColumn:
    """Return the column of the persons' scores."""
    if one.kind == "string":
        raise UsageError(
            "unit_rows",
            f"`unit_rows` {rule}: column {quoted_name(one.name)} holds labels, which have no mean "
            "and no order.",
            hint="Give `unit_rows` one.",
        )
    if rule in {"max", "min"} or one.kind == "float":
        return one
    return replace(one, kind="float" if rule == "mean" else "integer")
