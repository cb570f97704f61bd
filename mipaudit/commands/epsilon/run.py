"""``mipaudit epsilon``: the largest epsilon that the data refute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.report import EpsilonReport


def answer_epsilon(asked: EpsilonOptions) -> EpsilonReport:
    """Return a lower confidence limit on epsilon at delta, by the design of the audit.

    Scores, or counts in their place: ``tp``, ``fn``, ``fp``, ``tn`` of independent runs, or
    ``canaries``, ``guesses``, ``correct`` of one run.

    Raises:
        UsageError: no design, or a setting is wrong or does nothing.
        InputError: the input cannot be audited as it is.
    """
    curve = asked.named_curve
    read = () if curve is None or curve.source is None else (curve.source,)
    if asked.counted:
        from mipaudit.commands.epsilon.design_evidence import evidence_from_counts

        seed, inputs, found = asked.chosen_seed, read, evidence_from_counts(asked)
    else:
        from mipaudit.commands.epsilon.design_evidence import evidence_from_scores
        from mipaudit.counting.large_seed import settle_seed
        from mipaudit.reading.source.any_input import open_input
        from mipaudit.reading.source.request import read_request

        request = read_request(asked, seed=asked.chosen_seed, run_column=asked.run_column)
        with open_input(asked.data, asked.members, asked.holdout, request) as source:
            seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
            found = evidence_from_scores(source, asked, seed)
            source.check_unchanged()
            inputs = (*source.inputs(hash_all=asked.hash_inputs), *read)
    from mipaudit.commands.epsilon.answer import epsilon_report
    from mipaudit.statements.provenance import provenance

    return epsilon_report(
        asked,
        found,
        provenance(
            seed=seed,
            inputs=inputs,
            settings=asked.recorded(),
            seeds=found.seeds,
            unused_columns=found.unused_columns,
        ),
    )


epsilon = public(EpsilonOptions, answer_epsilon)
