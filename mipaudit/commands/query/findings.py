"""What must be known of queries: findings, limitations, and what each number is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mipaudit.commands.query.options import Query
from mipaudit.commands.query.report import ExactCopies, QueriedColumn, QueriedScore
from mipaudit.commands.query.search.points import SameRecords
from mipaudit.model.message import Finding, Message
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
) -> Iterator[Finding]:
    """Yield what the reader must know.

    Args:
        copies: by class.
        columns: that were compared.
        scores: that were made.
        constant: columns with one value in the table of the fit.
        same: which records are in which other table.
        flat: scores that are the same for all records.
    """
    members, holdout = copies
    if members.copied:
        case = "released_of_both" if holdout.copied else "released"
        told = any(one.radius is not None and one.radius <= _OF_COPIES for one in scores)
        counts = {"members": members.copied, "holdout": holdout.copied}
        yield Finding.of("exact_copies", case=case, **counts, asked=told)
    for one in copies:
        if one.rows < _FEW:
            yield Finding.of("few_records", case=one.role, rows=one.rows)
    if same.shared:
        yield Finding.of("shared_records", members=same.shared)
    taught = _named(one for one in scores if one.query in {"density", "classifier"})
    if taught and any(same.referenced):
        inside, outside = same.referenced
        yield Finding.of("reference_overlap", members=inside, holdout=outside, names=taught)
    for name in constant:
        yield Finding.of("constant_column", case="scale", column=name)
    for column in columns:
        yield from _of_column(column)
    balls = [one for one in scores if one.radius_from == "median"]
    if balls:
        radius = float(f"{balls[0].radius or 0.0:.4g}")
        yield Finding.of("radius_from_records", names=_named(balls), radius=radius)
    for name in flat:
        yield Finding.of("constant_query", score=name)


def _named(scores: Iterable[QueriedScore]) -> str:
    return " and ".join(quoted_name(score.score) for score in scores)


def _of_column(column: QueriedColumn) -> Iterator[Finding]:
    name, unseen = column.column, column.unseen_members
    if column.unseen:
        outside = column.unseen - unseen
        yield Finding.of("unseen_words", column=name, members=unseen, holdout=outside)
    if column.rounded:
        yield Finding.of("rounded_numbers", case="column", column=name)
    if column.levels is not None and column.levels > _MANY_LEVELS:
        yield Finding.of("many_words", column=name, words=column.levels)
