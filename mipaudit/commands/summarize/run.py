"""``mipaudit summarize``: scores to a small file that adds up with those of other parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.summarize.options import SummarizeOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.reading.summaries.file import SummaryFile


def answer_summarize(asked: SummarizeOptions) -> SummaryFile:
    """Return a summary of scores: counts without any score, for `mipaudit.estimate`.

    With the cuts of all sites the counts add up with all that are made with the same. A
    site draws its own seed, which its cuts keep; one is stated for a run that can be
    repeated.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be summarized as it is.
    """
    from mipaudit.commands.summarize.counts import Summarizer
    from mipaudit.counting.columns import Meter
    from mipaudit.counting.retried_reading import read_input
    from mipaudit.engine.workers import Workers, engine_of
    from mipaudit.reading.source.request import read_request
    from mipaudit.reading.summaries.file import read_summaries

    sites = read_summaries(asked.cuts)

    def run(source: ScoreSource) -> SummaryFile:
        hint = source.rows_hint
        passes = 1 if asked.cuts or asked.cuts_only else 2
        rows = None if hint is None else hint * passes
        meter = None if asked.progress is None else Meter(rows, asked.progress).advance
        summarizer = Summarizer(source=source, asked=asked, workers=workers, meter=meter)
        if asked.cuts_only:
            return summarizer.cuts()
        summarizer.check_sites(sites)
        return summarizer.counts(sites)

    with Workers(engine_of(asked)) as workers:
        return read_input(
            (asked.data, asked.members, asked.holdout), read_request(asked), workers, run
        )


summarize = public(SummarizeOptions, answer_summarize)
