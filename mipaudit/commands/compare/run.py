"""``mipaudit compare``: several queries side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.compare.options import CompareOptions
from mipaudit.options.plain_values import require
from mipaudit.options.public import public_of_several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.compare.queries.compared import Cohort
    from mipaudit.commands.compare.queries.counts import Passes
    from mipaudit.commands.compare.queries.report import CompareReport
    from mipaudit.commands.compare.queries.rows_in_order import ComparedRows
    from mipaudit.commands.compare.reports.report import ReportComparison
    from mipaudit.evidence.scores.evidence import Evidence

_MOST_PAIRS: Final = 66


def answer_compare(asked: CompareOptions) -> CompareReport | ReportComparison:
    """Return which of several queries leaks most, and by how much, with limits.

    Given reports of ``estimate`` (``.json`` files, or what it returned), return what changed
    from the first, or the ``baseline``, to the others. Of the keywords, only ``baseline``,
    ``max_increase`` and ``against`` then apply: a report holds its own terms.

    Score columns of one input are of the same rows. With ``key_column`` the rows of several
    inputs are matched by key; otherwise nothing is assumed of how they overlap, unless
    ``independent`` says that they hold different records.

    Raises:
        UsageError: an argument is wrong, or there are fewer than two queries.
        InputError: an input cannot be audited as it is.
    """
    if asked.of_reports:
        from mipaudit.commands.compare.reports.run import compare_reports

        return compare_reports(asked)
    return _compare_queries(asked)


compare = public_of_several(CompareOptions, answer_compare)


def _compare_queries(asked: CompareOptions) -> CompareReport:
    from contextlib import ExitStack

    from mipaudit.commands.compare.inputs import query_names
    from mipaudit.commands.compare.queries.answer import compare_report
    from mipaudit.commands.compare.queries.compared import Compared
    from mipaudit.commands.compare.queries.independence import (
        require_different_files,
        require_independent,
    )
    from mipaudit.commands.compare.queries.rows_in_order import compared_rows
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.reading.source.any_input import open_input
    from mipaudit.reading.source.request import read_request
    from mipaudit.statements.provenance import provenance

    inputs = asked.named_scores
    if asked.independent:
        require_independent([one.data for one in inputs], asked.key_column)
    given = [(one.data, None, None) for one in inputs] or [(None, asked.members, asked.holdout)]
    titles = [one.name for one in inputs] or [""]
    request = read_request(asked, seed=asked.chosen_seed)
    with ExitStack() as stack:
        sources = [stack.enter_context(open_input(*one, request)) for one in given]
        columns = [[column.name for column in source.columns] for source in sources]
        names = query_names(list(zip(titles, columns, strict=True)))
        _require_baseline(asked, [name for some in names for name in some])
        matched = asked.key_column is not None and len(sources) > 1
        passes = _passes(asked)
        choice = asked.chosen_seed
        if not matched:
            choice = settle_seed(sources, choice, hash_inputs=asked.hash_inputs, together=True)
        rows = compared_rows(sources, titles, names, passes, choice, matched=matched)
        cohorts = _counted(rows, asked, passes)
        for source in sources:
            source.check_unchanged()
        files = [source.inputs(hash_all=asked.hash_inputs) for source in sources]
        if asked.independent:
            require_different_files(files)
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
    from mipaudit.statements.text.printable_names import safe_name

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
        "Name fewer with `score_columns`, or compare all with one: `baseline` NAME.",
    )


def _passes(asked: CompareOptions) -> Passes:
    from mipaudit.commands.compare.queries.counts import Passes
    from mipaudit.counting.columns import Meter
    from mipaudit.engine.workers import Engine, Workers

    return Passes(
        prior=asked.prior,
        discrete=asked.discrete,
        workers=Workers(Engine(jobs=asked.jobs)),
        progress=None if asked.progress is None else Meter(None, asked.progress).advance,
    )


def _counted(
    rows: ComparedRows, asked: CompareOptions, passes: Passes
) -> list[tuple[Cohort, tuple[Evidence, ...]]]:
    """Return every cohort with its evidence."""
    from mipaudit.commands.compare.queries.counts import count_cohort, require_comparable
    from mipaudit.commands.compare.queries.rows import pairs_of

    names = [name for group in rows.cohorts for name in group.names]
    baseline = None if asked.baseline is None else names.index(asked.baseline)
    pairs = pairs_of(len(names), baseline)
    counted = []
    for group in rows.cohorts:
        inside = range(group.first, group.first + len(group.names))
        mine = [(a - group.first, b - group.first) for a, b in pairs if a in inside and b in inside]
        counted.append(count_cohort(group, mine, passes, rows.seed))
    require_comparable([one for _, some in counted for one in some])
    return counted
