"""The advantage of attackers who see a record's columns and no score of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.shift.differences.learner import PRIOR, Learner, learn
from mipaudit.commands.shift.limits import BlindEvidence, blind_evidence
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.class_limits.best_attackers import best_thresholds
from mipaudit.maths.class_limits.roc_counts import exact_ladder
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.sample import BurnInSample, sample_size
from mipaudit.summaries.tally import Tally
from mipaudit.validation.estimands.estimand import (
    Args,
    Estimand,
    Interval,
    wrong_arguments,
)
from mipaudit.validation.rivals.audited_file import CONFIDENCE, AuditedFile, AuditedVector

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law

_DRAWN: Final = 10_000  # records of each class that stand for the law


class AdvantageBlind(Estimand):
    """Of the best of all attackers on a record, or of thresholds on what was learned.

    The numbers of a vector score stand for a record's columns. ``args`` is empty for all
    attackers, and (class, its true advantage) otherwise: what is learned differs from
    file to file.
    """

    name = "advantage_blind"
    meaning = "advantage of attackers who see the records alone"
    vectorial = True

    def applies(self, law: Law) -> bool:
        """Tell whether the law's records have several columns."""
        return law.width > 1

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002 - always 1/2
        """Return the total variation, or the advantage of the class at prior 1/2."""
        match args:
            case ():
                return law.advantage(PRIOR)
            case (str(), float(value)):
                return value
            case _:
                raise wrong_arguments(self)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what ``shift`` says of any attacker, and of thresholds on what it learned."""
        if not isinstance(audited, AuditedVector) or audited.prior != PRIOR:
            return
        found = _learned(audited)
        if found is None:
            return
        learner, evidence = found
        share = ErrorShare(confidence=CONFIDENCE, columns=1)
        for estimate in advantage_estimates(evidence, share):
            if estimate.attackers == "any":
                yield self.interval_of(estimate)
            elif estimate.attackers == "thresholds":
                yield self.interval_of(
                    estimate,
                    args=("thresholds", _truth(audited, learner)),
                    label=f"{self.name}, thresholds",
                )


def _learned(audited: AuditedVector) -> tuple[Learner, BlindEvidence] | None:
    """Return what ``shift`` learns of a file, and what it then counts."""
    rows = Rows(
        first_row=0,
        source_rows=audited.member.size,
        kept=None,
        keys=None,
        member=audited.member,
        scores=tuple(np.ascontiguousarray(audited.score.T)),
    )
    width = len(rows.scores)
    sample = BurnInSample(width, audited.seed, sample_size(width))
    sample.add(rows)
    sample.settle()
    learner = learn(sample, [False] * width, seed=audited.seed)
    if learner is None:
        return None
    tally = Tally(learner.plan)
    tally.add(replace(rows, scores=learner.scores(rows.scores)))
    evidence = blind_evidence(tally.counts(), learner, strict=audited.strict, seed=audited.seed)
    return learner, evidence


def _truth(audited: AuditedVector, learner: Learner) -> float:
    """Return the advantage of the best threshold, from a large sample of its own.

    It is about 0.005 too high, so that upper limits are put to a harder test.
    """
    rng = np.random.default_rng([audited.seed % 2**63, 2])
    member = np.arange(2 * _DRAWN) < _DRAWN
    drawn = np.ascontiguousarray(audited.law.draw(rng, member).T)
    score = learner.scores(tuple(drawn))[learner.chosen]
    return best_thresholds(exact_ladder(score[member], score[~member]), PRIOR)
