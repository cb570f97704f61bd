"""Several queries side by side: what ``compare`` does with scores, from inputs to the report."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from mipaudit.commands.compare.options import CompareOptions, query_names
from mipaudit.commands.compare.queries.answer import compare_report, pairs_of
from mipaudit.commands.compare.queries.cohort import (
    Columns,
    Compared,
    compared,
    compared_rows,
    count_cohort,
)
from mipaudit.commands.compare.queries.report import CompareReport
from mipaudit.counting.counts import Counts, require_information, row_meter
from mipaudit.counting.scores import settle_seed
from mipaudit.data.opening import open_input
from mipaudit.data.request import read_request
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import UsageError
from mipaudit.options.values import require
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.provenance import InputFile, provenance

_MOST_PAIRS: Final = 66


def compare_queries(asked: CompareOptions) -> CompareReport:
    """Return which of several queries leaks most, and by how much, with limits."""
    inputs = asked.named_scores
    if asked.independent:
        _require_independent([one.data for one in inputs], asked.key_col)
    given = [(one.data, None, None) for one in inputs] or [(None, asked.members, asked.holdout)]
    titles = [one.name for one in inputs] or [""]
    request = read_request(asked, seed=asked.chosen_seed)
    with ExitStack() as stack:
        sources = [stack.enter_context(open_input(*one, request)) for one in given]
        columns = [[column.name for column in source.columns] for source in sources]
        names = query_names(list(zip(titles, columns, strict=True)))
        pairs = _pairs(asked, [name for some in names for name in some])
        matched = asked.key_col is not None and len(sources) > 1
        read = partial(
            fold,
            workers=Workers(Engine(jobs=asked.jobs)),
            progress=row_meter(None, asked.progress),
        )
        choice = asked.chosen_seed
        if not matched:
            choice = settle_seed(sources, choice, hash_inputs=asked.hash_inputs, together=True)
        groups, seed, unmatched = compared_rows(
            sources, titles, names, read, choice, matched=matched
        )
        found = _counted(groups, pairs, read, asked, seed)
        _require_information(found)
        for source in sources:
            source.opened.check_unchanged()
        files = [source.inputs(hash_all=asked.hash_inputs) for source in sources]
        if asked.independent:
            _require_different_files(files)
        told = [finding for source in sources for finding in (*source.told, *source.findings())]
        return compare_report(
            found,
            [column for some in columns for column in some],
            asked,
            findings=[*told, *unmatched],
            provenance=provenance(
                seed=choice,
                inputs=[one for some in files for one in some],
                settings=asked.recorded(),
                seeds={None: seed},
            ),
        )


def _pairs(asked: CompareOptions, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of queries to compare.

    Raises:
        UsageError: the baseline is none of the queries, or there are too many.
    """
    require(
        asked.baseline is None or asked.baseline in names,
        "baseline",
        "The baseline is none of the queries.",
        f"The queries are: {', '.join(safe_name(name) for name in names)}.",
    )
    baseline = None if asked.baseline is None else names.index(asked.baseline)
    pairs = pairs_of(len(names), baseline)
    require(
        len(pairs) <= _MOST_PAIRS,
        "too_many_queries",
        f"{len(names)} queries make {len(pairs)} pairs; at most {_MOST_PAIRS} can be compared.",
        "Name fewer with `score_col`, or compare all with one: `baseline` NAME.",
    )
    return pairs


def _counted(
    groups: Iterable[Columns],
    pairs: Iterable[tuple[int, int]],
    read: Callable[..., Any],
    asked: CompareOptions,
    seed: int,
) -> Compared:
    """Count every set of rows, and compare those pairs of which it has both queries."""
    counted, first = [], 0
    for columns in groups:
        inside = range(len(columns.names))
        own = [(a - first, b - first) for a, b in pairs]
        own = [(a, b) for a, b in own if a in inside and b in inside]
        one = count_cohort(
            *(columns, own, read),
            prior=asked.prior,
            discrete=asked.discrete,
            seed=seed,
            first=first,
        )
        counted.append(one)
        first += len(inside)
    return compared(counted, independent=asked.independent)


def _require_information(found: Compared) -> None:
    """Refuse queries none of which can show anything; one that leaks nothing is compared.

    Raises:
        InputError: every score is constant, or both classes hold the same scores in all.
    """
    columns = tuple(one.counts for one in found.evidence)
    sizes = columns[0].everyone
    require_information(
        Counts(columns=columns, n_members=sizes.n_members, n_holdout=sizes.n_holdout)
    )


def _require_independent(data: Sequence[object], key_column: str | None) -> None:
    """Refuse inputs that cannot hold different records.

    Args:
        data: the inputs: paths or data in memory; none where members and holdout are apart.
        key_column: by which the rows of several inputs would be matched, or None.

    Raises:
        UsageError: one input, inputs matched by key, or the same input twice.
    """
    require(
        len(data) > 1,
        "independent",
        "There is one input only: its queries are of the same records, not independent ones.",
        "Leave `independent` out.",
    )
    require(
        key_column is None,
        "independent",
        "`key_col` matches the same records of several inputs, and `independent` says that the "
        "inputs hold different ones.",
        "Leave one of them out.",
    )
    if any(_same(one, other) for one, other in combinations(data, 2)):
        raise _same_input()


def _require_different_files(inputs: Iterable[Sequence[InputFile]]) -> None:
    """Refuse inputs that share a file's content, whatever it is called.

    Args:
        inputs: the files of each, as they were read.

    Raises:
        UsageError: two inputs have a file of the same content.
    """
    seen: set[str] = set()
    for files in inputs:
        marks = {
            mark for one in files if one.rows for mark in (one.sha256, one.fingerprint) if mark
        }
        if marks & seen:
            raise _same_input()
        seen |= marks


def _same_input() -> UsageError:
    return UsageError(
        "independent",
        "Two inputs are the same file, and `independent` says that they hold different records.",
        hint="Leave `independent` out, or name the file that was meant.",
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return Path(one).resolve() == Path(other).resolve()
    return one is other
