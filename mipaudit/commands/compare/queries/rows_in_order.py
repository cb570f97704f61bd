"""The rows that queries are compared on: in an order, and with a seed, that follow from them.

All columns and files of a comparison enter one statement, so they have one seed: a hash of
all of them, whatever the order in which the files are named.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.counting.scores import RowsInMemory, fits
from mipaudit.data.parts import Partition
from mipaudit.data.source import ScoreSource
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.summaries.content import ContentColumn, canonical_rows, canonical_scores
from mipaudit.summaries.plan import ScoreKind
from mipaudit.summaries.rows import HeldRows, Rows, one_of_each
from mipaudit.summaries.seed import Content, SeedChoice

_DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Score columns of the same rows.

    Attributes:
        names: of the queries.
        kinds: of the columns.
        first: number of the first of them among all queries.
        partitions: their rows.
    """

    names: tuple[str, ...]
    kinds: tuple[ScoreKind, ...]
    first: int
    partitions: Sequence[Partition]


def compared_rows(
    sources: Sequence[ScoreSource],
    titles: Sequence[str],
    names: Sequence[Sequence[str]],
    read: Callable[..., Any],
    choice: SeedChoice,
    *,
    matched: bool,
) -> tuple[list[Columns], int, tuple[Finding, ...]]:
    """Return the rows of every cohort, the seed of all, and what is to be said of rows left out.

    Args:
        sources: opened.
        titles: what the inputs are called.
        names: of the queries of each.
        read: folds partitions.
        choice: of the seed.
        matched: join all inputs by key.

    Raises:
        InputError: rows that cannot be audited, or as `match_rows`.
    """
    cohorts: list[Columns] = []
    for some, source in zip(names, sources, strict=True):
        cohorts.append(
            Columns(
                names=tuple(some),
                kinds=tuple(column.kind for column in source.columns),
                first=sum(len(one.names) for one in cohorts),
                partitions=(),
            )
        )
    if not matched and not all(fits(source, len(source.columns)) for source in sources):
        parts = [source.partitions() for source in sources]
        cohorts = [replace(one, partitions=own) for one, own in zip(cohorts, parts, strict=True)]
        return cohorts, sources[0].position_seed, ()
    held = [_held(source, read) for source in sources]
    columns = [[column.name for column in source.columns] for source in sources]
    findings: tuple[Finding, ...] = ()
    if matched:
        rows, findings = match_rows(held, titles)
        held, columns = [rows], [[name for some in columns for name in some]]
        cohorts = [
            Columns(
                names=tuple(name for one in cohorts for name in one.names),
                kinds=tuple(kind for one in cohorts for kind in one.kinds),
                first=0,
                partitions=(),
            )
        ]
    units = any(source.unit_seed is not None for source in sources)
    found = [
        canonical_rows(_content_columns(one, own, rows), rows.member, rows.keys, units=units)
        for one, own, rows in zip(cohorts, columns, held, strict=True)
    ]
    seed = choice.in_use(_together([content for _, content in found]))
    ordered = [rows for rows, _ in found]
    if units:
        ordered = [one_of_each(rows, seed) for rows in ordered]
        for source, whole, own in zip(sources, held, ordered, strict=False):
            _tell_dropped(source, whole, own)
    return (
        [
            replace(one, partitions=(RowsInMemory(rows=rows),))
            for one, rows in zip(cohorts, ordered, strict=True)
        ],
        seed,
        findings,
    )


def _held(source: ScoreSource, read: Callable[..., HeldRows]) -> Rows:
    """Read all rows of an input into memory.

    Raises:
        InputError: rows that cannot be audited, or a class without rows.
    """
    rows = read(source.every_row(), HeldRows).joined()
    source.check_classes()
    assert rows is not None  # noqa: S101 - neither class is empty
    return rows


def _tell_dropped(source: ScoreSource, whole: Rows, own: Rows) -> None:
    members, left = (int(np.count_nonzero(rows.member)) for rows in (whole, own))
    holdout = int(whole.member.size) - members - (int(own.member.size) - left)
    source.unit_rows_dropped = members - left, holdout


