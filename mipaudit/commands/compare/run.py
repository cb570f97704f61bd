"""``mipaudit compare``: several queries side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.options.plain_values import require

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.commands.compare.queries.counts import Passes
    from mipaudit.commands.compare.queries.report import CompareReport
    from mipaudit.commands.compare.queries.rows_in_order import ComparedRows
    from mipaudit.commands.compare.reports.report import ReportComparison
    from mipaudit.commands.compare.terms import CompareTerms
    from mipaudit.statements.estimate import Against
    from mipaudit.statements.provenance.origin import Setting

_MOST_PAIRS: Final = 66


def compare(  # noqa: PLR0913 - one keyword for each option of the command
    *scores: Any,  # noqa: ANN401 - paths, frames or Arrow tables
    members: Any = None,  # noqa: ANN401 - a path or an array
    holdout: Any = None,  # noqa: ANN401
    score_columns: Sequence[str] = (),
    member_column: str | None = None,
    member_value: str | None = None,
    where: str | None = None,
    unit_column: str | None = None,
    unit_rows: Literal["one", "mean", "max", "min", "sum"] | None = None,
    rows_are: Literal["independent"] | None = None,
    key_column: str | None = None,
    nan: Literal["error", "category", "drop"] = "error",
    prior: float = 0.5,
    confidence: float = 0.95,
    discrete: bool = False,
    independent: bool = False,
    baseline: str | None = None,
    max_increase: float | None = None,
    against: Against | None = None,
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> CompareReport | ReportComparison:
    """Return which of several queries leaks most, and by how much, with limits.

    Given reports of ``estimate`` (``.json`` files, or what it returned), return what changed
    from the first, or the ``baseline``, to the others. Of the keywords, only ``baseline``,
    ``max_increase`` and ``against`` then apply: a report holds its own terms.

    Score columns of one input are of the same rows. With ``key_column`` the rows of several
    inputs are matched by key; otherwise nothing is assumed of how they overlap, unless
    ``independent`` says that they hold different records.

    Args:
        scores: inputs: paths (also ``"name=path"``), data frames or Arrow tables; or reports.
        members: the members' own file or array, with ``holdout``, instead of ``scores``.
        holdout: the holdout's own.
        score_columns: score columns by name, of every input; empty means found by the rules.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; each counts once, in one class.
        unit_rows: what of a person's rows counts: ``"one"`` of them (the default), or their
            ``"mean"``, ``"max"``, ``"min"`` or ``"sum"``: a new score, chosen before looking.
        rows_are: ``"independent"`` takes rows for that although ids or files repeat.
        key_column: a record's identity, by which the rows of several inputs are matched.
        nan: what to do with a missing score.
        prior: assumed probability that a challenged record is a member, in (0, 1).
        confidence: of every quantity, jointly over the queries or pairs, in [0.5, 1).
        discrete: take every score as discrete.
        independent: different inputs hold different records.
        baseline: name of the query that the others are compared with; None for all pairs. Of
            reports, the name of the old one; None for the first.
        max_increase: policy: no query may leak more than the baseline by more than this.
        against: class of attackers of the ranking and the policy. By default any where all
            scores are discrete, else thresholds.
        seed: of the row assignment, as for `estimate`; one for all inputs.
        hash_inputs: sha256 of inputs over 64 MiB in all, too.
        jobs: number of threads; None for the processors at hand.
        progress: called with (rows done, rows in all passes or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: an argument is wrong, or there are fewer than two queries.
        InputError: an input cannot be audited as it is.
    """
    from contextlib import ExitStack

    from mipaudit.commands.compare.inputs import named_input, query_names, reports_alone
    from mipaudit.commands.compare.queries.answer import compare_report
    from mipaudit.commands.compare.queries.compared import Compared
    from mipaudit.commands.compare.queries.independence import (
        require_different_files,
        require_independent,
    )
    from mipaudit.commands.compare.queries.rows_in_order import compared_rows
    from mipaudit.commands.compare.terms import check_compare_terms, refuse_terms_of_scores
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.options.seed_choice import number_of
    from mipaudit.reading.source.any_input import column_names, open_input
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.statements.provenance.provenance import provenance, settings_from

    terms_given: dict[str, Any] = {
        "prior": prior,
        "confidence": confidence,
        "discrete": discrete,
        "independent": independent,
        "baseline": baseline,
        "max_increase": max_increase,
        "against": against,
        "seed": seed,
    }
    reading: dict[str, Any] = {
        "score_columns": column_names(score_columns),
        "member_column": member_column,
        "member_value": member_value,
        "where": where,
        "unit_column": unit_column,
        "unit_rows": unit_rows,
        "rows_are": rows_are,
        "key_column": key_column,
        "nan": nan,
    }
    if settings is None:
        settings = settings_from(
            {**reading, **terms_given, "hash_inputs": hash_inputs}, source="api"
        )
    inputs = [named_input(one, place) for place, one in enumerate(scores, 1)]
    if reports_alone(inputs, members, holdout):
        from mipaudit.commands.compare.reports.run import compare_reports

        refuse_terms_of_scores({**reading, **terms_given})
        return compare_reports(
            inputs,
            baseline=baseline,
            max_increase=max_increase,
            against=against,
            settings=settings,
        )
    terms = check_compare_terms(**terms_given)
    _require_inputs([one.data for one in inputs], members, holdout)
    if terms.independent:
        require_independent([one.data for one in inputs], key_column)
    request = ReadRequest(**reading, seed=number_of(terms.seed))
    with ExitStack() as stack:
        if inputs:
            sources = [
                stack.enter_context(open_input(one.data, None, None, request)) for one in inputs
            ]
        else:
            sources = [stack.enter_context(open_input(None, members, holdout, request))]
        columns = [[column.name for column in source.columns] for source in sources]
        titles = [one.name for one in inputs] or [""]
        names = query_names(list(zip(titles, columns, strict=True)))
        _require_baseline(terms, [name for some in names for name in some])
        matched = key_column is not None and len(sources) > 1
        passes = _passes(terms, jobs, progress)
        choice = terms.seed
        if not matched:
            choice = settle_seed(sources, choice, hash_inputs=hash_inputs, together=True)
        rows = compared_rows(sources, titles, names, passes, choice, matched=matched)
        cohorts = _counted(rows, terms, passes)
        for source in sources:
            source.check_unchanged()
        files = [source.inputs(hash_all=hash_inputs) for source in sources]
        if terms.independent:
            require_different_files(files)
        compared = Compared(
            evidence=tuple(one for _, some in cohorts for one in some),
            cohorts=tuple(cohort for cohort, _ in cohorts),
            independent=terms.independent,
        )
        return compare_report(
            compared,
            [column for some in columns for column in some],
            terms,
            findings=[
                *(f for source in sources for f in (*source.told, *source.findings())),
                *rows.findings,
            ],
            provenance=provenance(
                seed=choice,
                inputs=[one for some in files for one in some],
                settings=settings,
                seeds={None: rows.seed},
            ),
        )


def _require_inputs(inputs: Sequence[object], members: object, holdout: object) -> None:
    pair = members is not None or holdout is not None
    streams = sum(isinstance(one, str) and one == "-" for one in inputs)
    require(streams <= 1, "two_stdin", "Standard input can be one of the inputs only.")
    require(
        not (inputs and pair),
        "two_inputs",
        "Scores are given twice: SCORES, and --members or --holdout.",
        "Give SCORES alone, or --members FILE --holdout FILE with several score columns.",
    )
    require(
        bool(inputs) or (members is not None and holdout is not None),
        "no_input",
        "No scores are given.",
        "Give several score files, or one with several score columns.",
    )


def _require_baseline(terms: CompareTerms, names: Sequence[str]) -> None:
    from mipaudit.statements.text.printable_names import safe_name

    listed = ", ".join(safe_name(name) for name in names)
    require(
        terms.baseline is None or terms.baseline in names,
        "baseline",
        "The baseline is none of the queries.",
        f"The queries are: {listed}.",
    )
    count = len(names)
    pairs = count - 1 if terms.baseline is not None else count * (count - 1) // 2
    require(
        pairs <= _MOST_PAIRS,
        "too_many_queries",
        f"{count} queries make {pairs} pairs; at most {_MOST_PAIRS} can be compared.",
        "Name fewer with --score-col, or compare all with one: --baseline NAME.",
    )


def _passes(
    terms: CompareTerms, jobs: int | None, progress: Callable[[int, int | None], None] | None
) -> Passes:
    from mipaudit.commands.compare.queries.counts import Passes
    from mipaudit.counting.columns import Meter
    from mipaudit.engine.engine import Engine
    from mipaudit.engine.workers import Workers

    return Passes(
        prior=terms.prior,
        discrete=terms.discrete,
        workers=Workers(Engine(jobs=jobs)),
        progress=None if progress is None else Meter(None, progress).advance,
    )


def _counted(rows: ComparedRows, terms: CompareTerms, passes: Passes) -> list[Any]:
    """Return every cohort with its evidence."""
    from mipaudit.commands.compare.queries.counts import count_cohort, require_comparable
    from mipaudit.commands.compare.queries.rows import pairs_of

    names = [name for group in rows.cohorts for name in group.names]
    baseline = None if terms.baseline is None else names.index(terms.baseline)
    pairs = pairs_of(len(names), baseline)
    counted = []
    for group in rows.cohorts:
        inside = range(group.first, group.first + len(group.names))
        mine = [(a - group.first, b - group.first) for a, b in pairs if a in inside and b in inside]
        counted.append(count_cohort(group, mine, passes, rows.seed))
    require_comparable([one for _, some in counted for one in some])
    return counted
