"""A drawn file of vector scores, and all that is computed from it once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.evidence.vectors.evidence import vector_evidence
from mipaudit.evidence.vectors.plan import VectorPlan, make_vector_plan
from mipaudit.evidence.vectors.rows import vector_estimates
from mipaudit.maths.class_limits.best_attackers import best_thresholds
from mipaudit.maths.class_limits.roc_counts import exact_ladder
from mipaudit.summaries.cells.vector_cells import ProductGrid
from mipaudit.summaries.identity.content import ContentColumn, canonical_rows
from mipaudit.summaries.sample import VectorSurvey
from mipaudit.summaries.tally import Tally
from mipaudit.validation.rivals.audited_file import CONFIDENCE, AuditedFile

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Estimate
    from mipaudit.summaries.rows import Rows
    from mipaudit.validation.laws.vector_law import VectorLaw

_DRAWN: Final = 10_000  # records of each class that stand for the law


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedVector(AuditedFile):
    """A file of vector scores in memory, as ``estimate`` would read it.

    ``score`` has shape (n, d).

    Attributes:
        law: that it was drawn from.
    """

    law: VectorLaw

    @cached_property
    def estimates(self) -> list[Estimate]:
        """Every row that ``estimate`` prints of the file, at 95% confidence."""
        rows, survey, made = self._planned
        tally = Tally(made.plan)
        tally.add(replace(rows, scores=made.derive(rows.scores)))
        (counted,) = made.counted(tally.counts(), survey)
        _, seed = self.in_order
        evidence = vector_evidence(
            "score", counted, prior=self.prior, strict=self.strict, seed=seed
        )
        return vector_estimates(evidence, ErrorShare(confidence=CONFIDENCE, columns=1))

    @cached_property
    def learned_truth(self) -> float:
        """The advantage of the best threshold on the learned score that was chosen.

        From a large sample of its own, on which the threshold is chosen too: about 0.005
        too high, so that upper limits are put to a harder test.
        """
        _, _, made = self._planned
        rng = np.random.default_rng([self.seed % 2**63, 1])
        (derivation,) = made.derivations
        member = np.arange(2 * _DRAWN) < _DRAWN
        drawn = np.ascontiguousarray(self.law.draw(rng, member).T)
        score = derivation.scores(tuple(drawn))[derivation.chosen]
        return best_thresholds(exact_ladder(score[member], score[~member]), self.prior)

    @cached_property
    def grid_truth(self) -> float | None:
        """The advantage of the best set of the grid's cells, from the law."""
        _, _, made = self._planned
        found = made.derivations[0].find("product-grid")
        if found is None or not isinstance(found.fitted, ProductGrid):
            return None
        return self.law.advantage_cells(self.prior, found.fitted.edges)

    @cached_property
    def in_order(self) -> tuple[Rows, int]:
        """The rows in their canonical order, and the seed in use for them."""
        columns = [
            ContentColumn(name=f"{at:03}", values=np.ascontiguousarray(values))
            for at, values in enumerate(self.score.T)
        ]
        rows, content = canonical_rows(columns, self.member)
        return rows, self.choice.in_use(content)

    @cached_property
    def _planned(self) -> tuple[Rows, VectorSurvey, VectorPlan]:
        width = self.score.shape[1]
        rows, seed = self.in_order
        survey = VectorSurvey(width, seed)
        survey.add(rows)
        survey.sample.settle()
        made = make_vector_plan(
            survey,
            [tuple(range(width))],
            ["float"] * width,
            prior=self.prior,
            discrete=self.discrete,
            seed=seed,
        )
        return rows, survey, made
