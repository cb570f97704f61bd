"""Several queries side by side: what ``compare`` does with scores, pass by pass."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from mipaudit.commands.compare.options import CompareOptions, query_names
from mipaudit.commands.compare.queries.answer import compare_report
from mipaudit.commands.compare.queries.pairs import Cohort, Compared, Meeting, same_rows
from mipaudit.commands.compare.queries.report import CompareReport
from mipaudit.commands.compare.queries.rows import MOST_TOGETHER, pairs_of
from mipaudit.commands.compare.queries.rows_in_order import Columns, ComparedRows, compared_rows
from mipaudit.counting.columns import Counts, Meter, require_information, settle_sample
from mipaudit.counting.large_seed import settle_seed
from mipaudit.data.opening import open_input
from mipaudit.data.request import read_request
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import UsageError
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import constant
from mipaudit.options.plain_values import require
from mipaudit.statements.provenance import provenance
from mipaudit.statements.sources import InputFile
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.summaries.challenger_counts import (
    GridTally,
    MeetingTally,
    ValueSet,
    cells_at_once,
    score_cells,
)
from mipaudit.summaries.held_rows import HeldRows
from mipaudit.summaries.plan import Plan, make_plan
from mipaudit.summaries.ranked_rows import RankedRows, rows_by_score
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

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
        _require_baseline(asked, [name for some in names for name in some])
        matched = asked.key_col is not None and len(sources) > 1
        read = partial(
            fold,
            workers=Workers(Engine(jobs=asked.jobs)),
            progress=None if asked.progress is None else Meter(None, asked.progress).advance,
        )
        choice = asked.chosen_seed
        if not matched:
            choice = settle_seed(sources, choice, hash_inputs=asked.hash_inputs, together=True)
        rows = compared_rows(sources, titles, names, read, choice, matched=matched)
        cohorts = _counted(rows, asked, read)
        for source in sources:
            source.opened.check_unchanged()
        files = [source.inputs(hash_all=asked.hash_inputs) for source in sources]
        if asked.independent:
            _require_different_files(files)
        compared = Compared(
            evidence=tuple(one for _, some in cohorts for one in some),
            cohorts=tuple(cohort for cohort, _ in cohorts),
            independent=asked.independent,
        )
        return compare_report(
            compared,
            [column for some in columns for column in some],
            asked,
            findings=[
                *(f for source in sources for f in (*source.told, *source.findings())),
                *rows.findings,
            ],
            provenance=provenance(
                seed=choice,
                inputs=[one for some in files for one in some],
                settings=asked.recorded(),
                seeds={None: rows.seed},
            ),
        )


def _require_baseline(asked: CompareOptions, names: Sequence[str]) -> None:
    listed = ", ".join(safe_name(name) for name in names)
    require(
        asked.baseline is None or asked.baseline in names,
        "baseline",
        "The baseline is none of the queries.",
        f"The queries are: {listed}.",
    )
    count = len(names)
    pairs = count - 1 if asked.baseline is not None else count * (count - 1) // 2
    require(
        pairs <= _MOST_PAIRS,
        "too_many_queries",
        f"{count} queries make {pairs} pairs; at most {_MOST_PAIRS} can be compared.",
        "Name fewer with `score_col`, or compare all with one: `baseline` NAME.",
    )


def _counted(
    rows: ComparedRows, asked: CompareOptions, read: Callable[..., Any]
) -> list[tuple[Cohort, tuple[Evidence, ...]]]:
    """Return every cohort with its evidence.

    Raises:
        InputError: none of the queries can show anything: every score is constant, or both
            classes hold the same scores in all. One that leaks nothing is compared.
    """
    names = [name for group in rows.cohorts for name in group.names]
    baseline = None if asked.baseline is None else names.index(asked.baseline)
    pairs = pairs_of(len(names), baseline)
    counted = []
    for group in rows.cohorts:
        inside = range(group.first, group.first + len(group.names))
        mine = [(a - group.first, b - group.first) for a, b in pairs if a in inside and b in inside]
        counted.append(
            count_cohort(
                group, mine, read, prior=asked.prior, discrete=asked.discrete, seed=rows.seed
            )
        )
    columns = tuple(one.counts for _, some in counted for one in some)
    sizes = columns[0].everyone
    require_information(
        Counts(columns=columns, n_members=sizes.n_members, n_holdout=sizes.n_holdout, mace=None)
    )
    return counted


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


_CLASSES: Final = 5


def count_cohort(
    columns: Columns,
    pairs: Sequence[tuple[int, int]],
    read: Callable[..., Any],
    *,
    prior: float,
    discrete: bool,
    seed: int,
) -> tuple[Cohort, tuple[Evidence, ...]]:
    """Return the queries of one set of rows, counted, and how they met.

    Args:
        columns: of the rows.
        pairs: the pairs to compare, by number among these columns.
        read: folds partitions.
        prior: p in (0, 1).
        discrete: take every score as discrete.
        seed: of the row assignment.

    Raises:
        InputError: a class is empty or keys repeat.
    """
    many = len(columns.names)
    over = partial(read, columns.partitions)
    sample = over(lambda: BurnInSample(many, seed))
    settle_sample(sample)
    plan = make_plan(sample, columns.kinds, prior=prior, discrete=discrete, seed=seed)
    tally = over(lambda: Tally(plan))
    counts = tally.counts()
    evidence = tuple(
        Evidence(score=name, counts=one, prior=prior, seed=seed, ordered=kind != "string")
        for name, one, kind in zip(columns.names, counts, columns.kinds, strict=True)
    )
    queries = tuple(range(columns.first, columns.first + many))
    if not pairs:
        return Cohort(queries=queries, met=None, meetings=()), evidence
    values = None
    count = cells_at_once(2 * len(pairs) * _CLASSES)
    if sample.members.rows + sample.holdout.rows <= count:
        values = over(lambda: ValueSet(many)).values()
    scores = [
        score_cells(
            plan.columns[index].cells,
            sample,
            index,
            burn_in=plan.burn_in,
            prior=prior,
            count=count,
            values=None if values is None else values[index],
        )
        for index in range(many)
    ]
    steady = [constant(one) for one in counts]
    together = [pair for pair in pairs if not any(steady[one] for one in pair)]
    if len(together) > MOST_TOGETHER:
        together = []
    grids = over(lambda: GridTally(scores, together, seed)).counts if together else ()
    met = same_rows(
        evidence,
        scores,
        pairs=pairs,
        grids=dict(zip(together, grids, strict=True)),
        seed=seed,
        rows=None if plan.draws == 1 else _in_order(over, plan),
    )
    meetings: list[Meeting] = []
    for part in met.plan.parts():
        found = over(MeetingTally(part).shared)
        meetings += met.meetings(part, found.counts)
    return Cohort(queries=queries, met=met, meetings=meetings), evidence


def _in_order(over: Callable[..., Any], plan: Plan) -> list[RankedRows]:
    """Return the rows, few enough to be assigned to blocks many times, by every score."""
    rows = over(HeldRows).joined()
    assert rows is not None  # noqa: S101 - neither class is empty
    return rows_by_score(rows, plan)
