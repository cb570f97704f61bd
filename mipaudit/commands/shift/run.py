"""``mipaudit shift``: can members and holdout be told apart without the model?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.commands.shift.report import ShiftReport
    from mipaudit.statements.provenance.origin import Setting


def shift(  # noqa: PLR0913 - one keyword for each option of the command
    members: Any,  # noqa: ANN401 - a path, a frame or an Arrow table
    holdout: Any,  # noqa: ANN401
    *,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    id_column: str | None = None,
    confidence: float = 0.95,
    strict: bool = False,
    max_blind: float | None = None,
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> ShiftReport:
    """Return how well members and holdout records can be told apart by their own columns.

    Args:
        members: a CSV or Parquet file, a directory or glob of parts, ``"-"``, a data frame
            or an Arrow table: one row per member, its features as columns.
        holdout: the same of the holdout records.
        columns: the features, or comma lists of them; empty for all but those that name a
            record.
        ignore: columns to leave out, likewise.
        id_column: names the person behind a row: one row per person and class is kept, and
            persons in both classes are counted.
        confidence: of each pair of limits, and of the list of columns, in [0.5, 1).
        strict: finite-sample limits instead of the tighter approximate ones.
        max_blind: policy limit on the blind advantage, in (0, 1].
        seed: decides with the rows which of them only train, as for `estimate`.
        hash_inputs: sha256 of inputs over 64 MiB too.
        jobs: number of threads; None for the processors at hand.
        progress: called with (rows done, rows in all passes or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: an argument is wrong.
        InputError: the tables cannot be compared.
    """
    from mipaudit.commands.shift.answer import shift_report
    from mipaudit.commands.shift.rows import shift_rows
    from mipaudit.commands.shift.tables.opening import open_tables
    from mipaudit.commands.shift.tables.source import FeatureRequest
    from mipaudit.commands.shift.terms import ShiftTerms, check_shift_terms
    from mipaudit.counting.columns import Meter
    from mipaudit.engine.engine import Engine
    from mipaudit.engine.workers import Workers
    from mipaudit.options.plain_values import path_of
    from mipaudit.reading.source.any_input import column_names
    from mipaudit.statements.provenance.provenance import provenance, settings_from

    given: dict[str, Any] = {
        "columns": column_names(columns),
        "ignore": column_names(ignore),
        "id_column": id_column,
        "confidence": confidence,
        "strict": strict,
        "max_blind": max_blind,
        "seed": seed,
    }
    terms: ShiftTerms = check_shift_terms(**given)
    if settings is None:
        settings = settings_from({**given, "hash_inputs": hash_inputs}, source="api")
    request = FeatureRequest(columns=terms.columns, ignore=terms.ignore, id_column=id_column)
    with open_tables(path_of(members), path_of(holdout), request) as source:
        workers = Workers(Engine(jobs=jobs))
        passes = 2 + source.held
        meter = None if progress is None else Meter(passes * source.rows_hint, progress).advance
        rows = shift_rows(
            source, terms.seed, hash_inputs=hash_inputs, workers=workers, progress=meter
        )
        found = shift_report(source, rows, terms, workers=workers, progress=meter)
        source.check_unchanged()
        return found(
            provenance(
                seed=rows.choice,
                inputs=source.inputs(hash_all=hash_inputs),
                settings=settings,
                seeds={None: rows.seed},
            )
        )
