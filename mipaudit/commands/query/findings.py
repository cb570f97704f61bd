"""What must be known of queries: findings, limitations, and what each number is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mipaudit.commands.query.options import Query
from mipaudit.commands.query.report import ExactCopies, QueriedColumn, QueriedScore
from mipaudit.commands.query.search.points import SameRecords
from mipaudit.model.message import Message
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name

_FEW: Final = 20
_MANY_LEVELS: Final = 1000
# Whoever is as near as this is copied, but for the rounding of distances.
_OF_COPIES: Final = 1e-6
# What the scores do not say.
LIMITATIONS: Final = (
    Message("query_only_scores"),
    Message("query_these"),
    Message("query_encoding"),
    Message("query_copies"),
)


def query_says(query: Query) -> str:
    """Return what a query's number is."""
    return {
        "nn": "distance to the nearest synthetic record (Liu et al. 2021, eq. 19)",
        "kth": f"distance to synthetic neighbour number {query.neighbours}",
        "lnr": f"distance to the nearest synthetic record over that to number {query.neighbours}",
        "mc": "Monte-Carlo: minus the mean log distance within a ball (Liu et al. 2021, eq. 18)",
        "share": "share of the synthetic records that lie within a ball",
        "density": "log of the density of the synthetic over that of the reference records "
        f"(DOMIAS), on {query.components} main directions at most",
        "classifier": "log odds of being synthetic, by a classifier taught on synthetic and "
        "reference records",
    }[query.kind]


def query_findings(
    copies: Sequence[ExactCopies],
    columns: Sequence[QueriedColumn],
    scores: Sequence[QueriedScore],
    *,
    constant: Iterable[str],
    same: SameRecords,
    flat: Iterable[str],
) -> tuple[Finding, ...]:
    """Return what the reader must know.

    Args:
        copies: by class.
        columns: that were compared.
        scores: that were made.
        constant: columns with one value in the table of the fit.
        same: which records are in which other table.
        flat: scores that are the same for all records.
    """
    balls = [score for score in scores if score.radius_from == "median"]
    return (
        *_of_copies(copies, same.shared, scores),
        *_of_reference(same.referenced, scores),
        *_of_columns(columns, constant),
        *([_radius(balls)] if balls else []),
        *(Finding.of("constant_query", score=name) for name in flat),
    )


def _of_copies(
    copies: Sequence[ExactCopies], shared: int, scores: Sequence[QueriedScore]
) -> Iterator[Finding]:
    members, holdout = copies
    told = any(one.radius is not None and one.radius <= _OF_COPIES for one in scores)
    if members.copied:
        yield Finding.of(
            "exact_copies",
            case="released_of_both" if holdout.copied else "released",
            members=members.copied,
            holdout=holdout.copied,
            asked=told,
        )
    for one in copies:
        if one.rows < _FEW:
            yield Finding.of("few_records", case=one.role, rows=one.rows)
    if shared:
        yield Finding.of("shared_records", members=shared)


def _of_reference(referenced: tuple[int, ...], scores: Sequence[QueriedScore]) -> Iterator[Finding]:
    taught = [score for score in scores if score.query in {"density", "classifier"}]
    if taught and any(referenced):
        names = " and ".join(quoted_name(score.score) for score in taught)
        yield Finding.of(
            "reference_overlap", members=referenced[0], holdout=referenced[1], names=names
        )


def _of_columns(columns: Sequence[QueriedColumn], constant: Iterable[str]) -> Iterator[Finding]:
    for name in constant:
        yield Finding.of("constant_column", case="scale", column=name)
    for column in columns:
        if column.unseen:
            yield Finding.of(
                "unseen_words",
                column=column.column,
                members=column.unseen_members,
                holdout=column.unseen - column.unseen_members,
            )
        if column.rounded:
            yield Finding.of("rounded_numbers", case="column", column=column.column)
        if column.levels is not None and column.levels > _MANY_LEVELS:
            yield Finding.of("many_words", column=column.column, words=column.levels)


def _radius(scores: Sequence[QueriedScore]) -> Finding:
    radius = float(f"{scores[0].radius or 0.0:.4g}")
    names = " and ".join(quoted_name(score.score) for score in scores)
    return Finding.of("radius_from_records", names=names, radius=radius)
