"""From a burn-in to the derived scores of a vector that are counted.

All are fitted before any evaluated row is looked at, so that whatever an attacker does
with a derived score is something that can be done with the vector itself. A lower
limit for the derived scores together is one for the vector; an upper limit holds for
the attackers who use no more than the derived score that it names.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final

from mipaudit.evidence.vectors.derived_score import DerivedScore, Form, derive
from mipaudit.evidence.vectors.derived_scores import (
    joint_score,
    learned_scores,
    product_grid_score,
    single_scores,
    telling_order,
    threshold_value,
)
from mipaudit.maths.learners import Boosting

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.evidence.vectors.burn_in import BurnInRows, VectorBurnIn
    from mipaudit.summaries.plan import ScoreKind

_CLEARLY: Final = 2.0  # standard errors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Derivation:
    """The derived scores of a vector, fitted and chosen on the burn-in.

    Attributes:
        derived: those that are counted.
        tried: forms of all that were fitted, each once.
        library: name and version of the library that grew trees, None if none did.
        chosen: which of them is the learned score that has class limits.
        strongest: which did best on the choosing rows.
    """

    derived: tuple[DerivedScore, ...]
    tried: tuple[Form, ...]
    library: str | None
    chosen: int
    strongest: int

    def index(self, form: Form) -> int | None:
        """Return which derived score has a form, None if none has."""
        return next((at for at, one in enumerate(self.derived) if one.form == form), None)

    def find(self, form: Form) -> DerivedScore | None:
        """Return the derived score of a form that is counted, None if none is."""
        at = self.index(form)
        return None if at is None else self.derived[at]

    def scores(self, columns: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], ...]:
        """Return every derived score of rows whose coordinates are given, each of shape (n,)."""
        return derive(self.derived, columns)


def make_derivation(
    burn_in: VectorBurnIn,
    kinds: Sequence[ScoreKind],
    *,
    prior: float,
    discrete: bool,
    seed: int,
) -> Derivation:
    """Return what is derived from a vector.

    A learned score is left out where another does clearly better on the choosing rows.

    Args:
        burn_in: both parts.
        kinds: of the coordinates.
        prior: p in (0, 1).
        discrete: the user says that the vector has few values.
        seed: of the fits.

    Raises:
        InputError: a vector said to be discrete has too many values.
    """
    order = telling_order(burn_in.fitting, prior)
    learned = list(learned_scores(burn_in.fitting, order, seed=seed))
    others = [
        product_grid_score(burn_in.fitting),
        joint_score(burn_in, kinds, asked=discrete),
        *single_scores(order),
    ]
    fitted = [*learned, *(one for one in others if one is not None)]
    values = _values(fitted, burn_in.choosing, prior)
    best = max(values[: len(learned)])
    slack = _CLEARLY * _standard_error(burn_in.choosing, prior)
    kept = [at for at, one in enumerate(fitted) if not one.learned or values[at] >= best - slack]
    return Derivation(
        derived=tuple(fitted[at] for at in kept),
        tried=tuple(dict.fromkeys(one.form for one in fitted)),
        library=next(
            (one.fitted.library for one in fitted if isinstance(one.fitted, Boosting)), None
        ),
        chosen=max(range(len(kept)), key=lambda at: _rank(fitted, values, kept[at])),
        strongest=max(range(len(kept)), key=lambda at: values[kept[at]]),
    )


def _rank(fitted: list[DerivedScore], values: list[float], at: int) -> float:
    """Return the value of a learned score; others are never the chosen one."""
    return values[at] if fitted[at].learned else -1.0


def _values(fitted: list[DerivedScore], rows: BurnInRows, prior: float) -> list[float]:
    columns = rows.columns(tuple(range(rows.values.shape[1])))
    return [threshold_value(scores, rows.member, prior) for scores in derive(fitted, columns)]


def _standard_error(rows: BurnInRows, prior: float) -> float:
    """Return an upper limit of the standard error of an advantage on these rows."""
    inside = max(1, int(rows.member.sum()))
    outside = max(1, rows.member.size - inside)
    return sqrt(prior**2 / inside + (1 - prior) ** 2 / outside)