def _content_columns(columns: Columns, names: Sequence[str], rows: Rows) -> list[ContentColumn]:
    """Return what the order and the seed of a cohort depend on.

    Columns of several files may have one name: then their own digests tell them apart, so
    that the order in which the files are named does not matter.
    """
    labels = [kind == "string" for kind in columns.kinds]
    titles = [
        name if names.count(name) == 1 else f"{name} {_digest(scores, rows, labels=label)}"
        for name, scores, label in zip(names, rows.scores, labels, strict=True)
    ]
    return [
        ContentColumn(name=title, values=scores, labels=label)
        for title, scores, label in zip(titles, rows.scores, labels, strict=True)
    ]


def _digest(scores: NDArray[np.float64], rows: Rows, *, labels: bool) -> str:
    return canonical_scores(scores, rows.member, labels=labels)[1].digest.hex()


def _together(contents: Sequence[Content]) -> Content:
    """Return what one seed for several cohorts depends on, in whatever order they come."""
    if len(contents) == 1:
        return contents[0]
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for text in sorted(f"{one.kind}|{one.n_members}|{one.n_holdout}|" for one in contents):
        digest.update(text.encode())
    for part in sorted(one.digest for one in contents):
        digest.update(part)
    return Content(
        kind="cohorts",
        n_members=sum(one.n_members for one in contents),
        n_holdout=sum(one.n_holdout for one in contents),
        digest=digest.digest(),
    )


def by_key(rows: Rows) -> Rows:
    """Return the rows of one input in order of key.

    Raises:
        InputError: a key repeats.
    """
    keys = _keys(rows)
    order = np.argsort(keys, kind="stable")
    if (np.diff(keys[order]) == 0).any():
        raise InputError(
            "repeated_keys",
            "The key column repeats its values: it does not tell rows apart.",
            hint="Name another `key_col`: rows are matched by it.",
        )
    return rows.reordered(order)


def match_rows(inputs: Sequence[Rows], names: Sequence[str]) -> tuple[Rows, tuple[Finding, ...]]:
    """Return the rows whose key is in every input, and how many were left out.

    Args:
        inputs: all rows of each, read with the same key column.
        names: of the inputs.

    Returns:
        The rows under all queries, in order of key, and what to say of the others.

    Raises:
        InputError: a key repeats, none matches, or a record is a member in one input and a
            holdout record in another.
    """
    found = [by_key(one) for one in inputs]
    keys = _keys(found[0])
    for one in found[1:]:
        keys = np.intersect1d(keys, _keys(one), assume_unique=True)
    if not keys.size:
        raise InputError(
            "no_matching_keys",
            "No key is in every input: there are no rows to match.",
            hint="Is `key_col` written alike in all of them? Leave it out to compare them apart.",
        )
    places = [np.searchsorted(_keys(one), keys) for one in found]
    members = [one.member[at] for one, at in zip(found, places, strict=True)]
    differing = int(np.count_nonzero(np.any([m != members[0] for m in members], axis=0)))
    if differing:
        raise InputError(
            "membership_differs",
            f"{differing:,} records are members in one input and holdout records in another.",
            hint="Were the inputs made with the same membership?",
        )
    if members[0].all() or not members[0].any():
        found_only, missing = ("members", "holdout") if members[0].any() else ("holdout", "members")
        raise InputError(
            "no_matching_keys",
            f"The {keys.size:,} records whose key is in every input are all {found_only}: "
            f"no key of the {missing} records matches.",
            hint="Is `key_col` written alike for both classes in all inputs?",
        )
    scores = tuple(
        column[at] for one, at in zip(found, places, strict=True) for column in one.scores
    )
    findings = tuple(
        _unmatched(name, _keys(one).size - keys.size, keys.size)
        for name, one in zip(names, found, strict=True)
        if _keys(one).size > keys.size
    )
    return replace(found[0].reordered(places[0]), scores=scores), findings


def _keys(rows: Rows) -> NDArray[np.uint64]:
    return np.empty(0, dtype=np.uint64) if rows.keys is None else rows.keys


def _unmatched(name: str, left_out: int, matched: int) -> Finding:
    return Finding.of("unmatched_rows", input=name, left_out=left_out, matched=matched)
