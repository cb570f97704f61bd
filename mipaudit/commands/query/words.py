"""What a report on queries says in words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mipaudit.commands.query.options import Query
from mipaudit.commands.query.report import ExactCopies, QueriedColumn, QueriedScore
from mipaudit.commands.query.search.points import SameRecords
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import count_text, number_text, percent_text

_FEW: Final = 20
_WHOSE: Final = {"members": "member", "holdout": "holdout record"}
_MANY_LEVELS: Final = 1000
# Whoever is as near as this is copied, but for the rounding of distances.
_OF_COPIES: Final = 1e-6
_ASK_FOR_COPIES: Final = (
    " A distance does not say how often: ask share:1e-6 as well, and release none of them."
)
_ONLY_SCORES: Final = (
    "These are scores, not an audit: `mipaudit estimate` says how much they leak, with limits "
    "that hold."
)
_THESE_QUERIES: Final = (
    "Limits found from these scores concern these queries. An attacker who asks the synthetic "
    "records something else may learn more; a low figure here does not make the release safe."
)
_ENCODING: Final = (
    "Distances depend on the columns, their scales and the metric. They were fixed without "
    "looking at who is a member; choosing among several by what they find needs new records."
)
_COPIES: Final = (
    "Counts of exact copies are counts, not limits: compare those of members with those of "
    "holdout records. Records that were not tested may be copied as well."
)
# What the scores do not say.
LIMITATIONS: Final = (_ONLY_SCORES, _THESE_QUERIES, _ENCODING, _COPIES)


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


def query_summary(copies: Sequence[ExactCopies], scores: Sequence[QueriedScore]) -> str:
    """Return the paragraph that can be read alone; exact copies stand first."""
    rows = sum(one.rows for one in copies)
    queries = "1 query" if len(scores) == 1 else f"{len(scores)} queries"
    return (
        f"Exact copies: {copied_words(copies)} stand in the synthetic table word for word, in all "
        f"columns that were compared. {count_text(rows)} records were scored by {queries}."
    )


def copied_words(copies: Sequence[ExactCopies]) -> str:
    """Return how many records of each class are copied."""
    return " and ".join(
        f"{count_text(one.copied)} of {count_text(one.rows)} {_WHOSE[one.role]}s "
        f"({percent_text(round(one.copied / one.rows, 4))})"
        for one in copies
    )


def _counted(count: int, noun: str) -> str:
    return f"{count_text(count)} {noun if count == 1 else f'{noun}s'}"


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
        *(
            Finding(
                code="constant_query",
                text=f"The score {quoted_name(name)} is the same for all records: it says "
                "nothing. Give a ball another radius.",
            )
            for name in flat
        ),
    )


def _of_copies(
    copies: Sequence[ExactCopies], shared: int, scores: Sequence[QueriedScore]
) -> Iterator[Finding]:
    members, holdout = copies
    told = any(one.radius is not None and one.radius <= _OF_COPIES for one in scores)
    if members.copied:
        beside = "no holdout record"
        if holdout.copied:
            beside = f"{_counted(holdout.copied, 'holdout record')}: some copies may be chance"
        yield Finding(
            code="exact_copies",
            serious=True,
            text=f"The synthetic table holds, word for word, {_counted(members.copied, 'member')} "
            f"and {beside}." + (_ASK_FOR_COPIES if not told else ""),
        )
    for one in copies:
        if one.rows < _FEW:
            yield Finding(
                code="few_records",
                serious=True,
                text=f"Only {_counted(one.rows, _WHOSE[one.role])}: limits will be wide.",
            )
    if shared:
        yield Finding(
            code="shared_records",
            serious=True,
            text=f"Among the holdout records is a copy, in all columns that were compared, of "
            f"{_counted(shared, 'member')}: no query can tell those apart. Remove them from the "
            "holdout if they are the same people.",
        )


def _of_reference(referenced: tuple[int, ...], scores: Sequence[QueriedScore]) -> Iterator[Finding]:
    taught = [score for score in scores if score.query in {"density", "classifier"}]
    if taught and any(referenced):
        members = _counted(referenced[0], "member")
        holdout = _counted(referenced[1], "holdout record")
        names = " and ".join(quoted_name(score.score) for score in taught)
        yield Finding(
            code="reference_overlap",
            serious=True,
            text=f"The reference table holds {members} and {holdout}. {names} learned from them "
            "that they are not synthetic, which is no leak of the "
            "release. Remove them from the reference if they are the same people.",
        )


def _of_columns(columns: Sequence[QueriedColumn], constant: Iterable[str]) -> Iterator[Finding]:
    for name in constant:
        yield Finding(
            code="constant_column",
            text=f"Column {quoted_name(name)} has one value alone where the scales come from; any "
            "other counts as a mismatch.",
        )
    for column in columns:
        if column.unseen:
            members = _counted(column.unseen_members, "member")
            holdout = _counted(column.unseen - column.unseen_members, "holdout record")
            yield Finding(
                code="unseen_words",
                text=f"Column {quoted_name(column.column)}: a word that the released tables lack "
                f"stands in {members} and {holdout}. It differs from all others. If a table only "
                "spells it in another way, mend that: the scores would "
                "show the spelling.",
            )
        if column.rounded:
            yield Finding(
                code="rounded_numbers",
                text=f"Column {quoted_name(column.column)} is stored with fewer digits in some of "
                "the tables: all were rounded alike, or the storage would tell records apart.",
            )
        if column.levels is not None and column.levels > _MANY_LEVELS:
            yield Finding(
                code="many_words",
                text=f"Column {quoted_name(column.column)} has {count_text(column.levels)} "
                "different words: names or keys compare badly. Leave it out with `ignore` unless "
                "equal words are what leaks.",
            )


def _radius(scores: Sequence[QueriedScore]) -> Finding:
    radius = number_text(float(f"{scores[0].radius or 0.0:.4g}"))
    names = " and ".join(quoted_name(score.score) for score in scores)
    return Finding(
        code="radius_from_records",
        text=f"The ball of {names} has radius {radius}: the median distance of all records scored, "
        "members and holdout alike. It ties the scores together a little, which the limits do not "
        "know; a radius that is given does not.",
    )
