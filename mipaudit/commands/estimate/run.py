"""``mipaudit estimate``: how much a score says about membership."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.estimate.answer import audit
from mipaudit.commands.estimate.options import EstimateOptions
from mipaudit.counting.counts import Counts, How, require_spread
from mipaudit.counting.scores import count_all, read_input, settle_seed
from mipaudit.data.request import read_request
from mipaudit.data.summary_file import SummaryFile, are_summaries, listed, read_summaries
from mipaudit.data.words import empty_class_error
from mipaudit.engine.workers import Workers, engine_of
from mipaudit.options.declare import declared, is_left_out
from mipaudit.options.public import public
from mipaudit.options.scores import Classes, Columns
from mipaudit.options.values import require
from mipaudit.statements.provenance import InputFile, Provenance, provenance

if TYPE_CHECKING:
    from mipaudit.commands.estimate.report import Report
    from mipaudit.data.source import AuditedInput, ScoreSource
    from mipaudit.evidence.judgement.blind import Blind


def answer_estimate(asked: EstimateOptions) -> Report:
    """Return the best attacker's advantage, related figures and the verdict, for every score.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be audited as it is.
    """
    alone = _records_alone(asked)
    if are_summaries(asked.data):
        return _of_summaries(asked, alone)
    require(
        not asked.without_site,
        "without_site",
        "`without_site` is for summaries, but scores are given.",
        "Leave out `without_site`: only the input is judged.",
    )

    def run(source: ScoreSource) -> Report:
        """Audit the opened input."""
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        counts = count_all(
            source,
            How(
                prior=asked.prior,
                discrete=asked.discrete,
                mace=asked.method == "mace",
                kernel=asked.method == "kde",
            ),
            seed=seed,
            workers=workers,
            progress=asked.progress,
        )
        seeds = counts.seeds_by(source)
        made = source.provenance(seed, seeds, asked.recorded(), hash_all=asked.hash_inputs)
        return _audited(source, counts, asked, made, alone)

    request = read_request(asked, seed=asked.chosen_seed, vectors=True)
    with Workers(engine_of(asked, asked.on_bad_part)) as workers:
        return read_input((asked.data, asked.members, asked.holdout), request, workers, run)


def _records_alone(asked: EstimateOptions) -> Blind | None:
    if asked.blind is None:
        return None
    # What a report of shift is takes as long to load as 10^5 rows to count.
    from mipaudit.commands.estimate.blind_report import read_blind

    return read_blind(asked)


def _of_summaries(asked: EstimateOptions, blind: Blind | None = None) -> Report:
    """Return the report on counted scores.

    Args:
        asked: the summaries, and what is said of them.
        blind: what the records alone tell, if it is known.

    Raises:
        UsageError: something is asked for that takes scores.
        InputError: a file is no summary, or they do not belong together.
    """
    from mipaudit.data.summary_source import add_up, counts_content

    _require_no_reading(asked)
    _require_counted(asked)
    files = read_summaries(listed(asked.data))
    source, summary = add_up(files, asked.without_site)
    if not summary.n_members or not summary.n_holdout:
        raise empty_class_error(members=not summary.n_members)
    counts = Counts(
        columns=summary.columns,
        n_members=summary.n_members,
        n_holdout=summary.n_holdout,
        seeds=(asked.chosen_seed.in_use(counts_content(files, summary)),) * len(summary.columns),
    )
    require_spread(counts.columns[0])
    made = provenance(
        seed=asked.chosen_seed,
        inputs=[_described(one) for one in files],
        settings=asked.recorded(),
        seeds={None: counts.seeds[0]},
        decides="ties",
    )
    return _audited(source, counts, asked, made, blind)


def _audited(
    source: AuditedInput,
    counts: Counts,
    asked: EstimateOptions,
    made: Provenance,
    blind: Blind | None,
) -> Report:
    """Return the report, unless what the records alone tell is known to be of other records."""
    if blind is not None:
        from mipaudit.commands.estimate.blind_report import require_same_records

        require_same_records(blind, counts.n_members, counts.n_holdout, made.inputs)
    return audit(source, counts, asked, made, blind)


def _require_no_reading(asked: EstimateOptions) -> None:
    """Refuse settings that say how scores are read."""
    reading = (*declared(Classes), *declared(Columns))
    given = [f"`{one.name}`" for one in reading if not is_left_out(one, getattr(asked, one.name))]
    require(
        not given,
        "not_for_summaries",
        f"Summaries are given, but these options are for reading scores: {', '.join(given)}.",
        "Give them to mipaudit summarize.",
    )


def _require_counted(asked: EstimateOptions) -> None:
    """Refuse what cannot be told from counts by cells."""
    require(
        asked.method == "prequential",
        "not_for_summaries",
        f"`method` {asked.method} needs scores; a summary has none.",
        "Leave it out, or audit the scores.",
    )
    require(
        not asked.discrete,
        "not_for_summaries",
        "Whether a score is discrete is decided when it is summarized.",
        "Give `discrete` to mipaudit summarize.",
    )


def _described(file: SummaryFile) -> InputFile:
    rows = file.manifest.n_members + file.manifest.n_holdout
    return InputFile(name=file.name, rows=rows, bytes=file.size, sha256=file.sha256)


estimate = public(EstimateOptions, answer_estimate)
