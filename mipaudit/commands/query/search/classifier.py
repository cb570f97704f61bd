"""How much a classifier takes a record for a synthetic one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.query.search.density import drawn
from mipaudit.commands.query.search.points import dense_features
from mipaudit.maths.learners import Boosting, RobustScale, fit_boosting, fit_logistic, robust_scale

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.search.points import Points
    from mipaudit.maths.learners import Logistic

    Tick = Callable[[int], None]

MOST_ROWS: Final = 20_000
_RECORDS: Final = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticClassifier:
    """A classifier that was taught synthetic against reference records."""

    scale: RobustScale
    model: Boosting | Logistic

    @property
    def method(self) -> str:
        """What was fitted."""
        if isinstance(self.model, Boosting):
            return f"gradient-boosted trees ({self.model.library})"
        return "ridge logistic regression (no scikit-learn, or few records)"

    def score(
        self, records: Points, levels: Sequence[int], tick: Tick | None = None
    ) -> NDArray[np.float64]:
        """Return the log odds that each record is synthetic, shape (n,)."""
        found = np.empty(len(records))
        for start in range(0, len(records), _RECORDS):
            part = slice(start, min(start + _RECORDS, len(records)))
            rows = self.scale.matrix(dense_features(records.take(part), levels))
            found[part] = self.model.score(list(rows.T))
            if tick is not None:
                tick(part.stop - part.start)
        return found


def fit_classifier(
    synthetic: Points, reference: Points, levels: Sequence[int], *, rng: np.random.Generator
) -> SyntheticClassifier:
    """Teach a classifier to tell synthetic from reference records.

    Args:
        synthetic: at most 20,000, drawn at random, are used.
        reference: likewise.
        levels: of each category.
        rng: draws and shuffles the rows.
    """
    ours = dense_features(drawn(synthetic, MOST_ROWS, rng), levels)
    theirs = dense_features(drawn(reference, MOST_ROWS, rng), levels)
    rows = np.concatenate([ours, theirs])
    scale = robust_scale(rows)
    order = rng.permutation(len(rows))
    label = np.arange(len(rows)) < len(ours)
    scaled = scale.matrix(rows)[order]
    model = fit_boosting(scaled, label[order], seed=int(rng.integers(2**31)))
    return SyntheticClassifier(
        scale=scale, model=fit_logistic(scaled, label[order]) if model is None else model
    )
