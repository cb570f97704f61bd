"""``mipaudit shift``: can members and holdout be told apart without the model?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.shift.options import ShiftOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.shift.report import ShiftReport


def answer_shift(asked: ShiftOptions) -> ShiftReport:
    """Return how well members and holdout records can be told apart by their own columns.

    Raises:
        UsageError: an argument is wrong.
        InputError: the tables cannot be compared.
    """
    from mipaudit.commands.shift.answer import shift_report
    from mipaudit.commands.shift.rows import shift_rows
    from mipaudit.commands.shift.tables.opening import open_tables
    from mipaudit.counting.columns import Meter
    from mipaudit.engine.workers import Engine, Workers
    from mipaudit.statements.provenance import provenance

    with open_tables(asked) as source:
        workers = Workers(Engine(jobs=asked.jobs))
        passes = 2 + source.held
        count = asked.progress
        meter = None if count is None else Meter(passes * source.rows_hint, count).advance
        rows = shift_rows(source, asked, workers=workers, progress=meter)
        found = shift_report(source, rows, asked, workers=workers, progress=meter)
        source.check_unchanged()
        return found(
            provenance(
                seed=rows.choice,
                inputs=source.inputs(hash_all=asked.hash_inputs),
                settings=asked.recorded(),
                seeds={None: rows.seed},
            )
        )


shift = public(ShiftOptions, answer_shift)
