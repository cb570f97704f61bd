"""``mipaudit compare``: several queries side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.compare.options import CompareOptions
from mipaudit.options.public import public_of_several

if TYPE_CHECKING:
    from mipaudit.commands.compare.queries.report import CompareReport
    from mipaudit.commands.compare.reports.report import ReportComparison


def answer_compare(asked: CompareOptions) -> CompareReport | ReportComparison:
    """Return which of several queries leaks most, and by how much, with limits.

    If reports of ``estimate`` are given (``.json`` files, or what it returned), return what changed
    from the first report, or the ``baseline``, to the others. Only the keywords ``baseline``,
    ``max_increase`` and ``against`` then apply: a report has its own settings.

    Score columns of one input cover the same rows. With ``key_col``, the rows of several inputs are
    matched by key. Otherwise nothing is assumed about how the inputs overlap, unless
    ``independent`` states that they hold different records.

    Raises:
        UsageError: an argument is wrong, or there are fewer than two queries.
        InputError: an input cannot be audited as it is.
    """
    if asked.of_reports:
        from mipaudit.commands.compare.reports.answer import compare_reports
        from mipaudit.output.stored_report import foreign

        with foreign(*(one.data for one in asked.named_scores)):
            return compare_reports(asked)
    from mipaudit.commands.compare.queries.run import compare_queries

    return compare_queries(asked)


compare = public_of_several(CompareOptions, answer_compare)
