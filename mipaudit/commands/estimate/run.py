"""``mipaudit estimate``: how much a score says about membership."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.estimate.options import EstimateOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.estimate.report import Report
    from mipaudit.reading.source.source import ScoreSource


def answer_estimate(asked: EstimateOptions) -> Report:
    """Return the advantage of the best attacker and what goes with it, for every score.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.commands.estimate.answer import audit
    from mipaudit.commands.estimate.blind_report import read_blind, require_same_records
    from mipaudit.commands.estimate.from_summaries import audit_summaries
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.counting.retried_reading import read_input
    from mipaudit.counting.scores import count_all
    from mipaudit.engine.workers import Workers, engine_of
    from mipaudit.reading.source.request import read_request
    from mipaudit.reading.summaries.file import are_summaries
    from mipaudit.statements.provenance import provenance

    alone = read_blind(asked)
    if are_summaries(asked.data):
        return audit_summaries(asked, alone)

    def run(source: ScoreSource) -> Report:
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        counts = count_all(
            source,
            seed=seed,
            prior=asked.prior,
            discrete=asked.discrete,
            mace=asked.method == "mace",
            kernel=asked.method == "kde",
            workers=workers,
            progress=asked.progress,
        )
        source.check_unchanged()
        inputs = source.inputs(hash_all=asked.hash_inputs)
        if alone is not None:
            require_same_records(alone, counts.n_members, counts.n_holdout, inputs)
        return audit(
            source,
            counts,
            asked,
            provenance(
                seed=seed,
                inputs=inputs,
                settings=asked.recorded(),
                seeds=counts.seeds_by(source),
                unused_columns=source.unused,
            ),
            alone,
        )

    request = read_request(asked, seed=asked.chosen_seed, vectors=True)
    with Workers(engine_of(asked, asked.on_bad_part)) as workers:
        return read_input((asked.data, asked.members, asked.holdout), request, workers, run)


estimate = public(EstimateOptions, answer_estimate)
