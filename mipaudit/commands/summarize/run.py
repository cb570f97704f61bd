"""``mipaudit summarize``: scores to a small file that adds up with those of other parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from mipaudit.options.seed_choice import SeedGiven
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.reading.summaries.file import SummaryFile
    from mipaudit.statements.origin import Setting


def summarize(  # noqa: PLR0913 - one keyword for each option of the command
    data: Any = None,  # noqa: ANN401 - paths, a frame or an Arrow table
    *,
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
    cuts: Sequence[Any] = (),
    cuts_only: bool = False,
    first_row: int | None = None,
    min_cell: int | None = None,
    prior: float = 0.5,
    discrete: bool = False,
    seed: SeedGiven = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    engine: Literal["auto", "threads", "processes", "dask"] = "auto",
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> SummaryFile:
    """Return a summary of scores: counts without any score, for `mipaudit.estimate`.

    Args:
        data: a path, several, a directory, glob, ``"-"``, a data frame or an Arrow table.
        members: the members' own file, or an array of shape (n,) or (n, d).
        holdout: the holdout's own file, or an array, in the same form.
        score_columns: score columns by name; empty means found by the rules.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; each counts once, in one class.
        unit_rows: what of a person's rows counts: ``"one"`` of them (the default), or their
            ``"mean"``, ``"max"``, ``"min"`` or ``"sum"``: a new score, chosen before looking.
        rows_are: ``"independent"`` takes rows for that although ids or files repeat.
        key_column: a row's identity; its position otherwise.
        nan: what to do with a missing score.
        cuts: files of cuts, or what `summarize` returned with ``cuts_only``, of all sites:
            the counts then add up with all that are made with the same.
        cuts_only: return where the scores lie, for the other sites, and no counts.
        first_row: position of the first row in the whole input, at least 0.
        min_cell: fewest records that any count may be of, at least 2: for a summary that
            has to leave a secure room. None: cut points alone keep to 10 records.
        prior: assumed probability that a challenged record is a member, in (0, 1).
        discrete: take every score as discrete.
        seed: of the row assignment, at least 0, for a run that can be repeated; the default,
            and ``"fresh"``, draw one for this site, which its cuts keep.
        hash_inputs: sha256 of inputs over 64 MiB too.
        jobs: number of workers on this machine; None for the processors at hand.
        engine: who reads; the counts are the same.
        scheduler: address of a Dask scheduler, for the engine ``"dask"``.
        executor: any executor of `concurrent.futures` instead of an engine.
        progress: called with (rows done, rows in all passes or None).
        settings: recorded in the summary; None records the arguments.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be summarized as it is.
    """
    from mipaudit.commands.summarize.counts import Summarizer
    from mipaudit.commands.summarize.terms import check_summary_terms
    from mipaudit.counting.columns import Meter
    from mipaudit.counting.retried_reading import read_input
    from mipaudit.engine.workers import Engine, Workers
    from mipaudit.reading.source.any_input import column_names
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.reading.summaries.file import listed, read_summaries
    from mipaudit.statements.provenance import settings_from

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
    counting: dict[str, Any] = {
        "cuts_only": cuts_only,
        "first_row": first_row,
        "min_cell": min_cell,
        "prior": prior,
        "discrete": discrete,
        "seed": seed,
    }
    terms = check_summary_terms(
        **counting, cuts=bool(cuts), keyed=key_column is not None or unit_column is not None
    )
    given = {**reading, **counting, "hash_inputs": hash_inputs}
    recorded = settings_from(given, source="api") if settings is None else settings
    sites = read_summaries(listed(cuts)) if cuts else ()
    hired = Engine(name=engine, jobs=jobs, scheduler=scheduler, executor=executor)
    request = ReadRequest(**reading)

    def run(source: ScoreSource) -> SummaryFile:
        hint = source.rows_hint
        passes = 1 if cuts or cuts_only else 2
        summarizer = Summarizer(
            source=source,
            terms=terms,
            settings=recorded,
            hash_inputs=hash_inputs,
            workers=workers,
            meter=None
            if progress is None
            else Meter(None if hint is None else hint * passes, progress).advance,
        )
        if cuts_only:
            return summarizer.cuts()
        summarizer.check_sites(sites)
        return summarizer.counts(sites)

    with Workers(hired) as workers:
        return read_input((data, members, holdout), request, workers, run)
