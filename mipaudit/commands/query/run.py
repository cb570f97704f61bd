"""``mipaudit query``: tables of records to scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.query.options import QueryOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.query.report import QueryReport


def answer_query(asked: QueryOptions) -> QueryReport:
    """Score members and holdout records by queries against synthetic records.

    The score file has one row for each record, members first, in the order of the tables:
    the column ``member`` and one for each query.

    Raises:
        UsageError: a setting is out of its range, or a query needs a reference.
        InputError: the tables cannot be compared.
        OutputError: the score file cannot be written.
        MissingExtraError: faiss is not installed.
    """
    from mipaudit.commands.query.answer import query_tables
    from mipaudit.reading.rows.output import record_file

    answer = query_tables(asked)
    if asked.form is not None:
        with record_file(asked.output, inputs=asked.inputs()) as file:
            answer.write(file, asked.form)
    return answer.report


query = public(QueryOptions, answer_query)
